"""The machine's clock, ids of runs that sort by it, and how times are read from what people type and shown to them."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, date, datetime, time, timedelta

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count, quote_shortened

_QUIET = timedelta(days=30)


def parse_as_of(text: str) -> datetime:
    """`2026-03-10` (its midnight UTC) or any time of the landing contract.

    Raises UserError for anything else.
    """
    import polars as pl

    from slowwave.transforms.core.times import time_from_text

    parsed = pl.select(time_from_text(pl.lit(text))).item()
    if parsed is None:
        message = (
            f"{quote_shortened(text)} is no time: use 2026-03-10 (midnight UTC, exclusive) or 2026-03-10T08:00:00Z"
        )
        raise UserError(message)
    return parsed


def day_start(day: date) -> datetime:
    """Midnight UTC at the start of a day."""
    return datetime.combine(day, time())


def utc_text(time: datetime) -> str:
    """A time to the second, as `2026-03-10 08:15:00Z`."""
    return f"{time:%Y-%m-%d %H:%M:%S}Z"


def utc_iso(time: datetime) -> str:
    """A time for JSON: ISO 8601 ending in Z."""
    return f"{time.isoformat()}Z"


def span(length: timedelta) -> str:
    """A length of time in its largest fitting unit, cut off: `3 hours`, `12 days`; a day is 24 hours."""
    for unit, size, least in (("day", timedelta(days=1), 2), ("hour", timedelta(hours=1), 2)):
        if length >= least * size:
            return format_count(length // size, unit)
    minutes = length // timedelta(minutes=1)
    return format_count(minutes, "minute") if minutes > 0 else "no minutes"


def in_words(age: timedelta) -> str:
    """An age as a person says it, such as `3 hours ago`; for a time to come, `in 3 hours`."""
    if abs(age) < timedelta(minutes=1):
        return "just now"
    return f"{span(age)} ago" if age > timedelta(0) else f"in {span(-age)}"


def quiet_log_text(as_of: datetime, newest_at: datetime | None, recorded_at: datetime | None) -> tuple[str, str]:
    """Return the sentence and the command for a log in which nothing happened in the 30 days before `as_of`.

    `newest_at`: when the newest interaction or outcome happened, `recorded_at`: when the last of them was recorded
    (naive UTC, None: there are none). Both texts are '' where something happened; the command is '' where no earlier
    `as_of` sees all rows.
    """
    if newest_at is None or as_of - newest_at <= _QUIET:
        return "", ""
    says = (
        f"Nothing happened in the 30 days before {utc_text(as_of)}: the newest interaction or outcome is of "
        f"{utc_text(newest_at)}, {span(as_of - newest_at)} earlier. Memories and strategies are shown as old as they "
        "are by now."
    )
    last = max(newest_at, recorded_at or newest_at)
    end = datetime.combine(last.date() + timedelta(days=1), time())
    return says, f"slowwave nightly --as-of {end:%Y-%m-%d}" if end < as_of else ""


_RUN_ID = re.compile(r"\d{8}T\d{12}-[0-9a-f]{4}")


def utc_now() -> datetime:
    """The machine's clock as a naive datetime that holds UTC, as every time here."""
    return datetime.now(UTC).replace(tzinfo=None)


def new_run_id(started_at: datetime) -> str:
    """A run id that sorts by its start; the random end keeps it unique under a wrong clock."""
    return f"{started_at:%Y%m%dT%H%M%S%f}-{secrets.token_hex(2)}"


def is_run_id(text: str) -> bool:
    """Whether a text has the form of a run id."""
    return _RUN_ID.fullmatch(text) is not None
