"""Stale injections against a plain loop over the log."""

from datetime import timedelta

import memory_model as model
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from replayed import EVER, NONE_USED, START, changes, interactions, memories_frame, pool_of, references_of

from slowwave.transforms.evidence.states import memory_states, states_over_time
from slowwave.transforms.health.stale_injections import stale_exposure, stale_injections

STALE = {"superseded", "invalid", "expired"}
moves = st.lists(
    st.tuples(st.sampled_from(["m1", "m2"]), st.sampled_from(["superseded", "invalid", "active", "archived"])),
    max_size=3,
)


def found_in(interaction_rows, change_rows):
    states = states_over_time(memory_states(memories_frame(change_rows)), EVER)
    references = references_of(interaction_rows, pool_of(change_rows), lambda *_: NONE_USED)
    return stale_injections(references.lazy(), states)


@given(interactions, changes, moves)
def test_a_stale_injection_is_one_of_a_memory_that_was_no_longer_valid_then(interaction_rows, change_rows, moved):
    taken = {(row["memory_id"], row["changed_at"]) for row in change_rows}
    later = [
        {"memory_id": memory_id, "changed_at": START + timedelta(hours=3 * at, minutes=30), "status": status}
        for at, (memory_id, status) in enumerate(moved)
    ]
    change_rows = [*change_rows, *(row for row in later if (row["memory_id"], row["changed_at"]) not in taken)]
    expected = {
        (memory_id, row["interaction_id"]): state["status"]
        for row in interaction_rows
        for memory_id in set(row["memories_used"] or ())
        if (state := model.state_then(change_rows, memory_id, row["occurred_at"])) and state["status"] in STALE
    }
    found = found_in(interaction_rows, change_rows)
    assert dict(zip(found.select("memory_id", "interaction_id").iter_rows(), found["status"], strict=True)) == expected
    for row in found.iter_rows(named=True):
        # all the time since it has been one of them, and just before it was not
        times = [change["changed_at"] for change in change_rows] + [row["stale_since"], row["occurred_at"]]
        since = [at for at in times if row["stale_since"] <= at <= row["occurred_at"]]
        states = [model.state_then(change_rows, row["memory_id"], at) for at in since]
        assert all(state and state["status"] in STALE for state in states)
        before = model.state_then(change_rows, row["memory_id"], row["stale_since"] - timedelta(microseconds=1))
        assert before is None or before["status"] not in STALE


def test_how_long_a_correction_took_counts_from_the_last_time_it_was_made():
    day = timedelta(days=1)
    injections = pl.LazyFrame(
        {
            "memory_id": ["m", "m", "other"],
            "occurred_at": [START + 9 * day, START + 2 * day, START],
            "stale_since": [START + 8 * day, START, START],
        }
    )
    assert stale_exposure(injections).sort("memory_id").collect().rows() == [
        ("m", 2, START + 9 * day, 24.0),
        ("other", 1, START, 0.0),
    ]
