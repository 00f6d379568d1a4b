"""Made-up conversations as the programs write them: of each format the same two turns, and what surrounds them.

In the first turn a shell ran the tests; the second has an answer alone.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

Record = dict[str, Any]
FIRST, SECOND = "Which port does it use?", "And the other one?"
ANSWER, LATER = "It listens on 4173.", "The other one has 5173."
COMMAND, PRINTED = "pytest -q", "3 passed in 0.10s"
START_MS = 1_772_900_000_000


def at(seconds: int) -> str:
    """The time of a message, in ISO-8601."""
    return f"2026-03-07T16:13:{20 + seconds:02}.000Z"


def chatgpt() -> list[Record]:
    """A conversation with an answer that was made anew, and one that is hidden."""

    def node(name: str, parent: str, role: str, text: str, **fields: Any) -> Record:
        message = {
            "id": f"m-{name}",
            "author": {"role": role},
            "create_time": START_MS / 1000 + len(nodes),
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {"model_slug": "model-1"} if role == "assistant" else {},
            "recipient": "all",
        }
        return {"id": name, "parent": parent, "children": [], "message": message | fields}

    nodes: dict[str, Record] = {"root": {"id": "root", "message": None, "parent": None, "children": ["a"]}}
    nodes["a"] = node("a", "root", "system", "")
    nodes["b"] = node("b", "a", "user", FIRST)
    nodes["left"] = node("left", "b", "assistant", "I do not know.")
    nodes["c"] = node("c", "b", "assistant", "", recipient="python")
    nodes["d"] = node("d", "c", "tool", PRINTED)
    nodes["e"] = node("e", "d", "assistant", ANSWER)
    nodes["f"] = node("f", "e", "user", SECOND)
    nodes["g"] = node("g", "f", "assistant", LATER)
    return [{"conversation_id": "s-1", "create_time": START_MS / 1000, "current_node": "g", "mapping": nodes}]


def claude_ai() -> list[Record]:
    def message(number: int, sender: str, text: str, *blocks: Record) -> Record:
        content = [*blocks, {"type": "text", "text": text}]
        return {"uuid": f"m-{number}", "sender": sender, "text": text, "content": content, "created_at": at(number)}

    uses = {"type": "tool_use", "id": "c-1", "name": "bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c-1", "content": []}
    messages = [
        message(1, "human", FIRST),
        message(2, "assistant", ANSWER, {"type": "thinking", "thinking": "secret"}, uses, result),
        message(3, "human", SECOND),
        message(4, "assistant", LATER),
    ]
    return [{"uuid": "s-1", "name": "ports", "created_at": at(0), "chat_messages": messages}]


def gemini_cli() -> list[Record]:
    """The lines of today's format, in which an answer is written again with its calls."""
    begun = {"id": "m-2", "timestamp": at(2), "type": "gemini", "content": ANSWER, "tokens": {"total": 30}}
    response = {"functionResponse": {"id": "c-1", "response": {"output": PRINTED}}}
    call = {"id": "c-1", "name": "run_shell_command", "args": {"command": COMMAND}, "result": [response]}
    return [
        {"sessionId": "s-1", "projectHash": "shop", "startTime": at(0), "kind": "main"},
        {"id": "m-1", "timestamp": at(1), "type": "user", "content": [{"text": FIRST}]},
        begun,
        {"$set": {"lastUpdated": at(2)}},
        begun | {"model": "model-1", "toolCalls": [call | {"status": "success"}]},
        {"id": "m-3", "timestamp": at(3), "type": "user", "content": SECOND},
        {"id": "m-4", "timestamp": at(4), "type": "gemini", "content": LATER},
    ]


def gemini_cli_whole() -> list[Record]:
    """The same as one object, as it was until 2026."""
    head, *lines = gemini_cli()
    return [head | {"messages": [line for line in lines if "id" in line]}]


def copilot_cli() -> list[Record]:
    def event(number: int, kind: str, **data: Any) -> Record:
        return {"type": kind, "data": data, "id": f"m-{number}", "timestamp": at(number)}

    request = {"toolCallId": "c-1", "name": "bash", "arguments": {"command": COMMAND}}
    return [
        event(0, "session.start", sessionId="s-1", copilotVersion="1.0", context={"cwd": "/work/shop"}),
        event(0, "system.message", role="system", content="You are an agent."),
        event(1, "user.message", content=FIRST, transformedContent=f"<now/>{FIRST}"),
        event(2, "assistant.message", content="", toolRequests=[request], outputTokens=30),
        event(2, "tool.execution_complete", toolCallId="c-1", success=True, result={"content": PRINTED}),
        event(2, "assistant.message", content=ANSWER, model="model-1") | {"id": "m-2b"},
        event(3, "user.message", content=SECOND),
        event(4, "assistant.message", content=LATER),
    ]


