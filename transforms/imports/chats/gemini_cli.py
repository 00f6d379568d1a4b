"""Sessions of Gemini CLI: one object with all messages, or since 2026 a header and then a line for each message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ATTACHMENT, CallResult, ChatLog, Conversation, Message, Part
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in
from slowwave.transforms.imports.trace_values import text_of

NAME = "gemini-cli"
_SHELL = "run_shell_command"
_CANCELLED = "Request cancelled"


def _producer(record: Record) -> str | None:
    is_one = isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)
    return "Gemini CLI" if is_one else None


def _parts(record: Record) -> Iterator[Part]:
    if _producer(record) is not None:
        # the folder is stated as its hash alone, which tells projects apart
        is_persons = record.get("kind") != "subagent"
        yield Conversation(record["sessionId"], record.get("startTime"), record["projectHash"], is_persons=is_persons)
        for message in objects_in(record, "messages"):
            yield from _message(message)
    elif "$set" in record or "$rewindTo" in record:
        yield LeftOut("a change of the session's own data")
    else:
        yield from _message(record)


def _message(message: Mapping[str, Any]) -> Iterator[Part]:
    kind, text = text_in(message, "type"), _text(message.get("content"))
    at, name = message.get("timestamp"), text_in(message, "id")
    if kind == "user":
        yield Message("user", text or (ATTACHMENT if message.get("content") else ""), at, name)
    elif kind == "gemini":
        made = objects_in(message, "toolCalls")
        calls = tuple(
            Call(
                text_in(call, "id"),
                text_in(call, "name"),
                text_in(object_in(call, "args"), "command") if text_in(call, "name") == _SHELL else "",
            )
            for call in made
        )
        tokens = int(number_in(object_in(message, "tokens"), "total"))
        yield Message("agent", text, at, name, text_in(message, "model"), tokens, calls=calls)
        for call in made:
            status = text_in(call, "status")
            end = "interrupted" if status == "cancelled" else "ended"
            yield CallResult(text_in(call, "id"), _printed(call), is_error=status == "error", end=end)
    elif kind == "info" and text.startswith(_CANCELLED):
        yield Message("agent", "", at, name, end="interrupted")
    elif kind == "error":
        yield Message("agent", "", at, name, end="api_error")
    else:
        yield LeftOut(f"a message of the client's own ({kind[:40] or 'no type'})")


def _printed(call: Mapping[str, Any]) -> str:
    responses = [object_in(object_in(one, "functionResponse"), "response") for one in objects_in(call, "result")]
    return "\n".join(text_in(response, "output") or text_in(response, "error") for response in responses)


def _text(content: object) -> str:
    return content if isinstance(content, str) else text_of(content if isinstance(content, list) else [content])


GEMINI_CLI = ChatLog(NAME, 1, _producer, _parts)
