"""Whatever stands in a field of a transcript: it is a row or a reason, never the end of the import."""

from __future__ import annotations

import random

import orjson
from claude_code_records import Session, command
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from made_rows import located, made
from odd_values import spoiled
from pi_entries import PiSession
from thorough import examples

from slowwave.transforms.imports.claude_code import ClaudeCode
from slowwave.transforms.imports.delivery_lines import Tally, delivery_lines
from slowwave.transforms.imports.pi import Pi


def of_claude_code() -> Session:
    """A session with all that one can have."""
    session = Session()
    rules = {"path": "/srv/shop/CLAUDE.md", "type": "Project", "content": "# Rules\n\nUse tabs.\n"}
    session.attach("instructions", files=[rules])
    first = session.user([{"type": "text", "text": "Go."}, {"type": "image", "source": {"data": "QUJD"}}])
    session.attach("nested_memory", path="/srv/shop/web/CLAUDE.md", content=rules)
    session.attach("relevant_memories", memories=[rules])
    session.attach("queued_command", prompt="And on.", commandMode="prompt")
    session.call("c-1", command="pytest -q")
    session.result("c-1", "3 passed in 0.12s", result={"stdout": "3 passed", "interrupted": False})
    session.call("c-2", "Read", file_path="/home/ann/.claude/CLAUDE.md")
    session.result("c-2", "     1\u2192x", result={"file": {"content": "x"}})
    session.call("c-3", "Task", subagent_type="Plan", prompt="Plan.")
    inner = {"type": "user", "uuid": "i-1", "message": {"role": "user", "content": [{"type": "text", "text": "Plan."}]}}
    data = {"type": "agent_progress", "agentId": "a1", "message": inner}
    session.add("progress", data=data, parentToolUseID="c-3")
    session.result("c-3", "denied", is_error=True, toolDenialKind="user-rejected")
    session.say("Gone.", stop="end_turn", attributionAgent="x")
    session.over()
    session.user(command("plan", "it"), forkedFrom={"sessionId": "s-0", "messageUuid": "m-0"})
    session.say("API Error", isApiErrorMessage=True, error="overloaded")
    session.last = first
    session.user("Other.", isSidechain=True)
    session.raw(type="agent_metadata", agentType="x")
    session.raw(type="summary", leafUuid="x")
    return session


def of_pi() -> PiSession:
    """A session with all that one can have."""
    session = PiSession("s-1", parentSession="2026_0190aaaa-0000-7000-8000-000000000001.jsonl")
    session.user("Go.")
    session.failed()
    session.user("Go.")
    session.call("c-1", "memory_search", "x", details={"results": [{"path": "MEMORY.md", "startLine": 1, "score": 1}]})
    session.call("c-2", "memory_get", "x", **{"path": "MEMORY.md", "from": 1})
    session.call("c-3", "exec", "3 passed in 0.12s", details={"exitCode": 0}, command="pytest -q")
    first = session.last
    session.say("Gone.")
    session.turn("More.", "Done.")
    session.last = first
    session.entry("branch_summary", summary="x")
    session.turn("Other.", "Done.")
    return session


@given(st.integers(0, 2**32), st.sampled_from([0.01, 0.03, 0.1]))
@given_settings(max_examples=examples(150, 1500), deadline=None)
def test_odd_values_of_transcripts(seed: int, share: float) -> None:
    random_ = random.Random(seed)
    for adapter, records in ((ClaudeCode(), of_claude_code().records), (Pi(), of_pi().records)):
        told = [one for one in (spoiled(record, random_, share) for record in records) if isinstance(one, dict)]
        if seed % 2:
            random_.shuffle(told)
        adapter.detect_producer(told)
        adapter.outline(lambda _, told=told: located(told))
        lines = [*delivery_lines(made(adapter, told), adapter, Tally())]
        assert all(isinstance(orjson.loads(line.text), dict) for line in lines)
