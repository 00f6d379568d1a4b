"""Reading delivered Parquet in chunks that are small when decoded, however small the file is."""

from __future__ import annotations

import itertools
import zoneinfo
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import numpy as np
import polars as pl

from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.land.formats.chunk import CHUNK_BYTES, CHUNK_ROWS, BadRow, Chunk
from slowwave.flows.land.formats.lines import in_megabytes, too_long
from slowwave.flows.land.formats.parquet_pages import ColumnPages, column_pages, decoded_sizes
from slowwave.transforms.landing.delivered_rows import FrameRows, RecordRows

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


def _try_read(read: Callable[[], T]) -> T:
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
    fault: _Unreadable | None = None
    try:
        file, batch_rows = _try_read(lambda: _open_file(handle, longest_row))
        # a row group at a time: over several, lists of texts have several dictionaries, which Arrow does not join
        batches = itertools.chain.from_iterable(
            file.iter_batches(batch_size=batch_rows, row_groups=[group]) for group in range(file.num_row_groups)
        )
        while (batch := _try_read(lambda: next(batches, None))) is not None:
            _try_read(lambda batch=batch: batch.validate(full=True))  # text that is not UTF-8 would panic further on
            _try_read(lambda batch=batch: gathered.add(batch))
            while gathered.is_full:
                yield gathered.chunk(handle.tell())
            if gathered.fault is not None:
                break
    except _Unreadable as found:
        fault = found
    yield gathered.chunk(handle.tell())
    fault = gathered.fault or fault
    if fault is not None:
        reason = f"the file cannot be read as Parquet: {fault}"
        yield Chunk(RecordRows([], [], []), [BadRow(None, reason, b"")], 0, "parquet")


