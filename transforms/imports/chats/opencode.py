"""Sessions of OpenCode as `opencode export` writes them: one object with the session's data and its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import (
    ATTACHMENT,
    CallResult,
    ChatLog,
    Conversation,
    Message,
    NotAsked,
    Part,
)
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in

NAME = "opencode"
_TOKENS = ("input", "output", "reasoning")
_CACHE = ("read", "write")


def _producer(record: Record) -> str | None:
    info = object_in(record, "info")
    is_one = isinstance(record.get("messages"), list) and text_in(info, "id").startswith("ses")
    return f"OpenCode {text_in(info, 'version')}".strip() if is_one else None


def _parts(record: Record) -> Iterator[Part]:
    if _producer(record) is None:
        yield LeftOut("a record that is no session")
        return
    info = object_in(record, "info")
    begun, folder = object_in(info, "time").get("created"), text_in(info, "directory")
    is_persons = not text_in(info, "parentID")
    yield Conversation(text_in(info, "id"), begun, folder, version=text_in(info, "version"), is_persons=is_persons)
    messages = objects_in(record, "messages")
    kept = _kept(messages, object_in(info, "revert"))
    if len(kept) < len(messages):
        yield LeftOut("a message that the person took back", len(messages) - len(kept))
    for message in _under_prompts(kept):
        yield from _message(object_in(message, "info"), objects_in(message, "parts"))


def _kept(messages: list[Mapping[str, Any]], revert: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages before that to which the person went back; with a part of it stated, that message as well."""
    names = [text_in(object_in(message, "info"), "id") for message in messages]
    first = text_in(revert, "messageID")
    return messages[: names.index(first) + bool(text_in(revert, "partID"))] if first in names else messages


def _under_prompts(messages: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages with each answer after its prompt: one that is queued is written before the answer to the last."""
    names = [text_in(object_in(message, "info"), "id") for message in messages]
    places = {name: place for place, name in enumerate(names)}
    parents = [
        places.get(text_in(object_in(message, "info"), "parentID"), place) for place, message in enumerate(messages)
    ]
    return [messages[place] for place in sorted(range(len(messages)), key=lambda place: (parents[place], place))]


def _message(info: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> Iterator[Part]:
    role, times, name = text_in(info, "role"), object_in(info, "time"), text_in(info, "id")
    own = [part for part in parts if part.get("type") == "text" and part.get("synthetic") is not True]
    text = "\n\n".join(text_in(part, "text") for part in own if text_in(part, "text").strip())
    if role == "user":
        has_files = any(part.get("type") == "file" for part in parts)
        if text or has_files:
            yield Message("user", text or ATTACHMENT, times.get("created"), name)
        else:
            yield LeftOut("a prompt that the client wrote")
            if not any(part.get("type") == "compaction" or _goes_on(part) for part in parts):
                yield NotAsked()
    elif info.get("summary") is True:
        yield LeftOut("a summary of what was said before")
    elif role == "assistant":
        used = [part for part in parts if part.get("type") == "tool"]
        yield Message(
            "agent",
            text,
            times.get("completed", times.get("created")),
            name,
            text_in(info, "modelID"),
            _tokens(object_in(info, "tokens")),
            number_in(info, "cost"),
            tuple(map(_call, used)),
            _end(text_in(object_in(info, "error"), "name")),
        )
        for part in used:
            state = object_in(part, "state")
            printed, code = text_in(state, "output"), object_in(state, "metadata").get("exit")
            exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
            is_error = text_in(state, "status") == "error"
            yield CallResult(text_in(part, "callID"), printed, is_error=is_error, exit_code=exit_code)
    else:
        yield LeftOut(f"a message of another role ({role[:40] or 'none'})")


def _goes_on(part: Mapping[str, Any]) -> bool:
    """Whether the client has the agent go on with what the person asked, after what was said became too long."""
    return text_in(part, "text").startswith("Continue if you have next steps")


def _end(error: str) -> Any:  # noqa: ANN401 - a TurnEnd
    return "interrupted" if error == "MessageAbortedError" else "api_error" if error else "ended"


def _tokens(tokens: Mapping[str, Any]) -> int:
    cache = object_in(tokens, "cache")
    return int(sum(number_in(tokens, name) for name in _TOKENS) + sum(number_in(cache, name) for name in _CACHE))


def _call(part: Mapping[str, Any]) -> Call:
    tool = text_in(part, "tool")
    command = text_in(object_in(object_in(part, "state"), "input"), "command") if tool == "bash" else ""
    return Call(text_in(part, "callID"), tool, command)


OPENCODE = ChatLog(NAME, 1, _producer, _parts)
