"""Which questions the changes of memories put to a language model: one to curate each, one to relate it to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import polars as pl

from slowwave.transforms.decisions.review.items import statement_ids
from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import Prompt, Task, prompt, task_method

_SCHEMA = {
    "memory_id": pl.String,
    "changed_at": pl.Datetime("us"),
    "task": pl.String,
    "decision_id": pl.String,
    "tokens": pl.Int64,
}


def questions(changes: pl.DataFrame, states: pl.DataFrame, params: LlmParams) -> pl.DataFrame:
    """The questions about `changes`, newest change first: memory_id, changed_at, task, decision_id, tokens.

    `tokens` is about what the prompt costs. A change beside which nothing was there is not asked to be related.

    Args:
        changes: rows of curation_decisions: memory_id, changed_at, content, considered_ids.
        states: memory_states of the same log: memory_id, valid_from, content.
        params: the model and what it is shown.
    """
    rows = [
        (memory_id, changed_at, asked.task, asked.decision_id, asked.tokens)
        for memory_id, changed_at, asked in _prompts(changes, states, params)
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").sort(
        ["changed_at", "memory_id", "task"], descending=[True, False, False]
    )


def without_rejected(
    asked: pl.DataFrame, changes: pl.DataFrame, states: pl.DataFrame, rejected: pl.DataFrame, params: LlmParams
) -> pl.DataFrame:
    """The questions whose texts, the change's own and those shown beside it, no person has rejected in its project.

    `rejected`: project, statement_id (see `rejected_texts`); those of no project count everywhere.
    """
    if rejected.is_empty():
        return asked
    about = shown_texts(changes.join(asked, on=["memory_id", "changed_at"], how="semi"), states, params)
    texts = (
        about.select(
            "memory_id",
            "changed_at",
            pl.col("project").fill_null(""),
            pl.concat_list(pl.concat_list("content"), "shown_contents").alias("text"),
        )
        .explode("text")
        .filter(pl.col("text").is_not_null())
    )
    stated = texts.with_columns(statement_ids(texts["text"]).alias("statement_id"))
    everywhere = rejected.filter(pl.col("project") == "").select("statement_id")
    found = pl.concat(
        [
            stated.join(rejected, on=["project", "statement_id"], how="semi"),
            stated.join(everywhere, on="statement_id", how="semi"),
        ]
    )
    return asked.join(found, on=["memory_id", "changed_at"], how="anti", maintain_order="left")


def prompts(changes: pl.DataFrame, states: pl.DataFrame, params: LlmParams) -> dict[str, Prompt]:
    """The prompts about `changes` by decision_id."""
    return {asked.decision_id: asked for _, _, asked in _prompts(changes, states, params)}


def decision_ids(task: Task, changes: pl.DataFrame, states: pl.DataFrame, params: LlmParams) -> pl.Series:
    """Per row of `changes` the id under which the answer to one task is landed."""
    shown = shown_texts(changes, states, params)["shown_contents"]
    ids = [
        prompt(task, text, of_row, params).decision_id for text, of_row in zip(changes["content"], shown, strict=True)
    ]
    return pl.Series("decision_id", ids, dtype=pl.String)


def shown_texts(changes: pl.DataFrame, states: pl.DataFrame, params: LlmParams) -> pl.DataFrame:
    """`changes` with shown_ids and shown_contents: the first considered memories, as they stood just before."""
    rows = changes.with_row_index("row").with_columns(
        pl.col("considered_ids").list.head(params.max_shown).alias("shown_ids")
    )
    one_each = (
        rows.select("row", "changed_at", "shown_ids")
        .explode("shown_ids")
        .filter(pl.col("shown_ids").is_not_null())
        .with_row_index("place")
        .sort("changed_at")
    )
    said = states.select(shown_ids="memory_id", valid_from="valid_from", before="content").sort("valid_from")
    texts = (
        one_each.join_asof(
            said,
            left_on="changed_at",
            right_on="valid_from",
            by="shown_ids",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .sort("place")
        .group_by("row", maintain_order=True)
        .agg(pl.col("before").fill_null("").alias("shown_contents"))
    )
    none = pl.lit([], dtype=pl.List(pl.String))
    joined = rows.join(texts, on="row", how="left", maintain_order="left").drop("row")
    return joined.with_columns(pl.col("shown_contents").fill_null(none))


def _prompts(changes: pl.DataFrame, states: pl.DataFrame, params: LlmParams) -> Iterator[tuple[str, object, Prompt]]:
    columns = ("memory_id", "changed_at", "content", "shown_contents")
    for memory_id, changed_at, content, shown in shown_texts(changes, states, params).select(columns).iter_rows():
        for task in get_args(Task):
            if shown or task == "curate":
                yield memory_id, changed_at, prompt(task, content, shown, params)


def unanswered_questions(asked: pl.DataFrame, decisions: pl.LazyFrame) -> pl.DataFrame:
    """The questions whose answer has not landed, each once: the same texts are the same question."""
    return asked.join(
        decisions.select("decision_id").collect(), on="decision_id", how="anti", maintain_order="left"
    ).unique("decision_id", keep="first", maintain_order=True)


def count_usage(decisions: pl.LazyFrame, params: LlmParams) -> tuple[int, int]:
    """Answers landed and their tokens, of all models."""
    commands = [task_method(task, params) for task in get_args(Task)]
    answers = decisions.filter(pl.col("command").is_in(commands)).select(
        pl.col("values").str.json_path_match("$.tokens").cast(pl.Int64).fill_null(0)
    )
    tokens = answers.collect()["values"]
    return len(tokens), int(tokens.sum())
