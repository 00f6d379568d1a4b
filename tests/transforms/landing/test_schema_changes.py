"""What a release may change in a declaration, and how rows of before are read and hashed then."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
import pytest
from delivered import utc
from each import each

from slowwave.transforms.core.schema import Carried, Json, Landed, Table, column, columns, polars_schema
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import LEDGER, CheckedFiles
from slowwave.transforms.landing.schema_changes import (
    EXTRA_BEFORE,
    as_before,
    as_declared,
    is_as_wide,
    lacks_only_new_columns,
    misfit,
    taken_from_extra,
)
from slowwave.transforms.landing.tables import LANDED
from slowwave.transforms.landing.versions import with_row_hash

FORMATS = Path(__file__).resolve().parents[2] / "fixtures" / "formats"
OF_THE_LAKE = (*LANDED, Decisions, *EVIDENCE, DayInputs, CheckedFiles, *LEDGER)


class Notes(Landed):
    """A landed table, three columns of which were fields that nobody knew."""

    name: ClassVar[str] = "notes"
    key: ClassVar[tuple[str, ...]] = ("note_id",)
    event_time: ClassVar[str] = "at"

    note_id: str = column("Key.", required=True)
    at: datetime = column("When.", required=True)
    recorded_at: datetime = column("When written.", default=None)
    text: str | None = column("Text.", default=None, carried=Carried())
    tokens: float | None = column("Tokens.", default=None, was=int)
    weight: float | None = column("Weight.", ge=0, default=None, since=2, carried=Carried())
    tags: list[str] | None = column("Tags.", default=None, since=2, carried=Carried())
    scope: Literal["agent", "global"] | None = column("Scope.", default=None, since=3)
    is_kept: bool = column("Kept.", default=True, since=3)
    extra: Annotated[str | None, Json] = column("Unknown fields.", default=None)
    clears: list[str] | None = column("Cleared.", internal=True)
    row_hash: str = column("Hash.", internal=True)
    key_hash: int = column("Hash of the key.", internal=True)


class NotesBefore(Landed):
    """The same in the first format."""

    name: ClassVar[str] = "notes"
    key: ClassVar[tuple[str, ...]] = ("note_id",)
    event_time: ClassVar[str] = "at"

    note_id: str = column("Key.", required=True)
    at: datetime = column("When.", required=True)
    recorded_at: datetime = column("When written.", default=None)
    text: str | None = column("Text.", default=None)
    tokens: int | None = column("Tokens.", default=None)
    extra: Annotated[str | None, Json] = column("Unknown fields.", default=None)
    clears: list[str] | None = column("Cleared.", internal=True)
    row_hash: str = column("Hash.", internal=True)
    key_hash: int = column("Hash of the key.", internal=True)


def old_rows(*extras: str | None) -> pl.LazyFrame:
    """Rows as today's columns and a file of the first format give them: what the file lacks is NULL."""
    rows = [{"note_id": f"n{i}", "extra": extra} for i, extra in enumerate(extras)]
    return pl.LazyFrame(rows, schema=polars_schema(Notes))


def read(*extras: str | None) -> list[dict[str, Any]]:
    names = ("weight", "tags", "scope", "is_kept", "extra", "clears")
    return as_declared(Notes, old_rows(*extras)).select(names).collect().to_dicts()


def test_a_field_of_extra_is_read_as_its_column():
    (row,) = read('{"scope":"agent","tags":["a","b"],"weight":2,"x":1}')
    assert (row["weight"], row["tags"], row["scope"], row["extra"]) == (2.0, ["a", "b"], "agent", '{"x":1}')


def test_nothing_is_left_of_an_extra_that_was_taken_whole():
    assert read('{"weight":0.5}', None, "{}")[0]["extra"] is None


def test_a_value_that_fits_no_column_stays_where_it_was():
    (row,) = read('{"scope":"everywhere","weight":-1}')
    assert (row["weight"], row["scope"], row["extra"]) == (None, None, '{"scope":"everywhere","weight":-1}')


