"""How well the forecasts of need did, recomputed as of past Mondays against what then happened."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.core.counts import forecast_grades as scores
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.times import FIRST_MONDAY, midnight
from slowwave.transforms.learning.tables import Scorecard
from slowwave.transforms.usage.need_forecasts import need_forecasts
from slowwave.transforms.usage.need_timelines import need_evidence
from slowwave.transforms.usage.need_windows import window_cuts
from slowwave.transforms.usage.params import NeedParams

_BASE_RATE = "base_rate/1"
_DRAWS = 100
_MASS = 0.9
_METRICS: dict[str, Callable[[scores.Graded], Floats]] = {
    "brier": scores.brier,
    "log_loss": scores.log_loss,
    "calibration_error": scores.calibration_error,
}


def need_cutoff_days(scope_days: pl.DataFrame, today: int, params: NeedParams) -> list[int]:
    """Past Mondays, days since 1970, whose horizon is over at the start of `today`, every few weeks, ascending.

    They are counted from the first Monday of 1970, so that a Monday graded once stays one.
    """
    step = 7 * params.score_step_weeks
    first = scope_days["day"].min()
    if not isinstance(first, int):
        return []
    start = first + 1 + (FIRST_MONDAY - first - 1) % step
    return list(range(start, today - params.horizon_days + 1, step))[-params.score_cutoffs :]


def graded_needs(
    memories: pl.DataFrame,
    days: pl.DataFrame,
    scope_days: pl.DataFrame,
    cutoff_days: list[int],
    today: int,
    params: NeedParams,
) -> pl.DataFrame:
    """What was forecast at the start of each cut-off day of memories active now, and what then happened.

    Cut-offs whose horizon is not over at the start of `today` are left out. Returns cutoff, memory, is_needed, need
    (`need_30d` from evidence before the cut-off) and base_rate (share of cases of the windows over by then that were
    needed), where both are known; sorted by cutoff and memory.
    """
    found = [pl.DataFrame(schema=_GRADED)]
    for cutoff in sorted(cutoff_days):
        if cutoff + params.horizon_days > today:
            continue
        known = memories.with_columns(pl.when(pl.col("created_day") < cutoff).then(pl.col("created_day")))
        before = (days.filter(pl.col("day") < cutoff), scope_days.filter(pl.col("day") < cutoff))
        told = need_forecasts(known, *before, cutoff, params).forecasts
        base = _base_rate(known, *before, cutoff, params)
        if base is None:
            continue
        later = days.filter(pl.col("day").is_between(cutoff, cutoff + params.horizon_days - 1))["memory"].unique()
        found.append(
            told.filter(pl.col("need_30d").is_not_null())
            .select(
                pl.lit(cutoff, pl.Int64).alias("cutoff"),
                pl.col("memory").cast(pl.Int64),
                pl.col("memory").is_in(later.implode()).alias("is_needed"),
                pl.col("need_30d").alias("need"),
                pl.lit(base).alias("base_rate"),
            )
            .sort("memory")
        )
    return pl.concat(found)


_GRADED = {
    "cutoff": pl.Int64,
    "memory": pl.Int64,
    "is_needed": pl.Boolean,
    "need": pl.Float64,
    "base_rate": pl.Float64,
}


def _base_rate(
    memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, cutoff: int, params: NeedParams
) -> float | None:
    """Share of memories, at the starts of windows over before the cut-off, that were referenced in the window."""
    evidence = need_evidence(memories, days, scope_days, cutoff)
    cases, needed = 0, 0
    for cut in window_cuts(evidence, params):
        in_window = (evidence.day >= cut) & (evidence.day < cut + params.horizon_days)
        is_needed = np.zeros(len(evidence.number), dtype=bool)
        is_needed[evidence.memory[in_window]] = True
        was_there = (evidence.created < cut) | (evidence.first < cut)
        cases += int(was_there.sum())
        needed += int((was_there & is_needed).sum())
    return needed / cases if cases else None


def need_scores(
    memories: pl.DataFrame,
    days: pl.DataFrame,
    scope_days: pl.DataFrame,
    cutoff_days: list[int],
    today: int,
    params: NeedParams,
) -> pl.DataFrame:
    """Grades of `need_30d` and of the base rate at each cut-off day, sorted by key.

    Which memories are graded follows their status now, which may flatter: a memory archived since is left out.

    Args:
        memories: of `need_forecasts`.
        days: of `need_forecasts`.
        scope_days: of `need_forecasts`.
        cutoff_days: of `need_cutoff_days`.
        today: days since 1970; only forecasts whose horizon was over by its start are graded.
        params: horizon and method.

    Returns the columns of `Scorecard`: method, metric, cutoff_at, horizon_days, value, value_low, value_high (memories
    drawn with replacement, or for calibration_error_if_perfect perfect forecasters), attempts (memories graded),
    cutoffs. Metrics: need_brier, need_log_loss, need_calibration_error, need_calibration_error_if_perfect, and
    need_skill (1 - need_log_loss / that of the base rate).
    """
    graded = graded_needs(memories, days, scope_days, cutoff_days, today, params)
    rows: list[tuple[object, ...]] = []
    for (cutoff,), cases in graded.group_by("cutoff", maintain_order=True):
        assert isinstance(cutoff, int)  # noqa: S101 - the column is Int64
        rows += _grades(cases, cutoff, params)
    return pl.DataFrame(rows, schema=computed_schema(Scorecard), orient="row").sort(
        "method", "metric", "cutoff_at", "horizon_days"
    )


def _grades(cases: pl.DataFrame, cutoff: int, params: NeedParams) -> list[tuple[object, ...]]:
    generator = np.random.default_rng(int(digest(["need", str(cutoff)])[:12], 16))
    blocks = 50
    counted = cases.select(
        (pl.col("memory") % blocks).alias("block"),
        pl.lit(1, pl.Int64).alias("attempts"),
        pl.col("is_needed").cast(pl.Int64).alias("successes"),
        pl.col("need").alias(params.method),
        pl.col("base_rate").alias(_BASE_RATE),
    )
    drawn = generator.multinomial(blocks, np.full(blocks, 1 / blocks), size=_DRAWS)
    times = np.vstack([np.ones((1, blocks), dtype=np.int64), drawn.astype(np.int64)])
    found: dict[tuple[str, str], Floats] = {}
    for name in (params.method, _BASE_RATE):
        counts = scores.resample_blocks(scores.count_by_forecast(counted, name, pl.Series(range(blocks))), times)
        for metric, measure in _METRICS.items():
            found[name, metric] = measure(counts)
        whole = scores.Graded(counts.attempts[:1], counts.successes[:1])
        perfect = scores.calibration_error_if_perfect(whole, _DRAWS, generator)
        found[name, "calibration_error_if_perfect"] = np.concatenate([[perfect.mean()], perfect])
    found[params.method, "skill"] = 1 - found[params.method, "log_loss"] / found[_BASE_RATE, "log_loss"]
    at = midnight(cutoff)
    return [
        (name, f"need_{metric}", at, params.horizon_days, *_with_interval(values), cases.height, 1)
        for (name, metric), values in found.items()
    ]


def _with_interval(values: Floats) -> tuple[float | None, float | None, float | None]:
    drawn = values[1:][np.isfinite(values[1:])]
    if not np.isfinite(values[0]) or not len(drawn):
        return None, None, None
    low, high = np.quantile(drawn, [(1 - _MASS) / 2, (1 + _MASS) / 2])
    return float(values[0]), float(low), float(high)
