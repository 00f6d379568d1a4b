"""What is put before a person."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.evidence.params import EvidenceParams


class ReviewQueueParams(BaseModel):
    """Bounds of the review queue."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("review_queue.method")] = "review_queue/6"
    min_sessions: int = Field(
        default=1, ge=1, description="Sessions in which an answer, not only its prompt, must state a candidate."
    )
    min_points: int = Field(
        default=2, description="What must speak for a candidate from answers, less what speaks against it."
    )
    marked_items: int = Field(
        default=1_000, ge=0, description="Items, the first, in whose texts what differs is marked."
    )
    ignored_below: float = Field(
        default=0.5,
        gt=0,
        lt=1,
        description="An instruction is ignored if the share of answers that follow it is surely below this.",
    )
    fading_days: int = Field(default=30, ge=0, description="A memory that fades within so many days is shown...")
    fading_need: float = Field(default=0.1, gt=0, le=1, description="... if its need_30d is at least this.")
    expiring_days: int = Field(default=30, ge=0, description="A memory that expires within so many days is shown...")
    expiring_references: int = Field(
        default=5, ge=1, description="... if at least so many interactions referenced it (AtoCore's rule)."
    )
    examples: int = Field(default=5, ge=1, description="Interactions named per item.")


class QueueParams(Protocol):
    """What the queue is made with, of the params of a run."""

    evidence: EvidenceParams
    review_queue: ReviewQueueParams
