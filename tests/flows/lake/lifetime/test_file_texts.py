"""What a file says is found however it is packed; an id where it stands as itself; a text of 40 characters anywhere."""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from each import each

from slowwave.flows.lake.lifetime.file_texts import decode_texts, join_texts, list_texts
from slowwave.flows.lifetime.erasure import SearchTerms
from slowwave.transforms.language.text_windows import WindowSet, text_windows

ID = "asked-of-ada/1"
TEXT = 'The "tin" with the spare key lies under the third flagstone, née dalle; <b>nobody</b> knows.\nNot even Bob.'


def sought(*ids: str, texts: tuple[str, ...] = ()) -> SearchTerms:
    return SearchTerms(ids, WindowSet(text_windows(texts)))


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside/rows.jsonl", content)
    return out.getvalue()


def tarred(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("rows.jsonl")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "two frames of zst": lambda content: zstandard.compress(b"before\n") + zstandard.compress(content),
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zip": zipped,
    "tar.gz": lambda content: gzip.compress(tarred(content)),
    "zip of gz": lambda content: zipped(gzip.compress(content)),
    "cut gz": lambda content: gzip.compress(content + b"x" * 500)[:-9],
    "gz that is none": lambda content: b"\x1f\x8b" + content,
}


SAID = (json.dumps({"id": ID, "t": TEXT}), html.escape(f"<p>{ID} {TEXT}"), f"{ID},{TEXT}")


@pytest.mark.parametrize(
    ("packed", "said"), [*((packed, SAID[0]) for packed in PACKED), *(("plain", said) for said in SAID[1:])]
)
def test_it_is_found_however_it_is_packed_and_escaped(tmp_path: Path, packed: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(PACKED[packed](said.encode()))
    for one in (sought(ID), sought(texts=(TEXT,))):
        assert any(one.match_rows(texts).any() for texts in decode_texts(path))
    assert not any(
        sought("asked-of", "1", "-ada/1", texts=(TEXT[::-1],)).match_rows(t).any() for t in decode_texts(path)
    )


@pytest.mark.parametrize(
    "nested",
    [
        lambda texts: texts,
        lambda texts: texts.cast(pa.large_string()),
        lambda texts: pa.ListArray.from_arrays([0, 1, 2, 3], texts),
        lambda texts: pa.LargeListArray.from_arrays([0, 1, 2, 3], texts),
        lambda texts: pa.StructArray.from_arrays([texts], ["said"]),
    ],
    ids=["text", "long text", "list", "long list", "struct"],
)
def test_beside_texts_that_are_damaged_it_is_found(tmp_path: Path, nested: Callable[[pa.Array], pa.Array]) -> None:
    path = tmp_path / "file.parquet"
    texts = pa.array([b"\xf2\x80 was a text", json.dumps({"id": ID}).encode(), TEXT.encode()], pa.binary())
    damaged = pa.Array.from_buffers(pa.string(), len(texts), texts.buffers())
    pq.write_table(pa.table({"t": nested(damaged)}), path, compression="zstd")
    for one in (sought(ID), sought(texts=(TEXT,))):
        assert any(one.match_rows(texts).any() for texts in decode_texts(path))


def test_what_no_value_can_be_made_of_is_read_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    times = pl.Series([[2**62]], dtype=pl.List(pl.Int64)).cast(pl.List(pl.Datetime("ms")))
    pl.DataFrame({"t": [TEXT], "times": times}).write_parquet(path, compression="uncompressed")
    assert any(sought(texts=(TEXT,)).match_rows(texts).any() for texts in decode_texts(path))


@pytest.mark.parametrize("closed", [(6, 8, 1), (8, 10, 99)], ids=["with a password", "packed in an unknown way"])
def test_of_an_archive_that_is_partly_closed_the_rest_is_looked_at(
    tmp_path: Path, closed: tuple[int, int, int]
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.txt", "closed " * 50)
        archive.writestr("second.jsonl", SAID[0])
    content, (in_file, in_list, value) = bytearray(out.getvalue()), closed
    for begins, place in ((b"PK\x03\x04", in_file), (b"PK\x01\x02", in_list)):
        content[content.index(begins) + place] = value
    (tmp_path / "file").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "file") as archive, pytest.raises(RuntimeError):
        archive.read("first.txt")
    for one in (sought(ID), sought(texts=(TEXT,)), sought("first.txt")):
        assert any(one.match_rows(texts).any() for texts in decode_texts(tmp_path / "file"))


@pytest.mark.parametrize("depth", [1, 900, 1_023])
def test_however_deep_it_is_nested_it_is_found(depth: int) -> None:
    assert sought(ID).match_rows([join_texts(["[" * depth + json.dumps({"id": ID}) + "]" * depth])]).any()


def test_texts_of_a_value_stand_in_order() -> None:
    assert list(list_texts([{"a": ["b", b"c"]}, ("d", '["e"]'), "f"])) == ["a", "b", "c", "d", '["e"]', "e", "f"]


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "sqlite"])
def test_every_row_of_every_table_is_looked_at(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    nested = {"extra": json.dumps({"of": [{"id": ID}]}), "list": ["no", TEXT]}
    if kind == "parquet":
        pl.DataFrame([nested]).write_parquet(path)
    elif kind == "duckdb":
        with duckdb.connect(path) as connection:
            connection.execute('CREATE SCHEMA other; CREATE TABLE other."odd ""name" (extra VARCHAR, list VARCHAR[])')
            connection.execute('INSERT INTO other."odd ""name" VALUES (?, ?)', [*nested.values()])
    else:
        with sqlite3.connect(path) as connection:
            connection.execute('CREATE TABLE "odd ""name" (extra TEXT, list BLOB)')
            connection.execute('INSERT INTO "odd ""name" VALUES (?, ?)', [nested["extra"], TEXT.encode()])
        connection.close()
    for one in (sought(ID), sought(texts=(TEXT,))):
        assert any(one.match_rows(texts).any() for texts in decode_texts(path))
    assert not any(sought("nobody here").match_rows(texts).any() for texts in decode_texts(path))


@each(
    ("name", "row", "is_named"),
    [
        ("i-1", ["i-1"], True),
        ("i-17", ["of i-17, and i-2"], True),
        ("i-17", ["of i-171"], False),
        ("i-17", ["of xi-17 and i-17-2"], False),
        ("i-1", ["of i-1 in a text"], False),  # too short to be told within a text
        ("a", ["b", "a"], True),
        ("a.c", ["abc"], False),
        ("user\n", ["so user\n"], True),
        ("é", [{"é": 1}], True),
    ],
)
def test_an_id_is_named_where_it_stands_as_itself(name: str, row: list[object], is_named: bool) -> None:
    assert bool(sought(name).match_rows([join_texts(row)])[0]) == is_named
