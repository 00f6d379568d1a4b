"""Rollouts of Codex, made up after what is published of both generations of the format: no client wrote them.

Times are seconds after an hour, ids are version 7 as Codex draws them, so that they tell their time too.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

Record = dict[str, Any]
_HOUR = datetime(2026, 5, 4, 10, tzinfo=UTC)


def at(seconds: float) -> str:
    """A time as lines have it."""
    return (_HOUR + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def epoch(seconds: float) -> int:
    """A time as ends of turns have it."""
    return int((_HOUR + timedelta(seconds=seconds)).timestamp())


def drawn_id(seconds: float, number: int = 0) -> str:
    """An id that was drawn then."""
    head = f"{int((_HOUR + timedelta(seconds=seconds)).timestamp() * 1000):012x}"
    return f"{head[:8]}-{head[8:]}-7{number:03x}-8000-00000000{number:04x}"


def line(seconds: float, kind: str, **payload: Any) -> Record:
    """One record."""
    return {"timestamp": at(seconds), "type": kind, "payload": payload}


def event(seconds: float, kind: str, **payload: Any) -> Record:
    """An event."""
    return line(seconds, "event_msg", type=kind, **payload)


def given(seconds: float, role: str, *texts: str, **more: Any) -> Record:
    """A message as the model was given it, or gave it."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return line(seconds, "response_item", type="message", role=role, content=content, **more)


def meta(seconds: float, thread_id: str, version: str, **more: Any) -> Record:
    """The head of a rollout."""
    payload = {
        "id": thread_id,
        "timestamp": at(seconds),
        "cwd": "/home/ann/work/ledger",
        "originator": "codex_cli_rs",
        "cli_version": version,
        "source": "cli",
        "git": {"branch": "totals"},
    }
    return line(seconds, "session_meta", **(payload | more))


# ------------------------------------------------------------------------------------------ the earlier generation


def legacy_turn(seconds: float, turn_id: str, prompt: str, answer: str, *calls: Record, **ends: Any) -> list[Record]:
    """A turn of the earlier generation: everything twice, as an event and as the model had it."""
    started = {"turn_id": turn_id, "started_at": epoch(seconds)} if turn_id else {}
    ended = {"turn_id": turn_id, "completed_at": epoch(seconds + 30), "duration_ms": 30_000} if turn_id else {}
    return [
        event(seconds, "task_started", model_context_window=200_000, **started),
        line(seconds, "turn_context", cwd="/home/ann/work/ledger", model="gpt-5.2-codex", turn_id=turn_id),
        given(seconds, "user", "<environment_context>\n  <cwd>/home/ann/work/ledger</cwd>\n</environment_context>"),
        given(seconds, "user", prompt),
        event(seconds, "user_message", message=prompt, images=[]),
        *calls,
        event(seconds + 29, "agent_message", message=answer),
        given(seconds + 29, "assistant", answer),
        event(seconds + 30, "task_complete", last_agent_message=answer, **(ended | ends)),
    ]


def shell_call(seconds: float, call_id: str, command: str, output: str, code: int | None) -> list[Record]:
    """A command as the model ran it and was told of it."""
    said = f"Exit code: {code}\nWall time: 0.4 seconds\nOutput:\n{output}" if code is not None else output
    arguments = f'{{"command": {_quoted(command)}, "workdir": "."}}'
    called = {"name": "shell_command", "arguments": arguments, "call_id": call_id}
    return [
        line(seconds, "response_item", type="function_call", **called),
        line(seconds + 1, "response_item", type="function_call_output", call_id=call_id, output=said),
    ]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def total(seconds: float, read: int, written: int) -> Record:
    """The thread's tokens so far."""
    usage = {"input_tokens": read, "cached_input_tokens": read // 2, "output_tokens": written}
    info = {"total_token_usage": usage | {"total_tokens": read + written}, "last_token_usage": usage}
    return event(seconds, "token_count", info=info)


# --------------------------------------------------------------------------------------------- the later generation


class Paginated:
    """A rollout of the later generation, whose lines are numbered."""

    def __init__(self, seconds: float, thread_id: str, **more: Any) -> None:
        self.thread_id = thread_id
        self.records: list[Record] = []
        self.add(meta(seconds, thread_id, "0.153.4", history_mode="paginated", **more))

    def add(self, *records: Record) -> None:
        """Further lines."""
        for record in records:
            self.records.append(record | {"ordinal": len(self.records)})

    def item(self, seconds: float, turn_id: str, kind: str, **fields: Any) -> None:
        """Something that was said or done."""
        item = {"type": kind, "id": f"item-{len(self.records)}"} | fields
        self.add(event(seconds, "item_completed", thread_id=self.thread_id, turn_id=turn_id, item=item))

    def begin(self, seconds: float, turn_id: str, prompt: str) -> None:
        """A turn, its surroundings, and what was asked."""
        self.add(event(seconds, "task_started", turn_id=turn_id, started_at=epoch(seconds)))
        self.add(
            line(seconds, "turn_context", turn_id=turn_id, cwd="file:///home/ann/work/my%20ledger", model="gpt-5.5")
        )
        self.add(given(seconds, "user", prompt))
        self.item(seconds, turn_id, "UserMessage", content=[{"type": "text", "text": prompt, "text_elements": []}])

    def command(self, seconds: float, turn_id: str, command: str, output: str, code: int | None, **more: Any) -> None:
        """A command, as it ended."""
        ended = {"status": "completed" if code == 0 else "failed", "aggregated_output": output, "exit_code": code}
        argv = ["/bin/bash", "-lc", command]
        self.item(seconds, turn_id, "CommandExecution", command=argv, cwd="file:///home/ann/work", **(ended | more))

    def say(self, seconds: float, turn_id: str, text: str, phase: str | None, **more: Any) -> None:
        """A message of the agent."""
        content = [{"type": "Text", "text": text}]
        self.item(seconds, turn_id, "AgentMessage", content=content, **({"phase": phase} if phase else {}), **more)

    def usage(self, seconds: float, turn_id: str, response_id: str, read: int, written: int) -> None:
        """The tokens of one response."""
        usage = {"input_tokens": read, "cached_input_tokens": read // 2, "output_tokens": written}
        payload = {"turn_id": turn_id, "response_id": response_id, "thread_id": self.thread_id, "usage": usage}
        self.add(line(seconds, "token_usage_record", **payload))

    def complete(self, seconds: float, turn_id: str, answer: str, **more: Any) -> None:
        """The end of a turn."""
        ended = {"completed_at": epoch(seconds), "duration_ms": 30_000, "last_agent_message": answer}
        self.add(event(seconds, "task_complete", turn_id=turn_id, **(ended | more)))
