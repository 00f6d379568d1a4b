"""Forecasts of success on real attempts, against the floors that simple methods reach on the same rows."""

from __future__ import annotations

import polars as pl
import pytest
from attempt_rows import readings
from real_rows import FOLDER, outcome_rows

from slowwave.transforms.learning.attempts.inferred import with_apart
from slowwave.transforms.learning.attempts.outcomes import counted_outcomes
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.attempts.sessions import attempt_cells, attempt_sessions
from slowwave.transforms.learning.forecast.fits import project_losses
from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.scorecard.params import ScorecardParams
from slowwave.transforms.learning.scorecard.scorecard import graded_forecasts, scorecard

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not (FOLDER / "agbenchmark").is_dir(), reason="the real logs are not on this machine"),
]
_US_PER_DAY = 86_400_000_000
_PARAMS = ForecastParams()
_UNSAID = ("interaction_id", "user_id", "task", "basis", "basis_method")


@pytest.fixture(scope="module")
def attempts() -> pl.DataFrame:
    """agbenchmark's real attempts: the strategy is the agent, the kind of task the task."""
    rows = pl.DataFrame(outcome_rows(), infer_schema_length=None).with_columns(
        pl.col("created_at").str.to_datetime(time_zone="UTC").dt.replace_time_zone(None).dt.cast_time_unit("us"),
        pl.lit("").alias("agent"),
        *[pl.lit(None, pl.String).alias(name) for name in _UNSAID],
        pl.lit(None, pl.Int64).alias("tokens"),
        pl.lit(None, pl.Float64).alias("cost"),
        pl.lit(None, pl.String).alias("cost_unit"),
    )
    took = pl.duration(microseconds=(pl.col("duration_ms").fill_null(0) * 1000).cast(pl.Int64))
    rows = rows.with_columns((pl.col("created_at") + took).alias("recorded_at"))
    groups = rows.select("project", "strategy", pl.col("strategy").alias("strategy_id")).unique()
    no_errors = pl.DataFrame(schema={"project": pl.String, "error_message": pl.String, "error_id": pl.String})
    told, params = with_apart(rows, AttemptParams()), AttemptParams()
    counted = counted_outcomes(told, groups, no_errors, readings(told, params), params)
    return counted.filter("is_learned")


def _grades(sessions: pl.DataFrame, cells: pl.DataFrame, cutoffs: pl.DataFrame, losses: pl.DataFrame) -> pl.DataFrame:
    """Every cutoff's forecasts graded together, days as blocks."""
    told = graded_forecasts(sessions, cells, losses, cutoffs, _PARAMS)
    pooled = told.with_columns(pl.col("block").floor().cast(pl.Int64), pl.lit(19600, pl.Int64).alias("cutoff"))
    grades = scorecard(pooled, ScorecardParams(), _PARAMS.method)
    return grades.filter(~pl.col("metric").str.ends_with("_to_date"))


def _value(grades: pl.DataFrame, metric: str, method: str = _PARAMS.method) -> float:
    return grades.filter(pl.col("metric") == metric, pl.col("method") == method)["value"].item()


def _print(title: str, grades: pl.DataFrame) -> None:
    with pl.Config(tbl_rows=-1, fmt_str_lengths=40, float_precision=4):
        print(title, grades.select("method", "metric", "value", "value_low", "value_high", "attempts"))


def _assert_calibrated(grades: pl.DataFrame) -> None:
    of_perfect = grades.filter(pl.col("metric") == "calibration_error_if_perfect", pl.col("method") == _PARAMS.method)[
        "value_high"
    ].item()
    assert _value(grades, "calibration_error") < of_perfect


def test_published_before_the_day(attempts: pl.DataFrame) -> None:
    assert attempts.height == 5_697
    cells, numbered = attempt_cells(attempts)
    sessions = attempt_sessions(numbered)
    cutoffs = sessions.select(pl.col("day").alias("cutoff"), "day").unique()
    grades = _grades(sessions, cells, cutoffs, project_losses(sessions, cells, _PARAMS))
    _print("nightly", grades)
    assert _value(grades, "brier", "laplace/1") == pytest.approx(0.1286, abs=0.0003)
    assert _value(grades, "brier") <= 0.1215
    assert _value(grades, "log_loss") <= 0.389
    assert _value(grades, "auc") >= 0.905
    _assert_calibrated(grades)


def test_from_all_strictly_earlier_runs(attempts: pl.DataFrame) -> None:
    cells, numbered = attempt_cells(attempts)
    at = (pl.col("created_at").dt.epoch("us") / _US_PER_DAY).alias("day")
    sessions = (
        numbered.group_by("cell", "block", at)
        .agg(pl.len().cast(pl.Int64).alias("attempts"), pl.col("success").cast(pl.Int64).sum().alias("successes"))
        .with_columns(pl.col("day").alias("known_day"))
    )
    cutoffs = sessions.select(pl.col("day").alias("cutoff"), "day").unique()
    losses = project_losses(sessions, cells, _PARAMS)
    # a loss is known right after its run, not at the next midnight
    losses = losses.with_columns(pl.col("known_day") - 1 + 1e-9)
    grades = _grades(sessions, cells, cutoffs, losses)
    _print("run", grades)
    assert _value(grades, "brier", "laplace/1") == pytest.approx(0.1189, abs=0.0003)
    assert _value(grades, "brier") <= 0.107
    assert _value(grades, "log_loss") <= 0.344
    assert _value(grades, "auc") >= 0.925
    _assert_calibrated(grades)


@pytest.mark.parametrize("log", ["aider_swebench", "tau_airline"])
def test_logs_without_times_in_the_order_they_stand(log: str) -> None:
    """Each attempt is forecast from the rows before it, a minute apart; there is little to learn from so few."""
    rows = pl.read_parquet(FOLDER / log / "interactions.parquet").filter(
        pl.col("success").is_not_null(), pl.col("meta").str.json_path_match("$.level").fill_null("trial") == "trial"
    )
    sessions = rows.with_row_index("at").select(
        pl.lit(log).alias("project"),
        pl.lit("").alias("agent"),
        pl.col("task").fill_null("").alias("task_type"),
        pl.coalesce("strategy", "agent").alias("strategy_id"),
        pl.col("id").alias("block"),
        (pl.col("at") / 1440).alias("day"),
        (pl.col("at") / 1440).alias("known_day"),
        pl.lit(1, pl.Int64).alias("attempts"),
        pl.col("success").cast(pl.Int64).alias("successes"),
    )
    cells, sessions = attempt_cells(sessions)
    losses = project_losses(sessions, cells, _PARAMS).with_columns(pl.col("known_day") - 1 + 1e-9)
    grades = _grades(sessions, cells, sessions.select(pl.col("day").alias("cutoff"), "day").unique(), losses)
    _print(log, grades.filter(pl.col("metric").is_in(["brier", "log_loss", "auc", "brier_minus_laplace"])))
    assert grades["attempts"].max() == rows.height
    assert _value(grades, "brier") <= _value(grades, "brier", "base_rate/1") + 0.01
