"""When an evaluation is a success: by rules that are stated, and without one."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from slowwave.transforms.imports.adapter import OptionsError
from slowwave.transforms.imports.trace_values import is_success, parse_rules


@each(
    ("stated", "label", "value", "expected"),
    [
        ({}, "pass", None, True),
        ({}, " PASSED ", 0.0, True),
        ({}, "true", None, True),
        ({}, "incorrect", None, False),
        ({}, "good", None, None),
        ({}, "", 1.0, None),
        ({"pass": ["good"]}, "Good", None, True),
        ({"pass": ["good"]}, "poor", None, False),
        ({"pass": ["good"]}, "pass", None, False),
        ({"pass": ["good"]}, "", 1.0, None),
        ({"pass": ["good"], "fail": ["poor"]}, "unsure", None, None),
        ({"fail": ["poor"]}, "poor", None, False),
        ({"fail": ["poor"]}, "good", None, None),
        ({"at_least": 0.7}, "", 0.7, True),
        ({"at_least": 0.7}, "", 0.69, False),
        ({"at_least": 0.7}, "fail", None, False),
        ({"at_most": 0}, "", 0.1, False),
        ({"at_least": 1, "at_most": 3}, "", 2.0, True),
        ({"at_least": 1}, "", None, None),
        ({"pass": ["good"], "at_least": 1}, "", 2.0, True),
    ],
)
def test_rules(stated: dict[str, Any], label: str, value: float | None, expected: bool | None) -> None:
    rules = parse_rules({"Quality": stated}) if stated else {}
    assert is_success(rules, "quality", label, value) is expected


@each(
    "stated",
    [{}, {"above": 1}, {"pass": "good"}, {"pass": []}, {"pass": [1]}, {"at_least": "x"}, {"at_most": True}, 0.7],
)
def test_a_rule_that_cannot_be_used_is_named(stated: object) -> None:
    with pytest.raises(OptionsError, match="'quality'"):
        parse_rules({"quality": stated})


def test_rules_must_be_a_table() -> None:
    with pytest.raises(OptionsError, match="table"):
        parse_rules(["quality"])
