"""What statements claim, and what changes between them."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain

import polars as pl
from each import each
from hypothesis import given
from hypothesis import strategies as st
from state_change_log import ALIKE, CHANGES, DECLARED, IN_PROSE, TICKED, UNDECLARED

from slowwave.transforms.observations.states.changes import (
    StateChange,
    Stated,
    change_between,
    changes_of_state,
    state_changes,
    stated_change,
    states_something,
)
from slowwave.transforms.observations.states.claims import claims

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
    """The changes between texts, each said on a day."""
    return changes_of_state(log_of(*texts))


@each(("before", "after"), [*CHANGES, *TICKED])
def test_what_changed_is_told(before: str, after: str) -> None:
    (change,) = said((before, 0), (after, 60))
    assert (change.earlier, change.later) == (0, 1)
    assert change.subject
    assert change.before != change.after
    assert change_between(before, after) == change


@each(("before", "after"), ALIKE)
def test_what_is_only_alike_is_no_change(before: str, after: str) -> None:
    assert said((before, 0), (after, 60)) == []
    assert change_between(before, after) is None


@each(("before", "after"), IN_PROSE)
def test_what_prose_tells_is_left_to_a_language_model(before: str, after: str) -> None:
    assert said((before, 0), (after, 20)) == []


@each(("before", "after"), [*CHANGES, *TICKED])
def test_what_was_said_at_one_time_or_before_is_no_later_state(before: str, after: str) -> None:
    assert [one for one in said((before, 0), (after, 0)) if one.earlier is not None] == []
    assert (0, 1) not in {(one.earlier, one.later) for one in said((before, 20), (after, 0))}


def test_a_whole_log_tells_each_of_its_changes_once() -> None:
    pairs = (*CHANGES, *TICKED, *ALIKE, *IN_PROSE)
    texts = [pair for day, (a, b) in enumerate(pairs) for pair in ((a, day), (b, day + 90))]
    found = {(one.earlier, one.later) for one in said(*texts)}
    assert found == {(2 * number, 2 * number + 1) for number in range(len(CHANGES) + len(TICKED))}


def test_subject_and_attribute_and_both_values_are_named() -> None:
    (port,) = said(("The gateway listens on port 7443", 0), ("The gateway now listens on port 9443", 3))
    assert port.reason == "The gateway listens on: port 7443, then port 9443"
    told = stated_change("The team switched from Jenkins to Buildkite for builds")
    assert told is not None
    assert (told.subject, told.attribute, told.before, told.after) == ("The team", "switched", "Jenkins", "Buildkite")
    (item,) = said(("[ ] Draw the tide tables", 0), ("[x] Draw the tide tables", 3))
    assert item.reason == "Draw the tide tables: open, then done"


@each(
    ("text", "before", "after"),
    [
        *DECLARED,
        ("We switched to pnpm from npm", "npm", "pnpm"),
        ("Renamed load_rows to read_rows", "load_rows", "read_rows"),
        ("Now the old helper is unused", "used", "unused"),
        ("The flag is now deprecated", "not deprecated", "deprecated"),
        ("The mailer was replaced by the courier", "The mailer", "the courier"),
        ("The default was 8, but it is now 16", "8", "16"),
    ],
)
def test_one_statement_tells_both(text: str, before: str, after: str) -> None:
    told = stated_change(text)
    assert told is not None
    assert (told.earlier, told.before, told.after) == (None, before, after)
    assert said((text, 0)) == [told]


@each(
    "text",
    [
        *UNDECLARED,
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
    assert said((text, 0)) == []


@each(
    ("before", "after", "values"),
    [
        ("Import of the parser: red", "Import of the parser: green", ("red", "green")),
        ("Marta lives in Porto", "Marta moved to Ghent", ("Porto", "Ghent")),
    ],
)
def test_a_label_and_a_move_name_a_value(before: str, after: str, values: tuple[str, str]) -> None:
    (change,) = said((before, 0), (after, 9))
    assert (change.earlier, change.before, change.after) == (0, *values)


def test_what_a_value_already_tells_is_not_declared_again() -> None:
    found = said(("The timeout is 10 s", 0), ("The timeout is 30 s (was 10 s)", 5))
    assert [(one.earlier, one.later) for one in found] == [(0, 1)]


def test_an_item_ticked_off_is_news_once() -> None:
    item = "Draw the tide tables"
    found = said((f"[ ] {item}", 0), (f"[⚡] {item}", 1), (f"[X] {item}", 2), (f"✅ {item}", 3))
    assert [(one.earlier, one.later) for one in found] == [(1, 2)]


def test_a_number_far_from_the_last_counts_something_else() -> None:
    day = [("All 397 tests pass", 0.0), ("All 59 tests pass", 0.1), ("All 72 tests pass", 0.2)]
    found = said(*day, ("All 410 tests pass", 0.3))
    assert [(one.earlier, one.later) for one in found] == [(1, 2), (0, 3)]


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
    "→",
    "[x]",
    ":",
    ",",
]


def test_a_clause_may_end_with_its_verb() -> None:
    assert claims("The parser does not have") == ()
    assert claims("Ana has to") == ()


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=5)), max_size=12))
def test_any_text_can_be_asked(parts: list[str]) -> None:
    text = " ".join(parts)
    assert isinstance(claims(text), tuple)
    stated_change(text)
    change_between(f"[ ] {text}", f"[x] {text}")


@given(st.permutations(range(2 * len((*CHANGES, *TICKED, *ALIKE)))))
def test_the_order_of_statements_does_not_matter(order: Sequence[int]) -> None:
    rows = log_of(*((text, float(day)) for day, text in enumerate(chain.from_iterable((*CHANGES, *TICKED, *ALIKE)))))
    assert changes_of_state(rows[list(order)]) == changes_of_state(rows)


def test_candidates_keep_all_that_is_found() -> None:
    texts = [text for pair in (*CHANGES, *TICKED, *ALIKE) for text in pair if states_something(text)]
    texts += [text for text, _, _ in DECLARED]
    times = [START + timedelta(days=day) for day in range(len(texts))]
    every = state_changes(
        Stated(number, 0, at, at, text) for number, (text, at) in enumerate(zip(texts, times, strict=True))
    )
    found = said(*((text, float(day)) for day, text in enumerate(texts)))
    assert {(one.earlier, one.later) for one in every} == {(one.earlier, one.later) for one in found}
