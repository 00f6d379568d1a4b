"""The shell's clock: what time it is, and names for runs that sort by it."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The machine's clock as a naive datetime that holds UTC, as every time here."""
    return datetime.now(UTC).replace(tzinfo=None)


def new_run_id(started_at: datetime) -> str:
    """A run id that sorts by its start; the random end keeps it unique under a wrong clock."""
    return f"{started_at:%Y%m%dT%H%M%S%f}-{secrets.token_hex(2)}"
