"""What the confidence in a strategy is fitted from: a declared grid, its first point the default."""

from __future__ import annotations

from itertools import product
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class ConfidencePoint(BaseModel):
    """One way to weigh the past: the same for all strategies of a project."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    half_life_days: float = Field(ge=0.1, le=10_000, description="Age at which an attempt counts half.")
    record_strength: float = Field(
        ge=0.01, le=1e6, description="Attempts that the whole record is worth against the decayed one."
    )
    prior_strength: float = Field(
        ge=0.01, le=1e6, description="Attempts that what relatives tell is worth against the whole record."
    )
    relatives_share: float = Field(
        ge=0, le=1, description="Share that is believed of how relatives differ from the project's rate, in logits."
    )
    fading_half_life_days: float = Field(
        ge=0.1,
        le=100_000,
        description="Days without an attempt after which half of what was known of a strategy is left.",
    )


class Correction(BaseModel):
    """How the estimates of a point are corrected by how such estimates did of late: the same for a whole project."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    records_share: float = Field(ge=0, le=1, description="Share that a plain sum of records has in it, in logits.")
    shift: float = Field(ge=-5, le=5, description="What is added to the estimate, in logits.")


_DEFAULT = ConfidencePoint(
    half_life_days=7, record_strength=4, prior_strength=6, relatives_share=0.5, fading_half_life_days=365
)


def _grid(*prior_strengths: int) -> tuple[ConfidencePoint, ...]:
    names = tuple(ConfidencePoint.model_fields)
    values = product((2, 7, 30), (2, 6), prior_strengths, (0.5, 1), (30, 1_000))
    points = (ConfidencePoint.model_validate(dict(zip(names, of, strict=True))) for of in values)
    return (_DEFAULT, *points)


# weighed as the plain sum of records is: all attempts alike, against relatives that are believed
_PLAIN = tuple(
    ConfidencePoint(
        half_life_days=1_000,
        record_strength=6,
        prior_strength=strength,
        relatives_share=share,
        fading_half_life_days=1_000,
    )
    for strength, share in product((2, 8), (0.5, 1))
)
_GRID = (*_grid(3, 8), *_PLAIN)
_SHIFTS = (0, *(sign * step / 4 for step in range(1, 7) for sign in (1, -1)))
_CORRECTIONS = tuple(Correction(records_share=share, shift=shift) for share in (0, 0.5, 1) for shift in _SHIFTS)


class ConfidenceParams(BaseModel):
    """The estimate "success of the next comparable attempt", for the next day and the next seven."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("confidence.method")] = "heuristic/3"
    grid: tuple[ConfidencePoint, ...] = Field(
        default=_GRID, min_length=1, description="Tried on each project's own past; the first is the default."
    )
    corrections: tuple[Correction, ...] = Field(
        default=_CORRECTIONS, min_length=1, description="Tried on each project's late past; the first is the default."
    )
    corrected_days: int = Field(
        default=42, ge=1, le=1_000, description="Days whose outcomes tell which correction is used."
    )
    correction_margin_nats: float = Field(
        default=10,
        ge=0,
        le=1e9,
        description="By how much log loss in all, beyond what luck may do, a correction must beat the first.",
    )
    relatives_half_life_days: float = Field(
        default=180, ge=0.1, le=10_000, description="Age at which an attempt counts half in what relatives tell."
    )
    parent_strength: float = Field(
        default=5,
        gt=0,
        description="Attempts the project's rate is worth against an agent's, a strategy's, a task type's.",
    )
    project_strength: float = Field(
        default=10, gt=0, description="Attempts at even odds that a project's rate is held against, where it has few."
    )
    unforeseen: float = Field(
        default=0.01, ge=0, lt=1, description="Share of an estimate that is the prior mean, however much is known."
    )
    horizon_days: int = Field(
        default=7, ge=2, le=28, description="Forecasts are for the next day and for so many days, fitted on both."
    )
    min_fit_attempts: int = Field(
        default=100, ge=1, description="With fewer forecast attempts a project keeps the default."
    )
    fit_margin_nats: float = Field(
        default=2,
        ge=0,
        le=1e9,
        description="By how much log loss in all a grid point must beat the default to be taken.",
    )
    max_fit_rows: int = Field(
        default=20_000, ge=1, description="The fits look at every n-th strategy of a project, at about so many rows."
    )
    session_correlation: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Correlation of attempts within a session: not fitted, for what others do would then move"
        " the order of intervals.",
    )
    dispersions: tuple[float, ...] = Field(
        default=(0.2, 0.02, 0.05, 0.1, 0.15, 0.3, 0.4, 0.5),
        min_length=1,
        description="How much success may differ between days, in variances of one attempt: tried on each project's own"
        " past; the first is the default.",
    )
    min_dispersion_cells: int = Field(
        default=100, ge=1, description="With fewer graded strategies a project keeps the default dispersion."
    )
    untried_worth: float = Field(
        default=3, gt=0, description="Attempts that an estimate without own attempts is worth in an interval."
    )
    credible_mass: float = Field(default=0.9, gt=0, lt=1, description="Mass of the credible intervals.")
    newcomer_cells: float = Field(
        default=60,
        gt=0,
        description="First attempts of strategies that a prediction from relatives is worth, against past ones' ends.",
    )
    max_untried: int = Field(
        default=10_000,
        ge=1,
        description="Untried strategies listed per project, about: of more, those of the strategies that succeed most"
        " often in it.",
    )
