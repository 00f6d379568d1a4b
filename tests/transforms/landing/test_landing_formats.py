"""What lands depends on the rows alone: not on their format, their order, or how they are cut into chunks."""

import polars as pl
from delivered import as_csv, as_frame, as_jsonl, row_hashes, tables, utc
from each import each
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.transforms.landing.delivered_rows import FrameRows, RecordRows
from slowwave.transforms.landing.landed_rows import landed_rows

# What all three formats can say: CSV has no empty text, and a Parquet column has one type.
words = st.text(st.sampled_from('aä,"\n{ ß٣'), min_size=1, max_size=6).map(lambda s: f"w{s}")
times = st.sampled_from(["2026-03-10", "2026-03-10T08:00:00.5+02:00", "not a time", "2026-02-30"])
counts = st.integers(-1, 10**12)
shares = st.floats(-0.5, 1.5).map(lambda x: round(x, 3))
lists = st.lists(words, max_size=3)
offers = st.lists(
    st.fixed_dictionaries({"id": words, "rank": st.none() | st.integers(1, 9), "score": st.none() | shares}), max_size=2
)
FIELDS = {
    "interaction_id": words, "created_at": times, "changed_at": times, "recorded_at": times, "project": words,
    "agent": words, "prompt": words, "response": words, "memories_used": lists, "memories_offered": offers,
    "injection_probability": shares, "tokens": counts, "cost": shares, "reinforce": st.booleans(),
    "memories_cited": lists, "basis": st.sampled_from(["inferred", "evaluated", "a guess"]), "basis_method": words,
    "memory_id": words, "content": words, "confidence": shares, "pinned": st.booleans(), "source_ids": lists,
    "status": st.sampled_from(["active", "archived", "retired"]), "outcome_id": words, "success": st.booleans(),
    "strategy": words, "duration_ms": counts, "error_message": words, "colour": words,
}  # fmt: skip


def some(required, optional):
    """Records that have the `required` fields and some of the others."""
    needed = {name: FIELDS[name] for name in required.split()}
    return st.fixed_dictionaries(
        needed, optional={name: FIELDS[name] for name in optional.split() if name not in needed}
    )


asked = some("prompt created_at", "response memories_used memories_offered project colour interaction_id")
# A list that stood in `extra` before is hashed as it was delivered there, and CSV delivers a text.
citing = some("prompt created_at memories_cited", "response memories_used interaction_id")
closed = some("prompt created_at success", "duration_ms strategy cost recorded_at interaction_id basis basis_method")
change = some("memory_id changed_at", "content status pinned source_ids confidence colour")
ended = some("success created_at", "strategy duration_ms cost outcome_id colour basis basis_method")
anything = some("prompt", " ".join(FIELDS)) | some("colour", " ".join(FIELDS))
whole = st.lists(asked | closed | change | ended, max_size=8)
rows = st.lists(asked | citing | closed | change | ended | anything, max_size=8)


def assert_same_landing(one, other):
    for name, frame in tables(one).items():
        assert_frame_equal(tables(other)[name], frame)
    assert other.quarantine["row_number"].to_list() == one.quarantine["row_number"].to_list()


@given(whole)
def test_csv_lands_what_jsonl_lands(given_rows):
    assert_same_landing(landed_rows(as_jsonl(given_rows)), landed_rows(as_csv(given_rows)))


@given(rows)
def test_parquet_lands_what_jsonl_lands(given_rows):
    assert_same_landing(landed_rows(as_jsonl(given_rows)), landed_rows(as_frame(given_rows)))


@given(rows, st.randoms(use_true_random=False), st.data())
def test_order_and_chunks_do_not_matter(given_rows, random, data):
    at_once = landed_rows(as_jsonl(given_rows))
    shuffled = random.sample(given_rows, len(given_rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(shuffled)), max_size=3)))
    bounds = list(zip([0, *cuts], [*cuts, len(shuffled)], strict=True))
    for form in (as_jsonl, as_frame):
        parts = [landed_rows(form(shuffled[start:end])) for start, end in bounds]
        assert row_hashes(*parts) == row_hashes(at_once)
        assert sum(part.quarantine.height for part in parts) == at_once.quarantine.height
        assert sum(part.delivered for part in parts) == len(given_rows)


@given(rows)
def test_every_delivered_row_is_landed_or_quarantined(given_rows):
    landed = landed_rows(as_jsonl(given_rows))
    numbers = [set(frame["row_number"].to_list()) for frame in (*tables(landed).values(), landed.quarantine)]
    interactions, outcomes, memories, bad = numbers
    assert interactions | outcomes | memories | bad == set(range(1, len(given_rows) + 1))
    assert not bad & (interactions | outcomes | memories)
    assert not memories & (interactions | outcomes)
    assert landed.quarantine["row_number"].is_unique().all()
    assert (landed.quarantine["reason"].str.len_chars() > 0).all()


@given(st.lists(asked, min_size=1, max_size=6), st.data())
def test_take_keeps_rows_with_their_numbers(given_rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(given_rows) - 1), unique=True).map(sorted))
    for form in (as_jsonl, as_frame):
        taken = form(given_rows).take(chosen)
        assert list(taken.row_numbers) == [i + 1 for i in chosen]
        assert list(taken.values("prompt")) == [given_rows[i]["prompt"] for i in chosen]


