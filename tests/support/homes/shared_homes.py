"""Published homes that tests begin with: what is published alike is published once in a run of the tests."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from small_home import Row, SmallHome, interaction, memory
from taught_rows import AS_OF, taught_rows

_folders: list[Path] = []


def share_homes_below(factory: pytest.TempPathFactory) -> None:
    """Share homes in the folder of this run, with its other processes too."""
    folder = factory.getbasetemp()
    _folders[:] = [folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder]


def published_home(folder: Path, *rows: Row | str, as_of: datetime | None = None) -> SmallHome:
    """Return a home in this folder with these rows, landed as one file and published: the test may write into it."""
    shutil.copytree(read_only_home(*rows, as_of=as_of).folder, folder, symlinks=True)
    return SmallHome(folder)


def plain_home(folder: Path, as_of: datetime | None = None) -> SmallHome:
    """Return a published home of memory m1 and of interaction i1, into which it was put."""
    return published_home(folder, memory("m1"), interaction("i1", memories_used=["m1"]), as_of=as_of)


def read_only_home(*rows: Row | str, as_of: datetime | None = None, params: str = "") -> SmallHome:
    """Return a home with these rows, landed as one file and published, which other tests read too."""

    def publish(home: SmallHome) -> None:
        home.land(*rows)
        if params:  # else there is no file
            home.settings.params_file.write_text(params)
        home.nightly(as_of)

    name = hashlib.sha256(json.dumps([rows, str(as_of), params]).encode()).hexdigest()
    return _shared(name[:20], publish)


def taught_home() -> SmallHome:
    """Return a home with every answer, which other tests read too: memories injected by a coin, a failing strategy."""
    return read_only_home(*taught_rows(), as_of=AS_OF)


def _shared(name: str, publish: Callable[[SmallHome], None]) -> SmallHome:
    """Return the home of this name, published by whichever process of this run comes first."""
    (folder,) = _folders
    home, is_whole = SmallHome(folder / f"shared-{name}"), folder / f"shared-{name}-is-whole"
    with (folder / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_whole.exists():
            shutil.rmtree(home.folder, ignore_errors=True)
            publish(home)
            is_whole.touch()
    return home