def opencode() -> list[Record]:
    def message(number: int, role: str, *parts: Record, **info: Any) -> Record:
        times = {"created": START_MS + 1000 * number}
        return {"info": {"id": f"m-{number}", "role": role, "time": times} | info, "parts": [*parts]}

    state = {"status": "completed", "input": {"command": COMMAND}, "output": PRINTED, "metadata": {"exit": 0}}
    tool = {"type": "tool", "tool": "bash", "callID": "c-1", "state": state}
    spent = {"modelID": "model-1", "tokens": {"input": 20, "output": 10, "cache": {"read": 0}}, "cost": 0.01}
    info = {"id": "ses_1", "version": "1.14", "directory": "/work/shop", "time": {"created": START_MS}}
    text = [{"type": "text", "text": each} for each in (FIRST, ANSWER, SECOND, LATER)]
    messages = [
        message(1, "user", text[0], {"type": "text", "text": "a file", "synthetic": True}),
        message(2, "assistant", {"type": "reasoning", "text": "secret"}, tool, text[1], **spent),
        message(3, "user", text[2]),
        message(4, "assistant", text[3]),
    ]
    return [{"info": info, "messages": messages}]


def atif() -> list[Record]:
    call = {"tool_call_id": "c-1", "function_name": "bash", "arguments": {"command": COMMAND}}
    result = {"source_call_id": "c-1", "content": PRINTED}
    agent = {"name": "terminus", "version": "2.0", "model_name": "model-1"}
    metrics = {"prompt_tokens": 20, "completion_tokens": 10, "cost_usd": 0.01}
    steps = [
        {"step_id": 1, "source": "system", "message": "You are an agent."},
        {"step_id": 2, "timestamp": at(1), "source": "user", "message": FIRST},
        {"step_id": 3, "timestamp": at(2), "source": "agent", "message": ANSWER, "tool_calls": [call]}
        | {"observation": {"results": [result]}, "metrics": metrics},
        {"step_id": 4, "timestamp": at(3), "source": "user", "message": [{"type": "text", "text": SECOND}]},
        {"step_id": 5, "timestamp": at(4), "source": "agent", "message": LATER},
    ]
    return [{"schema_version": "ATIF-v1.7", "session_id": "s-1", "agent": agent, "steps": steps}]


def cursor() -> list[Record]:
    """A conversation as the reader of the database gives it."""
    tool = {"toolCallId": "c-1", "name": "run_terminal_cmd", "params": {"command": COMMAND}, "status": "completed"}
    bubbles = [
        {"bubbleId": "m-1", "type": 1, "text": FIRST, "createdAt": at(1)},
        {"bubbleId": "m-2", "type": 2, "text": "", "createdAt": at(2), "toolFormerData": tool | {"result": PRINTED}},
        {"bubbleId": "m-2b", "type": 2, "text": ANSWER, "createdAt": at(2), "tokenCount": {"inputTokens": 30}},
        {"bubbleId": "m-3", "type": 1, "text": SECOND, "createdAt": at(3)},
        {"bubbleId": "m-4", "type": 2, "text": LATER, "createdAt": at(4)},
    ]
    folder = {"workspaceIdentifier": {"uri": {"fsPath": "/work/shop"}}}
    return [{"composerId": "s-1", "createdAt": START_MS, "bubbles": bubbles} | folder]


def cursor_stream() -> list[Record]:
    """What `cursor-agent` prints of one turn; calls alone have a time."""

    def said(kind: str, text: str) -> Record:
        return {"type": kind, "message": {"role": kind, "content": [{"type": "text", "text": text}]}}

    call = {"shellToolCall": {"args": {"command": COMMAND}}}
    done = {"shellToolCall": {"args": {}, "result": {"success": {"exitCode": 0, "stdout": PRINTED}}}}
    tool = {"type": "tool_call", "call_id": "c-1"}
    head = {"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/work/shop", "session_id": "s-1"}
    return [
        head,
        said("user", FIRST),
        tool | {"subtype": "started", "timestamp_ms": START_MS + 1000, "tool_call": call},
        tool | {"subtype": "completed", "timestamp_ms": START_MS + 2000, "tool_call": done},
        said("assistant", ANSWER),
        {"type": "result", "subtype": "success", "is_error": False, "result": ANSWER, "session_id": "s-1"},
    ]


def write_cursor_database(path: Path, *, broken: bool = True) -> Path:
    """A database as Cursor writes it: JSON in cells, the messages of a conversation under keys of their own.

    `broken`: with one conversation more that is no JSON.
    """
    (conversation,) = cursor()
    bubbles = conversation.pop("bubbles")
    headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
    rows = {f"bubbleId:s-1:{bubble['bubbleId']}": bubble for bubble in bubbles}
    rows |= {
        "composerData:s-1": conversation | {"fullConversationHeadersOnly": headers},
        "composerData:empty": {"composerId": "empty", "fullConversationHeadersOnly": []},
        "composerDatabase": {"composerId": "another key"},
    }
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        database.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)", [(key, json.dumps(value).encode()) for key, value in rows.items()]
        )
        if broken:
            database.execute("INSERT INTO cursorDiskKV VALUES ('composerData:broken', x'7b')")
        database.commit()
    return path
