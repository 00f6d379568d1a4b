"""What is learned of strategies with, of the params of a run."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.confidence.params import ConfidenceParams

# What is said of a strategy besides its posterior.


class HeuristicParams(BaseModel):
    """Trend and reliability of strategies."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("heuristics.method")] = Field(
        default="heuristic/3",
        description="How confidence is estimated, by `confidence`; trend and scorecard go with it.",
    )
    trend_days: int = Field(default=28, ge=1, description="The last days, compared with all before them.")
    trend_min_sessions: int = Field(default=3, ge=1, description="Sessions needed on both sides of the comparison.")
    trend_probability: float = Field(
        default=0.95, gt=0.5, lt=1, description="Posterior probability from which a change of success is called one."
    )
    trend_agreement_days: int = Field(
        default=7, ge=1, description="Two looks so far apart must agree before a trend changes its word."
    )
    reliable_above: float = Field(
        default=0.5, ge=0, lt=1, description="A reliable strategy's lower bound is above this (ALMA: success over .5)."
    )


# How the forecasts are graded.


class ScorecardParams(BaseModel):
    """What is graded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    horizon_days: int = Field(default=7, ge=1, description="A forecast is for the attempts of so many days.")
    cutoffs: int = Field(default=26, ge=1, description="At most so many past Mondays, the latest.")
    resamples: int = Field(default=100, ge=20, description="Draws of days for each interval.")
    interval_mass: float = Field(default=0.9, gt=0, lt=1, description="Mass of the intervals.")


class LearningParams(Protocol):
    """The params that everything learned of strategies depends on."""

    attempts: AttemptParams
    confidence: ConfidenceParams
    heuristics: HeuristicParams
    anti_patterns: AntiPatternParams
    scorecard: ScorecardParams
