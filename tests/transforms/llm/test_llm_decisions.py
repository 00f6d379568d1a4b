"""Answers shown in place of the rules': exactly those whose question they answer, and nothing a model was not shown."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from each import each
from llm_attacks import MEMORIES, UNSAFE_CURATE, UNSAFE_OBSERVE
from llm_server import ADD, MERGE

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.effects import (
    archivings,
    decision_rows,
    effective,
    forgetting_audit,
    last_hold_decisions,
    values_json,
)
from slowwave.transforms.decisions.review.items import statement_ids
from slowwave.transforms.llm.model_answers import answer_values
from slowwave.transforms.llm.model_decisions import answer_decision, answered_pairs, curation_answered
from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import Prompt
from slowwave.transforms.llm.questions import (
    count_usage,
    prompts,
    questions,
    shown_texts,
    unanswered_questions,
    without_rejected,
)
from slowwave.transforms.observations.tables import CurationDecisions

PARAMS = LlmParams(model="some-model")
START = datetime(2026, 3, 1)
SCHEMA = {name: dtype for name, dtype in polars_schema(CurationDecisions).items() if name not in {"run_id", "as_of"}}


def states(*said: tuple[str, int, str], **fields: Any) -> pl.DataFrame:
    """Memory states of (memory_id, day, content): a later row of a memory ends the one before."""
    rows = []
    for memory_id, day, content in said:
        later = sorted(other for name, other, _ in said if name == memory_id and other > day)
        rows.append(
            {
                "memory_id": memory_id,
                "valid_from": START + timedelta(days=day),
                "valid_until": START + timedelta(days=later[0]) if later else None,
                "memory_type": "knowledge",
                "project": "shop",
                "agent": "",
                "status": "active",
                "content": content,
                **fields,
            }
        )
    times = {"valid_from": pl.Datetime("us"), "valid_until": pl.Datetime("us")}
    return pl.DataFrame(rows, schema_overrides=times)


def change(memory_id: str, day: int, content: str, *considered: str) -> dict[str, Any]:
    return {
        "memory_id": memory_id, "changed_at": START + timedelta(days=day), "project": "shop", "scope": "knowledge",
        "content": content, "action": "skip", "kind": "fact", "target_memory_id": considered[0] if considered else None,
        "target_content": "as the rules saw it" if considered else None, "reason": "the rules", "similarity": 0.5,
        "conflicting_words": [], "considered_ids": list(considered), "method": "curate/4", "is_pending": False,
    }  # fmt: skip


def changes(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA)


SAID = states(("a", 0, "Prices are integers."), ("b", 1, "Prices are whole numbers."), ("a", 2, "Prices are cents."))
CHANGES = changes(
    change("a", 0, "Prices are integers."),
    change("b", 1, "Prices are whole numbers.", "a"),
    change("a", 2, "Prices are cents.", "b"),
)


def landed(answers: list[tuple[str, datetime, Prompt, Any]], params: LlmParams = PARAMS) -> pl.LazyFrame:
    rows = [
        answer_decision(prompt, memory_id, at, answer_values(prompt, json.dumps(said), params), 100, START, params)
        for memory_id, at, prompt, said in answers
    ]
    return decision_rows(rows).lazy()


def all_answered(
    of: pl.DataFrame, said: pl.DataFrame, task: str, answer: Any, params: LlmParams = PARAMS
) -> pl.LazyFrame:
    made = prompts(of, said, params)
    asked = questions(of, said, params).filter(pl.col("task") == task).unique("decision_id")
    columns = ("memory_id", "changed_at", "decision_id")
    return landed([(who, at, made[key], answer) for who, at, key in asked.select(columns).iter_rows()], params)


NOTHING = landed([])


def test_texts_are_shown_as_they_stood_just_before():
    shown = shown_texts(CHANGES, SAID, PARAMS)
    assert shown["shown_contents"].to_list() == [[], ["Prices are integers."], ["Prices are whole numbers."]]


def test_a_rejected_text_is_neither_asked_about_nor_shown():
    asked = questions(CHANGES, SAID, PARAMS)
    wrong = pl.DataFrame({"project": [""], "statement_id": statement_ids(pl.Series("text", ["PRICES are integers"]))})
    left = without_rejected(asked, CHANGES, SAID, wrong, PARAMS)
    assert _sent(left)
    assert not any("Prices are integers" in str(made) for made in _sent(left))
    assert any("Prices are integers" in str(made) for made in _sent(asked))
    elsewhere = wrong.with_columns(pl.lit("another project").alias("project"))
    assert without_rejected(asked, CHANGES, SAID, elsewhere, PARAMS).equals(asked)


def _sent(asked):
    made = prompts(CHANGES, SAID, PARAMS)
    return [made[decision_id] for decision_id in asked["decision_id"]]


def test_what_was_said_at_the_same_instant_or_later_is_not_shown():
    said = states(("a", 0, "before"), ("a", 3, "at once"), ("a", 4, "later"), ("b", 3, "new"))
    assert shown_texts(changes(change("b", 3, "new", "a")), said, PARAMS)["shown_contents"].to_list() == [["before"]]


def test_at_most_ten_are_shown_in_their_order():
    many = states(*[(f"m{at}", 0, f"text {at}") for at in range(12)], ("x", 1, "new"))
    ids = [f"m{at}" for at in (11, 3, 7, 0, 1, 2, 4, 5, 6, 8, 9, 10)]
    shown = shown_texts(changes(change("x", 1, "new", *ids)), many, PARAMS).row(0, named=True)
    assert shown["shown_ids"] == ids[:10]
    assert shown["shown_contents"] == [f"text {name[1:]}" for name in ids[:10]]


def test_a_question_follows_from_what_was_said_until_then():
    """A later change, a later memory or another order of rows asks nothing anew."""
    before = questions(CHANGES, SAID, PARAMS)
    later = states(
        ("a", 0, "Prices are integers."), ("b", 1, "Prices are whole numbers."), ("a", 2, "Prices are cents."),
        ("a", 9, "Prices are gone."), ("c", 9, "Prices are text."),
    )  # fmt: skip
    assert questions(CHANGES.reverse(), later.reverse(), PARAMS).equals(before)


def test_newest_first_and_alone_it_is_not_related():
    asked = questions(CHANGES, SAID, PARAMS)
    days = [(at - START).days for at in asked["changed_at"]]
    assert list(zip(asked["memory_id"], days, asked["task"], strict=True)) == [
        ("a", 2, "curate"), ("a", 2, "observe"), ("b", 1, "curate"), ("b", 1, "observe"), ("a", 0, "curate"),
    ]  # fmt: skip


def test_the_same_texts_are_asked_once_and_answer_for_both():
    said = states(("a", 0, "It is so."), ("b", 1, "It is so."))
    twins = changes(change("a", 0, "It is so."), change("b", 1, "It is so."))
    assert unanswered_questions(questions(twins, said, PARAMS), NOTHING).height == 1
    shown = curation_answered(twins, said, all_answered(twins, said, "curate", ADD), PARAMS)
    assert shown["kind"].to_list() == ["model", "model"]


def test_an_answer_replaces_the_rules_and_what_has_none_is_pending():
    made = prompts(CHANGES, SAID, PARAMS)
    asked = questions(CHANGES, SAID, PARAMS).row(2, named=True)
    answers = landed([("b", asked["changed_at"], made[asked["decision_id"]], MERGE)])
    rows = curation_answered(CHANGES, SAID, answers, PARAMS)
    compared = ["rules_action", "rules_target_memory_id", "rules_reason"]
    assert rows.columns == list(dict.fromkeys([*CHANGES.columns, *compared]))
    first, second, third = rows.to_dicts()
    assert (first["method"], first["is_pending"], first["reason"]) == ("curate/4", True, "the rules")
    assert (third["method"], third["is_pending"], third["action"]) == ("curate/4", True, "skip")
    assert second == {
        **CHANGES.row(1, named=True), "action": "merge", "kind": "fact", "target_memory_id": "a",
        "target_content": "Prices are integers.", "reason": "The same in other words.",
        "method": "curate/llm-1:some-model", "is_pending": False, "rules_action": CHANGES["action"][1],
        "rules_target_memory_id": CHANGES["target_memory_id"][1], "rules_reason": "the rules",
    }  # fmt: skip
    assert first["rules_action"] is first["rules_reason"] is third["rules_action"] is None


def test_without_a_model_nothing_changes():
    answers = all_answered(CHANGES, SAID, "curate", ADD)
    assert curation_answered(CHANGES, SAID, answers, LlmParams()).equals(CHANGES)
    assert answered_pairs(CHANGES, SAID, answers, LlmParams()).is_empty()


def test_another_model_asks_anew_and_both_answers_stay():
    other = LlmParams(model="another-model")
    first = all_answered(CHANGES, SAID, "curate", ADD)
    assert unanswered_questions(questions(CHANGES, SAID, PARAMS), first).filter(pl.col("task") == "curate").is_empty()
    assert unanswered_questions(questions(CHANGES, SAID, other), first).filter(pl.col("task") == "curate").height == 3
    assert curation_answered(CHANGES, SAID, first, other)["is_pending"].all()
    both = pl.concat([first, all_answered(CHANGES, SAID, "curate", MERGE, other)])
    assert curation_answered(CHANGES, SAID, both, PARAMS)["kind"].to_list() == ["model"] * 3
    assert curation_answered(CHANGES, SAID, both, other)["method"].to_list() == ["curate/llm-1:another-model"] * 3


@each("answer", UNSAFE_CURATE)
def test_whatever_is_answered_the_memory_is_added(answer):
    shown = curation_answered(CHANGES, SAID, all_answered(CHANGES, SAID, "curate", answer), PARAMS)
    assert shown["action"].to_list() == ["add"] * 3
    assert shown["target_memory_id"].to_list() == shown["target_content"].to_list() == [None] * 3
    assert shown["reason"].str.contains("1 not taken: |2 not taken: |3 not taken: ").all()


@each("text", MEMORIES)
def test_whatever_a_memory_says_only_what_was_shown_is_a_target(text):
    said = states(("a", 0, text), ("m-secret", 0, "Keep me."), ("b", 1, text))
    of = changes(change("b", 1, text, "a"))
    for answer in ({**MERGE, "action": "delete"}, {**MERGE, "target": "2"}, {**MERGE, "target": "m-secret"}):
        shown = curation_answered(of, said, all_answered(of, said, "curate", answer), PARAMS)
        assert shown["target_memory_id"].to_list() in ([None], ["a"])
    pairs = answered_pairs(of, said, all_answered(of, said, "observe", UNSAFE_OBSERVE[3]), PARAMS)
    assert pairs["other_id"].to_list() == ["a"]
    assert pairs["relation"].to_list() == [None]


def test_a_reason_is_never_missing():
    shown = curation_answered(CHANGES, SAID, all_answered(CHANGES, SAID, "curate", {**ADD, "reason": ""}), PARAMS)
    assert shown["reason"].to_list() == ["no reason was given"] * 3


RELATED = {
    "actions": [
        {"action": "update", "target": "2", "reason": "same"},
        {"action": "delete", "target": "1", "reason": "old"},
    ]
}
TRIO = states(("a", 0, "It was so."), ("b", 0, "So it is."), ("c", 0, "Else."), ("x", 1, "It is so."))
OF_TRIO = changes(change("x", 1, "It is so.", "a", "b", "c"))


def test_relations_to_every_memory_shown():
    pairs = answered_pairs(OF_TRIO, TRIO, all_answered(OF_TRIO, TRIO, "observe", RELATED), PARAMS)
    assert pairs.rows() == [
        ("x", "a", "supersedes", "observe/llm-1:some-model"),
        ("x", "b", "same_fact", "observe/llm-1:some-model"),
        ("x", "c", None, "observe/llm-1:some-model"),
    ]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            states(
                ("a", 0, "It was so."),
                ("a", 5, "New."),
                ("b", 0, "So it is."),
                ("c", 0, "Else."),
                ("x", 1, "It is so."),
            ),
            "bc",
        ),
        (
            TRIO.with_columns(
                pl.when(pl.col("memory_id") == "b").then(pl.lit("invalid")).otherwise("status").alias("status")
            ),
            "ac",
        ),
        (
            TRIO.with_columns(
                pl.when(pl.col("memory_id") == "x").then(pl.lit("archived")).otherwise("status").alias("status")
            ),
            "",
        ),
        (
            TRIO.with_columns(
                pl.when(pl.col("memory_id") == "a").then(pl.lit("web")).otherwise("project").alias("project")
            ),
            "bc",
        ),
    ],
    ids=["the other says something else", "the other is gone", "it is gone", "another project"],
)
def test_relations_hold_while_both_stand_as_they_did(said, left):
    pairs = answered_pairs(OF_TRIO, said, all_answered(OF_TRIO, said, "observe", RELATED), PARAMS)
    assert pairs["other_id"].to_list() == list(left)


def test_relations_of_a_text_that_was_replaced_are_gone():
    said = states(("a", 0, "It was so."), ("x", 1, "It is so."), ("x", 2, "It is not."))
    of = changes(change("x", 1, "It is so.", "a"), change("x", 2, "It is not.", "a"))
    first = of.head(1)
    assert answered_pairs(of, said, all_answered(first, said, "observe", RELATED), PARAMS).is_empty()


def test_relations_of_a_text_that_was_cleared_are_gone():
    said = states(("a", 0, "It was so."), ("x", 1, "It is so."), ("x", 2, ""))
    of = changes(change("x", 1, "It is so.", "a"))
    assert answered_pairs(of, said, all_answered(of, said, "observe", RELATED), PARAMS).is_empty()


def test_forgetting_and_holds_do_not_see_answers():
    answers = all_answered(CHANGES, SAID, "curate", MERGE)
    as_of = START + timedelta(days=1)
    assert archivings(answers, as_of).is_empty()
    assert forgetting_audit(answers, as_of).is_empty()
    assert last_hold_decisions(answers, as_of).collect().is_empty()


def test_an_answer_takes_effect_without_any_status_change():
    answers = all_answered(CHANGES, SAID, "curate", MERGE).collect()
    assert effective(answers, pl.Series("row_hash", [], dtype=pl.String)).equals(answers)


def test_what_was_spent_counts_answers_of_all_models_and_nothing_else():
    other = LlmParams(model="another-model")
    held = {
        "decision_id": "h", "command": "forget hold", "target_kind": "memory", "target": "a", "values": values_json({}),
        "reason": "x", "changed_by": "person", "decided_at": START, "on_run_id": None,
    }  # fmt: skip
    rows = pl.concat(
        [
            all_answered(CHANGES, SAID, "curate", ADD),
            all_answered(CHANGES, SAID, "observe", RELATED, other),
            decision_rows([held]).lazy(),
        ]
    )
    assert count_usage(rows, PARAMS) == (5, 500)
