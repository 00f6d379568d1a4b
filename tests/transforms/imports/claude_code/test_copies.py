"""Records that repeat earlier ones under new ids, and blocks that were written in several states."""

from __future__ import annotations

from claude_code_records import Record, Session, moment
from made_rows import interactions, left_out, located, rows

from slowwave.transforms.imports.claude_code import ClaudeCode
from slowwave.transforms.imports.forks import hash_outline, owners

CLAUDE = ClaudeCode()
COPY = "a copy of a record above it"


def said(records: list[Record]) -> list[tuple[str, str | None, int]]:
    return [(row["prompt"], row.get("response"), row["tokens"]) for row in interactions(CLAUDE, records)]


def repeat(session: Session) -> None:
    """Write all records of a session again, with new ids and times."""
    for record in [*session.records]:
        fields = {name: value for name, value in record.items() if name not in ("uuid", "parentUuid", "timestamp")}
        session.add(fields.pop("type"), **fields)


def history() -> Session:
    session = Session()
    session.user("Run the tests.")
    session.call("c-1", command="make test")
    session.result("c-1", "3 passed", result={"stdout": "3 passed", "stderr": ""})
    session.say("They pass.", message_id="m-1", stop="end_turn")
    session.over(900)
    session.user("Which port?")
    session.say("4173.", message_id="m-2", stop="end_turn")
    return session


def test_a_history_that_is_repeated_before_a_prompt_makes_nothing_again() -> None:
    session = history()
    before = rows(CLAUDE, session.records)
    repeat(session)
    assert [row | {"outcomes": 0} for row in rows(CLAUDE, session.records)] == [row | {"outcomes": 0} for row in before]
    session.user("And the dev server?")
    session.say("5173.", message_id="m-3", stop="end_turn")
    assert said(session.records)[:2] == [("Run the tests.", "They pass.", 270), ("Which port?", "4173.", 135)]
    assert said(session.records)[2:] == [("And the dev server?", "5173.", 135)]
    assert "abandoned" not in str(interactions(CLAUDE, session.records))
    assert left_out(CLAUDE, session.records)[COPY] == 7 - 1  # the result of a call is compared with what it has


def test_a_prompt_that_is_asked_again_is_a_turn_of_its_own() -> None:
    session = Session()
    session.turn("Continue.", "Step 1.")
    session.turn("Continue.", "Step 2.")
    session.turn("Continue.", "Step 2.")
    session.user("Continue.")
    answers = [row.get("response") for row in interactions(CLAUDE, session.records)]
    assert answers == ["Step 1.", "Step 2.", "Step 2.", None]


def test_of_a_provider_with_one_id_for_all_messages_nothing_is_lost() -> None:
    session = Session()
    for answer in ("Step 1.", "Step 2."):
        session.user("Continue.")
        session.say(answer, message_id="msg", stop="end_turn")
    assert [row["response"] for row in interactions(CLAUDE, session.records)] == ["Step 1.", "Step 2."]


def test_the_last_state_of_a_block_counts_and_its_beginning_is_no_text_of_its_own() -> None:
    session = Session()
    session.user("Fix it.")
    session.say("I'll lo", message_id="m-1", output=1)
    session.say("I'll look at the code.", message_id="m-1", output=9)
    session.call("c-1", command="ls")
    session.result("c-1", "a.py", result={"stdout": "a.py", "stderr": ""})
    session.say("I'll look at the code.", message_id="m-2", stop="end_turn")
    (row,) = interactions(CLAUDE, session.records)
    assert row["response"] == "I'll look at the code.\n\nI'll look at the code."
    assert row["recorded_at"] == moment(6)


def test_a_repeated_history_may_finish_the_answer_that_was_cut() -> None:
    session = Session()
    session.user("Which port?")
    session.say("41", message_id="m-1")
    session.user("Which port?")
    session.say("4173.", message_id="m-1", stop="end_turn")
    (row,) = interactions(CLAUDE, session.records)
    assert (row["response"], row["recorded_at"]) == ("4173.", moment(4))


def test_a_session_that_begins_with_another_ones_history_owns_only_what_it_added() -> None:
    first = history()
    other = Session("s-2")
    other.second = 60
    other.records += [*first.records]
    repeat(other)
    other.records = [record | {"sessionId": "s-2"} for record in other.records[len(first.records) :]]
    other.turn("And the dev server?", "5173.")
    outlines = [
        hash_outline(CLAUDE.outline(lambda _, session=session: located(session.records))) for session in (first, other)
    ]
    found = owners(outlines)
    assert found.copies(outlines[0]) == frozenset()
    assert len(found.copies(outlines[1])) == 2
    assert len(outlines[1].turns) == 4  # the result of a call stands in the place of a prompt
