"""A later release: this code with some declarations changed, run in processes of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from released_homes import COUNTS

ROOT = Path(__file__).resolve().parents[3]
_PACKAGES = ("transforms", "flows", "dashboards", "data")

# Publish as of an instant, and tell what that found: the counts of each memory, and the days built, with reasons.
NIGHT = """
import json, sys
from datetime import datetime
from pathlib import Path
import duckdb
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.nightly.nightly import nightly, start_run
from slowwave.flows.lake.current import current_run
from slowwave.flows.kernel.settings import Settings
settings = Settings(Path(sys.argv[1]))
with writer_lock(settings, "nightly"):
    done = nightly(start_run(settings, "nightly"), as_of=datetime.fromisoformat(sys.argv[2]), full="--full" in sys.argv)
with duckdb.connect(current_run(settings), read_only=True) as connection:
    counts = connection.sql(sys.argv[3]).fetchall()
print(json.dumps([counts, {str(day.day): day.reason for day in done.built}]))
"""


def later_release(folder: Path, *edits: tuple[str, str, str]) -> Path:
    """This code in `folder`, where in each named file a text is replaced by another; its folder for PYTHONPATH.

    A file that is not there is made, in place of no text.
    """
    house = folder / "slowwave"
    for package in _PACKAGES:
        for source in (ROOT / package).rglob("*"):
            if source.is_file() and (source.suffix in {".py", ".sql"} or "templates" in source.parts):
                target = house / source.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(source)
        for kept in (ROOT / package).rglob("__pycache__"):  # what is unchanged need not be compiled anew
            shutil.copytree(kept, house / kept.relative_to(ROOT), dirs_exist_ok=True)
    (house / "__init__.py").symlink_to(ROOT / "__init__.py")
    for name, old, new in edits:
        path = house / name
        if not (path.exists() or old):
            path.write_text(new)
            continue
        text = path.read_text()
        assert text.count(old) == 1, f"{name} holds {old!r} {text.count(old)} times"
        path.unlink()
        path.write_text(text.replace(old, new))
    return folder


def declare_anew(release: Path) -> None:
    """What `make declared` does, in a release."""
    script = ROOT / "tests" / "support" / "declared_columns.py"
    done = run_release(release, release, [str(script), str(release / "slowwave")])
    assert done.returncode == 0, done.stderr


def run_release(release: Path, home: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Python of a release, on a home."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(release),
        "SLOWWAVE_HOME": str(home),
        "NUMBA_DISABLE_JIT": "1",  # the reference computes the same, and compiles nothing
    }
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, cwd=release
    )


def night(release: Path, home: Path, as_of: str, *options: str) -> tuple[list[Any], dict[str, str]]:
    """Publish with a release: what each memory counts, and the days built, each with why."""
    done = run_release(release, home, ["-c", NIGHT, str(home), as_of, COUNTS, *options])
    assert done.returncode == 0, done.stderr
    counts, built = json.loads(done.stdout.splitlines()[-1])
    return counts, built


def command(release: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of a release."""
    return run_release(release, home, ["-m", "slowwave.flows.cli.main", *arguments])
