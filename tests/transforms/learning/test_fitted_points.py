"""Which point of the grid a project uses: the least loss so far, by a margin."""

import polars as pl
import pytest
from each import each

from slowwave.transforms.learning.confidence.fits import fitted_points
from slowwave.transforms.learning.confidence.params import ConfidenceParams

_THREE = ConfidenceParams(
    grid=tuple(ConfidenceParams().grid[0].model_copy(update={"prior_strength": k}) for k in (2, 4, 8)),
    min_fit_attempts=10,
    fit_margin_nats=1,
)


def _losses(*rows):
    """known_day, attempts and the loss of each grid point in nats."""
    columns = ("project", "known_day", "attempts", "loss_0", "loss_1", "loss_2")
    millionths = [("p", day, attempts, *(round(1e6 * loss) for loss in losses)) for day, attempts, *losses in rows]
    return pl.DataFrame(millionths, schema=dict.fromkeys(columns, pl.Int64) | {"project": pl.String}, orient="row")


def _point(losses, day=100, project="p"):
    days = pl.DataFrame({"project": [project], "day": [day]})
    return fitted_points(losses, days, _THREE).row(0, named=True)


@each(
    ("losses", "point"),
    [
        ((10, 20, 5), 2),
        ((10, 5, 20), 1),
        ((5, 10, 20), 0),
        ((10, 5, 5), 1),
        ((10, 10, 10), 0),
        ((10, 9.1, 9.1), 0),
        ((10, 9, 9), 0),
        ((10, 8.9, 8.8), 2),
    ],
)
def test_the_least_loss_is_picked_by_a_margin_and_ties_go_first(losses, point):
    assert _point(_losses((1, 10, *losses)))["point"] == point


def test_too_little_evidence_keeps_the_default():
    assert _point(_losses((1, 9, 10, 5, 5)))["point"] == 0


def test_losses_count_from_the_day_after_they_are_known():
    losses = _losses((1, 10, 10, 5, 15), (5, 10, 10, 20, 0))
    assert [_point(losses, day)["point"] for day in (1, 2, 5, 6)] == [0, 1, 1, 2]
    assert [_point(losses, day)["fit_attempts"] for day in (1, 2, 5, 6)] == [0, 10, 10, 20]
    assert _point(losses, 6)["log_loss"] == pytest.approx(15 / 20)
    assert _point(losses, 6)["default_log_loss"] == pytest.approx(20 / 20)
    assert _point(losses, 2)["log_loss"] == pytest.approx(5 / 10)


def test_a_project_without_losses_keeps_the_default():
    found = _point(_losses((1, 10, 10, 5, 5)), project="q")
    assert (found["point"], found["fit_attempts"], found["log_loss"]) == (0, 0, None)
