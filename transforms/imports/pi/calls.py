"""Tool calls of a session, how they ended, and which memories they searched and read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from slowwave.transforms.imports.adapter import Call
from slowwave.transforms.imports.pi.texts import stated, text_of

_SHELLS = frozenset({"bash", "exec"})
_READERS = frozenset({"memory_get", "read"})
_MEMORY_FILE = re.compile(r"(?:^|[/\\])(?:MEMORY\.md|memory[/\\].+\.md)$", re.IGNORECASE)
_EXIT_CODE = re.compile(r"[Ee]xit(?:ed with)? code:? (\d{1,3})\b")
_ABORTED = ("Operation aborted", "Command aborted")
_MOST_OUTPUT = 250_000


class OpenCall(NamedTuple):
    """A call as it was made, with the file of memories that it reads, and from which line on."""

    call: Call
    reads: str = ""


def begun_call(block: Mapping[str, Any], directory: str) -> OpenCall | None:
    """The call that a block of an answer makes; `directory`: where the session works."""
    call_id, tool, given = stated(block, "id"), stated(block, "name"), block.get("arguments")
    if not call_id or not tool:
        return None
    given = given if isinstance(given, dict) else {}
    path = stated(given, "path") or stated(given, "file_path")
    is_memory = tool in _READERS and _MEMORY_FILE.search(path) is not None
    line = given.get("from", given.get("offset"))
    command = stated(given, "command") if tool in _SHELLS else ""
    return OpenCall(Call(call_id, tool, command), memory_id(path, line, directory) if is_memory else "")


def ended_call(call: Call, message: Mapping[str, Any]) -> Call:
    """The call with its result. That a file could not be read is said in details, not as an error."""
    found = message.get("details")
    details = found if isinstance(found, dict) else {}
    text = text_of(message)
    is_error = message.get("isError") is True or details.get("status") == "error"
    if text.endswith(_ABORTED):
        return call._replace(is_error=is_error, end="interrupted")
    if not call.command:
        return call._replace(is_error=is_error)
    exit_code = _exit_code(call, text, is_error, details)
    return call._replace(output=text[-_MOST_OUTPUT:], is_error=is_error, exit_code=exit_code)


def _exit_code(call: Call, text: str, is_error: bool, details: Mapping[str, Any]) -> int | None:
    stated_code = details.get("exitCode")
    if isinstance(stated_code, int) and not isinstance(stated_code, bool):
        return stated_code
    if is_error:
        said = _EXIT_CODE.search(text[-500:])
        return int(said[1]) if said else None
    return 0 if call.tool == "bash" else None  # which ends with an error where the shell does; others may run on


def offered(message: Mapping[str, Any], directory: str) -> list[dict[str, Any]]:
    """The memories that a search gave, in its order."""
    details = message.get("details")
    results = details.get("results") if isinstance(details, dict) else None
    found = []
    for rank, result in enumerate(results if isinstance(results, list) else [], start=1):
        if isinstance(result, dict) and stated(result, "path"):
            score = result.get("score")
            is_score = isinstance(score, (int, float)) and not isinstance(score, bool)
            memory = memory_id(stated(result, "path"), result.get("startLine"), directory)
            found.append({"id": memory, "rank": rank, "score": score if is_score else None})
    return found


def memory_id(path: str, line: object, directory: str) -> str:
    """What a place in a file of memories is called: by the path from where the session works, and its first line."""
    path = path.replace("\\", "/").removeprefix(f"{directory.rstrip('/')}/").removeprefix("./")
    return f"pi:{path}#L{line}" if isinstance(line, int) and not isinstance(line, bool) else f"pi:{path}"
