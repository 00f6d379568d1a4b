"""Half-lives of memory types, fitted on a lake's own past."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.schema import computed_schema, polars_schema
from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_fading import watch_memories
from slowwave.transforms.usage.strength_now import default_half_lives, evidence, strengths_of
from slowwave.transforms.usage.tables import FittedStrengths

# Strength is graded in so many equal bands: what matters is which memories it tells apart.
_BANDS = 20


@dataclass(frozen=True)
class WindowCounts:
    """Per memory type, window, day from which the window was over, half-life factor and band of strength: memories."""

    memory_types: pl.DataFrame
    counts: pl.DataFrame


def may_be_referenced() -> pl.Expr:
    """Memories that forecasts are judged on: active ones and those never landed. What was retired could not be used."""
    return pl.col("status").is_null() | (pl.col("status") == "active")


def strength_fits(
    memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, today: int, params: StrengthParams
) -> pl.DataFrame:
    """The half-life of each memory type among `memories`, from evidence before `today` only.

    Windows of 30 days stand end to end on a grid fixed for all time. One counts for a memory if there was evidence of
    the memory before it, and if its scope had an interaction in it and one on or after its last day: so silent time
    changes no fit. For every factor the window's memories are put in bands by strength at its start; a band's rate of
    "referenced in the window" is what it was in earlier windows, (referenced + 1) / (memories + 2), and the factor
    with the least log loss is taken if it beats the default by the margin (ties: the first).
    Only active memories and those never landed count: what was retired could no longer be referenced. Pinned ones do
    not: their strength tells nothing.

    Args:
        memories: memory, scope, memory_type, status, importance, pinned, created_day.
        days: memory, day, reference_count, broad_count, bulk_count: days with a reference, one row each.
        scope_days: scope, day: days with an interaction.
        today: days since 1970; that day and later ones are not looked at.
        params: grid, margin.

    Returns the columns of `FittedStrengths` but run_id and as_of, sorted by memory_type.
    """
    fits = fits_at(window_counts(memories, days, scope_days, today, params), today, params)
    runs = watch_memories(memories.filter(may_be_referenced() & ~pl.col("pinned")), days, scope_days)
    return fits.join(runs.reach(today, params.fit_days), on="memory_type", how="left", maintain_order="left")


def window_counts(
    memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, today: int, params: StrengthParams
) -> WindowCounts:
    """What `fits_at` needs for `today` and any day before; arguments as in `strength_fits`."""
    types = memories.select(pl.col("memory_type").fill_null("")).unique().sort("memory_type")
    types = default_half_lives(types, params)
    keys = {"memory_type": pl.String, "factor": pl.Int64, "window": pl.Int64, "over_day": pl.Int64, "band": pl.Int64}
    nothing = pl.DataFrame(schema={**keys, "memories": pl.Int64, "referenced": pl.Int64})
    past = days.filter(pl.col("day") < today).sort("memory", "day")
    asked = _forecast_rows(memories, past, scope_days.filter(pl.col("day") < today), params)
    if asked.is_empty():
        return WindowCounts(types, nothing)
    chosen = memories.join(asked, on="memory", how="semi")
    of_chosen = past.join(chosen, on="memory", how="semi")
    counted = [nothing]
    for factor, times in enumerate(params.half_life_factors):
        tried = types.with_columns(pl.col("half_life_days") * times)
        known = evidence(chosen, of_chosen, tried, params)
        told = strengths_of(known, asked.select("memory", "day"), params)
        counted.append(
            asked.with_columns((told["strength"] * _BANDS).floor().clip(0, _BANDS - 1).cast(pl.Int64).alias("band"))
            .group_by("memory_type", "window", "over_day", "band")
            .agg(
                pl.len().cast(pl.Int64).alias("memories"),
                pl.col("is_referenced").cast(pl.Int64).sum().alias("referenced"),
            )
            .with_columns(pl.lit(factor, pl.Int64).alias("factor"))
            .select(nothing.columns)
        )
    return WindowCounts(types, pl.concat(counted))


def fits_at(windows: WindowCounts, today: int, params: StrengthParams) -> pl.DataFrame:
    """`strength_fits` as of `today` without reach_days, from windows that were over before it."""
    over = windows.counts.filter(pl.col("over_day") < today)
    of_type = {str(name): rows for (name,), rows in over.partition_by("memory_type", as_dict=True).items()}
    rows = []
    for memory_type, half_life in windows.memory_types.rows():
        fitted = _fit(of_type[memory_type], params) if memory_type in of_type else _Fit(0, 0, 0, 0, None, None)
        times = params.half_life_factors[fitted.factor]
        losses = (fitted.log_loss, fitted.default_log_loss)
        counts = (fitted.windows, fitted.forecasts, fitted.references)
        rows.append((memory_type, half_life * times, half_life, *counts, *losses))
    columns = [name for name in computed_schema(FittedStrengths).names() if name != "reach_days"]
    schema = {name: polars_schema(FittedStrengths)[name] for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("memory_type")


@dataclass(frozen=True)
class _Fit:
    factor: int
    windows: int
    forecasts: int
    references: int
    log_loss: float | None
    default_log_loss: float | None


def _fit(counts: pl.DataFrame, params: StrengthParams) -> _Fit:
    """The factor of one memory type."""
    latest = counts["window"].unique().sort().tail(params.fit_windows)
    counts = counts.join(latest.to_frame(), on="window", how="semi")
    shape = (len(params.half_life_factors), len(latest), _BANDS)
    place = (counts["factor"].to_numpy(), np.searchsorted(latest.to_numpy(), counts["window"].to_numpy()))
    memories = np.zeros(shape, dtype=np.int64)
    referenced = np.zeros(shape, dtype=np.int64)
    np.add.at(memories, (*place, counts["band"].to_numpy()), counts["memories"].to_numpy())
    np.add.at(referenced, (*place, counts["band"].to_numpy()), counts["referenced"].to_numpy())
    # the first window has none before it to be forecast from
    forecasts, references = int(memories[0, 1:].sum()), int(referenced[0, 1:].sum())
    if not forecasts:
        return _Fit(0, len(latest), 0, 0, None, None)
    losses = [_log_loss(memories[k], referenced[k]) for k in range(shape[0])]
    best = int(np.argmin(losses))
    is_enough = len(latest) >= params.min_fit_windows and references >= params.min_fit_references
    factor = best if is_enough and losses[0] - losses[best] >= params.fit_margin_nats else 0
    return _Fit(factor, len(latest), forecasts, references, losses[factor] / forecasts, losses[0] / forecasts)


def _log_loss(memories: Integers, referenced: Integers) -> float:
    """Log loss in nats of every window (a row) but the first, forecast band by band (a column) from those before."""
    seen = np.cumsum(memories, axis=0)[:-1]
    hits = np.cumsum(referenced, axis=0)[:-1]
    rate = (hits + 1) / (seen + 2)
    used, unused = referenced[1:], memories[1:] - referenced[1:]
    terms = -(used * np.log(rate) + unused * np.log1p(-rate))
    return float(np.cumsum(terms.ravel())[-1])  # one by one, in order


def _forecast_rows(
    memories: pl.DataFrame, past: pl.DataFrame, scope_days: pl.DataFrame, params: StrengthParams
) -> pl.DataFrame:
    """The rows to forecast: memory, memory_type, window, day (its eve), over_day, is_referenced; sorted."""
    first = past.group_by("memory").agg(pl.col("day").min().alias("first_day"))
    known = (
        memories.sort("memory")
        .filter(may_be_referenced() & ~pl.col("pinned"))
        .join(first, on="memory", how="left", maintain_order="left")
        .with_columns(pl.min_horizontal("first_day", "created_day").alias("first_day"))
        .filter(pl.col("first_day").is_not_null())
        .select("memory", "scope", pl.col("memory_type").fill_null(""), pl.col("first_day").cast(pl.Int64))
    )
    windows = _windows(scope_days, params.fit_days)
    total = known.join(windows.group_by("scope").len("windows"), on="scope")["windows"].sum()
    every = max(1, -(-int(total) // params.max_fit_rows))
    rows = (
        known.filter(pl.int_range(pl.len()).over("memory_type") % every == 0)
        .join(windows, on="scope")
        .filter(pl.col("window") > pl.col("first_day") // params.fit_days)
        .with_columns((pl.col("window") * params.fit_days - 1).alias("day"))
        .sort("memory", "day")
    )
    events = past.select("memory", pl.col("day").cast(pl.Int64).alias("referenced_day")).sort(
        "memory", "referenced_day"
    )
    return (
        rows.with_columns((pl.col("day") + 1).alias("start"))
        .join_asof(
            events, left_on="start", right_on="referenced_day", by="memory", strategy="forward", check_sortedness=False
        )
        .with_columns(
            (pl.col("referenced_day") < pl.col("start") + params.fit_days).fill_null(value=False).alias("is_referenced")
        )
        .select("memory", "memory_type", "window", "day", "over_day", "is_referenced")
        .sort("memory", "day")
    )


def _windows(scope_days: pl.DataFrame, fit_days: int) -> pl.DataFrame:
    """scope, window (its number), over_day: of windows with an active day, the first one from the window's end on."""
    active = scope_days.select("scope", pl.col("day").cast(pl.Int64)).unique().sort("scope", "day")
    seen = active.select("scope", (pl.col("day") // fit_days).alias("window")).unique().sort("scope", "window")
    ends = seen.with_columns((pl.col("window") * fit_days + fit_days - 1).alias("end"))
    over = ends.join_asof(
        active.rename({"day": "over_day"}).sort("scope", "over_day"),
        left_on="end",
        right_on="over_day",
        by="scope",
        strategy="forward",
        check_sortedness=False,
    )
    return over.filter(pl.col("over_day").is_not_null()).select("scope", "window", "over_day")
