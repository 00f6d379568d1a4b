"""Tool calls and how they ended: refused by the person, interrupted, never run, or with an exit code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.imports.adapter import Call, CallEnd
from slowwave.transforms.imports.claude_code.texts import INTERRUPTED, stated, text_of

_SHELLS = frozenset({"Bash", "PowerShell"})
_SUBAGENTS = frozenset({"Task", "Agent"})
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")
_STOPPED = frozenset({"interrupted", "cancelled", "canceled"})
# Of versions before the client said it in a field of its own.
_REFUSED = ("The user doesn't want to proceed", "The user doesn't want to take this action", "User rejected tool use")
_CASCADE = "Sibling tool call errored"
# For rules alone, which look at the end.
_MOST_OUTPUT = 250_000


@dataclass
class OpenCall:
    """A call as it was made; `path`: of the file it reads, `subagent`: the kind of agent it starts."""

    call: Call
    path: str = ""
    subagent: str = ""


def begun_call(block: Mapping[str, Any]) -> OpenCall | None:
    """The call that a block of an answer makes."""
    call_id, tool, given = stated(block, "id"), stated(block, "name"), block.get("input")
    if not call_id or not tool:
        return None
    given = given if isinstance(given, dict) else {}
    command = stated(given, "command") if tool in _SHELLS else ""
    path = stated(given, "file_path") if tool == "Read" else ""
    subagent = stated(given, "subagent_type") if tool in _SUBAGENTS else ""
    return OpenCall(Call(call_id, tool, command), path, subagent)


def ended_call(call: Call, block: Mapping[str, Any], record: Mapping[str, Any]) -> Call:
    """The call with its result: the block that has it, and the record that has the block."""
    text = text_of(block.get("content"))
    is_error = block.get("is_error") is True
    end = _end(text, is_error, record)
    output = text[-_MOST_OUTPUT:] if call.command else ""
    exit_code = _exit_code(text, is_error, record.get("toolUseResult")) if call.command and end == "ended" else None
    return call._replace(output=output, exit_code=exit_code, is_error=is_error, end=end)


def _end(text: str, is_error: bool, record: Mapping[str, Any]) -> CallEnd:
    denial = stated(record, "toolDenialKind")
    if denial:
        return "interrupted" if denial in _STOPPED else "refused"
    result = record.get("toolUseResult")
    if isinstance(result, dict) and result.get("interrupted") is True:
        return "interrupted"
    if not is_error:
        return "ended"
    if text.startswith(INTERRUPTED):
        return "interrupted"
    if text.startswith(_REFUSED) or result == _REFUSED[-1]:
        return "refused"
    return "cascade" if _CASCADE in text[:200] else "ended"


def _exit_code(text: str, is_error: bool, result: object) -> int | None:
    """None where nobody knows: of what runs on in the background, timed out, or was read in the client's own way."""
    if is_error:
        said = _EXIT_CODE.match(text)
        return int(said[1]) if said else None
    if isinstance(result, dict) and (result.get("backgroundTaskId") or result.get("returnCodeInterpretation")):
        return None
    return 0
