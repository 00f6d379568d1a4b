"""What a person's look at a memory is taken to cost and to spare."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


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
