"""The records of JSON lines, plain or packed, one at a time, whatever is in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import orjson

from slowwave.flows.imports.units import ReadRecord, UnreadableUnitError
from slowwave.flows.kernel.storage.text_stream import text_stream
from slowwave.flows.land.formats.json_documents import Elements
from slowwave.flows.land.formats.lines import Lines, LongLine, has_too_many_values, too_long
from slowwave.transforms.imports.made import LeftOut, Located, Refused

_SHOWN = 10_000
Line = bytes | LongLine
UNFINISHED = "a last line that was still being written"


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
            broken = Refused(number, f"the line is not JSON: {error}", _text(line[:_SHOWN]))
            continue
        if isinstance(record, dict):
            yield Located(number, record)
        else:
            yield Refused(number, "the line is JSON but not an object", _text(line[:_SHOWN]))
    if broken is not None:
        yield broken if is_idle else LeftOut(UNFINISHED, is_settled=True)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
