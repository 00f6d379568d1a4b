"""Claude Code's memory files, written as they lie there: scores into the front matter, what is archived put aside.

CLAUDE.md, rules and the index hold memories as sections among others: these are never written but for the line of the
index that leads to an archived file; for the rest a patch is made.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slowwave.flows.imports.claude_files import ClaudeFiles
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.store import fsync_path, write_durably
from slowwave.flows.kernel.terminal import shown_name, terminal_safe
from slowwave.flows.push.door import StoreChangedError
from slowwave.transforms.decisions.push import State, changed_fields
from slowwave.transforms.imports.stores.claude_memories import INDEX, FileMemory, memories_of
from slowwave.transforms.imports.stores.memory_files import UnchangeableError, front_matter, scores_in, with_scores

_ARCHIVE = ".archive"
_ASIDE = re.compile(r"\.[0-9a-f]{8}\.tmp$")
_LISTED = re.compile(r"\s*[-*]\s+\[[^\]]*\]\((?:\./)?([^)/]+\.md)\)")


@dataclass(frozen=True)
class _Memory:
    """A memory that a file holds whole: where it lies, or lay before it was archived, and whether it was."""

    live: Path
    is_archived: bool

    @property
    def archived(self) -> Path:
        return self.live.parent / _ARCHIVE / self.live.name

    @property
    def file(self) -> Path:
        return self.archived if self.is_archived else self.live


class ClaudeDoor:
    """The files of memories under a folder, as `slowwave import claude-memory` finds them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sections: dict[str, Path] = {}
        self._memories: dict[str, _Memory] = {}
        try:
            self._find()
        except OSError as error:
            message = f"{shown_name(error.filename or root)} cannot be read: {error.strerror or error}"
            raise UserError(message) from error

    def _find(self) -> None:
        files = ClaudeFiles().list_files(self._root)
        for folder in sorted(
            {file.parent / _ARCHIVE for file in files if file.parent.name == "memory"} | self._find_archive_folders()
        ):
            for archived in sorted(one for one in folder.glob("*.md") if one.is_file()):
                live = folder.parent / archived.name
                for one in memories_of(shown_name(live.absolute()), _text(archived)):
                    self._memories[one.memory_id] = _Memory(live, is_archived=True)
        for file in files:
            for one in memories_of(shown_name(file.absolute()), _text(file)):
                if "#" in one.memory_id or one.memory_id.endswith(".md"):
                    self._sections[one.memory_id] = file
                else:
                    self._memories[one.memory_id] = _Memory(file, is_archived=False)

    def _find_archive_folders(self) -> set[Path]:
        """Where all that there was has been archived."""
        return {*self._root.glob(f"projects/*/memory/{_ARCHIVE}")}

    def states(self, memory_ids: Sequence[str]) -> dict[str, State]:
        """As in Door."""
        return {
            memory_id: self._state(self._memories[memory_id]) for memory_id in memory_ids if memory_id in self._memories
        }

    def _state(self, memory: _Memory) -> dict[str, Any]:
        raw = memory.file.read_bytes()
        text = raw.decode("utf-8", "backslashreplace")
        said = {
            "is_archived": memory.is_archived,
            "listed": _find_index_line(memory.live),
            "scores": scores_in(text),
            "content": front_matter(text)[1].strip(),
        }
        why = self._why_closed(memory.file, raw, text)
        return {**said, "closed": why} if why else said

    def _why_closed(self, file: Path, raw: bytes, text: str) -> str | None:
        status = file.lstat()
        if status.st_uid != os.geteuid() and os.geteuid() != 0:
            return "its file belongs to another user of this machine"
        if not stat.S_ISREG(status.st_mode):
            return "its file is a link"
        return None if raw == text.encode("utf-8", "surrogateescape") else "its file is not UTF-8"

    def write(self, memory_id: str, before: State, after: State) -> State:
        """As in Door. Killed in between, it is done in part: a file is whole, before or after, at any moment."""
        memory = self._memories.get(memory_id)
        if memory is None or not memory.file.exists():
            message = "its file is gone"
            raise StoreChangedError(message)
        now = self._state(memory)
        differing = changed_fields({name: now.get(name) for name in before}, before)
        if differing or "closed" in now:
            message = now.get("closed") or f"its {min(differing).replace('is_', '')} changed since it was looked at"
            raise StoreChangedError(message)
        _rewrite(memory.file, before, after)
        if after["is_archived"] != memory.is_archived:
            memory = self._memories[memory_id] = _move_memory(memory)
        _list(memory.live, now["listed"], after.get("listed"))
        return self._state(memory)

    def patches(self, wanted: Sequence[tuple[str, str | None]]) -> list[str]:
        """As in Door: unified differences, for `patch -p0` or a person."""
        by_file: dict[Path, list[tuple[str, str | None]]] = {}
        for memory_id, content in wanted:
            if memory_id in self._sections:
                by_file.setdefault(self._sections[memory_id], []).append((memory_id, content))
        return [said for file, changes in by_file.items() if (said := _patch(file, changes))]

    def close(self) -> None:
        """As in Door."""


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "backslashreplace")


