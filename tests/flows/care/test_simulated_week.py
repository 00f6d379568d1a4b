"""A week that nobody watches (`simulated_week.py`): who is alerted to what, once, and that nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from simulated_week import Morning, Week, simulate_week

pytestmark = [pytest.mark.slow, pytest.mark.prefect]  # nights of a week, each a process

PUBLISHED = "nightly published"
BEGUN, DONE = "/ping/start", "/ping"
# By the day of the morning: nights in the ledger, states in Prefect, alerts, pings.
EXPECTED: dict[int, tuple[list[str], list[str], set[tuple[str, str]], list[str]]] = {
    # the disk has no room for the ledger's row, and Prefect is not reached
    26: ([], [], {("open", "failed_night"), ("open", "full_disk")}, [BEGUN, "/ping/fail"]),
    27: ([PUBLISHED], ["Completed"], {("over", "failed_night"), ("over", "full_disk")}, [BEGUN, DONE]),
    28: (["nightly started"], ["Running"], {("open", "failed_night"), ("open", "silent_producer")}, [BEGUN]),
    29: ([PUBLISHED], ["Crashed", "Completed"], {("over", "failed_night")}, [BEGUN, DONE]),
    30: ([], [], set(), []),
    31: ([], [], set(), []),
    1: (
        [PUBLISHED, PUBLISHED],  # one for the outage, and the one that was due
        ["Completed", "Completed"],
        {("open", "late_night"), ("over", "late_night"), ("over", "silent_producer")},
        [BEGUN, DONE, BEGUN, DONE],
    ),
}


def test_a_week_of_faults_loses_nothing_and_alerts_once_to_each_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TZ", "PREFECT_HOME", *(name for name in os.environ if name.startswith("PREFECT_"))):
        monkeypatch.setenv(name, "")  # given back at the end
        monkeypatch.delenv(name)
    try:
        *mornings, week = simulate_week(tmp_path)
    except PermissionError as error:
        pytest.skip(str(error))
    found = {
        each.at.day: (each.runs, [run.rpartition(" ")[2] for run in each.prefect], sorted(each.alerts), each.pings)
        for each in mornings
        if isinstance(each, Morning)
    }
    assert found == {day: (runs, states, sorted(told), pings) for day, (runs, states, told, pings) in EXPECTED.items()}
    assert isinstance(week, Week)
    assert week.sent == week.fates["delivered"]
    assert week.sent == week.fates["accepted"] + week.fates["duplicate"] + week.fates["quarantined"]
    assert not week.differing
    assert week.verified.returncode == 0, week.verified.stdout
