"""Strategy groups judged on pairs of sentences that people scored from 0 (unrelated) to 5 (the same)."""

import polars as pl
import pytest
import real_rows

from slowwave.transforms.grouping.strategy_groups import strategy_key

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
DUPLICATE = 4.5
DIFFERENT = 3.0


def test_what_is_grouped_is_a_duplicate_and_nothing_different_is():
    pairs = pl.read_parquet(real_rows.FOLDER / "stsb" / "pairs.parquet").filter(pl.col("score").is_not_null())
    same = [strategy_key(a).key == strategy_key(b).key for a, b in pairs.select("text_a", "text_b").iter_rows()]
    grouped = pairs.filter(pl.Series(same))
    hits = grouped.filter(pl.col("score") >= DUPLICATE).height
    duplicates = pairs.filter(pl.col("score") >= DUPLICATE).height
    false_merges = grouped.filter(pl.col("score") <= DIFFERENT).height
    print(
        f"{pairs.height} pairs, {duplicates} duplicates: grouped {grouped.height}, "
        f"precision {hits / grouped.height:.3f}, recall {hits / duplicates:.3f}, of score 3 or less: {false_merges}"
    )
    assert hits / grouped.height >= 0.93
    assert hits / duplicates >= 0.10
    assert false_merges == 0
