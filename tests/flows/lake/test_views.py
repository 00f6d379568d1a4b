"""Winning versions of landed rows as SQL sees them, whatever stands in how many files."""

from __future__ import annotations

import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.views import LandedViews
from slowwave.transforms.core.frames import conform
from slowwave.transforms.landing.tables import Outcomes
from slowwave.transforms.landing.versions import with_row_hash

START = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
HOURS = st.integers(0, 60)
VERSIONS = st.lists(st.tuples(st.integers(0, 3), HOURS, HOURS, st.integers(0, 2)), min_size=1, max_size=12)


def versions_of(drawn: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    """Rows of which keys, when they happened, when they were written, and what tells versions of a time apart."""
    rows = pl.DataFrame(
        {
            "outcome_id": [f"o{key}" for key, *_ in drawn],
            "success": True,
            "created_at": [START + timedelta(hours=happened) for _, happened, *_ in drawn],
            "recorded_at": [START + timedelta(hours=written) for _, _, written, _ in drawn],
            "feedback": [f"version {version}" for *_, version in drawn],
        }
    )
    return with_row_hash(Outcomes, conform(Outcomes, rows.lazy()).collect())


@given(VERSIONS, st.lists(st.integers(0, 11), max_size=3), HOURS)
def test_the_latest_visible_version_of_each_key_wins(drawn, copied, cut_after):
    rows = versions_of(drawn).unique(["outcome_id", "created_at", "recorded_at", "feedback"], maintain_order=True)
    cut = START + timedelta(hours=cut_after)
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder))
        for day, of_day in rows.group_by(pl.col("created_at").dt.date(), maintain_order=True):
            lake.write_rows(Outcomes, day[0], of_day)
            twice = of_day[[at for at in copied if at < of_day.height]].unique("row_hash")
            if twice.height:  # as a killed compaction leaves them
                lake.write_rows(Outcomes, day[0], twice)
        found = LandedViews(Path(folder), cut).frames["outcomes"].collect()
    wins: dict[str, tuple[datetime, str]] = {}
    for row in rows.iter_rows(named=True):
        if row["created_at"] < cut and row["recorded_at"] < cut:
            version = (row["recorded_at"], row["row_hash"])
            wins[row["outcome_id"]] = max(version, wins.get(row["outcome_id"], version))
    assert (
        dict(zip(found["outcome_id"], zip(found["recorded_at"], found["row_hash"], strict=True), strict=True)) == wins
    )
    assert found.height == len(wins)
