"""What rows of an Arrow batch take when its dictionaries are decoded, inferred from the arrays' own buffers.

Arrow's compute functions and its conversion to numpy would do, but the first call of them loads pandas where it is
installed, which takes longer than a small delivery.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

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
