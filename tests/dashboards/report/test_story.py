"""What the report says: sentences of the same numbers as the answers, plain where nothing is known."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest
from each import each
from hypothesis import strategies as st

from slowwave.dashboards.links import command_line
from slowwave.dashboards.report import night_story as story

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
COUNTS = st.integers(0, 10**12)


def counts(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns, schema_overrides={"rows": pl.Int64})


# ------------------------------------------------------------------------------------------------------------ commands


def test_a_command_is_quoted_for_a_shell() -> None:
    assert command_line("why", "m 1; rm -rf ~") == "slowwave why 'm 1; rm -rf ~'"
    assert command_line("forget", "apply", dry_run=True) == "slowwave forget apply --dry-run"
    assert command_line("sql", "x", param=["a=b c", "d=$(e)"]) == "slowwave sql x --param 'a=b c' --param 'd=$(e)'"
    assert command_line("sql", "x", param=[]) == "slowwave sql x"


@each("word", ["", "-all", "--yes", "a\x1b[2J", "a\nb", "\u202eabc", "\x00", "x" * 251])
def test_what_cannot_be_copied_safely_is_no_command(word: str) -> None:
    assert command_line("why", word) == ""
    assert command_line("forget", "hold", "m1", reason=word) == ""


# --------------------------------------------------------------------------------------------------------------- story


TO_DO = ("waiting", "planned", "harmful", "failing", "alarms", "unmet_quotas", "warnings")


def test_freshness_is_told_from_the_tables_alone() -> None:
    newest = pl.DataFrame(
        {"landed_table": ["interactions", "memories"], "newest_at": [AS_OF - timedelta(hours=3), AS_OF]}
    )
    assert story.freshness({"as_of": AS_OF}, newest) == [
        "As of 2026-04-01 00:00:00Z.",
        "The newest interaction is of 2026-03-31 21:00:00Z, 3 hours before.",
    ]
    old = newest.with_columns(pl.col("newest_at") - timedelta(days=9))
    assert story.freshness({"as_of": AS_OF}, old)[-1] == "Either nothing happened since, or logs have not arrived."
    assert story.freshness({"as_of": AS_OF}, newest.clear())[-1] == "No interaction is known."
    assert len(story.freshness({"as_of": AS_OF}, None)) == 1


def changes(**columns: list[object]) -> pl.DataFrame:
    schema = {"since_at": pl.Datetime("us"), "topic": pl.String, "what": pl.String, "count": pl.Int64}
    return pl.DataFrame(columns, schema=schema)


def test_what_changed_is_named_with_its_counts_and_the_rest_is_counted() -> None:
    rows = changes(
        since_at=[AS_OF] * 7,
        topic=["use", "memories", "memories", "strategies", "review", "observations", "other"],
        what=["given a memory", "new, active", "faded", "first attempt", "waits, merge", "another source", "x"],
        count=[92, 2, 1, 3, 1, 1, 4],
    )
    said = story.changes(rows, is_first=False)
    assert said[0] == (
        "Since 2026-04-01 00:00:00Z: new, active (2 memories); faded (1 memory); first attempt (3 strategies); "
        "waits, merge (1 item); and 2 other kinds of change."
    )
    assert said[1] == "Given a memory: 92."


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (changes(since_at=[None], topic=["use"], what=["x"], count=[0]), "no memory is known yet"),
        (changes(since_at=[AS_OF], topic=["use"], what=["x"], count=[0]), "nothing changed"),
        (changes(since_at=[AS_OF], topic=["use"], what=["x"], count=[7]), "no memory, strategy or observation changed"),
        (changes(), "no memory is known yet"),
    ],
)
def test_a_quiet_night_is_said_plainly(rows: pl.DataFrame, expected: str) -> None:
    assert expected in story.changes(rows, is_first=False)[0]
    assert expected in story.changes(rows, is_first=True)[0]


def test_what_got_worse_is_counted_by_kind() -> None:
    rows = counts(kind=["memory", "strategy"], what=["verdict review", "weakening"], rows=[4, 1])
    weakening = (
        "{} weakening, by 28 days beside all before and not by these 7; the day shown is that of the last attempt."
    )
    assert story.worse(rows, 7) == [
        "In the last 7 days 4 things got worse: 4 memories: verdict review.",
        weakening.format("1 strategy is"),
    ]
    # strategies are told by other days than memories: those are not said of them
    alone = counts(kind=["strategy"], what=["weakening"], rows=[6])
    assert story.worse(alone, 7) == [weakening.format("6 strategies are")]
    assert story.worse(rows.clear(), 7) == ["In the last 7 days nothing got worse."]


def test_what_only_faded_comes_last() -> None:
    rows = counts(
        kind=["memory", "memory", "memory", "memory", "strategy"],
        what=["forgettable", "forgettable", "weak", "verdict review", "weakening"],
        project=["a", None, "a", "a", "a"],
        rows=[30, 4, 3, 2, 1],
    )
    faded = "37 memories faded without a new reference: 34 became forgettable and 3 became weak."
    begin = "In the last 7 days"
    assert story.worse(rows, 7) == [
        f"{begin} 2 things got worse: 2 memories: verdict review.",
        (
            "1 strategy is weakening, by 28 days beside all before and not by these 7; the day shown is that of the "
            "last attempt."
        ),
        faded,
    ]
    assert story.worse(rows.filter(story.is_faded()), 7) == [
        f"{begin} nothing got worse but that memories faded.",
        faded,
    ]


def test_the_queue_is_told_by_kind_and_its_command_is_left_to_a_person() -> None:
    kinds = counts(kind=["candidate", "merge", "unheard of"], rows=[1, 6, 2])
    said = story.reviews(kinds, 3)
    assert said[0] == "9 items need review in 3 projects: 1 candidate, 6 merges and 2 unheard of."
    assert story.reviews(kinds.clear(), 0) == ["Nothing needs review."]


def test_shadows_and_quotas_of_the_plan_are_told_apart() -> None:
    rules = counts(rule=["faded", "faded", "new rule"], is_shadow=[False, True, False], rows=[3, 2, 1])
    quotas = pl.DataFrame({"is_met": [True, False]})
    said = story.forgettable(rules, quotas)
    assert said[0] == (
        "4 memories may be archived: 3 faded and not known to be needed and 1 new rule; "
        "2 more would stay active, to measure what is regretted."
    )
    assert said[-1] == "1 quota is not met by this plan."
    assert story.forgettable(rules.clear(), quotas.clear()) == ["No memory may be archived by the rules of now."]


def test_verdicts_and_plan_are_told_beside_each_other() -> None:
    rules, quotas = counts(rule=["superseded"], is_shadow=[False], rows=[1]), pl.DataFrame({"is_met": [True]})
    assert story.forgettable(rules, quotas, 3)[0] == (
        "3 memories have the verdict forget; the plan of what may be archived holds 1: 1 superseded by another."
    )
    assert story.forgettable(rules.clear(), quotas, 1) == [
        "1 memory has the verdict forget; no memory may be archived by the rules of now."
    ]
    assert story.forgettable(rules.clear(), quotas, 0) == ["No memory may be archived by the rules of now."]


def test_only_withheld_retrieval_calls_a_memory_harmful() -> None:
    flags = counts(is_harmful=[True, False, None], rows=[1, 9, 20])
    bases = counts(lift_basis=["matched", "randomised", "cutoff"], rows=[20, 9, 1])
    assert story.harms(flags, bases) == [
        "1 memory lowers success beyond chance, by a randomised or cutoff lift.",
        (
            "10 of 30 memories with a lift can be called harmful or not, because retrieval was randomised or had a "
            "cutoff; of the others only an association is known."
        ),
    ]
    associated = story.harms(flags.filter(pl.col("is_harmful").is_null()), bases.head(1))
    assert associated[0] == "No memory is known to lower success."
    none = flags.filter(~pl.col("is_harmful"))
    for below, said in ((0, "none of 30 intervals lies"), (1, "1 of 30 intervals lies"), (2, "2 of 30 intervals lie")):
        assert story.harms(none, bases, below)[0] == f"No memory is known to lower success: {said} wholly below 0."
    assert "retrieval was not randomised" in associated[1]
    assert (
        "interactions that were given it, and of like ones that were not"
        in story.harms(flags.clear(), bases.clear())[0]
    )


def test_a_harmful_memory_is_told_with_its_interval_and_basis() -> None:
    row = {"lift": -0.7, "lift_low": -0.88, "lift_high": -0.51, "lift_basis": "randomised", "lost_successes": 4.04}
    said = (
        "Lift −0.70, 90 % interval −0.88 to −0.51: 4.0 successes lost to it. Compared with interactions from "
        "which it was left out at random."
    )
    assert story.harm(row) == said
    assert "lost" not in story.harm({**row, "lost_successes": None})
    assert "retrieval was not randomised" in story.harm({**row, "lift_basis": "matched"})


def test_a_failing_strategy_is_told_with_what_works_instead() -> None:
    row = {"why_bad": "Failed 15 of 16 attempts.", "better_alternative": "Narrowest test first", "inferred": 0}
    assert story.failure(row) == ("Failed 15 of 16 attempts. Best so far: “Narrowest test first”.")
    assert story.failure({**row, "better_alternative": None}).endswith(
        "No other strategy that this agent tried there is known to succeed more often."
    )
    assert "16 attempts. Known of 16 attempts, 4 of them inferred. Best" in story.failure(
        {**row, "inferred": 4, "attempts": 16}
    )
    assert story.failing(2, 1, 7) == ["2 strategies keep failing, 1 of them with a first failure in the last 7 days."]
    assert "known to keep failing" in story.failing(0, 0, 7)[0]
    assert story.hard_tasks(1) == [
        "At 1 kind of task no strategy with enough attempts succeeds: choosing another one does not help."
    ]


def test_alarms_are_counted_by_level_beside_the_projects() -> None:
    healths = counts(health=["critical", "healthy", "unknown"], rows=[1, 3, 2])
    without = (
        "No alarm for 5 of 6 projects with memories; of these 2 were hardly used, so that little is known of them."
    )
    assert story.describe_alarms(counts(level=["critical"], rows=[2]), healths) == ["2 alarms: 2 critical.", without]
    healthy = healths.filter(pl.col("health") == "healthy")
    assert story.describe_alarms(counts(level=[], rows=[]), healthy) == [
        "No alarm for any of 3 projects with memories."
    ]
    assert story.describe_alarms(counts(level=[], rows=[]), healths.clear()) == ["No project has memories yet."]


def calibration(low: float | None, high: float | None) -> pl.DataFrame:
    metrics = ["brier_minus_laplace", "calibration_error", "calibration_error_if_perfect", "calibration_slope"]
    return pl.DataFrame(
        {
            "method": [*["heuristic/1"] * 4, "base_rate/1"],
            "metric": [*metrics, "calibration_error"],
            "value": [0.005, 0.096, 0.021, 0.46, 0.0514],
            "value_low": [low, None, None, 0.37, None],
            "value_high": [high, None, None, 0.54, None],
            "attempts": [2464] * 5,
            "cutoffs": [4] * 5,
        },
        schema_overrides={"value_low": pl.Float64, "value_high": pl.Float64},
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.002, 0.012, "cannot be distinguished from"),
        (0.001, 0.012, "are worse than"),
        (-0.02, -0.001, "are better than"),
        (None, None, "cannot be distinguished from"),
    ],
)
def test_forecasts_are_believed_only_as_far_as_their_interval(
    low: float | None, high: float | None, expected: str
) -> None:
    said = story.grade(calibration(low, high))
    assert said[0] == "Estimates are rough: off by 9.6 points on average (2.1 would be chance alone)."
    assert expected in said[1]
    assert said[1].startswith("On 2,464 attempts of 4 weeks")
    assert said[2:] == [
        "They are too sure of themselves (slope 0.46; 1 would be right).",
        "This grades the confidence of strategies; that of memories is not graded yet.",
    ]


def test_ungraded_forecasts_say_what_is_missing() -> None:
    assert "cannot be graded yet" in story.grade(calibration(0, 1).clear())[0]


def test_warnings_are_counted_whole_and_shown_in_part() -> None:
    said, count = story.warnings("\n".join(f"audit {number}" for number in range(30)))
    assert (len(said), count) == (8, 30)
    assert (
        story.describe_warnings(count, len(said))
        == "30 warnings, none of which stopped the publish; the first 8 of them."
    )
    assert story.warnings(None) == ([], 0)
