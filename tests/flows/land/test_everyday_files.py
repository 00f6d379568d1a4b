"""Files as people and spreadsheets write them land in the one sensible reading, which is said, else it is said why."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from each import each
from hypothesis import given
from hypothesis import strategies as st
from small_home import SmallHome

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.storage.text_stream import WINDOWS, text_stream
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.delivery import chunks
from slowwave.flows.land.formats.lines import Lines
from slowwave.flows.land.land import LandingReport, path_deliveries
from slowwave.flows.nightly.nightly import land_paths, retry_quarantine, start_run

ROWS = [
    {
        "interaction_id": f"i{n}",
        "created_at": f"2026-03-0{n}",
        "prompt": f"Größe {n}; wo ist\tdas Café ?",
        "project": "p",
    }
    for n in range(1, 4)
]
JSONL = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
SKIPPED = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def as_csv(delimiter: str, rows: list[dict[str, Any]] = ROWS) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def zipped(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def parquet(rows: list[dict[str, Any]] = ROWS) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(rows).write_parquet(out)
    return out.getvalue()


def packed(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def read(content: bytes, name: str = "a") -> list[Chunk]:
    return list(chunks(io.BytesIO(content), name))


def records(found: list[Chunk]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if v is not None} for chunk in found for row in chunk.rows.as_records()]


def said(found: list[Chunk]) -> set[str]:
    return {text for chunk in found for _, text in chunk.readings}


UPPER = [{name.upper(): value for name, value in row.items()} for row in ROWS]
LINES = JSONL.encode().splitlines()
WAYS = ("../../", "./", "a/b/")
LAYOUTS: dict[str, tuple[bytes, str]] = {
    "semicolons": (as_csv(";").encode(), "read as CSV with semicolons"),
    "tabs": (as_csv("\t").encode(), "read as CSV with tabs"),
    "UTF-16, little end first": (JSONL.encode("utf-16"), "read as UTF-16 text"),
    "UTF-16, big end first": (b"\xfe\xff" + as_csv(",").encode("utf-16-be"), "read as UTF-16 text"),
    "UTF-32": (JSONL.encode("utf-32"), "read as UTF-32 text"),
    "an array in UTF-16": (json.dumps(ROWS, indent=1).encode("utf-16"), "read as UTF-16 text"),
    "Latin-1": (JSONL.encode("latin-1"), "read as cp1252 text"),
    "CSV of Windows": (as_csv(";").encode("cp1252"), "read as CSV with semicolons"),
    "capitals in CSV": (as_csv(",", UPPER).encode(), "read PROMPT as prompt"),
    "capitals in JSON": (json.dumps(UPPER).encode(), "read CREATED_AT as created_at"),
    "capitals in Parquet": (parquet(UPPER), "read PROJECT as project"),
    "gzip in gzip": (gzip.compress(gzip.compress(JSONL.encode())), "packed more than once"),
    "zstd in gzip": (gzip.compress(packed(JSONL.encode())), "packed more than once"),
    "zip": (zipped(("a/one.jsonl", JSONL.encode())), "unpacked from a zip"),
    "zip with paths": (
        zipped(*((f"{way}{at}.jsonl", line) for at, (way, line) in enumerate(zip(WAYS, LINES, strict=True)))),
        "unpacked from a zip",
    ),
    "zip of several": (
        zipped(
            ("__MACOSX/._1", b"x"),
            ("1.csv", as_csv(";", ROWS[:1]).encode()),
            ("2.parquet", parquet(ROWS[1:2])),
            ("3.jsonl.gz", gzip.compress(JSONL.splitlines()[2].encode())),
        ),
        "unpacked from a zip",
    ),
}


@each("layout", LAYOUTS)
def test_a_layout_gives_the_rows_and_is_said(layout: str) -> None:
    content, reading = LAYOUTS[layout]
    found = read(content)
    assert records(found) == ROWS
    assert [number for chunk in found for number in chunk.rows.row_numbers][-1] >= 3
    assert len({number for chunk in found for number in chunk.rows.row_numbers}) == 3
    assert not any(chunk.bad for chunk in found)
    assert reading in said(found)


@pytest.mark.parametrize("frames", [SKIPPED + packed(JSONL.encode()), packed(JSONL.encode()) + SKIPPED, SKIPPED * 9])
def test_frames_of_zstd_that_are_to_be_skipped_are(frames: bytes) -> None:
    assert records(read(frames)) == (ROWS if packed(JSONL.encode()) in frames else [])
    assert read(frames[:-2])[-1].bad


@given(
    text=st.text(st.characters(codec="cp1252", exclude_characters="\r"), max_size=80),
    sizes=st.lists(st.integers(1, 9), min_size=1),
)
def test_it_makes_no_difference_where_blocks_end(text: str, sizes: list[int]) -> None:
    class Small(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002 - as few as it is told
            sizes.append(sizes.pop(0))
            return super().read(sizes[0])

    for encoding in ("utf-16", "utf-32"):
        lines = Lines(text_stream(Small(text.encode(encoding))).stream, 2**20)
        assert b"\n".join(line for line in lines if isinstance(line, bytes)) == text.removesuffix("\n").encode()
    latin = Lines(text_stream(Small(b"caf\xe9 \n" + text.encode()), WINDOWS).stream, 2**20)
    expected = ["café ", *([*text.removesuffix("\n").split("\n")] if text else [])]
    assert [line.decode() for line in latin if isinstance(line, bytes)] == expected


def test_what_could_be_cut_utf_8_is_not_taken_for_latin_1() -> None:
    for bad in (
        b'{"prompt": "\xff"}',
        b'{"prompt": "caf\xc3"}',
        '{"prompt": "é"}\n{"prompt": "ü '.encode() + b'\xe9t"}',
    ):
        assert [row.reason for chunk in read(bad) for row in chunk.bad]


def test_rows_that_mean_two_things_by_a_name_are_left() -> None:
    both = {"Prompt": "a", "prompt": "b"}, {"Prompt": "a", "PROMPT": "b"}
    assert records(read(json.dumps(both[0]).encode())) == [both[0]]
    assert records(read(json.dumps(both[1]).encode())) == [both[1]]
    assert records(list(chunks(io.BytesIO(b'{"Prompt": "a"}'), "a", others=frozenset({"Prompt"})))) == [{"Prompt": "a"}]


@pytest.mark.parametrize(
    "content", [JSONL.replace('"project"', '"of"').encode(), parquet([*ROWS[:0], {"prompt": "?"}])]
)
def test_partitions_that_are_fields_are_taken_where_rows_have_none(content: bytes) -> None:
    found = records(read(content, "logs/project=at%20las/date=2026-03-01/a.jsonl"))
    assert found
    assert all(row["project"] == "at las" and "date" not in row for row in found)
    assert records(read(JSONL.encode(), "project=x/a.jsonl")) == ROWS
    assert "project" not in records(read(content, "project=__HIVE_DEFAULT_PARTITION__/a"))[0]


FOREIGN = {
    "a web page": b"<html>\n<p>prompt, created_at</p>\n</html>\n",
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a PDF document": b"%PDF-1.7\n%\xe2\xe3",
    "an SQLite database": b"SQLite format 3\0" + bytes(100),
    "an Excel workbook": zipped(("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")),
    "a zip too": zipped(("a.zip", zipped(("a.jsonl", JSONL.encode())))),
    "cut short or damaged": zipped(("a.jsonl", JSONL.encode()))[:40],
    "UTF-16 text without a byte order mark": JSONL.encode("utf-16-le"),
    "a tar archive": bytes(257) + b"ustar\x0000" + bytes(300),
    "binary data": bytes(range(256)) * 2,
}


@each("what", FOREIGN)
def test_of_what_cannot_be_landed_it_is_said_what_it_is(what: str) -> None:
    (bad,) = [row for chunk in read(FOREIGN[what]) for row in chunk.bad]
    assert what in bad.reason
    assert bad.row_number is None


def with_password() -> bytes:
    """A zip whose only member says that it is encrypted."""
    content = bytearray(zipped(("a.jsonl", JSONL.encode())))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def test_a_zip_with_a_password_and_what_is_no_log_in_a_zip() -> None:
    (bad,) = [row for chunk in read(with_password()) for row in chunk.bad]
    assert "a zip with a password" in bad.reason
    found = read(zipped(("README.txt", b"Hello."), ("a.jsonl", b"{\n" + JSONL.encode()), ("b.pdf", b"%PDF-1")))
    assert records(found) == ROWS
    told = [(row.row_number, row.reason.split(":")[0]) for chunk in found for row in chunk.bad]
    assert [name for _, name in told] == ["README.txt", "the line is not JSON", "b.pdf"]
    numbers = [number for number, _ in told] + [n for chunk in found for n in chunk.rows.row_numbers]
    assert len(set(numbers)) == len(numbers) == 6


def landed(home: SmallHome, act: Callable[[Any], LandingReport]) -> LandingReport:
    with writer_lock(home.settings, "land"):
        return act(start_run(home.settings, "land"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_lands_once_and_what_is_refused_of_it_can_be_tried_again(layout: str, tmp_path: Path) -> None:
    home, file = SmallHome(tmp_path / "home"), tmp_path / "delivered"
    file.write_bytes(LAYOUTS[layout][0])
    report = landed(home, lambda run: land_paths(run, path_deliveries([str(file)])))
    assert (report.total("accepted"), report.total("quarantined")) == (3, 0)
    file.write_bytes(JSONL.encode())
    report = landed(home, lambda run: land_paths(run, path_deliveries([str(file)])))
    assert (report.total("accepted"), report.total("duplicate")) == (0, 3)


def test_the_same_bytes_in_two_partitions_are_rows_of_both(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    for project in ("one", "two"):
        (tmp_path / "logs" / f"project={project}").mkdir(parents=True)
        (tmp_path / "logs" / f"project={project}" / "a.csv").write_text("prompt;created_at\n?;2026-03-01\n!;never\n")
    for totals in ((2, 0, 2), (0, 4, 0)):
        report = landed(home, lambda run: land_paths(run, path_deliveries([str(tmp_path / "logs")])))
        assert tuple(map(report.total, ("accepted", "duplicate", "quarantined"))) == totals
    assert landed(home, retry_quarantine).total("accepted") == 0
