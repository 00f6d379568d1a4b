"""Subagents of Claude Code: in files of their own, or within the session's."""

from __future__ import annotations

from typing import Any

import pytest
from claude_code_records import Session
from made_rows import interactions, left_out, rows

from slowwave.transforms.imports.claude_code import AGENT_METADATA, ClaudeCode

CLAUDE = ClaudeCode()


def subagent(prefix: str = "s-1", **fields: Any) -> Session:
    return Session(prefix, isSidechain=True, agentId="a1", **fields)


def test_a_subagent_has_interactions_of_its_own_in_its_parents_session() -> None:
    agent = subagent()
    agent.user("Find the queue.", promptId="p-1")
    agent.say("In queue.py.", stop="end_turn", attributionAgent="Explore")
    (row,) = rows(CLAUDE, agent.records)
    assert {name: row[name] for name in ("agent", "session_id", "agent_id", "prompt", "response", "prompt_id")} == {
        "agent": "Explore", "session_id": "s-1", "agent_id": "a1", "prompt": "Find the queue.",
        "response": "In queue.py.", "prompt_id": "p-1",
    }  # fmt: skip


def test_what_stands_beside_a_transcript_says_which_agent_it_is() -> None:
    agent = subagent()
    agent.user("Find the queue.")
    agent.say("In queue.py.", stop="end_turn")
    beside = {"type": AGENT_METADATA, "agentType": "general-purpose", "description": "find"}
    assert [row["agent"] for row in rows(CLAUDE, [beside, *agent.records])] == ["general-purpose"]
    assert [row["agent"] for row in rows(CLAUDE, agent.records)] == ["subagent"]


def test_a_warm_up_is_left_out_with_its_answer() -> None:
    agent = subagent()
    agent.user("Warmup")
    agent.say("I am ready.", stop="end_turn")
    assert rows(CLAUDE, agent.records) == []
    assert left_out(CLAUDE, agent.records) == {"a warm-up of a subagent": 2}


@pytest.mark.parametrize("agent_id", ["acompact-7aad72", "aprompt_suggestion-33a4cf", "aside_question-1"])
def test_work_that_the_client_does_for_itself_is_left_out(agent_id: str) -> None:
    agent = Session("s-1", isSidechain=True, agentId=agent_id)
    agent.turn("Summarise all of it.", "Summary.")
    assert rows(CLAUDE, agent.records) == []
    assert left_out(CLAUDE, agent.records)["work of the client's own subagents"] == len(agent.records)


def test_a_subagent_within_the_sessions_transcript_is_told_apart() -> None:
    session = Session()
    asked = session.user("Plan it.")
    session.call("c-1", "Task", prompt="Read the docs.", subagent_type="Plan")
    main_tip = session.last
    for number, prompt in enumerate(("Read the docs.", "Read the tests.")):
        session.last = None
        session.user(prompt, isSidechain=True)
        session.say(f"Read {number}.", stop="end_turn", isSidechain=True)
    session.last = main_tip
    session.result("c-1", "Read 0.")
    session.say("The plan.", stop="end_turn")
    found = {row["prompt"]: row for row in interactions(CLAUDE, session.records)}
    assert found["Plan it."]["response"] == "The plan."
    assert [found[prompt]["response"] for prompt in ("Read the docs.", "Read the tests.")] == ["Read 0.", "Read 1."]
    assert found["Read the docs."]["parent_interaction"] == f"claude-code:{asked}"
    assert found["Plan it."]["tokens"] == 2 * 135
    assert found["Read the docs."]["agent"] == "Plan"


def test_what_was_written_down_as_progress_is_the_subagents_work() -> None:
    session = Session()
    session.user("Plan it.")
    session.call("c-1", "Task", prompt="Read the docs.", subagent_type="Plan")
    inner = subagent("inner")
    inner.user([{"type": "text", "text": "Read the docs."}])
    inner.say({"type": "tool_use", "id": "c-9", "name": "Read", "input": {"file_path": "a.md"}}, output=7)
    for record in inner.records:
        message = {name: record[name] for name in ("type", "message", "uuid", "timestamp")}
        data = {"type": "agent_progress", "agentId": "a1", "prompt": "Read the docs.", "message": message}
        session.add("progress", data=data, parentToolUseID="c-1", toolUseID="agent_1")
    session.result("c-1", "Read.")
    session.say("The plan.", stop="end_turn")
    found = {row["prompt"]: row for row in interactions(CLAUDE, session.records)}
    assert (found["Read the docs."]["agent"], found["Read the docs."]["tokens"]) == ("Plan", 132)
    assert found["Plan it."]["response"] == "The plan."
    again = [*session.records, *(record | {"uuid": f"again-{record['uuid']}"} for record in session.records)]
    assert left_out(CLAUDE, again)["a copy of a record above it"] == len(inner.records) + 3
