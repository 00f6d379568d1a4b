"""Need: graded only on what was known before, and only once the horizon is over."""

from __future__ import annotations

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.learning.tables import Scorecard
from slowwave.transforms.usage.need_forecasts import need_forecasts
from slowwave.transforms.usage.need_scores import graded_needs, need_cutoff_days, need_scores
from slowwave.transforms.usage.params import NeedParams
from slowwave.transforms.usage.tables import NeedFits

PARAMS = NeedParams()
TODAY = 20_000


def lake():
    draw = np.random.default_rng(5)
    rates = [0.002, 0.02, 0.1]
    rows = [
        (memory, day) for memory in range(90) for day in range(TODAY - 400, TODAY) if draw.random() < rates[memory % 3]
    ]
    ones, zeros = pl.lit(1, pl.Int64), pl.lit(0, pl.Int64)
    used = pl.DataFrame(rows, schema={"memory": pl.UInt32, "day": pl.Int32}, orient="row").with_columns(
        ones.alias("reference_count"), zeros.alias("broad_count"), zeros.alias("bulk_count")
    )
    known = pl.DataFrame({"memory": range(90)}, schema={"memory": pl.UInt32}).with_columns(
        pl.lit(1, pl.UInt32).alias("scope"),
        pl.lit("atlas").alias("project"),
        pl.lit("active").alias("status"),
        pl.lit(TODAY - 400, pl.Int32).alias("created_day"),
    )
    active = pl.DataFrame({"day": range(TODAY - 400, TODAY)}, schema={"day": pl.Int32}).select(
        pl.lit(1, pl.UInt32).alias("scope"), "day", ones.alias("interactions_count"), ones.alias("sessions_count")
    )
    return known, used, active


def test_cutoffs_are_mondays_whose_horizon_is_over_and_stay():
    active = lake()[2]
    found = need_cutoff_days(active, TODAY, PARAMS)
    assert len(found) == PARAMS.score_cutoffs
    assert all((day - 4) % 7 == 0 for day in found)
    assert found[-1] + 30 <= TODAY
    assert need_cutoff_days(active, found[-1] + 30, PARAMS)[-1] == found[-1]
    assert need_cutoff_days(active, found[-1] + 29, PARAMS)[-1] == found[-2]


def test_better_than_the_base_rate_and_one_row_per_key():
    frames = lake()
    cutoffs = need_cutoff_days(frames[2], TODAY, PARAMS)
    found = need_scores(*frames, cutoffs, TODAY, PARAMS)
    assert found.select(Scorecard.key).is_duplicated().sum() == 0
    published = {name: dtype for name, dtype in polars_schema(Scorecard).items() if name not in {"run_id", "as_of"}}
    assert dict(found.schema) == published
    skill = found.filter(pl.col("metric") == "need_skill")
    assert skill.height == len(cutoffs)
    assert (skill["value"] > 0.2).all()
    assert (found["value_low"] <= found["value_high"]).all()
    assert (found["attempts"] == 90).all()


def test_what_came_after_a_cutoff_is_graded_not_known():
    known, used, active = lake()
    cutoff = need_cutoff_days(active, TODAY, PARAMS)[-2]
    graded = graded_needs(known, used, active, [cutoff, TODAY - 29], TODAY, PARAMS)
    assert graded["cutoff"].unique().to_list() == [cutoff]
    told = need_forecasts(known, used.filter(pl.col("day") < cutoff), active, cutoff, PARAMS).forecasts
    assert_frame_equal(graded.select(pl.col("need").alias("need_30d")), told.select("need_30d"), check_exact=True)
    silent = used.filter(~pl.col("day").is_between(cutoff, cutoff + 29))
    unneeded = graded_needs(known, silent, active, [cutoff], TODAY, PARAMS)
    assert graded["is_needed"].any()
    assert not unneeded["is_needed"].any()
    assert_frame_equal(graded.drop("is_needed"), unneeded.drop("is_needed"), check_exact=True)


def test_fits_have_the_columns_of_their_table():
    fits = need_forecasts(*lake(), TODAY, PARAMS).fits
    published = {"pool_id": "scope"}
    wanted = [published.get(name, name) for name in polars_schema(NeedFits) if name not in {"run_id", "as_of"}]
    assert fits.columns == wanted