def test_a_text_that_looks_like_a_field_is_none():
    extra = json.dumps({"x": 'see "weight": 3', "y": {"weight": 4}}, separators=(",", ":"))
    (row,) = read(extra)
    assert (row["weight"], row["extra"]) == (None, extra)


def test_what_is_stated_twice_is_the_column():
    rows = old_rows('{"weight":1}').with_columns(pl.lit(9.0).alias("weight"))
    assert as_declared(Notes, rows).collect()["weight"].to_list() == [9.0]


def test_an_empty_text_clears_a_field_that_is_not_text():
    (row,) = read('{"tags":"","weight":""}')
    assert (row["clears"], row["tags"], row["weight"], row["extra"]) == (["tags", "weight"], None, None, None)


def test_rows_are_read_the_same_in_any_company():
    extras = ['{"weight":1}', None, '{"tags":["a"]}', '{"weight":"x"}', "{}"]
    assert read(*extras) == [row for extra in extras for row in read(extra)]


def test_a_column_that_is_never_null_has_its_default():
    assert [row["is_kept"] for row in read(None, '{"is_kept":false}')] == [True, False]


def test_of_no_rows_nothing_is_read():
    assert read() == []


def test_one_row_is_read_like_many():
    row = {"note_id": "n", "extra": '{"scope":"agent","tags":""}', "clears": None}
    assert taken_from_extra(Notes, row) == {"scope": "agent", "clears": ["tags"], "is_kept": True}


# --------------------------------------------------------------------------------------------------------------- hashes

BEFORE = {
    "note_id": "n1", "at": utc(2026, 3, 1), "recorded_at": utc(2026, 3, 1), "text": "t", "tokens": 12,
    "extra": '{"scope":"agent","tags":["a"],"weight":"2","x":1}', "clears": ["text"],
}  # fmt: skip


def hashes(table: type[Landed], row: dict[str, Any]) -> tuple[Any, ...]:
    frame = pl.DataFrame([row], schema={c: d for c, d in polars_schema(table).items() if c in row}
                         | ({EXTRA_BEFORE: pl.String} if EXTRA_BEFORE in row else {}))  # fmt: skip
    whole = pl.concat([pl.DataFrame(schema={**polars_schema(table), **frame.schema}), frame], how="diagonal")
    return with_row_hash(table, whole.drop("row_hash", "key_hash")).select("row_hash", "key_hash").row(0)


def test_a_row_hashes_as_it_did_before_its_fields_were_declared():
    after = {
        **BEFORE, "tokens": 12.0, "extra": '{"x":1}', EXTRA_BEFORE: BEFORE["extra"], "weight": 2.0, "tags": ["a"],
        "scope": "agent", "clears": ["text", "weight"],
    }  # fmt: skip
    assert hashes(Notes, after) == hashes(NotesBefore, BEFORE)


def test_a_row_of_our_own_hashes_with_its_new_columns():
    plain = {**BEFORE, "extra": None}
    assert hashes(Notes, {**plain, "is_kept": None}) == hashes(NotesBefore, plain)
    one, two = ({**plain, "scope": scope} for scope in ("agent", "global"))
    assert len({hashes(Notes, row) for row in (plain, one, two)}) == 3


def test_a_fraction_is_hashed_as_a_number():
    none = pl.lit(None, dtype=pl.String)
    given = pl.DataFrame({"tokens": [12.0, 0.5, None, -0.0, 1e300]}).with_columns(none.alias(EXTRA_BEFORE))
    before = as_before(Notes, given)
    assert before["tokens"].to_list() == ["12", "0.5", None, "0", "1e+300"]


# ------------------------------------------------------------------------------------------------------------ what fits

