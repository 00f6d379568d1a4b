"""Whose the files under a path are, by what is in them: the sources that read them, or else what they are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.json_records import json_objects
from slowwave.flows.imports.recognised.other_formats import other_records, other_tables, other_text
from slowwave.flows.imports.sources import SOURCES, Source
from slowwave.flows.imports.stores.claude_files import ClaudeFiles
from slowwave.flows.imports.stores.sqlite_copy import is_sqlite, sqlite_schema
from slowwave.flows.imports.table_records import table_rows
from slowwave.flows.imports.units import (
    NotImported,
    UnreadableUnitError,
    file_status,
    files_below,
    shown_name,
)
from slowwave.transforms.imports.adapter import Located, Record

# Of a folder as many files are looked at, spread over it.
_MOST_FILES = 100
_FIRST_RECORDS = 20
_HEAD_BYTES = 4096
_TABLES = (".csv", ".parquet")
_UNKNOWN = "is nothing that Slowwave imports, and its format is not known"


@dataclass
class Recognised:
    """Paths by the sources that read something under them, with an example; and what the other paths are."""

    paths: dict[str, list[Path]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    others: list[NotImported] = field(default_factory=list)


def recognised(paths: Sequence[Path], longest_row: int) -> Recognised:
    """Return what is under some paths. Raises OSError where one cannot be listed."""
    found = Recognised()
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
        found = source.found(path) if path.is_dir() or source.is_named_so(path) else None
        return found.units[0].name if found is not None and found.units else ""
    for file in _spread(source.listed(path)):
        if isinstance(source, FileSource) and not path.is_dir() and not file.stat().st_size:
            continue
        units = source.found(file, (), longest_row).units
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
        said = next((one.why for source in SOURCES for one in source.found(file).others if one.is_recognised), "")
        if said:
            return said
        if is_sqlite(file):
            return other_tables(sqlite_schema(file)).said()
        with file.open("rb") as handle:
            text = other_text(handle.read(_HEAD_BYTES))
        found = text or other_records(_first_records(file, longest_row))
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except UnreadableUnitError as error:
        return f"cannot be read: {error}"
    return found.said() if found is not None else _UNKNOWN


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
