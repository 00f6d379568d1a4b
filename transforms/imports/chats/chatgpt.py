"""The `conversations.json` of ChatGPT's data export: each conversation is a tree of messages.

What counts is the branch that the person saw last, which ends in `current_node`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ATTACHMENT, ChatLog, Conversation, Message, NotAsked, Part
from slowwave.transforms.imports.record_values import object_in, text_in

NAME = "chatgpt"
_SHOWN = frozenset({"text", "multimodal_text"})


def _producer(record: Record) -> str | None:
    mapping = record.get("mapping")
    is_tree = isinstance(mapping, dict) and any(
        isinstance(node, dict) and {"message", "parent", "children"} <= node.keys() for node in mapping.values()
    )
    return "ChatGPT" if is_tree else None


def _parts(record: Record) -> Iterator[Part]:
    if _producer(record) is None:
        yield LeftOut("a record that is no conversation")
        return
    nodes = {name: node for name, node in record["mapping"].items() if isinstance(node, dict)}
    branch = _branch(nodes, text_in(record, "current_node"))
    said_elsewhere = sum(1 for name in nodes.keys() - {*branch} if _said(object_in(nodes[name], "message")))
    if said_elsewhere:
        yield LeftOut("a message on a branch that the person left", said_elsewhere)
    yield Conversation(text_in(record, "conversation_id") or text_in(record, "id"), record.get("create_time"))
    for name in branch:
        yield from _message(name, object_in(nodes[name], "message"))


def _branch(nodes: Mapping[str, Mapping[str, Any]], last: str) -> list[str]:
    """The nodes from the root to the last one; where it is not stated, to the newest that nothing follows."""
    if last not in nodes:
        ends = [name for name, node in nodes.items() if not node.get("children")]
        last = max(ends, key=lambda name: (_created(nodes[name]), name), default="")
    found: dict[str, None] = {}
    while last in nodes and last not in found:
        found[last] = None
        last = text_in(nodes[last], "parent")
    return [*reversed(found)]


def _created(node: Mapping[str, Any]) -> float:
    at = object_in(node, "message").get("create_time")
    return at if isinstance(at, (int, float)) else 0.0


def _said(message: Mapping[str, Any]) -> bool:
    return text_in(object_in(message, "author"), "role") in {"user", "assistant"} and bool(_text(message))


def _message(name: str, message: Mapping[str, Any]) -> Iterator[Part]:
    role, content = (
        text_in(object_in(message, "author"), "role"),
        text_in(object_in(message, "content"), "content_type"),
    )
    metadata = object_in(message, "metadata")
    if role not in {"user", "assistant"}:
        if message:
            yield LeftOut(f"a message of the {role[:40] or 'program'}")
    elif metadata.get("is_visually_hidden_from_conversation") is True or metadata.get("is_user_system_message") is True:
        yield LeftOut("a message that ChatGPT hides, such as custom instructions")
        if role == "user":
            yield NotAsked()
    elif role == "user" and content not in _SHOWN:
        yield LeftOut(f"a message in the person's name that is not shown ({content[:40] or 'no type'})")
    elif role == "user":
        yield Message("user", _text(message) or ATTACHMENT, message.get("create_time"), text_in(message, "id") or name)
    else:
        recipient = text_in(message, "recipient") or "all"
        calls = () if recipient == "all" else (Call(text_in(message, "id") or name, recipient),)
        is_shown = not calls and content in _SHOWN and message.get("channel") in (None, "final")
        if not is_shown and not calls:
            yield LeftOut(f"a part of an answer that is not shown ({content[:40] or 'no type'})")
        yield Message(
            "agent",
            _text(message) if is_shown else "",
            message.get("create_time"),
            text_in(message, "id") or name,
            text_in(metadata, "model_slug"),
            calls=calls,
            end="interrupted" if _is_stopped(metadata) else "ended",
        )


def _is_stopped(metadata: Mapping[str, Any]) -> bool:
    return text_in(object_in(metadata, "finish_details"), "type") == "interrupted"


def _text(message: Mapping[str, Any]) -> str:
    parts = object_in(message, "content").get("parts")
    texts = (
        [part if isinstance(part, str) else text_in(part, "text") for part in parts] if isinstance(parts, list) else []
    )
    return "\n".join(text for text in texts if text.strip())


CHATGPT = ChatLog(NAME, 1, _producer, _parts)
