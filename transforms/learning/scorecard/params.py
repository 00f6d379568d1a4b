"""How the forecasts are graded."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ScorecardParams(BaseModel):
    """What is graded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    horizon_days: int = Field(default=7, ge=1, description="A forecast is for the attempts of so many days.")
    cutoffs: int = Field(default=26, ge=1, description="At most so many past Mondays, the latest.")
    resamples: int = Field(default=100, ge=20, description="Draws of days for each interval.")
    interval_mass: float = Field(default=0.9, gt=0, lt=1, description="Mass of the intervals.")
