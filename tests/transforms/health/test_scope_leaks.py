"""Scope leaks against a plain loop over the log."""

from datetime import timedelta

import memory_model as model
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from replayed import EVER, NONE_USED, START, changes, interactions, memories_frame, pool_of, references_of

from slowwave.transforms.core.frames import Lazy, selected
from slowwave.transforms.evidence.scopes import ScopeParams
from slowwave.transforms.evidence.states import memory_states, states_over_time
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.health.scope_leaks import scope_leaks

TENANT = ScopeParams(tags=("tenant",))
TAGS = [None, [], ["fast"], ["tenant:a"], ["tenant=a", "fast"], ["tenant: b"], ["tenant:a", "tenant=b"]]
VALUES = [None, None, None, "a", "a", "b", "a|b"]


def replayed(rows) -> Lazy[ReplayedInteractions]:
    columns = ["interaction_id", "occurred_at", "project", "agent", "session_id", "user_id"]
    schema = dict.fromkeys(columns, pl.String) | {"occurred_at": pl.Datetime("us")}
    return selected(
        ReplayedInteractions, pl.LazyFrame([{name: row.get(name) for name in columns} for row in rows], schema)
    )


def found_in(interaction_rows, change_rows, params):
    states = states_over_time(memory_states(memories_frame(change_rows)), EVER)
    references = references_of(interaction_rows, pool_of(change_rows), lambda *_: NONE_USED)
    return scope_leaks(references.lazy(), states, replayed(interaction_rows), params)


def expected_in(interaction_rows, change_rows, params):
    leaks = {}
    for row in interaction_rows:
        given_to_it = {}
        for memory_id in set(row["memories_used"] or ()):
            state = model.state_then(change_rows, memory_id, row["occurred_at"])
            if state:
                value = dict(zip(map(str, TAGS), VALUES, strict=True))[str(state["tags"])] if params.tags else None
                given_to_it[memory_id] = (state, value)
        for memory_id, (state, value) in given_to_it.items():
            others = sorted({other for _, other in given_to_it.values()} - {value, None})
            of_agent = state["agent"] if state["scope"] == "agent" else None
            pairs = {
                "user": (state["user_id"], row["user_id"]),
                "agent": (of_agent, row["agent"]),
                "tenant": (value, "|".join(others)),
            }
            crossed = {name: pair for name, pair in pairs.items() if all(pair) and pair[0] != pair[1]}
            if crossed:
                leaks[memory_id, row["interaction_id"]] = (
                    list(crossed),
                    ", ".join(f"{name}={mine}" for name, (mine, _) in crossed.items()),
                    ", ".join(f"{name}={other}" for name, (_, other) in crossed.items()),
                )
    return leaks


@given(
    interactions,
    changes,
    st.lists(st.sampled_from(TAGS), min_size=8, max_size=8),
    st.sampled_from([TENANT, ScopeParams()]),
)
def test_a_leak_is_a_memory_of_another_user_agent_or_tag_then(interaction_rows, change_rows, tags, params):
    change_rows = [
        {name: value for name, value in row.items() if name != "clears"} | {"tags": tags[at % len(tags)]}
        for at, row in enumerate(change_rows)
    ]
    found = found_in(interaction_rows, change_rows, params)
    told = found.select("memory_id", "interaction_id", "crossed", "memory_scope", "interaction_scope")
    assert {tuple(row[:2]): tuple(row[2:]) for row in told.rows()} == expected_in(interaction_rows, change_rows, params)


def test_two_tenants_memories_in_one_prompt_are_two_leaks_and_everybodys_is_none():
    said = {"changed_at": START, "status": "active", "project": "shop", "memory_type": "knowledge"}
    change_rows = [
        {**said, "memory_id": name, "content": name, "tags": tags}
        for name, tags in (("m1", ["tenant:a"]), ("m2", ["tenant=b"]), ("m3", None))
    ]
    asked = {"project": "shop", "agent": "", "prompt": "?", "occurred_at": START + timedelta(hours=1)}
    rows = [
        {**asked, "interaction_id": "both", "memories_used": ["m1", "m2", "m3"]},
        {**asked, "interaction_id": "one", "memories_used": ["m1", "m3"]},
    ]
    found = found_in(rows, change_rows, TENANT)
    assert found.select("memory_id", "interaction_id", "memory_scope", "interaction_scope").rows() == [
        ("m1", "both", "tenant=a", "tenant=b"),
        ("m2", "both", "tenant=b", "tenant=a"),
    ]
