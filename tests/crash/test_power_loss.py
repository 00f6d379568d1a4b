"""The order of writes and flushes: whenever the power goes, what was named is whole and what was removed is elsewhere."""

from __future__ import annotations

import pytest
from crash_cases import Call, Driver
from crash_check import prepared
from crash_disk import order_faults


@pytest.mark.parametrize("step", ["landing", "nightly"])
def test_order_of_flushes(driver: Driver, step: str):
    calls = driver.trace(step, driver.copy(prepared(driver, step)))
    names = [path for call in calls if call.name == "rename" for path in call.paths]
    assert any(name.startswith("lake/run_files/") for name in names)
    assert any(call.name == "unlink" and call.path.startswith("inbox/") for call in calls)
    assert any(call.name == "unlink" and call.path.startswith("lake/interactions/") for call in calls) or step == "nightly"
    assert ("serving/current.duckdb" in names) == (step == "nightly")
    assert order_faults(calls) == []


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
    assert any(fault in text for text in order_faults(calls))
