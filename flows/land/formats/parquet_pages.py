"""What the pages of a Parquet file unpack to, inferred from their headers, before any is unpacked.

Only these headers say it: the file's own sums are by column and row group, and a page of 100 bytes may unpack to 2 GB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_HEADER_BYTES = (2**12, 2**24)  # most are short; statistics may hold long values
# Thrift's compact protocol: types of fields
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_NUMBERS = (4, 5, 6)
# PageHeader: type, sizes unpacked and packed, and the headers of data and dictionary pages, whose field 1 counts values
_TYPE, _UNPACKED, _PACKED, _VALUES, _OF_VALUES = 1, 2, 3, 1, (5, 7, 8)
_DICTIONARY_PAGE = 2


@dataclass(frozen=True)
class ColumnPages:
    """The data pages of one column of a row group: values in each, and bytes it unpacks to; the dictionary's bytes."""

    values: np.ndarray
    unpacked: np.ndarray
    dictionary: int

    @property
    def largest(self) -> int:
        """Bytes of the largest page."""
        return int(max(self.dictionary, self.unpacked.max(initial=0)))

    @property
    def all_bytes(self) -> int:
        """Bytes that all pages unpack to."""
        return int(self.unpacked.sum()) + self.dictionary

    def most_bytes(self, rows: int) -> int:
        """At most so many bytes unpack to read any `rows` values that follow each other."""
        ends = np.cumsum(self.values)
        bytes_before = np.concatenate([[0], np.cumsum(self.unpacked)])
        # the worst begin with the last value of a page
        last = np.searchsorted(ends, ends - 1 + rows, side="left").clip(max=len(ends) - 1)
        return int((bytes_before[last + 1] - bytes_before[:-1]).max(initial=0)) + self.dictionary


def column_pages(handle: BinaryIO, column: pq.ColumnChunkMetaData) -> ColumnPages:
    """The pages of a column chunk; where the headers cannot be read, one page that holds all of it."""
    start = column.data_page_offset
    if column.has_dictionary_page and 0 < (column.dictionary_page_offset or 0) < start:
        start = column.dictionary_page_offset
    values: list[int] = []
    unpacked: list[int] = []
    dictionary = seen = 0
    at, end = start, start + column.total_compressed_size
    try:
        while at < end and seen < column.num_values:
            header, length = _page_header(handle, at)
            counted = next((header[name][_VALUES] for name in _OF_VALUES if name in header), 0)
            if min(counted, header[_UNPACKED], header[_PACKED]) < 0:
                break
            if header[_TYPE] == _DICTIONARY_PAGE:
                dictionary = max(dictionary, header[_UNPACKED], header[_PACKED])
            else:
                seen += counted
                values.append(counted)
                unpacked.append(header[_UNPACKED])
            at += length + header[_PACKED]
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        seen = 0
    if seen < column.num_values:
        values, unpacked = [column.num_values], [column.total_uncompressed_size]
    return ColumnPages(np.array(values, dtype=np.int64), np.array(unpacked, dtype=np.int64), dictionary)


def _page_header(handle: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at an offset, and its length. Raises ValueError or IndexError for what is none."""
    for size in _HEADER_BYTES:
        handle.seek(at)
        thrift = _Thrift(handle.read(size))
        try:
            return thrift.struct(), thrift.at
        except IndexError:
            if size == _HEADER_BYTES[-1]:
                raise
    raise IndexError


class _Thrift:
    """A reader of Thrift's compact protocol; binaries are passed over."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - the high bit says that more follow
                return value

    def struct(self) -> dict[int, Any]:
        """A struct's fields by their numbers. Raises IndexError where the data end first, ValueError for no Thrift."""
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._data[self.at]:
            self.at += 1
            delta, kind = kind >> 4, kind & 0x0F
            number = number + delta if delta else self._number()
            fields[number] = self._value(kind)
        self.at += 1
        return fields

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int) -> Any:  # noqa: ANN401 - a field of any type
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind in _NUMBERS:
            return self._number()
        if kind == _STRUCT:
            return self.struct()
        if kind in {_BYTE, _DOUBLE, _BINARY}:
            length = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self._varint()
            self.at += length
            return None
        message = f"no page header has a field of type {kind}"
        raise ValueError(message)
