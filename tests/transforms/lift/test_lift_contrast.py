"""The numbers lift stands on: sums, quantiles, contrasts clustered by session, calibration and shrinkage."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from lift_cases import PARAMS
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.core.statistics import benjamini_hochberg, student_t_quantile, two_sided_p_value
from slowwave.transforms.lift.contrast import contrasts
from slowwave.transforms.lift.shrinkage import calibrate_lifts, shrunk

# -------------------------------------------------------------------------------------------------------------- numbers


def test_a_sum_is_the_same_in_any_order():
    values = [1e9, 0.1, -1e9, 0.2, 0.3]
    sums = {pl.DataFrame({"x": order}).select(ordered_sum(pl.col("x"))).item() for order in permutations(values)}
    assert len(sums) == 1
    assert sums.pop() == pytest.approx(0.6)


@pytest.mark.parametrize(
    "values",
    [[1e308] * 3, [1e308, -1e308], [1.7e38, 1.0], [1e20], [9e19] * 2, [float("inf"), 1.0], [float("nan")]],
)
def test_a_sum_that_is_too_large_is_not_known(values):
    frame = pl.DataFrame({"group": 1, "x": values})
    total = ordered_sum(pl.col("x"))
    assert frame.select(total).item() is None
    assert frame.group_by("group").agg(total)["x"].item() is None


@pytest.mark.parametrize(("values", "total"), [([9.9e19], 9.9e19), ([4e19] * 2, 8e19), ([], 0.0), ([None, 1.5], 1.5)])
def test_a_large_sum_an_empty_one_and_one_with_gaps(values, total):
    assert pl.DataFrame({"x": values}, schema={"x": pl.Float64}).select(ordered_sum(pl.col("x"))).item() == total


def test_positions_that_hardly_vary_have_no_slope():
    """A line through positions that differ by rounding only would say anything."""
    rows = pl.DataFrame(
        {
            "memory": 0,
            "block": [str(k) for k in range(20)],
            "is_treated": [k % 2 == 0 for k in range(20)],
            "weight": 1.0,
            "value": [k / 20 for k in range(20)],
            "variance": 0.1,
            "position": [(k % 2) + k * 1e-9 for k in range(20)],
        }
    )
    found = contrasts(rows).row(0, named=True)
    assert found["is_sloped"] is False
    assert found["estimate"] == pytest.approx(-0.05)


def test_quantiles_and_tails_are_students():
    frame = pl.DataFrame({"t": [2.0, -1.5], "degrees": [4.0, 30.5]})
    found = frame.select(
        q=student_t_quantile(0.95, pl.col("degrees")), p=two_sided_p_value(pl.col("t"), pl.col("degrees"))
    )
    assert found["q"].to_list() == pytest.approx(student.ppf(0.95, frame["degrees"]).tolist())
    assert found["p"].to_list() == pytest.approx((2 * student.sf([2.0, 1.5], [4.0, 30.5])).tolist())


@pytest.mark.parametrize("seed", range(3))
def test_adjusted_p_values_are_benjamini_and_hochbergs(seed):
    p = np.random.default_rng(seed).random(30).round(1) ** 2
    given = pl.DataFrame({"p": [None, *p, None]})
    found = given.select(benjamini_hochberg(pl.col("p"), pl.col("p").count()))["p"].to_list()
    assert found[0] is None and found[-1] is None  # noqa: PT018 - one statement about the NULLs
    assert found[1:-1] == pytest.approx(false_discovery_control(p).tolist())


# ------------------------------------------------------------------------------------------------------------- contrast


def contrast_rows(seed=1, count=120, sessions=30):
    random = np.random.default_rng(seed)
    block = random.integers(0, sessions, count)
    treated = random.random(count) < 0.4
    position = random.normal(size=count) + treated
    value = 0.3 * treated + 0.5 * position + random.normal(size=sessions)[block] + random.normal(size=count)
    return pl.DataFrame(
        {
            "memory": 7,
            "block": [f"s{b}" for b in block],
            "is_treated": treated,
            "weight": random.uniform(0.5, 2, count),
            "value": value,
            "variance": 0.2,
            "position": position,
        }
    )


def test_a_contrast_is_weighted_least_squares():
    rows = contrast_rows()
    root = np.sqrt(rows["weight"].to_numpy())
    design = np.column_stack([np.ones(len(rows)), rows["is_treated"].to_numpy(), rows["position"].to_numpy()])
    solution, *_ = np.linalg.lstsq(design * root[:, None], rows["value"].to_numpy() * root, rcond=None)
    assert contrasts(rows)["estimate"].item() == pytest.approx(solution[1])


def test_its_error_is_clustered_by_session():
    """Against the sandwich of Liang & Zeger (1986), which has no small-sample factor."""
    rows = contrast_rows(count=3000, sessions=400)
    weight, design = (
        rows["weight"].to_numpy(),
        np.column_stack([np.ones(len(rows)), rows["is_treated"].to_numpy(), rows["position"].to_numpy()]),
    )
    bread = np.linalg.inv((design * weight[:, None]).T @ design)
    residual = rows["value"].to_numpy() - design @ (bread @ (design * weight[:, None]).T @ rows["value"].to_numpy())
    blocks = rows["block"].to_numpy()
    scores = np.array([((weight * residual)[blocks == b, None] * design[blocks == b]).sum(0) for b in set(blocks)])
    error = np.sqrt((bread @ scores.T @ scores @ bread)[1, 1])
    assert contrasts(rows)["standard_error"].item() == pytest.approx(error, rel=0.01)


def test_few_sessions_are_welchs_two_samples():
    rows = contrast_rows(count=9).with_columns(
        block=pl.int_range(9).cast(pl.String), weight=1.0, position=0.0, variance=0.0
    )
    with_it, without = (rows.filter(pl.col("is_treated") == side)["value"].to_numpy() for side in (True, False))
    variances = [side.var(ddof=1) / len(side) for side in (with_it, without)]
    found = contrasts(rows)
    assert found["standard_error"].item() == pytest.approx(sum(variances) ** 0.5)
    per_degree = [v**2 / (len(side) - 1) for v, side in zip(variances, (with_it, without), strict=True)]
    assert found["degrees"].item() == pytest.approx(sum(variances) ** 2 / sum(per_degree))


def test_attempts_that_repeat_a_session_add_no_certainty():
    rows = contrast_rows(sessions=10)
    once, fivefold = contrasts(rows), contrasts(pl.concat([rows] * 5))
    assert fivefold["standard_error"].item() == pytest.approx(once["standard_error"].item())
    assert fivefold["sessions"].item() == pytest.approx(once["sessions"].item())


def test_a_few_that_all_ended_alike_are_not_certain():
    rows = contrast_rows(count=12, sessions=12).with_columns(value=pl.lit(0.1), position=pl.lit(0.0))
    found = contrasts(rows)
    weights = rows.group_by("is_treated").agg(((pl.col("weight") / pl.col("weight").sum()) ** 2 * 0.2).sum())["weight"]
    assert found["standard_error"].item() == pytest.approx(float(weights.sum()) ** 0.5)
    assert not found["is_sloped"].item()


@pytest.mark.parametrize("side", [True, False])
def test_a_side_of_one_session_gives_no_contrast(side):
    rows = contrast_rows()
    one = pl.when(pl.col("is_treated") == side).then(pl.lit("s")).otherwise("block").alias("block")
    assert contrasts(rows.with_columns(one)).is_empty()
    assert contrasts(rows.filter(pl.col("is_treated") == side)).is_empty()


# ----------------------------------------------------------------------------------------------- placebos and shrinking


def lifts(*estimates, error=0.05, degrees=50.0):
    return pl.DataFrame(
        {
            "memory": range(len(estimates)),
            "estimate": estimates,
            "standard_error": [error] * len(estimates),
            "degrees": [degrees] * len(estimates),
            "sessions": [degrees + 1] * len(estimates),
        },
        schema={"memory": pl.Int64, **dict.fromkeys(("estimate", "standard_error", "degrees", "sessions"), pl.Float64)},
    )


def test_a_placebo_that_leaves_out_zero_withholds_the_lift():
    found = calibrate_lifts(lifts(0.1, 0.1), lifts(-0.2, 0.0), PARAMS)
    assert found["placebo"].to_list() == ["failed", "passed"]


def test_placebos_that_agree_withhold_all():
    found = calibrate_lifts(lifts(*[-0.1] * 12), lifts(*[-0.07] * 12), PARAMS)
    assert found["placebo"].unique().to_list() == ["failed"]


def test_a_memory_is_not_excused_where_the_others_placebos_are_off():
    found = calibrate_lifts(lifts(*[-0.3] * 6, 0.0), lifts(*[-0.3] * 6, 0.0), PARAMS)
    assert found["placebo"].to_list()[-1] == "failed"


def test_a_placebo_that_knows_nothing_supports_nothing():
    wide = lifts(0.0, error=0.2)
    assert calibrate_lifts(lifts(0.1), wide, PARAMS)["placebo"].to_list() == ["missing"]
    assert calibrate_lifts(lifts(0.1, error=0.25), wide, PARAMS)["placebo"].to_list() == ["passed"]
    few = lifts(0.0).with_columns(sessions=pl.lit(4.0))
    assert calibrate_lifts(lifts(0.1), few, PARAMS)["placebo"].to_list() == ["missing"]
    assert calibrate_lifts(lifts(0.1), lifts(), PARAMS)["placebo"].to_list() == ["missing"]


def test_calibration_moves_by_the_placebo_and_widens():
    found = calibrate_lifts(lifts(0.1), lifts(0.06), PARAMS)
    assert 0.04 < found["estimate"].item() < 0.1
    assert 0.05 < found["standard_error"].item() < 0.08


def test_lifts_are_shrunk_towards_each_other_and_stay_in_order():
    found = shrunk(lifts(-0.3, 0.0, 0.02, 0.05, 0.1, error=0.1), PARAMS)
    lift = found["lift"].to_list()
    assert lift == sorted(lift)
    assert max(lift) - min(lift) < 0.4
    exact = shrunk(lifts(-0.3, 0.0, 0.02, 0.05, 0.1, error=0.001), PARAMS)["lift"].to_list()
    assert exact == pytest.approx([-0.3, 0.0, 0.02, 0.05, 0.1], abs=0.002)


def test_intervals_stay_between_minus_one_and_one():
    found = shrunk(lifts(-0.9, 0.9, error=0.6, degrees=4.0), PARAMS)
    assert found["lift_low"].to_list()[0] == -1
    assert found["lift_high"].to_list()[1] == 1
