"""Which memories a turn was given: what the client attached, and what the agent read in the folder of memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.claude_code.texts import stated
from slowwave.transforms.imports.stores.claude_memory import memories_of

_MEMORY_FOLDER = re.compile(r"[/\\]projects[/\\][^/\\]+[/\\]memory[/\\].*\.md$|[/\\]MEMORY\.md$")
# What `cat -n` puts before a line, as the tool that reads files prints it.
_NUMBERED = re.compile(r"^ *\d+(?:\u2192|\t)", re.MULTILINE)


def is_memory_file(path: str) -> bool:
    """Whether a file that the agent reads holds memories."""
    return _MEMORY_FOLDER.search(path) is not None


def instructed(attachment: Mapping[str, Any]) -> list[str]:
    """Ids of the memories in the files of instructions that a conversation stands on from then on."""
    files = attachment.get("files")
    given = files if isinstance(files, list) else []
    return [memory for file in given if isinstance(file, dict) for memory in _of_file(file)]


def recalled(attachment: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that an attachment gives for the turn alone."""
    if attachment.get("type") == "nested_memory":
        content = attachment.get("content")
        return list(_of_file(content)) if isinstance(content, dict) else []
    found = attachment.get("memories")
    given = found if isinstance(found, list) else []
    return [memory for file in given if isinstance(file, dict) for memory in _of_file(file)]


def read(path: str, result: object, printed: str) -> list[str]:
    """Ids of the memories in a file of them that the agent read."""
    file = result.get("file") if isinstance(result, dict) else None
    content = stated(file, "content") if isinstance(file, dict) else ""
    return _ids(path, content or _NUMBERED.sub("", printed.partition("<system-reminder>")[0]))


def _of_file(file: Mapping[str, Any]) -> Iterator[str]:
    path, content = stated(file, "path"), stated(file, "content")
    if path and content:
        yield from _ids(path, content)


def _ids(path: str, content: str) -> list[str]:
    return [memory.memory_id for memory in memories_of(path, content)]
