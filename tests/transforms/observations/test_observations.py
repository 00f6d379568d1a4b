"""Observations: proof that no replay raises, states that replace one another, nothing left behind."""

from __future__ import annotations

import json
from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observation_rows import (
    AS_OF,
    DARK,
    LOGS,
    PARAMS,
    START,
    change,
    health_of,
    observations_in,
    observed_in,
    states_of,
    toy_vectors,
)
from thorough import examples

from slowwave.transforms.observations.observations import observe_memories


def test_one_fact_said_thrice_is_one_observation_with_the_sources_of_all():
    rows = [change(f"m{n}", text, day=n, source_ids=sources)
            for n, (text, sources) in enumerate(zip(DARK, (["a", "b"], ["b"], None), strict=True))]  # fmt: skip
    (found,) = observations_in(rows)
    assert found["memory_ids"] == ["m0", "m1", "m2"]
    assert found["source_ids"] == ["a", "b", "m2"]  # without a source a memory is its own
    assert found["source_times"] == [START, START, START + timedelta(days=2)]
    assert found["proof_count"] == 3
    assert found["journey"] is None
    assert found["supersedes"] == found["contradicts"] == []


def test_nothing_is_said_of_what_is_not_known():
    (found,) = observations_in([change("m", DARK[0])])
    assert (found["confidence"], found["trend"]) == (None, "unproven")


def test_saying_it_again_from_the_same_source_adds_no_proof():
    once = [change("m", DARK[0], source_ids=["a"])]
    again = [*once, change("m", day=1, source_ids=["a"]), change("m", day=2, source_ids=["a", "a"], confidence=0.9)]
    assert [row["proof_count"] for row in observations_in(once)] == [1]
    assert [row["proof_count"] for row in observations_in(again)] == [1]


def test_a_thousand_invalidated_sources_leave_nothing():
    rows = [change(f"m{n}", DARK[n % 2], day=n / 1000, source_ids=[f"s{n}"]) for n in range(1000)]
    assert [row["proof_count"] for row in observations_in(rows)] == [1000]
    gone = [change(f"m{n}", day=2, status=("invalid", "archived")[n % 2]) for n in range(1000)]
    for table in observed_in([*rows, *gone]):
        assert table.is_empty()
    (left,) = observations_in([*rows, *gone[:-1]])
    assert (left["memory_ids"], left["source_ids"], left["proof_count"]) == (["m999"], ["s999"], 1)


def test_an_unknown_id_creates_nothing():
    health = [{"memory_id": "ghost", "reference_count": 5}]
    rows = [change("m", DARK[0]), change("ghost", day=1, status="active"), change("m", day=2, superseded_by="nobody")]
    assert [row["memory_ids"] for row in observations_in(rows, health)] == [["m"]]


def test_projects_types_and_agents_keep_their_own():
    rows = [change("a", DARK[0]), change("b", DARK[0], project="other"), change("c", DARK[0], memory_type="preference"),
            change("d", DARK[0], agent="coder")]  # fmt: skip
    assert sorted((row["project"], row["scope"]) for row in observations_in(rows)) == [
        ("other", "knowledge"), ("shop", "knowledge"), ("shop", "knowledge/coder"), ("shop", "preference"),
    ]  # fmt: skip


