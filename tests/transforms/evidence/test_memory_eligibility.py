"""Eligible counts against a loop over memories and interactions."""

from datetime import timedelta

import memory_model as model
import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from replayed import (
    START,
    changes,
    eligibility_of,
    interactions,
    interactions_frame,
    is_reached,
    pool_of,
    used_by,
)

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.eligibility import memory_eligibility_of_parts
from slowwave.transforms.evidence.reach import within_reach
from slowwave.transforms.evidence.tables import MemoryEligibility


def asked(*hours, project="atlas"):
    return [
        {"interaction_id": f"i{n}", "occurred_at": START + timedelta(hours=h), "project": project}
        for n, h in enumerate(hours)
    ]


def change(hours, **fields):
    return {"memory_id": "m1", "changed_at": START + timedelta(hours=hours), **fields}


@given(interactions, changes)
def test_counts_are_those_of_a_loop(rows, change_rows):
    found = eligibility_of(rows, pool_of(change_rows))
    totals = {}
    for memory_id, count in found.select("memory_id", "eligible_count").rows():
        totals[memory_id] = totals.get(memory_id, 0) + count
    expected = {m: model.eligible_count(rows, change_rows, m) for m in ("m1", "m2", "m3")}
    assert totals == {memory_id: count for memory_id, count in expected.items() if count}
    assert found.schema == polars_schema(MemoryEligibility)


@given(interactions, changes)
def test_each_stretch_is_told_by_the_interactions_in_it(rows, change_rows):
    pool = pool_of(change_rows)
    expected = []
    for held in pool.iter_rows(named=True):
        times = sorted(
            row["occurred_at"]
            for row in rows
            if is_reached(row, held)
            and held["valid_from"] <= row["occurred_at"]
            and (held["valid_until"] is None or row["occurred_at"] < held["valid_until"])
        )
        if times:
            told = {name: held[name] for name in ("memory_id", "is_global", "project", "pattern", "content_hash")}
            ends = {"first_at": times[0], "last_at": times[-1], "eligible_count": len(times)}
            expected.append({**told, **ends, "only_agent": held["only_agent"], "only_user": held["only_user"]})
    expected.sort(key=lambda row: (row["memory_id"], row["first_at"]))
    found = eligibility_of(rows, pool)
    assert found.to_dicts() == expected
    assert found.select("memory_id", "first_at").is_unique().all()


@given(interactions, changes, st.integers(1, 4))
def test_a_day_that_is_taken_in_parts_has_the_same_stretches(rows, change_rows, parts):
    pool = pool_of(change_rows)
    frame = interactions_frame(rows)
    found = memory_eligibility_of_parts((frame[part::parts].lazy() for part in range(parts)), pool.lazy())
    assert found.equals(eligibility_of(rows, pool))


def test_an_interaction_sees_a_change_of_its_own_instant():
    log = [change(1, status="active", project="atlas"), change(3, status="archived")]
    found = eligibility_of(asked(0, 1, 2, 3, 4), pool_of(log)).to_dicts()
    assert [(row["first_at"], row["last_at"], row["eligible_count"]) for row in found] == [
        (START + timedelta(hours=1), START + timedelta(hours=2), 2)
    ]


@pytest.mark.parametrize(
    ("first", "last", "count"), [(0, 3, 2), (1, 3, 2), (0, 2, 1), (1, 2, 1), (1.1, 3, 1), (1, 1, 0)]
)
def test_the_first_instant_counts_and_the_last_does_not(first, last, count):
    log = [change(first, status="active", project="atlas"), change(last, status="archived")][first == last :]
    assert eligibility_of(asked(1, 2), pool_of(log))["eligible_count"].sum() == count


def test_a_change_between_two_interactions_may_move_without_a_trace():
    early = [change(0, status="active", project="atlas"), change(1.1, status="archived")]
    late = [change(0, status="active", project="atlas"), change(1.9, status="archived")]
    rows = asked(1, 2)
    assert eligibility_of(rows, pool_of(early)).equals(eligibility_of(rows, pool_of(late)))


