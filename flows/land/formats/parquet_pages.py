"""What the pages of a Parquet file unpack to, inferred from their headers, before any is unpacked.

Only these headers say it: the file's own sums are by column and row group, and a page of 100 bytes may unpack to 2 GB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
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


# What rows of an Arrow batch take when its dictionaries are decoded, inferred from the arrays' own buffers.
# Arrow's compute functions and its conversion to numpy would do, but the first call of them loads pandas where it is
# installed, which takes longer than a small delivery.

_LEAST_BYTES = 8  # of what is no text


def decoded_sizes(batch: pa.RecordBatch) -> np.ndarray:
    """Bytes that each row of a batch takes when its dictionaries are decoded."""
    sizes = np.zeros(batch.num_rows, dtype=np.int64)
    for column in batch.columns:
        sizes += _sizes(column)
    return sizes


def _sizes(array: Any) -> np.ndarray:  # noqa: ANN401 - an Arrow array of any type
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        of_values, indices = _sizes(array.dictionary), array.indices
        sign = "u" if types.is_unsigned_integer(indices.type) else "i"
        places = _cells(indices, f"{sign}{indices.type.bit_width // 8}", len(indices))
        if not indices.null_count:
            return of_values[places]
        return np.append(of_values, 0)[np.where(_is_valid(indices), places, len(of_values))]
    if types.is_struct(kind):
        return sum(map(_sizes, array.flatten()), np.zeros(len(array), dtype=np.int64))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        child = _sizes(array.keys) + _sizes(array.items) if types.is_map(kind) else _sizes(array.values)
        before = np.concatenate([[0], np.cumsum(child)])
        return np.diff(before[_offsets(array, is_large=types.is_large_list(kind))])
    is_large = types.is_large_string(kind) or types.is_large_binary(kind)
    if is_large or types.is_string(kind) or types.is_binary(kind):
        sizes = np.diff(_offsets(array, is_large=is_large))
        return sizes * _is_valid(array) if array.null_count else sizes
    if types.is_string_view(kind) or types.is_binary_view(kind):
        words = _cells(array, "V16", len(array)).view("i4").reshape(-1, 4)  # the first is the length
        return words[:, 0] * _is_valid(array).astype(np.int64)
    if types.is_fixed_size_list(kind):
        values = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        return _sizes(values).reshape(len(array), kind.list_size).sum(axis=1)
    if types.is_fixed_size_binary(kind):
        return np.full(len(array), max(_LEAST_BYTES, kind.byte_width), dtype=np.int64)
    return np.full(len(array), _LEAST_BYTES, dtype=np.int64)


def _cells(array: Any, dtype: str, count: int) -> np.ndarray:  # noqa: ANN401
    """`count` numbers of an array's second buffer."""
    buffer = array.buffers()[1]
    if buffer is None or not count:
        return np.zeros(count, dtype=dtype)
    width = np.dtype(dtype).itemsize
    return np.frombuffer(buffer, dtype=dtype, count=count, offset=array.offset * width)


def _offsets(array: Any, *, is_large: bool) -> np.ndarray:  # noqa: ANN401
    """Where each value begins, and where the last one ends."""
    if not len(array):
        return np.zeros(1, dtype=np.int64)
    return _cells(array, "i8" if is_large else "i4", len(array) + 1).astype(np.int64)


def _is_valid(array: Any) -> np.ndarray:  # noqa: ANN401
    """Whether each value is not NULL."""
    bits = array.buffers()[0]
    if bits is None:
        return np.ones(len(array), dtype=bool)
    every = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
    return every[array.offset : array.offset + len(array)].astype(bool)
