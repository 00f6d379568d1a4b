"""Stores whose truth is known: loss avoided by so many minutes of review, in several orders. Figures: pytest -s."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

from slowwave.transforms.health.params import ReviewParams
from slowwave.transforms.health.review_value import review_value

PARAMS = ReviewParams()
MEMORIES = 1500
STORES = 12
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75)
HALF = ndtri(0.95)
SIMPLE = ("random", "oldest", "lowest confidence")


def _store(seed, harmful):
    """memory_health of a store in which a share of the memories does harm, and the loss that a look at each avoids."""
    rng = np.random.default_rng([9, seed])
    effect = np.where(rng.random(MEMORIES) < harmful, -rng.gamma(2, 0.06, MEMORIES), rng.gamma(2, 0.03, MEMORIES))
    age = rng.uniform(1, 500, MEMORIES)
    references_30d = np.exp(rng.normal(-0.5, 1.5, MEMORIES))
    per_reference = 1 + rng.gamma(1, 2, MEMORIES)
    references = rng.poisson(references_30d * age / 30)
    injected = rng.binomial(1000, 0.9, MEMORIES) * references * per_reference // 900
    is_candidate = rng.random(MEMORIES) < 0.1
    references[is_candidate] = injected[is_candidate] = 0

    # what is estimated is the truth with an error of the size that is published
    spread = 1 / np.sqrt(np.maximum(injected, 1))
    lift = effect + spread * rng.normal(size=MEMORIES)
    has_lift = (injected >= 30) & (rng.random(MEMORIES) < 0.4)
    weight = references / (references + 8)
    confidence = 0.5 + weight * (effect + rng.normal(size=MEMORIES) / np.sqrt(np.maximum(references, 1))).clip(
        -0.5, 0.5
    )
    width = 0.5 / np.sqrt(references + 8)
    has_confidence = references > 0
    need = 1 - np.exp(-references_30d * np.exp(rng.normal(0, 0.5, MEMORIES)))
    has_need = (age > 14) & ~is_candidate
    characters = np.exp(rng.normal(5.5, 1, MEMORIES)).astype(np.int64)

    def known(values, where):
        return pl.Series(values).set(pl.Series(~where), None)

    health = pl.DataFrame(
        {
            "memory_id": [f"m{number:05}" for number in range(MEMORIES)],
            "status": np.where(is_candidate, "candidate", "active"),
            "content": ["x" * number for number in characters],
            "injected_count": injected.astype(np.int64),
            "reference_count": references.astype(np.int64),
            "need_30d": known(need, has_need),
            "lift": known(lift, has_lift),
            "lift_low": known(lift - HALF * spread, has_lift),
            "lift_high": known(lift + HALF * spread, has_lift),
            "confidence": known(confidence, has_confidence),
            "confidence_low": known(confidence - HALF * width, has_confidence),
            "confidence_high": known(confidence + HALF * width, has_confidence),
            "age": age,
        }
    ).with_columns(
        pl.when(pl.col("lift_high") < 0)
        .then(pl.lit("harmful"))
        .when(pl.col("need_30d") < 0.1)
        .then(pl.lit("forget"))
        .otherwise(pl.lit("keep"))
        .alias("verdict")
    )
    stays_out = is_candidate | (health["verdict"] == "forget").to_numpy()
    missed = np.where(effect > 0, PARAMS.lost_reference_loss * references_30d, 0)
    return health, np.where(stays_out, missed, np.maximum(-effect, 0) * references_30d * per_reference)


def _orders(health, seed):
    """Rows of the store in the order of each way to review it."""
    by_value = review_value(health, PARAMS)["memory_id"].str.slice(1).cast(pl.Int64).to_numpy()
    return {
        "value per minute": by_value,
        "random": np.random.default_rng(seed).permutation(MEMORIES),
        "oldest": np.argsort(-health["age"].to_numpy(), kind="stable"),
        "lowest confidence": np.argsort(health["confidence"].fill_null(0.5).to_numpy(), kind="stable"),
        "most injected": np.argsort(-health["injected_count"].to_numpy(), kind="stable"),
    }


@cache
def _avoided(harmful):
    """Share of all avoidable loss avoided after each share of all minutes, by order; mean over stores."""
    found = {}
    for seed in range(STORES):
        health, loss = _store(seed, harmful)
        minutes = PARAMS.decision_minutes + health["content"].str.len_chars().to_numpy() / PARAMS.characters_per_minute
        for name, order in _orders(health, seed).items():
            spent = np.cumsum(minutes[order]) / minutes.sum()
            gained = np.append(0, np.cumsum(loss[order]) / loss.sum())
            at = gained[np.searchsorted(spent, SHARES, side="right")]
            found.setdefault(name, []).append(at)
    return {name: dict(zip(SHARES, np.mean(curves, axis=0), strict=True)) for name, curves in found.items()}


@pytest.mark.parametrize("harmful", [0.05, 0.15, 0.4])
def test_review_by_value_avoids_more_loss_than_any_other_order(harmful):
    found = _avoided(harmful)
    head = f"{harmful:.0%} harmful: loss avoided"
    shown = [f"{head:>26} after" + "".join(f"{share:6.0%}" for share in SHARES) + " of the minutes"]
    shown += [f"{name:>32}" + "".join(f"{curve[share]:6.2f}" for share in SHARES) for name, curve in found.items()]
    print("\n" + "\n".join(shown))  # noqa: T201 - figures are printed
    ours = found["value per minute"]
    for share in (0.1, 0.25, 0.5):
        assert ours[share] >= max(found[name][share] for name in SIMPLE) + 0.1
        # the strongest of the others: what is injected most has most at stake
        assert ours[share] >= found["most injected"][share] + 0.03
