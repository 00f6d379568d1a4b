"""What was asked and answered, in the inputs and outputs that tracing tools keep: a text, messages, or an object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

_ASKED = (
    "messages",
    "input",
    "inputs",
    "question",
    "query",
    "prompt",
    "user_input",
    "user_message",
    "contents",
    "text",
    "content",
)
_ANSWERED = (
    "output",
    "outputs",
    "answer",
    "response",
    "result",
    "choices",
    "candidates",
    "generations",
    "messages",
    "message",
    "content",
    "text",
    "completion",
)
USER_ROLES, ASSISTANT_ROLES = frozenset({"user", "human"}), frozenset({"assistant", "ai", "model"})
_TEXTS = frozenset({"text", "input_text", "output_text"})
_DEEPEST = 6
# A call of a function as decorators of tracing tools write it down.
_CALL = ({"args"}, {"kwargs"}, {"args", "kwargs"})
_CALL_BEGINS = 12
# What a choice or a candidate has its message in.
_AROUND = ("message", "content")
_OBJECT = re.compile(r"<[\w.]+(?: object)? at 0x[0-9a-fA-F]+>")


@dataclass(frozen=True)
class Said:
    """A text, and whether it is the whole value as JSON, because nothing in it is known as question or answer."""

    text: str
    is_json: bool = False


def asked(value: Any) -> Said | None:  # noqa: ANN401 - whatever JSON holds
    """The question in an input: the text itself, the user's last message, or what an object calls by such a name.

    None where there is none: also in messages among which no text is the user's.
    """
    return _said(value, _ASKED, USER_ROLES)


def answered(value: Any) -> Said | None:  # noqa: ANN401
    """The answer in an output, likewise: the last message of the assistant's."""
    return _said(value, _ANSWERED, ASSISTANT_ROLES)


def text_of(content: Any) -> str:  # noqa: ANN401
    """The text of a message's content, which is a text or a list of parts; what is not text, as images, is left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(part for part in map(_part, content) if part)


def _part(part: Any) -> str:  # noqa: ANN401
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("thought") is True:
        return ""
    kind = part.get("type", "text")
    if not isinstance(kind, str) or kind not in _TEXTS:
        return part["transcript"] if isinstance(part.get("transcript"), str) else ""  # of what was spoken
    return next((part[name] for name in ("text", "content") if isinstance(part.get(name), str)), "")


def _said(value: Any, names: Sequence[str], roles: frozenset[str]) -> Said | None:  # noqa: ANN401
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, str):
        called = _call_in(value)
        if called is None:
            return Said(value)
        said = _found(called, names, roles, 0)
        return Said(said or value) if any(called.values()) else None
    if _is_call(value) and not any(value.values()):
        return None
    found = _found(value, names, roles, 0)
    if found is not None:
        return Said(found) if found else None
    try:
        return Said(orjson.dumps(value).decode(), is_json=True)
    except orjson.JSONEncodeError:  # which is how it says that lists lie in lists too deep
        return None


def _found(value: Any, names: Sequence[str], roles: frozenset[str], depth: int) -> str | None:  # noqa: ANN401
    """The text looked for; '' where messages have none of these roles; None where the value is of no known form."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return _of_messages(value, roles)
    if _is_call(value):
        return _of_call(value, names, roles, depth)
    if isinstance(value, dict):
        if (role := _role(value)) is not None:
            return text_of(_content(value)) if role in roles else ""
        for name in names:
            held = value.get(name)
            if held not in (None, "", [], {}) and (found := _found(held, names, roles, depth + 1)) is not None:
                return found
    return None


def _of_messages(value: list[Any], roles: frozenset[str]) -> str | None:
    if value and all(isinstance(one, list) and any(isinstance(part, dict) for part in one) for one in value):
        # one of several inputs at once, as LangChain has them
        return _of_messages(value[0], roles)
    is_known = False
    for message in reversed(value):
        held = [message.get(name) for name in _AROUND] if isinstance(message, dict) and "role" not in message else []
        inner = next((one for one in held if isinstance(one, dict)), message)
        role = _role(inner)
        is_known = is_known or role is not None
        if role in roles and not _is_result(inner) and (said := text_of(_content(inner))):
            return said
    parts = text_of(value)
    return "" if is_known else parts or None


def _is_result(message: Any) -> bool:  # noqa: ANN401
    """Whether a message in the user's name hands back what tools said: then its texts are the client's."""
    content = _content(message)
    return isinstance(content, list) and any(
        isinstance(one, dict) and one.get("type") == "tool_result" for one in content
    )


def _is_call(value: Any) -> bool:  # noqa: ANN401
    """Whether it is a call that was written down: its arguments by place, by name, or both."""
    is_one = isinstance(value, dict) and value.keys() in _CALL
    return is_one and isinstance(value.get("args", []), list) and isinstance(value.get("kwargs", {}), dict)


def _call_in(text: str) -> Any:  # noqa: ANN401
    """The call that a text is as JSON; None where it is none."""
    if text[:1] != "{" or "args" not in text[:_CALL_BEGINS]:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if _is_call(value) else None


def _of_call(call: dict[str, Any], names: Sequence[str], roles: frozenset[str], depth: int) -> str | None:
    """The text among the arguments of a call: with a known name, else the first by place, else the first by name."""
    by_name = call.get("kwargs", {})
    known = {name: by_name[name] for name in names if name in by_name}
    by_place = [one for one in call.get("args", []) if not (isinstance(one, str) and _OBJECT.fullmatch(one))]
    for one in ([known] if known else []) + by_place + [value for value in by_name.values() if isinstance(value, str)]:
        if found := _found(one, names, roles, depth + 1):
            return found
    return None


def _role(message: Any) -> str | None:  # noqa: ANN401
    """Who speaks in a message, in lower case; None for what is no message."""
    if isinstance(message, (list, tuple)) and len(message) == 2 and all(isinstance(one, str) for one in message):  # noqa: PLR2004
        return str(message[0]).lower()
    if not isinstance(message, dict):
        return None
    if isinstance(message.get("role"), str):
        return message["role"].lower()
    if isinstance(message.get("type"), str) and message["type"] in {"human", "ai", "system", "tool"}:
        return message["type"]
    kind = message.get("id")
    if isinstance(kind, list) and kind and isinstance(message.get("kwargs"), dict):  # as LangChain writes its objects
        return str(kind[-1]).removesuffix("Chunk").removesuffix("Message").lower()
    return None


def _content(message: Any) -> Any:  # noqa: ANN401
    if isinstance(message, (list, tuple)):
        return message[1]
    held = message["kwargs"] if isinstance(message.get("kwargs"), dict) else message
    return held.get("content") if "content" in held else held.get("parts")
