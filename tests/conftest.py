"""Settings every test runs under."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from thorough import IS_DRAWN, IS_THOROUGH, drawn

from slowwave.flows.kernel.processes import use_one_thread

# The same examples in every run; `make test-all` draws others by a seed that it prints.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=6)
settings.register_profile("all", deadline=None, max_examples=30, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("all" if IS_THOROUGH else "same")

# As commands do. That threads change nothing is tested in processes of their own, and `make test-all` runs everything
# with all of them.
if not IS_THOROUGH:
    use_one_thread()

# As commands do: what a test makes by the functions behind them is closed to others too.
os.umask(0o077)

# Tests make thousands of homes, and a home's writes wait for the disk: they are made in memory where there is room.
_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of this user's in it
_ROOM = 4 * 2**30
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# The files that take longest, the longest first. All of a file runs in one process, so that what its tests share is
# made once; where a long one came last, the other processes would wait for it.
LONG = (
    # slow ones, which continuous integration runs
    "test_nightly_faults.py",
    "test_orchestrate.py",
    "test_ray_cluster.py",
    "test_workers.py",
    "test_documentation.py",
    "test_replay_exactness.py",
    "test_real_logs.py",
    "test_later_releases.py",
    "test_contributing.py",
    "test_landing_faults.py",
    "test_decisions.py",
    "test_pages.py",
    "test_random_machine.py",
    "test_state_machine.py",
    "test_erase_faults.py",
    "test_postgres.py",
    "test_two_writers.py",
    "test_run_commands.py",
    "test_sample_story.py",
    # those of `make test` that come late by name
    "test_compiled.py",
)
_RANK = {name: rank for rank, name in enumerate(LONG)}


# Of what `make test` leaves out, where it is drawn: of each test's cases, and of each file's tests. CI has less than an
# hour, and every commit draws others.
_CASES_SHARE = 0.25
_TESTS_SHARE = 0.5


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files before all others, and leave out cases that are not drawn."""
    if IS_DRAWN:
        items[:], left_out = drawn(items, _CASES_SHARE, _TESTS_SHARE)
        config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: _RANK.get(item.path.name, len(LONG)))


# Marks of all tests of a file, and of a folder whose own conftest sets them.
_FILE_MARKS = re.compile(r"^pytestmark = (?:\[\n(?:    .*\n)*|.*\n)", re.MULTILINE)
_FOLDER_MARKS = {"browser": "pytest.mark.browser"}
_LEAVES_OUT = re.compile(r"not \(((?:\w+ or )*\w+)\)")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Return True for a file or folder of which `-m "not (slow or …)"` runs no test: each process would load it."""
    expression = _LEAVES_OUT.fullmatch(config.option.markexpr)
    if expression is None or any(collection_path.name in argument for argument in config.args):
        return None
    files = [collection_path] if collection_path.suffix else [*collection_path.rglob("test_*.py")]
    without = {f"pytest.mark.{mark}" for mark in expression[1].split(" or ")}
    return True if files and all(without & _marks(file) for file in files) else None


@cache
def _marks(file: Path) -> frozenset[str]:
    if not file.name.startswith("test_"):
        return frozenset()
    of_file = re.findall(r"pytest\.mark\.\w+", " ".join(_FILE_MARKS.findall(file.read_text())))
    return frozenset({*of_file, _FOLDER_MARKS.get(file.parent.name, "")})


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Load tests without the garbage collector, which need not look through them later: they stay to the end.

    The interpreter takes down everything at its end. Of what is still frozen then, DuckDB would print that it leaked.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)


@pytest.fixture(autouse=True, scope="session")
def _taken_over_even_if_few() -> None:
    """Homes of tests are small, and what is taken over of them is to be the same as what is written anew."""
    from slowwave.flows.publish import base

    base.FEWEST_ROWS = 0


@pytest.fixture(autouse=True, scope="session")
def _published_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What several tests publish alike is published once, whichever process comes first."""
    from shared_homes import share_homes_below

    share_homes_below(tmp_path_factory)
