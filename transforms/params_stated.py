"""Params as a home states them, perhaps for a release before this one: what no longer has an effect is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.core.methods.registry import methods

# Sections of earlier releases, and names in sections that are still there: why they have no effect.
_GONE_SECTIONS = {"forecast": "only heuristic/1 read it, which was retired"}
_GONE = {
    "heuristics.trend_method": "heuristics.method chooses the trend and the scorecard, too",
    **dict.fromkeys(
        ("errors.min_words_for_words", "errors.min_named_words"), "only error/1 read it, which was retired"
    ),
    "verdict.min_code_points": "only verdict/3 read it, which was retired",
    "scorecard.method": "heuristics.method chooses the trend and the scorecard, too",
}


def known_params(stated: Mapping[str, Any]) -> dict[str, Any]:
    """`stated` without what only releases before this one know."""
    return {
        section: {name: value for name, value in values.items() if f"{section}.{name}" not in _GONE}
        if isinstance(values, Mapping)
        else values
        for section, values in stated.items()
        if not _is_gone(section, values)
    }


def without_effect(stated: Mapping[str, Any], chosen: Mapping[str, str]) -> list[str]:
    """What of `stated` changes nothing, one sentence for each place; `chosen`: the methods in use, by param."""
    gone = {section: _GONE_SECTIONS[section] for section, values in stated.items() if _is_gone(section, values)}
    gone |= {param: _GONE[param] for param in _params(stated) if param in _GONE}
    told = [f"{place} has no effect any more: {why}" for place, why in gone.items()]
    unread: dict[tuple[str, str, str], list[str]] = {}
    for param in _params(known_params(stated)):
        readers = [known for known in methods().values() if known.chosen_by and known.is_reading(param)]
        if readers and not any(chosen[reader.chosen_by[0]] == reader.id for reader in readers):
            place = param.rpartition(".")[0], readers[0].chosen_by[0], readers[0].id
            unread.setdefault(place, []).append(param)
    return told + [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no effect with {chosen[chooser]},"
        f' only with {chooser.rpartition(".")[2]} = "{read_by}" under [{chooser.rpartition(".")[0]}]'
        for (_, chooser, read_by), names in unread.items()
    ]


def _is_gone(section: str, values: object) -> bool:
    return section in _GONE_SECTIONS and isinstance(values, Mapping)


def _params(stated: Mapping[str, Any], section: str = "") -> Iterator[str]:
    """The full names of what is stated in sections; what stands outside them no method reads."""
    for name, value in stated.items():
        if isinstance(value, Mapping):
            yield from _params(value, f"{section}{name}.")
        elif section:
            yield f"{section}{name}"
