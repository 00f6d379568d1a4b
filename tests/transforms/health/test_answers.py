"""Answers say what their counts carry and no more, in English that fits none, one and many."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_counts import CASES, log_counts

from slowwave.transforms.core.vocabularies import QUESTIONS
from slowwave.transforms.health.answerable.answer_counts import Lifts, LogCounts
from slowwave.transforms.health.answerable.question_answers import LogAnswer, answers

NOT_KNOWN = "Not known: "
HOLD_BACK = "`injection_probability`"
MASS = 0.9
_PLURALS = {
    "interaction": "interactions",
    "memory": "memories",
    "outcome": "outcomes",
    "attempt": "attempts",
    "strategy": "strategies",
}


def answers_by_question(counts: LogCounts) -> dict[str, LogAnswer]:
    return {one.question: one for one in answers(counts, MASS)}


def forms(counts: LogCounts) -> set[str]:
    """What is said of a log, whatever its numbers, and however its outcomes are known."""
    basis = r" \(\d[\d,]* of [^)]* not reported\)|; how \S+ attempts? ended was inferred[^;.]*"
    plural = re.compile(r"# (interaction|memory|outcome|attempt|strategy)\b")
    texts = [f"{one.question}: {re.sub(basis, '', one.answer)} {one.lacks}" for one in answers(counts, MASS)]
    said = {re.sub(r"\d[\d,.]*\d|\d", "#", text) for text in texts}
    return {plural.sub(lambda found: f"# {_PLURALS[found[1]]}", text) for text in said}


def numbers(text: str) -> set[int]:
    """The whole numbers in a sentence."""
    return {int(found.replace(",", "")) for found in re.findall(r"(?<![\w.])\d[\d,]*(?![\w.]*\d)", text)}


@given(log_counts())
def test_all_questions_are_answered_in_order_or_not_with_what_lacks(counts: LogCounts) -> None:
    found = answers(counts, MASS)
    assert tuple(one.question for one in found) == QUESTIONS
    for one in found:
        assert one.is_answered != one.answer.startswith(NOT_KNOWN)
        assert one.is_answered or one.lacks
        assert one.answer.endswith(".")
        assert not one.lacks or one.lacks.endswith(".")


@given(log_counts())
def test_a_question_is_answered_of_what_it_needs_and_rests_on_it(counts: LogCounts) -> None:
    found = answers_by_question(counts)
    assert found["given"].is_answered == (counts.given > 0)
    assert found["used"].is_answered == (counts.relied + counts.cited > 0)
    assert found["works"].is_answered == (counts.tried > 0)
    assert found["help"].is_answered == (counts.fair.count > 0)
    rests_on = {name: one.rests_on for name, one in found.items()}
    assert rests_on == {
        "given": counts.interactions,
        "used": counts.interactions,
        "works": counts.tried,
        "help": counts.ended,
    }


@given(log_counts())
def test_no_number_is_said_that_was_not_counted(counts: LogCounts) -> None:
    found = asdict(counts)
    counted = {value for value in found.values() if type(value) is int}
    counted |= {counts.ended - counts.ended_given, 10}  # and the share that differs by chance
    for lifts in (counts.fair, counts.associated):
        counted |= {lifts.count, lifts.above, lifts.below, lifts.count - lifts.above - lifts.below}
    for one in answers(counts, MASS):
        assert numbers(one.answer) <= counted


@given(log_counts())
def test_without_chance_no_memory_is_said_to_make_a_difference(counts: LogCounts) -> None:
    helps = answers_by_question(replace(counts, fair=Lifts()))["help"]
    assert not helps.is_answered
    if "success was" in helps.answer.lower():
        assert "retrieval was not randomised" in helps.answer
        assert HOLD_BACK in str(helps.lacks)


@given(log_counts(), st.booleans())
def test_holding_memories_back_is_asked_for_where_nothing_else_lacks(counts: LogCounts, is_drawn: bool) -> None:
    ended = counts.ended if is_drawn else 0
    helps = answers_by_question(replace(counts, fair=Lifts(), associated=Lifts(), drawn=ended))["help"]
    is_next = counts.ended > 0 and counts.ended_given > 0
    assert (HOLD_BACK in str(helps.lacks)) == (is_next and not is_drawn)


@given(log_counts())
def test_without_an_outcome_no_confidence_is_promised_and_an_outcome_is_asked_for(counts: LogCounts) -> None:
    silent = LogCounts(
        interactions=counts.interactions + 1, given=counts.given, relied=counts.relied, texts=counts.texts
    )
    found = answers_by_question(silent)
    assert found["help"].answer.endswith("landed without an outcome; so no memory has a confidence or a lift.")
    assert "`record_outcome(" in str(found["help"].lacks)
    assert "`record_outcome(" in str(found["works"].lacks)


@given(log_counts())
def test_of_rows_that_no_night_has_seen_nothing_is_said_that_it_would_find(counts: LogCounts) -> None:
    rows = replace(counts, relied=0, eligible=0, strategies=0, drawn=0, fair=Lifts(), associated=Lifts(),
                   is_replayed=False)  # fmt: skip
    found = answers_by_question(rows)
    assert [name for name, one in found.items() if one.is_answered] == (["given"] if rows.given else [])
    assert all("was found" not in one.answer and "trusted" not in one.answer for one in found.values())
    if rows.interactions:
        assert "before the next `slowwave nightly`, which looks for memories" in found["used"].answer


@given(log_counts(most=2))
def test_one_is_one(counts: LogCounts) -> None:
    for one in answers(counts, MASS):
        assert not re.search(r"\b1 (interactions|memories|outcomes|attempts|strategies)\b", one.answer)
        assert not re.search(r"\b(0|2) (interaction|memory|outcome|attempt|strategy)\b", one.answer)


def test_one_interaction_without_a_memory_is_something_to_compare_with() -> None:
    almost = replace(CASES["always given"], ended_given=CASES["always given"].ended - 1)
    assert "1,099 with a memory and 1 without" in answers_by_question(almost)["help"].answer


@pytest.mark.parametrize(("mass", "share"), [(0.9, "10 %"), (0.95, "5 %"), (0.5, "50 %"), (0.999, "0.1 %")])
def test_the_share_that_differs_by_chance_follows_from_the_intervals(mass: float, share: str) -> None:
    helps = answers(CASES["compared"], mass)[-1]
    assert f"by chance alone up to {share} of them would differ" in helps.answer


@given(log_counts())
def test_every_sentence_is_fixed_by_the_golden_table(counts: LogCounts) -> None:
    fixed = {form for case in CASES.values() for form in forms(case)}
    assert forms(counts) <= fixed
