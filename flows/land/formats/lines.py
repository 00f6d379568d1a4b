"""Lines of a delivered text, packed or not, within bounds: whatever the stream unpacks to, little of it is held."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from slowwave.flows.kernel.storage.text_stream import DAMAGED, text_stream

BOM = b"\xef\xbb\xbf"
_BLOCK = 2**20
# A gzip of zeros unpacks for hours: a line as long as this many of the longest rows ends the reading.
LONGEST_ROWS_SKIPPED = 64
_SHOWN_OF_LONG = 1_000
# Passed over at once: a packed file of nothing else unpacks to a million times its size.
BLANK_LINES = re.compile(rb"\s*\n")
_LAST_BLANK = 0x20
EMPTY_LINES = re.compile(rb"[\r\n]*\n")
MOST_VALUES = 4_000_000


def in_megabytes(size: int) -> str:
    """A size in bytes for a person to read."""
    return f"{size / 10**6:,.0f} MB" if size >= 10**6 else f"{size:,} bytes"


def too_long(length: int, longest_row: int) -> str:
    """Why a row of so many bytes is refused."""
    limit = f"longer than a row may be ({in_megabytes(longest_row)}, set by SLOWWAVE_LONGEST_ROW)"
    return f"the row is {in_megabytes(length)} long, {limit}"


def values_count(text: bytes) -> int:
    """About how many values a JSON text holds, at most: what it takes in memory is 100 bytes for each of them."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def has_too_many_values(text: bytes) -> bool:
    """Whether a JSON text would take much more memory than it is long."""
    return len(text) > MOST_VALUES and values_count(text) > MOST_VALUES


@dataclass(frozen=True)
class LongLine:
    """A line that is longer than a row may be: how it begins, and its length in bytes."""

    head: bytes
    length: int


def contradiction(handle: BinaryIO, longest_row: int) -> str:
    """How a packed text contradicts its own checksum; '' where it does not, has none, or breaks off before it.

    The checksum stands at the end, and what was unpacked before it looks like any text: so it is asked first.
    """
    text = text_stream(handle)
    if not text.layers:
        return ""
    read, without = getattr(text.stream, "read1", text.stream.read), 0
    try:
        while block := read(_BLOCK):
            newline = block.rfind(b"\n") if block.strip(b"\r\n") else -1
            without = without + len(block) if newline < 0 else len(block) - newline - 1
            if without > longest_row * LONGEST_ROWS_SKIPPED:  # reading gives up there too
                return ""
    except (EOFError, zlib.error):
        return ""
    except gzip.BadGzipFile as error:  # (bytes behind the last member are no gzip file)
        return "" if str(error).startswith("Not a gzipped file") else str(error)
    except zstandard.ZstdError as error:
        return str(error) if "checksum" in str(error) else ""
    return ""


class Lines:
    """Lines of a stream that may break off; `fault` then says how, and `rest` holds the cut line.

    A line longer than `longest_row` bytes is passed over and given as a LongLine. Raises OSError as the disk does.
    """

    def __init__(self, stream: BinaryIO, longest_row: int) -> None:
        # one system read at a time: a damaged stream must not take what was unpacked before the damage with it
        self._read = getattr(stream, "read1", stream.read)
        self._longest_row = longest_row
        self._buffer = bytearray()
        self._searched = 0
        self._ended = False
        self.fault: str | None = None
        self.bytes_read = 0

    def _more(self) -> None:
        try:
            block = self._read(_BLOCK)
        except DAMAGED as error:
            self.fault = f"the file is cut short or damaged: {error}"
            block = b""
        if block:
            self._buffer += block
        else:
            self._ended = True

    def __iter__(self) -> Iterator[bytes | LongLine]:
        return self

    def __next__(self) -> bytes | LongLine:
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                return self._take_line(end, 1)
            if len(self._buffer) > self._longest_row:
                return self._passed_over()
            if self._ended:
                break
            self._searched = len(self._buffer)
            self._more()
        if self.fault is None and self._buffer:
            return self._take_line(len(self._buffer), 0)
        raise StopIteration

    def skip(self, lines: re.Pattern[bytes]) -> int:
        """Pass over the lines from here on that `lines` matches, which are of white space; returns how many."""
        skipped, begun = 0, self.bytes_read
        while True:
            end = found.end() if (found := lines.match(self._buffer)) else 0
            del found  # else the buffer could not be changed
            skipped += self._buffer.count(b"\n", 0, end)
            del self._buffer[:end]
            self._searched = 0
            self.bytes_read += end
            if self.bytes_read - begun > self._longest_row * LONGEST_ROWS_SKIPPED:
                self._give_up("nothing but blank lines come", self.bytes_read - begun)
                self._buffer.clear()
            is_blank = not self._buffer or (len(self._buffer) <= _BLOCK and self._buffer.isspace())
            if self._ended or not is_blank:
                return skipped
            self._more()

    def _give_up(self, what: str, length: int) -> None:
        self._ended = True
        self.fault = f"{what} for more than {in_megabytes(length)}, so the file is not read on"

    def _take_line(self, end: int, newline: int) -> bytes | LongLine:
        self._searched = 0
        self.bytes_read += end + newline
        shown = _SHOWN_OF_LONG if end > self._longest_row else end
        line = bytes(memoryview(self._buffer)[:shown])
        del self._buffer[: end + newline]
        return LongLine(line, end) if end > self._longest_row else line

    def _passed_over(self) -> LongLine:
        head, length = bytes(self._buffer[:_SHOWN_OF_LONG]), 0
        while True:
            end = self._buffer.find(b"\n")
            length += len(self._buffer) if end < 0 else end
            del self._buffer[: len(self._buffer) if end < 0 else end + 1]
            if end >= 0 or self._ended:
                break
            if length > self._longest_row * LONGEST_ROWS_SKIPPED:
                self._give_up("a line goes on", length)
                break
            self._more()
        self._searched = 0
        self.bytes_read += length + (end >= 0)
        return LongLine(head, length)

    def non_blank_lines(self) -> Iterator[tuple[int, bytes | LongLine]]:
        """The lines that say something, with their numbers from 1; of the first a byte order mark is no part."""
        number = 0
        while True:
            is_blank = number and (not self._buffer or self._buffer[0] <= _LAST_BLANK)
            number += 1 + (self.skip(BLANK_LINES) if is_blank else 0)
            line = next(self, None)
            if line is None:
                return
            if number == 1 and isinstance(line, bytes):
                line = line.removeprefix(BOM)
            if isinstance(line, LongLine) or line.strip():
                yield number, line

    @property
    def rest(self) -> bytes:
        """What was read of a line that never ended."""
        return bytes(self._buffer)
