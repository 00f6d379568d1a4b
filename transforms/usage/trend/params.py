"""When the use of a memory counts as changed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class TrendParams(BaseModel):
    """Trend of a memory's use. Days are active days of its scope: those with at least one interaction."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("trend.method")] = "memory_trend/2"
    new_active_days: int = Field(
        default=20,
        ge=1,
        le=10_000,
        description="Observed on fewer active days a memory is new; 20 are a working month. What is older than the"
        " log is new for so many days after it was made.",
    )
    min_reference_days: int = Field(
        default=4, ge=3, le=10_000, description="With references on fewer days nothing is said: unproven."
    )
    min_bursts: float = Field(
        default=4, gt=1, le=10_000, description="As `min_reference_days`, of references counted by bursts."
    )
    max_reference_days: int = Field(
        default=192, ge=8, le=100_000, description="The past that is looked at holds at most the last so many of them."
    )
    recent_bursts: float = Field(
        default=9, ge=1, le=10_000, description="The recent window is as long as so many bursts take at its own rate."
    )
    recent_active_days: int = Field(
        default=20, ge=1, le=10_000, description="The recent window is at least so many active days."
    )
    recent_share: float = Field(
        default=0.5, gt=0, lt=1, description="The recent window is at most this share of the span observed."
    )
    dispersion: float = Field(
        default=1.2,
        gt=0,
        le=1000,
        description="References per burst before the memory's own gaps count; 1: independent.",
    )
    dispersion_gaps: float = Field(default=6, gt=0, le=1e6, description="Gaps the default dispersion is worth.")
    min_dispersion: float = Field(
        default=0.1, gt=0, le=1000, description="However regular its use, a reference is no more than 1 / this bursts."
    )
    change_probability: float = Field(
        default=0.985, gt=0.5, lt=1, description="Posterior probability from which a change of rate is called one."
    )
    stale_active_days: int = Field(
        default=20, ge=1, le=10_000, description="Stale needs a run of at least so many active days without reference."
    )
    stale_probability: float = Field(
        default=0.01,
        gt=0,
        lt=0.5,
        description="Stale: a run without reference less probable than this at its own rate.",
    )
    max_looks: int = Field(
        default=30, ge=1, le=1000, description="Looks back for two in a row that agree; with none: unproven."
    )
