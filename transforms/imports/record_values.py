"""Values of records as they were meant, whatever stands there: texts, numbers, objects and times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from slowwave.transforms.core.times import epoch_microseconds

_LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001 - naive times hold UTC everywhere


def moment_of(stated: object) -> datetime | None:
    """Return a time as producers write it, as UTC without a zone; None where it is none that can be read."""
    try:
        if isinstance(stated, str):
            return _moment_of_text(stated)
        if isinstance(stated, (int, float)) and not isinstance(stated, bool):
            return datetime(1970, 1, 1) + timedelta(microseconds=epoch_microseconds(stated))  # noqa: DTZ001 - naive times hold UTC everywhere
    except (ValueError, OverflowError):
        pass
    return None


@lru_cache(maxsize=1024)
def _moment_of_text(stated: str) -> datetime:
    """Return a time; each record is asked several times: for its own, and for that of the turn so far."""
    moment = datetime.fromisoformat(stated.strip())
    if moment.tzinfo is None:
        return moment
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).replace(tzinfo=None)


def add_microseconds(moment: datetime, microseconds: int) -> datetime:
    """Return the moment so much later; the last that there is, where there is none so late."""
    return min(moment, _LAST - timedelta(microseconds=microseconds)) + timedelta(microseconds=microseconds)


_NOTHING: Mapping[str, Any] = {}
_MOST = 2**53


def text_or_empty(value: object) -> str:
    """Return a text; '' for anything else."""
    return value if isinstance(value, str) else ""


def object_or_empty(value: object) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else _NOTHING


def list_or_empty(value: object) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def whole_number(value: object) -> int | None:
    """Return a whole number, also one that is written as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value[:18])
    return int(value) if isinstance(value, (int, float)) and abs(value) < 2**62 else None


def text_in(record: object, name: str) -> str:
    """Return the text under a name; '' where there is none."""
    # most records are plain objects, and this is asked of every one of them
    value = record.get(name) if isinstance(record, (dict, Mapping)) else None
    return value if isinstance(value, str) else ""


def object_in(record: object, name: str) -> Mapping[str, Any]:
    """Return the object under a name; an empty one where there is none."""
    return object_or_empty(record.get(name)) if isinstance(record, (dict, Mapping)) else _NOTHING


def list_in(record: object, name: str) -> list[Any]:
    """Return the list under a name; an empty one where there is none."""
    return list_or_empty(record.get(name)) if isinstance(record, (dict, Mapping)) else []


def objects_in(record: object, name: str) -> list[Mapping[str, Any]]:
    """Return the objects in the list under a name."""
    return [one for one in list_in(record, name) if isinstance(one, Mapping)]


def number_in(record: object, name: str) -> float:
    """Return the number under a name; 0 where there is none, or one that is not above 0 or no double holds."""
    value = record.get(name) if isinstance(record, (dict, Mapping)) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return value if 0 < value < _MOST else 0
