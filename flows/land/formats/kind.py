"""What kind of text a file holds, decided on more than one line of it; its name says nothing."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote

import orjson
import polars as pl

from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.json_documents import Elements, json_record, rows_begin
from slowwave.flows.land.formats.lines import BOM, Lines, LongLine, has_too_many_values, in_megabytes
from slowwave.transforms.core.schema import producer_columns
from slowwave.transforms.landing.delivered_rows import DeliveredRows, FrameRows, RecordRows, is_value
from slowwave.transforms.landing.mapping.named_otherwise import TELLING, plain
from slowwave.transforms.landing.tables import LANDED

# Read for a first line that is a JSON object, before the text is taken for none that can be landed.
_LOOKED_AT_BYTES = 64 * 2**20
_LOOKED_AT_ROWS = 100
_SHOWN = 60
_LONGEST_NAME = 1_000  # a cell of JSON lines that are read as CSV is all of a text
# By what cells of CSV are parted, and how that is said.
DELIMITERS = {",": "", ";": "semicolons", "\t": "tabs"}
# Of Windows-1252: what is no letter of a word; and a letter of one that goes on, unlike a character of
# UTF-8 cut off where its text ends.
_OF_NO_WORD = re.compile(rb"(?<![A-Za-z\xc0-\xff])[\xc0-\xff](?![A-Za-z\xc0-\xff])|[\x81\x8d\x8f\x90\x9d\xd7\xf7]")
_OF_WORD = re.compile(rb"[A-Za-z][\xc0-\xff](?!\.\.\.)(?=[A-Za-z .!?:)\x27-])|\b[\xc0-\xff][a-z]")
FIELDS = frozenset(c.name for table in LANDED for c in producer_columns(table))


@dataclass(frozen=True)
class TextKind:
    """JSON lines, CSV, or (None) neither, with the reason; `is_empty`: no line says anything.

    `may_be_document`: the text begins as JSON does, and not with a line that is a row. `delimiter`: of CSV.
    `is_windows`: the text is not UTF-8, and its first lines are words in Windows-1252.
    """

    kind: Literal["jsonl", "csv"] | None
    reason: str = ""
    is_empty: bool = False
    may_be_document: bool = False
    delimiter: str = ","
    is_windows: bool = False


def text_kind(lines: Lines, others: frozenset[str] = frozenset()) -> TextKind:
    """The kind of a text, from its first lines.

    CSV is what begins with a header that names fields of the contract, by synonyms that surely mean them or by `others`
    too, if at least half of the rows after it have as many cells. JSON lines are what has a line that is a JSON object,
    wherever it stands in the first 64 MB.
    """
    first: list[bytes] = []
    bytes_count, is_json = 0, False
    for _, line in lines.non_blank_lines():
        text = line.head.removeprefix(BOM) if isinstance(line, LongLine) else line
        bytes_count += len(text)
        if len(first) <= _LOOKED_AT_ROWS:
            first.append(text)
        is_json = is_json or isinstance(line, LongLine) or _is_object(text)
        if bytes_count >= _LOOKED_AT_BYTES or (is_json and len(first) > _LOOKED_AT_ROWS):
            break
    if not first:
        return TextKind("jsonl", is_empty=lines.fault is None)
    is_windows = _is_windows(first)
    faults = [_csv_fault(first, others, delimiter) for delimiter in DELIMITERS]
    if "" in faults:
        return TextKind("csv", delimiter=[*DELIMITERS][faults.index("")], is_windows=is_windows)
    may_be_document = first[0].lstrip()[:1] in (b"{", b"[") and (
        not _is_object(first[0]) or rows_begin(first[0].lstrip(), FIELDS | others) is not None
    )
    if is_json:
        return TextKind("jsonl", may_be_document=may_be_document, is_windows=is_windows)
    if lines.fault is not None:
        return TextKind(None, lines.fault, may_be_document=may_be_document)
    looked_at = "" if bytes_count < _LOOKED_AT_BYTES else f" of the first {in_megabytes(_LOOKED_AT_BYTES)}"
    reason = f"the file is neither JSON lines (no line{looked_at} is a JSON object) nor CSV ({faults[0]})"
    return TextKind(None, reason, may_be_document=may_be_document, is_windows=is_windows)


def is_document(elements: Elements, *, has_rows_in_lines: bool) -> bool:
    """Whether the first row of a text is one of a JSON document; `has_rows_in_lines`: some line of it is an object."""
    first = next(elements, None)
    if first is None:
        return elements.fault is None and (elements.is_array or elements.wrapper is not None)
    if isinstance(first, LongLine) or elements.is_in_list:
        return elements.is_in_list and (isinstance(first, LongLine) or first.startswith(b"{"))
    if has_too_many_values(first):
        return False
    try:
        record, _ = json_record(first)
    except orjson.JSONDecodeError:
        return False
    return isinstance(record, dict) and (b"\n" in first or not has_rows_in_lines)


def delimiter_of(header: bytes, others: frozenset[str] = frozenset()) -> str:
    """Return by what the cells of a header of CSV are parted."""
    return next((delimiter for delimiter in DELIMITERS if not _csv_fault([header], others, delimiter)), ",")


def _is_object(text: bytes) -> bool:
    if not text.lstrip().startswith(b"{"):
        return False
    if has_too_many_values(text):
        return True
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        return False


def _is_windows(lines: list[bytes]) -> bool:
    """Whether lines that are not UTF-8 say words in Windows-1252, and none says any in UTF-8 beyond ASCII."""
    words = 0
    for line in lines:
        if line.isascii():
            continue
        try:
            line.decode()
        except UnicodeDecodeError:
            if _OF_NO_WORD.search(line):
                return False
            words += len(_OF_WORD.findall(line))
        else:
            return False
    return words > 0


def _csv_fault(lines: list[bytes], others: frozenset[str], delimiter: str) -> str:
    """Why these first lines are not those of a CSV file; '' when they are."""
    texts = (line.decode("utf-8", "surrogateescape") + "\n" for line in lines)
    rows = csv.reader(texts, strict=True, delimiter=delimiter)
    header: list[str] = []
    with suppress(csv.Error, StopIteration):
        header = next(rows)
    names = {cell.strip() for cell in header if len(cell) <= _LONGEST_NAME}
    names |= {cell.lower().replace(" ", "_") for cell in names}
    if not names & FIELDS and not names & others and TELLING.isdisjoint(map(plain, names)):
        shown = lines[0][: 4 * _SHOWN].decode("utf-8", "backslashreplace")
        shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
        return f"the first line, {shown!r}, names no field of the contract such as prompt"
    lengths: list[int] = []
    with suppress(csv.Error):  # the last row may be cut
        lengths.extend(map(len, rows))
    unlike = sum(length != len(header) for length in lengths)
    if 2 * unlike > len(lengths):
        return (
            f"the header has {format_count(len(header), 'cell')}, but {unlike:,} of the first "
            f"{len(lengths):,} rows do not"
        )
    return ""


# Delivered rows under the contract's names where only the letter case differs, and with what their folder says.

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def partition_values(source: str) -> dict[str, str]:
    """Return the fields of the contract that the folders of a path state as `name=value`, as Hive does."""
    folders = PurePosixPath(source.replace("\\", "/")).parts[:-1]
    stated = (folder.partition("=") for folder in folders)
    found = {name: unquote(value) for name, equals, value in stated if equals and name in FIELDS}
    return {name: value for name, value in found.items() if value not in ("", _NO_VALUE)}


def with_contract_names(chunk: Chunk, stated: Mapping[str, str], others: Collection[str]) -> Chunk:
    """Return a chunk in which `Prompt` is `prompt`, and rows that lack a field of `stated` have it.

    A name is the field's that it is in lower case where the row has neither that field nor another such name. Names in
    `others` are left: a mapping reads them.
    """
    rows, readings = chunk.rows, Counter(chunk.readings)
    fields = {name: name.strip().lower().replace(" ", "_") for name in rows.fields if name not in others}
    alike = {name: field for name, field in fields.items() if field != name and field in FIELDS}
    if alike:
        rows, renamed = _rename_fields(rows, alike)
        readings.update({("row", f"read {name} as {alike[name]}"): count for name, count in renamed.items()})
    if stated and len(rows):
        rows, filled = _fill_missing_fields(rows, stated)
        told = {("row", f"took {name} {stated[name]} from its folder"): count for name, count in filled.items()}
        readings.update(told)
    return chunk if rows is chunk.rows else replace(chunk, rows=rows, readings=readings)


def _rename_fields(rows: DeliveredRows, alike: Mapping[str, str]) -> tuple[DeliveredRows, Counter[str]]:
    if isinstance(rows, FrameRows):
        names = _unambiguous(dict.fromkeys(rows.frame.columns, True), alike)
        renamed = FrameRows(rows.frame.rename(names), rows.row_numbers)
        return renamed, Counter(dict.fromkeys(names, len(rows)))
    counts: Counter[str] = Counter()
    records = []
    for record in rows.as_records():
        names = _unambiguous(record, alike)
        counts.update(names.keys())
        records.append({names.get(name, name): value for name, value in record.items()} if names else record)
    return (_with_records(rows, records) if counts else rows), counts


def _unambiguous(record: Mapping[str, Any], alike: Mapping[str, str]) -> dict[str, str]:
    """By name, the field that a row means by it."""
    found = {name: alike[name] for name in alike.keys() & record.keys()}
    often = Counter(found.values())
    return {name: field for name, field in found.items() if often[field] == 1 and field not in record}


def _fill_missing_fields(rows: DeliveredRows, stated: Mapping[str, str]) -> tuple[DeliveredRows, Counter[str]]:
    if isinstance(rows, FrameRows):
        lacking = {name: pl.lit(value).alias(name) for name, value in stated.items() if name not in rows.fields}
        filled = FrameRows(rows.frame.with_columns(lacking.values()), rows.row_numbers) if lacking else rows
        return filled, Counter(dict.fromkeys(lacking, len(rows)))
    counts: Counter[str] = Counter()
    records = []
    for record in rows.as_records():
        lacking = {name: value for name, value in stated.items() if not is_value(record.get(name))}
        counts.update(lacking.keys())
        records.append(record | lacking)
    return (_with_records(rows, records) if counts else rows), counts


def _with_records(rows: DeliveredRows, records: list[dict[str, Any]]) -> RecordRows:
    raws = rows.raws if isinstance(rows, RecordRows) else []
    return RecordRows(records, rows.row_numbers, raws)
