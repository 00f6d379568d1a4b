"""What is installed: the core without its extras, the wheel, and the pages that say how."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from small_home import interaction, memory, outcome

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ROWS = [memory("m-1"), interaction("i-1", memories_used=["m-1"]), outcome("o-1", interaction_id="i-1")]
# What the extra `dashboard` brings, and what the other extras do.
WITH_THE_DASHBOARD = ("altair", "pandas", "pydeck", "streamlit", "vl_convert")
WITH_OTHERS = ("distributed", "llvmlite", "mcp", "numba", "obstore", "openai", "openlineage", "pyrage", "ray")
# What a wheel is built from; beside the modules of `data` a home may lie.
SOURCE = (
    "dashboards",
    "flows",
    "transforms",
    "data/*.py",
    "*.py",
    "py.typed",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
MOST_OF_THE_CORE = 1_000_000_000  # bytes of all files, nothing compiled
_NIGHT = """
import json, sys
from pathlib import Path
from small_home import SmallHome
from slowwave.flows.ask.report import ensure_current_report

home = SmallHome(Path(sys.argv[1]))
home.land(*json.loads(sys.argv[2]))
home.nightly()
answers = {"night": [0, ensure_current_report(home.settings)]}
for asked in json.loads(sys.argv[3]):
    done = home.ask(*asked)
    answers[" ".join(asked)] = [done.returncode, done.stdout + done.stderr]
print(json.dumps(answers))
"""


def test_version_license_and_changes_say_the_same() -> None:
    version = PROJECT["version"]
    assert f'__version__ = "{version}"' in (ROOT / "__init__.py").read_text()
    (newest, *older) = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest == version
    assert older == ["0.1.0"]
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()


def test_all_names_every_extra() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert Requirement(everything).extras == set(extras) - {"all"}


def test_a_night_needs_no_extra(tmp_path: Path) -> None:
    hidden = [*WITH_THE_DASHBOARD, *WITH_OTHERS]
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({hidden}))\n")
    paths = [tmp_path, ROOT / "tests/support/homes", ROOT / "tests/support/logs"]
    picture = ["report", "--format", "png", "--to", str(tmp_path / "a.png")]
    asked = [picture, ["sql", "most_referenced"], ["dashboard"], ["backup", "s3://bucket/home"]]
    done = subprocess.run(
        [sys.executable, "-c", _NIGHT, str(tmp_path / "home"), json.dumps(ROWS), json.dumps(asked)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    codes = {name: code for name, (code, _) in json.loads(done.stdout).items()}
    said = {name.split()[0]: text for name, (_, text) in json.loads(done.stdout).items()}
    assert [name for name, code in codes.items() if code] == [" ".join(picture), "dashboard", "backup s3://bucket/home"]
    page = Path(said["night"]).read_text()
    assert 'class="chart"' not in page
    assert page.count("<code>slowwave[dashboard]</code>, which draws the chart, is not installed") == 2
    assert page.count("references_by_day") == 1  # the rows stand there, and how to list all
    assert said["dashboard"].count("\n") == 1
    assert said["dashboard"].endswith("-m pip install 'slowwave[dashboard]'\n")
    assert said["backup"].startswith("slowwave: a bucket needs the package obstore: ")


# ------------------------------------------------------------------------------------------------------------ the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the source: what is built leaves folders beside it."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "source/data").mkdir(parents=True)
    for path in [path for pattern in SOURCE for path in ROOT.glob(pattern)]:
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / "source" / path.relative_to(ROOT))
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder)]
    _run([sys.executable, "-m", "pip", "--quiet", "wheel", *options, str(folder / "source")])
    (made,) = folder.glob("*.whl")
    return made


def _run(command: Sequence[str], **variables: str) -> str:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PREFECT_", "SLOWWAVE"))
    }
    done = subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_a_wheel_holds_the_package_and_its_license_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    information = f"slowwave-{PROJECT['version']}.dist-info/"
    assert f"{information}licenses/LICENSE" in names
    assert {name.partition("/")[0] for name in names} == {"slowwave", information[:-1]}
    folders = {name.split("/")[1] for name in names if name.count("/") > 1 and name.startswith("slowwave/")}
    assert folders == {"dashboards", "data", "flows", "transforms"}
    kinds = {name.rpartition(".")[2] for name in names if name.startswith("slowwave/")}
    assert kinds == {"css", "jinja", "py", "sql", "svg", "typed"}
    source = {
        f"slowwave/{path.relative_to(ROOT)}"
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if (path.parent / "__init__.py").exists()
    }
    assert source - set(names) == set()


@pytest.mark.slow
def test_the_core_alone_runs_a_night(wheel: Path, tmp_path: Path) -> None:
    """In a bare environment, with the locked versions of what the wheel asks for; needs a package index."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # on a disk: it takes more than a gigabyte
        _try_core(wheel, Path(folder), tmp_path)


def _try_core(wheel: Path, bare: Path, tmp_path: Path) -> None:
    pins = re.findall(r"^\S+==[^\s\\]+(?: ;[^\\\n]*)?", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    (tmp_path / "pins.txt").write_text("\n".join(pins))
    venv.create(bare, with_pip=True)
    pip, slowwave = [str(bare / "bin/python"), "-m", "pip"], str(bare / "bin/slowwave")
    _run([*pip, "install", "--quiet", "--no-compile", "--constraint", str(tmp_path / "pins.txt"), str(wheel)])
    there = {one["name"].replace("-", "_") for one in json.loads(_run([*pip, "list", "--format", "json"]))}
    assert there & {*WITH_THE_DASHBOARD, *WITH_OTHERS, "vl_convert_python"} == set()
    weight = sum(path.stat().st_size for path in bare.rglob("*") if path.is_file() and not path.is_symlink())
    assert weight < MOST_OF_THE_CORE

    home = {"SLOWWAVE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    _run([slowwave, "land", str(tmp_path / "log.jsonl")], **home)
    assert "published" in _run([slowwave, "nightly"], **home)
    assert Path(_run([slowwave, "report"], **home).strip()).stat().st_size > 10_000
    assert json.loads(_run([slowwave, "sql", "SELECT memory_id FROM memory_health", "--format", "json"], **home))
    assert "m-1" in _run([slowwave, "why", "m-1"], **home)
    assert "dashboard would add" in _run([slowwave, "doctor"], **home)
