"""What a publish takes over from the one before: rows of days whose inputs did not change, and rows found the same.

Where current was published by the same code and params, its rows of unchanged days are taken over: a day's rows follow
from the day's inputs alone, so one more day costs the day. What is taken over is first checked against its hash; where
there is little, that takes longer than to write it anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.lake.published import current_run
from slowwave.flows.publish.plan import BuildPlan
from slowwave.flows.publish.run import Run
from slowwave.flows.publish.serving import DayHashes, day_hashes, fetch_frame, table_hashes
from slowwave.transforms.core.schema import Table
from slowwave.transforms.decisions.review.tables import ReviewStatements
from slowwave.transforms.evidence.tables import DayInputs, PublishedReferences
from slowwave.transforms.health.tables import MemoryHealthHistory
from slowwave.transforms.landing.ledger_tables import Runs
from slowwave.transforms.landing.tables import LANDED, Interactions, LandedDays, Memories
from slowwave.transforms.learning.tables import CountedOutcomes
from slowwave.transforms.usage.strength.tables import FittedStrengths

# The tables whose rows of unchanged days are taken over (see `Base.differing`).
TAKEN_OVER: tuple[type[Table], ...] = (LandedDays, PublishedReferences, MemoryHealthHistory)
# The tables that are computed whole, and of which the days that came out as they were stay as they are, by the time
# that dates a row: to compare a row takes a fraction of what it takes to write it. Any other is written whole.
COMPARED: Mapping[type[Table], str] = {CountedOutcomes: "created_at", ReviewStatements: "occurred_at"}
# Of them fewer rows than this are written in less time than it takes to find out which may stay.
FEWEST_ROWS = 10_000


@dataclass(frozen=True)
class Base:
    """An earlier publish to take unchanged rows from: the days whose evidence differs, the first day anything does.

    `expired_days`: those on which a memory expired since.
    `landed_days`: by landed table, the days whose winning rows differ. `hashes`: of what is compared, what it holds.
    """

    path: Path
    evidence_days: list[date]
    first_day: date
    expired_days: list[date]
    landed_days: dict[str, list[date]]
    hashes: dict[type[Table], DayHashes]

    @property
    def new_days(self) -> list[date]:
        """The days of which references, memories or the count of interactions are not as they were when audited."""
        landed = (*self.landed_days[Interactions.name], *self.landed_days[Memories.name])
        return sorted({*self.evidence_days, *self.expired_days, *landed})

    def differing(self, table: type[Table]) -> Iterator[tuple[str, dict[str, object]]]:
        """What selects, in SQL and with its parameters, the rows of a table that must be written anew."""
        if table is MemoryHealthHistory:
            yield "day >= $first_day", {"first_day": self.first_day}
        elif table is PublishedReferences:
            yield "list_contains($days, CAST(occurred_at AS DATE))", {"days": self.evidence_days}
        elif table is LandedDays:
            for name, days in self.landed_days.items():
                yield "landed_table = $name AND list_contains($days, day)", {"name": name, "days": days}
        else:
            yield "true", {}


def base_of(run: Run, plan: BuildPlan, strength_fits: pl.DataFrame) -> Base | None:
    """Current, if it was published by this code with these params and half-lives, shares days, and is what it was."""
    current = current_run(run.settings)
    if current is None or plan.full or is_erasing(run.lake.root):  # a copy of it would hold what goes
        return None
    rows = run.lake.ledger(Runs).filter(
        pl.col("run_id") == current.stem,
        pl.col("params_hash") == run.params.params_hash(),
        pl.col("code_hash") == code_hash(),
    )
    if rows.is_empty() or _rows_taken_over(rows["table_hashes"].item()) < FEWEST_ROWS:
        return None
    inputs = run.lake.ledger(DayInputs).filter(pl.col("run_id") == current.stem)
    if inputs.is_empty():
        return None
    evidence = _differing_days(inputs, plan.inputs, Interactions.name, "fingerprint")
    expired = _days_of_expiry(plan, rows["as_of"].item())
    changed = [*evidence, *_differing_days(inputs, plan.inputs, Memories.name, "rows_hash"), *expired]
    first_day = min(changed, default=date.max)
    if not any(day.day < first_day for day in plan.days):
        return None
    hashes = _hashes_if_intact(current, rows["table_hashes"].item())
    if hashes is None or not _fades_alike(current, strength_fits):
        return None
    landed = {table.name: _differing_days(inputs, plan.inputs, table.name, "rows_hash") for table in LANDED}
    return Base(current, evidence, first_day, expired, landed, hashes)


def _days_of_expiry(plan: BuildPlan, before: datetime) -> list[date]:
    """The days on which a memory expires between the publish before and this one: nothing landed tells of them."""
    first, last = sorted((before, plan.log.as_of))
    expires_at = plan.log.states["expires_at"]
    return expires_at.filter(expires_at.is_between(first, last)).dt.date().unique().sort().to_list()


def _differing_days(before: pl.DataFrame, now: Sequence[dict[str, Any]], table: str, column: str) -> list[date]:
    was = {row["day"]: row[column] for row in before.filter(pl.col("landed_table") == table).iter_rows(named=True)}
    is_now = {row["day"]: row[column] for row in now if row["landed_table"] == table}
    return sorted(day for day in was.keys() | is_now.keys() if was.get(day) != is_now.get(day))


def _rows_taken_over(published: Sequence[str]) -> int:
    """How many there are: a table's hash begins with the number of its rows."""
    hashes = dict(told.split("=", 1) for told in published)
    return sum(int(hashes[table.name].split("-")[0]) for table in TAKEN_OVER if table.name in hashes)


def _hashes_if_intact(path: Path, published: Sequence[str]) -> dict[type[Table], DayHashes] | None:
    """Of the tables compared what they hold; None where those taken over do not hash to what was published."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            is_now = table_hashes(connection, [table.name for table in TAKEN_OVER])
            if not all(f"{name}={told}" in published for name, told in is_now.items()):
                return None
            return {table: day_hashes(connection, table, dated) for table, dated in COMPARED.items()}
    except duckdb.Error:
        return None


def _fades_alike(path: Path, strength_fits: pl.DataFrame) -> bool:
    """Whether the history taken over was computed with the half-lives of now."""
    half_lives = strength_fits.select("memory_type", "half_life_days").sort("memory_type")
    try:
        with duckdb.connect(path, read_only=True) as connection:
            was = fetch_frame(
                connection,
                f"SELECT memory_type, half_life_days FROM {FittedStrengths.name} ORDER BY memory_type",  # noqa: S608 - a declared name
                half_lives.schema,
            )
    except duckdb.Error:  # it is damaged
        return False
    fitted = strength_fits.filter(pl.col("half_life_days") != pl.col("default_half_life_days"))
    changed = was.join(half_lives, on=["memory_type", "half_life_days"], how="anti")
    new = fitted.join(was, on="memory_type", how="anti")  # unfitted, a new type fades as it did where it was before
    return changed.is_empty() and new.is_empty()
