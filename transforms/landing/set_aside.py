"""What a landed row can trip: declared checks, and the rows that fail one.

Landing refuses such rows. A lake may hold them all the same: an earlier release let them pass, or somebody else wrote
the file. The checks follow from the declaration of the landed tables, so what a table promises, each
counted row keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Frame, selected
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import Column, Landed, columns, polars_schema
from slowwave.transforms.landing.ledger_tables import CheckedFiles, SetAside
from slowwave.transforms.landing.tables import LANDED

FAILED = polars_schema(CheckedFiles)["failed"].inner.to_schema()  # type: ignore[attr-defined] - a list of structs
LEAVE_OUT, LEAVE_IN = "leave out", "leave in"
LEFT_OUT = "left_out"
# What DuckDB, Polars and Python all can hold as a time.
_EARLIEST, _LATEST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001 - times are naive and hold UTC


@dataclass(frozen=True)
class RowCheck:
    """One check: its name, the column it reads, which rows fail it, and why that is wrong."""

    name: str
    column: str
    fails: pl.Expr
    reason: str


@cache
def row_checks(table: type[Landed]) -> tuple[RowCheck, ...]:
    """The checks of a landed table. Texts are not read, but for names."""
    found = [check for c in columns(table) if not c.internal and not c.strict for check in _checks_of(c)]
    name = table.key[0]
    reason = f"{name} is blank: nothing can be counted for it"
    return (*found, RowCheck("blank_key", name, is_blank(pl.col(name)), reason))


def _checks_of(c: Column) -> Iterator[RowCheck]:
    value = pl.col(c.name)
    if not c.nullable:
        yield RowCheck("missing_value", c.name, value.is_null(), f"{c.name} is missing")
    if c.kind == "time":
        outside = (value < _EARLIEST) | (value > _LATEST)
        yield RowCheck("impossible_time", c.name, outside, f"{c.name} is not between the years 1 and 9999")
    if c.kind == "number":
        yield RowCheck("not_finite", c.name, ~value.is_finite(), f"{c.name} is no finite number")
    if c.low is not None:
        yield RowCheck("out_of_range", c.name, value < c.low, f"{c.name} is below {c.low:g}")
    if c.high is not None:
        yield RowCheck("out_of_range", c.name, value > c.high, f"{c.name} is above {c.high:g}")
    if c.choices:
        known = ", ".join(c.choices)
        yield RowCheck("unknown_value", c.name, ~value.is_in([*c.choices, ""]), f"{c.name} is none of {known}")
    if c.kind == "texts":
        holds_null = value.list.drop_nulls().list.len() < value.list.len()
        yield RowCheck("null_in_list", c.name, holds_null, f"{c.name} holds an item that is NULL")


@cache
def checks_digest() -> str:
    """Digest of all checks: of files that were checked by others nothing is known."""
    return digest(f"{table.name} {c.name} {c.column} {c.reason}" for table in LANDED for c in row_checks(table))


def fails_any(table: type[Landed]) -> pl.Expr:
    """Whether a row fails a check."""
    return pl.any_horizontal([check.fails.fill_null(value=False) for check in row_checks(table)])


def read_by_checks(table: type[Landed]) -> list[str]:
    """The columns that checks read, and those that name a row."""
    named = (table.key[0], table.event_time, "recorded_at", "row_hash")
    return list(dict.fromkeys([*named, *(check.column for check in row_checks(table))]))


def failed_checks(table: type[Landed], rows: pl.DataFrame) -> pl.DataFrame:
    """The checks that `rows` fail: `rows` with key, check, reason, happened_at beside their columns, one per check.

    A row that fails a check in several columns is listed once, of the first of them.
    """
    checks = row_checks(table) if rows.height else row_checks(table)[:1]  # mostly no row fails: one gives the columns
    found = [
        rows.filter(check.fails.fill_null(value=False)).with_columns(
            check=pl.lit(check.name), reason=pl.lit(check.reason)
        )
        for check in checks
    ]
    return (
        pl.concat(found)
        .unique(["row_hash", "check"], keep="first", maintain_order=True)
        .with_columns(key=pl.col(table.key[0]).fill_null(""), happened_at=pl.col(table.event_time))
    )


def left_out_rows(decisions: pl.DataFrame) -> pl.DataFrame:
    """The row versions that people left out, and did not leave in again: landed_table, and the columns of FAILED.

    Args:
        decisions: all versions of the landed decisions. Their time does not matter: a row left out counts at no
            `as_of`, so that a publish as of an earlier time passes too.
    """
    last = last_left_out(decisions).filter(pl.col("command") == LEAVE_OUT)
    found = []
    for target, said, values in last.select("target", _reason_set_aside(), "values").iter_rows():
        table, _, key = target.partition(":")
        found += [
            {**row, "landed_table": table, "key": key, "check": LEFT_OUT, "reason": said}
            for row in json.loads(values)["rows"]
        ]
    schema = {"landed_table": pl.String(), **FAILED}
    times = ("happened_at", "recorded_at")
    told = pl.DataFrame(found, schema={**schema, **dict.fromkeys(times, pl.String())})
    return told.with_columns(pl.col(times).str.to_datetime(time_unit="us")).unique("row_hash", maintain_order=True)


def last_left_out(decisions: pl.DataFrame) -> pl.DataFrame:
    """Per row that was ever left out the last decision on it, sorted by target."""
    of_rows = decisions.filter(pl.col("command").is_in([LEAVE_OUT, LEAVE_IN])).sort("decided_at", "decision_id")
    return of_rows.group_by("target", maintain_order=True).last().sort("target")


def _reason_set_aside() -> pl.Expr:
    why = pl.concat_str([pl.lit(": "), pl.col("reason")]).fill_null("")
    return pl.format("left out by {} on {}{}", "changed_by", pl.col("decided_at").dt.strftime("%Y-%m-%d"), why)


def set_aside(failed: pl.DataFrame, as_of: datetime) -> Frame[SetAside]:
    """The rows of the table `set_aside`, before they are stamped: versions visible at `as_of` that count nowhere.

    `failed`: table, key, row_hash, check, reason, happened_at, recorded_at, one row per check that a version fails.
    """
    is_seen = pl.all_horizontal((pl.col("happened_at", "recorded_at") < as_of).fill_null(value=True))
    return selected(SetAside, failed.filter(is_seen))
