"""Going back in a session: what was asked after that is told as left behind, by later versions of its rows."""

from __future__ import annotations

from typing import Any

import pytest
from claude_code_records import Session
from hypothesis import given, settings
from hypothesis import strategies as st
from made_rows import delivered, winners

from slowwave.transforms.imports.adapter import Context
from slowwave.transforms.imports.claude_code import ClaudeCode

CLAUDE = ClaudeCode()
AT_WORK = Context(is_idle=False)


def passing(session: Session, prompt: str) -> str:
    """A turn in which the tests pass; the last record of it."""
    session.user(prompt)
    session.call(f"c-{prompt}", command="pytest -q")
    session.result(f"c-{prompt}", "3 passed in 0.12s")
    session.say(f"Done: {prompt}.", stop="end_turn")
    session.over()
    assert session.last is not None
    return session.last


def branches(records: list[dict[str, Any]]) -> dict[str, str | None]:
    won = winners(delivered(CLAUDE, records))
    return {row["prompt"]: row.get("branch") for (kind, _), row in won.items() if kind == "interaction"}


def outcomes_of(records: list[dict[str, Any]]) -> dict[str, tuple[bool, bool | None]]:
    won = winners(delivered(CLAUDE, records))
    prompts = {row["interaction_id"]: row["prompt"] for (kind, _), row in won.items() if kind == "interaction"}
    found = [row for (kind, _), row in won.items() if kind == "outcome" and row["basis_method"] == "transcript_tests/1"]
    return {prompts[row["interaction_id"]]: (row["success"], row.get("attempted")) for row in found}


def test_what_was_asked_after_the_place_gone_back_to_is_left_behind() -> None:
    session = Session()
    first = passing(session, "first")
    passing(session, "second")
    passing(session, "third")
    assert set(branches(session.records).values()) == {None}
    session.last = first
    passing(session, "other second")
    assert branches(session.records) == {
        "first": None, "second": "abandoned", "third": "abandoned", "other second": None,
    }  # fmt: skip
    assert outcomes_of(session.records) == {
        "first": (True, None), "second": (False, False), "third": (False, False), "other second": (True, None),
    }  # fmt: skip


def test_what_is_left_behind_was_no_attempt_where_nothing_else_says_how_it_went() -> None:
    session = Session()
    first = passing(session, "first")
    session.turn("second", "Done.")
    session.last = first
    session.turn("other second", "Done.")
    won = winners(delivered(CLAUDE, session.records))
    second = next(row for row in won.values() if row.get("prompt") == "second")
    told = [row for (kind, _), row in won.items() if kind == "outcome"]
    (of_second,) = [row for row in told if row["interaction_id"] == second["interaction_id"]]
    assert (of_second["attempted"], of_second["basis_method"]) == (False, "transcript_interrupt/1")


def test_coming_back_takes_it_up_again() -> None:
    session = Session()
    first = passing(session, "first")
    second = passing(session, "second")
    session.last = first
    passing(session, "other second")
    session.last = second
    passing(session, "third")
    assert branches(session.records) == {"first": None, "second": None, "other second": "abandoned", "third": None}


def test_a_record_without_a_parent_goes_back_to_nothing() -> None:
    session = Session()
    passing(session, "first")
    session.last = None
    passing(session, "second")
    session.last = "nobody knows"
    passing(session, "third")
    assert set(branches(session.records).values()) == {None}


def test_a_record_that_comes_late_leads_back_to_the_turn_it_hangs_on() -> None:
    session = Session()
    first = passing(session, "first")
    passing(session, "second")
    session.last = first
    session.add("system", subtype="away_summary")
    passing(session, "other second")
    assert branches(session.records) == {"first": None, "second": "abandoned", "other second": None}


def test_the_same_prompt_edited_at_once_is_a_rewind() -> None:
    session = Session()
    first = passing(session, "first")
    session.user("secnd")
    session.user([{"type": "text", "text": "[Request interrupted by user]"}])
    session.last = first
    passing(session, "second")
    assert branches(session.records) == {"first": None, "secnd": "abandoned", "second": None}


@pytest.mark.parametrize("then", ["an error", "an interruption"])
def test_what_was_told_of_a_turn_that_seemed_over_is_taken_back(then: str) -> None:
    session = Session()
    passing(session, "first")
    assert outcomes_of(session.records) == {"first": (True, None)}
    if then == "an error":
        session.say("API Error", isApiErrorMessage=True, error="overloaded")
    else:
        session.user([{"type": "text", "text": "[Request interrupted by user]"}])
    assert outcomes_of(session.records) == {"first": (False, False)}


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Sessions in which people go back and forth, stop the agent and go on."""
    session = Session()
    ends: list[str | None] = []
    for number in range(draw(st.integers(1, 6))):
        if ends and draw(st.booleans()):
            session.last = draw(st.sampled_from(ends))
        prompt = draw(st.sampled_from(["/clear", f"do {number}", "no, revert that", "[Request interrupted by user]"]))
        session.user(prompt)
        for call in range(draw(st.integers(0, 2))):
            session.call(f"c-{number}-{call}", command=draw(st.sampled_from(["pytest -q", "make build", "git commit"])))
            if draw(st.booleans()):
                said = draw(st.sampled_from(["3 passed in 0.12s", "1 failed in 0.12s", "Exit code 1"]))
                session.result(f"c-{number}-{call}", said, is_error="code" in said)
        if draw(st.booleans()):
            session.say("Done.", stop=draw(st.sampled_from(["end_turn", None])))
        if draw(st.booleans()):
            session.over()
        if draw(st.integers(0, 4)) == 0:
            session.say("API Error", isApiErrorMessage=True, error="overloaded")
        ends.append(session.last)
    return session


@settings(max_examples=200, deadline=None)
@given(sessions(), st.data())
def test_the_beginning_of_a_session_and_then_all_of_it_say_what_all_of_it_says(
    session: Session, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(session.records)))
    is_idle = data.draw(st.booleans())
    begun = delivered(CLAUDE, session.records[:cut], AT_WORK)
    everything = delivered(CLAUDE, session.records, Context(is_idle=is_idle))
    assert winners(begun + everything) == winners(everything)
