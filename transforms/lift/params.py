"""What is said of a memory from how the interactions that had it ended, and when a lift is shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class MemoryOutcomeParams(BaseModel):
    """Memory outcomes (confirmed, contradicted, confidence) and lift."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcomes_method: Annotated[str, chosen_method("memory_outcomes.outcomes_method")] = "memory_outcomes/1"
    lift_method: Annotated[str, chosen_method("memory_outcomes.lift_method")] = "lift/1"
    interval_mass: float = Field(default=0.9, gt=0, lt=1, description="Mass of all intervals, placebos' too.")
    expected_strength: float = Field(
        default=5,
        gt=0,
        description="Attempts that the rate one level up is worth: of a task type for its task, of an agent for its "
        "task type, of a project for its agent, of everything for a project.",
    )
    confidence_weight: float = Field(
        default=2, gt=0, description="Surprising outcomes that the initial confidence is worth."
    )
    min_sessions: float = Field(
        default=5, ge=2, description="Effective sessions (Kish) needed on either side of a comparison; placebos' too."
    )
    min_propensity: float = Field(
        default=0.02, gt=0, lt=0.5, description="Logged probabilities outside [this, 1 - this] are left out."
    )
    cutoff_band: float = Field(
        default=0.25,
        gt=0,
        le=1,
        description="How far above and below the injection threshold is compared, in interquartile ranges of the "
        "memory's scores.",
    )
    max_cut_exceptions: float = Field(
        default=0.01,
        ge=0,
        lt=0.5,
        description="Share of a project's offers near the threshold that may have been injected below or left out "
        "above it.",
    )
    min_uptake: float = Field(
        default=0.2, gt=0, le=1, description="Share of a task's later interactions that must have had the memory."
    )
    trend_tasks: int = Field(
        default=50, ge=2, description="Most frequent tasks per task type that may show the trend without the memory."
    )
    stratum_days: int = Field(
        default=7, ge=1, description="Matched interactions are compared within spans of so many days."
    )
    companions: int = Field(
        default=3, ge=1, le=20, description="Memories had together with this one that predict who would have had it."
    )
    companion_interactions: int = Field(
        default=500, ge=10, description="Latest earlier interactions looked at per companion."
    )
    max_placebo_half_width: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="A placebo known less exactly than this, and than the lift itself, supports no lift.",
    )
    systematic_error: float = Field(
        default=0.1, gt=0, description="Standard deviation of a placebo's true size, before any is seen."
    )
    systematic_weight: float = Field(default=5, gt=0, description="Placebos that `systematic_error` is worth.")
    lift_spread: float = Field(default=0.2, gt=0, description="Standard deviation of true lifts, before any is seen.")
    lift_spread_weight: float = Field(default=3, gt=0, description="Memories that `lift_spread` is worth.")
    false_discovery_rate: float = Field(
        default=0.05, gt=0, lt=1, description="Expected share of wrongly flagged among memories flagged harmful."
    )
