"""Sessions of pi and of OpenClaw, made up after the form of real ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

Record = dict[str, Any]
_BEGINNING = datetime(2026, 5, 3, 9, tzinfo=UTC)
COST = {"input": 0.001, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.003}
USAGE = {"input": 100, "output": 20, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 125, "cost": COST}


def moment(second: float) -> str:
    """A time so many seconds after the beginning."""
    at = _BEGINNING + timedelta(seconds=second)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class PiSession:
    """A file that grows: each entry hangs on the last one, a second later. Entries of version 1 have no ids."""

    def __init__(self, session: str, version: int = 3, cwd: str = "/srv/shop", begun: float = 0, **head: Any) -> None:
        self.version = version
        self.second = begun
        self.last: str | None = None
        stated = {"version": version} if version > 1 else {}
        at = moment(begun)
        self.records: list[Record] = [{"type": "session", **stated, "id": session, "timestamp": at, "cwd": cwd, **head}]
        self._prefix = session

    def entry(self, kind: str, **fields: Any) -> Record:
        """An entry of a kind."""
        self.second += 1
        ids = {"id": f"{self._prefix[:4]}{len(self.records):04x}", "parentId": self.last} if self.version > 1 else {}
        record = {"type": kind, **ids, "timestamp": moment(self.second), **fields}
        self.records.append(record)
        self.last = ids.get("id")
        return record

    def message(self, role: str, content: Any, **fields: Any) -> Record:
        """A message."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return self.entry("message", message={"role": role, "content": blocks, **fields})

    def user(self, text: str) -> Record:
        """A prompt."""
        return self.message("user", text)

    def say(self, *blocks: Any, reason: str = "stop", model: str = "model-1", **fields: Any) -> None:
        """An answer; texts are blocks of text."""
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        usage = {"usage": USAGE} if reason != "error" else {}
        self.message(
            "assistant", content, api="api-1", provider="maker", model=model, **usage, stopReason=reason, **fields
        )

    def call(
        self, call_id: str, tool: str, text: str, *, details: Any = None, is_error: bool = False, **given: Any
    ) -> None:
        """A call of a tool, and its result."""
        self.say({"type": "toolCall", "id": call_id, "name": tool, "arguments": given}, reason="toolUse")
        told = {"details": details} if details is not None else {}
        self.message("toolResult", text, toolCallId=call_id, toolName=tool, isError=is_error, **told)

    def turn(self, prompt: str, answer: str) -> None:
        """A turn without calls."""
        self.user(prompt)
        self.say(answer)

    def failed(self, message: str = "529 overloaded") -> None:
        """An error of the API in an answer's place."""
        self.say(reason="error", errorMessage=message)
