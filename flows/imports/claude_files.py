"""Claude Code's memory files and instructions under a folder: one unit, so that what is gone from it is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path

import orjson

from slowwave.flows.imports.trace_parts import KeptParts
from slowwave.flows.imports.units import (
    FoundUnits,
    NotImported,
    ReadRecord,
    Unit,
    UnreadableUnitError,
    file_status,
)
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.flows.kernel.terminal import shown_name
from slowwave.transforms.imports.adapter import Adapter, Located
from slowwave.transforms.imports.stores.change_log import Store
from slowwave.transforms.imports.stores.claude_memories import CLAUDE_MEMORY_STORE, INDEX

# ------------------------------------------------------------------------------------------
# Claude Code's memory files and instructions under a folder: one unit, so that what is gone from it is known.

# Where a folder of Claude Code's own, of a project, or of memories has them.
_AGENTS = "AGENTS.md"
_PATTERNS = (
    _AGENTS,
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    ".claude/rules/**/*.md",
    "projects/*/memory/*.md",
)
_FOLDERS = (".claude/rules/**", "rules/**", "projects/*", "projects/*/memory")
_OWN = ".claude"
_LONGEST_FILE = 16 * 2**20
_FIRST_LINES = 50


@dataclass(frozen=True)
class ClaudeFiles:
    """Memory files and instructions of Claude Code."""

    adapter: Store = CLAUDE_MEMORY_STORE
    described: str = "memory files and instructions of Claude Code"
    roots: tuple[str, ...] = ("$CLAUDE_CONFIG_DIR", "~/.claude")

    @property
    def name(self) -> str:
        """What the source is called on the command line."""
        return self.adapter.name

    def list_files(self, path: Path) -> list[Path]:
        """The files of memories and instructions under a path; a link that leads out of it is none."""
        if not path.is_dir():
            return [path]
        patterns = [*_PATTERNS]
        if _is_own(path) or path.name == _OWN:
            patterns.append("rules/**/*.md")
        if (path / INDEX).is_file():
            patterns.append("*.md")
        inside = path.resolve()
        found = {file for pattern in patterns for file in path.glob(pattern)}
        inner = [file for file in found if file.is_file() and file.resolve().is_relative_to(inside)]
        linked = {file.resolve() for file in inner if file.is_symlink()}
        return sorted(file for file in inner if file.is_symlink() or file.name != _AGENTS or file not in linked)

    def is_named_so(self, file: Path) -> bool:
        """Whether a file is called as memories and instructions are: any other Markdown may be anything."""
        path = file.absolute().as_posix()
        return any(fnmatch(path, f"*/{pattern.replace('**/', '')}") for pattern in _PATTERNS)

    def group_units(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:  # noqa: ARG002
        """The units as they are: each is a store of its own."""
        return units

    def find_units(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> FoundUnits:  # noqa: ARG002
        """All files under a path as one unit, if all folders can be listed in which they may be. Raises OSError."""
        try:
            files = self.list_files(path)
            _check_listable(path)
            states = [(file, file_status(file)) for file in files]
        except OSError as error:
            what = f" {shown_name(error.filename)} cannot be:" if error.filename else ""
            why = f"was not read:{what} {error.strerror or error}"
            return FoundUnits(others=[NotImported(shown_name(path), why, is_fault=True)])
        if not files or not (path.is_dir() or path.suffix == ".md"):
            why = "has neither memory files nor CLAUDE.md" if path.is_dir() else "is no Markdown file"
            return FoundUnits(others=[NotImported(shown_name(path), why, is_fault=True)])
        listed = sha256()
        size = 0
        for file, status in states:
            size += status.st_size
            listed.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        return FoundUnits(
            [
                Unit(
                    shown_name(path),
                    partial(_records, path, files),
                    {"files": listed.hexdigest()},
                    modified_at=0.0,  # it is never in the middle of a turn
                    producer=self.adapter.called,
                    size=size,
                    is_one_piece=True,
                )
            ]
        )


def _check_listable(root: Path) -> None:
    """Raises OSError where a folder of memories cannot be listed: those in it would seem to be gone."""
    for folder in (each for pattern in _FOLDERS for each in root.glob(pattern)):
        if folder.is_dir():
            with os.scandir(folder):
                pass


def _records(root: Path, files: list[Path]) -> Iterator[ReadRecord]:
    """One record per file. Where one cannot be read, none is: its memories would seem to be gone."""
    work: dict[Path, str] = {}
    for number, file in enumerate(files, 1):
        try:
            text, modified = _read_file(file)
        except OSError as error:
            message = f"was not read: {shown_name(file)} cannot be: {error.strerror or error}"
            raise UnreadableUnitError(message) from error
        record = {
            "path": shown_name(file.absolute()),
            "text": text,
            "modified_at": datetime.fromtimestamp(modified, UTC).isoformat(),
            "directory": _directory(root, file, work),
        }
        yield Located(number, record)


def _read_file(file: Path) -> tuple[str, float]:
    """A file's text and when it was written; read again where it was written meanwhile."""
    for _ in range(3):
        before = file_status(file)
        if before.st_size > _LONGEST_FILE:
            message = f"it has {before.st_size:,} bytes, which no memory file has"
            raise OSError(message)
        raw = file.read_bytes()
        after = file.stat()
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            return raw.decode("utf-8", "backslashreplace"), after.st_mtime
    message = "it is being written to"
    raise OSError(message)


def _is_own(folder: Path) -> bool:
    """Whether it is the folder of Claude Code's own, which holds what is for all projects."""
    return (folder / "projects").is_dir() or folder.resolve() == Path.home() / _OWN


def _directory(root: Path, file: Path, work: dict[Path, str]) -> str | None:
    """Where the work lies that a file is for; None: it is for all work."""
    folder = file.parent
    if folder.name == "memory" and folder.parent.parent.name == "projects":
        project = folder.parent
        if project not in work:
            work[project] = _worked_in(project) or project.name
        return work[project]
    if _is_own(root) and file.is_relative_to(root):
        return None
    if _OWN in file.relative_to(root if root.is_dir() else root.parent).parts or folder.name == _OWN:
        folder = next(above.parent for above in file.parents if above.name == _OWN)
    return shown_name(folder.absolute())


def _worked_in(project: Path) -> str | None:
    """The working directory that a project's newest transcript states: the name of its folder does not tell it."""
    transcripts = [
        (entry.stat().st_mtime, entry.path)
        for entry in os.scandir(project)
        if entry.name.endswith(".jsonl") and entry.is_file()
    ]
    for _, path in sorted(transcripts, reverse=True):
        with Path(path).open("rb") as lines:
            for line in islice(lines, _FIRST_LINES):
                with suppress(orjson.JSONDecodeError):
                    record = orjson.loads(line)
                    if isinstance(record, dict) and isinstance(record.get("cwd"), str):
                        return record["cwd"]
    return None
