"""However large a delivery unpacks, little of it is held at once, and what is refused for its size is told how to land.

Sizes are taken a thousand times smaller than they would hurt, by a small longest row.
"""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import LONGEST_ROW, Settings
from slowwave.flows.land.formats import parquet as delivery_parquet
from slowwave.flows.land.formats.chunk import CHUNK_BYTES, Chunk
from slowwave.flows.land.formats.delivery import chunks
from slowwave.flows.land.formats.parquet_pages import column_pages, decoded_sizes
from slowwave.transforms.landing.delivered_rows import FrameRows

ROW = b'{"prompt": "What now?", "created_at": "2026-03-01"}\n'
LONGEST = 100_000
MEGABYTE = 2**20


def read(content: bytes | BinaryIO, longest_row: int = LONGEST) -> Iterator[Chunk]:
    return chunks(io.BytesIO(content) if isinstance(content, bytes) else content, "a", longest_row)


def refused(content: bytes) -> list[tuple[int | None, str]]:
    return [(bad.row_number, bad.reason) for chunk in read(content) for bad in chunk.bad]


def packed_by_zstd(pieces: Iterator[bytes]) -> bytes:
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        for piece in pieces:
            writer.write(piece)
    return out.getvalue()


def of_parquet(table: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)  # type: ignore[arg-type]
    return out.getvalue()


# ------------------------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bytes])
def test_a_line_longer_than_a_row_may_be_is_refused_alone(pack) -> None:
    long = b'{"prompt": "' + b"x" * 300_000 + b'"}\n'
    content = pack(ROW + long + ROW + long.strip())
    found = list(read(content))
    assert [number for chunk in found for number in chunk.rows.row_numbers] == [1, 3]
    bad = [bad for chunk in found for bad in chunk.bad]
    assert [each.row_number for each in bad] == [2, 4]
    for each in bad:
        assert (
            "300,014 bytes long, longer than a row may be (100,000 bytes, set by SLOWWAVE_LONGEST_ROW)" in each.reason
        )
        assert not each.is_whole


def test_a_row_as_long_as_allowed_lands() -> None:
    line = b'{"prompt": "' + b"x" * (LONGEST - 14) + b'"}'
    assert len(line) == LONGEST
    assert refused(line + b"\n") == []
    assert [number for number, _ in refused(line[:-2] + b'x"}\n')] == [1]


def test_a_bomb_of_one_line_is_not_read_to_its_end() -> None:
    zeros = packed_by_zstd(b"\0" * MEGABYTE for _ in range(400))
    tracemalloc.start()
    found = refused(zeros)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [number for number, _ in found] == [1, None]
    assert "goes on for more than" in found[1][1]
    assert peak < 160 * MEGABYTE


@pytest.mark.parametrize("blank", [b"\n", b" \t\r\n"])
def test_a_bomb_of_blank_lines_is_not_read_to_its_end(blank: bytes) -> None:
    found = list(read(packed_by_zstd(piece for piece in [ROW, *[blank * 100_000] * 100])))
    assert [number for chunk in found for number in chunk.rows.row_numbers] == [1]
    (bad,) = [bad for chunk in found for bad in chunk.bad]
    assert bad.row_number is None
    assert "blank lines" in bad.reason


def test_rows_between_blank_lines_keep_their_numbers() -> None:
    content = b"\xef\xbb\xbf \n\n\r\n" + ROW + b" \n" * 300_000 + b"\n\t" + ROW + b"\n"
    assert [number for chunk in read(content, MEGABYTE) for number in chunk.rows.row_numbers] == [4, 300_006]
    rows = b"\r\n\nprompt,created_at\n\n\r\na,2026-03-01\n" + b"\n" * 2_000_000 + b'"b\n\n",2026-03-01\n\nc\n'
    found = list(read(rows, MEGABYTE))
    assert [number for chunk in found for number in chunk.rows.row_numbers] == [6, 2_000_007]
    assert [bad.row_number for chunk in found for bad in chunk.bad] == [2_000_011]


def test_empty_lines_within_quotes_take_no_more_than_a_row_may() -> None:
    found = list(read(b"prompt,created_at\n" + b"fine,2026-03-01\n" * 100 + b'"' + b"\n" * 1_000_000))
    assert sum(len(chunk.rows) for chunk in found) == 100
    (bad,) = [bad for chunk in found for bad in chunk.bad]
    assert "longer than a row may be" in bad.reason


def test_what_unpacks_to_many_rows_comes_in_chunks() -> None:
    content = packed_by_zstd(ROW * 10_000 for _ in range(30))
    sizes = [len(chunk.rows) for chunk in read(content)]
    assert sum(sizes) == 300_000
    assert max(sizes) <= 20_000


