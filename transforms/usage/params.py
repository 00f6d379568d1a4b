"""What the timelines of memories are read with, of the params of a run."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.learning.params import ScorecardParams

# What the forecast "will this memory be referenced in the next 30 days" depends on.

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


# How fast memories fade.

HalfLife = Annotated[float, Field(ge=0.1, le=100_000)]


class StrengthParams(BaseModel):
    """Strength of memories: method, half-lives before the log tells, bands, and what half-lives are fitted from."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("strength.method")] = Field(
        default="strength/2",
        description="Evidence fading at three time scales; `fades_at` at most `fit_days` further than the log has"
        " watched a memory of the type unreferenced.",
    )
    half_life_days: dict[str, HalfLife] = Field(
        default={
            "identity": 365,
            "preference": 365,
            "knowledge": 90,
            "project": 60,
            "adaptation": 60,
            "episodic": 30,
        },
        description="Half-life per memory type where a lake's own log has too little; the middle one of the three.",
    )
    other_half_life_days: HalfLife = Field(default=60, description="Half-life of every other memory type.")
    broad_weight: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="What a day counts whose references all came from interactions with 10 or more memories.",
    )
    bulk_weight: float = Field(
        default=0.25, ge=0, le=1, description="The same for interactions that referenced 100 memories or more at once."
    )
    strong_above: float = Field(default=0.7, ge=0, le=1, description="Above this a memory is strong.")
    normal_from: float = Field(default=0.3, ge=0, le=1, description="From this on a memory is normal, below it weak.")
    forgettable_below: float = Field(
        default=0.1, ge=0, le=1, description="Below this a memory is forgettable and has faded; 0: none ever is."
    )
    half_life_factors: tuple[HalfLife, ...] = Field(
        default=(1.0, 0.25, 0.5, 2.0, 4.0),
        min_length=1,
        description="Tried on each memory type's own past, times its default; the first is the default, 1.",
    )
    fit_days: int = Field(
        default=30, ge=1, le=365, description="Half-lives are graded by: referenced in the next so many days?"
    )
    fit_windows: int = Field(
        default=24, ge=2, le=1000, description="At most so many windows of `fit_days` are used, the latest."
    )
    min_fit_windows: int = Field(
        default=4, ge=2, le=1000, description="With fewer windows a memory type keeps its default."
    )
    min_fit_references: int = Field(
        default=100, ge=1, description="With fewer memories referenced in their windows a type keeps its default."
    )
    fit_margin_nats: float = Field(
        default=10,
        ge=0,
        le=1e9,
        description="By how much log loss in all a factor must beat the default to be taken.",
    )
    max_fit_rows: int = Field(
        default=200_000, ge=1, le=10**8, description="The fits look at every n-th memory, at about so many rows in all."
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> StrengthParams:
        if not self.forgettable_below <= self.normal_from <= self.strong_above:
            message = "bands must be in order: forgettable_below <= normal_from <= strong_above"
            raise ValueError(message)
        if self.half_life_factors[0] != 1:
            message = "the first half_life_factor is the default and must be 1"
            raise ValueError(message)
        return self


# When the use of a memory counts as changed.


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


class UsageParams(Protocol):
    """The params that strength, need, trend and their grades depend on."""

    strength: StrengthParams
    need: NeedParams
    trend: TrendParams
    scorecard: ScorecardParams
