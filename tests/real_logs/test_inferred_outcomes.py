"""What is inferred of the shell calls of real coding sessions, beside what a person read. Run with -s."""

from __future__ import annotations

import polars as pl
import pytest
from real_calls import CALLS, spoken_and_right

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not CALLS.is_file(), reason="the real logs are not beside the checkout"),
]


def test_what_is_inferred_was_read_and_is_right() -> None:
    judged = spoken_and_right()
    print(judged)
    assert judged.filter(pl.col("read") < pl.col("spoke")).is_empty()
    assert judged.filter(pl.col("right") < 0.95 * pl.col("spoke")).is_empty()
    assert judged.filter(pl.col("method") == "transcript_tests/1")["spoke"].item() >= 16
