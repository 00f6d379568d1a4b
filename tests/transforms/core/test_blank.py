"""What says nothing, and that everything means the same by it: Polars, Python, DuckDB, JSON Schema, audits."""

from __future__ import annotations

import re
import unicodedata
from importlib import resources

import duckdb
import polars as pl
import pytest
from delivered import as_csv, as_frame, as_jsonl, land
from each import each

from slowwave.transforms.core.blank import NOT_BLANK, NOT_BLANK_JSON, is_blank, says_nothing
from slowwave.transforms.core.schema import columns, json_schema
from slowwave.transforms.evidence.echo.echo import echo_pattern
from slowwave.transforms.landing.coerce import coerce_column
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Interactions, Memories
from slowwave.transforms.params import Params

BLANKS = {
    "nothing": "", "spaces": "   ", "line breaks": "\r\n\t", "no-break space": "\u00a0", "ideographic space": "\u3000",
    "line separator": "\u2028", "next line": "\x85", "zero-width space": "\u200b" * 30, "joiner": "\u2060" * 30,
    "byte order mark": "\ufeff" * 30, "soft hyphen": "\u00ad" * 30, "bidirectional mark": "\u200e\u202e",
    "tags": "\U000e0041" * 30, "NUL": "\x00", "NULs": "\x00" * 30, "controls": "\x01\x1b\x7f\x9f",
    "mixed": " \u00a0\u200b\x00",
}  # fmt: skip
TEXTS = ("a", " x\u200b", "\u200bé", "0", "\u2800", "\ufffd", "👍", "\x00.")
CODE_POINTS = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]

each_blank = each("blank", BLANKS.values())


def of_all(frame: pl.DataFrame) -> list[bool]:
    return frame.select(is_blank(pl.col("text"))).to_series().to_list()


@each_blank
def test_blank_is_blank_everywhere(blank):
    assert of_all(pl.DataFrame({"text": [blank]})) == [True]
    assert says_nothing(blank)


@each("text", TEXTS)
def test_a_text_is_not(text):
    assert of_all(pl.DataFrame({"text": [text]})) == [False]
    assert not says_nothing(text)


def test_null_says_nothing():
    assert of_all(pl.DataFrame({"text": [None]}, schema={"text": pl.String})) == [True]


def test_all_agree_on_every_character():
    frame = pl.DataFrame({"code": CODE_POINTS, "text": list(map(chr, CODE_POINTS))})
    blank = of_all(frame)
    assert [says_nothing(text) for text in frame["text"]] == blank
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        found = connection.execute(
            "SELECT NOT regexp_matches(text, $pattern) FROM frame ORDER BY code", {"pattern": NOT_BLANK}
        ).fetchall()
    assert [is_it for (is_it,) in found] == blank
    known = re.compile(NOT_BLANK_JSON)
    assert [not known.search(chr(code)) for code in CODE_POINTS if code <= 0xFFFF] == blank[: 0x10000 - 0x800]


def test_blank_are_white_space_controls_and_formats():
    for code in CODE_POINTS:
        kind = unicodedata.category(chr(code))
        if kind != "Cn":  # Python may know fewer characters
            assert says_nothing(chr(code)) == (kind in {"Zs", "Zl", "Zp", "Cc", "Cf"}), hex(code)


def test_no_audit_means_something_else_by_it():
    rooms = resources.files("slowwave.flows.publish").joinpath("audits").iterdir()
    audits = {entry.name: entry.read_text() for room in rooms if room.is_dir() for entry in room.iterdir()}
    assert [name for name, text in audits.items() if re.search(r"\\S|\btrim\(", text)] == []
    assert NOT_BLANK in audits["observations_stand_on_active_memories.sql"]


# ------------------------------------------------------------------------------------------------------------ landing


@each_blank
@pytest.mark.parametrize("deliver", [as_jsonl, as_csv, as_frame])
def test_a_blank_prompt_is_refused_with_a_reason(deliver, blank):
    if deliver is as_csv and ("\r" in blank or not blank):
        return  # CSV has no such cell
    landed = landed_rows(deliver([{"prompt": blank, "created_at": "2026-03-01"}]))
    assert (landed.interactions.height, landed.quarantine["reason"].to_list()) == (0, ["prompt is blank"])


@each_blank
def test_a_blank_memory_id_is_refused_with_a_reason(blank):
    landed = land({"memory_id": blank, "changed_at": "2026-03-01", "content": "x"})
    assert (landed.memories.height, landed.quarantine["reason"].to_list()) == (0, ["memory_id is blank"])


@each_blank
def test_a_blank_id_is_none(blank):
    row = {"prompt": "x", "created_at": "2026-03-01", "success": True}
    made, given = land(row), land({**row, "interaction_id": blank, "outcome_id": blank})
    assert given.interactions["interaction_id"].to_list() == made.interactions["interaction_id"].to_list()
    assert given.outcomes["outcome_id"].to_list() == made.outcomes["outcome_id"].to_list()


@each_blank
@pytest.mark.parametrize("name", ["tokens", "cost", "reinforce", "context_pack", "memories_used"])
def test_a_blank_cell_is_no_value(name, blank):
    (column,) = (c for c in columns(Interactions) if c.name == name)
    series, reasons = coerce_column(column, [blank])
    assert (series.to_list(), reasons) == ([None], {})


@each_blank
def test_a_blank_content_is_kept_as_it_came(blank):
    assert land({"memory_id": "m", "changed_at": "2026-03-01", "content": blank}).memories["content"].to_list() == [
        blank
    ]


@each_blank
def test_nothing_echoes_a_blank_content(blank):
    pattern = echo_pattern(pl.col("content"), Params().evidence)
    assert pl.DataFrame({"content": [blank]}).select(pattern).to_series().to_list() == [None]


@each_blank
def test_the_schema_for_producers_refuses_a_blank_prompt(blank):
    pattern = json_schema(Interactions)["properties"]["prompt"]["pattern"]
    if max(map(ord, blank), default=0) <= 0xFFFF:
        assert re.search(pattern, blank) is None
    assert all(re.search(pattern, text) for text in TEXTS)
    assert "pattern" not in json_schema(Memories)["properties"]["content"]
