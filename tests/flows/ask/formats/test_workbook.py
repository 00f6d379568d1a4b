"""A workbook holds what was asked: texts as texts whatever they begin with, whole numbers, times in UTC."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.ask import output
from slowwave.flows.ask.output import MOST_CHARACTERS, write_workbook
from slowwave.flows.kernel.errors import UserError

_XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DAY_0 = datetime(1899, 12, 30)  # noqa: DTZ001 - what Excel counts days from
_ESCAPED = re.compile(r"_x([0-9A-F]{4})_")


def written(names: list[str], *batches: list[tuple[object, ...]]) -> bytes:
    to = io.BytesIO()
    write_workbook(names, batches, to)
    return to.getvalue()


def cells(book: bytes) -> list[list[Any]]:
    """The cells of the sheet by row, without those that are empty; no formula is among them."""
    sheet = ElementTree.fromstring(zipfile.ZipFile(io.BytesIO(book)).read("xl/worksheets/sheet1.xml"))  # noqa: S314 - our own
    found = []
    for row in sheet.iter(f"{_XML}row"):
        found.append([])
        for cell in row.iter(f"{_XML}c"):
            assert cell.find(f"{_XML}f") is None
            kind = cell.get("t")
            if kind == "inlineStr":
                text = cell.findtext(f"{_XML}is/{_XML}t") or ""
                found[-1].append(_ESCAPED.sub(lambda code: chr(int(code[1], 16)), text))
            else:
                number = float(cell.findtext(f"{_XML}v") or "nan")
                found[-1].append(bool(number) if kind == "b" else number)
    return found


HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "{=1}",
    "http://a.example",
    "007",
    "1e5",
    "\t=1",
    '=HYPERLINK("x")',
    "_x0041_",
    "\x1b\x00\ufffe",
]


@each("text", HOSTILE)
def test_text_stays_text(text):
    assert cells(written([text], [(text,)])) == [[text], [text]]
    assert b"hyperlink" not in zipfile.ZipFile(io.BytesIO(written(["a"], [(text,)]))).read(
        "xl/worksheets/sheet1.xml"
    ).replace(b"HYPERLINK", b"")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=50))
def test_any_text_is_there_again(text):
    found = cells(written(["text"], [(text,)]))[1]
    assert found == ([text] if text else [""])


def test_no_number_is_rounded():
    small, large = 10**15 - 1, 10**15
    row = (
        small,
        large,
        -(2**62),
        2**100,
        Decimal("1.50"),
        Decimal("12345678901234567.89"),
        0.1,
        float("nan"),
        float("inf"),
        True,
        None,
    )
    assert cells(written(list("abcdefghijk"), [row]))[1] == [
        float(small), str(large), str(-(2**62)), str(2**100), 1.5, "12345678901234567.89", 0.1, "nan", "inf", True,
    ]  # fmt: skip


def test_times_are_excels_own_in_utc():
    noon = datetime(2026, 3, 10, 12, 0, 0, 250_000)  # noqa: DTZ001 - as DuckDB gives a TIMESTAMP
    zoned = noon.replace(tzinfo=timezone(timedelta(hours=2)))
    row = (
        noon,
        zoned,
        date(2026, 3, 10),
        datetime(1600, 1, 1, tzinfo=UTC),
        date(1850, 1, 1),
        time(8),
        timedelta(days=1),
    )
    first, second, day, *others = cells(written(list("abcdefg"), [row]))[1]
    for serial, expected in ((first, noon), (second, noon - timedelta(hours=2)), (day, datetime(2026, 3, 10))):  # noqa: DTZ001
        assert isinstance(serial, float)
        assert abs(_DAY_0 + timedelta(days=serial) - expected) < timedelta(milliseconds=1)
    assert others == ["1600-01-01T00:00:00Z", "1850-01-01", "08:00:00", "1 day, 0:00:00"]


def test_lists_structs_and_bytes_are_text():
    assert cells(written(["list", "struct", "bytes"], [([1, None], {"a": "=1"}, b"\x00\xff")]))[1] == [
        "[1,null]", '{"a":"=1"}', "00ff",
    ]  # fmt: skip


@pytest.mark.parametrize("letter", ["a", "\U0001f600"])
def test_a_text_that_a_cell_cannot_hold_is_cut_and_said(letter, capsys):
    length = len(letter.encode("utf-16-le")) // 2
    whole = letter * (MOST_CHARACTERS // length)
    assert cells(written(["a"], [(whole,)]))[1] == [whole]
    assert capsys.readouterr().err == ""
    found = cells(written(["a"], [(whole + 2 * letter,), ("short",)]))
    assert found[1][0].rstrip("…") == whole[:-1] if length == 1 else found[1][0].endswith("…")
    assert len(found[1][0].encode("utf-16-le")) // 2 <= MOST_CHARACTERS
    assert capsys.readouterr().err == "slowwave: 1 text was cut to the 32,767 characters that a cell of Excel holds\n"


def test_what_a_sheet_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setattr(output, "MOST_ROWS", 3)
    assert len(cells(written(["a"], [(1,)] * 2, [(1,)]))) == 4
    to = io.BytesIO()
    with pytest.raises(UserError, match="a sheet holds 3 rows"):
        write_workbook(["a"], [[(1,)] * 2, [(1,)] * 2], to)
    assert to.getvalue() == b""
    with pytest.raises(UserError, match="a sheet holds 16,384 columns"):
        written(["a"] * 16_385, [])


def test_no_rows_leave_the_names():
    assert cells(written(["a", "b"], [])) == [["a", "b"]]
