"""Reading JSON that is no JSON lines: arrays, objects over several lines, and exports such as `{"data": [...]}`."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import orjson

from slowwave.flows.kernel.storage.text_stream import DAMAGED
from slowwave.flows.land.formats.lines import BOM, LONGEST_ROWS_SKIPPED, LongLine, in_megabytes
from slowwave.transforms.core.exact_json import exact_json

# Under which exports keep their rows; no list of objects that a row itself may have.
_ROWS_NAMES = ("data", "entries", "events", "items", "logs", "records", "results", "rows")
_TABLE_NAMES = ("interactions", "outcomes", "memories")
_NAMES = "|".join((*_ROWS_NAMES, *_TABLE_NAMES)).encode()
_BLOCK = 2**20
_SHOWN_OF_LONG = 1_000
_STRING = rb'"(?:[^"\\]|\\.)*+"'
# What may stand before the rows in the object around them: values that are short, such as a page number.
_BEFORE = rb"\s*+(?:" + _STRING + rb"\s*+:\s*+(?:" + _STRING + rb"|[-+.\w]++|\{[^{}\[\]]*+\})\s*+,\s*+)*?"
_WRAPPER = re.compile(rb"\{" + _BEFORE + rb'"(' + _NAMES + rb')"\s*+:\s*+\[\s*+(?=[{\]])', re.DOTALL)
_LONGEST_BEFORE = 2**16
_NAME = re.compile(rb'"([^"\\]*+)"\s*+:')
_BETWEEN = re.compile(rb"[\s,\x1e]*+")
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_OUTSIDE = re.compile(rb'[^"{}\[\]]*+')
_SCALAR = re.compile(rb"[^\s,{}\[\]]*+")
_OPENS, _CLOSES = b"{[", b"}]"


def rows_begin(text: bytes, fields: frozenset[str]) -> re.Match[bytes] | None:
    """Return how the object around the rows of an export begins; None: the object that begins so is a row itself.

    It is a row where it has one of `fields`: before its list, or anywhere in it, if it ends with its line.
    """
    found = _WRAPPER.match(text[:_LONGEST_BEFORE])
    if found is None:
        return None
    names = {name.decode("utf-8", "replace") for name in _NAME.findall(found[0])}
    line, newline, _ = text.partition(b"\n")
    with contextlib.suppress(orjson.JSONDecodeError):
        names |= set(orjson.loads(line)) if newline or line.rstrip().endswith(b"}") else set()
    return None if names & fields - {*_TABLE_NAMES} else found


class Elements:
    """The rows of JSON text one by one, as bytes, within the bounds of `Lines`.

    A row is an element of an array, or of the list in the object around an export, or a value that stands alone. One
    longer than `longest_row` bytes is passed over and given as a LongLine. `fault` says how the text breaks off, and
    `rest` holds the row it breaks off in. `wrapper`: the name of the list that rows were taken from.
    """

    def __init__(self, stream: BinaryIO, longest_row: int, fields: frozenset[str]) -> None:
        self._fields = fields
        self._read = getattr(stream, "read1", stream.read)
        self._longest_row = longest_row
        self._buffer = bytearray()
        self._ended = False
        self._open: list[bool] = []  # of what stands around the rows: whether it is the object of an export
        self.fault: str | None = None
        self.bytes_read = 0
        self.wrapper: str | None = None
        self.is_array = False

    @property
    def is_in_list(self) -> bool:
        """Whether the row before this place stood in a list."""
        return bool(self._open)

    @property
    def rest(self) -> bytes:
        """What was read of a row that never ended."""
        return bytes(self._buffer)

    def __iter__(self) -> Iterator[bytes | LongLine]:
        return self

    def __next__(self) -> bytes | LongLine:
        while self._skip_between():
            first = self._buffer[:1]
            if first == b"[" and not self._open:
                self._enter(1, is_wrapper=False)
                self.is_array = True
            elif first == b"]" and self._open:
                self._leave()
            elif first == b"{" and not self._open and (name := self._wrapper()) is not None:
                self.wrapper = name
            elif first in (b"{", b"["):
                return self._take_nested_value()
            else:
                return self._scalar()
        if self._open and self.fault is None:
            self.fault = "the file is cut short: the list of rows does not end"
        raise StopIteration

    def _more(self) -> bool:
        try:
            block = b"" if self._ended else self._read(_BLOCK)
        except DAMAGED as error:
            self.fault = f"the file is cut short or damaged: {error}"
            block = b""
        if not self.bytes_read and not self._buffer:
            block = block.removeprefix(BOM)
        self._buffer += block
        self._ended = not block
        return not self._ended

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self.bytes_read += count

    def _skip_between(self) -> bool:
        """Pass over what stands between rows; whether anything follows."""
        skipped = 0
        while True:
            end = _end(_BETWEEN, self._buffer, 0)
            self._drop(end)
            skipped += end
            if self._buffer:
                return True
            if skipped > self._longest_row * LONGEST_ROWS_SKIPPED:
                self.fault = f"nothing but blanks come for {in_megabytes(skipped)}, so the file is not read on"
                self._ended = True
                return False
            if not self._more():
                return False

    def _enter(self, length: int, *, is_wrapper: bool) -> None:
        self._drop(length)
        self._open.append(is_wrapper)

    def _leave(self) -> None:
        """Behind the rows; of an export also behind what else stands in its object."""
        self._drop(1)
        if self._open.pop():
            self._take_to_end(1)

    def _wrapper(self) -> str | None:
        while len(self._buffer) < _LONGEST_BEFORE and self._more():
            pass
        found = rows_begin(bytes(self._buffer), self._fields)
        if found is None:
            return None
        self._enter(found.end(), is_wrapper=True)
        return found[1].decode()

    def _take_nested_value(self) -> bytes | LongLine:
        taken = self._take_to_end(0)
        if taken is None:
            if self.fault is None:
                self.fault = "the file is cut short or no JSON: a row in it does not end"
            raise StopIteration
        return taken

    def _take_to_end(self, depth: int) -> bytes | LongLine | None:
        """What stands from here to where `depth` more objects or lists are closed than opened; None: nowhere."""
        at = passed = 0
        head, is_in_string = b"", False
        while True:
            at = _end(_IN_STRING if is_in_string else _OUTSIDE, self._buffer, at)
            sign = self._buffer[at : at + 1]
            if sign == b'"':
                at, is_in_string = at + 1, not is_in_string
            elif sign and not is_in_string:
                at, depth = at + 1, depth + (1 if sign in _OPENS else -1)
                if depth <= 0:
                    break
            else:  # the end of what was read, or a backslash there
                if passed + at > self._longest_row:
                    head = head or bytes(self._buffer[:_SHOWN_OF_LONG])
                    self._drop(at)
                    passed, at = passed + at, 0
                if passed > self._longest_row * LONGEST_ROWS_SKIPPED:
                    self.fault = f"a row goes on for more than {in_megabytes(passed)}, so the file is not read on"
                    self._ended = True
                    self._buffer.clear()
                if not self._more():
                    return None
        taken = bytes(self._buffer[:at])
        self._drop(at)
        if passed + at > self._longest_row:
            return LongLine(head or taken[:_SHOWN_OF_LONG], passed + at)
        return taken

    def _scalar(self) -> bytes | LongLine:
        """What is neither an object nor a list: a number, a text, or no JSON."""
        at = 1 if self._buffer[:1] in (b"}", b"]") else 0
        while not at:
            is_string = self._buffer[:1] == b'"'
            end = _end(_IN_STRING if is_string else _SCALAR, self._buffer, int(is_string))
            if end < len(self._buffer) - 1 or len(self._buffer) > self._longest_row or not self._more():
                at = min(end + is_string, len(self._buffer))
        taken = bytes(self._buffer[:at])
        self._drop(at)
        return LongLine(taken[:_SHOWN_OF_LONG], at) if at > self._longest_row else taken


def _end(pattern: re.Pattern[bytes], buffer: bytearray, at: int) -> int:
    """Where a match from `at` ends: a match object would keep the buffer from being changed."""
    found = pattern.match(buffer, at)
    return found.end() if found else at


# Reading the JSON of one row, strictly, and then with what Python and people write that JSON does not allow.

MISSING_NUMBERS = ("value", "NaN or Infinity, taken for a missing number")
TRAILING_COMMAS = ("row", "with a comma behind it, which was ignored")
_COMMA_BEHIND = re.compile(rb",\s*+\Z")
# Texts are passed over whole: what stands in them is no number.
_NOT_FINITE = re.compile(rb'"(?:[^"\\]|\\.)*+"|(-?+(?:NaN|Infinity)\b)', re.DOTALL)


def json_record(text: bytes) -> tuple[object, Counter[tuple[str, str]]]:
    """Return the value of a JSON text, and what was read in a way that JSON does not have: (unit, text) and how often.

    A whole number of more than 64 bits is its digits as text. `NaN`, `Infinity` and `-Infinity` are null, and a comma
    behind the value is ignored. Raises orjson.JSONDecodeError for what is no JSON even then.
    """
    readings: Counter[tuple[str, str]] = Counter()
    try:
        return exact_json(text), readings
    except orjson.JSONDecodeError:
        plain, commas = _COMMA_BEHIND.subn(b"", text)
        numbers = 0

        def replace_not_finite(found: re.Match[bytes]) -> bytes:
            nonlocal numbers
            numbers += found[1] is not None
            return found[0] if found[1] is None else b"null"

        plain = _NOT_FINITE.sub(replace_not_finite, plain)
        if not commas and not numbers:
            raise
        record = exact_json(plain)
    readings.update({MISSING_NUMBERS: numbers} if numbers else {})
    readings.update({TRAILING_COMMAS: commas} if commas else {})
    return record, readings
