"""What `make test` leaves to `make test-all`: further cases and examples of what takes long and rarely tells more."""

from __future__ import annotations

import os
import random
import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

IS_THOROUGH = os.environ.get("SLOWWAVE_TESTS") == "all"
# Of the tests that `make test` leaves out, and of their cases, a part is drawn, by SEED.
IS_DRAWN = os.environ.get("SLOWWAVE_TESTS") == "drawn"
_DRAWN_FROM = ("slow", "crash", "browser")
# Of what is drawn, so that a run can be drawn again.
SEED = zlib.crc32(os.environ.get("SLOWWAVE_SEED", "").encode())


def some(cases: Iterable[Any], count: int) -> list[Any]:
    """All cases for parametrize; all but `count` of them, the first, the last and evenly between, are `thorough`."""
    listed = list(cases)
    kept = {(len(listed) - 1) * number // max(count - 1, 1) for number in range(count)}
    return [
        case
        if index in kept
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
        for index, case in enumerate(listed)
    ]


def examples(few: int, many: int) -> int:
    """How many examples Hypothesis shall try: `few` in `make test`, `many` in `make test-all`."""
    return many if IS_THOROUGH else few


def drawn(
    items: list[pytest.Item], cases_share: float, tests_share: float
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the items to run and those left out, of the tests beyond `make test`.

    Of the tests of each file a share is drawn, and of the cases of each test another; one at least of either.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    tests: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if any(item.get_closest_marker(mark) for mark in _DRAWN_FROM):
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out: set[str] = set()
    for test, listed in cases.items():
        tests[test.partition("::")[0]].append(test)
        left_out |= _not_drawn(test, (item.nodeid for item in listed), cases_share)
    for file, listed in tests.items():
        left_out |= {item.nodeid for test in _not_drawn(file, listed, tests_share) for item in cases[test]}
    return [item for item in items if item.nodeid not in left_out], [item for item in items if item.nodeid in left_out]


def _not_drawn(of: str, names: Iterable[str], share: float) -> set[str]:
    """What is left of the names of cases or tests once this share of them, one at least, is drawn."""
    among = sorted(names)
    return {*among} - {*random.Random(f"{SEED} {of}").sample(among, max(1, round(share * len(among))))}
