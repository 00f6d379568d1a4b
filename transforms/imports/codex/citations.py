"""Which memories an answer says it relied on, and which were read: by path below Codex's folder of memories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slowwave.transforms.imports.inferred.programs import program
from slowwave.transforms.imports.inferred.shell_lines import shell_line
from slowwave.transforms.imports.record_values import (
    list_in,
    object_or_empty,
    text_in,
    text_or_empty,
    whole_number,
)

_BEGIN = "<oai-mem-citation>"
_BLOCK = re.compile(rf"{_BEGIN}([\s\S]*?)(?:</oai-mem-citation>|\Z)")
_ENTRY = re.compile(r"([^|]+):(\d{1,9})-(\d{1,9})(?:\||$)")
_LONGEST = 1_000  # characters of a line or word that can name a memory
_OF_THREADS = ("rollout_ids", "thread_ids")
# What Codex counts as a use of a memory.
_MEMORY_FILE = re.compile(
    r"(?:^|[/\\])memories[/\\]((?:MEMORY|memory_summary|raw_memories)\.md|(?:rollout_summaries|skills)[/\\][^\s*?]+)$"
)
_READING = frozenset({"cat", "sed", "head", "tail", "less", "more", "nl", "bat", "rg", "grep", "awk", "Get-Content"})
_FOLDER = "memories"


def cut(answer: str) -> tuple[str, list[str], list[str]]:
    """An answer without its block of citations; the memories cited in it, and the older threads."""
    if _BEGIN not in answer:
        return answer, [], []
    cited: list[str] = []
    threads: list[str] = []
    for block in _BLOCK.findall(answer):
        threads += (line.strip() for tag in _OF_THREADS for line in _within(tag, block).splitlines())
        lines = (line.strip() for line in block.splitlines())
        found = (_ENTRY.match(line) for line in lines if len(line) <= _LONGEST)
        cited += (_name(entry[1], entry[2], entry[3]) for entry in found if entry)
    return _BLOCK.sub("", answer).rstrip(), cited, [*filter(None, threads)]


def stated(citation: object) -> tuple[list[str], list[str]]:
    """The memories and the older threads of a `memory_citation`."""
    given = object_or_empty(citation)
    entries = map(object_or_empty, list_in(given, "entries"))
    cited = [
        _name(text_in(one, "path"), whole_number(one.get("lineStart")), whole_number(one.get("lineEnd")))
        for one in entries
        if text_in(one, "path")
    ]
    threads = list_in(given, "rolloutIds") or list_in(given, "threadIds")
    return cited, [*filter(None, map(text_or_empty, threads))]


def memories_opened(command: str) -> Iterator[str]:
    """The memories that a shell line reads."""
    line = shell_line(command) if _FOLDER in command else None
    for one in line.commands if line else ():
        words = program(one.words)
        if words and words[0] in _READING:
            found = (_MEMORY_FILE.search(word) for word in words[1:] if len(word) <= _LONGEST)
            yield from (_named(match[1]) for match in found if match)


def _within(tag: str, block: str) -> str:
    return block.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def _name(path: str, start: object, end: object) -> str:
    lines = f"#L{start}-{end}" if start is not None and end is not None else ""
    found = _MEMORY_FILE.search(path[:_LONGEST])
    return f"{_named(found[1] if found else path)}{lines}"


def _named(path: str) -> str:
    return f"codex:{path.replace(chr(92), '/')}"
