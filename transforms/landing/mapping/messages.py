"""Lists of messages, as chat logs keep conversations: who says what, by whatever names.

`last(user)` is the text of the user's last message. `last(assistant)` is what the assistant said last behind that: what
was said before answers something else, and of a conversation that ends in a question there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal

Role = Literal["user", "assistant"]
LAST = re.compile(r"last\((\w+)\)")
"""What a path says of a list of messages."""

# Who speaks, and what is said, by the names that datasets and APIs have for it.
_ROLES = ("role", "from", "speaker", "sender", "author")
_CONTENTS = ("content", "value", "text", "message", "parts")
_SPEAKERS: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "prompter": "user",
    "customer": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "chatgpt": "assistant",
    "gpt": "assistant",
    "model": "assistant",
}
# Types of parts that carry text which nobody says to anybody.
_UNSAID = frozenset({"tool_result", "tool_use", "tool_call", "function_call_output", "thinking", "reasoning"})
_SPEAKING = re.compile(r"^\s*(?:user|human|assistant|ai|system|bot|tool)\s*:", re.IGNORECASE | re.MULTILINE)
OTHERS = frozenset({"system", "developer", "tool", "function", "observation"})
ROLES = frozenset(_SPEAKERS) | OTHERS


def is_conversation(value: object) -> bool:
    """Whether a value is a list of messages: objects with a speaker that is known."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and _speaker(one) is not None for one in value)
    )


def is_dialogue(text: str) -> bool:
    """Whether a text is a conversation written out, with a speaker before each line of it."""
    return len(_SPEAKING.findall(text)) > 1


def last_of(messages: list[Any], role: str) -> str | None:
    """Return the text of the last message of a role; None where it has none, or the assistant has not answered."""
    wanted = _SPEAKERS.get(role.lower(), role.lower())
    for message in reversed(messages):
        speaker = _speaker(message) if isinstance(message, Mapping) else None
        if speaker == wanted and (text := text_of(_content(message))):
            return text
        if wanted == "assistant" and speaker == "user" and _says(message, "user"):
            return None
    return None


def turns_of(items: list[Any]) -> list[list[Any]]:
    """Return the turns of a list of messages: what a user says, and all that follows until a user speaks again.

    No turn where no user says anything, or where the items are no messages. A result of a tool is nothing that is said,
    whoever sends it.
    """
    starts = [at for at, item in enumerate(items) if isinstance(item, Mapping) and _says(item, "user")]
    return [items[start:end] for start, end in pairwise([*starts, len(items)])]


def has_messages(items: list[Any]) -> bool:
    """Whether any item is a message whose speaker is known."""
    return any(isinstance(item, Mapping) and _speaker(item) is not None for item in items)


def _says(message: Mapping[str, Any], role: Role) -> bool:
    return _speaker(message) == role and bool(text_of(_content(message)))


def text_of(content: object) -> str:
    """Return the text of a message's content: a text, or parts of which those that hold text are joined."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, Mapping):
        if content.get("type") in _UNSAID:
            return ""
        return text_of(next((content[name] for name in _CONTENTS if content.get(name)), None))
    parts = content if isinstance(content, list) else []
    return "\n".join(text for part in parts if (text := text_of(part)))


def _speaker(message: Mapping[str, Any]) -> str | None:
    """Who speaks: user or assistant, or another role that is known; None where nobody is named."""
    for name in _ROLES:
        stated = message.get(name)
        if isinstance(stated, Mapping):
            stated = stated.get("role")
        if isinstance(stated, str) and stated.lower() in ROLES:
            return _SPEAKERS.get(stated.lower(), stated.lower())
    return None


def _content(message: Mapping[str, Any]) -> object:
    return next((message[name] for name in _CONTENTS if message.get(name)), None)
