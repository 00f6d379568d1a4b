"""An answer stands under the prompt that it answers, or under none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from claude_code_records import Session, command
from each import each
from made_rows import delivered, interactions, left_out, outcomes, refused, winners

from slowwave.transforms.imports.adapter import Context
from slowwave.transforms.imports.claude_code import ClaudeCode
from slowwave.transforms.imports.record_values import moment_of

CLAUDE = ClaudeCode()
FAILED = "=== test session starts ===\nFAILED test_a.py::test_z - assert 1 == 2\n=== 1 failed in 0.10s ==="


def asked_and_answered(records: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(row["prompt"], row.get("response")) for row in interactions(CLAUDE, records)]


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("Nightly check of the payments service", {"promptSource": "system", "origin": {"kind": "coordinator"}}),
        ("<task-notification>done</task-notification>", {}),
        ('<teammate-message teammate_id="lead">go</teammate-message>', {}),
        ("Another Claude session sent a message:\n<teammate-message>idle</teammate-message>", {}),
        ("carry on", {"isMeta": True, "origin": {"kind": "peer"}}),
        ("<tick>", {}),
    ],
)
def test_what_a_machine_asks_ends_the_turn_of_the_person(content: str, fields: dict[str, Any]) -> None:
    session = Session()
    session.turn("Add the endpoint.", "Done.")
    session.user(content, **fields)
    session.call("c-1", command="pytest -q")
    session.result("c-1", FAILED, is_error=True)
    session.say("test_z fails.", stop="end_turn")
    session.turn("Thanks.", "Gladly.")
    assert asked_and_answered(session.records) == [("Add the endpoint.", "Done."), ("Thanks.", "Gladly.")]
    assert outcomes(CLAUDE, session.records) == []


@pytest.mark.parametrize("lost", ["uuid", "timestamp"])
def test_a_prompt_that_is_refused_takes_its_answer_with_it(lost: str) -> None:
    session = Session()
    session.turn("Say hello.", "Hello.")
    session.turn("Drop the table.", "Dropped the table orders_old.")
    prompt = next(one for one in session.records if one.get("message", {}).get("content") == "Drop the table.")
    prompt.pop(lost)
    assert asked_and_answered(session.records) == [("Say hello.", "Hello.")]
    assert len(refused(CLAUDE, session.records)) == 1
    assert left_out(CLAUDE, session.records)["an answer without its prompt"] == 1


def test_an_answer_to_a_record_that_is_not_there_is_none_to_the_prompt_before() -> None:
    session = Session()
    session.turn("Say hello.", "Hello.")
    session.turn("Drop the table.", "Dropped the table orders_old.")
    cut = [one for one in session.records if one.get("message", {}).get("content") != "Drop the table."]
    assert asked_and_answered(cut) == [("Say hello.", "Hello.")]


def test_a_turn_goes_on_behind_a_result_that_could_not_be_read() -> None:
    session = Session()
    session.user("Run it.")
    session.call("c-1", command="make")
    session.result("c-1", "ok")
    session.say("It ran.", stop="end_turn")
    cut = [one for one in session.records if "tool_result" not in str(one.get("message"))]
    assert asked_and_answered(cut) == [("Run it.", "It ran.")]


def test_of_two_turns_the_one_is_interrupted_that_the_record_names() -> None:
    session = Session()
    session.user("First.")
    session.say("On it.", message_id="api-1")
    first = session.last
    session.user("Second, which was queued.", promptSource="queued")
    session.add(
        "user",
        message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
        interruptedMessageId="api-1",
        parentUuid=first,
    )
    session.say("The second is done.", stop="end_turn")
    rows = {row["prompt"]: row for row in winners(delivered(CLAUDE, session.records)).values() if "prompt" in row}
    assert rows["First."]["ended"] == "interrupted"
    assert "ended" not in rows["Second, which was queued."]
    assert rows["Second, which was queued."]["response"] == "The second is done."


def test_a_person_in_a_channel_is_a_person() -> None:
    session = Session()
    text = '<channel source="plugin:telegram:telegram" chat_id="1" user="dev">Is the deploy done?</channel>'
    session.user(text, isMeta=True, origin={"kind": "channel", "server": "plugin:telegram:telegram"})
    session.say("Yes.", stop="end_turn")
    (row,) = interactions(CLAUDE, session.records)
    assert (row["prompt"], row["response"]) == ("Is the deploy done?", "Yes.")
    assert row["client"] == "claude-code/2.1.38 (plugin:telegram:telegram)"


@each("said", [True, False])
@each("name", ["compact", "effort", "add-dir", "model", "resume"])
def test_commands_of_the_client_with_arguments_are_no_prompts(name: str, *, said: bool) -> None:
    session = Session()
    session.user(command(name, "high"))
    if said:
        session.user(f"<local-command-stdout>done {name}</local-command-stdout>")
    session.turn("Go on.", "Going on.")
    assert asked_and_answered(session.records) == [("Go on.", "Going on.")]


def test_a_command_of_the_persons_own_is_a_prompt_also_before_it_is_answered() -> None:
    session = Session()
    session.user(command("shop:plan", "the checkout"))
    session.turn("And now?", "Now the tests.")
    assert asked_and_answered(session.records) == [("the checkout", None), ("And now?", "Now the tests.")]


def test_a_command_that_prints_something_is_the_clients_whatever_it_is_called() -> None:
    session = Session()
    session.user(command("a-new-one", "with arguments"))
    session.user("<local-command-stdout>ok</local-command-stdout>")
    session.turn("Go on.", "Going on.")
    assert asked_and_answered(session.records) == [("Go on.", "Going on.")]


def test_a_picture_without_a_text_is_a_prompt() -> None:
    session = Session()
    session.user([{"type": "image", "source": {"data": "QUJD"}}])
    session.say("A cat.", stop="end_turn")
    assert asked_and_answered(session.records) == [("[image]", "A cat.")]


def test_in_a_fresh_copy_of_an_old_transcript_the_last_turn_is_over() -> None:
    session = Session()
    session.user("Do it.")
    session.say("I begin.")
    ended = moment_of(session.records[-1]["timestamp"])
    assert ended is not None
    waits = Context(is_idle=False, rested_before=ended)
    over = Context(is_idle=False, rested_before=ended + timedelta(microseconds=1))
    assert interactions(CLAUDE, session.records, waits) == []
    assert [row["response"] for row in interactions(CLAUDE, session.records, over)] == ["I begin."]
