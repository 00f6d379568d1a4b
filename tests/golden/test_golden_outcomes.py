"""What `memory_outcomes/1` and `lift/1` say of a log written by rule, in which each basis of a lift is found.

The files in tests/golden/memory_outcomes-1 and lift-1 are released: neither they nor their digests change (see
golden_tables).
"""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl
import pytest
from golden_tables import assert_golden, golden_names
from lift_cases import AS_OF, frames, interaction, memory_outcomes

from slowwave.transforms.lift.observed_outcomes import SCHEMA
from slowwave.transforms.lift.params import MemoryOutcomeParams

# Of so short a log placebos are told less exactly.
_PARAMS = MemoryOutcomeParams(max_placebo_half_width=0.2)
_MADE_AT = 1_200
_KINDS = ("bugfix", "feature", "review")
_TASKS = [f"task {number}" for number in range(12)]
_OF_OUTCOMES = (
    *("memory_id", "confirmed_count", "contradicted_count", "contradicted_expected"),
    *("confidence", "confidence_low", "confidence_high"),
)
_OF_LIFT = tuple(name for name in SCHEMA if name not in _OF_OUTCOMES[1:])
# What each memory adds to the chance of success; of all others nothing.
_EFFECTS = {"chance 0": 0.3, "chance 1": -0.4, "cut 0": -0.45, "task 0": 0.3, "plain 1": -0.2}


def _injected(random: Random, project: str, hour: int) -> dict[str, Any]:
    """What retrieval does in each project, from what it has."""
    pool = [f"{project} {number}" for number in range(4)]
    if project == "chance":
        return {"injected": [name for name in pool if random.random() < 0.5], "chance": 0.5,
                "offered": [(name, rank, 1 - rank / 10) for rank, name in enumerate(pool, start=1)]}  # fmt: skip
    if project == "cut":
        scores = {name: round(random.random(), 3) for name in pool}
        ranked = sorted(scores, key=lambda name: -scores[name])
        offered = [(name, rank, scores[name]) for rank, name in enumerate(ranked, start=1)]
        return {"injected": [name for name in ranked if scores[name] > 0.5], "offered": offered}
    if project == "task":
        suited = pool[hour % 12 // 6 : hour % 12 // 6 + 1]  # each for half of the tasks
        return {"injected": [name for name in suited if hour > _MADE_AT and random.random() < 0.9]}
    return {"injected": [name for name in pool if random.random() < 0.3]}


def _rows() -> list[dict[str, Any]]:
    random = Random(7)
    rows = []
    for hour in range(0, 2_000, 2):
        for project in ("chance", "cut", "task", "plain"):
            given = _injected(random, project, hour)
            rate = 0.55 + sum(_EFFECTS.get(name, 0) for name in given["injected"])
            rows.append(
                interaction(
                    hour,
                    random.random() < rate,
                    **given,
                    echoed=[name for name in given["injected"] if random.random() < 0.6],
                    project=project,
                    task_type=_KINDS[hour % 3],
                    task=_TASKS[hour % 12] if project == "task" else None,
                    agent=f"agent {hour % 2}",
                    session=f"{project} {hour // 6}",
                )
            )
    return rows


@pytest.fixture(scope="module")
def told() -> pl.DataFrame:
    created = {"task 0": _MADE_AT, "task 1": _MADE_AT, "plain 3": _MADE_AT}
    first = {"chance 0": 0.9, "cut 1": 0.2, "never had": 0.4}
    return memory_outcomes(*frames(_rows(), created, first), AS_OF, _PARAMS)


def test_what_was_published_is_published(told: pl.DataFrame) -> None:
    assert golden_names("memory_outcomes-1", "lift-1") == ["lift-1/memory_health", "memory_outcomes-1/memory_health"]
    assert_golden(told.select(_OF_OUTCOMES), "memory_outcomes-1/memory_health")
    assert_golden(told.select(_OF_LIFT), "lift-1/memory_health")


def test_every_basis_of_a_lift_is_there(told: pl.DataFrame) -> None:
    assert set(told["lift_basis"]) == {"randomised", "cutoff", "same_task", "matched", None}
    assert set(told["is_harmful"]) == {True, False, None}
