"""Error grouping on real logs with gold templates; skipped where they are not there. Run with -s to see the figures."""

from __future__ import annotations

from statistics import fmean

import polars as pl
import pytest
import real_rows

from slowwave.transforms.error_fingerprints import error_fingerprints, is_blank

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]


@pytest.fixture(scope="module")
def lines() -> pl.DataFrame:
    """Log lines with their gold template."""
    return pl.read_parquet(real_rows.FOLDER / "loghub" / "clusters.parquet").select(
        "cluster_id", project="system", error_message="content"
    )


def grouping_accuracy(lines: pl.DataFrame) -> dict[str, float]:
    """Share of lines, by system, whose group is exactly the gold group (Zhu et al., ICSE-SEIP 2019)."""
    grouped = lines.join(error_fingerprints(lines), on=["project", "error_message"], how="left")
    both, gold, found = (
        pl.len().over("project", *of) for of in (["cluster_id", "error_id"], ["cluster_id"], ["error_id"])
    )
    right = grouped.with_columns(right=(both == gold) & (both == found))
    return dict(right.group_by("project").agg(pl.col("right").mean()).sort("project").iter_rows())


def test_grouping_accuracy(lines):
    accuracy = grouping_accuracy(lines)
    mean = fmean(accuracy.values())
    print(f"grouping accuracy: mean {mean:.4f}; " + ", ".join(f"{s} {a:.3f}" for s, a in accuracy.items()))
    assert mean > 0.97
    assert min(accuracy.values()) > 0.9


def test_grouping_holds_on_half_the_lines(lines):
    mean = fmean(grouping_accuracy(lines.sample(fraction=0.5, seed=1)).values())
    print(f"grouping accuracy on half the lines: {mean:.4f}")
    assert mean > 0.95


def test_more_messages_leave_most_errors_as_they_are(lines):
    distinct = lines.select("project", "error_message").unique().sort("project", "error_message")
    early = error_fingerprints(distinct.sample(fraction=0.5, seed=1))
    late = early.join(error_fingerprints(distinct), on=["project", "error_message"], suffix="_later")
    same = (late["error_id"] == late["error_id_later"]).sum() / late.height
    print(f"messages whose error_id is the same after twice as many came: {same:.4f}")
    assert same > 0.95


@pytest.mark.parametrize(
    ("folder", "fewest", "most"), [("claude_code", 15, 18), ("tau_airline", 6, 6), ("aider_swebench", 7, 7)]
)
def test_errors_of_agents_are_few_and_stay_apart(folder, fewest, most):
    rows = pl.read_parquet(real_rows.FOLDER / folder / "interactions.parquet", columns=["project", "error_message"])
    found = error_fingerprints(rows.filter(~is_blank(pl.col("error_message"))).with_columns(project=pl.lit("")))
    print(f"{folder}: {found.height} messages, {found['error_id'].n_unique()} errors")
    assert fewest <= found["error_id"].n_unique() <= most
