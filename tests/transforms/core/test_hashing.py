# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Content hashes: the same for the same content, another for any other, and pinned."""

import hashlib

import polars as pl
import pytest
from delivered import as_jsonl, land, utc
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.frames import conform, empty
from slowwave.transforms.core.hashing import RowsDigest, canonical_row, digest, digests, hash_texts, rows_digest
from slowwave.transforms.core.schema import columns, polars_schema
from slowwave.transforms.evidence.fingerprint import fingerprint
from slowwave.transforms.evidence.tables import MemoryEligibility
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories
from slowwave.transforms.landing.versions import with_row_hash

FULL = {
    "interactions": {
        "interaction_id": "i1", "created_at": "2026-03-10T08:00:00.000001Z", "recorded_at": "2026-03-11",
        "project": "p", "agent": "a", "client": "c", "session_id": "s", "user_id": "u", "prompt": "Ünï 𝒳\n",
        "response": "r", "response_summary": "y", "memories_used": ["m1", "m:2"],
        "memories_offered": [{"id": "m1", "rank": 1, "score": 0.25}],
        "injection_probability": 0.5, "chunks_used": ["d1"], "context_pack": {"b": [1, 2.5], "a": None}, "tokens": 12,
        "cost": 0.001, "reinforce": False, "memories_cited": ["m:2"], "unknown": "kept",
    },
    "outcomes": {
        "outcome_id": "o1", "interaction_id": "i1", "created_at": "2026-03-10", "recorded_at": "2026-03-11",
        "project": "p", "agent": "a", "session_id": "s", "user_id": "u", "task_type": "t", "task": "k", "strategy": "y",
        "success": True, "attempted": False, "error_message": "e", "duration_ms": 1500.5, "tokens": 1, "cost": 2.5,
        "feedback": "f", "basis": "inferred", "basis_method": "tests/1", "cost_unit": "usd", "unknown": {"x": 1},
    },
    "memories": {
        "memory_id": "m1", "changed_at": "2026-03-10", "recorded_at": "2026-03-11", "memory_type": "identity",
        "project": "", "agent": "a", "content": "c", "status": "active", "confidence": 0.7, "importance": "",
        "pinned": True,         "source_ids": [], "superseded_by": "m2", "reason": "r", "changed_by": "b", "unknown": 1,
        "scope": "agent", "user_id": 7, "category": "style", "domain": "auth", "source": "user_stated",
        "tags": ["b", "a"], "expires_at": "2026-04-01T00:00:00Z",
        "stated_references": 7, "stated_last_referenced_at": "2026-03-09",
    },
}  # fmt: skip
# A released hash does not change: lakes hold them, and a new release must find its rows in old ones.
PINNED = {
    "interactions": ("4da6750a70eafe0a616734ef3b0cd8c7", 1990916845335180791),
    "outcomes": ("2653bce45e1b5d94106e10de9eef43cf", 2333132426830449855),
    "memories": ("58ead307cd1dbd175d7f9ebf3ca13d6a", 8271148378922767556),
}
# What release 0.1.0, which kept all these fields in `extra`, says of memories with others of them.
ABOUT = (
    *("scope", "user_id", "category", "domain", "source", "tags", "expires_at"),
    *("stated_references", "stated_last_referenced_at"),
)
PINNED_ABOUT = {
    "ca3c086fdb4b4ce2aa221f519ff2ae66": {},
    "9534707f51dfeadf814821c3d2872a70": {"scope": "everywhere", "tags": "urgent"},
    "0449f210ad9c47570f5c015c81b56d4c": {"tags": ""},
}
# The same of rows that say nothing of what is new since.
PINNED_WITHOUT = {
    "f24d7ac6bdfaeb2ee9441c0e3aa5fb73": ("interactions", ("memories_cited",)),
    "a42e06f6df2d48113c5400cd51824491": ("outcomes", ("basis", "basis_method", "cost_unit")),
    "918434b6fb212c6c54e331452f60df37": ("outcomes", ("cost_unit",)),
    "e5a2e3b308298b74f0229d9dd5298afb": ("memories", ("stated_references", "stated_last_referenced_at")),
}