def test_a_newer_state_keeps_the_journey_and_takes_no_proof_from_the_older():
    rows = [change("old", "The API port is 8080", source_ids=["a"]), change("same", "The api port is 8080.", day=1),
            change("new", "The API port is 9090", day=5, source_ids=["b"]),
            change("newest", "The API port is 7070", day=9, source_ids=["c"])]  # fmt: skip
    (found,) = observations_in(rows)
    assert (found["text"], found["proof_count"], found["source_ids"]) == ("The API port is 7070", 1, ["c"])
    assert found["supersedes"] == ["new", "old", "same"]
    assert [(step["text"], step["from"], step["until"]) for step in json.loads(found["journey"])] == [
        ("The API port is 8080", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z"),
        ("The API port is 9090", "2026-03-06T00:00:00Z", "2026-03-10T00:00:00Z"),
        ("The API port is 7070", "2026-03-10T00:00:00Z", None),
    ]
    without = observations_in([*rows, change("newest", day=10, status="invalid")])
    assert [(row["text"], row["supersedes"]) for row in without] == [("The API port is 9090", ["old", "same"])]


def test_the_journey_keeps_every_interval_in_which_a_state_held():
    rows = [change("old", "The API port is 8080"), change("soon", "The API port is 9090", day=1),
            change("still", "The API port is 8080", day=3), change("new", "The API port is 9090", day=5)]  # fmt: skip
    (found,) = observations_in(rows)
    assert [(step["text"], step["from"][:10], step["until"]) for step in json.loads(found["journey"])] == [
        ("The API port is 8080", "2026-03-01", "2026-03-02T00:00:00Z"),
        ("The API port is 9090", "2026-03-02", "2026-03-04T00:00:00Z"),
        ("The API port is 8080", "2026-03-04", "2026-03-06T00:00:00Z"),
        ("The API port is 9090", "2026-03-06", None),
    ]


PORTS = [change("c1", "The API port is 8080"), change("c2", "The API port is 9090", day=1)]


@pytest.mark.parametrize(
    ("rows", "supersedes"),
    [
        ([*PORTS, change("c3", "The API port is 8080", day=2)], ["c2"]),
        ([*PORTS, change("c1", day=2, source_ids=["ticket"])], ["c2"]),
        ([PORTS[0], change("c1", "The API port is 9090", day=1), change("c1", "The API port is 8080", day=2)], []),
        ([PORTS[0], change("c1", "The API port is 9090", day=1), change("c3", "The API port is 8080", day=2)], ["c1"]),
    ],
)
def test_a_state_that_was_said_again_holds_again(rows, supersedes):
    (found,) = observations_in(rows)
    assert (found["text"], found["supersedes"]) == ("The API port is 8080", supersedes)
    steps = [(step["text"][-4:], step["from"][8:10], step["until"]) for step in json.loads(found["journey"])]
    assert steps[-1] == ("8080", "03", None)
    assert [step[:2] for step in steps] in (
        [("8080", "01"), ("9090", "02"), ("8080", "03")],
        [("9090", "02"), ("8080", "03")],
    )
    assert len(steps) == 3 or rows[1]["memory_id"] == "c1" == supersedes[0]


def test_the_same_from_no_new_source_is_not_said_again():
    (found,) = observations_in(
        [*PORTS, change("c1", day=2, confidence=0.9), change("c1", "The API port is 8080", day=3)]
    )
    assert (found["text"], found["supersedes"]) == ("The API port is 9090", ["c1"])


def test_a_text_that_was_only_reworded_has_no_journey():
    rows = [change("m", DARK[0]), change("m", DARK[1], day=1), change("m", f"{DARK[1]} everywhere", day=2)]
    assert observations_in(rows)[0]["journey"] is None
    assert observations_in([change("m", "Alice likes pears"), change("m", DARK[0], day=1)])[0]["journey"] is None


PIPELINE = "The integration pipeline runs on"
FORGET = "Forget that migrations are written with Alembic."
ALEMBIC = "Migrations are written with Alembic"


def test_what_only_takes_back_ends_its_target_and_is_no_observation():
    other = change("other", "The gateway listens on port 8080")
    for rows in (
        [change("f", FORGET)],
        [change("a", ALEMBIC), change("a2", f"{ALEMBIC}.", day=1), change("f", FORGET, day=2)],
    ):
        found = observed_in([*rows, other])
        assert found.observations["memory_ids"].to_list() == [["other"]]
        assert found.observations["supersedes"].to_list() == [[]]
        assert found.contradictions.is_empty()
        assert found.merge_proposals.is_empty()


def test_a_journey_ends_where_its_last_state_is_taken_back():
    assert observations_in([*PORTS, change("f", "Forget that the API port is 9090", day=2)]) == []
    (found,) = observations_in([*PORTS, change("f", "Forget that the API port is 8080", day=2)])
    assert (found["text"], found["supersedes"]) == ("The API port is 9090", ["c1"])


def test_what_is_said_again_after_it_was_taken_back_holds_from_then():
    (found,) = observations_in([change("a", ALEMBIC), change("f", FORGET, day=1), change("b", ALEMBIC, day=2)])
    assert (found["memory_ids"], found["supersedes"], found["contradicts"]) == (["a", "b"], [], [])
    assert [(step["from"][8:10], step["until"]) for step in json.loads(found["journey"])] == [
        ("01", "2026-03-02T00:00:00Z"), ("03", None),
    ]  # fmt: skip


def test_an_invalidated_order_to_forget_gives_back_what_it_took():
    rows = [change("a", ALEMBIC), change("f", FORGET, day=1), change("f", day=2, status="invalid")]
    assert [row["memory_ids"] for row in observations_in(rows)] == [["a"]]


def test_two_places_of_one_thing_are_for_people_to_settle():
    found = observed_in([change("g", f"{PIPELINE} Jenkins"), change("j", f"{PIPELINE} Travis", day=0.001)])
    assert found.observations["contradicts"].to_list() == [["g"], ["j"]]
    (row,) = found.contradictions.to_dicts()
    assert row["reason"] == "may be at odds, unless it is both: Jenkins against Travis"
    assert row["memory_ids"] == ["g", "j"]


def test_what_may_be_one_fact_is_proposed():
    found = observed_in([change("b", "Ask Alice for new keys", day=1), change("a", "For new keys ask Alice"),
                         change("n", "Never deploy on Fridays after 15:00."),
                         change("d", "Don't deploy on Fridays after 15:00.", day=1)])  # fmt: skip
    rows = {tuple(row["memory_ids"]): row for row in found.merge_proposals.to_dicts()}
    assert ("n", "d") in rows
    assert {row["method"] for row in rows.values()} == {"observe/6", "curate/4"}


def test_the_best_member_is_used_most_says_most_and_is_oldest():
    texts = ["The database runs on Postgres", "The database is running on Postgres", "The database ran"]
    rows = [change(f"m{n}", text, day=n) for n, text in enumerate(texts[:2])]
    assert observations_in(rows)[0]["best_memory_id"] == "m0"
    for field in ("injected_count", "reference_count", "confirmed_count"):
        assert observations_in(rows, [{"memory_id": "m1", field: 1}])[0]["best_memory_id"] == "m1"
    order = [{"memory_id": "m0", "injected_count": 9}, {"memory_id": "m1", "reference_count": 1}]
    assert observations_in(rows, order)[0]["best_memory_id"] == "m1"


def test_what_only_a_language_model_calls_one_fact_says_so():
    said = pl.DataFrame(
        [{"memory_id": "m1", "other_id": "m0", "relation": "same_fact", "method": "observe/llm-1 small"}]
    )
    for answered, pair in ((None, DARK[:2]), (said, DARK[:2])):
        same = [change(f"m{n}", text, day=n) for n, text in enumerate(pair)]
        (row,) = observe_memories(
            states_of(same), health_of([]), toy_vectors, AS_OF, PARAMS, answered
        ).merge_proposals.to_dicts()
        assert row["method"] == "observe/6"
    rows = [change("m0", "Deployments wait for approval"), change("m1", "Shipping requires signatures", day=1)]
    (row,) = observe_memories(
        states_of(rows), health_of([]), toy_vectors, AS_OF, PARAMS, said
    ).merge_proposals.to_dicts()
    assert row["method"] == "observe/llm-1 small"
    assert "language model" in row["reason"]


def test_two_at_one_instant_contradict_and_both_stay():
    rows = [change("on", "The response cache is enabled"), change("off", "The response cache is disabled")]
    found = observed_in(rows)
    assert sorted((row["memory_ids"], row["contradicts"]) for row in found.observations.to_dicts()) == [
        (["off"], ["on"]), (["on"], ["off"]),
    ]  # fmt: skip
    (at_odds,) = found.contradictions.to_dicts()
    assert sorted(at_odds["memory_ids"]) == ["off", "on"]
    assert set(at_odds["conflicting_words"]) == {"enabled", "disabled"}
    assert "opposite" in at_odds["reason"]


@pytest.mark.parametrize("again", ["User lives in Munich", "The user lives in Munich"])
def test_what_was_said_again_since_is_at_odds_and_not_replaced(again):
    rows = [change("old", "User lives in Munich"), change("new", "User moved from Munich to Berlin", day=1),
            change("again", again, day=2)]  # fmt: skip
    found = observed_in(rows)
    assert [row["supersedes"] for row in found.observations.to_dicts()] == [[], []]
    (at_odds,) = found.contradictions.to_dicts()
    assert at_odds["reason"].endswith("said again since")


def test_what_was_replaced_by_the_first_that_was_said_is_at_odds_with_nothing():
    rows = [change("old", "The API port is 8080"), change("new", "The API port is 9090", day=1),
            change("back", "The API port is 8080", day=2), change("no", "The API port is not 9090", day=3)]  # fmt: skip
    found = observed_in(rows)
    assert sorted(row["supersedes"] for row in found.observations.to_dicts()) == [[], ["new"]]
    assert found.contradictions.is_empty()


def test_one_memory_and_those_it_replaced_are_nothing_to_merge():
    rows = [change("old", "The API port is 8080"), change("new", "The API port is 9090", day=1)]
    assert observed_in(rows).merge_proposals.is_empty()


def test_several_memories_of_one_fact_are_proposed_to_be_merged_into_the_best():
    health = [{"memory_id": "m1", "confirmed_count": 2}]
    found = observed_in([change(f"m{n}", text, day=n) for n, text in enumerate(DARK)], health)
    (proposal,) = found.merge_proposals.to_dicts()
    assert proposal["memory_ids"][0] == proposal["target_memory_id"] == "m1"
    assert found.observations["text"].to_list() == [DARK[1]]
    assert (proposal["is_certain"], proposal["proof_count"]) == (True, 3)
    assert proposal["reason"] == "3 memories state one fact in 2 wordings"


def test_confidence_weighs_by_evidence_and_trend_follows_the_most_used():
    health = [
        {"memory_id": "m0", "confidence": 0.9, "confirmed_count": 3, "reference_count": 3, "trend": "stable"},
        {"memory_id": "m1", "confidence": 0.5, "contradicted_count": 1, "reference_count": 9, "trend": "weakening",
         "last_referenced_at": AS_OF - timedelta(days=31)},
        {"memory_id": "m2", "reference_count": 0},
    ]  # fmt: skip
    (found,) = observations_in([change(f"m{n}", text) for n, text in enumerate(DARK)], health)
    assert found["confidence"] == pytest.approx(0.8, abs=1e-12)
    assert found["trend"] == "weakening"
    assert (found["freshness"], found["last_evidence_at"]) == ("ageing", AS_OF - timedelta(days=31))


@pytest.mark.parametrize(("days", "freshness"), [(30, "fresh"), (31, "ageing"), (90, "ageing"), (91, "stale")])
def test_freshness_counts_from_the_last_evidence(days, freshness):
    (found,) = observations_in([change("m", DARK[0])], as_of=START + timedelta(days=days))
    assert found["freshness"] == freshness


def test_no_chain_joins_two_ends():
    texts = [" ".join(f"word{chr(97 + n)}" for n in range(count)) for count in range(10, 26)]
    found = observations_in([change(f"m{n}", text, day=n) for n, text in enumerate(texts)])
    sizes = [len(row["memory_ids"]) for row in found]
    assert max(sizes) > 2, "they join a representative, and not each other"
    assert len(sizes) > 1, "ends do not"


def test_the_id_stays_when_others_say_it_too():
    first = change("m0", DARK[0])
    ids = {observations_in([first, *(change(f"m{n}", DARK[1], day=n) for n in range(1, count))])[0]["observation_id"]
           for count in (1, 2, 5)}  # fmt: skip
    assert len(ids) == 1


@settings(max_examples=examples(8, 60), deadline=None)
@given(LOGS, st.randoms())
def test_every_active_memory_is_behind_one_observation_and_order_does_not_matter(rows, chance):
    found = observed_in(rows)
    active = {}
    for row in sorted(rows, key=lambda row: row["changed_at"]):
        active[row["memory_id"]] = row["status"] == "active" and row["content"].strip() != ""
    told = [memory for row in found.observations.to_dicts() for memory in (*row["memory_ids"], *row["supersedes"])]
    texts = {row["memory_id"]: row["content"] for row in sorted(rows, key=lambda row: row["changed_at"])}
    now = {memory for memory, is_active in active.items() if is_active}
    silent = {memory for memory in now if texts[memory].startswith("Forget")}
    taken_back = {memory for memory in now if silent and texts[memory] in DARK}
    assert len(told) == len(set(told))
    assert now - silent - taken_back <= set(told) <= now - silent
    for row in found.observations.to_dicts():
        assert row["proof_count"] == len(set(row["source_ids"])) == len(row["source_times"]) >= 1
        assert row["journey"] or not row["supersedes"]
        if row["journey"]:
            steps = json.loads(row["journey"])
            assert [step["until"] for step in steps].count(None) == 1
            assert steps[-1]["until"] is None
            assert all(step["from"] < step["until"] for step in steps[:-1])
    shuffled = list(rows)
    chance.shuffle(shuffled)
    for table, again in zip(found, observed_in(shuffled), strict=True):
        assert table.equals(again)


@settings(max_examples=examples(6, 40), deadline=None)
@given(LOGS)
def test_what_is_no_longer_active_leaves_no_trace(rows):
    gone = [change(f"x{n}", text, day=n % 3) for n, text in enumerate((*DARK, "The API port is 1"))]
    ended = [change(row["memory_id"], day=7, status="invalid") for row in gone]
    for table, with_gone in zip(observed_in(rows), observed_in([*rows, *gone, *ended]), strict=True):
        assert table.equals(with_gone)
