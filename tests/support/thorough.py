"""What `make test` leaves to `make test-all`: further cases and examples of what takes long and rarely tells more."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import Any

import pytest

IS_THOROUGH = os.environ.get("SLOWWAVE_TESTS") == "all"
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