def test_a_line_of_very_many_values_is_refused_before_it_is_read() -> None:
    line = b'{"prompt": "x", "created_at": "2026-03-01", "deep": [' + b"[]," * 5_000_000 + b"1]}\n"
    (bad,) = [bad for chunk in read(line + ROW, LONGEST_ROW) for bad in chunk.bad]
    assert bad.row_number == 1
    assert "10,000,004 values, more than a row may" in bad.reason
    deep = b'{"prompt": "x", "deep": ' + b"[" * 40_000 + b"]" * 40_000 + b"}\n"
    assert [number for number, _ in refused(deep + ROW)] == [1]


def test_a_quote_that_is_never_closed_takes_no_more_than_a_row_may() -> None:
    content = b'prompt,created_at\nfine,2026-03-01\n"open,2026-03-01\n' + b"row,2026-03-01\n" * 20_000
    found = list(read(content))
    (bad,) = [bad for chunk in found for bad in chunk.bad]
    assert bad.row_number == 3
    assert "longer than a row may be" in bad.reason
    assert not bad.is_whole
    swallowed = LONGEST // len(b"row,2026-03-01\n")
    assert sum(len(chunk.rows) for chunk in found) == pytest.approx(20_001 - swallowed, abs=2)


# ---------------------------------------------------------------------------------------------------------- Parquet


def dictionary(rows: int, value: str) -> pa.Table:
    repeated = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([value]))
    return pa.table(
        {"prompt": [f"p{i}" for i in range(rows)], "created_at": ["2026-03-01"] * rows, "response": repeated}
    )


def test_a_dictionary_is_decoded_some_rows_at_a_time() -> None:
    content = of_parquet(dictionary(3_000, "a" * 100_000))
    assert len(content) < 200_000
    sizes = []
    for chunk in read(content, LONGEST_ROW):
        assert isinstance(chunk.rows, FrameRows)
        assert chunk.rows.frame.estimated_size() < 2 * CHUNK_BYTES
        assert chunk.rows.frame["response"].str.len_bytes().unique().to_list() == [100_000]
        sizes.append(len(chunk.rows))
    assert sum(sizes) == 3_000
    assert len(sizes) > 5


def nested(kind: str, rows: int, value: str) -> pa.Array:
    """`rows` of one value, as another release of another library may write them."""
    texts = pa.array([value] * rows)
    starts = pa.array(np.arange(rows + 1, dtype=np.int32))
    match kind:
        case "extension":
            return pa.ExtensionArray.from_storage(pa.json_(pa.string()), texts)
        case "extension in a struct":
            return pa.StructArray.from_arrays([nested("extension", rows, value)], names=["inner"])
        case "list":
            return pa.ListArray.from_arrays(starts, texts)
        case "list of one length":
            return pa.FixedSizeListArray.from_arrays(texts, 1)
        case "map":
            return pa.MapArray.from_arrays(starts, pa.array(["k"] * rows), texts)
        case _:
            return texts.cast(pa.binary()).cast(pa.binary(len(value)))


@pytest.mark.parametrize(
    "kind", ["extension", "extension in a struct", "list", "list of one length", "map", "bytes of one length"]
)
def test_what_repeats_within_other_types_is_decoded_some_rows_at_a_time(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_parquet, "CHUNK_BYTES", 2 * MEGABYTE)
    monkeypatch.setattr(delivery_parquet, "_UNPACKED_BYTES", 4 * MEGABYTE)
    value = json.dumps("a" * 19_998)
    content = of_parquet(dictionary(1_000, "short").append_column("other", nested(kind, 1_000, value)))
    assert len(content) < 50_000
    counts, before = [], pa.total_allocated_bytes()
    for chunk in read(content, LONGEST_ROW):
        assert pa.total_allocated_bytes() - before < 12 * MEGABYTE, "more was decoded than is handed over"
        assert isinstance(chunk.rows, FrameRows)
        counts.append(len(chunk.rows))
        del chunk
    assert sum(counts) == 1_000
    assert max(counts) * len(value) <= 2 * MEGABYTE


def test_a_row_that_is_too_long_when_decoded_is_refused_alone() -> None:
    table = pa.table({"prompt": ["a", "b" * 200_000, "c"], "created_at": ["2026-03-01"] * 3})
    (chunk,) = read(of_parquet(table))
    assert list(chunk.rows.row_numbers) == [1, 3]
    (bad,) = chunk.bad
    assert (bad.row_number, bad.is_whole) == (2, False)
    assert "SLOWWAVE_LONGEST_ROW" in bad.reason


