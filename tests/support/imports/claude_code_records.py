"""Records of Claude Code's transcripts, made up after the form of real ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

Record = dict[str, Any]
BEGINNING = datetime(2026, 5, 1, 9, tzinfo=UTC)


def moment(second: float) -> str:
    """A time so many seconds after the beginning."""
    at = BEGINNING + timedelta(seconds=second)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Session:
    """A transcript that grows: each record hangs on the last one, a second later, with the next id."""

    def __init__(self, session: str = "s-1", cwd: str = "/srv/shop", version: str = "2.1.38", **fields: Any) -> None:
        self.records: list[Record] = []
        self.last: str | None = None
        self.second = 0.0
        self.shared = {"sessionId": session, "cwd": cwd, "version": version, "gitBranch": "main", **fields}
        self._prefix = session
        self._number = 0

    def add(self, kind: str, **fields: Any) -> str:
        """A record of a kind; its id."""
        self._number += 1
        self.second += 1
        uuid = f"{self._prefix}-{self._number}"
        record = {
            "parentUuid": self.last, "isSidechain": False, "type": kind, "uuid": uuid,
            "timestamp": moment(self.second), **self.shared, **fields,
        }  # fmt: skip
        self.records.append(record)
        self.last = uuid
        return uuid

    def raw(self, **record: Any) -> None:
        """A record without what records of a conversation have."""
        self.records.append(record)

    def user(self, content: Any, **fields: Any) -> str:
        """What stands in the place of a prompt."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def say(self, *blocks: Any, message_id: str = "", stop: str | None = None, output: int = 10, **fields: Any) -> None:
        """An answer, a record for each block; texts are blocks of text."""
        message_id = message_id or f"msg-{self._prefix}-{self._number}"
        for block in blocks:
            content = {"type": "text", "text": block} if isinstance(block, str) else block
            usage = {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100}
            message = {
                "role": "assistant", "id": message_id, "model": "model-1", "content": [content],
                "stop_reason": stop, "usage": {**usage, "output_tokens": output},
            }  # fmt: skip
            self.add("assistant", message=message, **fields)

    def call(self, call_id: str, tool: str = "Bash", **given: Any) -> None:
        """A call of a tool."""
        self.say({"type": "tool_use", "id": call_id, "name": tool, "input": given})

    def result(self, call_id: str, text: Any, *, is_error: bool = False, result: Any = None, **fields: Any) -> None:
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}
        fields |= {"toolUseResult": result} if result is not None else {}
        self.user([block], **fields)

    def attach(self, kind: str, **content: Any) -> None:
        """An attachment."""
        self.add("attachment", attachment={"type": kind, **content})

    def over(self, milliseconds: int = 1500) -> None:
        """The end of a turn, as interactive sessions write it."""
        self.add("system", subtype="turn_duration", durationMs=milliseconds, isMeta=False)

    def turn(self, prompt: str, answer: str) -> str:
        """A turn without calls; the id of its prompt."""
        uuid = self.user(prompt)
        self.say(answer, stop="end_turn")
        self.over()
        return uuid


def command(name: str, arguments: str = "") -> str:
    """A slash command as it is written down."""
    parts = {"command-message": name, "command-name": f"/{name}", "command-args": arguments}
    return "\n".join(f"<{tag}>{text}</{tag}>" for tag, text in parts.items())
