"""States and pool against a plain fold of the change log."""

from itertools import product, zip_longest

import memory_model as model
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from replayed import START, changes, is_reached, memories_frame, pool_of

from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.landing.tables import Memories

ids = ("m1", "m2", "m3")


def states_of(rows):
    return memory_states(memories_frame(rows)).sort("memory_id", "valid_from").collect()


def covering(rows, at):
    """The rows that hold at an instant."""
    return [r for r in rows if r["valid_from"] <= at and (r["valid_until"] is None or at < r["valid_until"])]


@given(changes)
def test_each_change_has_the_state_a_fold_of_the_log_gives(rows):
    expected = []
    for memory_id in ids:
        times = sorted(row["changed_at"] for row in rows if row["memory_id"] == memory_id)
        for at, until in zip_longest(times, times[1:]):
            state = model.state_at(rows, memory_id, at)
            assert state is not None
            expected.append({"memory_id": memory_id, "valid_from": at, "valid_until": until, **state})
    found = states_of(rows)
    assert found.to_dicts() == expected
    assert found.columns == ["memory_id", "valid_from", "valid_until", *Memories.state]


@given(changes, st.randoms(use_true_random=False))
def test_states_and_pool_do_not_depend_on_the_order_of_rows(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert states_of(shuffled).equals(states_of(rows))
    assert pool_of(shuffled).equals(pool_of(rows))


@given(changes)
def test_the_pool_tells_at_every_instant_who_is_eligible_where_and_what_echo_looks_for(rows):
    pool = pool_of(rows).to_dicts()
    for memory_id in ids:
        for at in {row["changed_at"] for row in rows} | {START}:
            state = model.state_at(rows, memory_id, at)
            found = covering([row for row in pool if row["memory_id"] == memory_id], at)
            if state is None or state["status"] != "active":
                assert found == []
                continue
            (row,) = found
            assert row["pattern"] == model.pattern(state["content"])
            assert row["content"] == (state["content"] or "")
            for project, agent, user in product(("", "atlas", "../../etc"), ("", "coder"), (None, "ada", "bob")):
                asked = {"project": project, "agent": agent, "user_id": user}
                assert is_reached(asked, row) == model.is_eligible(state, asked)


@given(changes)
def test_pool_rows_split_only_where_eligibility_or_content_changes(rows):
    pool = pool_of(rows).sort("memory_id", "valid_from")
    told = ("memory_id", "is_global", "project", "only_agent", "only_user", "content")
    for one, other in zip(pool.iter_rows(named=True), pool[1:].iter_rows(named=True), strict=False):
        touching = one["valid_until"] == other["valid_from"]
        assert not (touching and all(one[name] == other[name] for name in told))


def test_a_change_of_confidence_leaves_the_pool_alone():
    first = {"memory_id": "m1", "changed_at": START, "status": "active", "content": "the port is 8443"}
    later = {
        "memory_id": "m1",
        "changed_at": START.replace(hour=23),
        "confidence": 0.9,
        "pinned": True,
        "agent": "coder",
    }
    assert pool_of([first, later]).equals(pool_of([first]))


def test_no_changes_no_states():
    assert states_of([]).height == pool_of([]).height == 0
    assert states_of([]).schema["valid_until"] == pl.Datetime("us")
