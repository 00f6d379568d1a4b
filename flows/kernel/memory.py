"""Memory that was freed goes back to the system: glibc keeps it for the next time, which after landing never comes."""

from __future__ import annotations

import ctypes
import resource
from collections.abc import Callable
from functools import cache

# Below, what is kept harms nobody.
_MUCH_KILOBYTES = 600 * 2**10


def has_held_much() -> bool:
    """Whether the process has ever held so much that giving back is worth its while."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _MUCH_KILOBYTES


def give_back() -> None:
    """Hand freed memory back where the process has ever held much; does nothing where the C library cannot."""
    if has_held_much():
        _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    return getattr(ctypes.CDLL(None), "malloc_trim", lambda _pad: None)
