"""Every command in the README and in the help texts runs, and the README names what there is."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import duckdb
import pytest
import typer.main

from slowwave.data.sample import write_sample
from slowwave.flows import cli
from slowwave.flows.lock import writer_lock
from slowwave.flows.nightly import nightly, parse_as_of, start_run
from slowwave.flows.notify import notify_settings
from slowwave.flows.settings import Settings
from slowwave.transforms.params import Params
from slowwave.transforms.serving_tables import SERVING

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
# These start Prefect, or do not end: they are run by tests of their own.
RUN_ELSEWHERE = ("slowwave demo", "slowwave nightly", "slowwave backfill", "slowwave serve", "slowwave dashboard")


def _readme_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    lines = [re.sub(r"\s+#.*$", "", line).strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("slowwave")]


def _commands() -> list[str]:
    examples = [line for lines in cli.EXAMPLES.values() for line in lines]
    every = dict.fromkeys([*_readme_commands(), *examples])
    return [line for line in every if "--plan" in line or not line.startswith(RUN_ELSEWHERE)]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published home in `home` and a few files to land."""
    folder = tmp_path_factory.mktemp("sandbox")
    settings = Settings(folder / "home")
    write_sample(settings.inbox, days=4, interactions_per_day=30)
    with writer_lock(settings, "test"):
        for as_of in ("2026-03-03", "2026-03-06"):
            nightly(start_run(settings, "nightly"), as_of=parse_as_of(as_of))
    (folder / "logs").mkdir()
    row = {"prompt": "Deploy it", "created_at": "2026-03-02T10:00:00Z", "interaction_id": "documented"}
    for name in ("runs.jsonl", "logs/day.jsonl"):
        (folder / name).write_text(json.dumps(row) + "\n")
    subprocess.run(["gzip", "-k", "logs/day.jsonl"], cwd=folder, check=True)
    (folder / "memories.csv").write_text("memory_id,changed_at,content,status\nm-csv,2026-03-01,Use tabs,active\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("line", _commands())
def test_documented_command_runs(line: str, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(sandbox / "home"))
    monkeypatch.chdir(sandbox)
    line = line.replace("MEMORY_ID", _known_memory(sandbox)).replace("ITEM_ID", _known_candidate(sandbox))
    if "|" in line and "'" not in line:
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        assert subprocess.run(["bash", "-c", line], env=env, check=False).returncode == 0
    elif line.startswith("slowwave status"):
        # the sample month lies in the past or the future of the machine's clock: fresh or not, it must say so
        assert cli._exit_code(shlex.split(line)[1:]) in {0, 1}
    else:
        assert cli._exit_code(shlex.split(line)[1:]) == 0


def _known_memory(sandbox: Path) -> str:
    with duckdb.connect(Settings(sandbox / "home").current, read_only=True) as connection:
        rows = connection.sql("SELECT memory_id FROM memory_health ORDER BY echoed_count DESC LIMIT 1").fetchall()
    return rows[0][0]


def _known_candidate(sandbox: Path) -> str:
    with duckdb.connect(Settings(sandbox / "home").current, read_only=True) as connection:
        rows = connection.sql("SELECT min(item_id) FROM review_queue WHERE kind = 'candidate'").fetchall()
    return rows[0][0]


def test_every_command_has_examples_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined] - a group
    assert set(commands) == set(cli.EXAMPLES)
    for name, command in commands.items():
        assert command.help
        cli._exit_code([name, "--help"])
        shown = capsys.readouterr().out
        for line in cli.EXAMPLES[name]:
            assert line in shown


def test_the_readme_names_every_command_and_table() -> None:
    for command in cli.EXAMPLES:
        assert re.search(rf"\| .*`{command}\b", README), command
    for table in SERVING:
        assert f"`{table.name}`" in README, table.name


def test_the_readme_names_every_dependency() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    stands_on = README.split("## What it stands on")[1]
    for requirement in listed:
        name = re.match(r"[A-Za-z0-9_-]+", requirement)
        assert name is not None
        assert name[0] in stands_on


def test_the_readme_paths_exist() -> None:
    for path in re.findall(r"`((?:transforms|flows|tests|data|dashboards)/[\w./]*)`", README):
        assert "NAME" in path or (ROOT / path).exists(), path


def test_the_readme_params_are_params() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) > 1
    params = [block for block in blocks if "[notify]" not in block]
    for block in params:
        Params.model_validate(tomllib.loads(block))  # raises where a name or a value is not one


def test_the_readme_settings_are_settings(tmp_path: Path) -> None:
    (block,) = (block for block in re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL) if "[notify]" in block)
    Settings(tmp_path).settings_file.write_text(block)
    assert notify_settings(Settings(tmp_path)) is not None


def test_the_producers_example_reaches_the_inbox(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    env = {**os.environ, "SLOWWAVE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", example], check=True, env=env, cwd=tmp_path, timeout=300)
    rows = [json.loads(line) for file in (tmp_path / "inbox").glob("*.jsonl") for line in file.read_text().splitlines()]
    assert {"memory_id", "prompt", "success"} <= set().union(*rows)
    assert len(rows) == 3
