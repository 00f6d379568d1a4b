"""Conversations of Cursor: its database, a record for each conversation, and what `cursor-agent` prints as stream-json.

The stream states times of calls, thoughts and what is said before a call: a turn has the first of them, and without any
it cannot land.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
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
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in
from slowwave.transforms.imports.trace_values import text_of

NAME = "cursor"
BUBBLES = "bubbles"
"""Where a record of a conversation from the database has its messages, in order."""

_USER, _AGENT = 1, 2
_SHELLS = frozenset({"run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2"})


def _producer(record: Record) -> str | None:
    if isinstance(record.get("composerId"), str) and BUBBLES in record:
        return "Cursor"
    is_init = record.get("type") == "system" and record.get("subtype") == "init" and "apiKeySource" in record
    return "Cursor's agent" if is_init and "tools" not in record else None  # which Claude Code's stream lists


def _parts(record: Record) -> Iterator[ChatPart]:
    return _of_database(record) if BUBBLES in record else _of_stream(record)


def _of_database(record: Record) -> Iterator[ChatPart]:
    workspace = object_in(object_in(record, "workspaceIdentifier"), "uri")
    yield ChatConversation(text_in(record, "composerId"), record.get("createdAt"), text_in(workspace, "fsPath"))
    for bubble in objects_in(record, BUBBLES):
        yield from _bubble(bubble)


def _bubble(bubble: Mapping[str, Any]) -> Iterator[ChatPart]:
    kind, name = bubble.get("type"), text_in(bubble, "bubbleId")
    at = bubble.get("createdAt") or object_in(bubble, "timingInfo").get("clientStartTime")
    text = text_in(bubble, "text")
    if bubble.keys() <= {"bubbleId", "type"}:
        yield LeftOut("a message that the database names and does not hold")
        if kind == _USER:
            yield NotAsked()
    elif kind == _USER:
        yield ChatMessage("user", text or (ATTACHMENT if bubble.get("images") else ""), at, name)
    elif kind == _AGENT:
        tool, counts = object_in(bubble, "toolFormerData"), object_in(bubble, "tokenCount")
        call_id = text_in(tool, "toolCallId") or name
        command = text_in(parse_json_text(tool.get("params")), "command") if text_in(tool, "name") in _SHELLS else ""
        calls = (Call(call_id, text_in(tool, "name"), command),) if text_in(tool, "name") else ()
        tokens = int(number_in(counts, "inputTokens") + number_in(counts, "outputTokens"))
        model = text_in(object_in(bubble, "modelInfo"), "modelName")
        yield ChatMessage("agent", text, at, name, model, tokens, calls=calls)
        if calls:
            status, printed = text_in(tool, "status"), parse_json_text(tool.get("result"))
            refused = text_in(tool, "userDecision") == "rejected"
            end = "refused" if refused else "interrupted" if status == "cancelled" else "ended"
            output = printed if isinstance(printed, str) else text_in(printed, "output")
            yield CallResult(call_id, output, is_error=status == "error", end=end)
    else:
        yield LeftOut("a bubble of neither the person nor the agent")


def _of_stream(record: Record) -> Iterator[ChatPart]:
    kind, at = text_in(record, "type"), record.get("timestamp_ms")
    match kind:
        case "system":
            yield ChatConversation(text_in(record, "session_id"), at, text_in(record, "cwd"))
        case "user":
            yield ChatMessage("user", text_of(object_in(record, "message").get("content")), at)
        case "assistant":
            # with --stream-partial-output an answer comes in parts, which have a time alone, and then whole
            is_part = at is not None and "model_call_id" not in record
            yield ChatMessage("agent", "" if is_part else text_of(object_in(record, "message").get("content")), at)
        case "thinking":
            yield ChatMessage("agent", "", at)
        case "tool_call":
            yield from _stream_call(record, at)
        case "result":
            end = "api_error" if record.get("is_error") is True else "ended"
            yield ChatMessage("agent", "", at, end=end)
        case _:
            yield LeftOut(f"a record of the client's own ({kind[:40] or 'no type'})")


def _stream_call(record: Record, at: object) -> Iterator[ChatPart]:
    """A call names its tool by the key that holds it, such as `shellToolCall`."""
    name, call = next(((k, v) for k, v in object_in(record, "tool_call").items() if isinstance(v, dict)), ("", {}))
    call_id, result = text_in(record, "call_id"), object_in(call, "result")
    if record.get("subtype") == "started":
        command = text_in(object_in(call, "args"), "command")
        yield ChatMessage("agent", "", at, calls=(Call(call_id, name.removesuffix("ToolCall"), command),))
        return
    done = object_in(result, "success") or object_in(result, "failure")
    code = done.get("exitCode")
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    printed = "\n".join(filter(None, [text_in(done, "stdout"), text_in(done, "stderr")]))
    end = "refused" if "rejected" in result or "permissionDenied" in result else "ended"
    is_error = end == "ended" and "success" not in result
    yield CallResult(call_id, printed, is_error=is_error, exit_code=exit_code, end=end)


CURSOR = ChatLog(NAME, 1, _producer, _parts)
