"""Params as a home states them, perhaps for a release before this one: what no longer has an effect is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# of the releases before heuristic/2: both now go with heuristics.method
_GONE = {"heuristics": "trend_method", "scorecard": "method"}
_OF_ONE_METHOD = {
    "forecast": ("heuristics", "heuristic/2", "heuristic/1"),
    "confidence": ("heuristics", "heuristic/1", "heuristic/2"),
}
_OF_ERROR_1 = ("min_words_for_words", "min_named_words")
_OF_ERROR_2 = ("min_words_beside_few", "min_words_in_first_place")


def known_params(stated: Mapping[str, Any]) -> dict[str, Any]:
    """`stated` without what only releases before this one know."""
    return {
        section: {name: value for name, value in values.items() if name != _GONE.get(section)}
        if isinstance(values, Mapping)
        else values
        for section, values in stated.items()
    }


def without_effect(stated: Mapping[str, Any], methods: Mapping[str, str]) -> list[str]:
    """What of `stated` changes nothing, one sentence for each place; `methods` by section: those in use."""
    told = [
        f"{section}.{name} has no effect any more: heuristics.method chooses the trend and the scorecard, too"
        for section, name in _GONE.items()
        if name in _names(stated, section)
    ]
    for section, (chooser, unread_by, read_by) in _OF_ONE_METHOD.items():
        names = _names(stated, section)
        if names and methods[chooser] == unread_by:
            told.append(_not_read([f"{section}.{name}" for name in names], chooser, unread_by, read_by))
    unread, read_by = (_OF_ERROR_1, "error/1") if methods["errors"] == "error/2" else (_OF_ERROR_2, "error/2")
    names = [f"errors.{name}" for name in _names(stated, "errors") if name in unread]
    if names:
        told.append(_not_read(names, "errors", methods["errors"], read_by))
    return told


def _names(stated: Mapping[str, Any], section: str) -> list[str]:
    values = stated.get(section)
    return list(values) if isinstance(values, Mapping) else []


def _not_read(names: list[str], chooser: str, unread_by: str, read_by: str) -> str:
    has = "has" if len(names) == 1 else "have"
    return f'{", ".join(names)} {has} no effect with {unread_by}, only with method = "{read_by}" under [{chooser}]'
