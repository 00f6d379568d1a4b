"""What is taken for plain at a look: landing's own rules judge it to land too, under the id that it states."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.transforms.core.schema import producer_columns
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import readable_rows
from slowwave.transforms.landing.mapping.named_otherwise import SURE
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.posted_records import ID_OF
from slowwave.transforms.landing.posted_rows import is_plain
from slowwave.transforms.landing.tables import LANDED

TIMES = [
    "2026-03-02T09:00:00Z", "2026-03-02 09:00:00.123456789+23:59", "2024-02-29T23:59:59", "2026-02-30T00:00:00Z",
    "2026-03-02T24:00:00Z", "2026-03-02T09:00:60Z", "1000-01-01T00:00:00+23:59", "9999-01-01T00:00:00Z",
    "9998-12-31T23:59:59-23:59", "0999-01-01T00:00:00Z", "2026-03-02", "٢026-03-02T09:00:00Z", "2026-03-02T09:00:00Z\n",
    0, 1772442000, 1772442000.25, 9_999_999_999, 10**10, 10**11 - 1, 10**11, 10**14 - 1, 10**14, 10**16, -1, 1e-7, True,
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=4), st.sampled_from(["", " ", "\u200b", "\x00", "\u3000a", "null", "active", "agent", "[1]", "{"])
)
NUMBERS = st.one_of(
    st.sampled_from([0, 1, 0.5, -0.0, -1, 2, 2**63 - 1, 2**63, 2**64 - 1, 1e308, "0.5", "x", True]),
    st.integers(-(2**63), 2**64 - 1), st.floats(),
)  # fmt: skip
OFFERS = st.one_of(
    TEXTS,
    st.dictionaries(st.sampled_from(["id", "memory_id", "rank", "score"]), st.one_of(TEXTS, NUMBERS), max_size=4),
)
OF_KIND: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "time": st.sampled_from(TIMES),
    "number": NUMBERS,
    "integer": NUMBERS,
    "boolean": st.sampled_from([True, False, 0, 1, "yes", "", 2]),
    "json": st.one_of(TEXTS, NUMBERS, st.dictionaries(TEXTS, NUMBERS, max_size=2), st.lists(TEXTS, max_size=2)),
    "texts": st.lists(st.one_of(TEXTS, st.none()), max_size=2),
    "structs": st.lists(OFFERS, max_size=2),
}
SOMETHING = st.one_of(st.none(), TEXTS, NUMBERS, st.lists(TEXTS, max_size=1), st.dictionaries(TEXTS, TEXTS, max_size=1))
ELSEWHERE = sorted({name for names in SURE.values() for name in names} | {"Response", "SUCCESS", "odd", "prompt.text"})
STAMPED = {
    "interactions": {"interaction_id": "i-1", "created_at": "2026-03-02T09:00:00Z", "prompt": "Push"},
    "outcomes": {"outcome_id": "o-1", "created_at": "2026-03-02T09:00:00Z", "success": True},
    "memories": {"memory_id": "m-1", "changed_at": "2026-03-02T09:00:00Z"},
}


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A row that has gone through the receipt, whose fields mostly hold what they are for."""
    table = draw(st.sampled_from(LANDED))
    fields = {c.name: c for each in (table, *LANDED) for c in producer_columns(each)}
    named = draw(st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True))
    row = dict(STAMPED[table.name])
    for name in named:
        row[name] = draw(SOMETHING if draw(st.integers(0, 9)) == 0 else OF_KIND[fields[name].kind])
    row |= draw(st.dictionaries(st.sampled_from(ELSEWHERE), SOMETHING, max_size=1))
    if draw(st.integers(0, 9)) == 0:
        row.pop(draw(st.sampled_from(sorted(row))))
    for name in {"interactions": (), "outcomes": ("prompt", "memory_id"), "memories": ("prompt",)}[table.name]:
        row.pop(name, None)  # what makes a row one of another kind is refused before
    if table.name == "interactions" and row.get("prompt") is None:
        row["prompt"] = "Push"
    return table.name, orjson.loads(orjson.dumps(row))


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(row=rows(), keeps=st.booleans())
def test_what_is_plain_lands_under_its_id(row: tuple[Any, dict[str, Any]], keeps: bool):
    kind, record = row
    if not is_plain(record, kind, keeps_unknown=keeps):
        return
    landed = readable_rows(RecordRows([record], [1], [b""]), None, ReadingOptions(keeps_unknown=keeps))
    assert landed.quarantine.is_empty(), (record, landed.quarantine["reason"][0])
    assert getattr(landed, kind)[ID_OF[kind]].to_list() == [record[ID_OF[kind]]]


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("interactions", {"response": "Pushed.", "memories_used": ["m-1"], "context_pack": {"a": [1]}, "tokens": 7}),
        ("interactions", {"success": False, "error_message": "no", "duration_ms": 1.5, "basis": "reported"}),
        ("interactions", {"memories_offered": [{"id": "m-1", "rank": 1, "score": 0.5}], "odd": 1, "created_at": 1e9}),
        ("outcomes", {"strategy": "lint first", "cost": 0.5, "answer": "Pushed."}),
        ("memories", {"content": "a", "status": "active", "confidence": 1, "tags": ["a"], "pinned": None}),
    ],
)
def test_what_agents_post_is_plain(kind: Any, row: dict[str, Any]):
    """Else every post would cost what a column does."""
    assert is_plain(STAMPED[kind] | row, kind, keeps_unknown=False)


@each(
    ("kind", "row"),
    [
        ("interactions", {"completion": "Pushed."}),
        ("interactions", {"prompt": "\u200b"}),
        ("interactions", {"success": "perhaps"}),
        ("interactions", {"memories_used": ["a", None]}),
        ("outcomes", {"success": None}),
        ("outcomes", {"cost": -1}),
        ("memories", {"status": "odd"}),
        ("memories", {"status": ["active"]}),
        ("memories", {"confidence": 2}),
    ],
)
def test_what_landing_might_refuse_is_not(kind: Any, row: dict[str, Any]):
    assert not is_plain(STAMPED[kind] | row, kind, keeps_unknown=False)
