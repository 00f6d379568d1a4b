"""The log of changes that successive readings of a store make, folded as landing folds it, is what the store says."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from store_rows import LATER, NOON, SEEN_AT, atocore_memory, heuristic, history, knowledge, left_of, rows_of, told

from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.imports.adapter import Undecided
from slowwave.transforms.imports.stores.alma import ALMA_STORE
from slowwave.transforms.imports.stores.sqlite_stores import ATOCORE_STORE, MEM0_STORE
from slowwave.transforms.imports.stores.store_state import StoreSnapshot
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import landed_rows

DAY = timedelta(days=1)
STATE = ("status", "content", "confidence", "memory_type", "project")


def folded(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each memory is at the end, by the rows as they land: later versions of a key win."""
    delivered = RecordRows(rows, list(range(1, len(rows) + 1)), [b"{}"] * len(rows))
    landed = landed_rows(delivered)
    assert landed.quarantine.is_empty()
    winning = landed.memories.sort("recorded_at").unique(["memory_id", "changed_at"], keep="last")
    assert winning.height == landed.memories.height  # no change is told twice
    last = memory_states(winning.lazy()).filter(pl.col("valid_until").is_null()).collect()
    return {row["memory_id"]: {name: row[name] for name in STATE} for row in last.to_dicts()}


def held(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "status": row["status"],
        "content": row["content"],
        "confidence": row["confidence"],
        "memory_type": row["memory_type"],
        "project": row["project"] or "",
    }


memories = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["m1", "m2", "m3"]),
        "memory_type": st.sampled_from(["project", "knowledge"]),
        "content": st.sampled_from(["the till rounds down", "the till rounds up"]),
        "project": st.sampled_from([None, "shop", "bank"]),
        "confidence": st.sampled_from([None, 0.5, 0.9]),
        "status": st.sampled_from(["candidate", "active", "superseded"]),
        # AtoCore's times tell seconds, and a change may leave them as they were, or set them back
        "updated_at": st.sampled_from(["2026-03-01 12:00:00", "2026-03-02 12:00:00", "2026-04-02 00:00:00"]),
    }
)
readings = st.lists(st.lists(memories, max_size=3, unique_by=lambda row: row["id"]), min_size=1, max_size=6)


@given(readings)
def test_folded_the_changes_are_what_the_store_last_said(stores: list[list[dict[str, Any]]]):
    seen, rows = StoreSnapshot(1), []
    for day, memories in enumerate(stores):
        at = SEEN_AT + day * DAY
        rows += rows_of(told(ATOCORE_STORE, {"memories": memories}, seen, seen_at=at, accepts_vanished=True))
        again = told(ATOCORE_STORE, {"memories": memories}, seen, seen_at=at + DAY / 2, accepts_vanished=True)
        assert rows_of(again) == []
    found = folded(rows) if rows else {}
    now = {f"atocore:{row['id']}": held(row) for row in stores[-1]}
    assert {memory_id: state for memory_id, state in found.items() if memory_id in now} == now
    gone = {state["status"] for memory_id, state in found.items() if memory_id not in now}
    assert gone <= {"archived", "superseded"}  # what was out of use already is left as it was


def test_a_first_reading_tells_a_memory_from_its_birth_and_knows_it_since_it_changed():
    (row,) = rows_of(told(ALMA_STORE, {"heuristics": [heuristic("h1", last_validated=LATER)]}))
    assert (row["changed_at"], row["recorded_at"]) == ("2026-03-01T12:00:00.000001Z", "2026-03-05T08:30:00Z")


def test_a_change_bears_the_stores_own_time_where_that_moved_and_else_the_time_it_was_seen():
    seen = StoreSnapshot(1)
    told(ALMA_STORE, {"heuristics": [heuristic("h1")]}, seen)
    validated = heuristic("h1", occurrence_count=6, last_validated=LATER)
    (own,) = rows_of(told(ALMA_STORE, {"heuristics": [validated]}, seen, seen_at=SEEN_AT + DAY))
    assert own["changed_at"] == "2026-03-05T08:30:00Z"
    assert set(own) == {"memory_id", "changed_at", "recorded_at", "alma"}
    (unsaid,) = rows_of(
        told(ALMA_STORE, {"heuristics": [{**validated, "confidence": 0.4}]}, seen, seen_at=SEEN_AT + 2 * DAY)
    )
    assert unsaid == {
        "memory_id": "alma:heuristics:h1",
        "changed_at": "2026-04-03T02:00:00Z",
        "recorded_at": "2026-04-03T02:00:00Z",
        "confidence": 0.4,
    }


