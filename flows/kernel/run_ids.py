"""The shell's clock: what time it is, and names for runs that sort by it."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

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
