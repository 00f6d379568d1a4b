"""What the report says of the state of things: sentences of the same numbers as the answers."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest

from slowwave.dashboards.report import state_story

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
HOSTILE = "<script>\x1b[31m\u202e\n**b**" + "x" * 10_000


def counts(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns, schema_overrides={"rows": pl.Int64})


def test_memories_are_told_by_verdict_and_the_rest_by_state() -> None:
    verdicts = pl.DataFrame({"verdict": ["keep", "forget", "keep"], "memories_count": [2, 1, 3]})
    states = pl.DataFrame({"status": ["active", "candidate", None], "memories_count": [6, 4, 1]})
    assert state_story.memories(verdicts, states) == [
        "6 active memories, by verdict: 1 forget and 5 keep.",
        "Not active: 4 candidate and 1 injected or cited but never landed.",
    ]
    assert "No memory is active yet" in state_story.memories(verdicts.clear(), states.clear())[0]


def test_confidence_counts_only_intervals_that_say_something() -> None:
    rows = pl.DataFrame(
        {
            "confidence": [0.7, 0.5, 0.2],
            "confidence_low": [0.51, 0.3, 0.1],
            "confidence_high": [0.9, 0.7, 0.4],
            "confirmed_count": [12, 3, 0],
            "contradicted_count": [6, 3, 1],
            "contradicted_expected": [9.47, None, None],
            "content": [HOSTILE, "b", None],
        }
    )
    said = state_story.confidences(rows, 146)
    assert "wholly above .50 for 1 and wholly below for 1" in said[0]
    assert said[0].startswith("146 active memories have a confidence. Of the 3 with most evidence")
    assert "referenced in 12 attempts that succeeded and 6 that failed (9.5 expected)" in said[1]
    assert "\x1b" not in said[1]
    assert len(said[1]) < 300
    assert said[2].startswith("A confidence is no share of successes")
    assert "No active memory has a confidence yet" in state_story.confidences(rows.clear(), 0)[0]


def test_a_strategy_is_never_called_best() -> None:
    best = pl.DataFrame(
        {
            "project": [""], "agent": ["coder"], "task_type": ["testing"], "strategy": ["Narrowest test first"],
            "confidence": [0.83], "confidence_low": [0.68], "confidence_high": [0.94], "attempts": [17],
            "inferred": [0], "trend": ["stable"],
        }
    )  # fmt: skip
    reliable = counts(is_reliable=[True, False], rows=[29, 98])
    trends = counts(trend=["weakening"], rows=[2])
    said = state_story.strategies(best, 127, reliable, trends)
    assert said[0].startswith(
        "Of the tried strategies, the one with the highest lower bound is reliable (enough attempts, and a lower bound "
        "above .50) in 29 of 127 combinations of project, agent and kind of task; those where it is one to avoid"
    )
    assert (
        "estimated success .83 on the next comparable attempt; 90 % credible interval .68–.94; 17 attempts" in said[1]
    )
    learned = best.with_columns(inferred=pl.lit(3))
    assert "; 17 attempts, 3 of them inferred." in state_story.strategies(learned, 127, reliable, trends)[1]
    assert said[2] == "2 weakening, by the last 28 days beside all before."
    assert "recent attempts weigh more" in said[3]
    assert "not tried lately" not in said[1]
    stale = state_story.strategies(best.with_columns(trend=pl.lit("stale")), 127, reliable, trends)
    assert "It was not tried lately, and the older attempts are, the less they distinguish" in stale[1]
    assert not any("best" in sentence for sentence in said)
    assert "No strategy was tried yet" in state_story.strategies(best.clear(), 0, reliable, reliable)[0]


@pytest.mark.parametrize(("faded", "verb"), [(0, "0 have"), (1, "1 has"), (2, "2 have")])
def test_decay_is_told_under_its_condition(faded: int, verb: str) -> None:
    days = pl.DataFrame(
        {
            "fading_count": [faded, 3], "cumulative_count": [faded, faded + 3], "active_count": [9, 9],
            "undated_count": [0, 0],
        }
    )  # fmt: skip
    assert state_story.fading(days)[:2] == [
        f"Of 9 active memories, {verb} faded.",
        "3 more will fade within 1 day if nothing refers to them.",
    ]
    # without a day a memory may fade any day: it is not said that it will not
    assert state_story.fading(days.with_columns(undated_count=pl.lit(4)))[1:3] == [
        "Of those whose day is known, 3 more will fade within 1 day if nothing refers to them.",
        (
            "When 4 more memories fade is not known: the log has watched no memory of their type without a reference "
            "for nearly so long."
        ),
    ]
    gone = pl.DataFrame(
        {"fading_count": [9, 0], "cumulative_count": [9, 9], "active_count": [9, 9], "undated_count": [0, 0]}
    )
    assert state_story.fading(gone)[:2] == ["Of 9 active memories, 9 have faded.", state_story.fading(days)[-1]]
    assert state_story.fading(days.with_columns(active_count=pl.lit(0))) == ["No memory is active, so none fades."]
    assert state_story.fading(days.clear()) == ["No memory is active, so none fades."]


def test_data_quality_is_counted() -> None:
    reasons = pl.DataFrame({"refused": [2, 1], "reason": ["prompt is blank", "x"]})
    assert state_story.refused(reasons) == [
        "3 rows were refused so far, for 2 reasons; most often, 2 rows: “prompt is blank”"
    ]
    tied = reasons.with_columns(refused=pl.lit(2))
    assert "4 rows were refused so far, for 2 reasons; among them, 2 rows:" in state_story.refused(tied)[0]
    assert state_story.refused(reasons.clear()) == ["No row was ever refused."]
    days = pl.DataFrame({"rows_count": [1000, 234], "inferred_count": [0, 0], "late_count": [0, 5]})
    assert state_story.landed(days)[0].startswith(
        "1,234 rows are in the tables, each in its latest version; 5 were recorded"
    )
    inferred = days.with_columns(inferred_count=pl.Series([1, 0]))
    assert ", each in its latest version, of them 1 inferred outcome; 5 were" in state_story.landed(inferred)[0]
    assert "an inline `success` makes an outcome of its own" in state_story.landed(days)[1]
    assert state_story.landed(days.clear()) == ["No row has landed yet."]


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
        "Calibration error below .01; a perfect forecaster would score .02 on as many memories.",
    ]


def test_success_is_of_attempts_of_the_newest_week() -> None:
    weeks = pl.DataFrame(
        {
            "week": [date(2026, 3, 30), date(2026, 3, 30), date(2026, 3, 23)],
            "project": ["", "shop", "shop"],
            "attempts": [7, 0, 9],
            "success_rate": [0.43, None, 0.1],
            "inferred": [0, 0, 0],
            "apart": [0, 0, 0],
            "apart_rate": [None, None, None],
        },
        schema_overrides={"apart_rate": pl.Float64},
    )
    assert state_story.success(weeks) == [
        "In the newest week with outcomes, that of 2026-03-30: no project .43 of 7 attempts."
    ]
    assert state_story.success(weeks.clear()) == ["No outcome is known yet."]
    many = pl.DataFrame(
        {"week": [date(2026, 3, 30)] * 8, "project": list("abcdefgh"), "attempts": [1, 2, 3, 4, 5, 6, 7, 8]}
    ).with_columns(success_rate=0.5, inferred=0, apart=0, apart_rate=None)
    (told,) = state_story.success(many)
    assert told.startswith(
        "In the newest week with outcomes, that of 2026-03-30: h .50 of 8 attempts; g .50 of 7 attempts;"
    )
    assert told.endswith("c .50 of 3 attempts; 2 projects more.")
    guessed = weeks.with_columns(attempts=0, apart=pl.Series([3, 0, 1]), apart_rate=pl.Series([2 / 3, None, 0.0]))
    assert state_story.success(guessed) == [
        "No attempt was reported in the newest week with outcomes, that of 2026-03-30.",
        "4 more attempts were inferred, 2 of them successful: nothing is learned from these.",
    ]
    learned = weeks.with_columns(inferred=pl.Series([1, 0, 0]))
    assert state_story.success(learned)[1] == "Of all attempts so far 1 was inferred, not reported."


def test_runs_that_failed_are_counted() -> None:
    rows = pl.DataFrame({"kind": ["nightly", "land"], "status": ["published", "failed"], "seconds": [12.2, None]})
    assert state_story.nights(rows) == [
        "The run that started last: nightly, published after 12.2 s. Of the 2 shown, 1 failed or did not end."
    ]
