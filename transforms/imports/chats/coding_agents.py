"""Sessions that coding agents keep as conversations: Gemini CLI, GitHub Copilot CLI, OpenCode, and ATIF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson

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

# ------------------------------------------------------------------------------------------
# Sessions of Gemini CLI: one object with all messages, or since 2026 a header and then a line for each message.

GEMINI_CLI_NAME = "gemini-cli"
_SHELL = "run_shell_command"
_CANCELLED = "Request cancelled"


def _gemini_producer(record: Record) -> str | None:
    is_one = isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)
    return "Gemini CLI" if is_one else None


def _gemini_parts(record: Record) -> Iterator[ChatPart]:
    if _gemini_producer(record) is not None:
        # the folder is stated as its hash alone, which tells projects apart
        is_persons = record.get("kind") != "subagent"
        yield ChatConversation(
            record["sessionId"], record.get("startTime"), record["projectHash"], is_persons=is_persons
        )
        for message in objects_in(record, "messages"):
            yield from _gemini_message(message)
    elif "$set" in record or "$rewindTo" in record:
        yield LeftOut("a change of the session's own data")
    else:
        yield from _gemini_message(record)


def _gemini_message(message: Mapping[str, Any]) -> Iterator[ChatPart]:
    kind, text = text_in(message, "type"), _gemini_text(message.get("content"))
    at, name = message.get("timestamp"), text_in(message, "id")
    if kind == "user":
        yield ChatMessage("user", text or (ATTACHMENT if message.get("content") else ""), at, name)
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
        yield ChatMessage("agent", text, at, name, text_in(message, "model"), tokens, calls=calls)
        for call in made:
            status = text_in(call, "status")
            end = "interrupted" if status == "cancelled" else "ended"
            yield CallResult(text_in(call, "id"), _call_output(call), is_error=status == "error", end=end)
    elif kind == "info" and text.startswith(_CANCELLED):
        yield ChatMessage("agent", "", at, name, end="interrupted")
    elif kind == "error":
        yield ChatMessage("agent", "", at, name, end="api_error")
    else:
        yield LeftOut(f"a message of the client's own ({kind[:40] or 'no type'})")


def _call_output(call: Mapping[str, Any]) -> str:
    responses = [object_in(object_in(one, "functionResponse"), "response") for one in objects_in(call, "result")]
    return "\n".join(text_in(response, "output") or text_in(response, "error") for response in responses)


def _gemini_text(content: object) -> str:
    return content if isinstance(content, str) else text_of(content if isinstance(content, list) else [content])


GEMINI_CLI = ChatLog(GEMINI_CLI_NAME, 1, _gemini_producer, _gemini_parts)


# ------------------------------------------------------------------------------------------
# Event logs of GitHub Copilot CLI: a line for each event of a session.

COPILOT_CLI_NAME = "copilot-cli"
_COPILOT_SHELLS = frozenset({"bash", "shell", "powershell"})


def _copilot_producer(record: Record) -> str | None:
    data = object_in(record, "data")
    is_start = record.get("type") == "session.start" and isinstance(data.get("sessionId"), str)
    return f"GitHub Copilot CLI {text_in(data, 'copilotVersion')}".strip() if is_start else None


def _copilot_parts(record: Record) -> Iterator[ChatPart]:
    kind, data, at = text_in(record, "type"), object_in(record, "data"), record.get("timestamp")
    name = text_in(record, "id")
    if text_in(data, "parentToolCallId"):
        yield LeftOut("an event of a subagent's")
        return
    match kind:
        case "session.start":
            folder = text_in(object_in(data, "context"), "cwd")
            version = text_in(data, "copilotVersion")
            yield ChatConversation(text_in(data, "sessionId"), data.get("startTime", at), folder, version=version)
        case "user.message":
            source = text_in(data, "source")
            if source in {"", "user"}:
                text = text_in(data, "content") or (ATTACHMENT if data.get("attachments") else "")
                yield ChatMessage("user", text, at, name)
            else:
                yield LeftOut(f"a prompt that the client wrote ({source[:40]})")
        case "assistant.message":
            calls = tuple(map(_copilot_call, objects_in(data, "toolRequests")))
            tokens = int(number_in(data, "outputTokens"))
            yield ChatMessage("agent", text_in(data, "content"), at, name, text_in(data, "model"), tokens, calls=calls)
        case "tool.execution_complete":
            is_error = data.get("success") is False
            code = object_in(data, "error").get("code")
            end = "refused" if code in {"denied", "rejected"} else "ended"
            result = text_in(data, "result") or text_in(object_in(data, "result"), "content")
            printed = result or text_in(object_in(data, "error"), "message")
            yield CallResult(text_in(data, "toolCallId"), printed, is_error=is_error, end=end)
        case "abort":
            yield ChatMessage("agent", "", at, name, end="interrupted")
        case "session.error":
            yield ChatMessage("agent", "", at, name, end="api_error")
        case _:
            yield LeftOut(f"an event of the client's own ({kind[:40] or 'no type'})")


def _copilot_call(request: Mapping[str, Any]) -> Call:
    tool = text_in(request, "name")
    given = request.get("arguments")
    with suppress(orjson.JSONDecodeError):
        given = orjson.loads(given) if isinstance(given, str) else given
    command = text_in(given, "command") if tool in _COPILOT_SHELLS else ""
    return Call(text_in(request, "toolCallId"), tool, command)


COPILOT_CLI = ChatLog(COPILOT_CLI_NAME, 1, _copilot_producer, _copilot_parts)


# ------------------------------------------------------------------------------------------
# Sessions of OpenCode as `opencode export` writes them: one object with the session's data and its messages.

OPENCODE_NAME = "opencode"
_TOKENS = ("input", "output", "reasoning")
_CACHE = ("read", "write")


def _opencode_producer(record: Record) -> str | None:
    info = object_in(record, "info")
    is_one = isinstance(record.get("messages"), list) and text_in(info, "id").startswith("ses")
    return f"OpenCode {text_in(info, 'version')}".strip() if is_one else None


def _opencode_parts(record: Record) -> Iterator[ChatPart]:
    if _opencode_producer(record) is None:
        yield LeftOut("a record that is no session")
        return
    info = object_in(record, "info")
    begun, folder = object_in(info, "time").get("created"), text_in(info, "directory")
    is_persons = not text_in(info, "parentID")
    yield ChatConversation(text_in(info, "id"), begun, folder, version=text_in(info, "version"), is_persons=is_persons)
    messages = objects_in(record, "messages")
    kept = _without_reverted(messages, object_in(info, "revert"))
    if len(kept) < len(messages):
        yield LeftOut("a message that the person took back", len(messages) - len(kept))
    for message in _under_prompts(kept):
        yield from _opencode_message(object_in(message, "info"), objects_in(message, "parts"))


def _without_reverted(messages: list[Mapping[str, Any]], revert: Mapping[str, Any]) -> list[Mapping[str, Any]]:
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


def _opencode_message(info: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> Iterator[ChatPart]:
    role, times, name = text_in(info, "role"), object_in(info, "time"), text_in(info, "id")
    own = [part for part in parts if part.get("type") == "text" and part.get("synthetic") is not True]
    text = "\n\n".join(text_in(part, "text") for part in own if text_in(part, "text").strip())
    if role == "user":
        has_files = any(part.get("type") == "file" for part in parts)
        if text or has_files:
            yield ChatMessage("user", text or ATTACHMENT, times.get("created"), name)
        else:
            yield LeftOut("a prompt that the client wrote")
            if not any(part.get("type") == "compaction" or _goes_on(part) for part in parts):
                yield NotAsked()
    elif info.get("summary") is True:
        yield LeftOut("a summary of what was said before")
    elif role == "assistant":
        used = [part for part in parts if part.get("type") == "tool"]
        yield ChatMessage(
            "agent",
            text,
            times.get("completed", times.get("created")),
            name,
            text_in(info, "modelID"),
            _tokens(object_in(info, "tokens")),
            number_in(info, "cost"),
            tuple(map(_opencode_call, used)),
            _end_of_error(text_in(object_in(info, "error"), "name")),
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


def _end_of_error(error: str) -> Any:  # noqa: ANN401 - a TurnEnd
    return "interrupted" if error == "MessageAbortedError" else "api_error" if error else "ended"


def _tokens(tokens: Mapping[str, Any]) -> int:
    cache = object_in(tokens, "cache")
    return int(sum(number_in(tokens, name) for name in _TOKENS) + sum(number_in(cache, name) for name in _CACHE))


def _opencode_call(part: Mapping[str, Any]) -> Call:
    tool = text_in(part, "tool")
    command = text_in(object_in(object_in(part, "state"), "input"), "command") if tool == "bash" else ""
    return Call(text_in(part, "callID"), tool, command)


OPENCODE = ChatLog(OPENCODE_NAME, 1, _opencode_producer, _opencode_parts)


# ------------------------------------------------------------------------------------------
# Trajectories of agents in ATIF, the Agent Trajectory Interchange Format of Harbor: one object with all steps.

ATIF_NAME = "atif"
_ATIF_SHELLS = frozenset({"bash", "Bash", "shell", "bash_command", "execute_bash"})
_COMMANDS = ("command", "cmd", "keystrokes")


def _atif_producer(record: Record) -> str | None:
    version = text_in(record, "schema_version")
    return version if version.startswith("ATIF-") and isinstance(record.get("steps"), list) else None


def _atif_parts(record: Record) -> Iterator[ChatPart]:
    if _atif_producer(record) is None:
        yield LeftOut("a record that is no trajectory")
        return
    agent, steps = object_in(record, "agent"), objects_in(record, "steps")
    name = text_in(record, "session_id") or text_in(record, "trajectory_id")
    begun = next((step["timestamp"] for step in steps if step.get("timestamp") is not None), None)
    yield ChatConversation(name, begun, agent=text_in(agent, "name"), version=text_in(agent, "version"))
    subagents = objects_in(record, "subagent_trajectories")
    if subagents:
        yield LeftOut("a trajectory of a subagent within another's", len(subagents))
    for step in steps:
        yield from _step(step, text_in(agent, "model_name"))


def _step(step: Mapping[str, Any], model: str) -> Iterator[ChatPart]:
    source, at = text_in(step, "source"), step.get("timestamp")
    name, said = str(step.get("step_id") or ""), step.get("message")
    text = said if isinstance(said, str) else text_of(said)
    if step.get("is_copied_context") is True:
        yield LeftOut("a step copied from an earlier trajectory")
    elif source == "user":
        yield ChatMessage("user", text or (ATTACHMENT if said else ""), at, name)
    elif source == "agent":
        metrics = object_in(step, "metrics")
        yield ChatMessage(
            "agent",
            text,
            at,
            name,
            text_in(step, "model_name") or model,
            int(number_in(metrics, "prompt_tokens") + number_in(metrics, "completion_tokens")),
            number_in(metrics, "cost_usd"),
            tuple(map(_atif_call, objects_in(step, "tool_calls"))),
        )
    else:
        yield LeftOut(f"a step of the {source[:40] or 'program'}")
    for result in objects_in(object_in(step, "observation"), "results"):
        held = result.get("content")
        yield CallResult(text_in(result, "source_call_id"), held if isinstance(held, str) else text_of(held))


def _atif_call(call: Mapping[str, Any]) -> Call:
    tool, given = text_in(call, "function_name"), object_in(call, "arguments")
    command = (
        next((text_in(given, name) for name in _COMMANDS if text_in(given, name)), "") if tool in _ATIF_SHELLS else ""
    )
    return Call(text_in(call, "tool_call_id"), tool, command)


ATIF = ChatLog(ATIF_NAME, 1, _atif_producer, _atif_parts)