# ----------------------------------------------------------------------------------------------- any value in any field

FIELD_NAMES = [
    *FIELDS,
    "attempted",
    "feedback",
    "context_pack",
    "chunks_used",
    "extra",
    "clears",
    "row_hash",
    "key_hash",
]
any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(
        ["NaN", "inf", "9" * 5000, "1e999", "2026-03-10", "active", "[[", '{"a":1}', "true", "\x00", "+-1"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
any_record = st.dictionaries(st.sampled_from(FIELD_NAMES) | st.text(max_size=3), any_json, max_size=10)
likely = st.builds(lambda row, more: {**row, **more}, asked | change | ended, any_record)


@given(st.lists(any_record | likely, max_size=5), st.sampled_from([None, "interactions", "outcomes", "memories"]))
def test_no_json_value_in_any_field_raises(given_rows, kind):
    raws = [b"raw"] * len(given_rows)
    landed = landed_rows(RecordRows(given_rows, range(1, len(raws) + 1), raws), kind)
    good = {n for frame in tables(landed).values() for n in frame["row_number"].to_list()}
    assert len(good) + landed.quarantine.height == landed.delivered == len(given_rows)


@each("name", [n for n in FIELD_NAMES if n not in {"interaction_id", "changed_at"}])
@each("levels", [200, 260, 1000])
def test_deep_nesting_anywhere_costs_at_most_its_row(name, levels):
    record = {"prompt": "hi", "created_at": "2026-03-10", "success": True, name: [[]]}
    for _ in range(levels):
        record[name] = [record[name]]
    landed = landed_rows(RecordRows([record, {"prompt": "b", "created_at": "2026-03-10"}], [1, 2], [b"1", b"2"]))
    assert landed.interactions.height + landed.quarantine.height == 2
    assert 2 in landed.interactions["row_number"].to_list()


# -------------------------------------------------------------------------------------------------------- Parquet's own


@each(
    "far",
    [
        pl.Series([2**62, 1]).cast(pl.Datetime("us")),
        pl.Series([-(2**62), 1]).cast(pl.Datetime("us")),
        pl.Series([2**62, 1]).cast(pl.Datetime("ms")),
        pl.Series([2**62, 1]).cast(pl.Datetime("us", "Asia/Tokyo")),
        pl.Series([2**31 - 1, 1], dtype=pl.Int32).cast(pl.Date),
        pl.Series([253_402_300_800_000_000, 253_402_300_799_999_999]).cast(pl.Datetime("us")),
        pl.Series([2_932_897, 2_932_896], dtype=pl.Int32).cast(pl.Date),
        pl.Series([-62_135_596_800_001, -62_135_596_799_999]).cast(pl.Datetime("ms")),
    ],
)
def test_a_time_outside_the_calendar_is_refused_alone(far):
    frame = pl.DataFrame([pl.Series("prompt", ["a", "b"]), far.alias("created_at"), far.alias("seen")])
    landed = landed_rows(FrameRows(frame, [1, 2]))
    assert landed.interactions["row_number"].to_list() == [2]
    assert landed.quarantine["field"].to_list() == ["created_at"]
    assert "from 1970 on" in landed.quarantine["raw_text"].item()


def test_parquet_types_are_taken_for_what_they_hold():
    frame = pl.DataFrame(
        {
            "prompt": pl.Series(["a"], dtype=pl.Categorical),
            "created_at": [utc(2026, 3, 10, 8)],
            "project": pl.Series([7], dtype=pl.UInt8),
            "agent": pl.Series([b"bytes"], dtype=pl.Binary),
            "tokens": pl.Series([5], dtype=pl.UInt16),
            "cost": pl.Series(["1.50"]).cast(pl.Decimal(10, 2)),
            "reinforce": pl.Series([0], dtype=pl.Int8),
            "memories_used": pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)),
            "context_pack": [{"b": 1, "a": None}],
            "when": [utc(2026, 3, 10, 9)],
        }
    )
    landed = landed_rows(FrameRows(frame, [1]))
    assert landed.quarantine.is_empty()
    row = landed.interactions.row(0, named=True)
    names = ("prompt", "created_at", "project", "agent", "tokens", "cost", "reinforce", "memories_used")
    assert [row[n] for n in names] == ["a", utc(2026, 3, 10, 8), "7", "bytes", 5, 1.5, False, ["1", "2"]]
    assert row["context_pack"] == '{"a":null,"b":1}'
    assert row["extra"] == '{"when":"2026-03-10T09:00:00"}'


def test_a_parquet_row_that_json_cannot_say_is_quarantined_with_its_text():
    frame = pl.DataFrame(
        {"prompt": ["a", "b"], "created_at": ["2026-03-10"] * 2, "x": pl.Series([2**100, 1], dtype=pl.Int128)}
    )
    landed = landed_rows(FrameRows(frame, [1, 2]))
    assert landed.interactions["prompt"].to_list() == ["b"]
    assert landed.quarantine["field"].to_list() == ["extra"]
    assert "'prompt': 'a'" in landed.quarantine["raw_text"].item()
