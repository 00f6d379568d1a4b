"""What a publish reuses of the one before, as the nodes of its tables declare: rows of days that did not change.

Where current was published by the same code and params, its rows of unchanged days stay: a day's rows follow from the
day's inputs alone, so one more day costs the day. What is reused is first checked against its hash; where there is
little, that takes longer than to write it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.lake.run_ledger import read_run
from slowwave.flows.publish.plan import BuildPlan
from slowwave.flows.publish.serving import DayHashes, day_hashes, fetch_frame, table_hashes
from slowwave.transforms.core.node import Given, LandedInput, SameValues
from slowwave.transforms.core.schema import Landed, Table
from slowwave.transforms.evidence.nodes import REPLAYED
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import BY_DAY, BY_DIFFERENCE, EVIDENCE, node_of

# Of fewer rows than this, all are written in less time than it takes to find out which may stay.
FEWEST_ROWS = 10_000


@dataclass(frozen=True)
class Base:
    """An earlier publish to reuse rows of.

    `changed_days`: by table that is reused by day, the days whose inputs are not as they were. `hashes`: of what is
    reused by difference, what it holds.
    """

    path: Path
    changed_days: Mapping[type[Table], list[date]]
    hashes: Mapping[type[Table], DayHashes]

    def first_day(self, table: type[Table]) -> date:
        """The first day of a table whose inputs changed."""
        return min(self.changed_days[table], default=date.max)

    @property
    def new_days(self) -> list[date]:
        """The days whose rows are not as they were when they were audited, of the tables of which no others are."""
        audited = (days for table, days in self.changed_days.items() if BY_DAY[table].audits_new_by)
        return sorted({day for days in audited for day in days})

    def select_changed(self, table: type[Table]) -> tuple[str, dict[str, object]]:
        """What selects, in SQL and with its parameters, the rows of a table that must be written anew."""
        if table not in BY_DAY:
            return "true", {}
        reuse = BY_DAY[table]
        if reuse.is_onward:
            return f'"{reuse.dated}" >= $first_day', {"first_day": self.first_day(table)}
        return f'list_contains($days, CAST("{reuse.dated}" AS DATE))', {"days": self.changed_days[table]}


def base_of(current: Path | None, plan: BuildPlan, value: Callable[[type[Table]], pl.DataFrame]) -> Base | None:
    """`current`, if it was published by this code with these params, shares days, and is what it was.

    `value`: computes what rows that are reused follow from besides (`ReuseByDay.while_same`).
    """
    lake = plan.log.lake
    if current is None or plan.full or is_erasing(lake.root):  # a copy of it would hold what goes
        return None
    rows = read_run(lake, current).filter(
        pl.col("params_hash") == plan.log.params.params_hash(),
        pl.col("code_hash") == code_hash(),
    )
    if rows.is_empty() or _rows_reused(rows["table_hashes"].item()) < FEWEST_ROWS:
        return None
    inputs = lake.ledger(DayInputs).filter(pl.col("run_id") == current.stem)
    if inputs.is_empty():
        return None
    changed = {
        table: sorted({day for of in reuse.changed_by for day in _changed_days(of, plan, inputs, rows["as_of"].item())})
        for table, reuse in BY_DAY.items()
    }
    hashes = _hashes_if_intact(current, rows["table_hashes"].item())
    same = [reuse.while_same for reuse in BY_DAY.values() if reuse.while_same is not None]
    if hashes is None or not all(_is_same(current, one, value(one.of)) for one in same):
        return None
    base = Base(current, changed, hashes)
    first = min(base.first_day(table) for table, reuse in BY_DAY.items() if reuse.is_onward)
    return base if any(day.day < first for day in plan.days) else None


def _changed_days(given: Given, plan: BuildPlan, inputs: pl.DataFrame, as_of: datetime) -> list[date]:
    """The days on which what is given is not as it was of the inputs and the `as_of` of an earlier publish."""
    if given in EVIDENCE:
        return _differing_days(inputs, plan.inputs, REPLAYED.of, "fingerprint")
    if isinstance(given, type) and issubclass(given, Landed):
        return _differing_days(inputs, plan.inputs, given, "rows_hash")
    landed = {taken.of for taken in node_of(given).taken if isinstance(taken, LandedInput)}
    of_landed = (_differing_days(inputs, plan.inputs, of, "rows_hash") for of in landed)
    return [*(day for days in of_landed for day in days), *_days_of_expiry(plan, as_of)]


def _days_of_expiry(plan: BuildPlan, before: datetime) -> list[date]:
    """The days on which a memory expires between the publish before and this one: nothing landed tells of them."""
    first, last = sorted((before, plan.log.as_of))
    expires_at = plan.log.states["expires_at"]
    return expires_at.filter(expires_at.is_between(first, last)).dt.date().unique().sort().to_list()


def _differing_days(
    before: pl.DataFrame, now: Sequence[dict[str, Any]], table: type[Landed], column: str
) -> list[date]:
    was = {row["day"]: row[column] for row in before.filter(pl.col("landed_table") == table.name).iter_rows(named=True)}
    is_now = {row["day"]: row[column] for row in now if row["landed_table"] == table.name}
    return sorted(day for day in was.keys() | is_now.keys() if was.get(day) != is_now.get(day))


def _rows_reused(published: Sequence[str]) -> int:
    """How many there may be: a table's hash begins with the number of its rows."""
    hashes = dict(told.split("=", 1) for told in published)
    return sum(int(hashes[table.name].split("-")[0]) for table in BY_DAY if table.name in hashes)


def _hashes_if_intact(path: Path, published: Sequence[str]) -> dict[type[Table], DayHashes] | None:
    """What the tables reused by difference hold; None where those reused by day do not hash to what was published."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            is_now = table_hashes(connection, [table.name for table in BY_DAY])
            if not all(f"{name}={told}" in published for name, told in is_now.items()):
                return None
            return {table: day_hashes(connection, table, reuse.dated) for table, reuse in BY_DIFFERENCE.items()}
    except duckdb.Error:
        return None


def _is_same(path: Path, same: SameValues, now: pl.DataFrame) -> bool:
    """Whether these values are those that were published."""
    key = list(same.of.key)
    values = now.select(*key, same.value).sort(key)
    named = ", ".join(values.columns)
    try:
        with duckdb.connect(path, read_only=True) as connection:
            was = fetch_frame(connection, f"SELECT {named} FROM {same.of.name} ORDER BY ALL", values.schema)  # noqa: S608 - declared names
    except duckdb.Error:  # it is damaged
        return False
    changed = was.join(values, on=values.columns, how="anti")
    new = now.filter(pl.col(same.value) != pl.col(same.default)).join(was, on=key, how="anti")
    return changed.is_empty() and new.is_empty()
