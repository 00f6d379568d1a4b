"""What is said of a memory's uses: how many ended how, how they were expected to end, and what confidence is left."""

from datetime import timedelta
from random import Random

import polars as pl
import pytest
from lift_cases import AS_OF, PARAMS, START, frames, interaction, memory_outcomes, outcomes_of
from scipy.stats import beta

from slowwave.transforms.lift.observed_outcomes import SCHEMA, memory_confidence
from slowwave.transforms.lift.trials import expected_success, known_before, memory_numbers, trials, trials_with_memory

# --------------------------------------------------------------------------------------------------------------- counts


def test_uses_are_counted_by_how_their_attempt_ended():
    rows = [interaction(k, success=k % 3 > 0, echoed=["m"]) for k in range(9)]
    found = outcomes_of(rows)["m"]
    assert (found["confirmed_count"], found["contradicted_count"]) == (6, 3)


def test_injected_is_not_used():
    found = outcomes_of([interaction(0, success=True), interaction(1, success=False, injected=["m"])])["m"]
    assert (found["confirmed_count"], found["contradicted_count"]) == (0, 0)
    assert (found["contradicted_expected"], found["confidence"], found["confidence_low"]) == (None, None, None)


def test_offered_only_has_a_row_with_zero_counts():
    found = outcomes_of([interaction(0, success=True, offered=[("m", 1, 0.5)])])["m"]
    assert (found["confirmed_count"], found["contradicted_count"], found["lift"]) == (0, 0, None)


def test_the_latest_attempt_of_an_interaction_counts():
    rows = [interaction(0, success=False, id="i", echoed=["m"]), interaction(1, success=True, id="i", echoed=["m"])]
    references, interactions, memories, attempts = frames(rows)
    references, interactions = references.unique(), interactions.unique("interaction_id")
    found = memory_outcomes(references, interactions, memories, attempts, AS_OF, PARAMS).row(0, named=True)
    assert (found["confirmed_count"], found["contradicted_count"]) == (1, 0)
    reverse = attempts.with_columns(pl.col("created_at").reverse())
    found = memory_outcomes(references, interactions, memories, reverse, AS_OF, PARAMS).row(0, named=True)
    assert (found["confirmed_count"], found["contradicted_count"]) == (0, 1)


def test_an_interaction_without_an_attempt_says_nothing():
    references, interactions, memories, attempts = frames([interaction(0, success=True, echoed=["m"])])
    assert memory_outcomes(references, interactions, memories, attempts.clear(), AS_OF, PARAMS).is_empty()


def test_an_outcome_counts_once_it_is_known():
    rows = [interaction(0, success=True), interaction(1, success=True, echoed=["m"], known=30)]
    assert not outcomes_of(rows, as_of=START + timedelta(hours=30))
    assert outcomes_of(rows, as_of=START + timedelta(hours=31))["m"]["confirmed_count"] == 1


# ------------------------------------------------------------------------------------------------------------- expected


def expected_by_a_loop(rows, row, memory):
    """The forecast of one interaction without a memory, said as plainly as possible."""
    before = [r for r in rows if r["known"] < row["hour"] and memory not in r["injected"] + r["echoed"]]
    groups = ((), ("project",), ("project", "agent"), ("project", "agent", "task_type"))
    levels = [*groups, *([(*groups[-1], "task")] if row["task"] else [])]
    expected, strength = 0.5, 2
    for names in levels:
        alike = [r["success"] for r in before if all(r[name] == row[name] for name in names)]
        expected = (sum(alike) + strength * expected) / (len(alike) + strength)
        strength = PARAMS.expected_strength
    return expected, len(before)


