"""A language model's word on pairs of memories: it joins, parts and replaces, but numbers keep facts apart."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import random
from datetime import datetime, timedelta

import polars as pl
import pytest

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.frames import empty, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.observations.answered import observation_methods
from slowwave.transforms.observations.observations import Observed, observe_memories
from slowwave.transforms.observations.params import ObservationParams

START = datetime(2026, 3, 1)
AS_OF = datetime(2026, 4, 1)
TEXTS = {
    "a": "Prices are stored as integers of the smallest coin.",
    "b": "The prices are stored as integers, of the smallest coin!",
    "c": "Money amounts are kept as whole cents.",
    "d": "The gateway listens on port 8080.",
    "e": "The gateway listens on port 9090, as of the new release.",
}
PAIRS = {"memory_id": pl.String, "other_id": pl.String, "relation": pl.String, "method": pl.String}


def states(texts: dict[str, str] = TEXTS, *, days_apart: int = 1) -> pl.DataFrame:
    rows = [
        {"memory_id": name, "changed_at": START + timedelta(days=day * days_apart), "status": "active", "content": text}
        for day, (name, text) in enumerate(texts.items())
    ]
    return memory_states(pl.LazyFrame(rows, schema=polars_schema(Memories))).collect()


HEALTH = framed(
    MemoryHealth, pl.DataFrame({"memory_id": list(TEXTS)}).join(empty(MemoryHealth), on="memory_id", how="left")
)


def answered(*pairs: tuple[str, str, str | None]) -> pl.DataFrame:
    return pl.DataFrame([(*pair, "observe/llm-1:m") for pair in pairs], schema=PAIRS, orient="row")


def seen(*pairs: tuple[str, str, str | None]) -> Observed:
    return observe_memories(states(), HEALTH, word_vectors, AS_OF, ObservationParams(), answered(*pairs))


def facts(told: Observed) -> set[str]:
    return {"".join(ids) for ids in told.observations["memory_ids"]}


RULES = seen()


def test_without_answers_the_rules_stand():
    alone = observe_memories(states(), HEALTH, word_vectors, AS_OF, ObservationParams())
    assert all(one.equals(other) for one, other in zip(alone, RULES, strict=True))
    assert {"ab", "c"} <= facts(RULES)


def test_what_is_said_to_be_one_fact_is_one():
    told = seen(("c", "a", "same_fact"))
    assert {"abc"} <= facts(told)
    assert told.observations.filter(pl.col("memory_ids").list.contains("c"))["proof_count"].to_list() == [3]


def test_what_was_shown_and_not_named_stands_alone():
    assert {"a", "b"} <= facts(seen(("b", "a", None)))


def test_what_replaces_another_keeps_the_journey():
    told = seen(("c", "a", "supersedes"))
    (row,) = told.observations.filter(pl.col("memory_ids").list.contains("c")).to_dicts()
    assert (row["memory_ids"], row["supersedes"], row["proof_count"]) == (["c"], ["a", "b"], 1)
    assert [word in row["journey"] for word in ("integers", "whole cents")] == [True, True]


def test_numbers_keep_facts_apart_whatever_is_answered():
    told = seen(("e", "d", "same_fact"))
    assert not [ids for ids in told.observations["memory_ids"] if {"d", "e"} <= set(ids)]


def test_what_is_at_odds_stays_with_people():
    at_once = states({"d": TEXTS["d"], "e": "The gateway listens on port 9090."}, days_apart=0)

    def told(*pairs: tuple[str, str, str | None]) -> Observed:
        return observe_memories(at_once, HEALTH, word_vectors, AS_OF, ObservationParams(), answered(*pairs))

    assert told().contradictions.height == 1
    assert told(("e", "d", None)).contradictions.equals(told().contradictions)


@pytest.mark.parametrize("relation", ["same_fact", "supersedes", None])
def test_an_answer_about_what_is_not_there_does_nothing(relation):
    told = seen(("gone", "a", relation), ("a", "gone", relation), ("a", "a", relation))
    assert all(one.equals(other) for one, other in zip(told, RULES, strict=True))


def test_every_source_is_counted_once_however_much_is_answered():
    told = seen(*[(a, b, "same_fact") for b in TEXTS for a in TEXTS if a > b])
    stated, replaced = (told.observations[name].explode(empty_as_null=False) for name in ("memory_ids", "supersedes"))
    assert replaced.to_list() == ["d"]  # by another port
    assert told.observations["proof_count"].sum() == len(stated)
    assert sorted([*stated, *replaced]) == sorted(TEXTS)


def test_the_order_of_answers_changes_nothing():
    pairs: list[tuple[str, str, str | None]] = [("c", "a", "same_fact"), ("c", "b", "supersedes"), ("a", "c", None)]
    first = seen(*pairs)
    for seed in range(5):
        shuffled = random.Random(seed).sample(pairs, len(pairs))
        assert all(one.equals(other) for one, other in zip(first, seen(*shuffled), strict=True))


def test_the_method_is_named_where_it_was_asked():
    pairs = answered(("c", "a", "same_fact"))
    named = observation_methods(seen(("c", "a", "same_fact")).observations, pairs)
    methods = dict(zip(named["memory_ids"].list.join(""), named["method"], strict=True))
    assert methods["abc"] == "observe/llm-1:m"
    assert {method for ids, method in methods.items() if ids != "abc"} == {ObservationParams().method}
    assert observation_methods(RULES.observations, answered()).equals(RULES.observations)
