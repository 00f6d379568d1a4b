"""What the crash tests share: a place for homes, and whether strace can work here."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_cases import Driver, why_not


@pytest.fixture(scope="session")
def _strace() -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def driver(_strace: None) -> Iterator[Driver]:
    """A driver with homes in memory where that can be had: hundreds of cases wait for no disk."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder inside has a random name
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="slowwave-crash-", dir=place))
    driver = Driver(folder)
    yield driver
    driver.close()
    shutil.rmtree(folder)
