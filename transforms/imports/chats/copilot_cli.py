"""Event logs of GitHub Copilot CLI: a line for each event of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson

from slowwave.transforms.imports.adapter import Call, LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ATTACHMENT, CallResult, ChatLog, Conversation, Message, Part
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in

NAME = "copilot-cli"
_SHELLS = frozenset({"bash", "shell", "powershell"})


def _producer(record: Record) -> str | None:
    data = object_in(record, "data")
    is_start = record.get("type") == "session.start" and isinstance(data.get("sessionId"), str)
    return f"GitHub Copilot CLI {text_in(data, 'copilotVersion')}".strip() if is_start else None


def _parts(record: Record) -> Iterator[Part]:
    kind, data, at = text_in(record, "type"), object_in(record, "data"), record.get("timestamp")
    name = text_in(record, "id")
    if text_in(data, "parentToolCallId"):
        yield LeftOut("an event of a subagent's")
        return
    match kind:
        case "session.start":
            folder = text_in(object_in(data, "context"), "cwd")
            version = text_in(data, "copilotVersion")
            yield Conversation(text_in(data, "sessionId"), data.get("startTime", at), folder, version=version)
        case "user.message":
            source = text_in(data, "source")
            if source in {"", "user"}:
                text = text_in(data, "content") or (ATTACHMENT if data.get("attachments") else "")
                yield Message("user", text, at, name)
            else:
                yield LeftOut(f"a prompt that the client wrote ({source[:40]})")
        case "assistant.message":
            calls = tuple(map(_call, objects_in(data, "toolRequests")))
            tokens = int(number_in(data, "outputTokens"))
            yield Message("agent", text_in(data, "content"), at, name, text_in(data, "model"), tokens, calls=calls)
        case "tool.execution_complete":
            is_error = data.get("success") is False
            code = object_in(data, "error").get("code")
            end = "refused" if code in {"denied", "rejected"} else "ended"
            result = text_in(data, "result") or text_in(object_in(data, "result"), "content")
            printed = result or text_in(object_in(data, "error"), "message")
            yield CallResult(text_in(data, "toolCallId"), printed, is_error=is_error, end=end)
        case "abort":
            yield Message("agent", "", at, name, end="interrupted")
        case "session.error":
            yield Message("agent", "", at, name, end="api_error")
        case _:
            yield LeftOut(f"an event of the client's own ({kind[:40] or 'no type'})")


def _call(request: Mapping[str, Any]) -> Call:
    tool = text_in(request, "name")
    given = request.get("arguments")
    with suppress(orjson.JSONDecodeError):
        given = orjson.loads(given) if isinstance(given, str) else given
    command = text_in(given, "command") if tool in _SHELLS else ""
    return Call(text_in(request, "toolCallId"), tool, command)


COPILOT_CLI = ChatLog(NAME, 1, _producer, _parts)