def _rewrite(file: Path, before: State, after: State) -> None:
    """The file with its new scores and text, all else as it is."""
    text = made = _text(file)
    try:
        if after.get("scores") != before.get("scores"):
            made = with_scores(made, after.get("scores"))
    except UnchangeableError as error:
        raise StoreChangedError(str(error)) from error
    if after["content"] != before["content"]:
        at = len(made) - len(front_matter(made)[1].lstrip())
        made = made[:at] + after["content"] + made[at + len(before["content"]) :]
        if front_matter(made)[1].strip() != after["content"]:
            message = "its new text would be read as something else there: change the file itself"
            raise StoreChangedError(message)
    if made != text:
        _write(file, made.encode())


def _write(file: Path, content: bytes) -> None:
    """Whose file it is, and who may read it, stays as it was."""
    was = file.stat() if file.is_file() else file.parent.stat()

    def fill(aside: Path) -> None:
        aside.write_bytes(content)
        _give(aside, was)
        if stat.S_ISREG(was.st_mode):
            aside.chmod(stat.S_IMODE(was.st_mode))

    for left in file.parent.glob(f".{glob.escape(file.name)}.*.tmp"):
        if _ASIDE.search(left.name):  # of a push that was killed before it put its file in place
            left.unlink()
    write_durably(file, fill)


def _give(path: Path, to: os.stat_result) -> None:
    """Root makes nothing in another user's folder that this user could not write any more."""
    if os.geteuid() == 0:
        os.chown(path, to.st_uid, to.st_gid)


def _move_memory(memory: _Memory) -> _Memory:
    """The file in the archive, or back from it; nothing is ever written over."""
    moved = _Memory(memory.live, is_archived=not memory.is_archived)
    if moved.file.exists():
        message = f"{shown_name(moved.file)} is there already: move it away, and run this again"
        raise StoreChangedError(message)
    if not moved.file.parent.exists():
        moved.file.parent.mkdir()
        _give(moved.file.parent, memory.file.parent.stat())
    memory.file.rename(moved.file)
    for folder in (memory.file.parent, moved.file.parent):
        fsync_path(folder)
    return moved


def _find_index_line(live: Path) -> list[Any] | None:
    """The number, from 0, and the text of the line of the index that leads to a file."""
    index = live.parent / INDEX
    lines = _text(index).splitlines(keepends=True) if index.is_file() else []
    found = ((at, line) for at, line in enumerate(lines) if (lead := _LISTED.match(line)) and lead[1] == live.name)
    return next(([at, line] for at, line in found), None)


def _list(live: Path, now: list[Any] | None, wanted: list[Any] | None) -> None:
    """Take the line out of the index, or put it where it was."""
    index = (live.parent / INDEX).resolve()
    if bool(now) == bool(wanted):
        return
    raw = index.read_bytes() if index.is_file() else b""
    lines = raw.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    if now:
        del lines[now[0]]
    elif wanted:
        if lines and not lines[-1].endswith(("\n", "\r")) and wanted[0] >= len(lines):
            lines[-1] += "\n"
        lines.insert(wanted[0], wanted[1])
    _write(index, "".join(lines).encode("utf-8", "surrogateescape"))


def _patch(file: Path, changes: Sequence[tuple[str, str | None]]) -> str:
    text = made = _text(file)
    held = {one.memory_id: one for one in memories_of(shown_name(file.absolute()), text)}
    for memory_id, content in changes:
        was, becomes = _passages(held[memory_id], content)
        if made.count(was) == 1:
            made = made.replace(was, becomes)
    name = shown_name(file)
    lines = difflib.unified_diff(text.splitlines(), made.splitlines(), name, name, lineterm="")
    return "\n".join(map(terminal_safe, lines))


def _passages(memory: FileMemory, content: str | None) -> tuple[str, str]:
    """What stands in the file for a memory, and what is to stand there: a rule keeps its place in its list."""
    rule = memory.rule
    if rule is None:
        return memory.fields["content"], content or ""
    if content is None:
        return rule.said, ""
    lines = content.removeprefix(rule.lead).strip().split("\n")
    return rule.said, rule.marker + f"\n{' ' * len(rule.marker)}".join(lines)
