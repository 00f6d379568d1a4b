"""When an evaluation's label or number is a success: by what is stated for its name, else by words that say it.

A number alone says nothing: its scale is the evaluator's. Without a rule it makes no outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.imports.options import OptionsError

_PASSED = frozenset({"pass", "passed", "true", "correct"})
_FAILED = frozenset({"fail", "failed", "false", "incorrect"})
_KEYS = frozenset({"pass", "fail", "at_least", "at_most"})


@dataclass(frozen=True)
class Rule:
    """Labels that pass and fail (`fail` None: all others do), and the numbers from and up to which a value passes."""

    passes: frozenset[str] = frozenset()
    fails: frozenset[str] | None = None
    at_least: float | None = None
    at_most: float | None = None


def rules_stated(stated: Any) -> dict[str, Rule]:  # noqa: ANN401 - whatever settings.toml holds
    """The rules of a table from names to `{pass = […], fail = […], at_least = 0.7, at_most = 1.0}`, by lower-case name.

    Raises OptionsError saying which rule cannot be used, and why.
    """
    if not isinstance(stated, Mapping):
        message = "evaluations must be a table from names to rules"
        raise OptionsError(message)
    return {str(name).strip().lower(): _rule(name, rule) for name, rule in stated.items()}


def is_success(rules: Mapping[str, Rule], name: str, label: str, value: float | None) -> bool | None:
    """Whether an evaluation passed; None where no rule can tell."""
    rule, said = rules.get(name.strip().lower(), Rule()), label.strip().lower()
    if said and (rule.passes or rule.fails):
        if said in rule.passes:
            return True
        if rule.fails is None or said in rule.fails:
            return False
    elif said in _PASSED | _FAILED:
        return said in _PASSED
    if value is not None and (rule.at_least is not None or rule.at_most is not None):
        return (rule.at_least is None or value >= rule.at_least) and (rule.at_most is None or value <= rule.at_most)
    return None


def _rule(name: object, stated: Any) -> Rule:  # noqa: ANN401
    if not isinstance(stated, Mapping) or not stated or stated.keys() - _KEYS:
        message = f"the rule of {name!r} must have some of pass, fail, at_least and at_most, and nothing else"
        raise OptionsError(message)
    labels = {key: stated[key] for key in ("pass", "fail") if key in stated}
    bounds = {key: stated[key] for key in ("at_least", "at_most") if key in stated}
    for key, value in labels.items():
        if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
            message = f"{key} of {name!r} must be a list of labels"
            raise OptionsError(message)
    for key, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            message = f"{key} of {name!r} must be a number"
            raise OptionsError(message)
    by_key = {key: frozenset(one.strip().lower() for one in value) for key, value in labels.items()}
    return Rule(by_key.get("pass", frozenset()), by_key.get("fail"), bounds.get("at_least"), bounds.get("at_most"))
