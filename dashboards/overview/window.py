"""The days that a page is about, and those before it with which it compares them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

import polars as pl

from slowwave.dashboards.words import dates

DAYS = (7, 30, 90)
"""Lengths that a page offers, in days."""
DEFAULT_DAYS = 30
LATEST = datetime(9999, 12, 31)  # noqa: DTZ001 - naive times hold UTC
ALL_DAYS = 0
"""Stands for all days there are, which are compared with nothing."""
_EVENTS = ("interactions", "outcomes")
_MOST_BARS = 30
_FIRST_DAY = date(1970, 1, 1)


@dataclass(frozen=True)
class Days:
    """Some days in a row, both ends included."""

    first: date
    last: date

    def params(self) -> dict[str, str]:
        """Return them as the params of a recipe."""
        return {"since": f"{self.first}", "until": f"{self.last}"}

    def words(self) -> str:
        """Return them in words."""
        return dates(self.first, self.last)


@dataclass(frozen=True)
class Window:
    """The days that are shown, those before them (None: there are none), and whether the last one is complete."""

    shown: Days
    before: Days | None
    is_last_whole: bool = True

    def words(self) -> str:
        """Return in words which days are shown."""
        shown = f"All days to {self.shown.last}" if self.shown.first == _FIRST_DAY else self.shown.words()
        return f"{shown}{'' if self.is_last_whole else ' (the last day is not complete)'}"

    def bars(self, since: date) -> list[Days]:
        """Return the shown days from `since` on in equal parts, at most 30; the last part may be shorter."""
        first = max(since, self.shown.first)
        length = (self.shown.last - first).days + 1
        step = -(-length // _MOST_BARS)
        step = step if step < 7 or step % 7 == 0 else step + 7 - step % 7  # noqa: PLR2004 - whole weeks, if not days
        firsts = [first + timedelta(days=day) for day in range(0, length, step)]
        return [Days(first, min(first + timedelta(days=step - 1), self.shown.last)) for first in firsts]


def newest_event(newest: pl.DataFrame) -> datetime | None:
    """Return when the newest interaction or outcome happened; None: there is none. `newest`: rows of `freshness`."""
    events = newest.filter(pl.col("landed_table").is_in(_EVENTS))["newest_at"].drop_nulls()
    return max(events.to_list(), default=None)


def window_of(newest: pl.DataFrame, as_of: datetime, chosen: int | Days) -> Window:
    """Return the last `chosen` days (ALL_DAYS: all) up to the newest interaction or outcome, or the `chosen` days.

    `newest`: rows of `freshness`. A log that ended long before the publish is shown as of its end.
    """
    end = as_of - timedelta(microseconds=1)
    last = min(newest_event(newest) or end, end).date()
    if chosen == ALL_DAYS:
        return Window(Days(_FIRST_DAY, last), None, last < as_of.date())
    shown = chosen if isinstance(chosen, Days) else Days(last - timedelta(days=chosen - 1), last)
    length = shown.last - shown.first + timedelta(days=1)
    before = Days(shown.first - length, shown.first - timedelta(days=1)) if shown.first - _FIRST_DAY > length else None
    return Window(shown, before, shown.last < as_of.date())
