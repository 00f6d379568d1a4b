"""Write, audit, publish: a serving file is built aside, audited with SQL, made durable, swapped in by one rename."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Literal

import duckdb
import polars as pl

from slowwave.flows.errors import AuditFailedError
from slowwave.flows.published import current_run
from slowwave.flows.settings import Settings
from slowwave.flows.store import TEMPORARY, fsync_path, make_durable_folder
from slowwave.transforms.schema import Table, conform, duckdb_ddl

_HEADER = re.compile(r"--\s*severity:\s*(fail|warn)\s*\n--\s*(.+)")
_SHOWN_ROWS = 3


@dataclass(frozen=True)
class Audit:
    """SQL that selects bad rows, and whether one of them stops the publish."""

    name: str
    severity: Literal["fail", "warn"]
    description: str
    sql: str


@dataclass(frozen=True)
class Finding:
    """What an audit found."""

    audit: Audit
    rows: int
    examples: list[tuple[object, ...]]

    def __str__(self) -> str:
        shown = "; ".join(str(tuple(map(str, example))) for example in self.examples)
        return f"{self.audit.name}: {self.rows} bad rows. {self.audit.description} For example {shown}"


def audits() -> list[Audit]:
    """All audits, by name."""
    found = []
    folder = resources.files("slowwave.flows").joinpath("audits")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".sql"):
            sql = entry.read_text()
            header = _HEADER.match(sql)
            if header is None:
                message = f"audit {entry.name} must begin with '-- severity: fail' or 'warn' and a description"
                raise ValueError(message)
            found.append(Audit(entry.name.removesuffix(".sql"), header[1], header[2].strip(), sql))  # type: ignore[arg-type]
    return found


def audit_findings(connection: duckdb.DuckDBPyConnection) -> list[Finding]:
    """The audits that select any row, with how many and the first few."""
    findings = []
    for audit in audits():
        rows = connection.sql(audit.sql).fetchall()
        if rows:
            findings.append(Finding(audit, len(rows), rows[:_SHOWN_ROWS]))
    return findings


def table_hash(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """`rows-hash` of a table's values without `run_id`: row hashes combined so that no order matters.

    Rows are distinct (one per key), so none cancel out. Comparable between files of one DuckDB version.
    """
    ((rows, exclusive_or, total),) = connection.sql(
        f"SELECT count(*), coalesce(bit_xor(h), 0), coalesce(sum(h), 0) % 18446744073709551616 "  # noqa: S608 - a declared name
        f'FROM (SELECT hash(t) AS h FROM (SELECT * EXCLUDE (run_id) FROM "{table}") AS t)'
    ).fetchall()
    return f"{rows}-{int(exclusive_or):016x}{int(total):016x}"


# What DuckDB raises when the disk refuses: while it reads and writes, at a commit, at a checkpoint.
_DISK_FAULTS = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)


class ServingFile:
    """A serving database under construction at `path`, begun as a copy of `base` if given; unseen before `finish`."""

    def __init__(self, path: Path, base: Path | None = None) -> None:
        self.path = path
        self._aside = path.parent / f".{path.name}{TEMPORARY}"
        make_durable_folder(path.parent)
        self._clear()
        try:
            if base is not None:
                shutil.copyfile(base, self._aside)
            self.connection = duckdb.connect(self._aside, config={"temp_directory": f"{self._aside}.spill"})
        except (OSError, *_DISK_FAULTS) as error:
            self._clear()
            raise self._disk_fault(error) from error
        self.connection.execute("SET preserve_insertion_order = false")

    def __enter__(self) -> ServingFile:
        return self

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        self.connection.close()
        self._clear()
        if isinstance(error, _DISK_FAULTS):
            raise self._disk_fault(error) from error

    def _disk_fault(self, error: Exception) -> OSError:
        said = str(error).splitlines()[0].split(": ", 1)[-1]
        reason = error.strerror if isinstance(error, OSError) else said
        return OSError(f"{self.path} cannot be written: {reason}")

    def _clear(self) -> None:
        self._aside.unlink(missing_ok=True)
        Path(f"{self._aside}.wal").unlink(missing_ok=True)
        shutil.rmtree(f"{self._aside}.spill", ignore_errors=True)

    def create(self, table: type[Table], rows: pl.LazyFrame | None = None) -> None:
        """Create a declared table with these rows, sorted by key."""
        self.connection.begin()  # else every statement, each column's comment too, is flushed to the disk by itself
        self.connection.execute(f'DROP TABLE IF EXISTS "{table.name}"')
        for statement in duckdb_ddl(table):
            self.connection.execute(statement)
        self.connection.commit()
        if rows is not None:
            self.extend(table, rows)

    def extend(self, table: type[Table], rows: pl.LazyFrame) -> None:
        """Put these rows, sorted by key, behind those of a table."""
        frame = conform(table, rows).sort(table.key).collect(engine="streaming")
        self.connection.register("new_rows", frame)
        self.connection.execute(f'INSERT INTO "{table.name}" SELECT * FROM new_rows')  # noqa: S608 - a declared name
        self.connection.unregister("new_rows")

    def remove(self, table: type[Table], is_old: str, old: Mapping[str, object]) -> None:
        """In a file that began as a copy of another: take away the rows that `is_old` (SQL) selects."""
        self.connection.execute(f'DELETE FROM "{table.name}" WHERE {is_old}', old)  # noqa: S608 - our own SQL

    def stamp(self, table: type[Table], run_id: str, as_of: datetime) -> None:
        """Give every row of a table its run and `as_of`: its last two columns, made anew, which touches no row."""
        name, comments = table.name, [text for text in duckdb_ddl(table) if text.startswith("COMMENT")]
        self.connection.begin()
        for column, dtype, value in (("run_id", "VARCHAR", run_id), ("as_of", "TIMESTAMP", as_of.isoformat())):
            literal = value.replace("'", "''")
            self.connection.execute(f'ALTER TABLE "{name}" DROP COLUMN {column}')
            self.connection.execute(f"ALTER TABLE \"{name}\" ADD COLUMN {column} {dtype} DEFAULT '{literal}'")
            self.connection.execute(f'ALTER TABLE "{name}" ALTER {column} DROP DEFAULT')
            self.connection.execute(f'ALTER TABLE "{name}" ALTER {column} SET NOT NULL')
        for comment in comments:
            self.connection.execute(comment)
        self.connection.commit()

    def hashes(self, tables: Sequence[type[Table]]) -> list[str]:
        """`table=hash` of each table."""
        return [f"{table.name}={table_hash(self.connection, table.name)}" for table in tables]

    def audit(self) -> list[Finding]:
        """What the warning audits found.

        Raises AuditFailedError when one that must not find anything did.
        """
        findings = audit_findings(self.connection)
        failed = [finding for finding in findings if finding.audit.severity == "fail"]
        if failed:
            message = "nothing was published, the tables of before stay live: " + "\n".join(map(str, failed))
            raise AuditFailedError(message)
        return findings

    def finish(self) -> None:
        """Make the file durable at its place."""
        self.connection.execute("CHECKPOINT")
        self.connection.close()
        fsync_path(self._aside)
        self._aside.rename(self.path)
        fsync_path(self.path.parent)


def is_readable(path: Path) -> bool:
    """Whether a serving file still opens and names its run: it may have been damaged since."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            return bool(connection.sql("FROM runs WHERE run_id = $id", params={"id": path.stem}).fetchall())
    except duckdb.Error:
        return False


def swap_in(settings: Settings, run_id: str) -> None:
    """Make a run's file the current one. Readers see the old file or the new one, never neither.

    The file that ceases to be current is touched, so that its age since then can be told.
    """
    before = current_run(settings)
    link = settings.serving / f".current.{os.getpid()}{TEMPORARY}"
    link.unlink(missing_ok=True)
    link.symlink_to(Path("runs") / f"{run_id}.duckdb")
    if before is not None:
        os.utime(before)
    link.rename(settings.current)
    fsync_path(settings.serving)
