"""What statements claim, and what changes between them."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import chain, product
from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from state_change_log import ALIKE, CHANGES

from slowwave.transforms.observations.states import plans as state_plans
from slowwave.transforms.observations.states.acts import TO_BE, UNDER_WAY, stated_acts
from slowwave.transforms.observations.states.changes import (
    StateChange,
    Stated,
    change_between,
    state_changes,
    stated_change,
)
from slowwave.transforms.observations.states.claims import claims

START = datetime(2026, 1, 1)


def said(*texts: tuple[str, float]) -> list[StateChange]:
    """The changes between texts, each said on a day."""
    times = [START + timedelta(days=day) for _, day in texts]
    return state_changes(
        Stated(number, 0, at, at, text) for number, ((text, _), at) in enumerate(zip(texts, times, strict=True))
    )


@each(("before", "after"), CHANGES)
def test_what_changed_is_told(before: str, after: str) -> None:
    (change,) = said((before, 0), (after, 60))
    assert (change.earlier, change.later) == (0, 1)
    assert change.subject
    assert change.before != change.after


@each(("before", "after"), ALIKE)
def test_what_is_only_alike_is_no_change(before: str, after: str) -> None:
    assert said((before, 0), (after, 60)) == []


def test_a_whole_log_tells_each_of_its_changes_once() -> None:
    pairs = (*CHANGES, *ALIKE)
    texts = [pair for day, (a, b) in enumerate(pairs) for pair in ((a, day), (b, day + 90))]
    found = {(one.earlier, one.later) for one in said(*texts)}
    assert found == {(2 * number, 2 * number + 1) for number in range(len(CHANGES))}


def test_subject_and_attribute_and_both_values_are_named() -> None:
    (port,) = said(("The gateway listens on port 7443", 0), ("The gateway now listens on port 9443", 3))
    assert port.reason == "The gateway listens on: port 7443, then port 9443"
    (boston,) = said(("Ana has never been to Boston", 0), ("Ana visited Boston", 9))
    assert (boston.subject, boston.before, boston.after) == ("Ana", "has never been to Boston", "visited Boston")
    told = stated_change("The team switched from Jenkins to Buildkite for builds")
    assert told is not None
    assert (told.subject, told.attribute, told.before, told.after) == ("The team", "switched", "Jenkins", "Buildkite")
    assert change_between("The default branch is trunk", "The default branch is main") is not None


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("We switched to pnpm from npm", "npm", "pnpm"),
        ("Renamed load_rows to read_rows", "load_rows", "read_rows"),
        ("Now the old helper is unused", "used", "unused"),
        ("The flag is now deprecated", "not deprecated", "deprecated"),
        ("Ana recently lost her job as a banker", "her job", "lost her job"),
    ],
)
def test_one_statement_tells_both(text: str, before: str, after: str) -> None:
    told = stated_change(text)
    assert told is not None
    assert (told.before, told.after) == (before, after)


def test_a_plan_is_carried_out_once() -> None:
    plan, deed = "Ana is excited for an upcoming recital in Vienna", "Ana gave a recital in Vienna"
    found = said((plan, 0), (deed, 9), (f"{deed} with Bo", 90))
    assert [(one.earlier, one.later) for one in found] == [(0, 1)]


def test_of_what_is_told_often_only_what_follows_soon_is_meant() -> None:
    often = [(f"Ana liked the mural number {day} of the town", day) for day in range(10)]
    plan, deed = "Ana is working on a mural", "Ana completed a mural"
    assert [one.earlier for one in said(*often, (plan, 20), (deed, 30)) if one.after == "completed a mural"] == [10]
    assert not [one for one in said(*often, (plan, 20), (deed, 90)) if one.after == "completed a mural"]


def test_a_number_far_from_the_last_counts_something_else() -> None:
    day = [("All 397 tests pass", 0.0), ("All 59 tests pass", 0.1), ("All 72 tests pass", 0.2)]
    found = said(*day, ("All 410 tests pass", 0.3))
    assert [(one.earlier, one.later) for one in found] == [(1, 2), (0, 3)]


@each(
    "text",
    [
        "Changed the mount to use the cache",
        "Everything is now fixed",
        "The key is now unwrapped first",
        "Changed the default layout to three columns",
        "The worker can be switched from A to B",
        "If the tool moved from A to B, rename it",
        "It moved from Oslo to Bergen",
        "Data is never moved from staging to production",
        "Trains run from Ghent to Bruges",
        "Did the team switch from Jenkins to Buildkite?",
    ],
)
def test_what_may_be_is_not_told_as_a_change(text: str) -> None:
    assert stated_change(text) is None


def test_a_list_is_no_change() -> None:
    """Three numbers within a day, or two values at one time, are of several things."""
    assert said(("All 15 tests pass", 0), ("All 84 tests pass", 0.1), ("All 397 tests pass", 0.2)) == []
    assert said(("Marta lives in Porto", 0), ("Marta lives in Ghent", 0), ("Marta lives in Riga", 9)) == []
    assert len(said(("All 397 tests pass", 0), ("All 410 tests pass", 5))) == 1


def test_two_names_within_a_day_may_be_two_at_once() -> None:
    assert said(("The pipeline runs on Jenkins", 0), ("The pipeline runs on Travis", 0.1)) == []
    assert len(said(("The pipeline runs on Jenkins", 0), ("The pipeline now runs on Travis", 0.1))) == 1


def test_another_scope_changes_nothing() -> None:
    at = START + timedelta(days=2)
    one, other = "The API port is 8080", "The API port is 9090"
    assert state_changes([Stated(0, 0, START, START, one), Stated(1, 1, at, at, other)]) == []


PARTS = [
    "is",
    "has",
    "not",
    "never",
    "no longer",
    "from",
    "to",
    "used",
    "it",
    "Ana",
    "I'm",
    "plans",
    "3",
    "Paris",
    ":",
    ",",
]


def test_a_clause_may_end_with_its_verb() -> None:
    assert claims("The parser does not have") == ()
    assert claims("Ana has to") == ()


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=5)), max_size=12))
def test_any_text_can_be_asked(parts: list[str]) -> None:
    assert isinstance(claims(" ".join(parts)), tuple)


@given(st.lists(st.sampled_from([text for pair in (*CHANGES, *ALIKE) for text in pair]), unique=True, max_size=12))
def test_the_order_of_statements_does_not_matter(texts: list[str]) -> None:
    stated = [
        Stated(number, 0, START + timedelta(days=number), START + timedelta(days=number), text)
        for number, text in enumerate(texts)
    ]
    assert state_changes(reversed(stated)) == state_changes(stated)


def test_each_plan_is_asked_about_few_deeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans and acts that have no more in common than their subject and a place."""
    asked = 0
    one_thing = state_plans._one_thing

    def counted(*of: Any) -> frozenset[str]:
        nonlocal asked
        asked += 1
        return one_thing(*of)

    monkeypatch.setattr(state_plans, "_one_thing", counted)
    pairs = [
        (f"The user plans to buy lamp{n} in the harbour", f"The user sold chair{n} in the harbour") for n in range(200)
    ]
    assert said(*((text, number) for number, text in enumerate(chain.from_iterable(pairs)))) == []
    carried_out = ("The user plans to buy an orange boat", 500), ("The user bought an orange boat", 510)
    assert len(said(*((a, n) for n, (a, _) in enumerate(pairs)), *carried_out)) == 1
    assert asked < 4 * len(pairs)


def test_acts_that_share_no_mark_have_nothing_in_common() -> None:
    """All the acts of the log with each other, and some more: those that share none are never asked about."""
    further = (
        ("Ana hopes to repair the river boat", "Ana painted the river boat"),
        ("Ana plans a workshop on clay", "Ana attended the workshop on clay"),
    )
    acts = {act for pair in (*CHANGES, *ALIKE, *further) for text in pair for act in stated_acts(text).acts}
    plans = [act for act in acts if act.stage in {TO_BE, UNDER_WAY}]
    alike = 0
    for plan, deed in product(plans, acts):
        for told in (frozenset(), plan.names):
            same = state_plans._one_thing(plan, deed, told)
            alike += bool(same)
            assert not (same and state_plans._marks_of_plan(plan).isdisjoint(state_plans._marks_of_deed(deed)))
    assert alike > len(plans)
