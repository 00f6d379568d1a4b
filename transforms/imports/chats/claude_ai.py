"""The `conversations.json` of claude.ai's data export: each conversation is a list of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.chats.chat_log import (
    ATTACHMENT,
    CallResult,
    ChatLog,
    Conversation,
    Message,
    Part,
    objects_in,
    text_in,
)
from slowwave.transforms.imports.made import LeftOut, Record
from slowwave.transforms.imports.turns import Call

NAME = "claude-ai"


def _producer(record: Record) -> str | None:
    is_one = isinstance(record.get("chat_messages"), list) and isinstance(record.get("uuid"), str)
    return "claude.ai" if is_one else None


def _parts(record: Record) -> Iterator[Part]:
    if _producer(record) is None:
        yield LeftOut("a record that is no conversation")
        return
    yield Conversation(record["uuid"], record.get("created_at"))
    for message in objects_in(record, "chat_messages"):
        yield from _message(message)


def _message(message: Mapping[str, Any]) -> Iterator[Part]:
    sender, blocks = text_in(message, "sender"), objects_in(message, "content")
    texts = [text_in(block, "text") for block in blocks if block.get("type") == "text"]
    text = "\n\n".join(text for text in texts if text.strip()) or text_in(message, "text")
    at, name = message.get("created_at"), text_in(message, "uuid")
    if sender == "human":
        has_files = bool(objects_in(message, "attachments") or objects_in(message, "files"))
        yield Message("user", text or (ATTACHMENT if has_files else ""), at, name)
    elif sender == "assistant":
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        calls = tuple(Call(text_in(use, "id") or f"{name}-{n}", text_in(use, "name")) for n, use in enumerate(uses))
        yield Message("agent", text, at, name, calls=calls)
        for block in blocks:
            if block.get("type") == "tool_result":
                yield CallResult(text_in(block, "tool_use_id"), is_error=block.get("is_error") is True)
    else:
        yield LeftOut(f"a message of another sender ({sender[:40] or 'none'})")


CLAUDE_AI = ChatLog(NAME, 1, _producer, _parts)