def test_a_change_comes_after_what_was_told_whatever_the_clocks_say():
    seen, ahead = StoreSnapshot(1), "2027-01-01T00:00:00+00:00"
    told(ALMA_STORE, {"heuristics": [heuristic("h1", last_validated=ahead)]}, seen)
    changed = heuristic("h1", last_validated=NOON, confidence=0.1)  # and its own time was set back
    (row,) = rows_of(told(ALMA_STORE, {"heuristics": [changed]}, seen, seen_at=SEEN_AT + DAY))
    assert row["changed_at"] == row["recorded_at"] == "2027-01-01T00:00:00.000001Z"


def test_what_a_store_no_longer_says_is_cleared():
    seen = StoreSnapshot(1)
    told(ATOCORE_STORE, {"memories": [atocore_memory("m1", project="shop", confidence=0.5)]}, seen)
    (row,) = rows_of(told(ATOCORE_STORE, {"memories": [atocore_memory("m1")]}, seen, seen_at=SEEN_AT + DAY))
    assert (row["project"], row["confidence"]) == ("", "")


def test_what_is_gone_is_archived_when_it_was_seen_to_be_gone():
    seen, many = StoreSnapshot(1), [knowledge(f"k{number}") for number in range(10)]
    told(ALMA_STORE, {"domain_knowledge": many}, seen)
    made = told(ALMA_STORE, {"domain_knowledge": many[2:]}, seen, seen_at=SEEN_AT + DAY)
    assert rows_of(made) == [
        {
            "memory_id": f"alma:domain_knowledge:k{number}",
            "changed_at": "2026-04-02T02:00:00Z",
            "recorded_at": "2026-04-02T02:00:00Z",
            "status": "archived",
            "changed_by": "slowwave import",
            "reason": "it is no longer in the store",
        }
        for number in (0, 1)
    ]
    back = told(ALMA_STORE, {"domain_knowledge": many}, seen, seen_at=SEEN_AT + 2 * DAY)
    assert [(row["memory_id"], row["status"]) for row in rows_of(back)] == [
        ("alma:domain_knowledge:k0", "active"),
        ("alma:domain_knowledge:k1", "active"),
    ]


def test_of_more_than_a_fifth_at_once_none_is_archived_without_a_word():
    seen, many = StoreSnapshot(1), [knowledge(f"k{number}") for number in range(10)]
    told(ALMA_STORE, {"domain_knowledge": many}, seen)
    left = {"domain_knowledge": many[3:]}
    for day in (1, 2):
        made = told(ALMA_STORE, left, seen, seen_at=SEEN_AT + day * DAY)
        assert rows_of(made) == []
        (asked,) = [one.said for one in made if isinstance(one, Undecided)]
        assert asked.startswith("3 of its 10 memories are gone at once")
        assert "--accept-vanished" in asked
    made = told(ALMA_STORE, left, seen, seen_at=SEEN_AT + 3 * DAY, accepts_vanished=True)
    assert [row["status"] for row in rows_of(made)] == ["archived"] * 3


def test_two_stores_of_a_kind_leave_each_others_memories_alone():
    seen = StoreSnapshot(1)
    first, second = ({"domain_knowledge": [knowledge(f"{name}{n}") for n in range(6)]} for name in "ab")
    for day in range(3):
        for name, tables in (("first", first), ("second", second)):
            made = told(ALMA_STORE, tables, seen, name=name, seen_at=SEEN_AT + day * DAY)
            assert len(rows_of(made)) == (6 if day == 0 else 0)
            assert not any(isinstance(one, Undecided) for one in made)


