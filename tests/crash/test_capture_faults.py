"""A receiver that is killed, and one whose disk is full, at random moments: what was answered 200 has landed once."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from capture_faults import check, filled, killed, landed, published, small_disk
from small_home import SmallHome

pytestmark = pytest.mark.slow


def test_killed_at_random_moments(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    posting, _ = killed(home, 6, seed=int(os.environ.get("SLOWWAVE_SEED", "7")[:8], 16))
    found = landed(home)
    check(posting, found)
    assert published(home) == len(found)


def test_a_disk_that_is_full_at_random_moments(tmp_path: Path):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with ExitStack() as stack:
        try:
            disk = stack.enter_context(small_disk(tmp_path))
        except OSError as error:
            pytest.skip(f"nothing can be mounted here: {error}")
        home = SmallHome(disk / "home")
        posting, _ = filled(home, disk, 8, seed=int(os.environ.get("SLOWWAVE_SEED", "7")[:8], 16))
        found = landed(home)
    assert posting.answers[503]
    check(posting, found)
    assert posting.taken.keys() == found.keys()  # nothing has landed that was said not to be kept
