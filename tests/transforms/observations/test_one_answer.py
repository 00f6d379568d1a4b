"""observations, the review queue and curation decisions never say different things of a pair of memories."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from observation_rows import change, decisions_in, health_of, observed_in
from thorough import examples

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.review.items import disputed_memories, outdated_memories
from slowwave.transforms.observations.tables import CurationDecisions

# What is said of one subject: another number, negation, name, opposite, way of telling; told as changed or taken back.
_SAID = {
    "Ada": ["likes tea.", "does not like tea.", "likes coffee.", "no longer likes tea.", "doesn't like tea.",
            "never drinks tea.", "dislikes tea."],
    "The API port": ["is 8080", "is 9090", "is not 8080", "is now 9090", "was 8080", "must be 8080"],
    "The response cache": ["is enabled", "is disabled", "is not enabled", "is enabled now", "must be enabled"],
    "The worker": ["runs on Jenkins", "runs on Travis", "does not run on Jenkins", "now runs on Travis",
                   "moved from Jenkins to Travis", "has to run on Jenkins", "runs on port 80"],
    "The nightly backup of billing": ["runs in Frankfurt", "runs in Paris", "is running in Frankfurt",
                                      "never runs in Frankfurt", "runs on Friday", "runs on Monday", "is planned",
                                      "is done", "will run in Paris"],
    "Forget that Ada": ["likes tea.", "does not like tea."],
}  # fmt: skip
_TEXTS = [f"{subject} {said}" for subject, several in _SAID.items() for said in several]
_PAIRS = st.one_of(
    st.sampled_from(sorted(_SAID)).flatmap(
        lambda subject: st.tuples(*[st.sampled_from([f"{subject} {said}" for said in _SAID[subject]])] * 2)
    ),
    st.tuples(st.sampled_from(_TEXTS), st.sampled_from(_TEXTS)),
)


def _is_held(rows: list[dict[str, object]]) -> bool:
    """Whether an observation stands on the first memory."""
    return any("a" in ids for ids in observed_in(rows).observations["memory_ids"].to_list())


def _answers(earlier: str, later: str, days: float) -> dict[str, Any]:
    """What each table says of two memories."""
    rows = [change("a", earlier), change("b", later, day=days)]
    found, decided = observed_in(rows), decisions_in(rows)
    told = found.observations.to_dicts()
    health = health_of(
        {"memory_id": row["memory_id"], "content": row["content"], "status": "active", "memory_type": "knowledge"}
        for row in rows
    )
    owners = pl.DataFrame({"memory_id": ["a", "b"], "owner": ["", ""]})
    schema = {name: kind for name, kind in polars_schema(CurationDecisions).items() if name in decided[0]}
    curation = pl.DataFrame(decided, schema=schema)
    asked = disputed_memories(found.contradictions, found.merge_proposals, health, "observe/6")
    return {
        "is_contradicted": {other for row in told for other in row["contradicts"]} == {"a", "b"},
        "is_replaced": _is_held(rows[:1]) and not _is_held(rows),
        "is_observed": bool(told),
        "is_one": any(set(row["memory_ids"]) == {"a", "b"} for row in told),
        "asked": {*asked["kind"], *outdated_memories(curation, found.contradictions, health, owners)["kind"]},
        "action": decided[-1]["action"],
    }


@settings(max_examples=examples(60, 1_000), deadline=None)
@given(_PAIRS, st.sampled_from([0, 0.5, 1, 30]))
@example(("Ada likes tea.", "Ada does not like tea."), 1)
@example(("Ada likes tea.", "Ada no longer likes tea."), 1)
@example(("The worker runs on Jenkins", "The worker runs on Travis"), 0.5)
def test_no_two_tables_say_different_things_of_a_pair(pair: tuple[str, str], days: float) -> None:
    said = _answers(*pair, days)
    asked, action = said["asked"], said["action"]
    assert ("contradiction" in asked) == said["is_contradicted"]
    assert ("outdated" in asked) == (action in {"update", "delete"}) == (said["is_replaced"] and days > 0)
    assert not (said["is_contradicted"] and action != "add")
    if said["is_observed"]:  # what only takes back is no observation
        assert (action in {"skip", "merge"}) == (said["is_one"] and days > 0)


@pytest.mark.parametrize("days", [0, 1])
def test_a_negation_alone_is_for_people_to_settle(days: float) -> None:
    assert _answers("Ada likes tea.", "Ada does not like tea.", days) == {
        "is_contradicted": True, "is_replaced": False, "is_observed": True, "is_one": False,
        "asked": {"contradiction"}, "action": "add",
    }  # fmt: skip