OFFERS = pl.List(pl.Struct({"id": pl.String(), "rank": pl.Int64()}))
WIDER = [
    (pl.Float64(), pl.Int64(), True),
    (pl.Float64(), pl.Float32(), True),
    (pl.Int64(), pl.Int32(), True),
    (pl.Int64(), pl.UInt32(), True),
    (pl.Int64(), pl.UInt64(), False),
    (pl.Int64(), pl.Float64(), False),
    (pl.Int64(), pl.String(), False),
    (pl.String(), pl.Int64(), False),
    (pl.String(), pl.Null(), True),
    (pl.List(pl.Float64()), pl.List(pl.Int16()), True),
    (OFFERS, pl.List(pl.Struct({"id": pl.String(), "gone": pl.String()})), True),
    (OFFERS, pl.List(pl.Struct({"id": pl.Int64()})), False),
    (pl.Datetime("us"), pl.Date(), False),
]


@pytest.mark.parametrize(("declared", "written", "fits"), WIDER, ids=str)
def test_what_is_as_wide_is_what_polars_reads(declared, written, fits, tmp_path):
    from slowwave.flows.lake.lake import _scan

    assert is_as_wide(declared, written) == fits
    path = tmp_path / "one.parquet"
    pl.DataFrame({"a": [None]}, schema={"a": written}).write_parquet(path)
    rows = _scan([path], pl.Schema({"a": declared}))
    if fits:
        assert rows.collect().schema == {"a": declared}
    else:
        with pytest.raises(pl.exceptions.SchemaError):
            rows.collect()


def test_a_misfit_names_column_and_types():
    written = {**polars_schema(NotesBefore), "tokens": pl.String()}
    assert misfit(Notes, polars_schema(NotesBefore)) == ""
    assert misfit(Notes, written) == "column tokens holds String, which is not read as Float64"


class Days(Table):
    """A derived table."""

    name: ClassVar[str] = "days"
    key: ClassVar[tuple[str, ...]] = ("day",)

    day: str = column("Key.")
    offers: list[str] | None = column("Offers.")
    used_count: int = column("Counted.")
    seen_by: str | None = column("New.", default=None, since=2)
    kept_count: int = column("New, never NULL, and 0 is true of what was before.", default=0, since=2)


FIRST = {"day": pl.String(), "offers": pl.List(pl.String()), "used_count": pl.Int64()}


@pytest.mark.parametrize(
    ("written", "is_kept"),
    [
        (FIRST, True),
        (polars_schema(Days), True),
        ({**FIRST, "removed": pl.String()}, False),
        ({**FIRST, "used_count": pl.Int32()}, False),
        ({name: dtype for name, dtype in FIRST.items() if name != "used_count"}, False),
        ({}, False),
    ],
    ids=["only new ones lack", "the same", "one removed", "one widened", "an old one lacks", "no file"],
)
def test_a_partition_is_kept_that_only_lacks_new_columns(written, is_kept):
    assert lacks_only_new_columns(Days, written) == is_kept


# ---------------------------------------------------------------------------------------- what a release promises


@pytest.mark.parametrize("number", sorted(int(path.stem) for path in FORMATS.glob("*.json")))
def test_no_column_of_a_format_has_gone_or_narrowed(number):
    """Whoever changes a declaration of the lake says so there (`since`, `was`), and never removes a landed column."""
    released = json.loads((FORMATS / f"{number}.json").read_text())
    for table in OF_THE_LAKE:
        was = released.get(table.name)
        if was is None:
            continue
        now = {c.name: c for c in columns(table)}
        for name, dtype in was.items():
            if name not in now:
                assert table in EVIDENCE, f"{table.name}.{name} has gone: its rows would be lost at a compaction"
            elif dtype != str(now[name].dtype):
                assert now[name].was is int, f"{table.name}.{name} was {dtype}: say `was=`"
        for name, c in now.items():
            assert c.since > number if name not in was else c.since <= number, f"{table.name}.{name}: `since` is wrong"


@each("table", OF_THE_LAKE)
def test_a_new_column_can_be_read_in_old_files(table):
    for c in columns(table):
        assert c.since == 1 or c.nullable or c.default is not None, f"{c.name} must be NULL in old files, or a default"
