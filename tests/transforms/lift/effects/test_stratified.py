"""Differences within strata are those of least squares, with errors that know of sessions."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from slowwave.transforms.lift.effects.stratified import SCALE, count_cells, differences, differences_from_all


def made_rows(seed: int, *, rows: int = 300, keys: int = 1, spread: float = 0.0) -> pl.DataFrame:
    """Rows in sessions of three; where treated a value is .2 higher, and sessions differ by `spread`."""
    random = np.random.default_rng(seed)
    block, stratum = np.arange(rows) // 3, random.integers(0, 8, rows)
    treated = random.random(rows) < 0.3 + 0.05 * stratum
    noise = random.normal(0, 0.4, rows) + spread * random.normal(size=rows)[block]
    value = np.round((0.2 * treated + 0.1 * stratum + noise) * SCALE).astype(np.int64)
    key = random.integers(0, keys, rows)
    return pl.DataFrame({"key": key, "stratum": stratum, "block": block, "is_treated": treated, "value": value})


def least_squares(rows: pl.DataFrame) -> tuple[float, float]:
    """The slope on treatment with a mean for each stratum, and its error by block (CR1)."""
    x = np.column_stack([rows["is_treated"].cast(pl.Float64), rows["stratum"].to_dummies().to_numpy()])
    y = rows["value"].to_numpy() / SCALE
    inverse = np.linalg.inv(x.T @ x)
    fit = inverse @ x.T @ y
    scores = x * (y - x @ fit)[:, None]
    together = np.stack([scores[rows["block"].to_numpy() == block].sum(axis=0) for block in rows["block"].unique()])
    n, blocks = len(y), len(together)
    free = n - x.shape[1]
    factor = blocks / (blocks - 1) * (n - 1) / free
    clustered = factor * (inverse @ together.T @ together @ inverse)[0, 0]
    alone = ((y - x @ fit) ** 2).sum() / free * inverse[0, 0]
    return float(fit[0]), float(np.sqrt(max(clustered, alone)))


@pytest.mark.parametrize("spread", [0.0, 0.8])
def test_they_are_those_of_least_squares(spread: float) -> None:
    for seed in range(5):
        rows = made_rows(seed, spread=spread)
        (found,) = differences(count_cells(rows.lazy())).to_dicts()
        assert (found["estimate"], found["standard_error"]) == pytest.approx(least_squares(rows), rel=1e-9)
        assert found["with_count"] + found["without_count"] == rows.height


def test_the_order_of_rows_does_not_matter() -> None:
    rows = made_rows(1, rows=2000, keys=7, spread=0.3)
    once = differences(count_cells(rows.lazy()))
    for seed in range(3):
        assert_frame_equal(
            differences(count_cells(rows.sample(fraction=1, shuffle=True, seed=seed).lazy())), once, check_exact=True
        )


def test_a_stratum_without_both_sides_says_nothing() -> None:
    rows = made_rows(2)
    away, alone = pl.lit(99, pl.Int64), pl.lit(999, pl.Int64)
    lone = rows.head(30).with_columns(stratum=away, block=alone, is_treated=pl.lit(True))
    one, other = (differences(count_cells(each.lazy())) for each in (rows, pl.concat([rows, lone])))
    assert_frame_equal(one, other)
    assert differences(count_cells(lone.lazy())).is_empty()


@pytest.mark.parametrize(("spread", "most"), [(0.0, 1.1), (0.3, 1.4)])
def test_what_is_not_treated_is_all_less_the_treated(spread: float, most: float) -> None:
    """What sessions have in common cancels in no difference there: the error is no smaller."""
    everything = made_rows(3, rows=1500, spread=spread).with_columns(key=pl.lit(0, pl.Int64))
    (apart,) = differences(count_cells(everything.lazy())).to_dicts()
    treated = count_cells(everything.filter("is_treated").lazy())
    (found,) = differences_from_all(treated, count_cells(everything.lazy())).to_dicts()
    assert found["estimate"] == pytest.approx(apart["estimate"])
    assert 0.95 <= found["standard_error"] / apart["standard_error"] <= most
    assert [found[name] for name in ("with_count", "without_count")] == [apart["with_count"], apart["without_count"]]
