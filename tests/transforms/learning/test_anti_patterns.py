"""Anti-patterns: what ALMA got wrong, each with the right answer, and every column on cases small enough to check."""

import math
import random
import re
from datetime import date, timedelta

import polars as pl
import pytest
from failing_strategies import HEURISTICS, NO_HEURISTICS, START, tried
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples, some

from slowwave.transforms.core.statistics import normal_tail
from slowwave.transforms.learning.anti_patterns.anti_patterns import SCHEMA, anti_patterns, probability_above
from slowwave.transforms.learning.anti_patterns.arms import cells, in_cells, sessions
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams
from slowwave.transforms.learning.anti_patterns.rows import q_values

PARAMS = AntiPatternParams()
MIDNIGHT = START.replace(hour=0)
GOOD = tried("S" * 20, "roll out in steps")


def published(*attempts, day=30.0, heuristics=NO_HEURISTICS, params=PARAMS):
    return anti_patterns(pl.concat(attempts, how="diagonal"), heuristics, MIDNIGHT + timedelta(days=day), params)


def only(*attempts, **given):
    (row,) = published(*attempts, **given).iter_rows(named=True)
    return row


# ------------------------------------------------------------------------------------------- what ALMA got wrong


def test_twelve_failures_are_one_anti_pattern_with_all_twelve():
    row = only(tried("F" * 12))
    assert (row["kind"], row["state"]) == ("hard_task", "open")
    assert (row["failures"], row["attempts"], row["sessions"], row["error_failures"]) == (12, 12, 12, 12)
    assert (row["error_id"], row["failure_rate"], row["baseline_rate"]) == ("timeout", 1.0, None)
    assert row["better_alternative"] is None
    assert row["why_bad"] == (
        "Failed 12 of 12 attempts in 12 sessions, 12 with one error; nothing comparable was tried; "
        "no strategy with 5 attempts or more succeeded in over 35 % of them."
    )


def test_the_second_strategy_is_not_blamed_for_the_error_of_the_first():
    row = only(tried("F" * 12), tried("F" + "S" * 9, "totally different approach"))
    assert (row["strategy_id"], row["kind"]) == ("retry the call", "avoid")


def test_a_strategy_that_mostly_succeeds_has_no_row():
    assert published(tried("SSSFSSFSS"), GOOD).is_empty()
    assert published(tried("SSSFSSFSS")).is_empty()


def test_later_successes_are_recorded_and_close_it_and_later_failures_open_it_again():
    assert only(tried("F" * 12), GOOD)["state"] == "open"
    closed = only(tried("F" * 12 + "S" * 9), GOOD)
    assert (closed["state"], closed["attempts"], closed["failures"]) == ("closed", 21, 12)
    assert closed["last_seen_at"] == START + timedelta(days=11)
    assert closed["why_bad"].endswith(
        "failed 0 of 20; of late it is not surely worse than they; 6 of 6 attempts since 2026-03-15 succeeded."
    )
    assert only(tried("F" * 12 + "S" * 9 + "F" * 5), GOOD)["state"] == "open"


