"""The text in a file as UTF-8, however it is packed and encoded; little of it is held."""

from __future__ import annotations

import codecs
import gzip
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

import zstandard

WINDOWS = "cp1252"
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error, zstandard.ZstdError)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BLOCK = 2**20
# 4 bytes of zstd may say 128 kB, so that these say 64 MB at most
_PACKED_BLOCK = 2**11
_MOST_LAYERS = 3  # a gzip in a gzip is an accident, a hundred of them are an attack
_LONGEST_MARK = 4
_SKIPPABLE_HEAD = 8
# That of UTF-32 first: it begins as that of UTF-16 does.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class _Reads(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class TextStream:
    """The text of a file in UTF-8; how often it is packed; and what it is encoded in, '' where that is UTF-8."""

    stream: BinaryIO
    layers: int
    encoding: str


def text_stream(handle: BinaryIO, encoding: str = "") -> TextStream:
    """Return the text in a file from its beginning.

    Gzip and zstd, also one in the other, are unpacked, UTF-16 and UTF-32 with a byte order mark are decoded: each is
    recognised by its first bytes. `encoding` WINDOWS: lines that are not UTF-8 are read as Windows-1252.
    """
    handle.seek(0)
    stream: _Reads = handle
    head, layers = handle.read(_LONGEST_MARK), 0
    handle.seek(0)
    while is_packed(head) and layers < _MOST_LAYERS:
        is_gzip = head.startswith(_GZIP)
        stream = gzip.GzipFile(fileobj=cast("Any", stream), mode="rb") if is_gzip else _ZstdReader(stream)
        layers += 1
        if layers < _MOST_LAYERS:
            stream = _Peeked(stream)
            head = stream.head
    marked = encoding_of(head)
    if marked:
        stream, encoding = _Decoded(stream, marked), marked
    elif encoding:
        stream = _WindowsLines(stream)
    return TextStream(cast("BinaryIO", stream), layers, encoding)


def is_packed(head: bytes) -> bool:
    """Whether first bytes are those of gzip or zstd, be it a frame of zstd that is to be skipped."""
    return head.startswith((_GZIP, _ZSTD)) or _is_skippable(head)


def encoding_of(head: bytes) -> str:
    """The encoding that a byte order mark in first bytes tells; '' for UTF-8, and without one."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "")


def _is_skippable(head: bytes) -> bool:
    return head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F  # noqa: PLR2004 - of the format (RFC 8878, 3.1.2)


class _Peeked:
    """A stream of which the beginning was looked at; a fault there is raised where it is read."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - gzip and our own, which share `read` alone
        self._read = getattr(stream, "read1", stream.read)
        self._kept, self._at, self._fault = b"", 0, None
        try:
            while len(self._kept) < _LONGEST_MARK and (block := self._read(_BLOCK)):
                self._kept += block
        except DAMAGED as error:
            self._fault = error
        self.head = self._kept[:_LONGEST_MARK]

    def read(self, size: int = -1) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        if self._kept:
            given = self._kept[self._at : None if size < 0 else self._at + size]
            self._at += len(given)
            if self._at == len(self._kept):
                self._kept = b""
            return given
        if self._fault is not None:
            raise self._fault
        return self._read(size)


class _ZstdReader:
    """Like zstandard's own reader, but a stream that ends inside a frame is an error, as with gzip."""

    def __init__(self, stream: _Reads) -> None:
        self._stream = stream
        self._frame: Any = None
        self._begun = b""  # of a frame that is not known to be skipped or not
        self._to_skip = 0

    def read(self, _size: int) -> bytes:
        """Some bytes, 64 MB at most; none at the end of the last frame."""
        out = b""
        while not out:
            block = self._stream.read(_PACKED_BLOCK)
            if not block:
                if self._frame is not None or self._begun or self._to_skip:
                    message = "the compressed stream ends before its end marker"
                    raise EOFError(message)
                return b""
            while block:
                block = self._skip_bytes(block) if self._frame is None else block
                if self._frame is not None:
                    out += self._frame.decompress(block)
                    block = self._frame.unused_data if self._frame.eof else b""
                    self._frame = None if self._frame.eof else self._frame
        return out

    def _skip_bytes(self, block: bytes) -> bytes:
        """What is left of a block behind what is to be skipped; a frame begins there, unless nothing is left."""
        taken = min(self._to_skip, len(block))
        self._to_skip -= taken
        block = self._begun + block[taken:]
        self._begun = b""
        if self._to_skip or not block:
            return b""
        if len(block) < _LONGEST_MARK or (_is_skippable(block) and len(block) < _SKIPPABLE_HEAD):
            self._begun = block
            return b""
        if _is_skippable(block):
            self._to_skip = int.from_bytes(block[_LONGEST_MARK:_SKIPPABLE_HEAD], "little")
            return self._skip_bytes(block[_SKIPPABLE_HEAD:])
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        return block


class _Decoded:
    """A text in another encoding; what is none in it is U+FFFD."""

    def __init__(self, stream: Any, encoding: str) -> None:  # noqa: ANN401 - of any kind
        self._read = getattr(stream, "read1", stream.read)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._is_ended = False

    def read(self, _size: int) -> bytes:
        """Some bytes; none at the end."""
        text = ""
        while not text and not self._is_ended:
            block = self._read(_BLOCK)
            self._is_ended = not block
            text = self._decoder.decode(block, final=not block)
        return text.encode("utf-8", "replace")


class _WindowsLines:
    """Lines of UTF-8 or of Windows-1252, each of the first if it can be."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - of any kind
        self._read = getattr(stream, "read1", stream.read)
        self._cut = b""

    def read(self, _size: int) -> bytes:
        """Some bytes; none at the end. A line that no end is seen of is given as it is."""
        while True:
            block = self._read(_BLOCK)
            lines, newline, cut = (self._cut + block).rpartition(b"\n")
            if not block or len(cut) > _BLOCK:
                lines, newline, cut = self._cut + block, b"", b""
            self._cut = cut
            if lines or newline or not block:
                return b"\n".join(map(_of_windows, lines.split(b"\n"))) + newline


def _of_windows(line: bytes) -> bytes:
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode(WINDOWS, "replace").encode()
    return line
