"""Times, ids and paths as Codex writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from slowwave.transforms.imports.record_values import text_or_empty

_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_UUID_7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def time_text(value: object) -> str:
    """Return a time as text: as it stands, or of the seconds since 1970 that stand there; '' where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    try:
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return ""


def milliseconds_of_id(name: str) -> int | None:
    """Return when an id of version 7 was drawn, in milliseconds since 1970; None where it is no such id."""
    found = _UUID_7.fullmatch(name)
    return int(found[1] + found[2], 16) if found else None


def milliseconds(time: str) -> int | None:
    """Return a time written as text in milliseconds since 1970; None where it is none."""
    try:
        stated = datetime.fromisoformat(time)
    except ValueError:
        return None
    if stated.tzinfo is None:
        stated = stated.replace(tzinfo=UTC)
    return int(stated.timestamp() * 1000)


def folder_path(value: object) -> str:
    """Return a path, also of a `file:` address."""
    path = text_or_empty(value)
    if not path.startswith("file://"):
        return path
    plain = _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), path.removeprefix("file://").encode())
    return plain.decode(errors="replace")
