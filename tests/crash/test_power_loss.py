"""The order of writes and flushes: whenever the power goes, what has a name is whole, what was removed is elsewhere."""

from __future__ import annotations

import pytest
from crash_cases import Call, Driver
from crash_check import prepared
from crash_disk import order_faults

from slowwave.flows.lake.lake import COMPACT_FROM_FILES

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them


def _moments(calls: list[Call], name: str, folder: str) -> list[int]:
    """When something below a folder was renamed to its place, or removed."""
    return [i for i, call in enumerate(calls) if call.name == name and call.paths[-1].startswith(f"{folder}/")]


@pytest.mark.parametrize("step", ["landing", "nightly"])
def test_order_of_flushes(driver: Driver, step: str):
    calls = driver.trace(step, driver.copy(prepared(driver, step)))
    assert order_faults(calls) == []
    removed_from_inbox = _moments(calls, "unlink", "inbox")
    rows = _moments(calls, "rename", "lake/interactions")
    refused = _moments(calls, "rename", "lake/quarantine")
    entered = _moments(calls, "rename", "lake/run_files")
    assert len(removed_from_inbox) == {"landing": 3, "nightly": 1}[step]
    assert rows[0] < refused[0] < entered[0] < removed_from_inbox[0]
    if step == "landing":
        compacted = _moments(calls, "unlink", "lake/interactions")
        assert len(compacted) == COMPACT_FROM_FILES
        assert rows[-1] < compacted[0]
    else:
        (swapped,) = (i for i, call in enumerate(calls) if call.paths[-1] == "serving/current.duckdb")
        assert _moments(calls, "rename", "serving/runs")[-1] < swapped
        assert _moments(calls, "rename", "lake/day_inputs")[-1] < swapped


WRITE = Call(1, "write", ("lake/t/.a.tmp",))
FLUSH = Call(1, "fsync", ("lake/t/.a.tmp",))
NAME = Call(1, "rename", ("lake/t/.a.tmp", "lake/t/a"))
KEEP = Call(1, "fsync", ("lake/t",))
REMOVE = Call(1, "unlink", ("inbox/a",))


@pytest.mark.parametrize(
    ("calls", "fault"),
    [
        ([WRITE, NAME, FLUSH, KEEP], "gets its name before its contents are durable"),
        ([WRITE, FLUSH, NAME], "never became durable"),
        ([WRITE, FLUSH, NAME, REMOVE, KEEP], "is removed before"),
        ([Call(1, "openat", ("lake/t/a",))], "under its final name"),
        ([Call(1, "mkdir", ("lake/t",))], "never became durable"),
        ([WRITE, FLUSH, NAME, Call(1, "rename", ("x", "serving/current.duckdb")), KEEP], "is swapped before"),
    ],
)
def test_wrong_orders_are_found(calls: list[Call], fault: str):
    assert order_faults([WRITE, FLUSH, NAME, KEEP, REMOVE]) == []
    assert order_faults([WRITE, Call(1, "unlink", WRITE.paths)]) == []
    assert any(fault in text for text in order_faults(calls))
