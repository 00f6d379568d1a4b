"""Which memories a person should look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from slowwave.transforms.core.vocabularies import SETTLED_STATUSES

if TYPE_CHECKING:
    from slowwave.transforms.core.arrays import Floats
    from slowwave.transforms.health.params import ReviewParams


# a published interval of no width is rounding, not certainty
_LEAST_SPREAD = 1e-6
# divides 0 without a fault
_LEAST = 1e-300


def review_value(health: pl.DataFrame, params: ReviewParams, *, interval_mass: float = 0.9) -> pl.DataFrame:
    """Expected loss avoided per minute of review: P(looking changes the decision) x stake / minutes.

    What stands about a memory is what happens to it unless somebody looks, and a person who looks is taken to see
    whether that is right:

    - in use (active, or never landed but injected; whatever the verdict but forget): wrong if it does harm. P is
      `prior_wrong`, by Bayes' rule with the odds that its lift is below 0 (a normal distribution of the published mean
      and width; of a lift that says nothing they are even), without a lift that its confidence is below no difference;
      without either, the prior alone. At stake are the injections expected in 30 days, each at the
      expected harm (mean of the lift given that it is below 0; `wrong_injection_loss` without a lift).
    - verdict forget: wrong if it does no harm and is referenced within 30 days, by need_30d. At stake are the
      references expected then, each at `lost_reference_loss`.
    - candidate: wrong to wait if it does no harm (with `prior_candidate_right` instead) and would be referenced. At
      stake as for forget.
    - superseded, invalid, archived, graduated: decided; 0.

    References expected in 30 days are -ln(1 - need_30d), as of a Poisson process, `prior_references` where it is NULL;
    injections are as many times more as they were so far, (injected_count + 1) / (reference_count + 1).
    Contradictions beyond what was expected are in the confidence already.

    Args:
        health: memory_health: memory_id, verdict, status, confidence, confidence_low, confidence_high, lift, lift_low,
            lift_high, need_30d, injected_count, reference_count, content.
        params: priors and costs.
        interval_mass: mass of the intervals in `health` (a param of memory outcomes).

    Returns:
        memory_id, probability_changed (0-1), stake (successes lost in 30 days if what stands is wrong), minutes,
        review_value (successes per minute), highest value first, ties by memory_id. Never NULL: where evidence
        is missing the priors named above stand for it.
    """
    lift, lift_spread = _posterior(health, "lift", interval_mass)
    confidence, confidence_spread = _posterior(health, "confidence", interval_mass)
    below = ndtr(-lift / lift_spread)
    # mean of a normal variable below 0, times the probability to be there
    harm = lift_spread * np.exp(-0.5 * (lift / lift_spread) ** 2) / np.sqrt(2 * np.pi) - lift * below
    doubted = ndtr((params.no_difference - confidence) / confidence_spread)
    doubt = np.where(np.isnan(below), np.where(np.isnan(doubted), 0.5, doubted), below)
    wrong = _apply_prior(doubt, params.prior_wrong)
    each = np.where(np.isnan(lift), params.wrong_injection_loss, np.maximum(harm, 0) / np.maximum(below, _LEAST))

    need = _floats(health["need_30d"]).clip(0, params.max_need)
    references = np.where(np.isnan(need), params.prior_references, -np.log1p(-need))
    per_reference = (_floats(health["injected_count"]) + 1) / (_floats(health["reference_count"]) + 1)
    needed = -np.expm1(-references)

    is_candidate = (health["status"] == "candidate").fill_null(value=False).to_numpy()
    is_settled = health["status"].is_in(SETTLED_STATUSES).fill_null(value=False).to_numpy()
    is_forgotten = (health["verdict"] == "forget").fill_null(value=False).to_numpy() & ~is_candidate
    belongs = 1 - _apply_prior(doubt, 1 - params.prior_candidate_right)
    probability = np.where(is_forgotten, (1 - wrong) * needed, np.where(is_candidate, belongs * needed, wrong))
    # given that there is at least one
    missed = params.lost_reference_loss * references / np.maximum(needed, _LEAST)
    stake = np.where(is_forgotten | is_candidate, missed, references * per_reference * each)

    characters = health["content"].str.len_chars().fill_null(params.unknown_characters).to_numpy()
    minutes = params.decision_minutes + characters / params.characters_per_minute
    probability = np.where(is_settled, 0.0, probability)
    return health.select(
        "memory_id",
        pl.Series("probability_changed", probability),
        pl.Series("stake", stake),
        pl.Series("minutes", minutes),
        pl.Series("review_value", probability * stake / minutes),
    ).sort("review_value", "memory_id", descending=[True, False])


def _floats(series: pl.Series) -> Floats:
    """Values as floats; NULL is NaN."""
    return series.cast(pl.Float64).to_numpy()


def _posterior(health: pl.DataFrame, name: str, interval_mass: float) -> tuple[Floats, Floats]:
    """Mean and spread of the normal distribution with the published mean and width; NaN where any of it is NULL."""
    low, high = _floats(health[f"{name}_low"]), _floats(health[f"{name}_high"])
    spread = np.maximum((high - low) / (2 * ndtri((1 + interval_mass) / 2)), _LEAST_SPREAD)
    return np.where(np.isnan(spread), np.nan, _floats(health[name])), spread


def _apply_prior(even: Floats, prior: float) -> Floats:
    """Bayes' rule: the probability with `prior` of what would have the probability `even` with a prior of 1/2."""
    joint = prior * even
    return joint / np.maximum(joint + (1 - prior) * (1 - even), _LEAST)
