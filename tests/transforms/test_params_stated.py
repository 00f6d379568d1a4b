"""Params that a home states for another release: what is not read is named, and refused by nobody."""

from __future__ import annotations

from typing import Any

import pytest

from slowwave.transforms.params import Params
from slowwave.transforms.params_stated import known_params, without_effect

NOW = Params().chosen_methods()
BEFORE = NOW | {"heuristics.method": "heuristic/1", "errors.method": "error/1"}
OF_BEFORE = {
    "heuristics": {"trend_method": "strategy_trend/1", "trend_days": 21},
    "scorecard": {"method": "scorecard/1"},
    "forecast": {"parent_strength": 6},
    "errors": {"min_named_words": 3, "max_tokens": 32},
}


def test_what_is_gone_is_left_out_and_the_rest_is_taken() -> None:
    params = Params.model_validate(known_params(OF_BEFORE))
    assert (params.heuristics.trend_days, params.forecast.parent_strength, params.errors.min_named_words) == (21, 6, 3)


def test_each_that_has_no_effect_is_named() -> None:
    told = without_effect(OF_BEFORE, NOW)
    names = ["heuristics.trend_method", "scorecard.method", "forecast.parent_strength", "errors.min_named_words"]
    assert [text.split(" has ")[0] for text in told] == names


def test_with_the_methods_of_before_only_what_is_gone_is_named() -> None:
    assert [text.split(" has ")[0] for text in without_effect(OF_BEFORE, BEFORE)] == [
        "heuristics.trend_method",
        "scorecard.method",
    ]
    assert without_effect({"confidence": {"horizon_days": 5, "max_untried": 9}}, BEFORE) == [
        (
            "confidence.horizon_days, confidence.max_untried have no effect with heuristic/1,"
            ' only with method = "heuristic/2" under [heuristics]'
        )
    ]


@pytest.mark.parametrize("stated", [{}, {"forecast": 3}, {"trend": {"min_reference_days": 5}}])
def test_the_rest_is_not_spoken_of(stated: dict[str, Any]) -> None:
    assert without_effect(stated, NOW) == []
    assert known_params(stated) == stated
