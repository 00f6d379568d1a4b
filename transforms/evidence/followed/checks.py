"""`followed/1`: whether answers follow the instructions that were injected into their interactions."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, selected
from slowwave.transforms.evidence.followed.answers import Answer, observe_answer
from slowwave.transforms.evidence.followed.instructions import expectations
from slowwave.transforms.evidence.followed.params import FollowedParams
from slowwave.transforms.evidence.followed.tables import InstructionChecks
from slowwave.transforms.evidence.tables import MemoryReferences

_EXPECTATIONS = pl.Schema(
    {
        "memory_id": pl.String,
        "valid_from": pl.Datetime("us"),
        "valid_until": pl.Datetime("us"),
        "check_kind": pl.String,
        "value": pl.String,
        "expected": pl.String,
    }
)


def checkable_instructions(states: pl.LazyFrame) -> pl.DataFrame:
    """Return what answers can be checked for by each memory, as it stood from `valid_from` until `valid_until`.

    `states`: memory_id, valid_from, valid_until, content, category.
    """
    rows = (
        states.select("memory_id", "valid_from", "valid_until", "content", "category").drop_nulls("content").collect()
    )
    said = rows.select("content", pl.col("category").fill_null("")).unique()
    found = {(content, category): expectations(content, category) for content, category in said.iter_rows()}
    return pl.DataFrame(
        [
            (memory_id, since, until, *one)
            for memory_id, since, until, content, category in rows.iter_rows()
            for one in found[content, category or ""]
        ],
        schema=_EXPECTATIONS,
        orient="row",
    )


def instructed_interactions(references: Lazy[MemoryReferences], instructions: pl.DataFrame) -> pl.DataFrame:
    """Return the interactions that were given such instructions, as they stood then, with what each is checked for.

    Columns: memory_id, check_kind, value, expected, and of the interaction interaction_id, occurred_at, project, agent,
    session_id.
    """
    at = pl.col("occurred_at")
    return (
        references.filter("is_injected")
        .select("memory_id", "interaction_id", "occurred_at", "project", "agent", "session_id")
        .join(instructions.lazy(), on="memory_id")
        .filter(pl.col("valid_from") <= at, pl.col("valid_until").is_null() | (at < pl.col("valid_until")))
        .drop("valid_from", "valid_until")
        .collect()
    )


def instruction_checks(
    interactions: pl.DataFrame, instructed: pl.DataFrame, params: FollowedParams
) -> Frame[InstructionChecks]:
    """Return what can be said of each of these interactions and instructions, sorted by key.

    Args:
        interactions: interaction_id, prompt, response.
        instructed: as `instructed_interactions` returns them.
        params: the method.
    """
    asked = instructed.join(interactions, on="interaction_id").drop_nulls("response").sort("interaction_id")
    asked = asked.with_columns(pl.col("prompt").fill_null(""))
    seen: list[tuple[bool | None, str | None]] = []
    last, answer = "", Answer("", "")
    for interaction_id, prompt, response, check, value in asked.select(
        "interaction_id", "prompt", "response", "check_kind", "value"
    ).iter_rows():
        if interaction_id != last:
            last, answer = interaction_id, Answer(prompt, response)
        seen.append(observe_answer(answer, check, value) or (None, None))
    verdicts = pl.DataFrame(seen, schema={"is_followed": pl.Boolean, "saw": pl.String}, orient="row")
    rows = asked.hstack(verdicts).drop_nulls("is_followed").with_columns(method=pl.lit(params.method))
    return selected(InstructionChecks, rows.lazy()).sort(InstructionChecks.key).collect()
