"""Whose the files under a path are, by what is in them; what other formats are; and why an import made no rows."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from slowwave.flows.imports.claude_files import ClaudeFiles
from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.importer import ImportReport
from slowwave.flows.imports.record_readers import json_objects, table_rows
from slowwave.flows.imports.sources import SOURCES, Source
from slowwave.flows.imports.sqlite_files import is_sqlite, sqlite_schema
from slowwave.flows.imports.units import NotImported, UnreadableUnitError, file_status, files_below
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, shown_name
from slowwave.transforms.imports.adapter import Located, Record

# ------------------------------------------------------------------------------------------
# Formats that are recognised and not imported, and what to do in place of an import.

_MOST_TABLES = 6
_ROW = ("prompt", "memory_id", "outcome_id", "success")
_HOOK = frozenset({"event", "hook_event_name", "hook_event"})
_CAPTURE = "send its OpenTelemetry traces to `slowwave capture`"
_ROWS = "write a row for each question and answer (prompt, response, created_at) and `slowwave land` them"
_SQLITE = "export its conversations as JSON lines, then `slowwave mapping suggest FILE` and `slowwave land FILE`"


@dataclass(frozen=True)
class OtherFormat:
    """A format: what a file of it is, and what to do with it."""

    called: str
    instead: str

    def describe_format(self) -> str:
        """Return the rest of a sentence that begins with the name of a file."""
        return f"is {self.called}, which Slowwave does not import: {self.instead}"


def other_records(first: Sequence[Record]) -> OtherFormat | None:
    """Return the format of a file with these first records; None where there are none."""
    for is_one, found in _OF_RECORDS:
        if any(is_one(record) for record in first):
            return found
    return None


def other_tables(schema: Mapping[str, Sequence[str]]) -> OtherFormat:
    """Return what an SQLite database with these tables and columns is."""
    for tables, found in _OF_TABLES:
        if tables <= schema.keys():
            return found
    shown = [*schema][:_MOST_TABLES] + (["…"] if len(schema) > _MOST_TABLES else [])
    return OtherFormat(f"an SQLite database of a program that is not known ({', '.join(shown) or 'no table'})", _SQLITE)


def other_text(head: bytes) -> OtherFormat | None:
    """Return the format of a file that holds no records, by its first bytes; None where it is not known."""
    return next((found for begins, found in _OF_TEXTS if begins in head), None)


def _is_chat(record: Record) -> bool:
    messages = record.get("messages")
    return isinstance(messages, list) and any(isinstance(one, dict) and "role" in one for one in messages)


def _is_request(record: Record) -> bool:
    parts = (record.get(name) for name in ("body", "request", "request_body", "kwargs"))
    inner = [part for part in parts if isinstance(part, dict)]
    return any(_is_chat(part) and "model" in part for part in (record, *inner)) or "custom_id" in record


_OF_RECORDS: tuple[tuple[Callable[[Record], bool], OtherFormat], ...] = (
    (
        lambda record: "session_id" in record and not _HOOK.isdisjoint(record),
        OtherFormat(
            "a log that a hook of Claude Code wrote",
            "the transcripts of its sessions have what was said: `slowwave import claude-code ~/.claude/projects`",
        ),
    ),
    (
        lambda record: {"event", "properties", "time"} <= record.keys(),
        OtherFormat("a log of aider's analytics", "it holds neither prompts nor answers"),
    ),
    (_is_request, OtherFormat("a log of requests to a model without its answers", f"{_CAPTURE}, or {_ROWS}")),
    (_is_chat, OtherFormat("a list of chats (OpenAI, Anthropic) without times", _ROWS)),
    (
        lambda record: any(record.get(name) not in (None, "") for name in _ROW),
        OtherFormat("a file of rows as `slowwave land` takes them", "`slowwave land FILE`"),
    ),
    (
        bool,
        OtherFormat(
            "a file of records whose program is not known", "`slowwave mapping suggest FILE`, then `slowwave land FILE`"
        ),
    ),
)
_OF_TABLES: tuple[tuple[frozenset[str], OtherFormat], ...] = (
    (frozenset({"agent_sessions", "agent_messages"}), OtherFormat("a session store of OpenAI's Agents SDK", _SQLITE)),
    (frozenset({"collections", "embeddings"}), OtherFormat("a vector store of Chroma's", _SQLITE)),
    (
        frozenset({"cursorDiskKV"}),
        OtherFormat(
            "a database of Cursor's in which no conversation can be read",
            "restore it from a backup, or recover it with `sqlite3 FILE .recover`",
        ),
    ),
    (frozenset({"conversations", "responses"}), OtherFormat("a log of `llm`", _SQLITE)),
)
_OF_TEXTS: tuple[tuple[bytes, OtherFormat], ...] = (
    (b"# aider chat started at", OtherFormat("a chat history of aider's, whose turns have no times", _ROWS)),
)


# ------------------------------------------------------------------------------------------
# Why an import made no row of what it read, and what to do about it.

_MOST = 3
_LONGEST = 300


def why_no_rows(source: Source, report: ImportReport, paths: Sequence[Path]) -> str:
    """Return why nothing came of the records of an import of `paths`, with the command to use, as a sentence.

    '' where rows were made, where there was nothing to read, where files were imported before, and where nothing is
    missing, as of a store that has not changed, a turn that goes on, or records older than --since.
    """
    tally = report.tally
    read = tally.records.total()
    if tally.kinds or tally.settled or report.unchanged or not read:
        return ""
    ranked = tally.refused or tally.left_out  # what was refused should have made rows
    why = (
        _describe_counts(ranked)
        if ranked
        else f"they are {_describe_counts(tally.records)}, and hold no question of a person's"
    )
    said = f"no row came of {format_count(read, 'record')} of {source.described}: {why}"
    return f"{said}. {_instead(source, paths)}"


def _describe_counts(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    said = [f"{count:,} × {shorten_to_width(sort, _LONGEST)}" for sort, count in ranked[:_MOST]]
    return "; ".join([*said, *([f"{len(ranked) - _MOST:,} more kinds"] if len(ranked) > _MOST else [])])


def _instead(source: Source, paths: Sequence[Path]) -> str:
    """The command that reads more: the usual place of the source, or the folder with all of its files."""
    usual = [root for root in source.roots if Path(root).expanduser() not in paths]
    if usual:
        return f"Usually they lie in {usual[0]}: `slowwave import {source.name} {usual[0]}`"
    return f"If others of its files hold the texts, import them together: `slowwave import {source.name} FOLDER`"


# ------------------------------------------------------------------------------------------
# Whose the files under a path are, by what is in them: the sources that read them, or else what they are.

# Of a folder as many files are looked at, spread over it.
_MOST_FILES = 100
_FIRST_RECORDS = 20
_HEAD_BYTES = 4096
_TABLES = (".csv", ".parquet")
_UNKNOWN = "is nothing that Slowwave imports, and its format is not known"


@dataclass
class RecognisedFiles:
    """Paths by the sources that read something under them, with an example; and what the other paths are."""

    paths: dict[str, list[Path]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    others: list[NotImported] = field(default_factory=list)


def recognise_files(paths: Sequence[Path], longest_row: int) -> RecognisedFiles:
    """Return what is under some paths. Raises OSError where one cannot be listed."""
    found = RecognisedFiles()
    for path in paths:
        claims = {source.name: unit for source in SOURCES if (unit := _first_unit(source, path, longest_row))}
        for name, unit in claims.items():
            found.paths.setdefault(name, []).append(path)
            found.examples.setdefault(name, unit)
        if not claims:
            found.others += _others(path, longest_row)
    return found


def _first_unit(source: Source, path: Path, longest_row: int) -> str:
    """The first unit of a source under a path; '' where none is seen."""
    if isinstance(source, ClaudeFiles):
        found = source.find_units(path) if path.is_dir() or source.is_named_so(path) else None
        return found.units[0].name if found is not None and found.units else ""
    for file in _spread(source.list_files(path)):
        if isinstance(source, FileSource) and not path.is_dir() and not file.stat().st_size:
            continue
        units = source.find_units(file, (), longest_row).units
        if units:
            return units[0].name
    return ""


def _others(path: Path, longest_row: int) -> list[NotImported]:
    """What the files under a path are of which no source reads any, each sort with one example."""
    files = files_below(path, lambda name: not name.startswith("."))[0] if path.is_dir() else [path]
    by_sort: dict[str, list[Path]] = {}
    for file in _spread(files):
        by_sort.setdefault(_other(file, longest_row), []).append(file)
    if not files:
        return [NotImported(shown_name(path), "holds no file", is_fault=True)]
    said = []
    for why, same in by_sort.items():
        name, more = shown_name(same[0]), f"(and {len(same) - 1} more like it) " if len(same) > 1 else ""
        said.append(NotImported(name, more + why.replace("FILE", shlex.quote(name)), is_fault=True))
    return said


def _other(file: Path, longest_row: int) -> str:
    """What a file is that no source reads, as the rest of a sentence."""
    try:
        if not file_status(file).st_size:
            return "is empty"
        said = next((one.why for source in SOURCES for one in source.find_units(file).others if one.is_recognised), "")
        if said:
            return said
        if is_sqlite(file):
            return other_tables(sqlite_schema(file)).describe_format()
        with file.open("rb") as handle:
            text = other_text(handle.read(_HEAD_BYTES))
        found = text or other_records(_first_records(file, longest_row))
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except UnreadableUnitError as error:
        return f"cannot be read: {error}"
    return found.describe_format() if found is not None else _UNKNOWN


def _first_records(file: Path, longest_row: int) -> list[Record]:
    """The first records of JSON lines, of JSON objects in several lines, of an array, or of a table."""
    plain = file.name.lower().removesuffix(".gz").removesuffix(".zst")
    with file.open("rb") as handle:
        is_array = handle.read(_HEAD_BYTES).lstrip()[:1] == b"["
    reader = table_rows if is_array or plain.endswith(_TABLES) else json_objects
    first: list[Record] = []
    with suppress(UnreadableUnitError):
        records = reader(file, longest_row, is_idle=True)
        first += (one.record for one in islice(records, _FIRST_RECORDS) if isinstance(one, Located))
    return first


def _spread(files: Sequence[Path]) -> Sequence[Path]:
    return files[:: max(len(files) // _MOST_FILES, 1)]
