"""The tool calls of a turn: as Codex says that they ended, or else as the model was told."""

from __future__ import annotations

import re
from typing import Any

import orjson

from slowwave.transforms.imports.codex.messages import parts
from slowwave.transforms.imports.made import Record
from slowwave.transforms.imports.record_values import (
    list_or_empty,
    object_in,
    object_or_empty,
    text_in,
    text_or_empty,
    whole_number,
)
from slowwave.transforms.imports.turns import Call, CallEnd

SHELL = "shell"
_SHELLS = re.compile(r"(?:.*[/\\])?(?:ba|z|k|da)?sh(?:\.exe)?|(?:.*[/\\])?(?:powershell|pwsh)(?:\.exe)?")
_SCRIPT_FOLLOWS = re.compile(r"-[a-z]*c|-Command", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+")
_OF_A_SHELL = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec"})
# How the model is told of the end of a command, before its output.
_HEADER = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:(?:Exit code|Process exited with code):? (?P<first>-?\d+)\n)?"
    r"(?:Wall time: [^\n]*\n)?(?:Process exited with code (?P<second>-?\d+)\n)?(?:Process running with [^\n]*\n)?"
    r"(?:Original token count: [^\n]*\n)?(?:Total output lines: [^\n]*\n)?Output:\n"
)
_REFUSED = re.compile(r"(?:exec command |patch |tool call |\w+ )?rejected by (?:the )?user", re.IGNORECASE)
_INTERRUPTED = re.compile(r"aborted by (?:the )?user|command was interrupted", re.IGNORECASE)
# Of a long output its end is what runners sum up in.
_HEAD, _TAIL = 16_384, 114_688
_ITEMS = {
    "CommandExecution": SHELL,
    "FileChange": "apply_patch",
    "McpToolCall": "mcp",
    "DynamicToolCall": "dynamic",
    "CollabAgentToolCall": "agent",
    "WebSearch": "web_search",
    "ImageView": "view_image",
    "Extension": "extension",
}
_EVENTS = {"exec_command_end": SHELL, "patch_apply_end": "apply_patch", "mcp_tool_call_end": "mcp"}


class Calls:
    """The calls of a turn in the order in which they were first heard of, each once."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._told: set[str] = set()

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of calls
        return iter(self._calls.values())

    def item(self, item: Record) -> None:
        """Of an `item_completed`; what is no tool call is passed over."""
        tool = _ITEMS.get(text_in(item, "type"))
        if tool is not None:
            self._end_told(text_in(item, "id"), tool, item)

    def event(self, event: Record) -> None:
        """Of an event of the earlier generation; what is no end of a tool call is passed over."""
        tool = _EVENTS.get(text_in(event, "type"))
        if tool is not None:
            self._end_told(text_in(event, "call_id"), tool, event)

    def _end_told(self, call_id: str, tool: str, ended: Record) -> None:
        call_id = call_id or f"call {len(self._calls) + 1}"
        status = text_in(ended, "status")
        output = text_in(ended, "aggregated_output") or text_in(ended, "stdout") + text_in(ended, "stderr")
        self._told.add(call_id)
        self._calls[call_id] = Call(
            call_id,
            tool,
            command_line(ended.get("command")) if tool == SHELL else "",
            _kept(output),
            whole_number(ended.get("exit_code")),
            status in {"failed", "declined"} or ended.get("success") is False,
            "refused" if status == "declined" else "ended",
        )

    def begun(self, item: Record) -> None:
        """Of a call as the model made it."""
        call_id = text_in(item, "call_id") or text_in(item, "id")
        if not call_id or call_id in self._calls:
            return
        name = text_in(item, "name") or text_in(item, "type").removesuffix("_call")
        is_shell = name in _OF_A_SHELL
        self._calls[call_id] = Call(call_id, SHELL if is_shell else name, _asked(item) if is_shell else "")

    def answered(self, item: Record) -> None:
        """Of what the model was told of a call."""
        call_id = text_in(item, "call_id")
        begun = self._calls.get(call_id)
        if begun is None or call_id in self._told:
            return
        said = item.get("output")
        output, exit_code = _ended(
            said if isinstance(said, str) else parts(object_or_empty(said).get("content") or said)
        )
        end: CallEnd = "ended"
        if _REFUSED.match(output):
            end = "refused"
        elif _INTERRUPTED.match(output):
            end = "interrupted"
        self._calls[call_id] = begun._replace(output=_kept(output), exit_code=exit_code, end=end)


def command_line(command: object) -> str:
    """A command, or the words of one, as a shell would be given it."""
    if isinstance(command, str):
        return command
    words = [text_or_empty(word) for word in list_or_empty(command)]
    for place, word in enumerate(words[1:-1], start=1):
        if _SHELLS.fullmatch(words[0]) and _SCRIPT_FOLLOWS.fullmatch(word):
            return words[place + 1]
    return " ".join(word if _PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'" for word in words)


def _asked(item: Record) -> str:
    asked = object_in(item, "action") or object_or_empty(_json(item.get("arguments")))
    return command_line(asked.get("cmd") or asked.get("command"))


def _ended(said: str) -> tuple[str, int | None]:
    """The output that the model was told of, and the exit code."""
    told = object_or_empty(_json(said)) if said.startswith("{") else {}
    if "output" in told:
        return text_in(told, "output"), whole_number(object_in(told, "metadata").get("exit_code"))
    found = _HEADER.match(said)
    if not found:
        return said, None
    stated = found["first"] or found["second"]
    return said[found.end() :], None if stated is None else int(stated)


def _json(value: object) -> object:
    try:
        return orjson.loads(text_or_empty(value))
    except orjson.JSONDecodeError:
        return None


def _kept(output: str) -> str:
    return output if len(output) <= _HEAD + _TAIL else f"{output[:_HEAD]}\n{output[-_TAIL:]}"
