"""What the forecast of success is fitted from: a declared grid, its first point the default."""

from __future__ import annotations

from itertools import product
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slowwave.transforms.core.methods.chosen import chosen_method


class ForecastPoint(BaseModel):
    """One way to weigh the past: how fast evidence fades and how strong what it is shrunk towards."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    half_life_days: float = Field(ge=0.01, le=100_000, description="Age at which an attempt counts half.")
    half_life_attempts: float | None = Field(
        default=None, ge=0.01, le=1e6, description="Later attempts after which one counts half; None: only age counts."
    )
    prior_strength: float = Field(ge=0.01, le=1e6, description="Attempts the prior mean is worth.")
    recent_half_life_days: float | None = Field(
        default=None,
        ge=0.01,
        le=100_000,
        description="A second, shorter memory on top of the first; None: there is none.",
    )
    recent_strength: float | None = Field(
        default=None, ge=0.01, le=1e6, description="Attempts the longer memory is worth against the shorter."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> ForecastPoint:
        if (self.recent_half_life_days is None) != (self.recent_strength is None):
            message = "recent_half_life_days and recent_strength go together: give both or neither"
            raise ValueError(message)
        return self

    def label(self) -> str:
        """Short name, as published."""
        name = f"half-life {self.half_life_days:g} d, prior {self.prior_strength:g}"
        if self.recent_half_life_days is None:
            return name
        return f"{name}, recent half-life {self.recent_half_life_days:g} d, recent {self.recent_strength:g}"


def _twofold(half_life: float, prior: float, recent_half_life: float, recent: float) -> ForecastPoint:
    return ForecastPoint(
        half_life_days=half_life,
        prior_strength=prior,
        recent_half_life_days=recent_half_life,
        recent_strength=recent,
        half_life_attempts=16,
    )


def _grid() -> tuple[ForecastPoint, ...]:
    single = (
        ForecastPoint(half_life_days=h, prior_strength=k)
        for h, k in product((14, 60, 3650), (2, 3, 4, 6, 8, 12, 20, 40))
    )
    twofold = (_twofold(*values) for values in product((7, 30), (2, 4, 8), (2, 4), (1, 2, 4)))
    return tuple(dict.fromkeys((_twofold(30, 2, 2, 4), *single, *twofold)))


class ForecastParams(BaseModel):
    """The forecast "success of the next comparable attempt"."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("forecast.method")] = "heuristic/1"
    grid: tuple[ForecastPoint, ...] = Field(
        default=_grid(), min_length=1, description="Tried on each project's own past; the first is the default."
    )
    parent_strength: float = Field(
        default=4,
        gt=0,
        description="Attempts the project's rate is worth against an agent's, a strategy's, a task type's.",
    )
    unforeseen: float = Field(
        default=0.01, ge=0, lt=1, description="Share of an estimate that is the prior mean, however much is known."
    )
    min_fit_attempts: int = Field(
        default=200, ge=1, description="With fewer forecast attempts a project keeps the default."
    )
    fit_margin_nats: float = Field(
        default=10,
        ge=0,
        le=1e9,
        description="By how much log loss in all a grid point must beat the default to be taken.",
    )
    max_fit_rows: int = Field(
        default=50_000, ge=1, description="The fits look at every n-th strategy of a project, at about so many rows."
    )
    session_correlation: float = Field(
        default=0.2, ge=0, le=1, description="Correlation of attempts within a session, before the log tells."
    )
    session_correlation_pairs: float = Field(
        default=50, gt=0, description="Pairs of attempts the default correlation is worth."
    )
    credible_mass: float = Field(default=0.9, gt=0, lt=1, description="Mass of the credible intervals.")
