"""States and pool against a plain fold of the change log."""

from datetime import timedelta
from itertools import product, zip_longest

import memory_model as model
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from replayed import EVER, START, changes, is_reached, memories_frame, pool_of

from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.evidence.states import memory_pool, memory_states, states_over_time
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
            owner = f"/{state['agent']}" * bool(state["agent"]) + f"@{state['user_id']}" * bool(state["user_id"])
            (change,) = (row for row in rows if (row["memory_id"], row["changed_at"]) == (memory_id, at))
            alone = {name: change.get(name) for name in ("changed_at", "recorded_at", "reason", "changed_by")}
            expected.append(
                {"memory_id": memory_id, "valid_from": at, "valid_until": until, **state, **alone, "owner": owner}
            )
    found = states_of(rows)
    assert found.to_dicts() == expected
    of_change = ["changed_at", "recorded_at", "reason", "changed_by"]
    assert found.columns == ["memory_id", "valid_from", "valid_until", *Memories.state, *of_change, "owner"]


@given(changes, st.randoms(use_true_random=False))
def test_states_and_pool_do_not_depend_on_the_order_of_rows(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert states_of(shuffled).equals(states_of(rows))
    assert pool_of(shuffled).equals(pool_of(rows))


@given(changes)
def test_the_pool_tells_at_every_instant_who_is_eligible_where_and_what_echo_looks_for(rows):
    pool = pool_of(rows).to_dicts()
    for memory_id in ids:
        for at in {row["changed_at"] for row in rows} | {row.get("expires_at") or START for row in rows}:
            state = model.state_then(rows, memory_id, at)
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


@given(changes, st.sampled_from([START + timedelta(hours=hours) for hours in range(0, 30, 3)]))
def test_states_as_of_a_time_are_those_of_the_model_before_it(rows, as_of):
    seen = [row for row in rows if row["changed_at"] < as_of]
    states = states_over_time(memory_states(memories_frame(seen)), as_of).collect().to_dicts()
    times = {row["changed_at"] for row in seen} | {row["expires_at"] for row in seen if row.get("expires_at")}
    for memory_id, at in product(ids, sorted(times)):
        state = model.state_then(seen, memory_id, at)
        if at < as_of:
            held = covering([row for row in states if row["memory_id"] == memory_id], at)
            assert [row["status"] for row in held] == ([state["status"]] if state else [])
    assert all(row["valid_from"] < as_of for row in states)


@given(changes)
def test_a_state_is_followed_by_the_next_at_the_same_instant(rows):
    states = states_over_time(memory_states(memories_frame(rows)), EVER).sort("memory_id", "valid_from").collect()
    for one, other in zip(states.iter_rows(named=True), states[1:].iter_rows(named=True), strict=False):
        is_same_memory = one["memory_id"] == other["memory_id"]
        assert one["valid_until"] == (other["valid_from"] if is_same_memory else None)


def test_a_memory_expires_at_its_instant_until_a_change_says_otherwise():
    hour = timedelta(hours=1)
    first = {"memory_id": "m1", "changed_at": START, "status": "active", "content": "the freeze lasts a week"}
    rows = [
        first | {"expires_at": START + 2 * hour},
        {"memory_id": "m1", "changed_at": START + hour, "confidence": 0.9},
    ]
    (row,) = pool_of(rows).to_dicts()
    assert (row["valid_from"], row["valid_until"]) == (START, START + 2 * hour)
    longer = {"memory_id": "m1", "changed_at": START + 3 * hour, "expires_at": START + 5 * hour}
    pool = pool_of([*rows, longer]).sort("valid_from")
    assert pool.rows_by_key("memory_id", named=True, include_key=False)["m1"][1]["valid_until"] == START + 5 * hour
    cleared = {"memory_id": "m1", "changed_at": START + 3 * hour, "clears": ["expires_at"]}
    assert pool_of([*rows, cleared])["valid_until"].to_list() == [START + 2 * hour, None]
    wrong = {"memory_id": "m1", "changed_at": START + 3 * hour, "status": "superseded"}
    states = states_over_time(memory_states(memories_frame([*rows, wrong])), EVER).collect()
    assert states["status"].to_list() == ["active", "active", "expired", "superseded"]


def test_methods_before_eligible_3_know_no_expiry():
    row = {"memory_id": "m1", "changed_at": START, "status": "active", "content": "for a day", "expires_at": START}
    states = memory_states(memories_frame([row]))
    assert memory_pool(states, EvidenceParams(eligible_method="eligible/2")).collect().height == 1
