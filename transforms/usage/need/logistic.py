"""Logistic regression held to given coefficients: the same to the last bit however many threads there are."""

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.arrays import Booleans, Floats

_NEWTON_STEPS = 12
_CONVERGED = 1e-5
# Coefficients are published, and used, in these steps.
COEFFICIENT_STEP = 2.0**-10


def need_coefficients(features: Floats, is_needed: Booleans, weights: Floats, prior: Floats, ridge: Floats) -> Floats:
    """Coefficients, in steps of 2^-10, that maximise the log likelihood less half of ridge × (coefficient - prior)^2.

    Ridge logistic regression (Le Cessie and van Houwelingen 1992), by Newton's method.

    Args:
        features: a row per coefficient, a column per case, in the order of a key.
        is_needed: the outcome of each case.
        weights: how much each case counts.
        prior: what each coefficient is held to.
        ridge: how strongly.
    """
    found = prior.copy()
    for _ in range(_NEWTON_STEPS):
        expected = need_probability(features, found)
        gradient = (features * (weights * (is_needed - expected))).sum(axis=1) - ridge * (found - prior)
        curved = features * (weights * expected * (1 - expected))
        # sums in the order of the cases, not a matrix product: its last bits would depend on the threads
        curvature = np.diag(ridge)
        for place, row in enumerate(features):
            curvature[place, place:] += (curved[place:] * row).sum(axis=1)
        curvature = np.triu(curvature) + np.triu(curvature, 1).T
        step = np.clip(np.linalg.solve(curvature, gradient), -1, 1)
        found += step
        if np.abs(step).max() < _CONVERGED:
            break
    return np.rint(found / COEFFICIENT_STEP) * COEFFICIENT_STEP


def need_probability(features: Floats, coefficients: Floats) -> Floats:
    """Probability of a reference, one per column of `features`."""
    logit = np.zeros(features.shape[1])
    for row, coefficient in zip(features, coefficients, strict=True):
        logit += row * coefficient
    return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))


def need_log_loss(probability: Floats, is_needed: Booleans, weights: Floats) -> float:
    """Weighted mean negative log likelihood in nats."""
    loss = -np.log(np.where(is_needed, probability, 1 - probability))
    return float((loss * weights).sum() / weights.sum())