def test_thirty_failures_with_fifteen_errors_are_found():
    attempts = tried("F" * 30).with_columns(error_id=pl.format("error {}", pl.int_range(pl.len()) // 2))
    row = only(attempts)
    assert (row["failures"], row["error_id"], row["error_failures"]) == (30, "", 0)


def test_a_family_that_fails_as_a_whole_is_said_where_its_errors_differ():
    attempts = tried("F" * 30).with_columns(
        error_id=pl.format("error {}", pl.int_range(pl.len()) // 2),
        error_family=pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("f1")).otherwise(pl.lit("f2")),
        error_family_template=pl.lit("No module named <value>"),
    )
    row = only(attempts)
    assert (row["error_id"], row["error_failures"]) == ("", 0)
    assert (row["error_family"], row["error_family_failures"]) == ("f1", 20)
    assert row["error_family_template"] == "No module named <value>"
    assert row["why_bad"].startswith("Failed 30 of 30 attempts in 30 sessions, 20 with errors of one family; nothing")
    alone = only(tried("F" * 12).with_columns(error_family=pl.lit("f1")))
    assert (alone["error_failures"], alone["error_family_failures"]) == (12, 12)
    assert "family" not in alone["why_bad"]


def test_an_empty_error_message_explains_nothing():
    attempts = tried("F" * 12).with_columns(
        error_id=pl.when(pl.int_range(pl.len()) < 4).then("error_id")  # eight without a message
    )
    assert only(attempts)["error_id"] == ""
    assert only(tried("F" * 12, error_id=None))["error_id"] == ""


def test_another_agent_with_the_same_strategy_is_not_concerned():
    row = only(tried("F" * 12), tried("S" * 12, agent="tester"))
    assert (row["agent"], row["kind"], row["baseline_rate"]) == ("coder", "avoid", 0.0)


def test_another_task_type_is_not_concerned():
    (row,) = published(tried("F" * 12), tried("S" * 12, task_type="review")).iter_rows(named=True)
    assert (row["task_type"], row["baseline_rate"]) == ("deploy", None)


# ------------------------------------------------------------------------------------------- evidence


def test_attempts_of_one_session_are_one_observation():
    assert published(tried("F" * 12, every=0.01, block="one session"), GOOD).is_empty()


def test_a_session_is_of_the_day_of_its_last_attempt():
    both = pl.concat([tried("FS", every=3, block="one session"), tried("S", "ask", day=5, block="one session")])
    found = sessions(in_cells(both, cells(both))).sort("attempts")
    assert found.select("attempts", "failures", "share").rows() == [(1, 0, 0), (2, 1, 500_000)]
    assert found["day"].to_list() == [(START.date() - date(1970, 1, 1)).days + 5] * 2


def test_what_becomes_known_later_does_not_count_yet():
    late = tried("F" * 12).with_columns(known_at=pl.lit(START + timedelta(days=40)))
    assert published(late, GOOD, day=40).is_empty()
    assert published(late, GOOD, day=41).height == 1


def test_a_strategy_that_breaks_after_a_long_good_past_is_found():
    row = only(tried("S" * 150 + "F" * 15), tried("S" * 165, "roll out in steps"), day=170)
    assert (row["kind"], row["state"]) == ("avoid", "open")


def test_the_comparables_are_the_agents_own_where_it_has_some():
    others = [tried("F" * 20, agent=f"agent {number}") for number in range(3)]
    table = published(tried("F" * 12), GOOD, *others)
    own = table.row(by_predicate=pl.col("agent") == "coder", named=True)
    assert (own["kind"], own["baseline_rate"]) == ("avoid", 0.0)


def test_where_all_fail_it_is_the_task():
    table = published(tried("F" * 12), tried("F" * 11 + "S", "roll back"), tried("F" * 5, "ask"))
    assert table["kind"].to_list() == ["hard_task"] * 3
    row = table.row(by_predicate=pl.col("strategy_id") == "ask", named=True)
    assert row["why_bad"].endswith(
        "5 with one error; comparable strategies failed 23 of 24; "
        "no strategy with 5 attempts or more succeeded in over 35 % of them."
    )


def test_what_was_to_avoid_is_a_hard_task_once_the_others_fail_too():
    attempts = tried("F" * 60), tried("S" * 20 + "F" * 40, "roll out in steps")
    found = [published(*attempts, day=day).filter(pl.col("strategy_id") == "retry the call") for day in (20, 60)]
    assert [(row["kind"].item(), row["state"].item()) for row in found] == [("avoid", "open"), ("hard_task", "open")]


def test_where_one_strategy_succeeds_no_task_is_hard():
    # the mean of its comparables fails more than half the time in both
    others = [tried("F" * 30, "ask"), tried("F" * 30, "wait"), tried("F" * 30, "roll back")]
    for solver, kinds in (("FFFFS" * 6, {"hard_task"}), ("FSSSS" * 6, {"avoid"})):
        found = published(tried(solver, "plan"), *others, tried("F" * 30))
        assert set(found["kind"]) <= kinds
        assert found.filter(
            (pl.col("kind") == "avoid") & (pl.col("failure_rate") <= pl.col("baseline_rate"))
        ).is_empty()
    assert published(tried("FFFFS" * 6, "plan"), *others, tried("F" * 30)).height == 5
    # another agent's success shows that it can be done, too; four attempts are not enough to show it
    for successes, state in ((5, "closed"), (4, "open")):
        found = published(*others, tried("S" * successes, agent="tester"))
        assert set(found.filter(pl.col("kind") == "hard_task")["state"]) == {state}


def test_what_fails_no_more_than_its_comparables_is_not_open():
    # both fail as often of late, and seldom enough in all that the task can be done
    both = [tried("S" * 30 + "F" * 30, name) for name in ("retry the call", "ask")]
    assert published(*both, day=60).filter(pl.col("state") == "open").is_empty()
    # worse of late, but not in all
    broke = tried("S" * 60 + "F" * 30), tried("F" * 60 + "S" * 30, "ask")
    row = published(*broke, day=90).row(by_predicate=pl.col("strategy_id") == "retry the call", named=True)
    assert (row["state"], row["failure_rate"] < row["baseline_rate"]) == ("closed", True)
    assert "failed 60 of 90; its share of failures is not above theirs; " in row["why_bad"]


def test_a_hard_task_has_no_alternative():
    rows = [heuristic("retry the call", 0.02, 0.1), heuristic("ask", 0.3, 0.4)]
    known = pl.DataFrame(rows, schema=HEURISTICS)
    attempts = tried("F" * 30), tried("FFFSFFS" * 4 + "SS", "ask")
    row = published(*attempts, heuristics=known).row(by_predicate=pl.col("strategy_id") == "retry the call", named=True)
    assert (row["kind"], row["better_alternative_strategy_id"]) == ("hard_task", None)


def test_a_strategy_that_succeeds_at_a_hard_task_has_no_row():
    assert (
        "ask" not in published(tried("F" * 30), tried("F" * 30, "roll back"), tried("FFSSSSSS", "ask"))["strategy_id"]
    )


def test_shared_sessions_leave_the_strategy_itself_out_of_its_comparables():
    # in every session the agent fails with one strategy and then mostly succeeds with another
    failed, solved = tried("F" * 15), tried("SSSSF" * 3, "roll out in steps")
    together = pl.concat([failed, solved.with_columns(block=failed["block"])])
    row = only(together)
    assert (row["kind"], row["baseline_rate"]) == ("avoid", 0.2)
    assert row["e_value"] == only(failed, solved)["e_value"]


def test_the_strategy_without_a_name_is_nobodys():
    assert published(tried("F" * 12, strategy_id=None)).is_empty()


def test_a_project_does_not_change_the_rows_of_another():
    alone = published(tried("F" * 12), GOOD)
    noise = [tried("S" * 3, f"strategy {number}", project="borealis") for number in range(200)]
    assert published(tried("F" * 12), GOOD, *noise).equals(alone)


def test_strong_findings_in_one_project_do_not_lower_the_bar_in_another():
    weak = [tried("F" * 12), *[tried("SS", task_type=f"task {number}") for number in range(400)]]
    strong = [tried("F" * 20, task_type=f"task {number}", project="borealis") for number in range(40)]
    assert published(*weak).is_empty()
    assert set(published(*weak, *strong)["project"]) == {"borealis"}


def test_among_many_strategies_it_takes_more_evidence():
    many = [tried("SS", task_type=f"task {number}") for number in range(400)]
    assert published(tried("F" * 8)).height == 1
    assert published(tried("F" * 8), *many).is_empty()
    assert published(tried("F" * 20), *many).height == 1


# ------------------------------------------------------------------------------------------- states and columns


def test_without_new_attempts_it_is_dormant_and_never_healed():
    for day, state in ((40, "open"), (42, "dormant"), (400, "dormant")):
        row = only(tried("F" * 12), GOOD, day=day)
        assert (row["state"], row["failures"]) == (state, 12)
    assert row["why_bad"].endswith("; not tried since 2026-03-12.")
    assert only(tried("F" * 12 + "S" * 9), GOOD, day=400)["state"] == "closed"


@pytest.mark.parametrize("hour", some([8, 0], 1))
def test_states_are_the_same_however_often_it_was_looked_at(hour):
    attempts = [tried("F" * 6 + "S" * 9 + "F" * 4), tried("S" * 30, "roll out in steps")]
    at = MIDNIGHT + timedelta(days=25, hours=hour)
    whole = anti_patterns(pl.concat(attempts), NO_HEURISTICS, at, PARAMS)
    assert whole["state"].to_list() == ["open"]
    states = [published(*attempts, day=day)["state"].to_list() for day in range(3, 20, 2)]
    first_open = states.index(["open"])
    assert all(state == [] for state in states[:first_open])
    assert ["closed"] in states[first_open:]


def test_costs_are_of_the_failures_beyond_those_expected():
    attempts = tried("F" * 12, duration_ms=500.0, tokens=30), tried("S" * 15 + "F" * 5, "roll out in steps")
    row = only(*attempts)
    assert (row["baseline_rate"], row["cost_unit"]) == (0.25, "ms")
    assert row["cost"] == (12 - 12 * 0.25) * 500
    assert only(*attempts, params=AntiPatternParams(failure_value=7.0))["cost"] == 9 * 7
    priced = attempts[0].with_columns(cost=pl.when(pl.int_range(pl.len()) < 2).then(3.0))
    for unit in (None, "usd"):
        row = only(priced.with_columns(cost_unit=pl.lit(unit, pl.String)), attempts[1])
        assert (row["cost"], row["cost_unit"]) == (27.0, unit)
    mixed = priced.with_columns(cost_unit=pl.when(pl.int_range(pl.len()) < 1).then(pl.lit("usd")))
    assert only(mixed, attempts[1])["cost_unit"] == "ms", "dollars and what nobody said have no mean"
    row = only(tried("F" * 12, tokens=30), attempts[1])
    assert (row["cost"], row["cost_unit"]) == (270.0, "tokens")


def test_a_cost_is_unknown_without_comparables_or_prices():
    for attempts in ([tried("F" * 12, duration_ms=500.0)], [tried("F" * 12), GOOD]):
        row = only(*attempts)
        assert (row["cost"], row["cost_unit"]) == (None, None)


def heuristic(strategy, low, high, **key):
    row = {"project": "atlas", "agent": "coder", "task_type": "deploy", "strategy_id": strategy}
    row |= {"strategy": f"the {strategy}", "confidence": (low + high) / 2}
    return row | {"confidence_low": low, "confidence_high": high} | key


def test_the_better_alternative_beats_the_confidence_with_the_highest_lower_bound():
    rows = [
        heuristic("retry the call", 0.02, 0.6),
        heuristic("sure", 0.8, 0.9),
        heuristic("surer", 0.82, 0.86),
        heuristic("vague", 0.3, 0.99),
        heuristic("of another agent", 0.95, 0.99, agent="tester"),
    ]
    row = only(tried("F" * 12), GOOD, heuristics=pl.DataFrame(rows, schema=HEURISTICS))
    assert (row["better_alternative"], row["better_alternative_strategy_id"]) == ("the surer", "surer")
    row = only(tried("F" * 12), GOOD, heuristics=pl.DataFrame([rows[0], rows[3], rows[4]], schema=HEURISTICS))
    assert row["better_alternative"] is None


def test_what_keeps_failing_itself_is_no_alternative():
    # its lower bound is the highest, so that none is named
    rows = [heuristic("retry the call", 0.02, 0.3), heuristic("ask", 0.3, 0.5), heuristic("wait", 0.05, 0.3)]
    attempts = [tried("F" * 12), tried("F" * 12, "ask"), tried("S" * 30, "plan")]
    found = published(*attempts, heuristics=pl.DataFrame(rows, schema=HEURISTICS)).to_dicts()
    states = {row["strategy_id"]: (row["state"], row["better_alternative_strategy_id"]) for row in found}
    assert states == {"retry the call": ("open", None), "ask": ("open", None)}


def test_what_is_expected_to_succeed_is_not_open():
    for confidence, state in ((0.49, "open"), (0.51, "closed")):
        rows = [heuristic("retry the call", confidence - 0.2, confidence + 0.2)]
        row = only(tried("F" * 12), GOOD, heuristics=pl.DataFrame(rows, schema=HEURISTICS))
        assert row["state"] == state
    assert row["why_bad"].endswith("it is expected to succeed more often than not; not tried since 2026-03-12.")


def test_the_error_that_dominates_is_named_with_its_template():
    attempts = tried("F" * 12).with_columns(
        error_id=pl.when(pl.int_range(pl.len()) < 8).then(pl.lit("e1")).otherwise(pl.lit("e2")),
        error_template=pl.when(pl.int_range(pl.len()) < 8).then(pl.lit("timeout after <duration>")),
    )
    row = only(attempts, GOOD)
    assert (row["error_id"], row["error_template"], row["error_failures"]) == ("e1", "timeout after <duration>", 8)


def test_the_table_does_not_depend_on_the_order_of_rows():
    attempts = pl.concat(
        [
            tried("F" * 12),
            GOOD,
            tried("FS" * 8, "ask"),
            tried("F" * 9, agent="tester", cost=0.1),
            tried("F" * 9, task_type="ci"),
            tried("F" * 9, "plan", task_type="ci"),
        ]
    )
    expected = anti_patterns(attempts, NO_HEURISTICS, MIDNIGHT + timedelta(days=30), PARAMS)
    assert expected.height == 3
    assert expected.schema == SCHEMA
    for seed in range(5):
        shuffled = attempts.sample(fraction=1, shuffle=True, seed=seed)
        assert anti_patterns(shuffled, NO_HEURISTICS, MIDNIGHT + timedelta(days=30), PARAMS).equals(expected)


def test_the_text_of_the_task_splits_no_sessions():
    attempts = pl.concat([tried("F" * 12), GOOD, tried("FS" * 8, "ask")])
    told = attempts.with_columns(task=pl.format("task {}", pl.int_range(pl.len())))
    assert published(told).equals(published(attempts))


def test_nothing_tried_no_rows():
    assert published(tried("")).schema == SCHEMA
    assert published(tried("F")).schema == SCHEMA


# ------------------------------------------------------------------------------------------- sentences and counts


@st.composite
def logs(draw):
    """Attempts of up to four strategies at two kinds of task, of two agents, each with a rate that changes once."""
    parts = []
    for agent, task_type, strategy in draw(
        st.lists(
            st.tuples(st.sampled_from(["coder", "tester"]), st.sampled_from(["deploy", "ci"]), st.sampled_from("abc")),
            min_size=1, max_size=5, unique=True,
        )
    ):  # fmt: skip
        rng = random.Random(draw(st.integers(0, 10**6)))
        rates = draw(st.tuples(*[st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])] * 2))
        lengths = draw(st.tuples(*[st.sampled_from([0, 4, 12, 30])] * 2))
        results = "".join(
            "S" if rng.random() < rate else "F" for rate, n in zip(rates, lengths, strict=True) for _ in range(n)
        )
        every = draw(st.sampled_from([0.5, 1, 2]))
        parts.append(tried(results, strategy, agent=agent, task_type=task_type, every=every))
    return pl.concat(parts)


