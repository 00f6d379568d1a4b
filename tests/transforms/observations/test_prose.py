"""What prose tells: what was meant and done in other words, verdicts, lists of what was done, and what is so now."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prose_log import APART, IN_PASSING, NOT_IN_PASSING, PROSE
from state_change_log import ALIKE
from turned_log import STEADY, UNTOLD
from worked_log import LEFT, UNTOLD_STILL, WORKED

from slowwave.transforms.observations.groups import changes_of_state
from slowwave.transforms.observations.prose.changes import prose_between, told_prose
from slowwave.transforms.observations.states.changes import StateChange

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


def said(*texts: tuple[str, float], method: str = "observe/5") -> list[StateChange]:
    return changes_of_state(log_of(*texts), method)


def pairs(found: list[StateChange]) -> list[tuple[int | None, int]]:
    return [(one.earlier, one.later) for one in found if one.earlier is not None]


@pytest.mark.parametrize(("before", "after"), [*PROSE, *WORKED])
def test_what_came_of_it_is_told(before: str, after: str) -> None:
    assert pairs(said((before, 0), (after, 2))) == [(0, 1)]
    assert prose_between(before, after) is not None


def test_the_method_before_tells_few_of_them() -> None:
    found = [said((before, 0), (after, 2), method="observe/4") for before, after in PROSE]
    assert sum(bool(pairs(some)) for some in found) < len(PROSE) / 2


@pytest.mark.parametrize(("before", "after"), [*APART, *LEFT, *STEADY, *ALIKE])
def test_what_goes_no_further_is_no_change(before: str, after: str) -> None:
    assert pairs(said((before, 0), (after, 20))) == []


@pytest.mark.parametrize(("text", "before", "after"), IN_PASSING)
def test_one_statement_tells_in_passing(text: str, before: str, after: str) -> None:
    change = told_prose(text)
    assert change is not None
    assert (change.earlier, change.before, change.after) == (None, before, after)
    assert said((text, 0)) == [change]


@pytest.mark.parametrize("text", [*NOT_IN_PASSING, *UNTOLD_STILL, *UNTOLD])
def test_what_is_meant_asked_or_vague_is_not_told(text: str) -> None:
    assert told_prose(text) is None
    assert said((text, 0)) == []


def test_what_is_listed_as_done_names_what_was_meant_without_a_verb() -> None:
    meant, item = "Creating the `.tides` file, and wiring the moon.", "`.tides` – same (local)"
    assert pairs(said((meant, 0), (item, 1))) == []
    assert (0, 2) in pairs(said((meant, 0), ("Here is what was done:", 1), (item, 1)))


def test_what_was_meant_last_is_told_by_a_list_that_does_not_name_it() -> None:
    meant, opens = "Extracting stable lamps to fix the flicker.", "Here’s what was added and how it fits."
    assert pairs(said((meant, 0), (opens, 1))) == [(0, 1)]
    assert pairs(said((meant, 0), (opens, 1), (opens, 2))) == [(0, 1)]


def test_what_was_meant_and_done_at_one_time_is_told_by_that_time() -> None:
    found = said(("Let me fix the TypeScript error in the tide chart", 0), ("The build succeeded", 0))
    assert [(one.earlier, one.later, one.after) for one in found] == [(None, 1, "build succeeded")]


def test_before_and_after_below_each_other_are_two_states() -> None:
    found = said(("**Before**: dark lamp (`gray-900`)", 0), ("**After**: light lamp (`teal-50`)", 0))
    assert [(one.earlier, one.before, one.after) for one in found] == [
        (None, "dark lamp (`gray-900`)", "light lamp (`teal-50`)")
    ]


def test_a_plan_is_carried_out_once() -> None:
    done = "Added detailed logging to the lighthouse relay and its lamps"
    found = said(("I'll add logging to the lighthouse relay", 0), (done, 1), (f"{done} too", 2))
    assert pairs(found) == [(0, 1)]


@given(st.permutations(range(2 * len(PROSE))))
def test_the_order_in_which_statements_come_changes_nothing(order: Sequence[int]) -> None:
    rows = log_of(*((text, float(day)) for day, text in enumerate(chain.from_iterable(PROSE))))
    expected = changes_of_state(rows, "observe/5")
    assert set(changes_of_state(rows[list(order)], "observe/5")) == set(expected)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    told_prose(text)
    prose_between(f"Let me fix {text}", f"Fixed {text}")
    said((f"Adding {text}, and fixing {text}.", 0), ("Here is what was done:", 1), (f"`a` – {text}", 1))
