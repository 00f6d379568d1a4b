"""The `conversations.json` of the data exports of ChatGPT and claude.ai: what counts is the branch seen last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import (
    ATTACHMENT,
    CallResult,
    ChatConversation,
    ChatLog,
    ChatMessage,
    ChatPart,
    NotAsked,
)
from slowwave.transforms.imports.record_values import object_in, objects_in, text_in

# ------------------------------------------------------------------------------------------
# The `conversations.json` of ChatGPT's data export: each conversation is a tree of messages.
# What counts is the branch that the person saw last, which ends in `current_node`.

CHATGPT_NAME = "chatgpt"
_SHOWN = frozenset({"text", "multimodal_text"})


def _chatgpt_producer(record: Record) -> str | None:
    mapping = record.get("mapping")
    is_tree = isinstance(mapping, dict) and any(
        isinstance(node, dict) and {"message", "parent", "children"} <= node.keys() for node in mapping.values()
    )
    return "ChatGPT" if is_tree else None


def _chatgpt_parts(record: Record) -> Iterator[ChatPart]:
    if _chatgpt_producer(record) is None:
        yield LeftOut("a record that is no conversation")
        return
    nodes = {name: node for name, node in record["mapping"].items() if isinstance(node, dict)}
    branch = _chatgpt_branch(nodes, text_in(record, "current_node"))
    said_elsewhere = sum(1 for name in nodes.keys() - {*branch} if _is_message(object_in(nodes[name], "message")))
    if said_elsewhere:
        yield LeftOut("a message on a branch that the person left", said_elsewhere)
    yield ChatConversation(text_in(record, "conversation_id") or text_in(record, "id"), record.get("create_time"))
    for name in branch:
        yield from _chatgpt_message(name, object_in(nodes[name], "message"))


def _chatgpt_branch(nodes: Mapping[str, Mapping[str, Any]], last: str) -> list[str]:
    """The nodes from the root to the last one; where it is not stated, to the newest that nothing follows."""
    if last not in nodes:
        ends = [name for name, node in nodes.items() if not node.get("children")]
        last = max(ends, key=lambda name: (_creation_time(nodes[name]), name), default="")
    found: dict[str, None] = {}
    while last in nodes and last not in found:
        found[last] = None
        last = text_in(nodes[last], "parent")
    return [*reversed(found)]


def _creation_time(node: Mapping[str, Any]) -> float:
    at = object_in(node, "message").get("create_time")
    return at if isinstance(at, (int, float)) else 0.0


def _is_message(message: Mapping[str, Any]) -> bool:
    return text_in(object_in(message, "author"), "role") in {"user", "assistant"} and bool(_chatgpt_text(message))


def _chatgpt_message(name: str, message: Mapping[str, Any]) -> Iterator[ChatPart]:
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
        yield ChatMessage(
            "user", _chatgpt_text(message) or ATTACHMENT, message.get("create_time"), text_in(message, "id") or name
        )
    else:
        recipient = text_in(message, "recipient") or "all"
        calls = () if recipient == "all" else (Call(text_in(message, "id") or name, recipient),)
        is_shown = not calls and content in _SHOWN and message.get("channel") in (None, "final")
        if not is_shown and not calls:
            yield LeftOut(f"a part of an answer that is not shown ({content[:40] or 'no type'})")
        yield ChatMessage(
            "agent",
            _chatgpt_text(message) if is_shown else "",
            message.get("create_time"),
            text_in(message, "id") or name,
            text_in(metadata, "model_slug"),
            calls=calls,
            end="interrupted" if _is_stopped(metadata) else "ended",
        )


def _is_stopped(metadata: Mapping[str, Any]) -> bool:
    return text_in(object_in(metadata, "finish_details"), "type") == "interrupted"


def _chatgpt_text(message: Mapping[str, Any]) -> str:
    parts = object_in(message, "content").get("parts")
    texts = (
        [part if isinstance(part, str) else text_in(part, "text") for part in parts] if isinstance(parts, list) else []
    )
    return "\n".join(text for text in texts if text.strip())


CHATGPT = ChatLog(CHATGPT_NAME, 1, _chatgpt_producer, _chatgpt_parts)


# ------------------------------------------------------------------------------------------
# The `conversations.json` of claude.ai's data export: each conversation is a list of messages.
# Where they state their parents, what counts is the branch that the person saw last.

CLAUDE_AI_NAME = "claude-ai"
_ROOT = "00000000-"  # how the parent of a first message begins


def _claude_producer(record: Record) -> str | None:
    is_one = isinstance(record.get("chat_messages"), list) and isinstance(record.get("uuid"), str)
    return "claude.ai" if is_one else None


def _claude_parts(record: Record) -> Iterator[ChatPart]:
    if _claude_producer(record) is None:
        yield LeftOut("a record that is no conversation")
        return
    yield ChatConversation(record["uuid"], record.get("created_at"))
    messages = objects_in(record, "chat_messages")
    branch = _claude_branch(messages, text_in(record, "current_leaf_message_uuid"))
    if len(branch) < len(messages):
        yield LeftOut("a message on a branch that the person left", len(messages) - len(branch))
    for message in branch:
        yield from _claude_message(message)


def _claude_branch(messages: list[Mapping[str, Any]], last: str) -> list[Mapping[str, Any]]:
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


def _claude_message(message: Mapping[str, Any]) -> Iterator[ChatPart]:
    sender, blocks = text_in(message, "sender"), objects_in(message, "content")
    texts = [text_in(block, "text") for block in blocks if block.get("type") == "text"]
    text = "\n\n".join(text for text in texts if text.strip())
    # beside blocks it says of those that are no text that a device cannot show them
    text = text if blocks else text_in(message, "text")
    at, name = message.get("created_at"), text_in(message, "uuid")
    if sender == "human":
        has_files = bool(objects_in(message, "attachments") or objects_in(message, "files"))
        yield ChatMessage("user", text or (ATTACHMENT if has_files else ""), at, name)
    elif sender == "assistant":
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        calls = tuple(Call(text_in(use, "id") or f"{name}-{n}", text_in(use, "name")) for n, use in enumerate(uses))
        yield ChatMessage("agent", text, at, name, calls=calls)
        for block in blocks:
            if block.get("type") == "tool_result":
                yield CallResult(text_in(block, "tool_use_id"), is_error=block.get("is_error") is True)
    else:
        yield LeftOut(f"a message of another sender ({sender[:40] or 'none'})")


CLAUDE_AI = ChatLog(CLAUDE_AI_NAME, 1, _claude_producer, _claude_parts)
