"""The review queue: what waits, what is settled, on which evidence, in which order."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.transforms.core.frames import empty, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.review.items import item_id, statement_ids
from slowwave.transforms.decisions.review.queue import ReviewEvidence, review_queue
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.observations.tables import Contradictions, CurationDecisions, MergeProposals
from slowwave.transforms.params import Params

AS_OF = datetime(2026, 6, 1)
START = datetime(2026, 5, 1)
Row = dict[str, Any]


def health(*rows: Row) -> pl.DataFrame:
    known = {
        "project": "shop", "memory_type": "knowledge", "status": "active", "created_at": START, "reasons": ["So."],
        "verdict": "keep", "contradicted_count": 0, "reference_count": 0, "pinned": False,
        "followed_count": 0, "not_followed_count": 0,
    }  # fmt: skip
    schema = {n: t for n, t in polars_schema(MemoryHealth).items() if n not in {"run_id", "as_of"}}
    return pl.DataFrame([{**known, "content": f"Text of {row['memory_id']}", **row} for row in rows], schema=schema)


def statements(*rows: Row) -> pl.DataFrame:
    known = {
        "rule": "fact_heading", "memory_type": "knowledge", "project": "shop", "agent": "", "found_in": "response",
        "in_prompt": False, "text": "The limit is 50",
    }  # fmt: skip
    told = [{**known, "occurred_at": START + timedelta(hours=at), **row} for at, row in enumerate(rows)]
    ids = statement_ids(pl.Series("text", [row["text"] for row in told], dtype=pl.String))
    frame = pl.DataFrame(
        told, schema={n: t for n, t in polars_schema(ExtractedStatements).items() if n != "statement_id"}
    )
    return frame.with_columns(ids.alias("statement_id")).select(*polars_schema(ExtractedStatements))


def evidence(
    said: pl.DataFrame | None = None,
    known: pl.DataFrame | None = None,
    *,
    ended: dict[str, bool] | None = None,
    **rest: Any,
) -> ReviewEvidence:
    said = statements() if said is None else said
    known = health() if known is None else known
    seen = pl.concat([said.select("interaction_id", "occurred_at", "session_id"), *rest.pop("others", [])])
    nothing = {
        "memory_id": pl.String,
        "interaction_id": pl.String,
        "occurred_at": pl.Datetime("us"),
        "session_id": pl.String,
    }
    found = ReviewEvidence(
        statements=framed(ExtractedStatements, said).lazy(),
        interactions=seen.unique("interaction_id").lazy(),
        references=pl.LazyFrame(schema=nothing),
        sources=pl.DataFrame(schema={"memory_id": pl.String, "source_ids": pl.List(pl.String)}),
        ended=pl.DataFrame(
            {"interaction_id": list(ended or {}), "success": list((ended or {}).values())},
            schema={"interaction_id": pl.String, "success": pl.Boolean},
        ),
        health=framed(MemoryHealth, known, partial=True),
        contradictions=pl.DataFrame(schema=polars_schema(Contradictions)),
        merge_proposals=pl.DataFrame(schema=polars_schema(MergeProposals)),
        disputes_method="observe/6",
        curation=empty(CurationDecisions),
        decided=pl.DataFrame(schema={"item_id": pl.String, "fingerprint": pl.String}),
    )
    return replace(found, **rest)


def queue(found: ReviewEvidence, params: Params | None = None) -> list[Row]:
    return review_queue(found, AS_OF, params or Params())[0].sort("rank").to_dicts()


def test_what_a_person_rejected_is_not_proposed_again_by_another_memory() -> None:
    known = health(
        {"memory_id": "again", "status": "candidate", "content": "The LIMIT is 50."},
        {"memory_id": "elsewhere", "status": "candidate", "content": "The limit is 50", "project": "depot"},
    )
    wrong = statement_ids(pl.Series("text", ["The limit is 50"]))
    rejected = pl.DataFrame({"project": ["shop"], "statement_id": wrong})
    said = statements({"interaction_id": "i1"})
    found = evidence(said, known, rejected=rejected)
    assert [row["memory_ids"] for row in queue(found)] == [["elsewhere"]]


def test_a_statement_is_a_candidate_with_its_counts() -> None:
    said = statements(
        {"interaction_id": "i1", "session_id": "s1"},
        {"interaction_id": "i2", "session_id": "s1", "text": "the LIMIT  is 50."},
        {"interaction_id": "i3", "rule": "decision_heading"},
        {"interaction_id": "i4", "in_prompt": True},
    )
    (row,) = queue(evidence(said, ended={"i1": True, "i3": False, "elsewhere": True}))
    assert {name: row[name] for name in row if name.endswith("_count")} == {
        "interactions_count": 4, "sessions_count": 3, "in_prompt_count": 1, "succeeded_count": 1, "failed_count": 1,
    }  # fmt: skip
    assert (row["kind"], row["text"], row["rank_score"], row["rank"]) == ("candidate", "The limit is 50", 2, 1)
    assert row["rules"] == ["decision_heading", "fact_heading"]
    assert row["example_ids"] == ["i4", "i3", "i2", "i1"]
    assert (row["first_seen_at"], row["last_seen_at"]) == (START, START + timedelta(hours=3))
    assert row["reason"] == (
        "Stated in 4 interactions of 3 sessions; in 1 of them the prompt said it already; latest attempts: 1 succeeded,"
        " 1 failed."
    )


@pytest.mark.parametrize("status", ["active", "invalid", "superseded", "archived", "graduated"])
def test_what_a_memory_says_is_settled_whatever_became_of_it(status: str) -> None:
    said = statements({"interaction_id": "i1"})
    same = {"memory_id": "m", "content": "  the limit is\n50. ", "status": status}
    assert queue(evidence(said, health(same))) == []
    assert len(queue(evidence(said, health({**same, "content": "The limit is 51"})))) == 1
    assert len(queue(evidence(said, health({**same, "project": "other"})))) == 1


def test_a_global_memory_in_use_settles_it_in_every_project() -> None:
    said = statements({"interaction_id": "i1"})
    everywhere = {"memory_id": "m", "content": "The limit is 50", "project": "", "memory_type": "preference"}
    assert queue(evidence(said, health(everywhere))) == []
    assert len(queue(evidence(said, health({**everywhere, "status": "invalid"})))) == 1


def test_a_candidate_that_became_a_memory_is_settled_whatever_it_says_by_now() -> None:
    said = statements({"interaction_id": "i1"})
    (row,) = queue(evidence(said))
    assert row["item_id"] == item_id("candidate", "shop", said["statement_id"][0])
    assert queue(evidence(said, health({"memory_id": row["item_id"], "content": "Edited since"}))) == []


def test_what_answers_only_repeat_from_their_prompts_is_no_candidate() -> None:
    repeated = statements({"interaction_id": "i1", "in_prompt": True})
    assert queue(evidence(repeated)) == []


def test_a_minimum_of_sessions_can_be_asked_for() -> None:
    said = statements({"interaction_id": "i1", "session_id": "s"}, {"interaction_id": "i2", "session_id": "s"})
    params = Params.model_validate({"review_queue": {"min_sessions": 2}})
    assert queue(evidence(said), params) == []
    assert len(queue(evidence(statements({"interaction_id": "i1"}, {"interaction_id": "i2"})), params)) == 1


def test_a_landed_candidate_stands_on_its_sources_and_on_who_says_the_same() -> None:
    said = statements({"interaction_id": "i1"}, {"interaction_id": "i2"})
    sources = pl.DataFrame({"memory_id": ["c"], "source_ids": [["i2", "i9", "no interaction"]]})
    others = [pl.DataFrame({"interaction_id": ["i9"], "occurred_at": [START], "session_id": [None]}, schema=SEEN)]
    waiting = health({"memory_id": "c", "content": "The limit is 50", "status": "candidate"})
    found = evidence(said, waiting, sources=sources, others=others)
    (row,) = queue(found)
    assert (row["memory_ids"], row["interactions_count"], row["rank_score"]) == (["c"], 3, 3)
    shown = review_queue(found, AS_OF, Params())[1]
    assert shown.select("interaction_id", "is_source", "rules").rows() == [
        ("i1", False, ["fact_heading"]), ("i2", True, ["fact_heading"]), ("i9", True, []),
    ]  # fmt: skip


SEEN = {"interaction_id": pl.String, "occurred_at": pl.Datetime("us"), "session_id": pl.String}


def test_a_landed_candidate_without_evidence_waits_all_the_same() -> None:
    (row,) = queue(evidence(known=health({"memory_id": "c", "status": "candidate"})))
    assert (row["interactions_count"], row["rank_score"], row["first_seen_at"]) == (0, 0, START)


def references(*pairs: tuple[str, str]) -> pl.LazyFrame:
    rows = [{"memory_id": m, "interaction_id": i, "occurred_at": START, "session_id": None} for m, i in pairs]
    return pl.LazyFrame(rows, schema={"memory_id": pl.String, **SEEN})


TROUBLED = {
    "harmful": {"verdict": "harmful", "contradicted_count": 7},
    "doubtful": {"verdict": "review", "contradicted_count": 7, "reference_count": 9},
    "fading": {"verdict": "review", "trend": "weakening", "reference_count": 9},
    "ignored": {
        "verdict": "keep",
        "followed_count": 1,
        "not_followed_count": 9,
        "followed_low": 0.033,
        "followed_high": 0.364,
    },
    "unused": {"verdict": "review"},
}


@pytest.mark.parametrize("kind", TROUBLED)
def test_a_troubled_memory_waits_until_decided_and_again_when_its_evidence_changes(kind: str) -> None:
    memory = {"memory_id": "m", **TROUBLED[kind]}
    found = evidence(known=health(memory), references=references(("m", "i1"), ("m", "i2"), ("other", "i3")))
    (row,) = queue(found)
    assert (row["kind"], row["memory_ids"], row["interactions_count"]) == (kind, ["m"], 2)
    ignored = "Not followed in 9 of 10 checked answers (90 % interval of the share followed: 0.03 to 0.36)"
    assert row["reason"] == (ignored if kind == "ignored" else "So.")
    decided = pl.DataFrame([row]).select("item_id", "fingerprint")
    assert queue(replace(found, decided=decided)) == []
    changes: list[Row] = [{"content": "Another text"}]
    more = {"harmful": {"contradicted_count": 8}, "ignored": {"not_followed_count": 10}}
    changes.append((more | {"doubtful": more["harmful"]}).get(kind, {"last_referenced_at": START}))
    for change in changes:
        again = replace(found, decided=decided, health=health({**memory, **change}))
        assert [item["item_id"] for item in queue(again)] == [row["item_id"]]


@pytest.mark.parametrize("status", ["candidate", "invalid", "superseded", "archived"])
def test_only_what_is_in_use_can_be_harmful(status: str) -> None:
    kinds = {
        row["kind"]
        for row in queue(evidence(known=health({"memory_id": "m", "status": status, **TROUBLED["harmful"]})))
    }
    assert kinds <= {"candidate"}


@pytest.mark.parametrize(
    ("fields", "is_shown"),
    [
        ({"need_30d": 0.1, "fades_at": AS_OF + timedelta(days=30)}, True),
        ({"need_30d": 0.09, "fades_at": AS_OF + timedelta(days=30)}, False),
        ({"need_30d": 0.5, "fades_at": AS_OF + timedelta(days=31)}, False),
        ({"need_30d": 0.5, "fades_at": AS_OF - timedelta(days=3)}, True),
        ({"need_30d": None, "fades_at": AS_OF}, False),
        ({"need_30d": 0.5, "fades_at": AS_OF, "pinned": True}, False),
    ],
)
def test_what_fades_though_it_is_needed_is_shown(fields: Row, is_shown: bool) -> None:
    rows = queue(evidence(known=health({"memory_id": "m", **fields})))
    assert [row["kind"] for row in rows] == (["fading"] if is_shown else [])


@each(
    ("fields", "kind"),
    [
        ({"reference_count": 0, "fades_at": AS_OF + timedelta(days=3650)}, "unused"),
        ({"reference_count": 0, "fades_at": AS_OF - timedelta(days=1)}, "unused"),
        ({"reference_count": 0, "fades_at": AS_OF - timedelta(days=1), "need_30d": 0.5}, "fading"),
        ({"reference_count": 3, "trend": "stale"}, "fading"),
        ({"reference_count": 3, "trend": "weakening"}, "fading"),
        ({"reference_count": 3, "trend": "stable", "fades_at": AS_OF}, "fading"),
        ({"reference_count": 3, "trend": "stable", "fades_at": AS_OF + timedelta(days=400)}, "doubtful"),
        ({"reference_count": 3}, "doubtful"),
    ],
)
def test_only_what_fades_is_called_fading(fields: Row, kind: str) -> None:
    rows = queue(evidence(known=health({"memory_id": "m", "verdict": "review", **fields})))
    assert [row["kind"] for row in rows] == [kind]


def curation(*rows: Row) -> pl.DataFrame:
    known = {
        "project": "shop", "scope": "knowledge", "content": "B", "action": "update", "kind": "fact",
        "memory_id": "b", "target_memory_id": "a", "target_content": "A", "reason": "newer", "conflicting_words": [],
        "considered_ids": ["a"], "method": "curate/4", "is_pending": False, "changed_at": START,
    }  # fmt: skip
    schema = {n: t for n, t in polars_schema(CurationDecisions).items() if n not in {"run_id", "as_of"}}
    return pl.DataFrame([{**known, **row} for row in rows], schema=schema)


IN_USE = ({"memory_id": "a", "content": "A"}, {"memory_id": "b", "content": "B", "memory_type": "project"})


@pytest.mark.parametrize(("action", "does"), [("update", "replaces the earlier"), ("delete", "takes the earlier back")])
def test_what_curation_replaces_and_is_in_use_is_outdated(action: str, does: str) -> None:
    known = references(("a", "i1"), ("b", "i1"), ("b", "i2"))
    found = evidence(known=health(*IN_USE), curation=curation({"action": action}), references=known)
    (row,) = queue(found)
    assert (row["kind"], row["text"], row["memory_ids"], row["target_memory_id"]) == (
        "outdated", "[A] | [B]", ["a", "b"], "b",
    )  # fmt: skip
    assert row["reason"] == f"The later one {does}, and both are in use (newer)"
    assert (row["memory_type"], row["method"], row["interactions_count"]) == ("project", "curate/4", 2)
    assert queue(replace(found, decided=pl.DataFrame([row]).select("item_id", "fingerprint"))) == []


@pytest.mark.parametrize("action", ["add", "skip", "merge"])
def test_what_curation_does_not_replace_is_not_outdated(action: str) -> None:
    assert queue(evidence(known=health(*IN_USE), curation=curation({"action": action}))) == []


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("change", [{"status": "archived"}, {"content": "Another"}])
def test_what_is_outdated_is_settled_when_either_goes_or_says_something_else(at: int, change: Row) -> None:
    known = list(IN_USE)
    known[at] = {**known[at], **change}
    assert queue(evidence(known=health(*known), curation=curation({}))) == []


def test_a_pair_waits_once_and_its_last_decision_counts() -> None:
    later = START + timedelta(days=1)
    found = evidence(known=health(*IN_USE), curation=curation({}, {"changed_at": later, "action": "delete"}))
    assert [row["created"] for row in ({"created": row["first_seen_at"]} for row in queue(found))] == [later]
    assert queue(replace(found, curation=curation({}, {"changed_at": later, "action": "add"}))) == []
    own = {"memory_id": "a", "target_memory_id": "a"}
    assert queue(replace(found, curation=curation(own))) == []
    both = curation({}, {"memory_id": "a", "content": "A", "target_memory_id": "b", "target_content": "B"})
    assert len(queue(replace(found, curation=both))) == 1
    contradiction = disputes()["contradictions"]
    kinds = [row["kind"] for row in queue(replace(found, contradictions=contradiction))]
    assert kinds == ["contradiction"]


def disputes() -> dict[str, Any]:
    known = {"project": "shop", "scope": "knowledge", "memory_ids": ["a", "b"], "texts": ["A", "B"], "said_at": START}
    contradiction = {**known, "contradiction_id": "c1", "similarity": 0.5, "conflicting_words": [], "reason": "50, 60"}
    proposal = {
        **known, "proposal_id": "p1", "target_memory_id": "a", "proof_count": 2, "similarity": 0.9, "is_certain": True,
        "reason": "the same words",
    }  # fmt: skip
    return {
        "contradictions": pl.DataFrame([contradiction], schema=polars_schema(Contradictions)),
        "merge_proposals": pl.DataFrame([proposal], schema=polars_schema(MergeProposals)),
    }


def test_disputes_name_both_memories_and_what_was_decided_stays_out() -> None:
    found = replace(evidence(known=health({"memory_id": "a"}, {"memory_id": "b"})), **disputes())
    found = replace(found, references=references(("a", "i1"), ("b", "i1"), ("b", "i2")))
    rows = queue(found)
    assert [(row["kind"], row["text"], row["memory_ids"], row["interactions_count"]) for row in rows] == [
        ("contradiction", "Text of [a] | Text of [b]", ["a", "b"], 2),
        ("merge", "Text of [a] | Text of [b]", ["a", "b"], 2),
    ]  # fmt: skip
    assert [row["target_memory_id"] for row in rows] == [None, "a"]
    decided = pl.DataFrame(rows[:1]).select("item_id", "fingerprint")
    assert [row["kind"] for row in queue(replace(found, decided=decided))] == ["merge"]


def test_first_comes_what_most_sessions_speak_for() -> None:
    said = statements(
        {"interaction_id": "i1", "text": "said in one session", "session_id": "s"},
        {"interaction_id": "i2", "text": "said in one session", "session_id": "s"},
        {"interaction_id": "i1", "text": "said in two sessions"},
        {"interaction_id": "i3", "text": "said in two sessions"},
    )
    rows = queue(
        evidence(said, health({"memory_id": "m", **TROUBLED["doubtful"]}, {"memory_id": "n", **TROUBLED["fading"]}))
    )
    assert [row["text"] for row in rows][:2] == ["said in two sessions", "said in one session"]
    assert [row["kind"] for row in rows][2:] == ["doubtful", "fading"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]


def test_before_these_comes_harm_and_then_instructions_that_are_ignored() -> None:
    known = health(
        {"memory_id": "doubted rule", "memory_type": "rule", **TROUBLED["doubtful"]},
        {"memory_id": "unread rule", "memory_type": "rule", **TROUBLED["unused"]},
        {"memory_id": "ignored", **TROUBLED["ignored"]},
        {"memory_id": "harms", **TROUBLED["harmful"]},
    )
    found = evidence(statements({"interaction_id": "i1"}), known, references=references(("doubted rule", "i1")))
    assert [row["kind"] for row in queue(found)] == ["harmful", "ignored", "candidate", "doubtful", "unused"]


def test_an_instruction_that_answers_follow_is_not_unused_whatever_their_words() -> None:
    followed = {"followed_count": 5, "not_followed_count": 5, "followed_low": 0.27, "followed_high": 0.73}
    found = health({"memory_id": "m", **TROUBLED["unused"]}, {"memory_id": "n", **TROUBLED["unused"], **followed})
    assert [row["memory_ids"] for row in queue(evidence(known=found))] == [["m"]]


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "interaction_id": st.sampled_from(["i1", "i2", "i3", "i4"]),
            "text": st.sampled_from(["The limit is 50", "the limit is 50.", "Another thing"]),
            "rule": st.sampled_from(["fact_heading", "decision_heading"]),
            "project": st.sampled_from(["shop", ""]),
        }
    ),
    max_size=8,
    unique_by=lambda row: (row["interaction_id"], row["rule"]),
)


@settings(max_examples=examples(6, 40), deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_evidence_does_not_matter(rows: list[Row], random: Any) -> None:
    known = health({"memory_id": "m", **TROUBLED["harmful"]}, {"memory_id": "c", "status": "candidate"})
    said = statements(*rows)
    said = said.with_columns(occurred_at=pl.lit(START))
    order = random.sample(range(said.height), said.height)
    first = review_queue(evidence(said, known), AS_OF, Params())
    second = review_queue(evidence(said[order], known[[1, 0]]), AS_OF, Params())
    assert all(one.equals(other) for one, other in zip(first, second, strict=True))
    assert sorted(first[0]["rank"]) == list(range(1, first[0].height + 1))
    behind = first[1].group_by("item_id").len("found")
    counts = first[0].join(behind, on="item_id", how="left").with_columns(pl.col("found").fill_null(0))
    assert counts.filter(kind="candidate").filter(pl.col("interactions_count") != pl.col("found")).is_empty()


def of_users(found: ReviewEvidence, **users: str) -> ReviewEvidence:
    """With the users whom the interactions name."""
    rows = {"interaction_id": list(users), "user_id": list(users.values())}
    return replace(found, users=pl.LazyFrame(rows, schema={"interaction_id": pl.String, "user_id": pl.String}))


@pytest.mark.parametrize(
    ("users", "whose"),
    [
        ({}, None),
        ({"i1": "ada", "i2": "ada", "i3": "ada"}, "ada"),
        ({"i1": "ada"}, "ada"),
        ({"i3": "ada", "elsewhere": "bob"}, "ada"),
        ({"i1": "ada", "i2": "bob"}, None),
        ({"i1": "ada", "i2": "ada", "i3": "bob"}, None),
    ],
)
def test_a_statement_is_the_users_whom_alone_its_interactions_name(users: dict[str, str], whose: str | None) -> None:
    said = statements(*({"interaction_id": f"i{n}"} for n in (1, 2, 3)))
    (row,) = queue(of_users(evidence(said), **users))
    assert (row["user_id"], row["interactions_count"]) == (whose, 3)


@pytest.mark.parametrize(
    ("owner", "left", "whose"),
    [(None, None, None), ("ada", ["i2"], "bob"), ("bob", ["i1"], "ada"), ("carol", ["i3", "i2", "i1"], None)],
)
def test_a_users_memory_settles_what_was_said_to_that_user_and_to_nobody_knows_whom(
    owner: str | None, left: list[str] | None, whose: str | None
) -> None:
    said = statements(*({"interaction_id": f"i{n}"} for n in (1, 2, 3)))
    known = health({"memory_id": "m", "content": "The limit is 50.", "user_id": owner})
    found = queue(of_users(evidence(said, known), i1="ada", i2="bob", **({"i3": "bert"} if owner == "carol" else {})))
    assert [(row["user_id"], row["example_ids"]) for row in found] == ([] if left is None else [(whose, left)])


def test_a_users_candidate_once_decided_leaves_the_others_to_be_asked() -> None:
    said = statements({"interaction_id": "i1"}, {"interaction_id": "i2"})
    (hers,) = queue(of_users(evidence(said.head(1)), i1="ada"))
    assert hers["item_id"] != queue(evidence(said.head(1)))[0]["item_id"]
    promoted = {"memory_id": hers["item_id"], "user_id": "ada", "content": "It is 50, mostly"}
    assert queue(of_users(evidence(said.head(1), health(promoted)), i1="ada")) == []
    (his,) = queue(of_users(evidence(said, health({**promoted, "content": "The limit is 50"})), i1="ada", i2="bob"))
    assert (his["user_id"], his["example_ids"]) == ("bob", ["i2"])


@pytest.mark.parametrize(("owner", "items"), [(None, 0), ("ada", 0), ("bob", 1)])
def test_what_an_earlier_release_promoted_for_all_is_not_asked_again_of_its_user(owner: str | None, items: int) -> None:
    said = statements({"interaction_id": "i1"})
    made = {"memory_id": item_id("candidate", "shop", said["statement_id"][0]), "content": "It was edited since"}
    known = health({**made, "user_id": owner})
    assert len(queue(of_users(evidence(said, known), i1="ada"))) == items


def test_behind_a_landed_candidate_of_a_user_stand_no_interactions_of_others() -> None:
    said = statements({"interaction_id": "i1"}, {"interaction_id": "i2"}, {"interaction_id": "i3"})
    known = health({"memory_id": "hers", "status": "candidate", "content": "The limit is 50", "user_id": "ada"})
    found = {row["user_id"]: row for row in queue(of_users(evidence(said, known), i1="ada", i2="bob"))}
    assert found["ada"]["memory_ids"] == ["hers"]
    assert found["ada"]["example_ids"] == ["i3", "i1"]
    assert found["bob"]["example_ids"] == ["i2"]


def test_memories_that_came_to_different_users_are_no_longer_weighed_against_each_other() -> None:
    row = {
        "memory_id": "now", "changed_at": START, "project": "shop", "content": "Text of now", "action": "update",
        "target_memory_id": "then", "target_content": "Text of then", "reason": "newer", "method": "curate/4",
    }  # fmt: skip
    curation = pl.DataFrame([row], schema=polars_schema(CurationDecisions))
    for owner, items in (("@ada", 1), ("@bob", 0), ("", 0), ("@ada#tenant=acme", 0)):
        known = health({"memory_id": "now", "user_id": "ada"}, {"memory_id": "then", "user_id": "ada"})
        owners = pl.DataFrame({"memory_id": ["now", "then"], "owner": ["@ada", owner]})
        found = queue(evidence(None, known, curation=curation, owners=owners))
        assert [item["user_id"] for item in found] == ["ada"] * items