def landed(name, **changed):
    return (
        land({**FULL[name], **changed}, kind=name).table(next(t for t in LANDED if t.name == name)).drop("row_number")
    )


@pytest.mark.parametrize("name", sorted(FULL))
def test_pinned(name):
    row = landed(name).row(0, named=True)
    assert (row["row_hash"], row["key_hash"]) == PINNED[name]
    # a column that is newer than the pinned hashes is not said: they hold as they are
    assert [c for c in row if row[c] is None] == (["importance", "parent_id"] if name == "memories" else [])


@pytest.mark.parametrize("row_hash", PINNED_ABOUT)
def test_what_stood_in_extra_hashes_as_it_did(row_hash):
    said = {**dict.fromkeys(ABOUT), **PINNED_ABOUT[row_hash]}
    assert landed("memories", **said)["row_hash"].item() == row_hash


@pytest.mark.parametrize("row_hash", PINNED_WITHOUT)
def test_a_row_that_says_nothing_new_hashes_as_it_did(row_hash):
    name, new = PINNED_WITHOUT[row_hash]
    assert landed(name, **dict.fromkeys(new))["row_hash"].item() == row_hash


def test_pinned_digest():
    assert digest(["a", "bc"]) == hashlib.blake2b(b"1:a2:bc", digest_size=16).hexdigest()
    assert rows_digest(pl.Series(["b", "a", "b"])) == digest(["a\nb"])


@given(st.lists(st.lists(st.integers(0, 2**32), max_size=5, unique=True), max_size=3))
def test_rows_that_come_in_parts_have_the_digest_of_all(parts):
    taken, hashes = RowsDigest(), []
    for at, part in enumerate(parts):
        hashes.append(hash_texts(pl.Series([f"{at} {number}" for number in part], dtype=pl.String)))
        taken.add(hashes[-1])
    assert taken.digest() == rows_digest(pl.concat([pl.Series(dtype=pl.String), *hashes]))


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_digests_of_two_sequences_meet_only_where_they_are_equal(one, other):
    assert (digest(one) == digest(other)) == (one == other)


@pytest.mark.parametrize("name", sorted(FULL))
def test_every_field_counts(name):
    row_hash = landed(name)["row_hash"].item()
    hashes = {row_hash}
    fields = [
        field for field in FULL[name] if field not in {"prompt", "created_at", "changed_at", "memory_id", "success"}
    ]
    for field in fields:
        hashes.add(landed(name, **{field: None})["row_hash"].item())
    required = {
        "interactions": {"prompt": "other", "created_at": "2026-03-09"},
        "outcomes": {"success": False, "created_at": "2026-03-09"},
        "memories": {"memory_id": "m9", "changed_at": "2026-03-09"},
    }
    for field, value in required[name].items():
        hashes.add(landed(name, **{field: value})["row_hash"].item())
    assert len(hashes) == 1 + len(fields) + len(required[name])


TEXTS = ("project", "agent", "client", "session_id", "user_id", "response")


@given(*[st.dictionaries(st.sampled_from(TEXTS), st.text(st.sampled_from("a:;=1p"), max_size=4)) for _ in range(2)])
def test_text_cannot_move_between_fields_unseen(one, other):
    frames = [pl.DataFrame([row], schema=dict.fromkeys(TEXTS, pl.String)) for row in (one, other)]
    told = [frame.select(canonical_row(dict(frame.schema))).item() for frame in frames]
    assert (told[0] == told[1]) == (one == other)


@given(*[st.lists(st.text(st.sampled_from("a:1"), max_size=3), max_size=3) for _ in range(2)])
def test_text_cannot_move_between_items_of_a_list_unseen(one, other):
    schema = pl.Schema({"x": pl.List(pl.String())})
    told = [pl.DataFrame({"x": [items]}, schema).select(canonical_row(dict(schema))).item() for items in (one, other)]
    assert (told[0] == told[1]) == (one == other)


def test_null_and_empty_are_not_the_same():
    for table, name, empty_value in (
        ("memories", "content", ""),
        ("interactions", "memories_used", []),
        ("interactions", "tokens", 0),
    ):
        said, unsaid = landed(table, **{name: empty_value}), landed(table, **{name: None})
        assert said["row_hash"].item() != unsaid["row_hash"].item()


