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
from slowwave.transforms.imports.chats.atif import ATIF
from slowwave.transforms.imports.chats.chat_log import ChatLog
from slowwave.transforms.imports.chats.chatgpt import CHATGPT
from slowwave.transforms.imports.chats.claude_ai import CLAUDE_AI
from slowwave.transforms.imports.chats.copilot_cli import COPILOT_CLI
from slowwave.transforms.imports.chats.cursor import CURSOR
from slowwave.transforms.imports.chats.gemini_cli import GEMINI_CLI
from slowwave.transforms.imports.chats.opencode import OPENCODE

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
    claims = [source.name for source in SOURCES if source.adapter.detected(records())]
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
