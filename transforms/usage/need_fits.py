"""What a lake's own past says about which memories are needed again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.usage.need_timelines import NeedEvidence
from slowwave.transforms.usage.need_windows import SCOPE_FEATURES, need_window, scope_features
from slowwave.transforms.usage.params import NeedParams

# Logistic regression held to given coefficients: the same to the last bit however many threads there are.

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


# An odd 64-bit constant (Knuth, The Art of Computer Programming 3, 6.4) spreads consecutive numbers.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SPREAD_BITS = np.uint64(40)


@dataclass(frozen=True)
class NeedCases:
    """Memories at the starts of windows, sorted by window and memory: what was known, and what came."""

    features: Floats
    is_needed: Booleans
    weights: Floats
    scope: Integers
    cut: Integers

    def of_scope(self, scope: int) -> NeedCases:
        """The cases of one scope."""
        chosen = self.scope == scope
        return NeedCases(
            self.features[:, chosen], self.is_needed[chosen], self.weights[chosen], self.scope[chosen], self.cut[chosen]
        )


@dataclass(frozen=True)
class NeedFit:
    """Coefficients, from where they are (default, lake or scope), and how they do on the cases they come from."""

    source: str
    coefficients: Floats
    windows: int
    cases: int
    needed: int
    log_loss: float | None
    default_log_loss: float | None
    base_log_loss: float | None


def sampled_memories(evidence: NeedEvidence, cuts: list[int], params: NeedParams) -> Integers:
    """Places of every n-th memory, by its number, so that all windows together have about `max_fit_rows` cases."""
    cases = sum(int((evidence.first < cut).sum()) for cut in cuts)
    every = max(1, -(-cases // params.max_fit_rows))
    spread = (evidence.number.astype(np.uint64) * _SPREAD) >> _SPREAD_BITS
    return np.flatnonzero(spread % np.uint64(every) == 0)


def need_cases(
    sampled: NeedEvidence, of_scopes: list[Floats], cuts: list[int], weights: tuple[int, int], params: NeedParams
) -> NeedCases:
    """The cases of all windows; older windows weigh less."""
    windows = [
        need_window(sampled, cut, features, weights, params.horizon_days)
        for cut, features in zip(cuts, of_scopes, strict=True)
    ]
    cut = np.concatenate([np.full(len(window.place), window.cut) for window in windows])
    return NeedCases(
        np.concatenate([window.features for window in windows], axis=1),
        np.concatenate([window.is_needed for window in windows]),
        np.exp2((cut - cuts[-1]) / params.window_half_life_days),
        sampled.scope[np.concatenate([window.place for window in windows])],
        cut,
    )


def need_fits(evidence: NeedEvidence, cuts: list[int], params: NeedParams) -> tuple[list[NeedFit], tuple[int, int]]:
    """The fit of each scope, by place, and the weights of broad and bulk references taken.

    The lake's fit is held to the defaults, a scope's own to the lake's. The weights are the lake's: those of the grid
    with the least penalised log loss.
    """
    prior = np.array(params.coefficients)
    ridge = np.full(len(prior), float(params.memory_ridge))
    ridge[-SCOPE_FEATURES:] = params.scope_ridge
    sampled = evidence.of_memories(sampled_memories(evidence, cuts, params))
    if not cuts or not len(sampled.number):
        default = NeedFit("default", prior, 0, 0, 0, None, None, None)
        return [default] * len(evidence.scopes), params.bulk_weights[0]
    of_scopes = scope_features(evidence, cuts, params)
    best: tuple[float, tuple[int, int], NeedCases, Floats] | None = None
    for weights in params.bulk_weights:
        cases = need_cases(sampled, of_scopes, cuts, weights, params)
        found = need_coefficients(cases.features, cases.is_needed, cases.weights, prior, ridge)
        loss = need_log_loss(need_probability(cases.features, found), cases.is_needed, cases.weights)
        penalised = loss * float(cases.weights.sum()) + float((ridge * (found - prior) ** 2).sum()) / 2
        # by more than rounding: of equals the first stays
        if best is None or penalised < best[0] - 1e-6:
            best = (penalised, weights, cases, found)
    assert best is not None  # noqa: S101 - the grid has at least one point
    _, weights, cases, found = best
    of_lake = _fit("lake", cases, found, prior)
    fits = []
    for scope in range(len(evidence.scopes)):
        own = cases.of_scope(scope)
        if params.min_fit_rows <= len(own.scope) < len(cases.scope):
            coefficients = need_coefficients(own.features, own.is_needed, own.weights, found, ridge)
            fits.append(_fit("scope", own, coefficients, prior))
        else:
            fits.append(of_lake)
    return fits, weights


def _fit(source: str, cases: NeedCases, coefficients: Floats, prior: Floats) -> NeedFit:
    base = (cases.is_needed * cases.weights).sum() / cases.weights.sum()
    is_both = 0 < base < 1

    def loss(probability: Floats) -> float:
        return need_log_loss(probability, cases.is_needed, cases.weights)

    return NeedFit(
        source,
        coefficients,
        len(np.unique(cases.cut)),
        len(cases.cut),
        int(cases.is_needed.sum()),
        loss(need_probability(cases.features, coefficients)),
        loss(need_probability(cases.features, prior)),
        loss(np.full(len(cases.cut), base)) if is_both else 0.0,
    )
