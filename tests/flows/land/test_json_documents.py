"""JSON that is no JSON lines lands as well: arrays, objects over several lines, exports; each row is read once."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_home import SmallHome

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.delivery import chunks
from slowwave.flows.land.formats.json_documents import Elements
from slowwave.flows.land.formats.lines import LongLine
from slowwave.flows.land.land import LandingReport, path_deliveries
from slowwave.flows.land.readings import Readings
from slowwave.flows.nightly.nightly import land_paths, retry_quarantine, start_run
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.mapping.rules import FieldMapping, rules_of_options

HARD = st.text(alphabet='a"\\{}[],:\n é', max_size=8)
ROWS = st.lists(
    st.dictionaries(st.sampled_from(["prompt", "note", "more"]), st.one_of(HARD, st.lists(HARD, max_size=2))).map(
        lambda row: {"created_at": "2026-03-01", **row, "deep": {"of": [{"a": 1}]}}
    ),
    min_size=1,
    max_size=4,
)
LAYOUTS = {
    "array": json.dumps,
    "array over lines": lambda rows: json.dumps(rows, indent=1),
    "array of lines": lambda rows: "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n",
    "one after the other": lambda rows: "".join(json.dumps(row) for row in rows),
    "over several lines": lambda rows: "\n".join(json.dumps(row, indent=2) for row in rows),
    "export": lambda rows: json.dumps({"data": rows, "meta": {"page": 1}}),
    "export over lines": lambda rows: json.dumps({"page": {"n": 1}, "next": None, "results": rows}, indent=1),
    "export per line": lambda rows: "\n".join(json.dumps({"rows": [row]}) for row in rows),
    "array with a comma behind": lambda rows: json.dumps(rows)[:-1] + ",]",
}


class SmallBlocks(io.BytesIO):
    """A stream that gives few bytes at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002
        """Three bytes."""
        return super().read(3)


def read(content: bytes) -> list[Chunk]:
    return list(chunks(io.BytesIO(content), "a"))


def records(found: list[Chunk]) -> list[dict[str, Any]]:
    return [record for chunk in found for record in cast("RecordRows", chunk.rows).records]


@pytest.mark.parametrize("layout", LAYOUTS)
@given(rows=ROWS)
def test_every_layout_gives_the_rows(layout: str, rows: list[dict[str, Any]]) -> None:
    content = LAYOUTS[layout](rows).encode()
    for packed in (content, b"\xef\xbb\xbf" + content, gzip.compress(content)):
        found = read(packed)
        assert records(found) == rows
        assert [number for chunk in found for number in chunk.rows.row_numbers] == list(range(1, len(rows) + 1))
        assert not any(chunk.bad for chunk in found)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(rows=ROWS)
def test_it_makes_no_difference_where_blocks_end(layout: str, rows: list[dict[str, Any]]) -> None:
    elements = Elements(SmallBlocks(LAYOUTS[layout](rows).encode()), 2**20, frozenset({"prompt"}))
    assert [json.loads(cast("bytes", text)) for text in elements] == rows
    assert elements.fault is None


@given(rows=ROWS, cut=st.integers(1, 10**6))
def test_of_a_file_cut_short_the_complete_rows_land(rows: list[dict[str, Any]], cut: int) -> None:
    content = json.dumps(rows, indent=1).encode()
    first = len(json.dumps(rows[:1], indent=1).encode()) - 1
    found = read(content[: first + cut % (len(content) - first)])
    landed = records(found)
    assert landed
    assert landed == rows[: len(landed)]
    assert [bad.row_number for chunk in found for bad in chunk.bad] == [None]


def test_what_is_no_object_is_refused_alone() -> None:
    found = read(b'[{"prompt": "a"}, null, 3, "x", [1], {"prompt": oops}, {"prompt": "b"}]')
    assert [record["prompt"] for record in records(found)] == ["a", "b"]
    assert [bad.row_number for chunk in found for bad in chunk.bad] == [2, 3, 4, 5, 6]


def test_a_row_with_a_list_of_an_export_s_name_stays_a_row() -> None:
    rows = [{"prompt": "a", "events": [{"b": 1}]}, {"events": [{"b": 1}], "prompt": "a"}]
    found = read("\n".join(map(json.dumps, rows)).encode())
    assert records(found) == rows
    assert [chunk.format for chunk in found] == ["jsonl"]


def test_long_rows_are_passed_over_and_never_held() -> None:
    text = json.dumps([{"prompt": "a" * 50}, {"prompt": "b" * 5_000_000}, {"prompt": "c"}]).encode()
    elements = Elements(io.BytesIO(text), 100_000, frozenset())
    first, long, last = elements
    assert isinstance(long, LongLine)
    assert long.length == len(json.dumps({"prompt": "b" * 5_000_000}))
    assert [json.loads(cast("bytes", each))["prompt"] for each in (first, last)] == ["a" * 50, "c"]
    endless = Elements(io.BytesIO(b'[{"prompt": "' + b"x" * 10_000_000), 100, frozenset())
    assert not [each for each in endless if isinstance(each, bytes)]
    assert endless.fault is not None
    assert len(endless.rest) <= 2 * 2**20


def test_numbers_that_are_none_are_missing_and_counted() -> None:
    found = read(b'{"prompt": "NaN, \\"Infinity\\"", "cost": NaN, "tokens": -Infinity}\n{"prompt": "b"}\n')
    assert records(found) == [{"prompt": 'NaN, "Infinity"', "cost": None, "tokens": None}, {"prompt": "b"}]
    assert sum((chunk.readings for chunk in found), Counter()).most_common() == [
        (("value", "NaN or Infinity, taken for a missing number"), 2)
    ]


# ------------------------------------------------------------------------------------------------------------- landed


def land(home: SmallHome, *paths: Path) -> LandingReport:
    with writer_lock(home.settings, "test"):
        return land_paths(start_run(home.settings, "land"), path_deliveries([str(path) for path in paths]))


def counts(report: LandingReport) -> list[tuple[int, int, int, int]]:
    return [(one.delivered, one.accepted, one.duplicate, one.quarantined) for one in report.files]


def test_an_array_lands_once_and_its_refused_rows_are_tried_again(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    rows: list[dict[str, Any]] = [
        {"interaction_id": f"i{i}", "created_at": "2026-03-01", "prompt": f"p{i}"} for i in range(3)
    ]
    rows[1] = {"interaction_id": "i1", "created_at": "2026-03-01", "question": "data", "data": [{"a": 1}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, indent=1))
    report = land(home, path)
    assert counts(report) == [(3, 2, 0, 1)]
    assert dict(report.readings) == {("file", "read as a JSON array"): 1}
    assert counts(land(home, path)) == [(3, 0, 3, 0)]
    lines = tmp_path / "b.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in rows if "prompt" in row))
    assert counts(land(home, lines)) == [(2, 0, 2, 0)]
    with writer_lock(home.settings, "test"):
        asked = Readings(FieldMapping(rules_of_options(["prompt=question"])))
        again = retry_quarantine(start_run(home.settings, "land"), readings=asked)
    assert [file.retried for file in again.files] == [1]
    assert counts(again) == [(0, 1, 0, -1)]
