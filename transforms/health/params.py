"""What memories are judged by: the params of this room, and what of a run's params its tables are made with."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.usage.params import StrengthParams, TrendParams


class VerdictParams(BaseModel):
    """Verdicts on memories: how much evidence each needs, and from where on it speaks against one."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("verdict.method")] = "verdict/4"
    grace_days: int = Field(
        default=14,
        ge=0,
        le=3650,
        description="Without a reference a memory is young before this age: two working weeks show recurring work.",
    )
    min_eligible: int = Field(
        default=20,
        ge=1,
        description="Interactions it could have been used in before not being injected says something: at an injection "
        "rate of 1 in 7, 20 misses in a row are a 5 % chance.",
    )
    min_injections: int = Field(
        default=10,
        ge=1,
        description="Injections before no detected use may say something: how many are enough follows from"
        " `detectability`.",
    )
    recent_days: int = Field(
        default=30, ge=0, le=3650, description="A memory referenced in the last so many days is never to be forgotten."
    )
    needed_from: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="A faded memory whose need in 30 days, silent or active project, reaches this is reviewed first: "
        "of 20 such memories one would be missed within the month.",
    )
    fading_soon_days: int = Field(
        default=30, ge=0, le=3650, description="A memory that fades within so many days is said to."
    )
    excess_deviations: float = Field(
        default=2.58,
        gt=0,
        le=10,
        description="Failed uses are clearly more than expected from so many standard deviations on: 1 in 200 by "
        "chance, as every memory is looked at.",
    )
    no_difference: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="The confidence that means no difference: with clearly more failed uses than expected, an upper "
        "bound below it leads to a review. The bound counts a session once, the excess ignores initial confidence.",
    )
    low_confidence: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="An upper bound of confidence below this leads to a review by itself (ALMA prunes below it).",
    )
    min_detectability: float = Field(
        default=0.03, ge=0, le=1, description="Of a memory fewer of whose uses are found, no use says nothing."
    )
    used_share: float = Field(
        default=0.5,
        gt=0,
        lt=1,
        description="A memory is not used if fewer of its injections than this share are expected to have used it, and"
        " if of so many a use would have been found.",
    )
    missed_chance: float = Field(
        default=0.1, gt=0, lt=1, description="How likely all of them may have been missed, for that to be said."
    )


class StatedConfidenceParams(BaseModel):
    """How sure the source of a preference or of knowledge makes of it (ALMA's rule)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("stated.method")] = "stated/2"
    preference_types: tuple[str, ...] = Field(
        default=("preference", "preferences", "user_preference"),
        description="Types whose memories are preferences.",
    )
    knowledge_types: tuple[str, ...] = Field(
        default=("knowledge", "domain_knowledge", "fact"),
        description="Types whose memories are knowledge.",
    )
    preference_sources: tuple[str, ...] = Field(
        default=("explicit", "explicit_instruction", "user_stated"),
        description="Sources that say a preference in so many words; others let it be inferred. Case is no difference,"
        " nor are hyphens and spaces for `_`.",
    )
    knowledge_sources: tuple[str, ...] = Field(
        default=("user_stated",),
        description="Sources that state knowledge, beside those that say a preference; others let it be inferred.",
    )
    inferred_preference: float = Field(default=0.7, ge=0, le=1, description="Of a preference from another source.")
    inferred_knowledge: float = Field(default=0.8, ge=0, le=1, description="Of knowledge from another source.")


class ReviewParams(BaseModel):
    """Review value: losses are counted in successes, time in minutes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("review.method")] = "review_value/1"
    no_difference: float = Field(default=0.5, gt=0, lt=1, description="Confidence below this speaks against a memory.")
    prior_wrong: float = Field(
        default=0.1, ge=0, le=1, description="Share of memories in use that do harm, where nothing is known of one."
    )
    prior_candidate_right: float = Field(
        default=0.5, ge=0, le=1, description="Share of candidates that belong in use, where nothing is known of one."
    )
    prior_references: float = Field(
        default=0.5, ge=0, le=1e6, description="References expected in 30 days where need_30d is NULL."
    )
    max_need: float = Field(
        default=0.999, gt=0, lt=1, description="need_30d is cut to this: beyond it the number of references is unknown."
    )
    wrong_injection_loss: float = Field(
        default=0.1, gt=0, le=1, description="Successes lost per injection of a harmful memory whose lift is unknown."
    )
    lost_reference_loss: float = Field(
        default=0.1, gt=0, le=1, description="Successes lost per reference that a missing memory would have had."
    )
    decision_minutes: float = Field(default=0.5, gt=0, le=1e4, description="Minutes a decision takes besides reading.")
    characters_per_minute: float = Field(
        default=1400,
        gt=0,
        le=1e6,
        description="Reading speed: 238 words a minute (Brysbaert, Journal of Memory and Language 109, 2019) of 6"
        " characters, rounded.",
    )
    unknown_characters: int = Field(
        default=300, ge=0, le=1_000_000, description="Length taken for a memory whose text is not known."
    )


class ReinforcementParams(Protocol):
    """How an interaction that quotes it raises the initial confidence."""

    reinforcement_delta: float
    reinforcement_cap: float


class HealthParams(ReinforcementParams, Protocol):
    """Reinforcement, and what a source's word is worth."""

    stated: StatedConfidenceParams


class HistoryParams(Protocol):
    """What use alone leads to, day by day; and which memories are global."""

    evidence: EvidenceParams
    strength: StrengthParams
    trend: TrendParams
    verdict: VerdictParams
