"""How fast memories fade."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slowwave.transforms.core.methods.chosen import chosen_method

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
