"""Worlds with known effects: intervals hold the truth as often as they say, and hardly anything is claimed wrongly."""

import polars as pl
import pytest
from effects_bench import effects_1, grade, raw_difference

from slowwave.data.effects_world import CONFOUNDED, RANDOMISED, effects_world

pytestmark = pytest.mark.slow

SEED = 300  # not graded


def test_where_chance_decided_intervals_hold_the_truth_of_large_effects_too() -> None:
    rows = pl.concat([grade(effects_1, effects_world(kind, SEED)) for kind in RANDOMISED])
    large = rows.filter(pl.col("effect").abs() >= 0.1)
    assert 0.86 <= rows["covered_at_looks"].to_numpy().mean() <= 0.95
    assert 0.80 <= large["covered_at_looks"].to_numpy().mean() <= 0.98
    assert rows["ever_wrong"].to_numpy().mean() <= 0.02
    assert large.filter(pl.col("call") * pl.col("effect") > 0).height >= 0.2 * large.height


def test_where_chance_did_not_decide_nothing_is_claimed_and_errors_are_smaller() -> None:
    for kind in CONFOUNDED:
        world = effects_world(kind, SEED)
        rows, raw = (grade(method, world).drop_nulls("estimate") for method in (effects_1, raw_difference))
        assert set(rows["call"]) == {0}
        both = rows.join(raw, on="memory_id", suffix="_raw")
        off, raw_off = (both[name].to_numpy() - both["effect"].to_numpy() for name in ("estimate", "estimate_raw"))
        assert (off**2).mean() < (raw_off**2).mean(), kind
