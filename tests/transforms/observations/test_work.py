"""What notes of work tell: items ticked off, steps carried out once, runs that went otherwise."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain

import polars as pl
from each import each
from hypothesis import given
from hypothesis import strategies as st
from state_change_log import ALIKE, CHANGES
from turned_log import STEADY, TOLD, TURNED, UNTOLD
from worked_log import LEFT, TOLD_SINCE, UNTOLD_STILL, WORKED

from slowwave.transforms.observations.groups import changes_of_state
from slowwave.transforms.observations.states.changes import StateChange
from slowwave.transforms.observations.work.changes import told_work, work_between

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


def said(*texts: tuple[str, float], method: str = "observe/4") -> list[StateChange]:
    return changes_of_state(log_of(*texts), method)


@each(("before", "after"), [*WORKED, *TURNED, *CHANGES])
def test_what_came_of_it_is_told(before: str, after: str) -> None:
    found = [one for one in said((before, 0), (after, 20)) if one.earlier is not None]
    assert [(one.earlier, one.later) for one in found] == [(0, 1)]


def test_the_method_before_tells_few_of_them() -> None:
    found = [said((before, 0), (after, 20), method="observe/3") for before, after in WORKED]
    assert sum(any(one.earlier == 0 for one in some) for some in found) < len(WORKED) / 2


@each(("before", "after"), [*LEFT, *STEADY, *ALIKE])
def test_what_goes_no_further_is_no_change(before: str, after: str) -> None:
    assert [one for one in said((before, 0), (after, 20)) if one.earlier is not None] == []
    assert work_between(before, after) is None


@each(("text", "before", "after"), [*TOLD_SINCE, *TOLD])
def test_one_note_tells_both(text: str, before: str, after: str) -> None:
    change = told_work(text)
    assert change is not None
    assert (change.earlier, change.before, change.after) == (None, before, after)
    assert said((text, 0)) == [change]


@each("text", [*UNTOLD_STILL, *UNTOLD])
def test_what_is_meant_asked_or_an_example_is_not_told(text: str) -> None:
    assert told_work(text) is None
    assert said((text, 0)) == []


def test_a_plan_is_carried_out_once() -> None:
    found = said(
        ("Now update the tide tables of the harbour", 0),
        ("Let me update the tide tables of the harbour", 1),
        ("Updated the tide tables of the harbour", 2),
        ("The tide tables of the harbour were updated again", 3),
    )
    assert [(one.earlier, one.later) for one in found] == [(1, 2)]


def test_an_item_ticked_off_is_news_once() -> None:
    item = "Draw the tide tables"
    found = said((f"[ ] {item}", 0), (f"[⚡] {item}", 1), (f"[X] {item}", 2), (f"✅ {item}", 3))
    assert [(one.earlier, one.later) for one in found] == [(1, 2)]


@given(st.permutations(range(2 * len(WORKED))))
def test_the_order_in_which_statements_come_changes_nothing(order: Sequence[int]) -> None:
    rows = log_of(*((text, float(day)) for day, text in enumerate(chain.from_iterable(WORKED))))
    expected = changes_of_state(rows, "observe/4")
    assert set(changes_of_state(rows[list(order)], "observe/4")) == set(expected)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    told_work(text)
    work_between(f"[ ] {text}", f"[x] {text}")
    said((f"Update {text}", 0), (f"Updated {text}", 1))
