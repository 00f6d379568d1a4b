"""What is said of a strategy besides its posterior."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


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
