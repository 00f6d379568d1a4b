"""Killed, or refused by the disk, at every write of a landing: nothing is lost, and running again mends all."""

from __future__ import annotations

import pytest
from crash_cases import FAULTS, Driver, Fault
from crash_check import Subject, faults_found, spread, subject

pytestmark = pytest.mark.slow  # the nightly's faults are tried in every run, and land too

PARTS = 4  # of the points of a fault: a case takes no more than a minute, and processes share them


@pytest.fixture(scope="module")
def landing(driver: Driver) -> Subject:
    return subject(driver, "landing")


@pytest.mark.crash
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_every_kind_of_point(landing: Subject, fault: Fault, part: int):
    chosen = spread(landing.points, fault)[part::PARTS]
    assert [text for point in chosen for text in faults_found(landing, point, fault)] == []
