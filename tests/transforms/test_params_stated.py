"""Params that a home states for another release: what is not read is named, and refused by nobody."""

from __future__ import annotations

from typing import Any

import pytest
from tried_methods import tried

from slowwave.transforms.params import Params
from slowwave.transforms.params_stated import known_params, without_effect

NOW = Params().chosen_methods()
OF_BEFORE = {
    "heuristics": {"trend_method": "strategy_trend/1", "trend_days": 21},
    "scorecard": {"method": "scorecard/1"},
    "forecast": {"method": "heuristic/1", "parent_strength": 6},
    "errors": {"min_named_words": 3, "max_tokens": 32},
}


def test_what_is_gone_is_left_out_and_the_rest_is_taken() -> None:
    params = Params.model_validate(known_params(OF_BEFORE))
    assert (params.heuristics.trend_days, params.errors.max_tokens) == (21, 32)


def test_each_that_has_no_effect_is_named() -> None:
    told = without_effect(OF_BEFORE, NOW)
    names = ["forecast", "heuristics.trend_method", "scorecard.method", "errors.min_named_words"]
    assert [text.split(" has ")[0] for text in told] == names
    assert told[0] == "forecast has no effect any more: only heuristic/1 read it, which was retired"


def test_what_another_version_reads_is_named_with_it() -> None:
    stated = {"evidence": {"echo_code_points": 60, "echo_min_code_points": 9}}
    with tried("echo/1", "echo/99", reads=("evidence.global_types",)):
        assert without_effect(stated, NOW | {"evidence.echo_method": "echo/99"}) == [
            (
                "evidence.echo_code_points, evidence.echo_min_code_points have no effect with echo/99,"
                ' only with echo_method = "echo/1" under [evidence]'
            )
        ]
        assert without_effect(stated, NOW) == []


@pytest.mark.parametrize("stated", [{}, {"forecast": 3}, {"trend": {"min_reference_days": 5}}])
def test_the_rest_is_not_spoken_of(stated: dict[str, Any]) -> None:
    assert without_effect(stated, NOW) == []
    assert known_params(stated) == stated
