"""E-values against their definition: expectations under the null, by enumeration; e-BH against its own wording."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.learning.anti_patterns.flags import (
    BASELINE_PRIOR,
    FAILING_PRIOR,
    is_e_discovery,
    log_beta,
    log_e_above,
    log_e_worse,
    log_gamma,
    log_mean,
)

RATES = [0.02, 0.1, 0.3, 0.5, 0.6, 0.8, 0.97]


def one(expression, **values):
    return pl.DataFrame({name: [float(value)] for name, value in values.items()}).select(expression).item()


def e_worse(x, n, x_others, n_others):
    columns = [pl.col(name) for name in ("x", "n", "xo", "no")]
    return math.exp(one(log_e_worse(*columns), x=x, n=n, xo=x_others, no=n_others))


def e_above(x, n, rate):
    return math.exp(one(log_e_above(pl.col("x"), pl.col("n"), rate), x=x, n=n))


def binomial(x, n, rate):
    return math.comb(n, x) * rate**x * (1 - rate) ** (n - x)


@given(st.floats(1e-3, 1e6))
def test_log_gamma(x):
    assert one(log_gamma(pl.col("x")), x=x) == pytest.approx(math.lgamma(x), rel=1e-10, abs=1e-10)


@given(st.floats(1e-2, 1e4), st.floats(1e-2, 1e4))
def test_log_beta(a, b):
    expected = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    assert one(log_beta(pl.col("a"), pl.col("b")), a=a, b=b) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("n", "n_others"), [(1, 1), (4, 2), (3, 8), (7, 7)])
def test_no_worse_strategy_gains_evidence_in_expectation(n, n_others):
    table = {(x, y): e_worse(x, n, y, n_others) for x in range(n + 1) for y in range(n_others + 1)}
    for rate, others in itertools.product(RATES, RATES):
        if rate > others:
            continue
        expected = sum(e * binomial(x, n, rate) * binomial(y, n_others, others) for (x, y), e in table.items())
        assert expected <= 1 + 1e-9, (rate, others)


@pytest.mark.parametrize(
    ("x", "n", "x_others", "n_others"),
    [(5, 6, 3, 9), (2, 6, 4, 9), (4, 10, 4, 9), (0, 4, 0, 7), (4, 4, 7, 7), (3, 9, 3, 9)],
)
def test_the_null_is_given_its_best_chance(x, n, x_others, n_others):
    def likelihood(x, n, rate):
        return rate**x * (1 - rate) ** (n - x)

    grid = [number / 300 for number in range(301)]
    best = max(
        likelihood(x, n, rate) * likelihood(x_others, n_others, others)
        for rate in grid
        for others in grid
        if rate <= others
    )
    # the alternative: both rates averaged over their Beta priors
    average = math.exp(
        sum(
            math.lgamma(failed + a)
            + math.lgamma(tried - failed + b)
            - math.lgamma(tried + a + b)
            - math.lgamma(a)
            - math.lgamma(b)
            + math.lgamma(a + b)
            for failed, tried, (a, b) in ((x, n, FAILING_PRIOR), (x_others, n_others, BASELINE_PRIOR))
        )
    )
    assert e_worse(x, n, x_others, n_others) == pytest.approx(average / best, rel=1e-3)


@pytest.mark.parametrize("n", [1, 5, 20])
def test_a_rate_at_most_the_limit_gains_no_evidence_in_expectation(n):
    table = [e_above(x, n, 0.5) for x in range(n + 1)]
    for rate in RATES:
        expected = sum(e * binomial(x, n, rate) for x, e in enumerate(table))
        assert (expected <= 1 + 1e-9) == (rate <= 0.5), rate


def test_sessions_half_failed_are_no_more_than_whole_ones():
    # two outcomes of one share: every session at 0.5 has the mean of a fair coin, and carries no evidence above it
    assert e_above(10, 20, 0.5) <= 1
    assert e_worse(5, 10, 10, 20) <= 1


def test_looking_after_every_session_reaches_twenty_at_most_one_time_in_twenty():
    table = {(x, n): e_above(x, n, 0.5) for n in range(1, 19) for x in range(n + 1)}
    alive = {0: 1.0}
    crossed = 0.0
    for n in range(1, 19):
        following: dict[int, float] = {}
        for x, mass in alive.items():
            for step in (0, 1):
                following[x + step] = following.get(x + step, 0.0) + mass / 2
        crossed += sum(mass for x, mass in following.items() if table[x, n] >= 20)
        alive = {x: mass for x, mass in following.items() if table[x, n] < 20}
    assert 0 < crossed <= 0.05


def test_evidence_grows_with_failures_and_needs_both_arms():
    grown = [e_worse(n, n, 2, 20) for n in range(1, 9)]
    assert grown == sorted(grown)
    assert grown[3] > 20
    assert e_worse(8, 8, 0, 0) == e_worse(0, 0, 2, 20) == 1


def test_the_mean_of_two_e_values():
    mean = log_mean(pl.col("a"), pl.col("b"))
    assert math.exp(one(mean, a=math.log(3), b=math.log(5))) == pytest.approx(4)
    assert one(mean, a=800, b=-800) == pytest.approx(800 - math.log(2))


def e_bh(e_values, hypotheses, level):
    """Wang & Ramdas: reject the k largest, k the largest number with k e_(k) >= m / level."""
    ordered = sorted(e_values, reverse=True)
    best = max((k for k, e in enumerate(ordered, 1) if k * e * level >= hypotheses), default=0)
    return [bool(best) and e >= ordered[best - 1] for e in e_values]


# whole numbers: ties occur, and no product lies within rounding of the limit
@given(st.lists(st.integers(0, 400), min_size=1, max_size=12), st.integers(0, 40))
def test_e_bh_is_what_it_says(e_values, unseen):
    hypotheses = len(e_values) + unseen + 0.5
    frame = pl.DataFrame({"e": e_values, "m": [hypotheses] * len(e_values), "family": "f"})
    found = frame.select(is_e_discovery(pl.col("e").log(), pl.col("m"), ["family"], 0.05)).to_series().to_list()
    assert found == e_bh(e_values, hypotheses, 0.05)


def test_equal_e_values_stand_or_fall_together():
    frame = pl.DataFrame({"e": [41.0, 41.0], "m": [4, 4], "family": ["a", "a"]})
    found = frame.select(is_e_discovery(pl.col("e").log(), pl.col("m"), ["family"], 0.05)).to_series().to_list()
    assert found == [True, True]


def test_families_of_e_bh_are_apart():
    frame = pl.DataFrame({"e": [50.0, 50.0, 1000.0], "m": [4, 2, 4], "family": ["a", "b", "a"]})
    found = frame.select(is_e_discovery(pl.col("e").log(), pl.col("m"), ["family"], 0.05)).to_series().to_list()
    assert found == [True, True, True]
    frame = frame.with_columns(e=pl.Series([35.0, 41.0, 1000.0]))
    found = frame.select(is_e_discovery(pl.col("e").log(), pl.col("m"), ["family"], 0.05)).to_series().to_list()
    assert found == [False, True, True]