@settings(max_examples=examples(30, 200), deadline=None)
@given(logs(), st.integers(10, 130), st.floats(0.05, 0.95), st.sampled_from([0.2, 0.35, 0.5]))
def test_every_sentence_says_what_the_attempts_say(attempts, day, confidence, rate):
    cells = attempts.select("project", "agent", "task_type", "strategy_id", "strategy").unique()
    heuristics = cells.with_columns(
        confidence=pl.lit(confidence), confidence_low=pl.lit(confidence / 2), confidence_high=pl.lit(1.0)
    )
    at = MIDNIGHT + timedelta(days=day)
    table = anti_patterns(attempts, heuristics, at, AntiPatternParams(solved_rate=rate))
    known = attempts.filter(pl.col("known_at") < at)
    records = known.group_by("agent", "task_type", "strategy_id").agg(pl.len().alias("n"), pl.col("success").mean())
    for row in table.iter_rows(named=True):
        own = known.filter(*[pl.col(name) == row[name] for name in ("agent", "task_type", "strategy_id")])
        of_task = records.filter(pl.col("task_type") == row["task_type"], pl.col("n") >= 5)
        is_solved = of_task.filter(pl.col("success") > rate).height > 0
        said = row["why_bad"]
        assert f"Failed {own.filter(~pl.col('success')).height} of {own.height} attempts" in said
        since = re.search(r"(\d+|none) of (\d+) attempts? since (\S+) succeeded", said)
        assert ("since" in said) == (row["state"] != "open")
        if since:
            later = own.filter(pl.col("known_at").dt.date().cast(pl.String) > since[3])
            successes = later.filter("success").height
            assert (since[1], int(since[2])) == (str(successes) if successes else "none", later.height)
            assert later.height > 0
        elif row["state"] != "open":
            assert f"not tried since {own['known_at'].max():%Y-%m-%d}" in said
        assert ("expected to succeed more often than not" not in said) or confidence > 0.5
        assert ("not above theirs" not in said) or row["failure_rate"] <= row["baseline_rate"]
        assert ("; no strategy with 5" not in said) or not is_solved
        assert ("; a strategy with 5" not in said) or is_solved
        assert ("its comparables changed, not its own" not in said) or not since or since[1] == "none"
        if row["state"] != "closed":
            assert row["kind"] == ("avoid" if is_solved else "hard_task")
            assert confidence <= 0.5
            assert row["kind"] == "hard_task" or row["failure_rate"] > row["baseline_rate"]
        assert row["kind"] == "avoid" or row["better_alternative"] is None


