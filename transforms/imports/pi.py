"""Sessions of pi, and of OpenClaw, which is built on it, versions 1 to 3 of the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from slowwave.transforms.imports.made import Context, LeftOut, Located, Made, Record
from slowwave.transforms.imports.turn_rows import turn_rows
from slowwave.transforms.imports.turns import Turn

_VERSIONS = (1, 2, 3)


class PiAdapter:
    """A header, then entries; a turn is begun by a message of the user."""

    name = "pi"
    version = 1

    def detected(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        head = first[0] if first else {}
        if head.get("type") != "session" or not isinstance(head.get("id"), str):
            return None
        version = head.get("version", 1)
        return f"pi or OpenClaw (session format {version})" if version in _VERSIONS else None

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter."""
        session: Record = {}
        turn: Turn | None = None
        for located in records:
            entry = located.record
            message = entry.get("message")
            if entry.get("type") == "session":
                session = entry
            elif entry.get("type") != "message" or not isinstance(message, dict):
                yield LeftOut(f"entries of type {entry.get('type')}")
            elif message.get("role") == "user":
                if turn is not None:
                    yield from turn_rows(turn, context)
                turn = _begun(session, entry, message, context)
            elif message.get("role") == "assistant" and turn is not None:
                turn.response = "\n\n".join(text for text in (turn.response, _text(message)) if text)
                turn.ended_at = str(entry.get("timestamp"))
        if turn is not None:
            yield from turn_rows(turn, context)


def _begun(session: Record, entry: Record, message: Record, context: Context) -> Turn:
    at = str(entry.get("timestamp"))
    return Turn(
        interaction_id=f"pi:{session.get('id')}:{entry.get('id', at)}",
        created_at=at,
        ended_at=at,
        prompt=_text(message),
        project=context.project_of(str(session.get("cwd", ""))),
        agent="pi",
        client="pi",
        session_id=str(session.get("id")),
    )


def _text(message: Record) -> str:
    content: Any = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n\n".join(str(block.get("text")) for block in blocks if isinstance(block, dict) and block.get("text"))