def _open_file(handle: BinaryIO, longest_row: int) -> tuple[pq.ParquetFile, int]:
    """The file, and how many rows to read at a time; texts stay dictionaries where decoding may make much of them."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(handle)
    groups = [_RowGroup(handle, metadata.row_group(i), metadata.schema) for i in range(metadata.num_row_groups)]
    rows = min((group.rows_at_once(longest_row) for group in groups), default=CHUNK_ROWS)
    dictionaries = sorted({name for group in groups for name in group.dictionaries})
    file = pq.ParquetFile(
        handle,
        metadata=metadata,
        read_dictionary=dictionaries,
        buffer_size=_BUFFER,
        arrow_extensions_enabled=False,  # a column of an extension type would be decoded whole as it is read
    )
    _refuse_types(file.schema_arrow)
    return file, rows


class _RowGroup:
    """What it may take to read some rows of a row group at once. Raises _Unreadable for a list of too many values."""

    def __init__(self, handle: BinaryIO, group: pq.RowGroupMetaData, schema: pq.ParquetSchema) -> None:
        self._handle = handle
        self._most_rows = CHUNK_ROWS
        self._pages: list[ColumnPages] = []
        self._fixed, self._repeated_bytes = 1, 0
        self._decoded: list[tuple[int, str]] = []
        if group.num_rows:
            self._most_rows = min(CHUNK_ROWS, CHUNK_BYTES // max(1, group.total_byte_size // group.num_rows))
            for i in range(group.num_columns):
                is_repeated = schema.column(i).max_repetition_level > 0
                if is_repeated:
                    self._add_repeated(group.column(i), group.num_rows)
                else:
                    self._add_flat(group.column(i), schema.column(i).length)

    def _add_repeated(self, column: pq.ColumnChunkMetaData, rows: int) -> None:
        if column.num_values > _LIST_VALUES:
            name, count = column.path_in_schema, column.num_values
            message = (
                f"a row group holds {count:,} values of {quote_shortened(name)}, more than "
                f"{_LIST_VALUES:,}: make it smaller"
            )
            raise _Unreadable(message)
        self._most_rows = min(self._most_rows, _BATCH_LIST_VALUES * rows // max(1, column.num_values))
        self._repeated_bytes += column.total_uncompressed_size
        if column.physical_type == "BYTE_ARRAY":
            self._add_dictionary(column, column_pages(self._handle, column))

    def _add_flat(self, column: pq.ColumnChunkMetaData, length: int) -> None:
        pages = column_pages(self._handle, column)
        self._pages.append(pages)
        self._fixed += max(0, length)
        if "DELTA_BYTE_ARRAY" in column.encodings:  # each value may repeat all of the one before
            self._fixed += pages.largest
        if column.physical_type == "BYTE_ARRAY":
            self._add_dictionary(column, pages)

    def _add_dictionary(self, column: pq.ColumnChunkMetaData, pages: ColumnPages) -> None:
        if pages.dictionary or column.has_dictionary_page:
            self._decoded.append((column.num_values * (pages.dictionary or CHUNK_BYTES), column.path_in_schema))

    @property
    def dictionaries(self) -> list[str]:
        """Columns of which decoding may make much; the others Arrow decodes as it reads, which is quicker."""
        sizes = itertools.accumulate(size for size, _ in sorted(self._decoded))
        return [name for (_, name), size in zip(sorted(self._decoded), sizes, strict=True) if size > CHUNK_BYTES]

    def rows_at_once(self, longest_row: int) -> int:
        """How many rows to read at a time. Raises _Unreadable where even one takes too much."""
        rows = max(1, self._most_rows)
        if sum(each.all_bytes for each in self._pages) + rows * self._fixed + self._repeated_bytes <= _UNPACKED_BYTES:
            return rows
        while rows > 1 and self._most_bytes(rows) > _UNPACKED_BYTES:
            rows = max(1, rows // 2)
        limit = max(_UNPACKED_BYTES, 8 * longest_row)
        if self._most_bytes(rows) > limit:
            unpacked = f"{in_megabytes(self._most_bytes(rows))} at once, more than {in_megabytes(limit)}"
            message = f"its pages unpack to {unpacked} (8 x SLOWWAVE_LONGEST_ROW): write smaller ones"
            raise _Unreadable(message)
        return rows

    def _most_bytes(self, rows: int) -> int:
        return sum(each.most_bytes(rows) for each in self._pages) + rows * self._fixed + self._repeated_bytes


def _refuse_types(schema: pa.Schema) -> None:
    """Raises _Unreadable for what a frame cannot hold."""
    twice = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if twice is not None:
        message = (
            f"the column {quote_shortened(twice)} stands there twice: rename one of them and deliver the file again"
        )
        raise _Unreadable(message)
    for column in schema:
        _map_leaf_types(column.type, lambda kind, name=column.name: _not_refused(kind, name))


def _not_refused(kind: Any, name: str) -> Any:  # noqa: ANN401 - an Arrow type
    import pyarrow as pa

    if pa.types.is_decimal256(kind):
        message = f"the column {quote_shortened(name)} holds decimals of more than 38 digits: deliver it as text"
        raise _Unreadable(message)
    return kind


class _Gathered:
    """Rows read and not yet handed over; still encoded, with the bytes that each takes when decoded."""

    def __init__(self, longest_row: int) -> None:
        self._longest_row = longest_row
        self._number = 1
        self._batches: list[pa.RecordBatch] = []
        self._sizes = np.array([], dtype=np.int64)
        self.fault: _Unreadable | None = None  # some rows could not be decoded, and none after them is handed over

    @property
    def rows_count(self) -> int:
        """Rows that wait."""
        return len(self._sizes)

    def add(self, batch: pa.RecordBatch) -> None:
        """Rows that were read."""
        batch = _cast(batch, _common)
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
        frames, at = [], 0
        while at < count:
            first = self._batches[0]
            piece = first.slice(0, min(count - at, first.num_rows))
            is_long_here = long[at : at + piece.num_rows]
            kept = piece.filter(pa.array(~is_long_here)) if is_long_here.any() else piece
            try:
                frames.append(_try_read(lambda kept=kept: _frame(kept)))
            except _Unreadable as fault:
                self.fault, self._batches, count = fault, [], at
                long, taken = long[:at], taken[:at]
                bad = [row for row in bad if row.row_number in taken]
                break
            self._batches[:1] = [first.slice(piece.num_rows)] if piece.num_rows < first.num_rows else []
            at += piece.num_rows
        self._sizes = self._sizes[count:] if self.fault is None else self._sizes[:0]
        self._number += count
        if not frames:
            return Chunk(RecordRows([], [], []), bad, bytes_read, "parquet")
        rows = FrameRows(pl.concat(frames), taken[~long].tolist())
        return Chunk(rows, bad, bytes_read, "parquet")


def _frame(batch: pa.RecordBatch) -> pl.DataFrame:
    """A batch without dictionaries."""
    import pyarrow as pa

    encoded = [i for i, kind in enumerate(batch.schema.types) if pa.types.is_dictionary(kind)]
    others = [i for i in range(batch.num_columns) if i not in encoded]
    frame = pl.DataFrame(height=batch.num_rows)
    if others:
        given = pa.Table.from_batches([_cast(batch.select(others), _decoded_type, is_slice=True)])
        frame = cast("pl.DataFrame", pl.from_arrow(given))
    decoded = [_gather_dictionary(batch.schema.names[i], batch.column(i)) for i in encoded]
    return frame.hstack(decoded).select(batch.schema.names)


def _gather_dictionary(name: str, column: pa.DictionaryArray) -> pl.Series:
    """The values of a dictionary: in Polars each is held once, however many rows have it."""
    return _series(column.dictionary).gather(_series(column.indices)).alias(name)


def _series(array: pa.Array) -> pl.Series:
    """An array by way of a table: alone it would load Arrow's compute functions."""
    import pyarrow as pa

    return cast("pl.DataFrame", pl.from_arrow(pa.Table.from_arrays([array], ["values"]))).to_series()


