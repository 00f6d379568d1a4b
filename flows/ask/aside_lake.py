"""A lake to compute from without writing into it: what would have to be built there is built aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

import polars as pl

from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.plan import DayPlan
from slowwave.transforms.core.schema import Table


class AsideLake(Lake):
    """The lake at `root`, whose days `built_aside` lie in another folder; nothing in it is written but those."""

    def __init__(self, root: Path, aside: Path) -> None:
        super().__init__(root)
        self._aside = Lake(aside)
        self._built: set[tuple[str, date, str]] = set()

    def build_aside(self, days: Iterable[DayPlan]) -> None:
        """From now on the partitions that these days lack are looked for, and written, aside."""
        self._built.update((table, day.day, day.names[table]) for day in days for table in day.missing)

    def write_evidence(
        self, table: type[Table], day: date, name: str, frame: pl.DataFrame, *, verify: bool = False
    ) -> None:
        """Keep a partition that is built aside; of anything else nothing is kept."""
        if self._is_aside(table, day, name):
            super().write_evidence(table, day, name, frame, verify=verify)

    def write_evidence_parts(
        self, table: type[Table], day: date, name: str, parts: Iterator[pl.DataFrame], *, verify: bool = False
    ) -> None:
        """As `write_evidence`."""
        if self._is_aside(table, day, name):
            super().write_evidence_parts(table, day, name, parts, verify=verify)

    def write_packed_evidence(self, table: type[Table], day: date, name: str, packed: memoryview) -> None:
        """Keep nothing: what comes packed is never built aside."""

    def evidence_path(self, table: type[Table], day: date, name: str) -> Path:
        """Where a day's partition with this name is."""
        lake = self._aside if self._is_aside(table, day, name) else super()
        return lake.evidence_path(table, day, name)

    def _is_aside(self, table: type[Table], day: date, name: str) -> bool:
        return (table.name, day, name.partition(".")[0]) in self._built  # what follows tells a bucket of a partition
