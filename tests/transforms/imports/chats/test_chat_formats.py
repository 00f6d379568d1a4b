"""What conversations of other programs make: each answer under its own prompt, and nothing that nobody said."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import chat_records as made_up
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_rows import delivered, interactions, left_out, outcomes, refused, rows
from odd_values import spoiled

from slowwave.flows.imports.sources import SOURCES
from slowwave.transforms.imports.chats.chat_log import ChatLog
from slowwave.transforms.imports.chats.coding_agents import ATIF, COPILOT_CLI, GEMINI_CLI, OPENCODE
from slowwave.transforms.imports.chats.cursor import CURSOR
from slowwave.transforms.imports.chats.web_exports import CHATGPT, CLAUDE_AI

Records = Callable[[], list[dict[str, Any]]]
FORMATS: list[tuple[ChatLog, Records]] = [
    (CHATGPT, made_up.chatgpt),
    (CLAUDE_AI, made_up.claude_ai),
    (GEMINI_CLI, made_up.gemini_cli),
    (GEMINI_CLI, made_up.gemini_cli_whole),
    (COPILOT_CLI, made_up.copilot_cli),
    (OPENCODE, made_up.opencode),
    (ATIF, made_up.atif),
    (CURSOR, made_up.cursor),
]
of_each = pytest.mark.parametrize(("chats", "records"), FORMATS, ids=[records.__name__ for _, records in FORMATS])


@of_each
def test_each_answer_stands_under_its_own_prompt(chats: ChatLog, records: Records) -> None:
    found = interactions(chats, records())
    assert [(row["prompt"], row["response"]) for row in found] == [
        (made_up.FIRST, made_up.ANSWER),
        (made_up.SECOND, made_up.LATER),
    ]
    assert len({row["interaction_id"] for row in found}) == 2
    assert {row["session_id"] for row in found} == {"ses_1" if chats is OPENCODE else "s-1"}
    assert found[0]["created_at"] < found[0]["recorded_at"] < found[1]["created_at"]


@of_each
def test_a_repeated_record_changes_nothing(chats: ChatLog, records: Records) -> None:
    once = records()
    again = [record for record in once for _ in range(2)] if len(once) > 1 else once
    assert {row["interaction_id"]: row for row in delivered(chats, again) if "prompt" in row} == {
        row["interaction_id"]: row for row in delivered(chats, once) if "prompt" in row
    }


@of_each
def test_no_other_importer_takes_it(chats: ChatLog, records: Records) -> None:
    claims = [source.name for source in SOURCES if source.adapter.detect_producer(records())]
    assert claims == [chats.name]


@pytest.mark.parametrize("chats", [CURSOR, GEMINI_CLI, COPILOT_CLI, OPENCODE, ATIF], ids=lambda one: one.name)
def test_what_commands_printed_gives_outcomes_and_stands_in_no_row(chats: ChatLog) -> None:
    records = next(records for each, records in FORMATS if each is chats)()
    (outcome,) = outcomes(chats, records)
    assert outcome["success"] is True
    assert outcome["interaction_id"] == interactions(chats, records)[0]["interaction_id"]
    assert made_up.PRINTED not in str(rows(chats, records))


def test_tokens_and_models_are_those_of_the_answers() -> None:
    for chats, records in FORMATS:
        first = interactions(chats, records())[0]
        if chats in (CHATGPT, CLAUDE_AI):
            assert "tokens" not in first
        else:
            assert first["tokens"] == 30, chats.name


def test_of_a_tree_only_the_branch_counts_that_was_seen_last() -> None:
    assert left_out(CHATGPT, made_up.chatgpt())["a message on a branch that the person left"] == 1
    (conversation,) = made_up.chatgpt()
    conversation["current_node"] = "left"
    (row,) = interactions(CHATGPT, [conversation])
    assert (row["prompt"], row["response"]) == (made_up.FIRST, "I do not know.")


def test_of_answers_made_again_only_that_counts_that_was_seen_last() -> None:
    (conversation,) = made_up.claude_ai()
    messages = conversation["chat_messages"]
    root = "00000000-0000-4000-8000-000000000000"
    for message, before in zip(messages, [{"uuid": root}, *messages], strict=False):
        message["parent_message_uuid"] = before["uuid"]
    dropped = messages[1] | {"uuid": "x", "text": "Never.", "content": [{"type": "text", "text": "Never."}]}
    messages.insert(1, dropped)
    assert [row["response"] for row in interactions(CLAUDE_AI, [conversation])] == [made_up.ANSWER, made_up.LATER]
    assert left_out(CLAUDE_AI, [conversation]) == {"a message on a branch that the person left": 1}
    conversation["current_leaf_message_uuid"] = "x"
    assert [row["response"] for row in interactions(CLAUDE_AI, [conversation])] == ["Never."]


def test_what_cannot_be_shown_is_no_answer() -> None:
    (conversation,) = made_up.claude_ai()
    conversation["chat_messages"][-1] |= {"text": "Not supported here.", "content": [{"type": "tool_use", "name": "a"}]}
    assert "response" not in interactions(CLAUDE_AI, [conversation])[-1]


def test_a_session_that_is_written_again_when_it_is_resumed_has_each_turn_once() -> None:
    lines = made_up.gemini_cli()
    later = {"id": "z1", "timestamp": made_up.at(38), "type": "user", "content": "And?"}
    answer = {"id": "z2", "timestamp": made_up.at(39), "type": "gemini", "content": "Done."}
    once = interactions(GEMINI_CLI, [*lines, later, answer])
    assert interactions(GEMINI_CLI, [*lines, *lines, later, answer]) == once
    assert [row["response"] for row in once] == [made_up.ANSWER, made_up.LATER, "Done."]


def test_a_cancelled_request_is_interrupted() -> None:
    info = {"id": "z1", "timestamp": made_up.at(38), "type": "info", "content": "Request cancelled."}
    assert interactions(GEMINI_CLI, [*made_up.gemini_cli(), info])[-1]["ended"] == "interrupted"


def test_a_prompt_of_files_alone_keeps_its_answer() -> None:
    lines = made_up.gemini_cli()
    next(line for line in lines if line.get("type") == "user")["content"] = [{"inlineData": {"mimeType": "image/png"}}]
    first = interactions(GEMINI_CLI, lines)[0]
    assert (first["prompt"], first["response"]) == ("[attachment]", made_up.ANSWER)
    events = made_up.copilot_cli()
    next(event for event in events if event["type"] == "user.message")["data"] = {"content": "", "attachments": [{}]}
    assert interactions(COPILOT_CLI, events)[0]["prompt"] == "[attachment]"


def test_what_subagents_do_is_not_the_persons() -> None:
    events = made_up.copilot_cli()
    said = {"type": "assistant.message", "id": "z", "timestamp": made_up.at(38)}
    inner = {"content": "Inner.", "parentToolCallId": "t-1", "outputTokens": 7}
    assert delivered(COPILOT_CLI, [*events, said | {"data": inner}]) == delivered(COPILOT_CLI, events)


def _opencode_message(name: str, role: str, text: str, **info: object) -> dict[str, Any]:
    times = {"created": 1_772_900_900_000 + int(name[1:])}
    return {"info": {"id": name, "role": role, "time": times, **info}, "parts": [{"type": "text", "text": text}]}


def test_a_queued_prompt_has_the_answer_that_names_it() -> None:
    (session,) = made_up.opencode()
    session["messages"] += [
        _opencode_message("m91", "user", "Next?"),
        _opencode_message("m92", "user", "Queued?"),
        _opencode_message("m93", "assistant", "To the next.", parentID="m91"),
        _opencode_message("m94", "assistant", "To the queued.", parentID="m92"),
    ]
    found = [(row["prompt"], row.get("response")) for row in interactions(OPENCODE, [session])[-2:]]
    assert found == [("Next?", "To the next."), ("Queued?", "To the queued.")]


def test_summaries_and_what_the_person_took_back_are_no_turns() -> None:
    (session,) = made_up.opencode()
    before = delivered(OPENCODE, [session])
    asks = _opencode_message("m91", "user", "") | {"parts": [{"type": "compaction"}]}
    session["messages"] += [asks, _opencode_message("m92", "assistant", "SUMMARY", summary=True, parentID="m91")]
    assert delivered(OPENCODE, [session]) == before
    session["messages"] += [_opencode_message("m93", "user", "Wrong."), _opencode_message("m94", "assistant", "Yes.")]
    session["info"]["revert"] = {"messageID": "m93"}
    assert delivered(OPENCODE, [session]) == before
    assert left_out(OPENCODE, [session])["a message that the person took back"] == 2


def test_answers_to_what_the_client_asked_stand_under_no_prompt() -> None:
    (session,) = made_up.opencode()
    before = delivered(OPENCODE, [session])
    ran = _opencode_message("m91", "user", "") | {"parts": [{"type": "text", "text": "It ran.", "synthetic": True}]}
    session["messages"] += [ran, _opencode_message("m92", "assistant", "1 failed", parentID="m91")]
    assert delivered(OPENCODE, [session]) == before
    (conversation,) = made_up.chatgpt()
    expected = interactions(CHATGPT, [conversation])
    hidden = {"is_visually_hidden_from_conversation": True}
    last = conversation["current_node"]
    for name, role, parent, metadata in [("h1", "user", last, hidden), ("h2", "assistant", "h1", {})]:
        content = {"content_type": "text", "parts": ["Daily."]}
        message = {"id": name, "author": {"role": role}, "content": content, "metadata": metadata, "create_time": 2e9}
        conversation["mapping"][name] = {"id": name, "parent": parent, "children": [], "message": message}
    conversation["current_node"] = "h2"
    assert interactions(CHATGPT, [conversation]) == expected


def test_a_message_that_a_database_lacks_ends_the_turn() -> None:
    (conversation,) = made_up.cursor()
    expected = interactions(CURSOR, [conversation])
    answer = {"bubbleId": "z", "type": 2, "text": "To what is lost.", "createdAt": made_up.at(39)}
    conversation["bubbles"] += [{"bubbleId": "y", "type": 1}, answer]
    assert interactions(CURSOR, [conversation]) == expected
    assert left_out(CURSOR, [conversation]) == {
        "a message that the database names and does not hold": 1,
        "an answer without its prompt": 1,
    }


def test_a_tree_that_goes_round_ends() -> None:
    (conversation,) = made_up.chatgpt()
    conversation["mapping"]["root"]["parent"] = "g"
    assert len(interactions(CHATGPT, [conversation])) == 2


def test_what_an_agent_asked_is_no_prompt() -> None:
    head, *lines = made_up.gemini_cli()
    assert interactions(GEMINI_CLI, [head | {"kind": "subagent"}, *lines]) == []
    (session,) = made_up.opencode()
    session["info"]["parentID"] = "ses_0"
    assert interactions(OPENCODE, [session]) == []


def test_a_turn_without_any_time_is_refused() -> None:
    stream = [record for record in made_up.cursor_stream() if record["type"] != "tool_call"]
    assert refused(CURSOR, stream) == ["a prompt of cursor without a time"]
    (trajectory,) = made_up.atif()
    for step in trajectory["steps"]:
        step.pop("timestamp", None)
    assert refused(ATIF, [trajectory]) == ["a prompt of atif without a time"] * 2


def test_a_stream_of_cursor_has_the_time_of_its_first_call() -> None:
    (row,) = interactions(CURSOR, made_up.cursor_stream())
    assert (row["prompt"], row["response"]) == (made_up.FIRST, made_up.ANSWER)
    assert row["created_at"] == "2026-03-07T16:13:21Z"
    assert row["project"] == "shop"


def test_of_an_answer_in_parts_the_whole_counts_and_the_parts_tell_when() -> None:
    head, user, *_ = [record for record in made_up.cursor_stream() if record["type"] in {"system", "user"}]
    said = {"type": "assistant", "session_id": head["session_id"]}

    def answer(text: str, **more: object) -> dict[str, Any]:
        return said | {"message": {"content": [{"type": "text", "text": text}]}} | more

    start = made_up.START_MS
    parts = [answer("It lis", timestamp_ms=start), answer("tens.", timestamp_ms=start + 1000)]
    looked = answer("I look.", timestamp_ms=start + 2000, model_call_id="c-1")
    (row,) = interactions(CURSOR, [head, user, *parts, looked, answer("It listens.")])
    assert (row["response"], row["created_at"]) == ("I look.\n\nIt listens.", "2026-03-07T16:13:20Z")


def test_the_same_words_twice_in_a_stream_are_two_turns() -> None:
    once = made_up.cursor_stream()
    later = [
        record | {"call_id": "later", "timestamp_ms": record["timestamp_ms"] + 60_000}
        if record["type"] == "tool_call"
        else record
        for record in once
    ]
    first, second = interactions(CURSOR, [*once, *later])
    assert first["prompt"] == second["prompt"]
    assert first["interaction_id"] == interactions(CURSOR, once)[0]["interaction_id"]
    assert second["interaction_id"] == interactions(CURSOR, later)[0]["interaction_id"] != first["interaction_id"]


def test_a_picture_without_a_text_is_a_prompt() -> None:
    (conversation,) = made_up.claude_ai()
    conversation["chat_messages"][0] |= {"text": "", "content": [], "files": [{"file_name": "a.png"}]}
    assert interactions(CLAUDE_AI, [conversation])[0]["prompt"] == "[attachment]"


@of_each
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.02, 0.1, 0.3]))
def test_odd_values_anywhere_end_no_import(chats: ChatLog, records: Records, seed: int, share: float) -> None:
    random_ = random.Random(seed)
    odd = [spoiled(record, random_, share) for record in records()]
    for row in delivered(chats, [record for record in odd if isinstance(record, dict)]):
        assert row["provenance"]["adapter"] == chats.name