# ------------------------------------------------------------------------------------------- formulas


def above(a, b, threshold):
    return probability_above(pl.DataFrame({"a": [a], "b": [b], "threshold": [threshold]})).item()


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.05, 0.95))
def test_probability_above_is_a_binomial_tail_for_whole_numbers(a, b, threshold):
    trials = a + b - 1
    below = sum(math.comb(trials, k) * threshold**k * (1 - threshold) ** (trials - k) for k in range(a, trials + 1))
    assert above(float(a), float(b), threshold) == pytest.approx(1 - below, abs=1e-9)


@given(st.floats(0.01, 30), st.floats(0.01, 30), st.floats(0.05, 0.95))
def test_probability_above_follows_the_recurrence_of_the_incomplete_beta_function(a, b, threshold):
    density = (
        a * math.log(threshold) + b * math.log1p(-threshold) - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b)
    )
    assert above(a + 1, b, threshold) - above(a, b, threshold) == pytest.approx(math.exp(density) / a, abs=1e-9)


@pytest.mark.parametrize(
    ("z", "tail"), [(0, 0.5), (1.0, 0.158655254), (1.96, 0.024997895), (-1, 0.841344746), (4, 3.167e-5)]
)
def test_normal_tail(z, tail):
    found = pl.DataFrame({"z": [float(z)]}).select(normal_tail(pl.col("z"))).item()
    assert found == pytest.approx(tail, abs=1e-7)


def test_q_values_are_those_of_benjamini_and_hochberg_with_the_others_at_one():
    rng = random.Random(3)
    rows = [
        {
            "cell": cell,
            "project": "atlas",
            "n": 20,
            "x": rng.randint(5, 20) * 10**6,
            "n_others": 50,
            "x_others": 20 * 10**6,
        }
        for cell in range(12)
    ]
    tested = pl.DataFrame({"project": ["atlas", "atlas"], "day": [1, 2], "tested": [9, 30]})
    found = q_values(pl.DataFrame(rows), tested, PARAMS)
    pooled = [(row["x"] / 1e6 + 20) / 70 for row in rows]
    z = [(row["x"] / 2e7 - 0.4) / (p * (1 - p) * (1 / 20 + 1 / 50)) ** 0.5 for row, p in zip(rows, pooled, strict=True)]
    p_values = pl.DataFrame({"z": z}).select(normal_tail(pl.col("z"))).to_series().to_list()
    for cell, p in enumerate(p_values):
        larger = [q for q in p_values if q >= p]
        expected = min(1, *(q * 30 / sum(other <= q for other in p_values) for q in larger))
        assert found["avoid"][cell] == pytest.approx(expected)
