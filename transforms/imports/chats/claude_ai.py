"""The `conversations.json` of claude.ai's data export: each conversation is a list of messages.

Where they state their parents, what counts is the branch that the person saw last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ATTACHMENT, CallResult, ChatLog, Conversation, Message, Part
from slowwave.transforms.imports.record_values import objects_in, text_in

NAME = "claude-ai"
_ROOT = "00000000-"  # how the parent of a first message begins


def _producer(record: Record) -> str | None:
    is_one = isinstance(record.get("chat_messages"), list) and isinstance(record.get("uuid"), str)
    return "claude.ai" if is_one else None


def _parts(record: Record) -> Iterator[Part]:
    if _producer(record) is None:
        yield LeftOut("a record that is no conversation")
        return
    yield Conversation(record["uuid"], record.get("created_at"))
    messages = objects_in(record, "chat_messages")
    branch = _branch(messages, text_in(record, "current_leaf_message_uuid"))
    if len(branch) < len(messages):
        yield LeftOut("a message on a branch that the person left", len(messages) - len(branch))
    for message in branch:
        yield from _message(message)


def _branch(messages: list[Mapping[str, Any]], last: str) -> list[Mapping[str, Any]]:
    """The messages from the first to the last one; where it is not stated, to the newest."""
    places = {text_in(message, "uuid"): place for place, message in enumerate(messages)}
    if not messages or not any(text_in(message, "parent_message_uuid") for message in messages):
        return messages
    newest = max(range(len(messages)), key=lambda place: (text_in(messages[place], "created_at"), place))
    found: dict[int, None] = {}
    place = places.get(last, newest)
    while place not in found:
        found[place] = None
        parent = text_in(messages[place], "parent_message_uuid")
        if parent.startswith(_ROOT) or place == 0:
            break
        place = places.get(parent, place - 1)
    return [messages[place] for place in reversed(found)]


def _message(message: Mapping[str, Any]) -> Iterator[Part]:
    sender, blocks = text_in(message, "sender"), objects_in(message, "content")
    texts = [text_in(block, "text") for block in blocks if block.get("type") == "text"]
    text = "\n\n".join(text for text in texts if text.strip())
    # beside blocks it says of those that are no text that a device cannot show them
    text = text if blocks else text_in(message, "text")
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
