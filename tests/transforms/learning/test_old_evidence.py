"""Old evidence keeps its order: of strategies no longer tried, none overtakes another, whatever others do."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest
from old_evidence import FIT, STOPPED, believed_at, old_evidence, reversals
from thorough import IS_THOROUGH

from slowwave.transforms.learning.confidence.params import ConfidenceParams, ConfidencePoint, Correction

_PROJECTS = 10_000 if IS_THOROUGH else 150
_LATER = (1, 7, 45, 200, 2_000)
_BOUNDS = ("confidence", "confidence_low")
_SHARP = ConfidenceParams(
    grid=(
        ConfidencePoint(
            half_life_days=2, record_strength=1, prior_strength=0.5, relatives_share=1, fading_half_life_days=20
        ),
    ),
    dispersions=(0.02,),
)

_CORRECTED = ConfidenceParams(corrections=(Correction(records_share=0.5, shift=-1),))


@pytest.fixture(
    scope="module",
    params=[ConfidenceParams(), _SHARP, _CORRECTED],
    ids=["default", "sharp", "corrected"],
)
def told(request: pytest.FixtureRequest) -> list[pl.DataFrame]:
    """What was believed when the strategies were last tried, and later."""
    sessions = old_evidence(_PROJECTS, 7)
    return [believed_at(sessions, STOPPED + later, request.param) for later in (0, *_LATER)]


@pytest.mark.parametrize("name", _BOUNDS)
def test_none_that_is_no_longer_tried_overtakes_another(told: list[pl.DataFrame], name: str) -> None:
    here = (pl.col("agent") == "a") & (pl.col("task_type") == "t")
    stopped, *later = (one.filter(here) for one in told)
    for before, after in [*((stopped, one) for one in later), *pairwise(later)]:
        assert reversals(before, after, name).is_empty()
    assert stopped[name].n_unique() > _PROJECTS
    fit = ["project", *FIT]
    assert stopped.join(later[-1], on=fit, how="semi").n_unique("project") > _PROJECTS / 2


@pytest.mark.parametrize("name", _BOUNDS)
def test_one_that_never_did_worse_is_never_below(told: list[pl.DataFrame], name: str) -> None:
    for one in reversed(told):
        pairs = one.filter(pl.col("strategy_id") == "u").join(
            one.filter(pl.col("strategy_id") == "v"), on=["project", "agent", "task_type"], suffix="_worse"
        )
        assert pairs.height == _PROJECTS
        assert pairs.filter(pl.col(name) < pl.col(f"{name}_worse")).is_empty()
    assert told[0].filter(pl.col("strategy_id").is_in(["u", "v"])).n_unique(["project", name]) > 1.3 * _PROJECTS


def test_an_interval_holds_its_mean_and_widens(told: list[pl.DataFrame]) -> None:
    for one in told:
        assert one.filter(
            (pl.col("confidence_low") > pl.col("confidence")) | (pl.col("confidence_high") < pl.col("confidence"))
        ).is_empty()
        assert one["confidence"].is_between(0, 1).all()