def test_all_that_evidence_can_see_of_a_memory_shows_in_its_stretches():
    """A day's fingerprint sees the memories through these rows alone."""
    first = change(0, status="active", project="atlas", content="the port is 8443")
    seen = eligibility_of(asked(1), pool_of([first]))
    for said in (
        {"content": "the port is 9443"},
        {"content": "short"},
        {"content": "The port is 8443"},
        {"project": ""},
        {"status": "archived"},
    ):
        assert not eligibility_of(asked(1), pool_of([{**first, **said}])).equals(seen)
    for said in ({"confidence": 0.5}, {"pinned": True}, {"superseded_by": "m2"}):
        assert eligibility_of(asked(1), pool_of([{**first, **said}])).equals(seen)


def test_globals_count_everywhere_and_no_project_is_a_project_of_its_own():
    rows = asked(1, project="atlas") + asked(1, project="")
    for fields, count in (({"memory_type": "identity"}, 2), ({"memory_type": "preference"}, 2), ({}, 1)):
        found = eligibility_of(rows, pool_of([change(0, status="active", **fields)]))
        assert found["eligible_count"].to_list() == [count]
    bound = [change(0, status="active", memory_type="identity", project="atlas")]
    assert eligibility_of(rows, pool_of(bound))["eligible_count"].to_list() == [1]


@given(interactions, changes)
def test_pairs_are_within_reach_where_the_memory_is_eligible(rows, change_rows):
    pool = pool_of(change_rows)
    unbound = pool.with_columns(only_agent=pl.lit(None, pl.String), only_user=pl.lit(None, pl.String))
    found = within_reach(used_by(rows, unbound), interactions_frame(rows), pool.lazy())
    assert sorted(found.rows()) == sorted(used_by(rows, pool).rows())


def of(agent, user_id, hour=1, project="atlas"):
    return {**asked(hour, project=project)[0], "agent": agent, "user_id": user_id}


@each(
    ("said", "counted"),
    [
        ({}, ["coder ada", "coder bob", "helper ada", " None"]),
        ({"user_id": "ada"}, ["coder ada", "helper ada"]),
        ({"user_id": ""}, ["coder ada", "coder bob", "helper ada", " None"]),
        ({"scope": "agent", "agent": "coder"}, ["coder ada", "coder bob"]),
        ({"scope": "agent"}, [" None"]),
        ({"agent": "coder"}, ["coder ada", "coder bob", "helper ada", " None"]),
        ({"scope": "agent", "agent": "coder", "user_id": "ada"}, ["coder ada"]),
        ({"scope": "global", "user_id": "ada", "project": "borealis"}, ["coder ada", "helper ada"]),
        ({"scope": "project", "project": "borealis"}, []),
        ({"user_id": "eve"}, []),
    ],
)
def test_a_memory_is_eligible_for_its_agent_and_its_user(said, counted):
    rows = [of("coder", "ada"), of("coder", "bob"), of("helper", "ada"), of("", None)]
    pool = pool_of([change(0, status="active", **{"project": "atlas", **said})])
    found = [f"{row['agent']} {row['user_id']}" for row in rows if eligibility_of([row], pool).height]
    assert found == counted
    assert eligibility_of(rows, pool)["eligible_count"].sum() == len(counted)


def test_a_memory_that_changes_hands_is_each_users_for_its_time():
    log = [change(0, status="active", project="atlas", user_id="ada"), change(2, user_id="bob"), change(4, user_id="")]
    rows = [of("coder", user_id, hour) for hour in (1, 2, 3, 4, 5) for user_id in ("ada", "bob", None)]
    found = eligibility_of(rows, pool_of(log)).select("only_user", "eligible_count").rows()
    assert found == [("ada", 1), ("bob", 2), (None, 6)]
