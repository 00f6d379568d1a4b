"""Every method by its id: what computes it, which params it reads, what changed, and which golden tables fix it.

Nothing heavy is imported to know them: an implementation is named, and loaded when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from slowwave.transforms.core.methods.method import Method, RetiredMethod
from slowwave.transforms.core.methods.retired import RETIRED

_LONGEST = 60  # characters of an id that is no method, as shown
# What earlier releases took for methods, and why it is none.
_NO_METHODS = {"alma/1": "ALMA's formula for strength, which this is only compared with"}


_registered: dict[str, Method] = {}


def methods() -> dict[str, Method]:
    """Every registered method by id, in the order of declaration: of a family the earlier version first."""
    if not _registered:
        released = importlib.import_module("slowwave.transforms.core.methods.released").RELEASED
        _registered.update((one.id, one) for one in released)
    return _registered


def retired_methods() -> dict[str, RetiredMethod]:
    """Return every retired method by id, of a family the earlier version first."""
    return {one.id: one for one in RETIRED}


def living_successor(method_id: str) -> str:
    """Return the id of the method that replaced a retired one in the end."""
    retired = retired_methods()
    while method_id in retired:
        method_id = retired[method_id].successor
    return method_id


def implementation(method_id: str) -> Any:  # noqa: ANN401 - each family has its own signature, which its callers know
    """What computes a method.

    Raises ValueError when there is no such method.
    """
    found = method(method_id).implementation
    if not isinstance(found, str):
        return found
    module, _, name = found.rpartition(".")
    return getattr(importlib.import_module(module), name)


def method(method_id: str) -> Method:
    """The method of this id.

    Raises ValueError, naming those of its family or all, when there is none.
    """
    found = methods().get(method_id)
    if found is None:
        family = method_id.partition("/")[0]
        there = [other.id for other in methods().values() if other.family == family] or list(methods())
        raise ValueError(_unknown(method_id, there))
    return found


def choices(param: str) -> list[str]:
    """The ids that a param, such as `evidence.echo_method`, may name."""
    return [known.id for known in methods().values() if param in known.chosen_by]


def check_choice(param: str, method_id: str) -> str:
    """`method_id`, if the param may name it.

    Raises ValueError, naming those it may, when not.
    """
    if method_id not in choices(param):
        raise ValueError(_unknown(method_id, choices(param)))
    return method_id


def _unknown(method_id: str, there: list[str]) -> str:
    known, named = methods().get(method_id), method_id
    gone = retired_methods().get(method_id)
    if not (method_id.isprintable() and 0 < len(method_id) <= _LONGEST):
        named = repr(method_id[:_LONGEST])
    if known is not None:
        why = f"{method_id} is not chosen here" if known.chosen_by else f"{method_id} goes with another method"
    elif gone is not None:
        after = f"after release {gone.last_release}" if gone.last_release else "before a release had it"
        why = f"{method_id} was retired {after}: {living_successor(method_id)} replaced it"
    elif method_id in _NO_METHODS:
        why = f"{method_id} is no method ({_NO_METHODS[method_id]})"
    else:
        why = f"{named} is no method"
    return f"{why}; there {_join_method_ids(there)}"


def _join_method_ids(there: list[str]) -> str:
    return f"{'is' if len(there) == 1 else 'are'} {', '.join(there)}"


def compared_by(old: str, new: str) -> str:
    """The param that chooses between two methods.

    Raises ValueError when one does not exist, or no param chooses between them.
    """
    for method_id in (old, new):
        gone = retired_methods().get(method_id)
        if gone is not None:
            there = [one.id for one in methods().values() if one.family == gone.family]
            todo = "to see what it says, publish a copy of the home with that release"
            if not gone.last_release:
                todo = "`slowwave inspect diff` compares a publish from before the upgrade with a later one"
            raise ValueError(f"{_unknown(method_id, there)}; {todo}")
    before, after = method(old), method(new)
    for known in (before, after):
        if not known.chosen_by:
            with_it = [other.id for other in methods().values() if known.id in other.brings]
            hint = f"compare {' and '.join(with_it)}, which it goes with" if with_it else "no param chooses it"
            message = f"{known.id} is not computed alone: {hint}"
            raise ValueError(message)
    shared = [param for param in before.chosen_by if param in after.chosen_by]
    if not shared or old == new:
        message = f"{old} and {new} are {'one' if old == new else 'not two versions of one method'}"
        there = [other for other in choices(before.chosen_by[0]) if other != old]
        raise ValueError(f"{message}; beside {old} there {_join_method_ids(there) if there else 'is none'}")
    return shared[0]


@contextmanager
def register_candidate(candidate: Method) -> Iterator[None]:
    """Inside, a method that is not released yet is one like the others: to be tried, and compared.

    Raises ValueError when its id is taken.
    """
    if candidate.id in methods():
        message = f"{candidate.id} is registered already: a released method does not change"
        raise ValueError(message)
    _registered[candidate.id] = candidate
    try:
        yield
    finally:
        del _registered[candidate.id]
