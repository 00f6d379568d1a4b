"""Reading delivered Parquet in chunks that are small when decoded, however small the file is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import numpy as np
import polars as pl

from slowwave.flows.delivered_chunk import CHUNK_BYTES, CHUNK_ROWS, BadRow, Chunk
from slowwave.flows.delivery_lines import in_megabytes, too_long
from slowwave.flows.parquet_pages import column_pages
from slowwave.transforms.delivered_rows import FrameRows, RecordRows

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

T = TypeVar("T")

_BUFFER = 2**20
_UNPACKED_BYTES = 256 * 2**20  # of the pages that one batch is read from
_LIST_VALUES = 32 * 10**6  # of one column of lists in one row group
_BATCH_LIST_VALUES = 2 * 10**6


class _Unreadable(Exception):  # noqa: N818 - a finding about a file, not a fault of the program
    """The file cannot be read on; the message says why."""


def _tried(read: Callable[[], T]) -> T:
    """What a library makes of the file's bytes.

    Raises _Unreadable where it finds them wrong, OSError where the disk does not give them.
    """
    import pyarrow as pa

    try:
        return read()
    except OSError as error:  # without a number it is Arrow's word for damaged data
        if error.errno is not None:
            raise
        fault: BaseException = error
    except (
        pa.ArrowException, ValueError, NotImplementedError, pl.exceptions.PolarsError, pl.exceptions.PanicException
    ) as error:  # fmt: skip
        fault = error
    said = str(fault).strip()
    raise _Unreadable(said.splitlines()[0] if said else type(fault).__name__) from fault


def parquet_chunks(handle: BinaryIO, longest_row: int) -> Iterator[Chunk]:
    """The rows of a Parquet file; one that cannot be read on ends with a BadRow without a number."""
    gathered = _Gathered(longest_row)
    try:
        file, batch_rows = _tried(lambda: _opened(handle, longest_row))
        # a row group at a time: over several, lists of texts have several dictionaries, which Arrow does not join
        batches = itertools.chain.from_iterable(
            file.iter_batches(batch_size=batch_rows, row_groups=[group]) for group in range(file.num_row_groups)
        )
        while (batch := _tried(lambda: next(batches, None))) is not None:
            _tried(lambda batch=batch: batch.validate(full=True))  # text that is not UTF-8 would panic further on
            gathered.add(batch)
            while gathered.is_full:
                yield gathered.chunk(handle.tell())
        yield gathered.chunk(handle.tell())
    except _Unreadable as fault:
        if gathered.rows_count:
            yield gathered.chunk(handle.tell())
        yield Chunk(
            RecordRows([], [], []),
            [BadRow(None, f"the file cannot be read as Parquet: {fault}", b"")],
            0,
            "parquet",
        )


def _opened(handle: BinaryIO, longest_row: int) -> tuple[pq.ParquetFile, int]:
    """The file, texts to be read as dictionaries where it stores them so, and how many rows to read at a time."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(handle)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    dictionaries = {
        group.column(i).path_in_schema
        for group in groups
        for i in range(group.num_columns)
        if group.column(i).physical_type == "BYTE_ARRAY" and group.column(i).has_dictionary_page
    }
    rows = min((_batch_rows(handle, group, metadata.schema, longest_row) for group in groups), default=CHUNK_ROWS)
    file = pq.ParquetFile(handle, metadata=metadata, read_dictionary=sorted(dictionaries), buffer_size=_BUFFER)
    _refuse_wide_decimals(file)
    return file, rows


