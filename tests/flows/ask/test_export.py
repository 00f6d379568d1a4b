"""`slowwave inspect export`: whole files in key order, the same bytes for a run, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.ask import export as export_module
from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.transforms.core.schema import columns, polars_schema
from slowwave.transforms.graph import SERVING
from slowwave.transforms.health.tables import MemoryHealth

HOSTILE = '=HYPERLINK("http://x")'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("export") / "home")
    said = [memory(f"m{n:02}", content=f"The answer to question {n} is {n}") for n in range(40, 0, -1)]
    made.land(
        *said,
        memory("=1+1", content=HOSTILE, project="-2"),
        memory("lines", content='one\r\ntwo, "three"\x1b[31m'),
        *(
            interaction(f"i{n}", memories_used=[f"m{n:02}"], response=f"The answer to question {n} is {n}")
            for n in (1, 2)
        ),
    )
    made.nightly(datetime(2026, 3, 3))  # noqa: DTZ001 - naive times hold UTC
    made.land(interaction("i3", created_at="2026-03-03T09:00:00Z"))
    made.nightly(datetime(2026, 3, 4))  # noqa: DTZ001 - naive times hold UTC
    return made


@pytest.fixture
def export(home, tmp_path, monkeypatch, capfd):
    """Runs the command in an empty folder; returns its exit code and what it said."""
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = cli._exit_code(["inspect", "export", *arguments])
        said = capfd.readouterr()
        return code, said.out, said.err

    return run


def _published(home: SmallHome, query: str) -> pl.DataFrame:
    with duckdb.connect(str(current_run(home.settings)), read_only=True) as connection:
        return connection.sql(query).pl()


@pytest.mark.slow
def test_every_published_table_is_written_as_it_is_declared(home, export):
    code, said, _ = export()
    assert code == 0
    assert {path.name for path in Path("export").iterdir()} == {f"{table.name}.parquet" for table in SERVING}
    assert len(said.splitlines()) == len(SERVING)
    for table in SERVING:
        found = pl.read_parquet(Path("export") / f"{table.name}.parquet")
        old = {c.old_name: c.dtype for c in columns(table) if c.old_name}
        assert dict(found.schema) == {**polars_schema(table), **old}, table.name
        keys = ", ".join(f'"{name}"' for name in table.key)
        expected = _published(home, f'FROM "{table.name}" ORDER BY {keys}')
        assert found.equals(expected.select(pl.col(name).cast(dtype) for name, dtype in found.schema.items())), (
            table.name
        )
    rows = pl.read_parquet("export/memory_health.parquet").height
    assert f"{rows} rows" in next(line for line in said.splitlines() if "memory_health.parquet" in line)
    metadata = pq.read_metadata("export/memory_health.parquet")
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_named_tables_are_written_once_into_a_named_folder(export):
    assert export("memory_health", "heuristics", "memory_health", "--to", "a/b c", "--format", "csv")[0] == 0
    assert {path.name for path in Path("a/b c").iterdir()} == {"memory_health.csv", "heuristics.csv"}


def test_csv_says_the_same_and_no_cell_is_a_formula(home, export):
    assert export("memory_health", "--format", "csv")[0] == 0
    with Path("export/memory_health.csv").open(newline="") as file:
        found = {row["memory_id"]: row for row in csv.DictReader(file)}
    told = {row["memory_id"]: row for row in _published(home, "FROM memory_health").to_dicts()}
    assert set(found) == {"'=1+1", *told} - {"=1+1"}
    assert found["'=1+1"]["content"] == f"'{HOSTILE}"
    assert found["'=1+1"]["project"] == "'-2"
    assert found["lines"]["content"] == told["lines"]["content"]
    of_one, published = found["m01"], told["m01"]
    assert float(of_one["strength"]) == published["strength"]
    assert json.loads(of_one["strength_forecast"]) == published["strength_forecast"]
    assert json.loads(of_one["reasons"]) == published["reasons"]
    assert (of_one["created_at"], of_one["pinned"], of_one["lift"]) == ("2026-03-01T08:00:00Z", "false", "")
    assert of_one["injected_count"] == "1"
    forecast = pl.Series([-0.5, None, float("nan")]).to_arrow()
    assert export_module._csv_cells(forecast)[:2] == [-0.5, None]  # a number is no text: it stays one


def test_one_run_is_always_the_same_bytes(export):
    for output in ("parquet", "csv"):
        assert export("--format", output, "--to", "first")[0] == 0
        with patch.object(export_module, "_LIMITS", {"threads": 1}):
            assert export("--format", output, "--to", "second")[0] == 0
    assert len(list(Path("first").iterdir())) == 2 * len(SERVING)
    for path in Path("first").iterdir():
        assert path.read_bytes() == (Path("second") / path.name).read_bytes(), path.name


def test_many_rows_pass_through_in_small_groups(export):
    with patch.object(export_module, "_BATCH_ROWS", 2), patch.object(export_module, "_GROUP_ROWS", 8):
        export("memory_health")
    metadata = pq.read_metadata("export/memory_health.parquet")
    sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert sum(sizes) == 42
    with patch.object(export_module, "_BATCH_ROWS", 2), patch.object(export_module, "_GROUP_BYTES", 1):
        export("memory_health", "--to", "smaller")
    assert pq.read_metadata("smaller/memory_health.parquet").num_row_groups >= len(sizes)


def test_files_that_are_there_stay_unless_forced(export):
    Path("export").mkdir()
    there = Path("export/runs.parquet")
    there.write_text("mine")
    code, _, said = export()
    assert code == 1
    assert "export/runs.parquet is there already: --force writes over it" in said
    assert [path.name for path in Path("export").iterdir()] == ["runs.parquet"]
    assert there.read_text() == "mine"
    assert export("--force")[0] == 0
    assert pl.read_parquet(there).height == 4


def test_a_failed_write_leaves_nothing_half_written(export):
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with patch.object(export_module.pq.ParquetWriter, "write_table", fails):
        code, _, said = export("memory_health")
    assert (code, list(Path("export").iterdir())) == (1, [])
    assert "No space left on device" in said


def test_what_is_not_there_is_said(export, monkeypatch, tmp_path):
    code, _, said = export("memory_helth")
    assert (code, "did you mean memory_health" in said) == (1, True)
    code, _, said = export("interactions", "--run", "current")
    assert code == 1
    assert "'interactions' is no published table" in said
    assert export("--run", "nonsense")[0] == 1
    assert not Path("export").exists()
    with patch.object(MemoryHealth, "name", "gone"):
        code, _, said = export("gone")
        assert (code, "has no table gone" in said) == (1, True)
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "empty"))
    code, _, said = export()
    assert (code, "nothing is published yet" in said) == (1, True)


def test_a_file_or_a_link_to_nothing_is_no_folder(export):
    Path("file").write_text("mine")
    Path("link").symlink_to("nowhere")
    for name in ("file", "link"):
        code, _, said = export("--to", name)
        assert (code, f"{name} is no folder" in said) == (1, True)
    assert Path("file").read_text() == "mine"
    assert not Path("nowhere").exists()


def test_a_file_of_another_version_or_a_damaged_one_is_told(home, export, monkeypatch, tmp_path):
    spoilt = tmp_path / "spoilt"
    shutil.copytree(home.folder, spoilt, symlinks=True)
    file = current_run(Settings(spoilt))
    assert file is not None
    with duckdb.connect(file) as connection:
        connection.execute("ALTER TABLE memory_health RENAME COLUMN memory_id TO mid")
    monkeypatch.setenv("SLOWWAVE_HOME", str(spoilt))
    for damage in (None, b"no database" * 1_000):
        if damage:
            file.write_bytes(damage)
        code, _, said = export("--force")
        assert code == 1
        assert said.startswith(f"slowwave: the tables of run {file.stem} cannot be read: ")


def test_a_reader_who_goes_ends_no_export(home, tmp_path):
    done = subprocess.run(
        [
            "bash",
            "-c",
            'set -o pipefail; "$0" -m slowwave.flows.cli.main inspect export --to all | head -1',
            sys.executable,
        ],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert f"exported {len(SERVING)} tables" in done.stderr
    assert len(list((tmp_path / "all").iterdir())) == len(SERVING)


def test_another_run_may_be_exported(export):
    assert export("memory_health", "--run", "previous")[0] == 0
    as_of = pl.read_parquet("export/memory_health.parquet")["as_of"].unique().to_list()
    assert as_of == [datetime(2026, 3, 3)]  # noqa: DTZ001 - naive times hold UTC
