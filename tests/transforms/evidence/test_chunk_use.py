"""Chunks and documents counted, against a plain loop."""

from collections import defaultdict
from datetime import timedelta

import polars as pl
from delivered import utc
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.evidence.chunks.tables import ChunkUse
from slowwave.transforms.evidence.chunks.use import chunk_days, chunk_use

START = utc(2026, 3, 10)
IDS = ("guide.md#1", "guide.md#2", "notes", "a#b#3", "#4", "guide.md#", "", " ", "\u202e#x")
DOCUMENTS = {"guide.md#1": "guide.md", "guide.md#2": "guide.md", "a#b#3": "a#b", "\u202e#x": "\u202e"}

logs = st.lists(
    st.fixed_dictionaries(
        {
            "occurred_at": st.integers(0, 5).map(lambda hours: START + timedelta(hours=hours)),
            "project": st.sampled_from(["", "atlas"]),
            "chunks_used": st.none() | st.lists(st.sampled_from(IDS), max_size=4),
        }
    ),
    max_size=8,
).map(lambda rows: [{"interaction_id": f"i{n}", **row} for n, row in enumerate(rows)])


def frame(rows):
    schema = {
        "interaction_id": pl.String, "occurred_at": pl.Datetime("us"), "project": pl.String,
        "chunks_used": pl.List(pl.String),
    }  # fmt: skip
    return pl.LazyFrame(rows, schema=schema)


def used(rows):
    return chunk_use(chunk_days(frame(rows))).collect()


def by_a_loop(rows):
    chunks, documents = defaultdict(dict), defaultdict(set)
    for row in rows:
        for chunk_id in row["chunks_used"] or ():
            if chunk_id.strip():
                chunks[row["project"], chunk_id][row["interaction_id"]] = row["occurred_at"]
                documents[row["project"], DOCUMENTS.get(chunk_id)].add((chunk_id, row["interaction_id"]))
    told = []
    for (project, chunk_id), at in sorted(chunks.items(), key=lambda item: tuple(map(str.encode, item[0]))):
        document_id = DOCUMENTS.get(chunk_id)
        whole = documents[project, document_id] if document_id else None
        told.append(
            {
                "project": project,
                "chunk_id": chunk_id,
                "document_id": document_id,
                "used_count": len(at),
                "first_used_at": min(at.values()),
                "last_used_at": max(at.values()),
                "document_chunks_count": len({chunk for chunk, _ in whole}) if whole else 0,
                "document_used_count": len({interaction for _, interaction in whole}) if whole else 0,
            }
        )
    return told


@given(logs)
def test_chunks_and_documents_are_counted_as_a_loop_counts_them(rows):
    found = used(rows)
    assert found.to_dicts() == by_a_loop(rows)
    assert found.schema == computed_schema(ChunkUse)


@given(logs, st.integers(0, 8))
def test_days_are_added_up(rows, cut):
    parts = [chunk_days(frame(part)).collect() for part in (rows[cut:], rows[:cut])]
    assert chunk_use(pl.concat(parts).lazy()).collect().equals(used(rows))


@each(
    ("chunk_id", "document_id"),
    [
        ("a#1", "a"), ("a#1#2", "a#1"), ("a", None), ("#1", None), ("a#", None), ("a# ", None), (" #1", None),
        ("docs/ä b.md#Kapitel 1", "docs/ä b.md"), ("a\nb#c\nd", "a\nb"),
        ("'; DROP TABLE x; --#1", "'; DROP TABLE x; --"),
    ],
)  # fmt: skip
def test_what_stands_before_the_last_mark_is_the_document(chunk_id, document_id):
    row = {"interaction_id": "i", "occurred_at": START, "project": "", "chunks_used": [chunk_id]}
    assert used([row])["document_id"].to_list() == [document_id]


def test_ten_thousand_chunks_of_one_interaction_are_one_use_of_their_document():
    row = {"interaction_id": "i", "occurred_at": START, "project": ""}
    found = used([{**row, "chunks_used": [f"d#{n}" for n in range(10_000)]}])
    assert found.select("document_chunks_count", "document_used_count").unique().rows() == [(10_000, 1)]
