"""Write, audit, publish: a serving file is built aside, audited with SQL, made durable, swapped in by one rename."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

import duckdb
import polars as pl

from slowwave.flows.kernel.errors import AuditFailedError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import TEMPORARY, fsync_path, make_durable_folder
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.current import bucket_of, link_current, point_at
from slowwave.flows.publish.blank import STORAGE_VERSION, declarations, keep_blank, kept_blank
from slowwave.transforms.core.frames import conform
from slowwave.transforms.core.schema import Table, duckdb_ddl
from slowwave.transforms.graph import BY_DAY, PUBLISHED, SERVING
from slowwave.transforms.landing.tables import LANDED

_HEADER = re.compile(r"--\s*severity:\s*(fail|warn)\s*\n((?:--.+\n)+)")
_WORD = re.compile(r"\w+")
# To copy the file takes longer than its free blocks are worth where they are fewer.
_FREE_SHARE = 0.1
_SHOWN_ROWS = 3
_FEW_ROWS = 1_000
# DuckDB spills what takes more; without a limit it keeps what it has written, up to most of the machine.
_MEMORY_MB = 512
_RESTING_MB = 32
# Of frames smaller than this it is not asked what they take.
_MUCH_BYTES = _MEMORY_MB * 2**20 // 8
# Texts longer than this are held until they are written, those of thousands of rows: they need more.
_LONG_TEXT_BYTES = 10_000


@dataclass(frozen=True)
class Audit:
    """SQL that selects bad rows, and whether one of them stops the publish. `reads`: the tables that it names.

    `sql_of_new`: where it is not empty, what is asked instead where rows of most days are known to be good. In either,
    the variable `new_days` holds the other days; it is not set where there are none but those.
    """

    name: str
    severity: Literal["fail", "warn"]
    description: str
    sql: str
    reads: frozenset[str] = frozenset()
    sql_of_new: str = ""


@dataclass(frozen=True)
class Finding:
    """What an audit found."""

    audit: Audit
    rows: int
    examples: list[dict[str, object]]  # the first rows, by column
    blamed: str = ""  # the first row at fault as TABLE:KEY, where the audit selects one that landed

    def __str__(self) -> str:
        shown = "; ".join(
            ", ".join(f"{name} {_format_value(value)}" for name, value in row.items()) for row in self.examples
        )
        # what must never be is reported by the rule that it breaks, what is worth knowing by what it is
        many = (
            f"broken by {format_count(self.rows, 'row')}" if self.audit.severity == "fail" else f"{self.rows:,} found"
        )
        return f"{self.audit.name}: {many}. {self.audit.description} For example {shown}"


def _format_value(value: object) -> str:
    """A value on one line: texts as Python quotes them, for they come from logs, and times to the second."""
    if isinstance(value, datetime):
        return utc_text(value)
    return repr(value) if isinstance(value, str) else str(value)


@cache
def audits() -> tuple[Audit, ...]:
    """All audits, by name: one of the key of each table that is computed, and those written as SQL."""
    tables = {table.name for table in SERVING}
    found = [key_audit(table) for table in PUBLISHED]
    folder = resources.files("slowwave.flows.publish").joinpath("audits")
    entries = [entry for room in folder.iterdir() if room.is_dir() for entry in room.iterdir()]
    for entry in entries:
        if entry.name.endswith(".sql"):
            sql = entry.read_text(encoding="utf-8")
            header = _HEADER.match(sql)
            if header is None:
                message = f"audit {entry.name} must begin with '-- severity: fail' or 'warn' and a description"
                raise ValueError(message)
            reads = frozenset(tables & set(_WORD.findall(sql)))
            description = " ".join(line.removeprefix("--").strip() for line in header[2].splitlines())
            found.append(Audit(entry.name.removesuffix(".sql"), header[1], description, sql, reads))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda audit: audit.name))


def key_audit(table: type[Table]) -> Audit:
    """That a table has one row per key, and none without one."""
    *most, last = table.key
    named = f"{', '.join(most)} and {last}" if most else last
    rest = "and none without them." if most else "and none without one."
    listed = ", ".join(f'"{name}"' for name in table.key)
    is_missing = " OR ".join(f'"{name}" IS NULL' for name in table.key)
    of_new = _select_new(table)
    counted, bad = f'SELECT {listed}, count(*) AS rows FROM "{table.name}"', f"HAVING count(*) > 1 OR {is_missing}"  # noqa: S608 - declared names
    return Audit(
        name=f"{table.name}_key",
        severity="fail",
        description=f"{table.name} has one row per {named}, {rest}",
        sql=f"{counted} GROUP BY ALL {bad}",
        reads=frozenset({table.name}),
        sql_of_new=f"{counted} {of_new} GROUP BY ALL {bad}" if of_new else "",
    )


def _select_new(table: type[Table]) -> str:
    """What selects the rows that one row per key is asked of, where rows of most days are known to be good."""
    reuse = BY_DAY.get(table)
    if reuse is None or not reuse.audits_new_by:
        return ""
    if reuse.is_onward:
        return f"WHERE {reuse.dated} >= list_min(getvariable('new_days')) OR {reuse.dated} IS NULL"
    is_new = f"list_contains(getvariable('new_days'), CAST({reuse.dated} AS DATE))"
    by = reuse.audits_new_by
    return f"WHERE {by} IN (SELECT {by} FROM {table.name} WHERE {is_new})"  # noqa: S608 - declared names


def audit_findings(
    connection: duckdb.DuckDBPyConnection, empty: Collection[str] = (), new_days: Sequence[date] | None = None
) -> list[Finding]:
    """The audits that select any row, with how many and the first few.

    One that reads `empty` tables alone selects none. `new_days`: rows of other days are taken over from a publish that
    passed, and it is not asked again whether they agree with one another; None: all are new.
    """
    findings = []
    if new_days is not None:
        connection.execute("SET VARIABLE new_days = CAST($days AS DATE[])", {"days": list(new_days)})
    for audit in audits():
        if audit.reads and audit.reads <= set(empty):
            continue
        selected = connection.execute(audit.sql if new_days is None else audit.sql_of_new or audit.sql)
        names = [column[0] for column in selected.description or []]
        rows = selected.fetchall()
        if rows:
            first = [dict(zip(names, row, strict=True)) for row in rows[:_SHOWN_ROWS]]
            findings.append(Finding(audit, len(rows), first, _identify_row(names, rows[0])))
    return findings


def _identify_row(names: Sequence[str], row: tuple[object, ...]) -> str:
    told = ((table.name, row[names.index(table.key[0])]) for table in LANDED if table.key[0] in names)
    return next((f"{table}:{key}" for table, key in told if key), "")


def table_hashes(connection: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> dict[str, str]:
    """`rows-hash` of each table's values without `run_id`: row hashes combined so that no order matters.

    Rows are distinct (one per key), so none cancel out. Comparable between files of one DuckDB version.
    """
    each = [
        f"SELECT '{table}', count(*), coalesce(bit_xor(h), 0), coalesce(sum(h), 0) % 18446744073709551616 "  # noqa: S608 - a declared name
        f'FROM (SELECT hash(t) AS h FROM (SELECT * EXCLUDE (run_id) FROM "{table}") AS t)'
        for table in tables
    ]
    rows = connection.execute(" UNION ALL ".join(each)).fetchall() if each else []
    return {table: f"{count}-{int(exclusive_or):016x}{int(total):016x}" for table, count, exclusive_or, total in rows}


def table_hash(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """`table_hashes` of one table."""
    return table_hashes(connection, [table])[table]


_EMPTY_HASH = f"0-{0:032x}"
# By day, how many rows there are, and their hashes combined so that no order matters.
DayHashes = dict[date, list[int]]


def day_hashes(
    connection: duckdb.DuckDBPyConnection, table: type[Table], dated: str, rows: pl.DataFrame | None = None
) -> DayHashes:
    """What a table holds of each day (by its time `dated`) but for run and `as_of`; or what these rows of it hold."""
    _stream = None if rows is None else rows.__arrow_c_stream__()  # DuckDB finds it by its name
    source = f'"{table.name}"' if rows is None else "_stream"
    found = connection.execute(
        f'SELECT CAST("{dated}" AS DATE), count(*), bit_xor(hash(t)), sum(hash(t)) '  # noqa: S608 - declared names
        f"FROM (SELECT * EXCLUDE (run_id, as_of) FROM {source}) AS t GROUP BY ALL"
    )
    return {day: told for day, *told in found.fetchall()}


def fetch_frame(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    schema: pl.Schema | Mapping[str, type],
    params: Mapping[str, object] | None = None,
) -> pl.DataFrame:
    """What a query finds, a row per memory or less: `.pl()` would load pyarrow, which takes longer than these rows."""
    rows = connection.execute(query, params).fetchall()
    return pl.DataFrame(rows, schema=schema, orient="row")


# What DuckDB raises when the disk refuses: while it reads and writes, at a commit, at a checkpoint; and the last, when
# there is no room for what memory does not hold.
_DISK_FAULTS = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException, duckdb.OutOfMemoryException)


class ServingFile:
    """A serving database under construction at `path`, begun as a copy of `base` if given; unseen before `finish`.

    It has every declared table from the beginning.
    """

    def __init__(self, path: Path, base: Path | None = None) -> None:
        self.path = path
        self._aside = path.parent / f".{path.name}{TEMPORARY}"
        self._compacted = path.parent / f".{path.stem}.compact{path.suffix}{TEMPORARY}"
        make_durable_folder(path.parent)
        self._clear()
        blank = b"" if base is not None else kept_blank()
        try:
            if base is not None:
                shutil.copyfile(base, self._aside)
            elif blank:
                self._aside.write_bytes(blank)
            self.connection = duckdb.connect(
                self._aside,
                config={
                    "storage_compatibility_version": STORAGE_VERSION,
                    "temp_directory": f"{self._aside}.spill",
                    "memory_limit": f"{_MEMORY_MB}MB",
                    "fsync_mode": "NONE",  # a file that was not finished is never opened again
                },
            )
            self.connection.execute("SET preserve_insertion_order = false")
            if base is None and not blank:
                self._declare()
        except (OSError, *_DISK_FAULTS) as error:
            self._clear()
            raise self._disk_fault(error) from error
        self._is_holding = False
        self._long_bytes = 0
        self._limit_mb = _MEMORY_MB
        self._filled: set[type[Table]] = set() if base is None else set(SERVING)
        self._rows = 0 if base is None else _FEW_ROWS

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
        if isinstance(error, duckdb.OutOfMemoryException):
            reason = (
                f"the disk of {self.path.parent} has no room for what memory does not hold: free some, run this again"
            )
        return OSError(f"{self.path} cannot be written: {reason}")

    def _clear(self) -> None:
        for file in (self._aside, self._compacted):
            file.unlink(missing_ok=True)
            Path(f"{file}.wal").unlink(missing_ok=True)
        shutil.rmtree(f"{self._aside}.spill", ignore_errors=True)

    def _declare(self) -> None:
        """Create every table, and keep the file as it then is for the next one."""
        self.connection.begin()  # else every statement, each column's comment too, is flushed to the disk by itself
        for statement in declarations():
            self.connection.execute(statement)
        self.connection.commit()
        self.connection.execute("CHECKPOINT")
        keep_blank(self._aside.read_bytes())

    def replace(self, table: type[Table], parts: Iterable[pl.LazyFrame]) -> None:
        """Give a table these rows, for those it has: in parts where they may be too many to be held at once."""
        self.remove(table, "true", {})
        for rows in parts:
            self.extend(table, rows)

    def extend(self, table: type[Table], rows: pl.LazyFrame) -> None:
        """Put these rows, sorted by key, behind those of a table."""
        frame = conform(table, rows).collect()
        if frame.is_empty():
            return
        first, *others = table.key
        if others or not frame[first].is_sorted():  # most come so, and to sort them moves every row
            frame = frame.sort(table.key)
        self._filled.add(table)
        self._rows += frame.height
        self._is_holding = True
        self._make_room(frame)
        # as a stream, which is read once: to be read as a frame, pyarrow would have to be loaded
        _stream = frame.__arrow_c_stream__()  # DuckDB finds it by its name
        self.connection.execute(f'INSERT INTO "{table.name}" FROM _stream')
        if frame.estimated_size() >= _MUCH_BYTES:
            self._limit(self._limit_mb)  # what DuckDB freed it keeps, up to hundreds of megabytes, until it is limited

    def _make_room(self, frame: pl.DataFrame) -> None:
        if frame.estimated_size() < _MUCH_BYTES:
            return
        sizes = pl.col(pl.String).str.len_bytes().cast(pl.Int64)
        long = frame.select(sizes.filter(sizes > _LONG_TEXT_BYTES).sum()).sum_horizontal().item()
        if long:
            self._long_bytes += long
            self._limit_mb = _MEMORY_MB + 2 * self._long_bytes // 2**20
            self._limit(self._limit_mb)

    def _limit(self, megabytes: int) -> None:
        self.connection.execute(f"SET memory_limit = '{megabytes}MB'")

    def release_memory(self) -> None:
        """Hand back what DuckDB holds of what was written: it reads from the disk what it is asked for next."""
        if not self._is_holding:
            return
        self._is_holding = False
        with suppress(duckdb.OutOfMemoryException):  # of what it cannot do without
            self._limit(_RESTING_MB)
        self._limit(self._limit_mb)

    def remove(self, table: type[Table], is_old: str, old: Mapping[str, object]) -> None:
        """Take away the rows that `is_old` (SQL) selects, if there may be any."""
        if table in self._filled:
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

    def _copy_compacted(self) -> bool:
        """Copy all tables into a new file, without free blocks; return whether there was room for it."""
        copy = str(self._compacted).replace("'", "''")
        built = str(self.connection.execute("SELECT current_database()").fetchall()[0][0]).replace('"', '""')
        try:
            self.connection.execute(f"ATTACH '{copy}' AS compacted (STORAGE_VERSION '{STORAGE_VERSION}')")
            self.connection.execute(f'COPY FROM DATABASE "{built}" TO compacted')
            self.connection.execute("CHECKPOINT compacted")
        except (duckdb.IOException, duckdb.OutOfMemoryException):
            return False  # there is no room for a second file: the one that was built is published as it is
        return True

    def _plan_lightly(self) -> None:
        """Of few rows, finding out how best to ask takes longer than asking."""
        if self._rows < _FEW_ROWS:
            self.connection.execute("PRAGMA disable_optimizer")

    def hashes(self, tables: Sequence[type[Table]]) -> list[str]:
        """`table=hash` of each table."""
        self._plan_lightly()
        told = table_hashes(self.connection, [table.name for table in tables if table in self._filled])
        return [f"{table.name}={told.get(table.name, _EMPTY_HASH)}" for table in tables]

    def audit(self, new_days: Sequence[date] | None = None) -> list[Finding]:
        """What the warning audits found; `new_days` as in `audit_findings`.

        Raises AuditFailedError when one that must not find anything did.
        """
        self._plan_lightly()
        empty = {table.name for table in SERVING if table not in self._filled}
        findings = audit_findings(self.connection, empty, new_days)
        failed = [finding for finding in findings if finding.audit.severity == "fail"]
        if failed:
            message = "nothing was published, the previous tables stay live: " + "\n".join(map(str, failed))
            for row in dict.fromkeys(finding.blamed for finding in failed if finding.blamed):
                message += f"\nTo publish without that row: slowwave nightly --leave-out {shlex.quote(row)}"
            raise AuditFailedError(message)
        return findings

    def finish(self) -> None:
        """Make the file durable at its place, without the room that replaced rows took."""
        self.connection.execute("CHECKPOINT")
        total, free = self.connection.execute(
            "SELECT total_blocks, free_blocks FROM pragma_database_size() WHERE database_name = current_database()"
        ).fetchall()[0]
        whole = self._compacted if free > total * _FREE_SHARE and self._copy_compacted() else self._aside
        self.connection.close()
        fsync_path(whole)
        whole.rename(self.path)
        self._aside.unlink(missing_ok=True)
        fsync_path(self.path.parent)


def is_readable(path: Path) -> bool:
    """Whether a serving file still opens and names its run: it may have been damaged since."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            return bool(connection.sql("FROM runs WHERE run_id = $id", params={"id": path.stem}).fetchall())
    except duckdb.Error:
        return False


def swap_in(settings: Settings, run_id: str) -> None:
    """Make a run's file the current one, of a lake in a bucket for every home over it.

    Raises OSError where that cannot be: what was current stays.
    """
    bucket = bucket_of(settings)
    if bucket is not None:
        point_at(settings, bucket, run_id)
    link_current(settings, run_id)
