"""Values that nobody expects in a field."""

from __future__ import annotations

import random
from typing import Any

ODD: tuple[Any, ...] = (
    None, "", 0, -1, 1e308, True, [], {}, "\x00", "\ud800", [[]], [1], {"a": 1}, "x" * 50, "NaN", 2**70, "١٢",
    "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+14:00",
    "9" * 5000, "[" * 900 + "]" * 900,
)  # fmt: skip


def spoiled(value: Any, random_: random.Random, share: float) -> Any:
    """A value of JSON, of which a share is odd, at whatever depth."""
    if random_.random() < share:
        return random_.choice(ODD)
    if isinstance(value, dict):
        return {name: spoiled(held, random_, share) for name, held in value.items()}
    return [spoiled(held, random_, share) for held in value] if isinstance(value, list) else value