def random_rows(seed, count=80):
    random = Random(seed)
    return [
        interaction(
            random.choice([k, k, k // 2]),
            success=random.random() < 0.6,
            known=k + random.choice([0, 0, 1, 20]),
            project=random.choice("pq"),
            agent=random.choice("ab"),
            task_type=random.choice(["", "t"]),
            task=random.choice([None, "", "u", "v"]),
            injected=random.sample(["m", "n"], random.choice([0, 0, 1, 2])),
            echoed=random.sample(["m", "n", "o"], random.choice([0, 1])),
            session=random.choice([None, "s", "r"]),
        )
        for k in range(count)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_expected_is_what_a_loop_over_earlier_interactions_finds(seed):
    rows = random_rows(seed)
    references, interactions, _, attempts = frames(rows)
    known = trials(interactions, attempts)
    having = trials_with_memory(references, known, memory_numbers(references, interactions))
    found = pl.concat([having, expected_success(having, known_before(known), having, PARAMS)], how="horizontal")
    assert found.height > 50
    for one in found.iter_rows(named=True):
        row = rows[one["interaction"]]
        expected, history = expected_by_a_loop(rows, row, one["memory_id"])
        assert one["expected"] == pytest.approx(expected)
        assert one["history"] == history


def test_expected_failures_are_those_of_exactly_the_uses():
    rows = random_rows(9)
    told = outcomes_of(rows)
    for name in ("m", "n", "o"):
        uses = [row for row in rows if name in row["echoed"]]
        expected = sum(1 - expected_by_a_loop(rows, row, name)[0] for row in uses)
        assert told[name]["contradicted_expected"] == pytest.approx(expected)
        assert told[name]["contradicted_count"] == sum(not row["success"] for row in uses)


def test_what_is_known_at_that_very_instant_is_too_late():
    rows = [interaction(0, success=True, known=5), interaction(5, success=True, echoed=["m"])]
    assert outcomes_of(rows)["m"]["contradicted_expected"] is None
    rows[1]["hour"] = 5.001
    assert outcomes_of(rows)["m"]["contradicted_expected"] is not None


# ----------------------------------------------------------------------------------------------------------- confidence


def confidence_of(ends, initial: float | None = 0.7, sessions=None, history=9):
    """ends: (success, expected) per use."""
    uses = pl.DataFrame(
        {
            "memory_id": "m",
            "block": sessions or [str(k) for k in range(len(ends))],
            "is_referenced": True,
            "success": [int(success) for success, _ in ends],
            "expected": [expected for _, expected in ends],
            "history": history,
        }
    )
    memories = pl.DataFrame({"memory_id": ["m"], "confidence": [initial]}, schema_overrides={"confidence": pl.Float64})
    return memory_confidence(uses, memories, PARAMS).row(0, named=True)


def test_confidence_is_a_beta_posterior_of_surprises():
    found = confidence_of([(True, 0.6), (True, 0.9), (False, 0.6)])
    a, b = 0.7 * 2 + 0.4 + 0.1, 0.3 * 2 + 0.6
    assert found["confidence"] == pytest.approx(a / (a + b))
    assert found["confidence_low"] == pytest.approx(beta.ppf(0.05, a, b))
    assert found["confidence_high"] == pytest.approx(beta.ppf(0.95, a, b))


def test_as_expected_comes_to_one_half_whatever_the_rate():
    for expected in (0.2, 0.5, 0.9):
        ends = [(k < 1000 * expected, expected) for k in range(1000)]
        assert confidence_of(ends)["confidence"] == pytest.approx(0.5, abs=0.01)


def test_better_than_expected_is_above_worse_is_below():
    assert confidence_of([(True, 0.5)] * 20)["confidence"] > 0.85
    assert confidence_of([(False, 0.5)] * 20)["confidence"] < 0.15


def test_a_success_that_was_certain_changes_little():
    assert confidence_of([(True, 0.99)] * 10)["confidence"] == pytest.approx(0.7, abs=0.02)


def test_the_initial_confidence_weighs_little_and_unknown_is_one_half():
    many = [(True, 0.5), (False, 0.5)] * 50
    assert abs(confidence_of(many, 0.9)["confidence"] - confidence_of(many, 0.1)["confidence"]) < 0.05
    assert confidence_of([(True, 0.999)], None)["confidence"] == pytest.approx(0.5, abs=0.01)


def test_uses_of_one_session_are_not_so_many():
    ends = [(False, 0.5)] * 12
    apart, together = confidence_of(ends), confidence_of(ends, sessions=["s"] * 12)
    assert together["confidence_high"] > apart["confidence_high"] + 0.1
    a, b = 0.7 * 2, 0.3 * 2 + 6 * (12 * 0.25) / 36
    assert together["confidence"] == pytest.approx(a / (a + b))


def test_successes_of_one_session_are_not_so_many_either():
    a, b = 0.7 * 2 + 6 * (12 * 0.25) / 36, 0.3 * 2
    found = confidence_of([(True, 0.5)] * 12, sessions=["s"] * 12)
    assert found["confidence"] == pytest.approx(a / (a + b))


def test_without_any_history_nothing_is_expected_and_confidence_is_unknown():
    found = confidence_of([(True, 0.5)], history=0)
    assert (found["confirmed_count"], found["contradicted_expected"], found["confidence"]) == (1, None, None)


@pytest.mark.parametrize("initial", [0.0, 1.0])
def test_certain_initial_confidence_can_be_shaken(initial):
    found = confidence_of([(initial == 0, 0.5)] * 30, initial)
    assert abs(found["confidence"] - initial) > 0.8
    assert found["confidence_low"] < found["confidence"] < found["confidence_high"]


# ---------------------------------------------------------------------------------------------------------------- order


def test_row_order_does_not_matter():
    given = frames(random_rows(3))
    straight = memory_outcomes(*given, AS_OF, PARAMS)
    assert straight.schema == SCHEMA
    for seed in range(3):
        references, interactions, memories, attempts = [f.sample(fraction=1, shuffle=True, seed=seed) for f in given]
        assert memory_outcomes(references, interactions, memories, attempts, AS_OF, PARAMS).equals(straight)


def test_nothing_gives_no_rows():
    references, interactions, memories, attempts = [frame.clear() for frame in frames(random_rows(1))]
    assert memory_outcomes(references, interactions, memories, attempts, AS_OF, PARAMS).is_empty()
