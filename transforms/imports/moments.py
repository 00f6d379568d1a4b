"""Times as other programs write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from slowwave.transforms.core.times import epoch_microseconds

_LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001 - naive times hold UTC everywhere


def moment_of(stated: object) -> datetime | None:
    """A time as producers write it, as UTC without a zone; None where it is none that can be read."""
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
    """Asked several times of each record: of its own time, and of that of the turn so far."""
    moment = datetime.fromisoformat(stated.strip())
    if moment.tzinfo is None:
        return moment
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).replace(tzinfo=None)


def later(moment: datetime, microseconds: int) -> datetime:
    """The moment so much later; the last that there is, where there is none so late."""
    return min(moment, _LAST - timedelta(microseconds=microseconds)) + timedelta(microseconds=microseconds)
