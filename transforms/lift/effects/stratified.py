"""Differences between interactions with and without something, within strata, from whole numbers that add up."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.counts.integer_groups import ordered_sum

SCALE = 10_000
"""Values are whole numbers of 1 / SCALE, so that sums of any parts of the log add up to the same."""
_COUNTS = ("n", "treated", "total", "treated_total")
DIFFERENCES = pl.Schema(
    {
        "key": pl.Int64,
        **dict.fromkeys(("estimate", "standard_error"), pl.Float64),
        **dict.fromkeys(("with_count", "without_count", "with_sessions", "without_sessions"), pl.Int64),
    }
)


def count_cells(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return what rows add up to per key, stratum and block: n, treated, total, treated_total, squares.

    rows: key, stratum, block, is_treated, value (whole numbers of 1 / SCALE). A further day adds its own numbers.
    """
    treated, value = pl.col("is_treated"), pl.col("value")
    return (
        rows.group_by("key", "stratum", "block")
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            treated.sum().cast(pl.Int64).alias("treated"),
            value.sum().alias("total"),
            value.filter(treated).sum().alias("treated_total"),
            (value * value).sum().alias("squares"),
        )
        .collect()
    )


def differences(cells: pl.DataFrame) -> pl.DataFrame:
    """Per key the mean of `value` where treated less that where not, within strata: `DIFFERENCES`, sorted by key.

    cells: see `count_cells`. Strata weigh treated x untreated / n (Mantel & Haenszel 1959): least squares with a mean
    for each stratum. The error is the larger of two: by blocks (Liang & Zeger 1986, CR1), and the one that rows
    would have if each stood alone. A stratum without both sides says nothing.
    """
    strata = (
        cells.group_by("key", "stratum")
        .agg(pl.col(*_COUNTS, "squares").sum())
        .filter((pl.col("treated") > 0) & (pl.col("treated") < pl.col("n")))
        .with_columns(
            (pl.col("treated") / pl.col("n")).alias("share"),
            (pl.col("total") / pl.col("n")).alias("mean"),
            (pl.col("treated") * (pl.col("n") - pl.col("treated")) / pl.col("n")).alias("weight"),
        )
    )
    gap = pl.col("treated_total") - pl.col("share") * pl.col("total")
    within = pl.col("squares") - pl.col("total") * pl.col("mean")
    fits = (
        strata.group_by("key")
        .agg(
            ordered_sum(pl.col("weight")).alias("weight"),
            ordered_sum(gap / SCALE).alias("gap"),
            ordered_sum(within / SCALE**2).alias("within"),
            pl.col("n").sum().alias("rows"),
            pl.len().cast(pl.Int64).alias("strata"),
            pl.col("treated").sum().alias("with_count"),
        )
        .with_columns((pl.col("gap") / pl.col("weight")).alias("estimate"))
    )
    n, treated, share = pl.col("n"), pl.col("treated"), pl.col("share")
    deviation = pl.col("treated_total") - pl.col("mean") * treated - share * (pl.col("total") - pl.col("mean") * n)
    spread = treated * (1 - 2 * share) + share * share * n
    blocks = (
        cells.join(strata.select("key", "stratum", "share", "mean"), on=["key", "stratum"])
        .join(fits.select("key", "estimate"), on="key")
        .with_columns((deviation / SCALE - pl.col("estimate") * spread).alias("score"))
        .group_by("key", "block")
        .agg(ordered_sum(pl.col("score")).alias("score"), pl.col("n", "treated").sum())
        .group_by("key")
        .agg(
            ordered_sum(pl.col("score").pow(2)).alias("squares"),
            pl.len().cast(pl.Int64).alias("blocks"),
            (treated > 0).sum().cast(pl.Int64).alias("with_sessions"),
            (treated < n).sum().cast(pl.Int64).alias("without_sessions"),
        )
    )
    free = pl.col("rows") - pl.col("strata") - 1
    clustered = pl.col("squares") * pl.col("blocks") / (pl.col("blocks") - 1) * (pl.col("rows") - 1) / free
    alone = (pl.col("within") - pl.col("estimate") * pl.col("gap")) / free * pl.col("weight")
    return (
        fits.join(blocks, on="key")
        .filter((free > 0) & (pl.col("blocks") > 1))
        .with_columns(
            (pl.max_horizontal(clustered, alone, 0.0).sqrt() / pl.col("weight")).alias("standard_error"),
            (pl.col("rows") - pl.col("with_count")).alias("without_count"),
        )
        .select(DIFFERENCES.names())
        .sort("key")
    )


