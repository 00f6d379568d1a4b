"""Many small cases in one test: what a test costs by itself is paid once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each of these cases, as `pytest.mark.parametrize` does, and fail once, naming each that fails.

    For cases that take milliseconds and leave nothing behind: they share the fixtures of the test.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = list(cases)
    assert listed, "there is no case"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed = []
            for case in listed:
                values = [case] if len(named) == 1 else case
                try:
                    test(**fixtures, **dict(zip(named, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - each is told below
                    told = error if isinstance(error, Exception) else AssertionError(str(error))
                    told.add_note(f"case: {case!r:.300}")
                    failed.append(told)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                message = f"{len(failed)} of {len(listed)} cases fail"
                raise ExceptionGroup(message, failed)

        signature = inspect.signature(test)
        left = [param for name, param in signature.parameters.items() if name not in named]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined] - what pytest reads
        return run

    return decorate
