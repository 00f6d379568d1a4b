"""Many estimates drawn towards each other, so that the few large ones stay large."""

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.arrays import Floats

# Standard deviations of the normal distributions that true effects are a mixture of; of the first, nothing differs.
_SPREADS = np.array([0.0, *(0.01 * 2 ** (np.arange(12) / 2))])
# What the first is favoured by, as if so many more estimates had come from it (Stephens 2017).
_NULL_WEIGHT = 10.0
_ROUNDS = 200


def draw_together(estimate: Floats, error: Floats) -> Floats:
    """Return the means of the true effects, given estimates with their standard errors.

    Adaptive shrinkage (Stephens 2017, Biostatistics 18:275): true effects are a mixture of normal distributions around
    a common size, whose weights are fitted by expectation and maximisation, a fixed number of rounds. Where most
    effects are small and few are large, the small are drawn in and the large hardly; one normal distribution would draw
    both alike.
    """
    if not len(estimate):
        return estimate
    centre = _common_size(estimate, error)
    variance = error[:, None] ** 2 + _SPREADS[None, :] ** 2
    off = estimate - centre
    log_density = -0.5 * (off[:, None] ** 2 / variance + np.log(variance))
    density = np.exp(log_density - log_density.max(axis=1)[:, None])
    weights = np.full(len(_SPREADS), 1 / len(_SPREADS))
    favoured = np.zeros(len(_SPREADS))
    favoured[0] = _NULL_WEIGHT
    for _ in range(_ROUNDS):
        shares = density * weights
        shares /= shares.sum(axis=1)[:, None]
        weights = shares.sum(axis=0) + favoured
        weights /= weights.sum()
    shares = density * weights
    kept = (shares * (_SPREADS[None, :] ** 2 / variance)).sum(axis=1) / shares.sum(axis=1)
    return centre + kept * off


def _common_size(estimate: Floats, error: Floats) -> float:
    """The median of the estimates and of one more that is 0, by their precision: few large ones do not move it."""
    sizes = np.append(estimate, 0.0)
    precision = 1 / (error**2 + _SPREADS[len(_SPREADS) // 2] ** 2)
    weight = np.append(precision, precision.max())
    order = np.argsort(sizes, kind="stable")
    reached = np.cumsum(weight[order])
    return float(sizes[order][np.searchsorted(reached, reached[-1] / 2)])