def test_decoded_sizes_are_those_of_the_values() -> None:
    ids = pa.array([["m1", "m22"], None, []], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    offers = pa.array([[{"id": "abc", "rank": 1}], [], None])
    batch = pa.RecordBatch.from_pydict(
        {"text": pa.array(["x", None, "zzz"]).dictionary_encode(), "i": ids, "o": offers}
    )
    assert decoded_sizes(batch).tolist() == [1 + 5 + 11, 0, 3]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_decoded_sizes_of_a_slice_are_those_of_its_values(kind: pa.DataType) -> None:
    texts = ["a", None, "\N{SNOWMAN}" * 3, "", "dd"]
    lists = pa.array([texts, None, [], ["x"], texts[2:]], pa.list_(kind))
    structs = pa.array([{"t": text} if text else None for text in texts], pa.struct([("t", kind)]))
    batch = pa.RecordBatch.from_pydict({"text": pa.array(texts, kind), "lists": lists, "structs": structs})
    sizes = [1 + 12 + 1, 0, 9 + 0 + 9, 1, 2 + 11 + 2]
    for start in range(5):
        assert decoded_sizes(batch.slice(start, 3)).tolist() == sizes[start : start + 3]


def test_a_file_with_two_columns_of_one_name_is_refused_whole() -> None:
    columns = [pa.array([text]) for text in ("a", "b", "2026-03-01")]
    ((number, reason),) = refused(of_parquet(pa.table(columns, names=["prompt", "prompt", "created_at"])))
    assert number is None
    assert "cannot be read as Parquet" in reason


def test_texts_are_kept_as_dictionaries_where_decoding_makes_much_of_them() -> None:
    many = dictionary(3_000, "a" * 100_000)
    few = pa.table({"prompt": ["a", "b"], "created_at": ["2026-03-01"] * 2, "memories_used": [["m1", "m2"]] * 2})
    for table, kept in ((many, ["prompt", "response"]), (few, [])):
        file, _ = delivery_parquet._open_file(io.BytesIO(of_parquet(table)), LONGEST_ROW)
        types = file.schema_arrow
        assert [field.name for field in types if pa.types.is_dictionary(field.type)] == kept


def test_pages_that_unpack_to_very_much_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_parquet, "_UNPACKED_BYTES", MEGABYTE)
    table = pa.table({"prompt": ["a", "b"], "created_at": ["2026-03-01"] * 2, "response": ["x" * 3 * MEGABYTE, "y"]})
    content = of_parquet(table, use_dictionary=False, compression="zstd")
    assert len(content) < 10_000
    ((number, reason),) = refused(content)
    assert number is None
    assert "its pages unpack to 3 MB at once, more than 1 MB (8 x SLOWWAVE_LONGEST_ROW)" in reason


def test_lists_of_very_many_values_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_parquet, "_LIST_VALUES", 1_000)
    table = pa.table({"prompt": ["a"], "created_at": ["2026-03-01"], "memories_used": [["m"] * 2_000]})
    ((number, reason),) = refused(of_parquet(table))
    assert number is None
    assert "2,000 values of 'memories_used" in reason


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_pages_are_those_that_were_written(version: str, use_dictionary: bool) -> None:
    texts = [f"{i * i:x}" * 20 for i in range(5_000)]
    content = of_parquet(
        pa.table({"a": texts, "n": [None if i % 3 else i for i in range(5_000)]}),
        data_page_version=version,
        data_page_size=10_000,
        use_dictionary=use_dictionary,
        write_statistics=True,
        compression="snappy",
    )
    metadata = pq.read_metadata(io.BytesIO(content))
    for at in range(2):
        column = metadata.row_group(0).column(at)
        pages = column_pages(io.BytesIO(content), column)
        assert pages.values.sum() == 5_000
        assert 0.9 < (pages.unpacked.sum() + pages.dictionary) / column.total_uncompressed_size <= 1
        assert pages.most_bytes(5_000) == pages.unpacked.sum() + pages.dictionary
        assert pages.most_bytes(1) <= 3 * pages.largest


def test_many_rows_in_small_row_groups_keep_their_numbers() -> None:
    table = pa.table({"prompt": [f"p{i}" for i in range(1_000)], "created_at": ["2026-03-01"] * 1_000})
    found = list(read(of_parquet(table, row_group_size=7)))
    rows = [row for chunk in found for row in zip(chunk.rows.row_numbers, chunk.rows.values("prompt"), strict=True)]
    assert rows == [(i + 1, f"p{i}") for i in range(1_000)]


# --------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("said", "size"), [("", LONGEST_ROW), ("64MB", 64 * 10**6), ("10 kb", 10_000), ("1GB", 10**9), ("77", 77)]
)
def test_the_longest_row_is_chosen_by_the_environment(
    said: str, size: int, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setenv("SLOWWAVE_LONGEST_ROW", said)
    assert Settings(tmp_path).longest_row == size


@pytest.mark.parametrize("said", ["many", "0", "-1", "1TB", "1.5MB"])
def test_what_is_no_size_is_refused(said: str, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("SLOWWAVE_LONGEST_ROW", said)
    with pytest.raises(UserError, match="is no size"):
        _ = Settings(tmp_path).longest_row
