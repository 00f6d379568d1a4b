"""ALMA's strength of a memory, for comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REINFORCED_DAYS = 7
HALF_LIFE_DAYS = {"heuristic": 60.0, "outcome": 30.0, "preference": 365.0, "knowledge": 90.0, "anti_pattern": 45.0}
OTHER_HALF_LIFE_DAYS = 30.0


def alma_strength(
    idle_days: Integers, accesses: Integers, reinforcements: Integers, half_life_days: Floats, importance: Floats
) -> Floats:
    """ALMA's formula (alma-memory 0.11, `alma/learning/decay.py`), clamped to 0-1.

    (exp(-.693 idle / half-life) + min(.4, .1 ln(1 + accesses)) + min(.3, .1 reinforcements)) x (.5 + .5 importance).

    Args:
        idle_days: days since the last access, or since it was made.
        accesses: all so far; their bonus never fades.
        reinforcements: those of the last 7 days.
        half_life_days: of the memory type.
        importance: 0-1; it scales the strength, so that a fresh memory without importance starts at .5.
    """
    base = np.exp(-0.693 * idle_days / half_life_days)
    bonus = np.minimum(0.4, 0.1 * np.log(1.0 + accesses)) + np.minimum(0.3, 0.1 * reinforcements)
    return np.clip((base + bonus) * (0.5 + 0.5 * importance), 0.0, 1.0)
