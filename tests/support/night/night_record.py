"""What nights cost, as ratios of CPU time to the limit, beside what was recorded: pure functions.

The limit is what reading the delivered texts and lower-casing them takes, measured in the same round.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MOST_ABOVE_RECORD = 1.3
LEAST_JUDGED_SECONDS = 0.2  # below, the clock's steps and the machine's moods are all one sees
_LEAST_GROWN_SECONDS = 0.05
WHOLE, REST = "whole night", "rest"


@dataclass(frozen=True)
class Round:
    """CPU seconds of one night and its stages, of the limit beside it; its peak memory and wall seconds."""

    limit: float
    seconds: Mapping[str, float]
    peak_mb: float = 0.0
    tree_peak_mb: float = 0.0
    wall: float = 0.0


@dataclass(frozen=True)
class Cost:
    """Several rounds of one night."""

    rounds: Sequence[Round]

    @property
    def names(self) -> list[str]:
        """What was measured, in order."""
        return list(dict.fromkeys(name for each in self.rounds for name in each.seconds))

    def seconds(self, name: str) -> float:
        """CPU seconds, the median of the rounds."""
        return statistics.median(each.seconds.get(name, 0.0) for each in self.rounds)

    def ratio(self, name: str) -> float:
        """CPU time over that of the limit, paired in each round; their median."""
        return statistics.median(each.seconds.get(name, 0.0) / each.limit for each in self.rounds)

    def ratios(self) -> dict[str, float]:
        """All ratios, as they are recorded."""
        return {name: round(self.ratio(name), 2) for name in self.names}

    def is_judged(self, name: str) -> bool:
        """Whether it takes long enough for its ratio to say anything."""
        return self.seconds(name) >= LEAST_JUDGED_SECONDS


def night_round(said: Mapping[str, float], stages: Mapping[str, float], limit: float) -> Round:
    """A round from what the step `night` says: its stages, the rest, the whole."""
    seconds = {**stages, REST: max(0.0, said["cpu"] - sum(stages.values())), WHOLE: said["cpu"]}
    return Round(limit, seconds, said["peak_mb"], said["tree_peak_mb"], said["wall"])


def over(cost: Cost, recorded: Mapping[str, float], allowed: float = MOST_ABOVE_RECORD) -> dict[str, float]:
    """What is judged and costs more than `allowed` times the record: by how much it is above the record.

    What the record does not know yet is not judged.
    """
    above = {
        name: cost.ratio(name) / recorded[name] for name in cost.names if recorded.get(name) and cost.is_judged(name)
    }
    return {name: times for name, times in above.items() if times > allowed}


@dataclass(frozen=True)
class Judgement:
    """The cost that is reported, and what was over the record twice in a row (by how much the second time)."""

    cost: Cost
    failed: Mapping[str, float]
    doubted: Mapping[str, float]  # over the first time


def judged(measure: Callable[[], Cost], recorded: Mapping[str, float], allowed: float = MOST_ABOVE_RECORD) -> Judgement:
    """Measure, and once more if anything is over the record: it fails only if it is over again."""
    first = measure()
    doubted = over(first, recorded, allowed)
    if not doubted:
        return Judgement(first, {}, {})
    second = measure()
    again = over(second, recorded, allowed)
    return Judgement(second, {name: again[name] for name in doubted if name in again}, doubted)


def exponents(few: Cost, many: Cost, times: float) -> dict[str, float]:
    """How what is measured grows when a quantity grows by `times`: 1 is in proportion, 0 not at all.

    Left out is what takes no time worth measuring at either end.
    """
    found = {}
    for name in many.names:
        least, most = few.seconds(name), many.seconds(name)
        if least >= _LEAST_GROWN_SECONDS and most >= LEAST_JUDGED_SECONDS:
            found[name] = round(math.log(most / least) / math.log(times), 2)
    return found
