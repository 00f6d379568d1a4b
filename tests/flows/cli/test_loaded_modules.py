"""Which modules a command loads: what decides how soon it answers, and does not depend on how busy the machine is."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from shared_homes import published_home
from small_home import interaction, memory, outcome

from slowwave.flows.ask.report import write_report
from slowwave.flows.kernel.processes import COMPUTING
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import Runs

_SLOW = {"altair", "numba", "numpy", "prefect", "pyarrow", "scipy", "sqlalchemy", "streamlit", "wordllama"}
_CLIENT = {"name": "test", "version": "1"}
_READING = _SLOW | {"polars", "pydantic"}
_CODE = """
import json, sys
from slowwave.flows.cli.main import main
for arguments in {commands!r}:
    try:
        main(arguments)
    except SystemExit:
        pass
    print(json.dumps(sorted({{name.split(".")[0] for name in sys.modules}})), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published home."""
    rows = [memory("m-1"), interaction("i-1", memories_used=["m-1"]), outcome("o-1", interaction_id="i-1")]
    small = published_home(tmp_path_factory.mktemp("loaded") / "home", *rows)
    write_report(small.settings, small.settings.current.resolve())  # else a night that changes nothing draws it
    return small.folder


def loaded(home: Path, *commands: str, said: str = "") -> dict[str, set[str]]:
    """The top-level modules that are loaded when each of these commands, one after the other in a process, ends."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(commands=[shlex.split(command) for command in commands])],
        env={**os.environ, "SLOWWAVE_HOME": str(home)},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    listed = [line for line in done.stderr.splitlines() if line.startswith("[")]
    return {command: set(json.loads(line)) for command, line in zip(commands, listed, strict=True)}


def nothing(commands: list[str]) -> dict[str, set[str]]:
    """That none of them has loaded any."""
    return {command: set() for command in commands}


# One process per set: what one command loads, those after it have too, so each set is of those that shun the same.
@pytest.mark.parametrize(
    ("never", "commands"),
    [
        (_READING | {"duckdb", "orjson", "rich"}, ["--help", "--version", "status --help"]),
        (
            _READING,
            [
                "status",
                "why m-1",
                "why i-1 --format json",
                "sql \"SELECT * FROM memory_health WHERE memory_id = 'm-1'\"",
                "sql --list",
            ],
        ),
        (_READING | {"rich"}, ["status --format json", "sql 'SELECT count(*) FROM heuristics' --format csv"]),
        (
            (_READING | {"duckdb", "rich"}) - {"pydantic"},
            ["inspect schema", "inspect schema memory_health --format sql"],
        ),
    ],
    ids=["help", "answers", "for programs", "schema"],
)
def test_commands_that_read_load_nothing_slow(never: set[str], commands: list[str], home: Path) -> None:
    assert {name: modules & never for name, modules in loaded(home, *commands).items()} == nothing(commands)


def test_commands_about_one_memory_load_no_prefect_nor_what_computes(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "home", symlinks=True)
    commands = ["memory show m-1", "memory show m-7 --format json", "memory undo m-1 --dry-run", "memory pin m-1 --yes"]
    found = loaded(tmp_path / "home", *commands)
    assert {name: modules & _SLOW for name, modules in found.items()} == nothing(commands)


def test_a_server_for_agents_loads_neither_prefect_nor_what_computes(home: Path) -> None:
    asked = [
        {
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT},
        },
        {"method": "tools/call", "params": {"name": "memory_health", "arguments": {"memory_id": "m-1"}}},
        {"method": "tools/call", "params": {"name": "why", "arguments": {"id": "i-1"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": at} | each) + "\n" for at, each in enumerate(asked))
    found = loaded(home, "mcp", said=lines)
    assert {name: modules & (_SLOW | {"polars"}) for name, modules in found.items()} == nothing(["mcp"])


def test_status_of_a_home_that_is_not_there_loads_nothing_slow(tmp_path: Path) -> None:
    assert loaded(tmp_path / "nowhere", "status")["status"] & _READING == set()


def test_a_night_with_nothing_new_is_recorded_without_prefect_or_what_computes(home: Path) -> None:
    before = runs(home)
    assert loaded(home, "nightly")["nightly"] & (_SLOW | {"jinja2", "vl_convert"}) == set()
    assert [row[0] for row in runs(home)] == [*(row[0] for row in before), "skipped"]


def test_landing_parquet_loads_no_pandas(tmp_path: Path) -> None:
    delivered = tmp_path / "a.parquet"
    rows = {"interaction_id": ["i-1"], "created_at": ["2026-03-01"], "prompt": ["a"], "memories_used": [["m-1", "m-2"]]}
    pl.DataFrame(rows).write_parquet(delivered)
    (modules,) = loaded(tmp_path / "home", f"land {delivered}").values()
    assert "pyarrow" in modules
    assert modules & {"numba", "pandas", "prefect", "scipy"} == set()


@pytest.mark.parametrize(("said", "threads"), [({}, 1), ({"POLARS_MAX_THREADS": "3"}, 3)])
def test_a_command_computes_with_one_thread_unless_told_otherwise(
    said: dict[str, str], threads: int, tmp_path: Path
) -> None:
    code = f"""
import os
from slowwave.flows.cli.main import main
try:
    main(["land", {str(tmp_path)!r}])
except SystemExit:
    pass
import polars
print(polars.thread_pool_size(), os.environ["OPENBLAS_NUM_THREADS"], os.environ["_RJEM_MALLOC_CONF"])
"""
    others = {name: value for name, value in os.environ.items() if name not in COMPUTING}
    env = {**others, "SLOWWAVE_HOME": str(tmp_path / "home"), **said}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    *_, of_polars, of_blas, allocator = done.stdout.split()
    assert (of_polars, of_blas) == (str(threads), "1")
    assert allocator.endswith(COMPUTING["_RJEM_MALLOC_CONF"])  # behind what Polars says itself: the last counts


def runs(home: Path) -> list[tuple[str]]:
    """The states of the home's nightly runs in the ledger, oldest first."""
    rows = Lake(home / "lake").ledger(Runs).filter(pl.col("kind") == "nightly")
    return rows.sort("run_id").select("status").rows()
