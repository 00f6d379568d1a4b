"""Numbers of forgetting and of review that may be tuned."""

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


Quota = Annotated[int, Field(ge=0, le=10**12)]


class ForgettingParams(BaseModel):
    """Rules, protections, quotas and the share kept in shadow; days are whole UTC days."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("forgetting.method")] = "forgetting/3"
    regret_method: Annotated[str, chosen_method("forgetting.regret_method")] = "regret/1"

    archive_after_days: int = Field(
        default=90,
        ge=1,
        le=36_500,
        description="Days without a reference or injection, after the last or since it was created (Astrocyte: 90).",
    )
    untouched_min_eligible: int = Field(
        default=20, ge=1, description="Interactions since the last touch in which an untouched memory was eligible."
    )
    untouched_max_need: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="An untouched memory with a higher `need_30d` or `need_if_active` is not planned for that: the"
        " silence of a project is no evidence.",
    )
    replaced_after_days: int = Field(
        default=30, ge=0, le=36_500, description="Days since a memory was superseded or found invalid."
    )
    low_confidence: float = Field(
        default=0.3, ge=0, le=1, description="Planned when `confidence_high` is below this (ALMA: heuristics below .3)."
    )
    low_confidence_min_judged: int = Field(
        default=5, ge=1, description="Confirmed and contradicted references needed for that (ALMA: 5)."
    )

    grace_days: int = Field(
        default=30, ge=0, le=36_500, description="Days in which a new or restored memory is not planned."
    )
    recent_days: int = Field(
        default=14, ge=0, le=36_500, description="A memory referenced or injected this recently is kept."
    )

    project_quota: int | None = Field(
        default=None, ge=0, le=10**12, description="Active memories a project may keep; None: any number."
    )
    agent_quota: int | None = Field(
        default=None, ge=0, le=10**12, description="Active memories an agent may keep in one project; None: any number."
    )
    project_quotas: dict[str, Quota] = Field(
        default={}, description="Quotas of single projects, in place of `project_quota`; '' has one only if named."
    )
    agent_quotas: dict[str, Quota] = Field(
        default={}, description="Quotas of single agents, in place of `agent_quota`; '' has one only if named."
    )

    shadow_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the plan that stays active when applied, so that regret can be measured (such as 0.02).",
    )
    regret_days: int = Field(
        default=30,
        ge=1,
        le=36_500,
        description="Days after archiving in which use counts as regret; as long as `need_30d` looks.",
    )
    regret_interval: float = Field(default=0.9, gt=0, lt=1, description="Credible level of the regret interval.")
