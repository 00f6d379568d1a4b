"""What `settings.toml` may say of an importer, checked before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

# How many days parts of traces are kept to be read together with what comes later.
KEEP_DAYS = "keep_days"


class OptionsError(ValueError):
    """An option of an importer cannot be used; the message says which, and why."""


def check_names(options: Mapping[str, Any], known: Collection[str]) -> None:
    """Raises OptionsError where an option is called what none is."""
    unknown = min(options.keys() - set(known), default=None)
    if unknown is not None:
        message = f"nothing is called {unknown!r} there; there are {', '.join(sorted(known))}"
        raise OptionsError(message)


def names_stated(options: Mapping[str, Any], option: str) -> frozenset[str]:
    """The names that an option lists; none where it is not stated. Raises OptionsError where it is no list of names."""
    stated = options.get(option, [])
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        message = f"{option} must be a list of names"
        raise OptionsError(message)
    return frozenset(stated)


def is_stated(options: Mapping[str, Any], option: str) -> bool:
    """Whether an option is stated as true. Raises OptionsError where it is neither true nor false."""
    stated = options.get(option, False)
    if not isinstance(stated, bool):
        message = f"{option} must be true or false"
        raise OptionsError(message)
    return stated


def days_stated(options: Mapping[str, Any], option: str, default: float) -> float:
    """The days that an option states. Raises OptionsError where it is no number from 0 on."""
    stated = options.get(option, default)
    if isinstance(stated, bool) or not isinstance(stated, (int, float)) or not stated >= 0:
        message = f"{option} must be a number of days, 0 or more"
        raise OptionsError(message)
    return float(stated)
