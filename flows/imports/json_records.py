"""The records of JSON lines, plain or packed, one at a time, whatever is in the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from slowwave.flows.imports.units import ReadRecord, UnreadableUnitError
from slowwave.flows.land.formats.lines import Lines, LongLine, has_too_many_values, text_stream, too_long
from slowwave.transforms.imports.made import LeftOut, Located, Refused

_SHOWN = 10_000
UNFINISHED = "a last line that was still being written"


def json_lines(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """The objects of a file of JSON lines (also gzip or zstd), with the numbers of their lines.

    A line that is none is refused; the last one of a file that is being written (`is_idle` false) is left out.
    Raises OSError as the disk does, and UnreadableUnitError, after all lines before it, where a packed file ends early.
    """
    with path.open("rb") as handle:
        lines = Lines(text_stream(handle), longest_row)
        broken: Refused | None = None
        for number, line in lines.filled():
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
            yield broken if is_idle else LeftOut(UNFINISHED)
        if lines.fault is not None:
            raise UnreadableUnitError(lines.fault)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
