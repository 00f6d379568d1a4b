"""memories_now against a walk through each memory's states; and what it says of one memory's life."""

from __future__ import annotations

from datetime import timedelta

import memory_model as model
import polars as pl
from hypothesis import given
from replayed import EVER, START, changes, memories_frame

from slowwave.transforms.core.schema import columns
from slowwave.transforms.evidence.memories_now import memories_now
from slowwave.transforms.evidence.states import memory_states, states_over_time
from slowwave.transforms.evidence.tables import MemoriesNow
from slowwave.transforms.landing.tables import Memories

DAY = timedelta(days=1)
ENDED = {"superseded", "invalid", "archived", "graduated", "expired"}


def states_of(rows, as_of=EVER) -> pl.DataFrame:
    return states_over_time(memory_states(memories_frame(rows)), as_of).collect()


def life(*rows, as_of=EVER) -> dict[str, object]:
    """What memories_now says of one memory, of changes a day apart."""
    landed = [{"memory_id": "m", "changed_at": START + n * DAY, **row} for n, row in enumerate(rows)]
    (found,) = memories_now(states_of(landed, as_of)).to_dicts()
    return found


def test_it_has_every_column_of_the_state_and_its_rows_are_sorted():
    assert {column.name for column in columns(MemoriesNow)} >= {*Memories.state}
    found = memories_now(states_of([{"memory_id": name, "changed_at": START} for name in "bca"]))
    assert found["memory_id"].to_list() == ["a", "b", "c"]
    assert memories_now(states_of([])).is_empty()


@given(changes)
def test_each_memory_is_what_a_walk_through_its_states_says(rows):
    states = states_of(rows).to_dicts()
    found = {row["memory_id"]: row for row in memories_now(states_of(rows)).to_dicts()}
    assert found.keys() == {row["memory_id"] for row in rows}
    for memory_id, row in found.items():
        own = [state for state in states if state["memory_id"] == memory_id]
        expected = model.state_then(rows, memory_id, EVER)
        assert expected is not None
        assert {name: row[name] for name in Memories.state} == {name: expected[name] for name in Memories.state}
        times = sorted(change["changed_at"] for change in rows if change["memory_id"] == memory_id)
        assert (row["created_at"], row["changed_at"], row["changes_count"]) == (times[0], times[-1], len(times))
        active = [state["valid_from"] for state in own if state["status"] == "active"]
        assert row["first_eligible_at"] == min(active, default=None)
        ended = None
        for state in own:
            ended = (ended or state["valid_from"]) if state["status"] in ENDED else None
        assert row["ended_at"] == ended


def test_a_candidate_that_was_accepted_and_archived():
    row = life(
        {"status": "candidate", "content": "Use tabs.", "reason": "heard"},
        {"status": "active", "changed_by": "ada"},
        {"status": "superseded", "superseded_by": "n", "reason": "newer", "changed_by": "bob"},
        {"importance": 0.5, "changed_by": "cyd"},
    )
    assert row["first_eligible_at"] == START + DAY
    assert row["ended_at"] == START + 2 * DAY
    assert (row["status"], row["superseded_by"], row["content"]) == ("superseded", "n", "Use tabs.")
    assert (row["reason"], row["changed_by"], row["changed_at"]) == (None, "cyd", START + 3 * DAY)


def test_what_was_restored_has_not_ended_and_what_never_was_active_was_never_eligible():
    assert life({"status": "archived"}, {"status": "active"})["ended_at"] is None
    row = life({"status": "candidate"}, {"status": "invalid"})
    assert (row["first_eligible_at"], row["ended_at"]) == (None, START + DAY)
    row = life({"status": "archived"})
    assert (row["first_eligible_at"], row["ended_at"]) == (None, START)


def test_what_expired_says_when_and_keeps_its_last_change():
    at = START + DAY / 2
    row = life({"status": "active", "expires_at": at, "reason": "for a day"})
    assert (row["status"], row["ended_at"], row["first_eligible_at"]) == ("expired", at, START)
    assert (row["changed_at"], row["reason"], row["changes_count"]) == (START, "for a day", 1)
    row = life({"status": "active", "expires_at": at}, as_of=at)
    assert (row["status"], row["ended_at"]) == ("active", None)
    row = life({"status": "active", "expires_at": START - DAY})
    assert (row["status"], row["ended_at"], row["first_eligible_at"]) == ("expired", START, None)
