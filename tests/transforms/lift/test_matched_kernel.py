"""Lift against the others of a stratum: the same plain and compiled, to the last bit, and whatever is too large."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from each import each
from lift_cases import PARAMS

from slowwave.transforms.lift import matched as matching
from slowwave.transforms.lift.matched import Others, matched_estimates


def _drawn(seed: int, scale: float = 1.0) -> tuple[pl.DataFrame, Others]:
    random = np.random.default_rng(seed)
    count = 400
    start = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
    everyone = pl.DataFrame(
        {
            "block": random.integers(0, 60, count),
            "of_task_type": random.integers(1, 4, count),
            "at": [start + timedelta(days=int(day)) for day in random.integers(0, 40, count)],
            "usual": random.normal(size=count) * scale,
            "variance": random.uniform(0, 0.25, count),
        }
    )
    pairs = np.unique(random.integers(0, 12 * count, 900))
    rows = pl.DataFrame({"memory": pairs // count * 3, "trial": pairs % count})
    rows = pl.concat([rows, everyone[rows["trial"]].drop("at", "of_task_type")], how="horizontal")
    # of the first memory all of a stratum, of the last one a single session
    rows = rows.filter((pl.col("memory") < rows["memory"].max()) | (pl.col("block") == rows["block"][-1]))
    return rows.with_columns(residual=random.normal(size=rows.height) * scale), Others.of(everyone, PARAMS)


@each("scale", [1.0, 1e-9, 1e8, 1e12])
@each("seed", range(4))
def test_compiled_it_gives_the_same_bits(seed, scale):
    rows, others = _drawn(seed, scale)
    ways = []
    with pytest.MonkeyPatch.context() as patch:
        for from_rows in (0, 2**60):
            patch.setattr(matching, "_COMPILED_ROWS", from_rows)
            ways.append(matched_estimates(rows, others))
    assert ways[0].height > 5
    assert ways[0].equals(ways[1])
    assert ways[0].schema == ways[1].schema


def test_sums_that_are_too_large_for_it_are_left_to_the_other_way():
    rows, others = _drawn(1)
    loops = matching.kernel("lift.matched_kernel")
    if loops is None:
        pytest.skip("nothing is compiled here")
    rows = rows.with_columns(others.of_trials.gather(rows["trial"]))
    assert matching._match_compiled(loops, rows, others.strata) is not None
    for value in (1e12, float("nan"), float("inf")):
        large = rows.with_columns(pl.lit(value).alias("residual"))
        assert matching._match_compiled(loops, large, others.strata) is None
