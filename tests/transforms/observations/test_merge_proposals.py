"""Which memories are proposed for a merger, in which order, and which never are."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from observation_rows import AS_OF, PARAMS, change, health_of, states_of
from thorough import examples

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.scopes import ScopeParams, memory_owner
from slowwave.transforms.observations.curation_decisions import curation_decisions
from slowwave.transforms.observations.near import across_types
from slowwave.transforms.observations.observations import observe_memories
from slowwave.transforms.observations.pairs.texts import pair_texts
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.statements import active_memories, distinct_statements, scope


def proposed(
    *said: tuple[str, str], params: ObservationParams = PARAMS, owned: tuple[str, str] = ("agent", "")
) -> pl.DataFrame:
    """The proposals about memories that say something, of a type; `owned`: a column, and its letter for each."""
    rows = [
        change(
            f"m{at}",
            text,
            day=0,
            memory_type=kind,
            **dict.fromkeys(owned[:1] if owned[1][at:] else (), owned[1][at : at + 1]),
        )
        for at, (text, kind) in enumerate(said)
    ]
    return observe_memories(states_of(rows), health_of([]), word_vectors, AS_OF, params).merge_proposals


@each("kind", ["knowledge", "project"])
@each(
    ("one", "other"),
    [
        ("The worker listens on port 80", "The worker is listening on port 81"),
        ("Build the image before deploying the service", "Deploy the service before building the image"),
        ("The job copies staging data to production", "The job copies production data to staging"),
        ("Releases are cut on Thursday", "Releases are cut on Friday"),
        ("Alice owns the billing service", "Bob owns the billing service"),
        ("Run the linter before pushing", "Do not run the linter before pushing"),
        ("The cache is enabled for guests", "The cache is disabled for guests"),
        ("The service reads config/app.toml", "The service reads config/test.toml"),
        ("Does the worker retry failed jobs?", "The worker retries failed jobs"),
        ("The team uses Jenkins for builds", "The team no longer uses Jenkins for builds"),
    ],
)
def test_another_value_order_or_negation_is_not_proposed(one: str, other: str, kind: str) -> None:
    assert proposed((one, "knowledge"), (other, kind)).filter(~pl.col("is_certain")).is_empty()


def test_across_types_too_of_one_agent_user_and_project() -> None:
    said = (("Alice owns the billing service", "project"), ("The billing service is owned by Alice", "knowledge"))
    same = (said[0], (said[0][0], "knowledge"))
    (row,) = proposed(*same).to_dicts()
    assert (row["memory_ids"], row["is_certain"], row["method"]) == (["m0", "m1"], False, "curate/4")
    assert "their memory types differ" in row["reason"]
    for owner in ("agent", "user_id"):
        assert proposed(*same, owned=(owner, "xy")).is_empty()
        assert proposed(*same, owned=(owner, "xx")).height == 1


def test_likeliest_first_within_a_bound() -> None:
    said = [
        ("Deployment on Fridays is forbidden", "project"),
        ("Deploying on Friday is forbidden", "project"),
        ("Nobody deploys on Fridays", "project"),
        ("The dashboards are built with streamlit", "project"),
        ("Dashboards get built using streamlit", "project"),
    ]
    lower = PARAMS.model_copy(update={"merge_likelihood": 0.02})
    every = proposed(*said, params=lower).sort("similarity", descending=True)
    assert every.height > 1
    one = proposed(*said, params=lower.model_copy(update={"most_proposals": 1}))
    assert one["proposal_id"].to_list() == every["proposal_id"].to_list()[:1]
    assert proposed(*said, params=lower.model_copy(update={"most_compared": 0})).is_empty()


def test_what_is_one_observation_is_not_proposed_twice() -> None:
    rows = proposed(("The API port is 8080", "project"), ("The API ports are 8080", "project")).to_dicts()
    assert [row["is_certain"] for row in rows] == [True]


WORDS = ("billing", "service", "owner", "Frankfurt", "deploys", "nightly", "backup", "linter")


@settings(max_examples=examples(8, 60), deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), st.sampled_from("abc")), max_size=12)
)
def test_what_has_the_same_words_meets_across_types(said: list[tuple[list[str], str]]) -> None:
    """Every type that says a bag of words meets another that says it, however many say it."""
    rows = [change(f"m{at:02}", " ".join(words), day=at, memory_type=kind) for at, (words, kind) in enumerate(said)]
    if not rows:
        return
    statements = distinct_statements(active_memories(states_of(rows)))
    found = across_types(statements, pair_texts(statements["content"], word_vectors))
    scopes = statements["scope"].to_list()
    assert all(left < right for left, right in zip(found.left, found.right, strict=True))
    assert all(scopes[left] != scopes[right] for left, right in zip(found.left, found.right, strict=True))
    assert np.bincount(found.right, minlength=1).max() <= 2
    bags: dict[tuple[str, ...], list[int]] = {}
    for at, text in enumerate(statements["content"]):
        bags.setdefault(tuple(sorted(set(text.split()))), []).append(at)
    met = {*zip(found.left.tolist(), found.right.tolist(), strict=True)}
    for members in bags.values():
        pairs = [pair for pair in combinations(members, 2) if scopes[pair[0]] != scopes[pair[1]]]
        assert not pairs or met & {*pairs} or len(members) > 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"agent": "coder@ada"}, {"agent": "coder", "user_id": "ada"}),
        ({"memory_type": "knowledge@ada"}, {"user_id": "ada"}),
        ({"memory_type": "knowledge/coder"}, {"agent": "coder"}),
        ({"memory_type": "knowledge/coder@ada"}, {"agent": "coder", "user_id": "ada", "memory_type": "project"}),
    ],
)
def test_no_name_makes_a_memory_somebody_elses(one: dict[str, str], other: dict[str, str]) -> None:
    text = "The worker listens on port 80"
    states = states_of([change("m0", text, day=0, **one), change("m1", text, day=1, **other)])
    found = observe_memories(states, health_of([]), word_vectors, AS_OF, PARAMS)
    assert found.merge_proposals.is_empty()
    assert found.observations["memory_ids"].list.len().to_list() == [1, 1]


TENANT = ScopeParams(tags=("tenant",))


def test_what_belongs_to_two_tenants_is_neither_compared_nor_merged() -> None:
    """As two banks of one store tell them apart: by a tag alone."""
    said = [
        change("acme", "The API port is 8080", tags=["tenant:acme"]),
        change("acme again", "The API port is 8080.", day=1, tags=["tenant=acme", "fast"]),
        change("globex", "The API port is 8080", day=2, tags=["tenant:globex"]),
        change("globex now", "The API port is now 9090", day=3, tags=["tenant:globex"]),
        change("nobody's", "The API port is 8080", day=4, tags=["fast"]),
    ]
    states = states_of(said, TENANT)
    found = observe_memories(states, health_of([]), word_vectors, AS_OF, PARAMS)
    assert found.merge_proposals["memory_ids"].to_list() == [["acme", "acme again"]]
    together = [{*row["memory_ids"], *row["supersedes"]} for row in found.observations.to_dicts()]
    assert sorted(map(sorted, together)) == [["acme", "acme again"], ["globex", "globex now"], ["nobody's"]]
    decided = {row["memory_id"]: row for row in curation_decisions(states, word_vectors, PARAMS).to_dicts()}
    assert decided["globex now"]["considered_ids"] == ["globex"]
    assert [decided[name]["action"] for name in ("globex", "nobody's")] == ["add", "add"]
    # without the tag they are one project's
    assert (
        max(
            map(
                len,
                observe_memories(states_of(said), health_of([]), word_vectors, AS_OF, PARAMS).observations[
                    "memory_ids"
                ],
            )
        )
        > 2
    )


def test_no_name_makes_a_memory_of_another_tenant() -> None:
    names = ["", "a", "#", "a#tenant=b", "%", ",", "|"]
    tags = [None, ["tenant:b"], ["tenant:b,tenant=c"], ["tenant:b#"], ["tenant:b", "tenant:c"], ["tenant:b|c"]]
    schema = {"agent": pl.String, "user_id": pl.String, "tags": pl.List(pl.String)}
    every = pl.DataFrame(list(product(names, [None, *names], tags)), schema=schema, orient="row")
    assert every.select(memory_owner(TENANT)).to_series().is_unique().all()


NAMES = ["", "a", "@", "/", "\\", "a@", "a/", "a\\", "a@a", "a/a", "a\\@a", "\\\\", "a\\/a"]


def test_a_scope_and_what_is_behind_its_type_tell_agents_and_users_apart() -> None:
    names = {"memory_type": pl.String, "agent": pl.String, "user_id": pl.String}
    every = pl.DataFrame(list(product(NAMES, NAMES, [None, *NAMES])), schema=names, orient="row")
    told = every.with_columns(memory_owner(ScopeParams()).alias("owner")).with_columns(scope().alias("scope"))
    assert told["scope"].is_unique().all()
    assert told["owner"].n_unique() == told.select("agent", "user_id").unique().height
