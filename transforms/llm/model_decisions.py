"""Answers of a language model as landed decisions, and as what they say of each memory's change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.decisions.effects import values_json
from slowwave.transforms.llm.params import LlmParams, answering
from slowwave.transforms.llm.prompts import Prompt, task_method
from slowwave.transforms.llm.questions import decision_ids, shown_texts
from slowwave.transforms.observations.tables import CurationDecisions

_CURATED = pl.Struct(
    {
        "answer": pl.Struct(
            {
                "action": pl.String(),
                "kind": pl.String(),
                "target": pl.Int64(),
                "reason": pl.String(),
                "refused": pl.List(pl.String()),
            }
        )
    }
)
_RELATED = pl.Struct(
    {"answer": pl.Struct({"related": pl.List(pl.Struct({"label": pl.Int64(), "relation": pl.String()}))})}
)
_COMPARED = ("action", "target_memory_id", "reason")
_PAIRS = {"memory_id": pl.String, "other_id": pl.String, "relation": pl.String, "method": pl.String}


def answer_decision(
    prompt: Prompt,
    memory_id: str,
    changed_at: datetime,
    answer: dict[str, Any],
    tokens: int,
    decided_at: datetime,
    params: LlmParams,
) -> dict[str, Any]:
    """The decision that an answer is landed as; its id is the prompt's, so that the same question is asked once.

    The memory is the one it was asked for; the answer holds for every memory with the same question.
    """
    method = task_method(prompt.task, params)
    values = {"answer": answer, "model": params.model, "changed_at": changed_at.isoformat(), "tokens": tokens}
    return {
        "decision_id": prompt.decision_id,
        "command": method,
        "target_kind": "memory",
        "target": memory_id,
        "values": values_json(values),
        "reason": answer.get("reason") or None,
        "changed_by": answering(method, params.model),
        "decided_at": decided_at,
        "on_run_id": None,
    }


def curation_answered(
    decisions: pl.DataFrame, states: pl.DataFrame, landed: pl.LazyFrame, params: LlmParams
) -> Frame[CurationDecisions]:
    """`decisions` of the rules, where the model's answer has landed replaced by it, else marked pending.

    Action, kind, target, target_content, reason, method and is_pending are the answer's; what the rules measured stays,
    and what they say of the same change stands beside as rules_action, rules_target_memory_id and rules_reason. Without
    a model nothing changes, and these are NULL. A target that was not shown cannot come out, nor an action but the
    five.

    Args:
        decisions: rows of curation_decisions, and their order.
        states: memory_states of the same log.
        landed: the decisions visible as of now.
        params: the model, and what it was shown.
    """
    if not params.model:
        alone = decisions.with_columns(pl.lit(None, pl.String).alias(f"rules_{name}") for name in _COMPARED)
        return framed(CurationDecisions, alone)
    answers = (
        landed.filter(pl.col("command") == params.curate_method)
        .select("decision_id", pl.col("values").str.json_decode(_CURATED).struct.field("answer").alias("said"))
        .collect()
    )
    asked = shown_texts(decisions, states, params).with_columns(decision_ids("curate", decisions, states, params))
    rows = asked.join(answers, on="decision_id", how="left", maintain_order="left")
    said = pl.col("said").struct
    is_answered = pl.col("said").is_not_null()
    place = said.field("target") - 1
    decided = rows.with_columns(
        pl.when(is_answered).then(said.field("action")).otherwise("action").alias("action"),
        pl.when(is_answered).then(said.field("kind")).otherwise("kind").alias("kind"),
        pl.when(is_answered)
        .then(pl.col("shown_ids").list.get(place, null_on_oob=True))
        .otherwise("target_memory_id")
        .alias("target_memory_id"),
        pl.when(is_answered)
        .then(pl.col("shown_contents").list.get(place, null_on_oob=True))
        .otherwise("target_content")
        .alias("target_content"),
        pl.when(is_answered).then(_reason()).otherwise("reason").alias("reason"),
        pl.when(is_answered)
        .then(pl.lit(answering(params.curate_method, params.model)))
        .otherwise("method")
        .alias("method"),
        is_answered.not_().alias("is_pending"),
        *(pl.when(is_answered).then(name).alias(f"rules_{name}") for name in _COMPARED),
    ).select(*dict.fromkeys((*decisions.columns, *(f"rules_{name}" for name in _COMPARED))))
    return framed(CurationDecisions, decided)


def _reason() -> pl.Expr:
    """The answer's reason, and what of the answer was not taken."""
    said = pl.col("said").struct
    refused = said.field("refused")
    count = refused.list.len()
    return (
        pl.when(count > 0)
        .then(pl.format("{}[{} not taken: {}]", _append_space(said.field("reason")), count, refused.list.join("; ")))
        .when(said.field("reason") == "")
        .then(pl.lit("no reason was given"))
        .otherwise(said.field("reason"))
    )


def _append_space(text: pl.Expr) -> pl.Expr:
    return pl.when(text == "").then(text).otherwise(pl.format("{} ", text))


def answered_pairs(
    decisions: pl.DataFrame, states: pl.DataFrame, landed: pl.LazyFrame, params: LlmParams
) -> pl.DataFrame:
    """What the model said of pairs of memories that still read as they did: memory_id, other_id, relation, method.

    One row per answered memory and memory shown beside it. `relation`: same_fact; supersedes (the other no longer
    holds); NULL: neither. Only pairs of active memories of one project, type and agent.

    Args:
        decisions: rows of curation_decisions.
        states: memory_states of the same log.
        landed: the decisions visible as of now.
        params: the model, and what it was shown.
    """
    answers = (
        landed.filter(pl.col("command") == params.observe_method)
        .select("decision_id", pl.col("values").str.json_decode(_RELATED).struct.field("answer").alias("said"))
        .collect()
    )
    if not params.model or answers.is_empty():
        return pl.DataFrame(schema=_PAIRS)
    place = ["project", "memory_type", "agent"]
    now = states.filter(pl.col("valid_until").is_null(), pl.col("status") == "active")
    now = now.select("memory_id", "content", *place)
    current = (
        decisions.sort("memory_id", "changed_at")
        .unique("memory_id", keep="last", maintain_order=True)
        .join(now.select("memory_id", "content"), on=["memory_id", "content"], how="semi", maintain_order="left")
    )
    asked = shown_texts(current, states, params).with_columns(decision_ids("observe", current, states, params))
    rows = asked.join(answers, on="decision_id", how="inner", maintain_order="left")
    pairs = rows.select(
        "memory_id",
        "shown_ids",
        "shown_contents",
        pl.int_ranges(1, pl.col("shown_ids").list.len() + 1).alias("label"),
        pl.col("said").struct.field("related"),
    ).explode("shown_ids", "shown_contents", "label")
    named = (
        rows.select("memory_id", pl.col("said").struct.field("related"))
        .explode("related")
        .filter(pl.col("related").is_not_null())
        .unnest("related")
    )
    others = now.rename({"memory_id": "other_id", "content": "other_content"})
    return (
        pairs.drop("related")
        .rename({"shown_ids": "other_id", "shown_contents": "other_content"})
        .join(now.drop("content"), on="memory_id", how="inner")
        .join(others, on=["other_id", "other_content", *place], how="semi")
        .join(named, on=["memory_id", "label"], how="left")
        .filter(pl.col("memory_id") != pl.col("other_id"))
        .select("memory_id", "other_id", "relation", method=pl.lit(answering(params.observe_method, params.model)))
        .sort("memory_id", "other_id")
    )
