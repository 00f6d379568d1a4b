"""Homes for the tests of the laws."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.laws.home import Home


@pytest.fixture
def new_home(tmp_path: Path) -> Callable[[], Home]:
    """Makes empty homes."""
    numbers = itertools.count(1)
    return lambda: Home(tmp_path / f"home-{next(numbers)}")


@pytest.fixture
def home(new_home: Callable[[], Home]) -> Home:
    """One empty home."""
    return new_home()


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Home], Home]:
    """Copies a home, so that a test may change what others started from."""
    return lambda home: Home(Path(shutil.copytree(home.folder, tmp_path / "copy", symlinks=True)))
