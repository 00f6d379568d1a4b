"""`instruction_checks` of instructions with one answer each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import polars as pl

from slowwave.transforms.core.frames import Frame, conform
from slowwave.transforms.evidence.followed.checks import (
    checkable_instructions,
    instructed_interactions,
    instruction_checks,
)
from slowwave.transforms.evidence.followed.params import FollowedParams
from slowwave.transforms.evidence.followed.tables import InstructionChecks
from slowwave.transforms.evidence.tables import MemoryReferences

AT = datetime(2026, 3, 2, 9)  # noqa: DTZ001 - times are naive and hold UTC


def checked(asked: Sequence[tuple[str, str, str | None, str | None]]) -> Frame[InstructionChecks]:
    """What can be said of (instruction, category, prompt, answer), by their places as ids, from 0."""
    ids = [str(place) for place in range(len(asked))]
    frame = pl.DataFrame(
        [(id_, *each) for id_, each in zip(ids, asked, strict=True)],
        schema=dict.fromkeys(("interaction_id", "content", "category", "prompt", "response"), pl.String),
        orient="row",
    ).with_columns(pl.col("interaction_id").alias("memory_id"))
    since, until = pl.lit(AT - timedelta(days=1)).alias("valid_from"), pl.lit(None, pl.Datetime("us"))
    states = frame.lazy().with_columns(since, until.alias("valid_until"))
    references = conform(
        MemoryReferences, frame.lazy().with_columns(occurred_at=pl.lit(AT), project=pl.lit("shop"), is_injected=True)
    )
    instructed = instructed_interactions(references, checkable_instructions(states))
    return instruction_checks(frame, instructed, FollowedParams())
