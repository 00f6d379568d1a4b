"""The landed tables under their names in SQL: winning versions, and with `_log` every version."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.checked_files import FileChecks, counted_rows
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.landing.erasure import show_prompt
from slowwave.transforms.landing.tables import LANDED, Interactions
from slowwave.transforms.landing.versions import is_visible, winning_versions


class LandedViews:
    """Lazy frames of the landed tables over a file list taken once: nothing is read before a query asks for it.

    `interactions`, `outcomes`, `memories`: of the versions with event time and `recorded_at` before `cut` that are not
    set aside the winning one, one row per key. `interactions_log`, `outcomes_log`, `memories_log`: all versions, each
    row once, whatever its time. A table without files has its columns and no rows.

    Raises UserError when the lake was written by a newer version.
    """

    def __init__(self, root: Path, cut: datetime) -> None:
        lake = Lake(root)
        lake.check_format()
        checks = FileChecks(lake)
        self.frames: dict[str, pl.LazyFrame] = {}
        self._paths: list[Path] = []
        for table in LANDED:
            files = [file for of_day in lake.files(table.name).values() for file in of_day]
            self._paths += [file.path for file in files]
            self.frames[f"{table.name}_log"] = lake.scan_rows(table, files)
            self.frames[table.name] = _winning_versions(table, counted_rows(lake, checks, table, files), cut)
        for name in (Interactions.name, f"{Interactions.name}_log"):
            self.frames[name] = self.frames[name].with_columns(show_prompt())

    def is_outdated(self) -> bool:
        """Whether a listed file has gone: a compaction has merged it into another, and the list must be taken again."""
        return not all(storage_of(path).exists(path) for path in self._paths)


def _winning_versions(table: type[Landed], rows: pl.LazyFrame, cut: datetime) -> pl.LazyFrame:
    """Return what `winning_versions` does: sorted are the versions of those keys alone that have several."""
    seen = rows.filter(is_visible(table, cut)).with_columns(is_repeated=pl.col("key_hash").is_duplicated())
    once = seen.filter(~pl.col("is_repeated"))
    return pl.concat([once, winning_versions(table, seen.filter("is_repeated"), cut)]).drop("is_repeated")