def _cast(batch: pa.RecordBatch, leaf: Callable[[Any], Any], *, is_slice: bool = False) -> pa.RecordBatch:
    """The same rows, the types in them as `leaf` has them.

    Of a slice the values are copied first: Arrow casts all that the lists of the whole batch hold.
    """
    import pyarrow as pa

    schema = pa.schema([field.with_type(_map_leaf_types(field.type, leaf)) for field in batch.schema])
    if schema.equals(batch.schema):
        return batch
    return (batch.take(pa.array(np.arange(batch.num_rows))) if is_slice else batch).cast(schema)


def _map_leaf_types(kind: Any, leaf: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - an Arrow type
    """A type with `leaf` of each type that holds no other. Raises _Unreadable for a struct that no frame can hold."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        if len(set(names)) < len(names):
            message = f"a struct has two fields of one name: {', '.join(names)}"
            raise _Unreadable(message)
        return pa.struct([field.with_type(_map_leaf_types(field.type, leaf)) for field in kind])
    if pa.types.is_map(kind):
        key, item = (field.with_type(_map_leaf_types(field.type, leaf)) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_map_leaf_types(kind.value_type, leaf)), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_map_leaf_types(kind.value_type, leaf)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_map_leaf_types(kind.value_type, leaf)))
    return leaf(kind)


def _decoded_type(kind: Any) -> Any:  # noqa: ANN401 - an Arrow type
    """A type without its dictionary."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _common(kind: Any) -> Any:  # noqa: ANN401 - an Arrow type
    """A type that says the same, where Arrow or Polars cannot work with this one."""
    import pyarrow as pa

    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_timestamp(kind) and kind.tz and not _is_zone(kind.tz):
        return pa.timestamp(kind.unit, "UTC")  # an offset such as +05:30: the instants are stored in UTC anyway
    return kind


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True
