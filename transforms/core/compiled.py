"""Loops that numba compiles: loaded only where there is enough for them to do, and only where they can be had.

A kernel is a module named `…_kernel`; beside it stands a reference that gives the same results to the last bit.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

_log = logging.getLogger("slowwave")
_not_kept: list[str] = []


@cache
def kernel(name: str) -> ModuleType | None:
    """The module `slowwave.transforms.<name>`, compiled; None where it cannot be, which is said once.

    `NUMBA_DISABLE_JIT=1` asks for the references.
    """
    try:
        from numba import config

        return None if vars(config)["DISABLE_JIT"] else importlib.import_module(f"slowwave.transforms.{name}")
    except Exception as error:  # noqa: BLE001 - numba, LLVM and the linker raise what they like, and the reference works
        reason = str(error).partition("\n")[0] or repr(error)
        _log.warning("%s cannot be compiled here, the night takes longer with the same results: %s", name, reason)
        return None


def is_any_loaded() -> bool:
    """Whether a loop was loaded before: the first takes half a second, each further one a twentieth of that."""
    return kernel.cache_info().currsize > 0


def compile_kernel(signature: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for one signature, when its module is imported; kept where numba's cache can be written.

    That cache is the `__pycache__` beside the module, else the user's cache folder, or `$NUMBA_CACHE_DIR`.
    """
    from numba import njit

    def of(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return _load_or_compile(signature, function)
        except Exception as error:  # noqa: BLE001 - a full disk, no folder: each raises its own
            _say_not_kept(str(error) or repr(error))
            return njit(signature, nogil=True)(function)

    return of


def _load_or_compile(signature: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled, or as it was kept; what was kept and is damaged is made anew."""
    from numba import njit

    try:
        return njit(signature, cache=True, nogil=True)(function)
    except Exception:  # noqa: BLE001 - what reading a damaged file raises; what else fails, fails again
        # numba has no public way to empty the cache of one function
        njit(cache=True)(function)._cache.flush()  # noqa: SLF001  # type: ignore[reportAttributeAccessIssue]
        return njit(signature, cache=True, nogil=True)(function)


def _say_not_kept(reason: str) -> None:
    """Once, whatever comes later."""
    if not _not_kept:
        _log.warning(
            "compiled loops cannot be kept, so each run compiles them anew (a quarter of a minute): "
            "set NUMBA_CACHE_DIR to a folder that can be written: %s",
            reason.splitlines()[0],
        )
    _not_kept.append(reason)
