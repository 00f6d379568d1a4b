"""Killed, or refused by the disk, at every write of a landing: nothing is lost, and running again mends all."""

from __future__ import annotations

import pytest
from crash_cases import FAULTS, Driver, Fault
from crash_check import Subject, faults_found, sample, spread, subject
from thorough import examples

pytestmark = pytest.mark.slow  # the nightly's faults are tried in every run, and land too

SAMPLED = examples(1, 6)


@pytest.fixture(scope="module")
def landing(driver: Driver) -> Subject:
    return subject(driver, "landing")


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_some_points(landing: Subject, fault: Fault):
    chosen = sample(landing.points, SAMPLED, FAULTS.index(fault))
    assert [text for point in chosen for text in faults_found(landing, point, fault)] == []


@pytest.mark.crash
@pytest.mark.parametrize("part", range(2))  # so that two processes share them
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_every_kind_of_point(landing: Subject, fault: Fault, part: int):
    chosen = spread(landing.points, fault)[part::2]
    assert [text for point in chosen for text in faults_found(landing, point, fault)] == []
