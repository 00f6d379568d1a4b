"""The kind of a delivered file is told from its content, more than one line of it; its name says nothing."""

from __future__ import annotations

import gzip
import io

import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.delivery import chunks

ROW = b'{"prompt": "What now?", "created_at": "2026-03-01"}'
CSV = b"prompt,created_at\nWhat now?,2026-03-01\n"
STRAY = (
    "Starting the agent, please wait",
    "prompt: 3, created",
    "[]",
    "\x00\x01",
    "{",
    "a,b",
    '"',
    "note,seen",
    "null",
)


def read(content: bytes, name: str = "a") -> list[Chunk]:
    return list(chunks(io.BytesIO(content), name))


def rows_and_bad(content: bytes, name: str = "a") -> tuple[list[int], list[int | None]]:
    """Numbers of the rows, and of what is refused before any row is understood."""
    found = read(content, name)
    return (
        [number for chunk in found for number in chunk.rows.row_numbers],
        [bad.row_number for chunk in found for bad in chunk.bad],
    )


@each("name", ["a.jsonl", "a.csv", "a.parquet", "a"])
@each("first", STRAY)
def test_json_lines_after_a_stray_first_line_land(first: str, name: str) -> None:
    content = first.encode() + b"\n" + ROW + b"\n" + ROW + b"\n"
    assert rows_and_bad(content, name) == ([2, 3], [1])
    assert rows_and_bad(gzip.compress(content), name) == ([2, 3], [1])


@given(st.lists(st.sampled_from(STRAY), max_size=300), st.integers(1, 3))
def test_wherever_they_begin(stray: list[str], count: int) -> None:
    content = "\n".join(stray).encode() + b"\n" + b"\n".join([ROW] * count)
    rows, bad = rows_and_bad(content)
    assert (len(rows), len(bad)) == (count, len(stray))


@each("name", ["a.csv", "a.jsonl", "a.parquet", "a.txt"])
@each(
    "content",
    [
        CSV,
        b"\xef\xbb\xbf" + CSV,
        b"mine,created_at,prompt,yours\r\n1,2026-03-01,What now?,\r\n",
        b"\n\nprompt , created_at\nWhat now?,2026-03-01\n",
        b'prompt,created_at\n"{""a"": 1}",2026-03-01\n',
        b'prompt,created_at\n"two\n{}\nlines",2026-03-01\n',
    ],
)
def test_csv_is_what_has_a_header_of_the_contract_and_rows_that_agree(content: bytes, name: str) -> None:
    (chunk,) = read(content, name)
    assert chunk.format == "csv"
    assert (len(chunk.rows), chunk.bad) == (1, [])
    assert chunk.header is not None
    assert "prompt" in chunk.header


def test_a_row_of_csv_with_too_few_cells_is_refused_alone() -> None:
    assert rows_and_bad(CSV + b"short\n" + CSV.splitlines()[1]) == ([2, 4], [3])


REFUSED = {
    "a log": b"Starting, please wait\nDone, at last\n",
    "the header of another table": b"name,city\nAnn,Rome\n",
    "rows that disagree with their header": b"prompt,created_at\n" + b"just words\n" * 20,
    "a page without a head": b"<p>prompt, created_at</p>\n",
    "broken JSON alone": b'{"prompt": \n{"prompt"\n',
    "stars": b"prompt*created_at\nx*2026-03-01\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_text_is_refused_whole(name: str) -> None:
    (chunk,) = read(REFUSED[name], "a.jsonl")
    (bad,) = chunk.bad
    assert (len(chunk.rows), bad.row_number, chunk.format) == (0, None, "unknown")
    assert "neither JSON lines" in bad.reason
    assert "nor CSV" in bad.reason


def test_the_name_counts_only_in_what_is_said_of_a_file_that_should_be_parquet() -> None:
    out = io.BytesIO()
    pl.DataFrame({"prompt": ["x"]}).write_parquet(out)
    assert rows_and_bad(out.getvalue(), "a.csv") == ([1], [])
    for content in (b"", b"PAR", b"nothing of the kind"):
        (chunk,) = read(content, "a.parquet")
        assert "cannot be read as Parquet" in chunk.bad[0].reason


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"prompt,created_at\n"])
def test_what_has_no_row_is_not_refused(content: bytes) -> None:
    assert rows_and_bad(content, "a.jsonl") == ([], [])