def differences_from_all(cells: pl.DataFrame, everything: pl.DataFrame) -> pl.DataFrame:
    """As `differences`, where the untreated of a key are all rows of a stratum that are not its treated ones.

    Args:
        cells: of the treated rows (see `count_cells`).
        everything: the same of all rows, whatever key, with one key.

    All rows are counted once and not once for each key: what is not treated is all less the treated. The error adds
    that of the treated, by blocks, to that of the others, whose blocks count as they do over the whole log.
    """
    whole = everything.group_by("stratum").agg(pl.col("n", "total", "squares").sum())
    repeats = _repeats(everything, whole)
    in_strata = whole.join(
        everything.group_by("stratum").agg(pl.len().cast(pl.Int64).alias("all_blocks")), on="stratum"
    ).rename({"n": "all_n", "total": "all_total", "squares": "all_squares"})
    own = cells.group_by("key", "stratum").agg(pl.col("n", "total", "squares").sum(), pl.len().alias("blocks"))
    others = pl.col("all_n") - pl.col("n")
    strata = own.join(in_strata, on="stratum").filter(others > 0).with_columns(others.alias("others"))
    n, others = pl.col("n"), pl.col("others")
    others_total = pl.col("all_total") - pl.col("total")
    strata = strata.with_columns(
        (others_total / others / SCALE).alias("others_mean"),
        (n * others / pl.col("all_n")).alias("weight"),
        (others / pl.col("all_n")).alias("lever"),
        ((pl.col("all_squares") - pl.col("squares") - others_total * (others_total / others)) / SCALE**2).alias(
            "within"
        ),
    )
    fits = (
        strata.group_by("key")
        .agg(
            ordered_sum(pl.col("weight")).alias("weight"),
            ordered_sum(pl.col("lever") * (pl.col("total") / SCALE - n * pl.col("others_mean"))).alias("gap"),
            ordered_sum(pl.col("within")).alias("within"),
            ordered_sum(pl.col("weight").pow(2) / others).alias("others_lever"),
            (others.sum() - pl.len()).alias("free"),
            n.sum().alias("with_count"),
            others.sum().alias("without_count"),
            (pl.col("all_blocks") - pl.col("blocks")).clip(lower_bound=1).sum().cast(pl.Int64).alias("others_blocks"),
        )
        .with_columns((pl.col("gap") / pl.col("weight")).alias("estimate"))
    )
    score = pl.col("lever") * (pl.col("total") / SCALE - n * (pl.col("others_mean") + pl.col("estimate")))
    blocks = (
        cells.select("key", "stratum", "block", "n", "total")
        .join(strata.select("key", "stratum", "others_mean", "lever"), on=["key", "stratum"])
        .join(fits.select("key", "estimate"), on="key")
        .with_columns(score.alias("score"))
        .group_by("key", "block")
        .agg(ordered_sum(pl.col("score")).alias("score"), ordered_sum(pl.col("lever").pow(2) * n).alias("alone"))
        .group_by("key")
        .agg(
            ordered_sum(pl.col("score").pow(2)).alias("squares"),
            ordered_sum(pl.col("alone")).alias("alone"),
            pl.len().cast(pl.Int64).alias("with_sessions"),
        )
    )
    spread = pl.col("within") / pl.col("free")
    treated = pl.col("squares") * pl.col("with_sessions") / (pl.col("with_sessions") - 1)
    variance = pl.max_horizontal(treated, pl.col("alone") * spread) + pl.col("others_lever") * spread * repeats
    return (
        fits.join(blocks, on="key")
        .filter((pl.col("with_sessions") > 1) & (pl.col("free") > 0))
        .with_columns(
            (variance.clip(lower_bound=0.0).sqrt() / pl.col("weight")).alias("standard_error"),
            pl.col("others_blocks").alias("without_sessions"),
        )
        .select(DIFFERENCES.names())
        .sort("key")
    )


def _repeats(cells: pl.DataFrame, strata: pl.DataFrame) -> float:
    """By how much sums over blocks vary more than they would if each row stood alone; 1 at least."""
    means = strata.select("stratum", (pl.col("total") / pl.col("n")).alias("mean"))
    off = (pl.col("total") - pl.col("n") * pl.col("mean")) / SCALE
    by_block = cells.join(means, on="stratum").group_by("block").agg(ordered_sum(off).alias("off"))
    together = by_block.select(ordered_sum(pl.col("off").pow(2))).item()
    alone = strata.select(
        ordered_sum((pl.col("squares") - pl.col("total") * (pl.col("total") / pl.col("n"))) / SCALE**2)
    ).item()
    return max(1.0, float(together) / float(alone)) if alone else 1.0
