"""One real home in a temporary folder, driven through the plain functions that every command calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.land.land import LandingReport, path_deliveries
from slowwave.flows.nightly.nightly import NightlyResult, land_paths, nightly, start_run
from slowwave.flows.nightly.other_nights import serving_as_of
from slowwave.flows.nightly.prune import Pruned, prune
from slowwave.flows.publish.serving import table_hash
from slowwave.transforms.graph import PUBLISHED as TABLES
from slowwave.transforms.landing.ledger_tables import Runs

PUBLISHED = tuple(table.name for table in TABLES)
# Empty where nobody set a quota or decided anything, and every row passes its checks.
DECIDED = {
    "forgetting_plan",
    "forgetting_quotas",
    "forgetting_audit",
    "regret",
    "review_queue",
    "review_statements",
    "review_decisions",
    "set_aside",
}
Row = dict[str, Any]


class Home:
    """A home folder and what a user does with it. Times are naive datetimes that hold UTC."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(folder)
        self._files = 0

    @property
    def lake(self) -> Lake:
        return Lake(self.settings.lake_folder)

    @property
    def current(self) -> Path:
        """The published serving file; it must be there."""
        path = current_run(self.settings)
        assert path is not None, "nothing is published"
        return path

    def drop(self, name: str, content: bytes) -> None:
        """Drop a file into the inbox under a name not used before (names sort in order of delivery)."""
        self.settings.inbox.mkdir(parents=True, exist_ok=True)
        self._files += 1
        path = self.settings.inbox / f"{self._files:05}-{name}"
        aside = path.with_name(f"{path.name}.tmp")
        aside.write_bytes(content)
        aside.rename(path)

    def land(self, *paths: Path) -> LandingReport:
        """What `slowwave land PATH…` does."""
        with writer_lock(self.settings, "land"):
            return land_paths(start_run(self.settings, "land"), path_deliveries([str(path) for path in paths]))

    def land_inbox(self) -> LandingReport:
        """What `slowwave land` does."""
        with writer_lock(self.settings, "land"):
            return land_paths(start_run(self.settings, "land"), inbox_deliveries(self.settings.inbox))

    def nightly(
        self, as_of: datetime | None = None, *, full: bool = False, call: Callable[..., Any] | None = None
    ) -> NightlyResult:
        """What `slowwave nightly [--as-of] [--full]` does, without Prefect."""
        with writer_lock(self.settings, "nightly"):
            run = start_run(self.settings, "nightly", **({} if call is None else {"call": call}))
            return nightly(run, as_of=as_of, full=full)

    def as_of(self, as_of: datetime) -> Path:
        """The serving file that `slowwave sql --as-of` reads."""
        return serving_as_of(self.settings, as_of)

    def prune(self, keep: int) -> Pruned:
        """What `slowwave lake prune` does."""
        with writer_lock(self.settings, "prune"):
            return prune(self.settings, self.lake, keep)

    def ledger(self) -> list[Row]:
        """The runs, as the lake remembers them."""
        return self.lake.ledger(Runs).sort("started_at").to_dicts()

    def rows(self, query: str, path: Path | None = None) -> list[Row]:
        """The rows a query selects from the current serving file, or from the one at `path`."""
        with duckdb.connect(path or self.current, read_only=True) as connection:
            result = connection.sql(query)
            return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]

    def table(self, name: str, path: Path | None = None) -> list[Row]:
        """A published table without what only the run decides."""
        return self.rows(f'SELECT * EXCLUDE (run_id, as_of) FROM "{name}" ORDER BY ALL', path)  # noqa: S608 - a declared name

    def hashes(self, path: Path | None = None) -> dict[str, str]:
        """The content hash of each published table, computed from the file."""
        with duckdb.connect(path or self.current, read_only=True) as connection:
            return {name: table_hash(connection, name) for name in PUBLISHED}
