"""A home lives through deliveries, nights, kills, full disks and wrong clocks drawn at random; all holds after each."""

from __future__ import annotations

import pytest
from crash_cases import why_not
from random_machine import lived
from thorough import IS_THOROUGH, SEED

pytestmark = pytest.mark.crash


@pytest.mark.parametrize("part", range(20 if IS_THOROUGH else 2))
def test_a_home_lives_through_everything(part):
    if reason := why_not():
        pytest.skip(reason)
    lived(SEED + part, 500 if IS_THOROUGH else 50)