def test_a_memory_that_a_copy_of_the_store_still_has_is_not_gone():
    seen, tables = StoreSnapshot(1), {"domain_knowledge": [knowledge(f"k{n}") for n in range(6)]}
    without = {"domain_knowledge": tables["domain_knowledge"][1:]}
    told(ALMA_STORE, tables, seen, name="first")
    assert rows_of(told(ALMA_STORE, tables, seen, name="copy", seen_at=SEEN_AT + DAY)) == []
    assert rows_of(told(ALMA_STORE, without, seen, name="copy", seen_at=SEEN_AT + 2 * DAY)) == []
    (gone,) = rows_of(told(ALMA_STORE, without, seen, name="first", seen_at=SEEN_AT + 3 * DAY))
    assert (gone["memory_id"], gone["status"]) == ("alma:domain_knowledge:k0", "archived")


def test_what_only_a_store_that_is_no_more_had_is_gone():
    seen, tables = StoreSnapshot(1), {"domain_knowledge": [knowledge(f"k{n}") for n in range(6)]}
    without = {"domain_knowledge": tables["domain_knowledge"][1:]}
    told(ALMA_STORE, tables, seen, name="before it moved")
    told(ALMA_STORE, tables, seen, name="after", seen_at=SEEN_AT + DAY)
    made = told(ALMA_STORE, without, seen, name="after", seen_at=SEEN_AT + 2 * DAY, absent=["before it moved"])
    assert [row["status"] for row in rows_of(made)] == ["archived"]


def test_two_memories_of_one_id_are_one_and_the_other_is_counted():
    seen = StoreSnapshot(1)
    for day in range(3):
        two = {"history": [], "domain_knowledge": [knowledge("k1"), knowledge("k1", fact="another")]}
        made = told(ALMA_STORE, two, seen, seen_at=SEEN_AT + day * DAY)
        assert len(rows_of(made)) == (1 if day == 0 else 0)
        assert left_of(made)["a second memory of one id"] == 1


def test_no_secret_in_an_id_is_kept():
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    seen = StoreSnapshot(1)
    (row,) = rows_of(told(ALMA_STORE, {"domain_knowledge": [knowledge(secret)]}, seen))
    assert secret not in row["memory_id"]
    assert set(seen.memories) == {row["memory_id"]}
    assert rows_of(told(ALMA_STORE, {"domain_knowledge": [knowledge(secret)]}, seen)) == []


def test_a_memory_that_cannot_be_read_is_refused_and_not_gone():
    seen, many = StoreSnapshot(1), [knowledge(f"k{n}") for n in range(6)]
    told(ALMA_STORE, {"domain_knowledge": many}, seen)
    made = told(ALMA_STORE, {"domain_knowledge": [*many[1:], knowledge("k0", fact=b"\xff\xfe")]}, seen)
    assert rows_of(made) == []
    assert left_of(made) == {"as it was when it was last read": 5}


def test_a_log_that_comes_back_brings_its_memories_back():
    seen = StoreSnapshot(1)
    log = {"history": [history(f"m{n}", "ADD", f"note {n}", NOON) for n in range(6)]}
    told(MEM0_STORE, log, seen)
    (gone,) = rows_of(told(MEM0_STORE, {"history": log["history"][1:]}, seen, seen_at=SEEN_AT + DAY))
    assert (gone["memory_id"], gone["status"]) == ("mem0:m0", "archived")
    (back,) = rows_of(told(MEM0_STORE, log, seen, seen_at=SEEN_AT + 2 * DAY))
    assert (back["memory_id"], back["status"], back["changed_at"]) == ("mem0:m0", "active", "2026-04-03T02:00:00Z")
    assert rows_of(told(MEM0_STORE, log, seen, seen_at=SEEN_AT + 3 * DAY)) == []


def test_a_later_version_of_the_importer_tells_what_it_reads_otherwise():
    seen = StoreSnapshot(0)
    told(ALMA_STORE, {"heuristics": [heuristic("h1")]}, seen)
    assert seen.version == ALMA_STORE.version
    seen.version = 0
    (row,) = rows_of(told(ALMA_STORE, {"heuristics": [heuristic("h1")]}, seen, seen_at=SEEN_AT + DAY))
    assert (row["changed_at"], row["content"]) == ("2026-04-02T02:00:00Z", "When: prices\nDo: round h1 last")


def test_times_that_are_none_are_not_made_up():
    made = told(ALMA_STORE, {"heuristics": [heuristic("h1", created_at="soon", last_validated=b"\x00")]})
    (row,) = rows_of(made)
    assert row["changed_at"] == row["recorded_at"] == f"{datetime.isoformat(SEEN_AT)}Z"
