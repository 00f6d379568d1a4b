"""What is published opens in tools that bring an older DuckDB, and holds no room that replaced rows took."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.publish import serving
from slowwave.flows.publish.serving import ServingFile
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.landing.ledger_tables import Quarantine

# The first number of the storage format that DuckDB 1.0 wrote; 2.0 writes 999 unless told otherwise.
_OLDEST = 64
_READ_ALL = """
import duckdb, json, sys
published, export = sys.argv[1:]
con = duckdb.connect(published, read_only=True)
names = [name for (name,) in con.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()]
rows = {name: len(con.execute(f'FROM "{name}"').fetchall()) for name in names}
comments = con.execute("SELECT count(comment) FROM duckdb_columns()").fetchall()[0][0]
exported = {name: len(con.execute(f"FROM '{export}/{name}.parquet'").fetchall()) for name in names}
print(json.dumps([rows, comments, exported]))
"""


def storage_number(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[12:20], "little")


def refused(count: int) -> pl.LazyFrame:
    known = {"source": "", "file_hash": "", "field": "", "reason": "", "run_id": ""}
    # texts that do not compress
    rows = [
        {"quarantine_id": f"{at}", "raw_text": "".join(f"{hash((at, part)):x}" for part in range(100)), **known}
        for at in range(count)
    ]
    landed_at = pl.lit(datetime(2026, 3, 1)).alias("landed_at")  # noqa: DTZ001 - naive times hold UTC
    schema = {name: dtype for name, dtype in polars_schema(Quarantine).items() if name != "landed_at"}
    return pl.LazyFrame(rows, schema=schema).with_columns(landed_at)


def shape(path: Path) -> list[tuple[object, ...]]:
    """Columns with their comments, constraints and rows of a file."""
    with duckdb.connect(path, read_only=True) as connection:
        return [
            *connection.execute(
                "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() ORDER BY ALL"
            ).fetchall(),
            *connection.execute("SELECT table_name, constraint_text FROM duckdb_constraints() ORDER BY ALL").fetchall(),
            *connection.execute("SELECT table_name, comment FROM duckdb_tables() ORDER BY ALL").fetchall(),
            *connection.execute("FROM quarantine ORDER BY ALL").fetchall(),
        ]


def free_share(path: Path) -> float:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute("SELECT free_blocks / total_blocks FROM pragma_database_size()").fetchall()[0][0]


def rewritten(folder: Path) -> Path:
    """A file most of whose rows were replaced while it was built, in a folder whose name a path may have."""
    with ServingFile(folder / "it's" / "before.duckdb") as before:
        before.replace(Quarantine, [refused(9_000)])
        before.finish()
    with ServingFile(folder / "it's" / "run.duckdb", folder / "it's" / "before.duckdb") as file:
        file.replace(Quarantine, [refused(200)])
        file.finish()
    return folder / "it's" / "run.duckdb"


def test_a_file_has_the_oldest_storage_format(tmp_path: Path) -> None:
    path = rewritten(tmp_path)
    assert [storage_number(path), storage_number(path.with_stem("before"))] == [_OLDEST] * 2


def test_replaced_rows_take_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing but room is lost: columns, comments, constraints and rows are those of the file as it was built."""
    path = rewritten(tmp_path / "compact")
    assert free_share(path) <= serving._FREE_SHARE
    assert [file.name for file in path.parent.iterdir() if file.stem.startswith(".")] == []
    monkeypatch.setattr(serving, "_FREE_SHARE", 1)
    built = rewritten(tmp_path / "built")
    assert path.stat().st_size < built.stat().st_size / 2
    assert shape(path) == shape(built)


def test_without_room_for_a_copy_the_file_is_published_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish: Callable[[ServingFile], None] = ServingFile.finish

    def finish_without_room(file: ServingFile) -> None:
        file._compacted = tmp_path / "no such folder" / "copy.duckdb"
        finish(file)

    monkeypatch.setattr(ServingFile, "finish", finish_without_room)
    path = rewritten(tmp_path)
    assert free_share(path) > serving._FREE_SHARE
    assert sorted(file.name for file in path.parent.iterdir()) == ["before.duckdb", "run.duckdb"]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.1.3", "1.4.4"])
def test_an_older_client_reads_all_tables_and_exports(tmp_path: Path, version: str) -> None:
    python = tmp_path / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "environment"], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"duckdb=={version}"]
    if subprocess.run(install, check=False, capture_output=True).returncode:
        pytest.skip(f"no index that can be reached has DuckDB {version} for this Python")
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1", content="Deploy from the release branch"), interaction("i1", memories_used=["m1"]))
    home.nightly(datetime(2026, 3, 4, tzinfo=UTC).replace(tzinfo=None))
    home.ask("inspect", "export", "--to", str(tmp_path / "export"))
    published = home.settings.current
    read = subprocess.run(
        [python, "-c", _READ_ALL, published, tmp_path / "export"], check=True, capture_output=True, text=True
    )
    rows, comments, exported = json.loads(read.stdout)
    with duckdb.connect(published, read_only=True) as connection:
        expected = connection.execute("SELECT count(comment) FROM duckdb_columns()").fetchall()[0][0]
    assert comments == expected > 0
    assert rows == exported
    assert rows["memory_health"] == 1
