"""Whether what happened lay in an interval: right on average for one who is right, whatever the number of attempts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import betabinom

from slowwave.transforms.core.counts.forecast_grades import Steps, worth_of

_MASS = 0.9
_means = st.floats(0.02, 0.98)
_worths = st.floats(0.6, 500)


@given(_means, _worths, st.integers(1, 200))
def test_a_forecaster_who_is_right_scores_the_mass(mean, worth, attempts):
    successes = np.arange(attempts + 1)
    chances = betabinom.pmf(successes, attempts, mean * worth, (1 - mean) * worth)
    n = len(successes)
    inside = Steps.of(np.full(n, attempts), successes).share_inside(np.full(n, mean), np.full(n, worth), _MASS)
    assert (chances * inside).sum() == pytest.approx(_MASS, abs=1e-6)
    assert ((inside >= 0) & (inside <= 1)).all()


def test_what_is_far_off_is_outside_and_what_is_in_the_middle_inside():
    inside = Steps.of(np.full(3, 40), np.array([0, 20, 40])).share_inside(np.full(3, 0.5), np.full(3, 50.0), _MASS)
    assert inside.tolist() == [0, 1, 0]


def test_nothing_is_graded_as_nothing():
    none = np.zeros(0)
    assert len(Steps.of(none.astype(np.int64), none.astype(np.int64)).share_inside(none, none, _MASS)) == 0


def test_of_very_many_attempts_an_equal_share_is_looked_at():
    inside = Steps.of(np.array([10**6, 10**6]), np.array([3 * 10**5, 0])).share_inside(
        np.full(2, 0.3), np.full(2, 1e4), _MASS
    )
    assert inside.tolist() == pytest.approx([1, 0])


@given(_means, _worths)
def test_the_worth_of_an_interval_is_that_it_was_made_with(mean, worth):
    low, high = (betaincinv(mean * worth, (1 - mean) * worth, tail) for tail in (0.05, 0.95))
    found = worth_of(np.array([mean]), np.array([low]), np.array([high]), _MASS)[0]
    ends = [betaincinv(mean * found, (1 - mean) * found, tail) for tail in (0.05, 0.95)]
    assert ends[1] - ends[0] == pytest.approx(high - low, abs=0.01)
