"""A home with something of every kind to review, and what a person says about it at a given instant."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

import polars as pl
from small_home import Row, interaction, memory

from slowwave.flows.decide.review import Reviewed, published_review, review
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.run import start_run
from slowwave.transforms.decisions.review.changes import ReviewCommand

HOSTILE = "=cmd()|'; DROP TABLE runs; --\x1b[31m[red]\u202e must never be obeyed."
STATED = "All exports must be streamed."
_LIMIT = "The API limit is {} requests per minute for every client."
_DEPLOY = "Deploy the shop with make release from the main branch"
# too young to be asked about for its own sake
_YOUNG = {"changed_at": "2026-05-25T08:00:00Z"}


class HasSettings(Protocol):
    """Any home."""

    settings: Settings


def reviewable_rows() -> list[Row]:
    """A statement of two sessions, a hostile one, a landed candidate, two that are at odds, two alike, one unused."""
    return [
        memory("c50", **_YOUNG, content=_LIMIT.format(50), source_ids=["i1"]),
        memory("c60", **_YOUNG, content=_LIMIT.format(60)),
        memory("d1", **_YOUNG, content=f"{_DEPLOY}.", source_ids=["i1", "i2"], confidence=0.5),
        memory("d2", **_YOUNG, content=f"{_DEPLOY}!", source_ids=["i3"], confidence=0.75),
        memory("wait", status="candidate", content="Exports are streamed.", source_ids=["i2"]),
        memory("unused", content="The cellar has another door behind green shelves near the loading ramp."),
        *[
            interaction(f"i{n}", created_at=f"2026-03-{n // 8 + 2:02}T{n % 8 + 9:02}:00:00Z", memories_used=["unused"])
            for n in range(1, 65)
        ],
        *[interaction(f"j{n}", created_at=f"2026-05-0{n}T09:00:00Z", session_id="s", response=STATED) for n in (1, 2)],
        interaction("j3", created_at="2026-05-03T09:00:00Z", response=f"{STATED} Done.", success=True),
        interaction("j4", created_at="2026-05-04T09:00:00Z", prompt=STATED, response=STATED, success=False),
        interaction("both", created_at="2026-05-26T09:00:00Z", memories_used=["c50", "c60"]),
        interaction("j5", created_at="2026-05-05T09:00:00Z", response=HOSTILE),
    ]


def items(home: HasSettings) -> pl.DataFrame:
    """The queue of current."""
    return published_review(home.settings).queue


def item(home: HasSettings, **wanted: Any) -> dict[str, Any]:
    """The one item with these values; `about` is one of its memories."""
    rows = items(home)
    if "about" in wanted:
        rows = rows.filter(pl.col("memory_ids").list.contains(pl.lit(wanted.pop("about"))))
    (row,) = rows.filter(*[pl.col(name) == pl.lit(value) for name, value in wanted.items()]).to_dicts()
    return row


def said(home: HasSettings, command: str, *item_ids: str, now: datetime | None = None, **options: Any) -> Reviewed:
    """`slowwave review COMMAND ITEM…`, with the lock held; with `now` by a clock that says so."""
    how = {"by": "ada", "reason": None, **options}
    wish = ReviewCommand(
        f"review {command}",
        memory_id=how.pop("memory_id", None),
        into=how.pop("into", None),
        confidence=how.pop("confidence", None),
        scope=how.pop("scope", None),
    )
    with writer_lock(home.settings, "review"):
        run = start_run(home.settings, "backfill")
        if now is None:
            return review(run, wish, item_ids, **how)
        with patch("slowwave.flows.decide.review.utc_now", lambda: now):
            return review(run, wish, item_ids, **how)


def states(home: HasSettings) -> dict[str, dict[str, Any]]:
    """The memories as they are now, by id, without what belongs to their last change alone."""
    log = LogAsOf(Lake(Path(home.settings.lake)), utc_now() + timedelta(days=1), home.settings.params())
    now = log.states.filter(pl.col("valid_until").is_null()).drop(
        "valid_from", "valid_until", "owner", "changed_at", "recorded_at", "reason", "changed_by"
    )
    return {row["memory_id"]: row for row in now.to_dicts()}


def rows_of(home: HasSettings, table: str) -> int:
    """Rows of a landed table, all versions."""
    files = Lake(Path(home.settings.lake)).files(table).values()
    return sum(pl.read_parquet(file.path, glob=False).height for of_day in files for file in of_day)


def landed(home: HasSettings) -> tuple[int, int]:
    """Rows of decisions and of the memory log."""
    return rows_of(home, "decisions"), rows_of(home, "memories")