def _batch_rows(handle: BinaryIO, group: pq.RowGroupMetaData, schema: pq.ParquetSchema, longest_row: int) -> int:
    """How many rows of a row group may be read at a time. Raises _Unreadable where even one takes too much."""
    if not group.num_rows:
        return CHUNK_ROWS
    per_row = max(1, group.total_byte_size // group.num_rows)
    rows = max(1, min(CHUNK_ROWS, CHUNK_BYTES // per_row))
    pages, fixed, repeated_bytes = [], 1, 0
    for i in range(group.num_columns):
        column, declared = group.column(i), schema.column(i)
        if declared.max_repetition_level:
            if column.num_values > _LIST_VALUES:
                name, count = column.path_in_schema, column.num_values
                message = f"a row group holds {count:,} values of {name!r}, more than {_LIST_VALUES:,}: make it smaller"
                raise _Unreadable(message)
            rows = max(1, min(rows, _BATCH_LIST_VALUES * group.num_rows // max(1, column.num_values)))
            repeated_bytes += column.total_uncompressed_size
            continue
        of_column = column_pages(handle, column)
        if "DELTA_BYTE_ARRAY" in column.encodings:  # each value may repeat all of the one before
            fixed += of_column.largest
        fixed += max(0, declared.length)
        pages.append(of_column)

    def most_bytes() -> int:
        return sum(each.most_bytes(rows) for each in pages) + rows * fixed + repeated_bytes

    while rows > 1 and most_bytes() > _UNPACKED_BYTES:
        rows = max(1, rows // 2)
    limit = max(_UNPACKED_BYTES, 8 * longest_row)
    if most_bytes() > limit:
        unpacked = f"{in_megabytes(most_bytes())} at once, more than {in_megabytes(limit)}"
        message = f"its pages unpack to {unpacked} (8 x SLOWWAVE_LONGEST_ROW): write smaller ones"
        raise _Unreadable(message)
    return rows


def _refuse_wide_decimals(file: pq.ParquetFile) -> None:
    import pyarrow as pa

    too_wide = next((one.name for one in file.schema_arrow if pa.types.is_decimal256(one.type)), None)
    if too_wide is not None:
        message = f"the column {too_wide!r} holds decimals of more than 38 digits: deliver it as text"
        raise _Unreadable(message)


class _Gathered:
    """Rows read and not yet handed over; still encoded, with the bytes that each takes when decoded."""

    def __init__(self, longest_row: int) -> None:
        self._longest_row = longest_row
        self._number = 1
        self._batches: list[pa.RecordBatch] = []
        self._sizes = np.array([], dtype=np.int64)

    @property
    def rows_count(self) -> int:
        """Rows that wait."""
        return len(self._sizes)

    def add(self, batch: pa.RecordBatch) -> None:
        """Rows that were read."""
        self._batches.append(batch)
        self._sizes = np.concatenate([self._sizes, decoded_sizes(batch)])

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand over a chunk."""
        return self.rows_count >= CHUNK_ROWS or int(self._sizes.sum()) >= CHUNK_BYTES

    def chunk(self, bytes_read: int) -> Chunk:
        """The first of the rows that wait, decoded."""
        import pyarrow as pa

        numbers = np.arange(self._number, self._number + self.rows_count)
        is_long = self._sizes > self._longest_row
        held = np.cumsum(np.where(is_long, 0, self._sizes))
        count = int(np.searchsorted(held, CHUNK_BYTES, side="right"))
        count = min(max(count, 1), CHUNK_ROWS, self.rows_count)
        long, taken = is_long[:count], numbers[:count]
        bad = [
            BadRow(int(number), too_long(int(size), self._longest_row), b"", is_whole=False)
            for number, size in zip(taken[long], self._sizes[:count][long], strict=True)
        ]
        frames, left = [], count
        while left:
            first = self._batches.pop(0)
            piece = first.slice(0, min(left, first.num_rows))
            if piece.num_rows < first.num_rows:
                self._batches.insert(0, first.slice(piece.num_rows))
            at = count - left
            kept = piece.filter(pa.array(~long[at : at + piece.num_rows]))
            left -= piece.num_rows
            frames.append(_tried(lambda kept=kept: _frame(kept)))
        self._sizes = self._sizes[count:]
        self._number += count
        if not frames:
            return Chunk(RecordRows([], [], []), bad, bytes_read, "parquet")
        rows = FrameRows(pl.concat(frames), taken[~long].tolist())
        return Chunk(rows, bad, bytes_read, "parquet")


def decoded_sizes(batch: pa.RecordBatch) -> np.ndarray:
    """Bytes that each row of a batch takes when its dictionaries are decoded."""
    sizes = np.zeros(batch.num_rows, dtype=np.int64)
    for column in batch.columns:
        sizes += _decoded_sizes(column)
    return sizes


def _decoded_sizes(array: Any) -> np.ndarray:  # noqa: ANN401 - an Arrow array of any type
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        of_values = _decoded_sizes(array.dictionary)
        places = pc.fill_null(array.indices.cast(pa.int64()), len(of_values)).to_numpy(zero_copy_only=False)
        return np.append(of_values, 0)[places]
    if pa.types.is_struct(kind):
        return np.sum([_decoded_sizes(field) for field in array.flatten()] or [np.zeros(len(array))], axis=0).astype(
            np.int64
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = array.offsets.to_numpy()
        if pa.types.is_map(kind):
            child = _decoded_sizes(array.keys) + _decoded_sizes(array.items)
        else:
            child = _decoded_sizes(array.values)
        before = np.concatenate([[0], np.cumsum(child)])
        return (before[offsets[1:]] - before[offsets[:-1]]).astype(np.int64)
    if any(
        is_kind(kind)
        for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    ):
        return (
            pc.fill_null(pc.call_function("binary_length", [array]), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        )
    return np.full(len(array), 8, dtype=np.int64)


def _frame(batch: pa.RecordBatch) -> pl.DataFrame:
    import pyarrow as pa

    plain = pa.schema([field.with_type(_plain(field.type)) for field in batch.schema])
    return cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches([batch.cast(plain)])))


def _plain(kind: Any) -> Any:  # noqa: ANN401 - an Arrow type
    """A type without dictionaries."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    return kind