def test_a_column_added_later_changes_no_hash():
    schema = dict(polars_schema(Memories))
    rows = landed("memories").drop("row_hash", "key_hash")
    now = rows.select(canonical_row({name: dtype for name, dtype in schema.items() if name in rows.columns})).item()
    wider = rows.with_columns(added=pl.lit(None, dtype=pl.Int64), added_texts=pl.lit(None, dtype=pl.List(pl.String)))
    assert wider.select(canonical_row(dict(wider.schema))).item() == now
    narrower = rows.drop([name for name in rows.columns if rows[name].null_count()])
    assert narrower.select(canonical_row(dict(narrower.schema))).item() == now


@given(st.permutations([{"prompt": p, "created_at": "2026-03-10"} for p in "abcde"]))
def test_a_row_has_its_hash_in_any_company_and_order(rows):
    together = landed_rows(as_jsonl(rows)).interactions
    alone = {row["prompt"]: land(row).interactions["row_hash"].item() for row in rows[:2]}
    found = dict(together.select("prompt", "row_hash").rows())
    assert {prompt: found[prompt] for prompt in alone} == alone
    assert rows_digest(together["row_hash"]) == rows_digest(pl.Series(sorted(found.values())))


def test_the_key_hash_is_of_the_key_alone():
    first = landed("memories")["key_hash"].item()
    assert landed("memories", content="other", recorded_at="2026-04-01")["key_hash"].item() == first
    assert landed("memories", changed_at="2026-03-11")["key_hash"].item() != first
    assert landed("memories", memory_id="m2")["key_hash"].item() != first
    assert 0 <= first < 2**63


def test_empty_tables_hash_to_nothing():
    for table in LANDED:
        given_columns = [c.name for c in columns(table) if c.name not in {"row_hash", "key_hash"}]
        assert with_row_hash(table, empty(table).select(given_columns)).height == 0


STRETCH = {
    "memory_id": "m1", "is_global": False, "project": "p", "pattern": "twelve chars", "content_hash": "h1",
    "first_at": utc(2026, 3, 10),
    "last_at": utc(2026, 3, 10), "eligible_count": 1, "only_agent": None, "only_user": None,
}  # fmt: skip
OTHER = {
    "memory_id": "m2", "is_global": True, "project": "q", "pattern": None, "content_hash": "h2",
    "first_at": utc(2026, 3, 9),
    "last_at": utc(2026, 3, 11), "eligible_count": 2, "only_agent": "ada", "only_user": "ada",
}  # fmt: skip


def test_a_fingerprint_depends_on_rows_and_memories_and_on_nothing_else():
    stretch = pl.DataFrame([STRETCH])
    assert set(OTHER) == set(polars_schema(MemoryEligibility))
    first = fingerprint("rows", stretch)
    assert first == fingerprint("rows", stretch.clone())
    others = [
        fingerprint("other rows", stretch),
        fingerprint("rows", stretch.clear()),
        fingerprint("rows", pl.DataFrame([STRETCH, STRETCH])),
        *[fingerprint("rows", pl.DataFrame([STRETCH | {n: v}])) for n, v in OTHER.items()],
    ]
    assert len({first, *others}) == 1 + len(others)


def test_the_name_of_a_day_is_pinned():
    stretch = pl.DataFrame([STRETCH], schema=polars_schema(MemoryEligibility))
    assert fingerprint(rows_digest(pl.Series(["r"])), stretch) == "27edb178e99b558b120c65903ad89782"


def test_the_digest_of_rows_depends_on_no_order():
    first = rows_digest(pl.Series(["a", "b"]))
    assert first == rows_digest(pl.Series(["b", "a"]))
    assert len({first, rows_digest(pl.Series(["a", "c"])), rows_digest(pl.Series(["a"]))}) == 3


def test_conform_leaves_hashes_alone():
    frame = landed("interactions")
    assert conform(Interactions, frame.lazy()).collect().equals(frame)


def test_digests_of_rows_are_those_of_their_texts():
    rows = pl.DataFrame({"a": ["", "1:", "ä", "\n"], "b": ["x", "", "日本", "é́"]})
    assert digests(rows).to_list() == [digest(row) for row in rows.rows()]
    assert digests(rows.clear()).to_list() == []
