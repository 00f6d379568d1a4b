"""What the forecast "will this memory be referenced in the next 30 days" depends on."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from slowwave.transforms.core.methods.chosen import chosen_method

# What is known of a memory and of those who could reference it (`need_features`), in this order, each with the
# coefficient that holds until a lake's own past says otherwise: the common fit to logs of six projects of 1 to 8 years,
# 1,400 to 11,800 items each, in twentieths.
DEFAULT_COEFFICIENTS: dict[str, float] = {
    "intercept": -3.6,
    "days_7": 0.2,
    "days_30": 0.25,
    "days_90": -0.05,
    "days_365": 0.1,
    "narrow_days_30": 0.0,
    "narrow_days_180": 0.05,
    "all_days_180": 0.45,
    "idle": -0.05,
    "idle_over_7": 0.35,
    "idle_over_30": 0.1,
    "idle_over_90": -0.35,
    "idle_over_365": -0.5,
    "age": -0.4,
    "references": 0.75,
    "referenced_once": 1.4,
    "span": 0.2,
    "narrow_idle": -0.05,
    "references_and_idle": -0.45,
    "scope_rate": 0.4,
    "scope_share_90": -0.2,
    "scope_pace": 0.05,
    "scope_active_days": -0.05,
}


class NeedParams(BaseModel):
    """The forecast of a reference within the horizon."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("need.method")] = "need/1"
    horizon_days: int = Field(default=30, ge=1, le=3650, description="The forecast is for so many days from today.")
    window_step_days: int = Field(
        default=30, ge=1, le=3650, description="Past windows start on every so many days since 1970."
    )
    windows: int = Field(default=24, ge=1, le=1000, description="At most so many past windows, the latest, are used.")
    window_half_life_days: float = Field(
        default=365, ge=1, le=1e6, description="A window so much older than the latest one counts half."
    )
    max_fit_rows: int = Field(
        default=40_000, ge=100, le=10_000_000, description="A fit looks at every n-th memory, at about so many rows."
    )
    min_fit_rows: int = Field(
        default=2_000, ge=1, description="With fewer rows a scope has the fit of the whole lake, not its own."
    )
    bulk_weights: tuple[tuple[int, int], ...] = Field(
        default=((16, 4), (32, 32), (8, 1)),
        min_length=1,
        description="Grid: what a reference counts by an interaction that referenced 10 to 99, and 100 or more memories"
        " at once, in 32nds; the first is the default.",
    )
    coefficients: tuple[float, ...] = Field(
        default=tuple(DEFAULT_COEFFICIENTS.values()),
        min_length=len(DEFAULT_COEFFICIENTS),
        max_length=len(DEFAULT_COEFFICIENTS),
        description="Log odds per unit of each of `DEFAULT_COEFFICIENTS`: what fits are shrunk towards.",
    )
    memory_ridge: float = Field(
        default=30.0, gt=0, le=1e9, description="How strongly a memory's coefficients are held to the defaults."
    )
    scope_ridge: float = Field(
        default=3_000.0,
        gt=0,
        le=1e9,
        description="The same for those of the scope, which is seen only once per window.",
    )
    silence_days: int = Field(
        default=14, ge=1, le=3650, description="need_if_active counts only the first so many days of a silence."
    )
    first_reference_ages: tuple[int, ...] = Field(
        default=(7, 30, 90, 365), description="Ages in days that part memories never referenced so far."
    )
    first_reference_memories: int = Field(
        default=30, ge=1, description="With fewer earlier memories of this kind in the lake nothing is said of one."
    )
    first_reference_strength: float = Field(
        default=20, gt=0, le=1e6, description="Windows that the lake's rate is worth against one age's or scope's."
    )
    score_cutoffs: int = Field(default=6, ge=1, le=1000, description="Past Mondays that forecasts are graded at.")
    score_step_weeks: int = Field(default=4, ge=1, le=520, description="Weeks from one graded Monday to the next.")

    @field_validator("bulk_weights")
    @classmethod
    def _is_share(cls, value: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        if not all(0 <= weight <= 32 for pair in value for weight in pair):  # noqa: PLR2004 - in 32nds
            message = "bulk_weights are in 32nds: 0 to 32"
            raise ValueError(message)
        return value

    @field_validator("first_reference_ages")
    @classmethod
    def _is_ascending(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if list(value) != sorted(set(value)):
            message = "first_reference_ages must ascend"
            raise ValueError(message)
        return value
