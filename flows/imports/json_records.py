"""The records of JSON lines, plain or packed, one at a time, whatever is in the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from slowwave.flows.imports.units import ReadRecord, UnreadableUnitError
from slowwave.flows.kernel.storage.text_stream import text_stream
from slowwave.flows.land.formats.json_documents import Elements
from slowwave.flows.land.formats.lines import Lines, LongLine, has_too_many_values, too_long
from slowwave.transforms.imports.adapter import LeftOut, Located, Refused, Repaired

_SHOWN = 10_000
Line = bytes | LongLine
UNFINISHED = "a last line that was still being written"
HALF_CHARACTER = "half a character (of a surrogate pair) became U+FFFD"
NULS = "a run of NUL bytes was left out"
SEVERAL = "records on one line were read one by one"
# An escape in JSON: a whole pair, half of one, or any other.
_ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.")
_LENGTH_OF_HALF = 6
_NUL_RUN = re.compile(rb"\x00+")
_BEGINS = re.compile(rb'\{\s*"[^"\\]*"\s*:')
_MOST_BEGINNINGS = 2_000


def json_lines(
    path: Path, longest_row: int, *, is_idle: bool = True, only: Callable[[bytes], bool] | None = None
) -> Iterator[ReadRecord]:
    """The objects of a file of JSON lines (also gzip or zstd), with the numbers of their lines.

    A line that is none is refused; the last one of a file that is being written (`is_idle` false) is left out. `only`
    tells the lines that are read, where not all are wanted. Raises OSError as the disk does, and UnreadableUnitError,
    after all lines before it, where a packed file ends early.
    """
    with path.open("rb") as handle:
        lines = Lines(text_stream(handle).stream, longest_row)
        wanted = lines.filled() if only is None else (one for one in lines.filled() if _is_wanted(one[1], only))
        yield from _records(wanted, longest_row, is_idle=is_idle)
        if lines.fault is not None:
            raise UnreadableUnitError(lines.fault)


def _is_wanted(line: Line, only: Callable[[bytes], bool]) -> bool:
    return isinstance(line, bytes) and only(line)


def json_objects(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """As `json_lines`, of a file whose objects may also be spread over several lines, indented for people."""
    with path.open("rb") as handle:
        lines = Lines(text_stream(handle).stream, longest_row)
        yield from _records(_gathered(lines.filled(), longest_row), longest_row, is_idle=is_idle)
        if lines.fault is not None:
            raise UnreadableUnitError(lines.fault)


def json_elements(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """As `json_lines`, of a file whose objects may stand in an array or after each other, over however many lines.

    They are numbered in their order.
    """
    with path.open("rb") as handle:
        elements = Elements(text_stream(handle).stream, longest_row, frozenset())
        yield from _records(enumerate(elements, start=1), longest_row, is_idle=is_idle)
        if elements.fault is not None:
            raise UnreadableUnitError(elements.fault)


def _gathered(lines: Iterable[tuple[int, Line]], longest_row: int) -> Iterator[tuple[int, Line]]:
    """Lines as they are, and those from one that is `{` alone to one that is `}` alone, in the first column, as one."""
    begun, parts, length = 0, list[bytes](), 0
    for number, line in lines:
        if not begun and not (isinstance(line, bytes) and line.rstrip() == b"{"):
            yield number, line
            continue
        begun = begun or number
        length += line.length if isinstance(line, LongLine) else len(line)
        if length <= longest_row and isinstance(line, bytes):
            parts.append(line)
        if isinstance(line, bytes) and line.rstrip() == b"}":
            whole = b"\n".join(parts)
            yield begun, whole if length <= longest_row else LongLine(whole[:_SHOWN], length)
            begun, parts, length = 0, [], 0
    if begun:
        yield begun, b"\n".join(parts)


def _records(lines: Iterable[tuple[int, Line]], longest_row: int, *, is_idle: bool) -> Iterator[ReadRecord]:
    broken: Refused | None = None
    for number, line in lines:
        if broken is not None:
            yield broken
            broken = None
        if isinstance(line, LongLine):
            yield Refused(number, too_long(line.length, longest_row), _text(line.head))
            continue
        if has_too_many_values(line):
            yield Refused(number, "the line holds more values than a row may", _text(line[:_SHOWN]))
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            repaired = repair_line(line)
            if not repaired.records:
                broken = Refused(number, f"the line is not JSON: {error}", _text(line[:_SHOWN]))
                continue
            yield from (Repaired(sort, count) for sort, count in repaired.what.items())
            if repaired.cut:
                yield Refused(number, "the record is cut off, and another one follows", _text(repaired.cut[:_SHOWN]))
            yield from (Located(number, one) for one in repaired.records)
            continue
        if isinstance(record, dict):
            yield Located(number, record)
        else:
            yield Refused(number, "the line is JSON but not an object", _text(line[:_SHOWN]))
    if broken is not None:
        yield broken if is_idle else LeftOut(UNFINISHED, is_settled=True)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


# -------------------------------------------------------------------------------- lines that are no JSON as they stand


@dataclass
class RepairedLine:
    """The records of a line, what was repaired for that by sort, and the record before them that is cut off."""

    records: list[dict[str, Any]] = field(default_factory=list)
    what: Counter[str] = field(default_factory=Counter)
    cut: bytes = b""


def repair_line(line: bytes) -> RepairedLine:
    """Return the records that can be read in a line that is no JSON; none where nothing in it can be."""
    found = RepairedLine()
    runs = _NUL_RUN.findall(line)
    if runs:
        found.what[NULS] = len(runs)
        line = _NUL_RUN.sub(b"", line)
    halves = sum(map(_is_half, _ESCAPE.findall(line)))
    if halves:
        found.what[HALF_CHARACTER] = halves
        line = _ESCAPE.sub(_whole, line)
    while line.strip():
        record, rest = _first_record(line, found)
        if record is None:
            break
        found.records.append(record)
        line = rest
    if len(found.records) + bool(found.cut) > 1:
        found.what[SEVERAL] += 1
    if line.strip() and found.records:
        found.cut = found.cut or line
    return found


def _first_record(line: bytes, found: RepairedLine) -> tuple[dict[str, Any] | None, bytes]:
    """The first record that is whole, and what follows it; what stands before it is noted as cut off.

    Behind a record that is cut off one begins with the same name as that, or after a bracket that closes it.
    """
    first = _BEGINS.match(line.lstrip())
    for number, begin in enumerate(_BEGINS.finditer(line)):
        if number > _MOST_BEGINNINGS:
            break
        is_own = line[: begin.start()].rstrip()[-1:] in (b"", b"}")
        if not is_own and (first is None or begin[0] != first[0]):
            continue  # an object within the record that is cut off
        for end in _ends(line, begin.start()):
            record = _object(line[begin.start() : end])
            if record is not None:
                if line[: begin.start()].strip():
                    found.cut = found.cut or line[: begin.start()]
                return record, line[end:]
    return None, line


def _ends(line: bytes, begin: int) -> list[int]:
    """Where a record that begins somewhere may end: with the line, or before the next one."""
    follows = line.find(b'}{"', begin)
    return [len(line)] if follows < 0 else [len(line), follows + 1]


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _is_half(escape: bytes) -> bool:
    return len(escape) == _LENGTH_OF_HALF


def _whole(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if _is_half(escape[0]) else escape[0]
