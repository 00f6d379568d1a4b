"""What the report says of the state of things: sentences of the same numbers as the answers."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.dashboards.report import state_story

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
HOSTILE = "<script>\x1b[31m\u202e\n**b**" + "x" * 10_000


def counts(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns, schema_overrides={"rows": pl.Int64})


def test_data_quality_is_counted() -> None:
    reasons = pl.DataFrame({"refused": [2, 1], "reason": ["prompt is blank", "x"]})
    assert state_story.describe_quarantine(reasons) == [
        "3 rows were refused so far, for 2 reasons; most often, 2 rows: “prompt is blank”"
    ]
    tied = reasons.with_columns(refused=pl.lit(2))
    assert "4 rows were refused so far, for 2 reasons; among them, 2 rows:" in state_story.describe_quarantine(tied)[0]
    assert state_story.describe_quarantine(reasons.clear()) == ["No row was ever refused."]
    days = pl.DataFrame({"rows_count": [1000, 234], "inferred_count": [0, 0], "late_count": [0, 5]})
    assert state_story.describe_landed_rows(days)[0].startswith(
        "1,234 rows are in the tables, each in its latest version; 5 were recorded"
    )
    inferred = days.with_columns(inferred_count=pl.Series([1, 0]))
    assert (
        ", each in its latest version, of them 1 inferred outcome; 5 were"
        in state_story.describe_landed_rows(inferred)[0]
    )
    assert "an inline `success` makes an outcome of its own" in state_story.describe_landed_rows(days)[1]
    assert state_story.describe_landed_rows(days.clear()) == ["No row has landed yet."]


def test_what_became_of_failing_strategies_is_said_as_measured() -> None:
    states = counts(state=["dormant", "closed", "open"], rows=[51, 12, 1])
    assert state_story.patterns(states) == [
        (
            "64 anti-patterns: 51 dormant (not tried lately), 12 closed (no longer failing more than others, or now "
            "expected to succeed) and 1 open."
        )
    ]


def test_need_is_graded_in_the_sense_of_its_number() -> None:
    row = {"cutoff_at": AS_OF, "memories_count": 1613, "skill": -0.0278, "skill_low": -0.164, "skill_high": -0.0115}
    row |= {"calibration_error": 0.0005, "calibration_error_if_perfect": 0.02}
    assert state_story.need(pl.DataFrame([row])) == [
        (
            "On the 1,613 forecasts of 2026-04-01, need_30d, the probability of a reference within 30 days, is 3 % "
            "worse than the base rate, by log loss (90 % interval 1 % to 16 %)."
        ),
        "Calibration error below 0.01; a perfect forecaster would score 0.02 on as many memories.",
    ]


def test_runs_that_failed_are_counted() -> None:
    rows = pl.DataFrame({"kind": ["nightly", "land"], "status": ["published", "failed"], "seconds": [12.2, None]})
    assert state_story.nights(rows) == [
        "The run that started last: nightly, published after 12.2 s. Of the 2 shown, 1 failed or did not end."
    ]
