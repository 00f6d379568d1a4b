"""Whether forecasts come true as often as they say."""

from __future__ import annotations

import altair as alt
import polars as pl

from slowwave.dashboards.words import points

_BINS = 15
_TITLE = "Forecasts of a reference within the horizon"


def reliability_bins(graded: pl.DataFrame) -> pl.DataFrame:
    """Per method and bin of equal width: how likely it was forecast, and how often it came.

    `graded`: method, forecast (0-1), is_needed. Returns method, bin, forecast (mean), observed (share), cases; sorted.
    """
    at = (pl.col("forecast") * _BINS).floor().clip(0, _BINS - 1).cast(pl.Int64)
    return (
        graded.sort("method", "forecast", "is_needed")
        .group_by("method", at.alias("bin"), maintain_order=True)
        .agg(
            pl.col("forecast").mean(),
            pl.col("is_needed").mean().alias("observed"),
            pl.len().cast(pl.Int64).alias("cases"),
        )
        .sort("method", "bin")
    )


def reliability_chart(graded: pl.DataFrame, name: str) -> alt.LayerChart | alt.FacetChart:
    """Observed against forecast shares, a line and a shape per method, beside the diagonal of true forecasts.

    Args:
        graded: method, forecast (0-1), is_needed; at least one row.
        name: whose forecasts they are.
    """
    bins = reliability_bins(graded)
    gap = (pl.col("forecast") - pl.col("observed")).abs() * pl.col("cases")
    errors = bins.group_by("method").agg((gap.sum() / pl.col("cases").sum()).alias("error")).sort("error", "method")
    best, error = errors.row(0)
    worded = "; ".join(f"{method}: {value:.3f}" for method, value in errors.iter_rows())
    scale = alt.Scale(domain=[0, 1])
    diagonal = (
        alt.Chart(alt.InlineData(values=[{"at": 0}, {"at": 1}]))
        .mark_line(color="gray", strokeDash=[4, 4])
        .encode(alt.X("at:Q"), alt.Y("at:Q"))
    )
    lines = (
        alt.Chart(alt.InlineData(values=bins.to_dicts()))
        .mark_line(point=alt.OverlayMarkDef(size=60))
        .encode(
            alt.X("forecast:Q", scale=scale, title="Forecast probability"),
            alt.Y("observed:Q", scale=scale, title="Share referenced"),
            alt.Color("method:N", title="Method"),
            alt.Shape("method:N", title="Method"),
            alt.StrokeDash("method:N", title="Method"),
            tooltip=["method:N", "forecast:Q", "observed:Q", "cases:Q"],
        )
    )
    return alt.layer(diagonal, lines).properties(
        title=alt.TitleParams(
            f"{name}: {best} is off by {points(error)} points on average",
            subtitle=f"{_TITLE}; the dashed diagonal is a forecaster who is always right about how often",
        ),
        description=f"Reliability of forecasts for {name}. Mean distance of forecast and observed share: {worded}.",
        width=360,
        height=360,
    )
