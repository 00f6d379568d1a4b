"""Claude Code's memory files, one memory each, and its instructions (`CLAUDE.md`, rules), one memory a section.

A transcript that says which files it was given names the same memories: `memories_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, LeftOut, Located
from slowwave.transforms.imports.record_values import moment_of
from slowwave.transforms.imports.secrets import without_home
from slowwave.transforms.imports.stores.facts import Fact, Held
from slowwave.transforms.imports.stores.front_scores import without_scores
from slowwave.transforms.imports.stores.markdown import Section, front_matter, sections
from slowwave.transforms.imports.stores.store import Store

_NAME = "claude-memory"
INDEX = "MEMORY.md"
# What Claude Code calls the kinds of its memories; what it calls otherwise is knowledge.
_OTHER = "knowledge"
_TYPES = {"user": "identity", "feedback": "preference", "project": "project", "reference": "knowledge"}
# Claude Code itself gives a memory no end; people and their tools write one into the front matter.
_EXPIRY = ("expires_at", "valid_until", "expiration_date")
_PROJECT_FOLDER = re.compile(r"projects/([^/]+)/memory$")
# A line of the index that leads to a memory's own file.
_LISTED = re.compile(r"\s*[-*]\s+\[[^\]]*\]\([^)]*\.md\)")


@dataclass(frozen=True)
class FileMemory:
    """A memory that a file holds; `fields` are those of `Held` that its text gives."""

    memory_id: str
    fields: dict[str, Any]


def memories_of(path: str, text: str) -> list[FileMemory]:
    """The memories of a file of Claude Code's, in their order; `path` is absolute, or begins with `~`."""
    folder, _, name = without_home(path.replace("\\", "/")).rpartition("/")
    of_project = _PROJECT_FOLDER.search(folder)
    place = of_project[1] if of_project else folder
    stated, body = front_matter(text)
    if name != INDEX and (of_project or "name" in stated):
        return _whole_file(f"{_NAME}:{place}/{name.removesuffix('.md')}", stated, body)
    if name == INDEX:
        body = "\n".join(line for line in body.splitlines() if not _LISTED.match(line))
    return [_section(f"{_NAME}:{place}/{name}", stated, one) for one in sections(body)]


def _whole_file(memory_id: str, stated: dict[str, Any], body: str) -> list[FileMemory]:
    if says_nothing(body):
        return []
    metadata = stated.get("metadata")
    kind = metadata.get("type") if isinstance(metadata, dict) else stated.get("type")
    memory_type = _TYPES.get(kind, _OTHER) if isinstance(kind, str) else _OTHER
    own = without_scores(stated)
    expiry = [own.pop(name) for name in _EXPIRY if isinstance(own.get(name), str)]
    fields = {"memory_type": memory_type, "content": body.strip(), "expires_at": next(iter(expiry), None)}
    return [FileMemory(memory_id, {**fields, _NAME: own or None})]


def _section(place: str, stated: dict[str, Any], section: Section) -> FileMemory:
    memory_id = f"{place}#{section.slug}" if section.slug else place
    return FileMemory(
        memory_id,
        {"category": " / ".join(section.path) or None, "content": section.text, _NAME: without_scores(stated) or None},
    )


def _facts(records: Iterable[Located], context: Context) -> Iterator[Fact]:
    """Records `{"path", "text", "modified_at", "directory"}`; the last is where the work lies that a file is for.

    Without a directory a file is for all work of its user.
    """
    for located in records:
        record = located.record
        found = memories_of(record["path"], record["text"])
        if not found:
            yield LeftOut("a file without a memory of its own", example=record["path"])
        directory = record["directory"]
        if directory is None:
            reach = {"memory_type": "preference", "scope": "global"}
        else:
            reach = {"memory_type": "project", "project": context.project_of(directory)}
        for memory in found:
            fields = {"status": "active", **reach, **memory.fields}
            yield Held(memory.memory_id, fields, None, moment_of(record["modified_at"]))


STORE = Store(name=_NAME, version=1, called="Claude Code's memory files", facts=_facts)
