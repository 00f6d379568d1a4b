"""What the report says: sentences of the same numbers as the answers, plain where nothing is known."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.dashboards import state_story, story, words
from slowwave.dashboards.commands import command_line

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
COUNTS = st.integers(0, 10**12)
HOSTILE = "<script>\x1b[31m\u202e\n**b**" + "x" * 10_000


def counts(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns, schema_overrides={"rows": pl.Int64})


# --------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.6, ".60"), (1.0, "1.00"), (0.0, ".00"), (-0.07, "−.07"), (-0.001, ".00"), (0.999, "1.00"), (12.5, "12.50")],
)
def test_a_part_has_two_digits_and_no_nought(value: float, expected: str) -> None:
    assert words.part(value) == expected


@given(st.floats(-1, 1), st.integers(1, 6))
def test_a_change_always_has_its_sign_and_is_the_number(value: float, digits: int) -> None:
    said = words.change(value, digits)
    assert said[0] in "+−"
    assert float(said.replace("−", "-")) == pytest.approx(round(value, digits), abs=10**-digits)


def test_intervals_do_not_run_into_a_minus_sign() -> None:
    assert words.interval(0.6, 0.95) == ".60–.95"
    assert words.interval(-0.1, 0.2) == "−.10 to .20"


@given(COUNTS)
def test_a_count_is_said_whole(count: int) -> None:
    said = words.counted(count, "memory", "memories")
    assert said == ("no memories" if not count else f"{count:,} {'memory' if count == 1 else 'memories'}")


@given(st.text(max_size=300))
def test_what_is_quoted_is_one_short_line_that_prints(text: str) -> None:
    for said in (words.quoted(text), words.named(text), story.excerpt(text)):
        assert "\n" not in said
        assert len(said) <= 242
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", said)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (timedelta(minutes=5), "5 minutes"),
        (timedelta(hours=26), "26 hours"),
        (timedelta(days=3), "3 days"),
        (timedelta(minutes=-5), "no minutes"),
    ],
)
def test_a_span_has_one_unit(length: timedelta, expected: str) -> None:
    assert words.span(length) == expected


# ------------------------------------------------------------------------------------------------------------ commands


def test_a_command_is_quoted_for_a_shell() -> None:
    assert command_line("why", "m 1; rm -rf ~") == "slowwave why 'm 1; rm -rf ~'"
    assert command_line("forget", "apply", dry_run=True) == "slowwave forget apply --dry-run"
    assert command_line("sql", "x", param=["a=b c", "d=$(e)"]) == "slowwave sql x --param 'a=b c' --param 'd=$(e)'"
    assert command_line("sql", "x", param=[]) == "slowwave sql x"


@pytest.mark.parametrize("word", ["", "-all", "--yes", "a\x1b[2J", "a\nb", "\u202eabc", "\x00", "x" * 251])
def test_what_cannot_be_copied_safely_is_no_command(word: str) -> None:
    assert command_line("why", word) == ""
    assert command_line("forget", "hold", "m1", reason=word) == ""


# --------------------------------------------------------------------------------------------------------------- story


TO_DO = ("waiting", "planned", "harmful", "failing", "alarms", "unmet_quotas", "warnings")


@given(st.fixed_dictionaries(dict.fromkeys(TO_DO, COUNTS)))
def test_what_is_to_do_is_all_that_counts_more_than_nothing(given: dict[str, int]) -> None:
    found = story.to_dos(**given)
    assert sorted(each.count for each in found) == sorted(count for count in given.values() if count)
    said = story.headline(found, 1)
    assert all(
        f"{each.count:,} {each.words}" in said or f"{each.count:,} {each.words}".capitalize() in said for each in found
    )
    assert found or said == "Nothing to act on this morning."


def test_with_no_memory_it_says_what_would_bring_one() -> None:
    assert "land memories" in story.headline([], 0)


def test_freshness_is_told_from_the_tables_alone() -> None:
    newest = pl.DataFrame(
        {"landed_table": ["interactions", "memories"], "newest_at": [AS_OF - timedelta(hours=3), AS_OF]}
    )
    assert story.freshness({"as_of": AS_OF}, newest) == [
        "Shows what was known before 2026-04-01 00:00Z.",
        "The newest interaction is of 2026-03-31 21:00Z, 3 hours before.",
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
        "Since 2026-04-01 00:00Z: new, active (2 memories); faded (1 memory); first attempt (3 strategies); "
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
    assert story.worse(rows, 7) == [
        "In the 7 days before the publish 5 things got worse: 4 memories: verdict review; 1 strategy: weakening."
    ]
    assert story.worse(rows.clear(), 7) == ["In the 7 days before the publish nothing got worse."]


def test_the_queue_is_told_by_kind_and_its_command_is_left_to_a_person() -> None:
    kinds = counts(kind=["candidate", "merge", "unheard of"], rows=[1, 6, 2])
    said = story.reviews(kinds, 3)
    assert said[0] == "9 items wait for a person's word in 3 projects: 1 candidate, 6 merges and 2 unheard of."
    assert story.reviews(kinds.clear(), 0) == ["Nothing waits for a person's word."]


def test_shadows_and_quotas_of_the_plan_are_told_apart() -> None:
    rules = counts(rule=["faded", "faded", "new rule"], is_shadow=[False, True, False], rows=[3, 2, 1])
    quotas = pl.DataFrame({"is_met": [True, False]})
    said = story.forgettable(rules, quotas)
    assert said[0] == (
        "4 memories may be archived: 3 faded and unlikely to be needed and 1 new rule; "
        "2 more would stay active, to measure what is regretted."
    )
    assert said[-1] == "1 quota is not met by this plan."
    assert story.forgettable(rules.clear(), quotas.clear()) == ["No memory may be archived by the rules of now."]


def test_only_withheld_retrieval_calls_a_memory_harmful() -> None:
    flags = counts(is_harmful=[True, False, None], rows=[1, 9, 20])
    bases = counts(lift_basis=["matched", "randomised", "cutoff"], rows=[20, 9, 1])
    assert story.harms(flags, bases) == [
        "1 memory lowers success beyond chance.",
        (
            "10 of 30 memories with a lift can be called harmful or not, because retrieval was randomised or had a "
            "cutoff; of the others only an association is known."
        ),
    ]
    associated = story.harms(flags.filter(pl.col("is_harmful").is_null()), bases.head(1))
    assert associated[0] == "No memory is known to lower success."
    assert "retrieval was not randomised" in associated[1]
    assert "outcomes of interactions with and without it" in story.harms(flags.clear(), bases.clear())[0]


def test_a_harmful_memory_is_told_with_its_interval_and_basis() -> None:
    row = {"lift": -0.7, "lift_low": -0.88, "lift_high": -0.51, "lift_basis": "randomised", "lost_successes": 4.04}
    said = "Lift −.70, 90 % interval −.88 to −.51; randomised; 4.0 successes lost to it."
    assert story.harm(row) == said
    assert "lost" not in story.harm({**row, "lost_successes": None})


def test_a_failing_strategy_is_told_with_what_works_instead() -> None:
    row = {"why_bad": "Failed 15 of 16 attempts.", "better_alternative": "Narrowest test first"}
    assert story.failure(row) == (
        "Failed 15 of 16 attempts. Surely better among tried strategies: “Narrowest test first”."
    )
    assert story.failure({**row, "better_alternative": None}).endswith("No tried strategy is surely better.")
    assert story.failing(2, 1, 7) == ["2 strategies keep failing, 1 of them with a first failure in the last 7 days."]
    assert "known to keep failing" in story.failing(0, 0, 7)[0]


def test_alarms_are_counted_by_level_beside_the_projects() -> None:
    statuses = counts(status=["critical", "unknown"], rows=[1, 2])
    assert story.alarmed(counts(level=["critical"], rows=[2]), statuses)[0] == "2 alarms: 2 critical."
    assert story.alarmed(counts(level=[], rows=[]), statuses)[0] == "No project has an alarm."
    assert story.alarmed(counts(level=[], rows=[]), statuses.clear()) == ["No project is known yet."]


def calibration(low: float | None, high: float | None) -> pl.DataFrame:
    metrics = ["brier_minus_laplace", "calibration_error", "calibration_error_if_perfect", "calibration_slope"]
    return pl.DataFrame(
        {
            "method": ["heuristic/1"] * 4,
            "metric": metrics,
            "value": [0.005, 0.096, 0.021, 0.46],
            "value_low": [low, None, None, 0.37],
            "value_high": [high, None, None, 0.54],
            "attempts": [2464] * 4,
            "cutoffs": [4] * 4,
        },
        schema_overrides={"value_low": pl.Float64, "value_high": pl.Float64},
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.002, 0.012, "cannot be told apart from"),
        (0.001, 0.012, "are worse than"),
        (-0.02, -0.001, "are better than"),
        (None, None, "cannot be told apart from"),
    ],
)
def test_forecasts_are_believed_only_as_far_as_their_interval(
    low: float | None, high: float | None, expected: str
) -> None:
    said = story.grade(calibration(low, high))
    assert expected in said[0]
    assert said[0].startswith("On 2,464 attempts of 4 weeks")
    assert said[1] == "Calibration error .10; a perfect forecaster would score .02 on as many attempts."
    assert said[2] == "They are too sure of themselves (slope .46; 1 would be right)."


def test_ungraded_forecasts_say_what_is_missing() -> None:
    assert "cannot be graded yet" in story.grade(calibration(0, 1).clear())[0]


def test_warnings_are_counted_whole_and_shown_in_part() -> None:
    said, count = story.warnings("\n".join(f"audit {number}" for number in range(30)))
    assert (len(said), count) == (8, 30)
    assert story.warned(count, len(said)) == "30 warnings, none of which stopped the publish; the first 8 of them."
    assert story.warnings(None) == ([], 0)


# --------------------------------------------------------------------------------------------------------------- state


def test_memories_are_told_by_verdict_and_the_rest_by_state() -> None:
    verdicts = pl.DataFrame({"verdict": ["keep", "forget", "keep"], "memories_count": [2, 1, 3]})
    states = pl.DataFrame({"status": ["active", "candidate", None], "memories_count": [6, 4, 1]})
    assert state_story.memories(verdicts, states) == [
        "6 active memories, by verdict: 1 forget and 5 keep.",
        "Not active: 4 candidate and 1 injected but never landed.",
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
    assert "used in 12 attempts that succeeded and 6 that failed (9.5 expected)" in said[1]
    assert "\x1b" not in said[1]
    assert len(said[1]) < 300
    assert "No active memory has a confidence yet" in state_story.confidences(rows.clear(), 0)[0]


def test_a_strategy_is_never_called_best() -> None:
    best = pl.DataFrame(
        {
            "project": [""], "agent": ["coder"], "task_type": ["testing"], "strategy": ["Narrowest test first"],
            "confidence": [0.83], "confidence_low": [0.68], "confidence_high": [0.94], "attempts": [17],
        }
    )  # fmt: skip
    reliable = counts(is_reliable=[True, False], rows=[29, 98])
    said = state_story.strategies(best, 127, reliable, counts(trend=["weakening"], rows=[2]))
    assert said[0].startswith("For 29 of 127 kinds of task the tried strategy with the highest lower bound is reliable")
    assert (
        "estimated success .83 on the next comparable attempt; 90 % credible interval .68–.94; 17 attempts" in said[1]
    )
    assert said[2] == "2 weakening, by the last 28 days beside all before."
    assert not any("best" in sentence for sentence in said)
    assert "No strategy was tried yet" in state_story.strategies(best.clear(), 0, reliable, reliable)[0]


@pytest.mark.parametrize(("faded", "verb"), [(0, "0 have"), (1, "1 has"), (2, "2 have")])
def test_decay_is_told_under_its_condition(faded: int, verb: str) -> None:
    days = pl.DataFrame({"fading_count": [faded, 3], "cumulative_count": [faded, faded + 3], "active_count": [9, 9]})
    said = state_story.fading(days)[0]
    assert said == (
        f"Of 9 active memories, {verb} faded, and {faded + 3} will have within 1 day if nothing refers to any of them."
    )
    assert state_story.fading(days.with_columns(active_count=pl.lit(0))) == ["No memory is active, so none fades."]
    assert state_story.fading(days.clear()) == ["No memory is active, so none fades."]


def test_data_quality_is_counted() -> None:
    reasons = pl.DataFrame({"refused": [2, 1], "reason": ["prompt is blank", "x"]})
    assert state_story.refused(reasons) == [
        "3 rows were refused so far, for 2 reasons; most often, 2 rows: “prompt is blank”"
    ]
    assert state_story.refused(reasons.clear()) == ["No row was ever refused."]
    days = pl.DataFrame({"rows_count": [1000, 234], "late_count": [0, 5]})
    assert state_story.landed(days)[0].startswith(
        "1,234 rows are in the tables as their last versions; 5 were recorded"
    )
    assert state_story.landed(days.clear()) == ["No row has landed yet."]


def test_success_is_of_attempts_of_the_newest_week() -> None:
    weeks = pl.DataFrame(
        {
            "week": [date(2026, 3, 30), date(2026, 3, 30), date(2026, 3, 23)],
            "project": ["", "shop", "shop"],
            "attempts": [7, 0, 9],
            "success_rate": [0.43, None, 0.1],
        }
    )
    assert state_story.success(weeks) == ["In the week of 2026-03-30: no project .43 of 7 attempts."]
    assert state_story.success(weeks.clear()) == ["No outcome is known yet."]


def test_runs_that_failed_are_counted() -> None:
    rows = pl.DataFrame({"kind": ["nightly", "land"], "status": ["published", "failed"], "seconds": [12.2, None]})
    assert state_story.nights(rows) == [
        "The newest run: nightly, published after 12.2 seconds. Of the 2 shown, 1 failed."
    ]
