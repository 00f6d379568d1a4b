"""Killed, or refused by the disk, at every write of a nightly: nothing is lost, and running again mends all."""

from __future__ import annotations

import pytest
from crash_cases import FAULTS, Driver, Fault
from crash_check import Subject, faults_found, sample, spread, subject
from thorough import examples

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

SAMPLED = examples(1, 6)


@pytest.fixture(scope="module")
def nightly(driver: Driver) -> Subject:
    return subject(driver, "nightly")


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_some_points(nightly: Subject, fault: Fault):
    chosen = sample(nightly.points, SAMPLED, FAULTS.index(fault))
    assert [text for point in chosen for text in faults_found(nightly, point, fault)] == []


@pytest.mark.crash
@pytest.mark.parametrize("part", range(2))  # so that two processes share them
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_every_kind_of_point(nightly: Subject, fault: Fault, part: int):
    chosen = spread(nightly.points, fault)[part::2]
    assert [text for point in chosen for text in faults_found(nightly, point, fault)] == []
