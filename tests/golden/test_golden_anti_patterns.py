"""What `anti_patterns/3` makes of attempts written by hand: each state, each kind, each clause of the sentence."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
from failing_strategies import HEURISTICS, START, tried
from golden_tables import assert_golden

from slowwave.transforms.learning.anti_patterns.anti_patterns import anti_patterns
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

AT = START.replace(hour=0) + timedelta(days=60)


def with_peer(results: str, task_type: str, peer: str = "S" * 50, cost: float | None = None) -> list[pl.DataFrame]:
    """A strategy and another one at a task type of their own."""
    return [tried(results, task_type=task_type, cost=cost), tried(peer, "roll out in steps", task_type=task_type)]


def test_what_was_published_is_published():
    attempts = pl.concat(
        [
            *with_peer("F" * 50, "avoid", cost=0.25),
            *with_peer("F" * 12, "dormant"),
            *with_peer("F" * 20 + "S" * 9, "succeeded since"),
            *with_peer("F" * 45, "relatives"),
            *with_peer("S" * 40 + "F" * 12, "not above the others", "F" * 30 + "S" * 22),
            *with_peer("F" * 12, "the others changed", "S" * 25 + "F" * 33),
            *with_peer("F" * 50, "hard", "F" * 50),
            *with_peer("F" * 50, "solved", "F" * 20 + "S" * 30),
        ]
    )
    known = {"project": "atlas", "agent": "coder", "task_type": "relatives", "strategy_id": "retry the call"}
    likely = known | {"strategy": "retry the call", "confidence": 0.6, "confidence_low": 0.4, "confidence_high": 0.8}
    sure = {"strategy_id": "roll out in steps", "strategy": "roll out", "confidence": 0.9, "confidence_low": 0.8}
    rows = (
        [likely]
        + [
            known | {"task_type": task, "strategy": "retry the call", "confidence": 0.1, "confidence_low": 0.0}
            for task in ("avoid", "hard")
        ]
        + [known | {"task_type": task} | sure for task in ("avoid", "hard")]
    )
    heuristics = pl.DataFrame(rows, schema=HEURISTICS)
    found = anti_patterns(attempts, heuristics, AT, AntiPatternParams(method="anti_patterns/3"))
    # came later, and changes nothing
    found = found.drop("error_family", "error_family_template", "error_family_failures")
    assert_golden(found.with_columns(pl.col(pl.Float64).round(9)), "anti-patterns-3/anti_patterns")
