"""Values of records as they were meant, whatever stands there: texts, numbers, times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from slowwave.transforms.imports.made import Record

_NOTHING: Record = {}
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_UUID_7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def text(value: object) -> str:
    """A text; '' where there is none."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Record:
    """An object; an empty one where there is none."""
    return value if isinstance(value, Mapping) else _NOTHING


def listed(value: object) -> list[Any]:
    """A list; an empty one where there is none."""
    return value if isinstance(value, list) else []


def whole(value: object) -> int | None:
    """A whole number, also one that is written as text; None where there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value[:18])
    return int(value) if isinstance(value, (int, float)) and abs(value) < 2**62 else None


def moment(value: object) -> str:
    """A time as text: as it stands, or of the seconds since 1970 that stand there; '' where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    try:
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return ""


def milliseconds_of_id(name: str) -> int | None:
    """When an id of version 7 was drawn, in milliseconds since 1970; None where it is no such id."""
    found = _UUID_7.fullmatch(name)
    return int(found[1] + found[2], 16) if found else None


def milliseconds(time: str) -> int | None:
    """A time written as text in milliseconds since 1970; None where it is none."""
    try:
        stated = datetime.fromisoformat(time)
    except ValueError:
        return None
    if stated.tzinfo is None:
        stated = stated.replace(tzinfo=UTC)
    return int(stated.timestamp() * 1000)


def directory(value: object) -> str:
    """A path, also of a `file:` address."""
    path = text(value)
    if not path.startswith("file://"):
        return path
    plain = _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), path.removeprefix("file://").encode())
    return plain.decode(errors="replace")
