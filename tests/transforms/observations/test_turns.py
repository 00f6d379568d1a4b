"""What only a later stage of one thing tells: a draft handed in, an injury healed, a step done."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain

import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from state_change_log import ALIKE, CHANGES
from turned_log import STEADY, TOLD, TURNED, UNTOLD

from slowwave.transforms.observations.groups import changes_of_state
from slowwave.transforms.observations.states.changes import StateChange
from slowwave.transforms.observations.turns.candidates import turn_candidates
from slowwave.transforms.observations.turns.changes import told_turn, turn_between, turns
from slowwave.transforms.observations.turns.cues import Statement

START = datetime(2026, 1, 1)


def log_of(*texts: tuple[str, float]) -> pl.DataFrame:
    """Statements, each said on a day."""
    at = [START + timedelta(days=day) for _, day in texts]
    return pl.DataFrame(
        {
            "statement": range(len(texts)), "scope": [0] * len(texts), "first_at": at, "last_at": at,
            "content": [text for text, _ in texts],
        }
    )  # fmt: skip


def said(*texts: tuple[str, float]) -> list[StateChange]:
    return changes_of_state(log_of(*texts), "observe/3")


@each(("before", "after"), [*TURNED, *CHANGES])
def test_a_later_stage_is_told(before: str, after: str) -> None:
    (change,) = said((before, 0), (after, 20))
    assert (change.earlier, change.later) == (0, 1)
    assert change.before != change.after


def test_the_method_before_knows_few_stages() -> None:
    found = [changes_of_state(log_of((before, 0), (after, 20)), "observe/2") for before, after in TURNED]
    assert sum(map(bool, found)) < len(TURNED) / 3


@each(("before", "after"), [*STEADY, *ALIKE])
def test_what_goes_no_further_is_no_change(before: str, after: str) -> None:
    assert said((before, 0), (after, 20)) == []


@each(("before", "after"), TURNED)
def test_what_was_said_at_one_time_or_before_is_no_later_stage(before: str, after: str) -> None:
    assert [one for one in said((before, 0), (after, 0)) if one.earlier is not None] == []
    assert (0, 1) not in {(one.earlier, one.later) for one in said((before, 20), (after, 0))}


@each(("text", "before", "after"), TOLD)
def test_one_statement_tells_both(text: str, before: str, after: str) -> None:
    change = told_turn(text)
    assert change is not None
    assert (change.earlier, change.before, change.after) == (None, before, after)
    assert said((text, 0)) == [change]


@pytest.mark.parametrize("text", UNTOLD)
def test_what_is_planned_or_long_ago_is_not_told(text: str) -> None:
    assert told_turn(text) is None


def test_a_step_is_done_once_and_is_the_one_that_says_most_of_it() -> None:
    found = said(
        ("Now add the `retry` flag to the uploader", 0),
        ("Now add the `retry` flag", 1),
        ("Added the `retry` flag to the uploader", 2),
        ("Added the `retry` flag", 3),
    )
    assert [(one.earlier, one.later) for one in found] == [(0, 2), (1, 3)]


def test_a_change_that_is_known_is_told_once() -> None:
    told = (Statement(0, 0, START, TURNED[0][0]), Statement(1, 0, START + timedelta(days=9), TURNED[0][1]))
    (change,) = turns(told)
    assert turns(told, [change]) == []
    assert turn_between(*TURNED[0]) == change


def test_statements_of_others_never_meet() -> None:
    for before, after in (pair for pair in TURNED if pair[1].startswith("Ines")):
        other = after.replace("Ines", "Bo")
        assert [one for one in said((before, 0), (other, 20)) if one.earlier is not None] == []


@given(st.permutations(range(2 * len(TURNED))))
def test_the_order_in_which_statements_come_changes_nothing(order: Sequence[int]) -> None:
    texts = [(text, float(day)) for day, text in enumerate(chain.from_iterable(TURNED))]
    rows = log_of(*texts)
    expected = changes_of_state(rows, "observe/3")
    assert set(changes_of_state(rows[list(order)], "observe/3")) == set(expected)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    told_turn(text)
    turn_between(text, f"Ines finished {text}")


def test_candidates_keep_all_that_is_found() -> None:
    texts = [(text, float(day)) for day, text in enumerate(chain.from_iterable((*TURNED, *STEADY)))]
    rows = log_of(*texts)
    kept = set(turn_candidates(rows)["statement"])
    every = turns(Statement(*row) for row in rows.select("statement", "scope", "first_at", "content").iter_rows())
    assert {one.later for one in every} <= kept
