"""The evidence files that a run was published from, as far as `why` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from slowwave.flows.ask.why.queries import PARTITIONS, READ_BY_DAY
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.sql import no_globs


class QueryFunction(Protocol):
    """The rows that a query on the published file answers."""

    def __call__(self, sql: str, /, **params: object) -> list[tuple[Any, ...]]:
        """As rows."""
        ...


@dataclass(frozen=True)
class Partitions:
    """The evidence files a run was published from; `missing` counts those that are gone, None: not even named.

    `listed_from`: of days before it, where memories were eligible has expired; None: of none.
    """

    replayed_interactions: list[str]
    memory_eligibility: list[str]
    missing: int | None
    listed_from: date | None = None


def partitions_of(lake: Path, run_id: str, rows: QueryFunction) -> Partitions:
    """The files of a run in the lake."""
    listed = files_by_day(lake, "day_inputs").values()
    inputs = [file.path for files in listed for file in files if file.path.stem == run_id]
    if not inputs:
        return Partitions([], [], None)
    evidence = lake / "evidence"
    days = rows(PARTITIONS, day_inputs=no_globs(inputs), run_id=run_id)
    found = {
        table: [evidence / table / f"day={day}" / f"{names[at]}.parquet" for day, *names in days]
        for at, table in enumerate(READ_BY_DAY)
    }
    storage, reached = storage_of(evidence), read_horizon(lake, "evidence")
    there = {table: [path for path in paths if storage.exists(path)] for table, paths in found.items()}
    gone = {table: set(paths) - set(there[table]) for table, paths in found.items()}
    before = f"day={reached.before}" if reached else ""
    expired = [path for path in gone["memory_eligibility"] if path.parent.name < before]
    return Partitions(
        **{table: no_globs(paths) for table, paths in there.items()},
        missing=sum(map(len, gone.values())) - len(expired),
        listed_from=reached.before if reached and expired else None,
    )
