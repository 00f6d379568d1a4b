"""Charts of what is learned from outcomes: estimates with their intervals, and how good forecasts were."""

from __future__ import annotations

import altair as alt
import polars as pl

from slowwave.dashboards.charts import parts
from slowwave.dashboards.charts.theme import BLUE, GREY, ORANGE, RED
from slowwave.dashboards.words import beside_base_rate, number_of, percent, points

_MOST_PROJECTS = 5
_BASE_RATE, _LAPLACE = "base_rate/1", "laplace/1"
_METHODS = {
    _BASE_RATE: "base rate",
    _LAPLACE: "simple average (Laplace)",
    "records/1": "sum of the records of strategy and task",
}
_NO_OUTCOMES = "Outcomes of attempts are what this is learned from."
_NO_WEEKS = "Forecasts are graded on the seven days after a Monday, once these are over."


def _place(*names: str | None) -> str:
    """Project, agent and task type, those that are said."""
    return " / ".join(parts.label(name, 24) for name in names if name) or "no project"


def _dumbbells(rows: list[parts.Row], labels: list[str], fields: tuple[str, str], x_title: str) -> list[alt.Chart]:
    """Per row a ring and a diamond, joined by a line."""
    x = alt.X(
        f"{fields[0]}:Q", scale=alt.Scale(zero=True, nice=True), title=x_title, axis=alt.Axis(tickCount=5, grid=False)
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(parts.row_axis(labels))
    line = base.mark_rule(color=GREY, strokeWidth=2, yOffset=parts.MARK_OFFSET).encode(x, alt.X2(f"{fields[1]}:Q"))
    ring = base.mark_point(color=BLUE, filled=False, size=70, strokeWidth=2, opacity=1, yOffset=parts.MARK_OFFSET)
    diamond = base.mark_point(color=RED, filled=True, shape="diamond", size=110, opacity=1, yOffset=parts.MARK_OFFSET)
    return [line, ring.encode(alt.X(f"{fields[0]}:Q")), diamond.encode(alt.X(f"{fields[1]}:Q"))]


def calibration(frame: pl.DataFrame) -> alt.LayerChart:
    """How wrong forecasts of success were, week by week, beside simple ones. `frame`: of `calibration_by_week`.

    With a frame of the recipe `calibration`: `calibration_error`.
    """
    if "metric" in frame.columns:
        return calibration_error(frame)
    known = frame.drop_nulls(["cutoff_at", "method", "brier"]).sort("cutoff_at", "method", "brier")
    known = known.unique(["cutoff_at", "method"], keep="first", maintain_order=True)
    if known.is_empty():
        return parts.blank("No graded forecasts yet", _NO_WEEKS)
    weeks = known["cutoff_at"].unique().sort().tail(100)
    shown = known.filter(pl.col("cutoff_at").is_in(weeks.implode())).with_columns(pl.col("brier").cast(pl.Float64))
    ours = _our_method(shown)
    wide = shown.pivot("method", index="cutoff_at", values="brier").sort("cutoff_at")
    told = []
    for other in (_BASE_RATE, _LAPLACE):
        if ours in wide.columns and other in wide.columns:
            both = wide.drop_nulls([ours, other])
            wins = both.filter(pl.col(ours) < pl.col(other)).height
            if both.height:
                told.append(f"{_METHODS[other]} in {wins} of {number_of(both.height, 'week')}")
    title = f"Smaller error than the {' and than '.join(told)}" if told else "Error of forecasts, by week"
    methods = _methods(shown, ours)
    rows = [
        {"at": parts.instant(at), "series": methods[method], "value": parts.number(value)}
        for at, method, value in shown.select("cutoff_at", "method", "brier").iter_rows()
    ]
    y = alt.Y("value:Q", title="Brier score (lower is better)", scale=alt.Scale(zero=False, nice=True))
    layers = parts.line_layers(rows, list(methods.values()), weeks.to_list(), "Monday of the forecast (UTC)", y)
    means = shown.group_by("method").agg(pl.col("brier").sort().mean()).sort("method")
    described = "Mean of the weeks' Brier scores, each week counting alike: "
    described += ", ".join(f"{methods[name]} {mean:.3f}" for name, mean in means.iter_rows())
    subtitle = "Mean squared error of forecasts made on a Monday, on the attempts of the seven days after"
    return parts.combine_layers(layers, title, subtitle, described + ".", 220)


def _our_method(frame: pl.DataFrame) -> str:
    """The first method that is no simple one, '' where there is none."""
    return next((name for name in frame["method"].unique().sort() if name not in _METHODS), "")


def _methods(frame: pl.DataFrame, ours: str) -> dict[str, str]:
    """Methods with what they are called, ours first; at most six."""
    found = sorted(frame["method"].unique(), key=lambda name: (name != ours, name))[:6]
    return {name: _METHODS.get(name, f"our forecast ({parts.label(name, 24)})") for name in found}


def calibration_error(frame: pl.DataFrame) -> alt.LayerChart:
    """How far forecasts are off, beside what a perfect forecaster would score. `frame`: of the recipe `calibration`."""
    names = {"calibration_error": "error", "calibration_error_if_perfect": "perfect"}
    found = frame.filter(pl.col("metric").is_in(list(names))).drop_nulls(["method", "value"])
    found = found.sort("method", "metric", "value").unique(["method", "metric"], keep="first", maintain_order=True)
    ours = _our_method(found)
    per: dict[str, dict[str, float]] = {}
    for method, metric, value in found.select("method", "metric", "value").iter_rows():
        per.setdefault(method, {})[names[metric]] = value
    called = _methods(found, ours)
    rows = [{"method": name, **per[name]} for name in called if per[name].keys() == {"error", "perfect"}]
    if not rows:
        return parts.blank("No graded forecasts yet", _NO_WEEKS)
    labels = [
        f"{called[str(row['method'])]}\n{row['error']:.3f}; a perfect forecaster {row['perfect']:.3f}" for row in rows
    ]
    values = [
        {"row": text, "error": parts.number(row["error"]), "perfect": parts.number(row["perfect"])}
        for text, row in zip(labels, rows, strict=True)
    ]
    first = rows[0]
    title = f"{called[str(first['method'])].capitalize()} is off by {points(first['error'])} points on average, a "
    title += f"perfect forecaster by {points(first['perfect'])}"
    subtitle = "Diamond: mean distance of forecast and observed share. Ring: that of a perfect forecaster on as many"
    layers = _dumbbells(values, labels, ("perfect", "error"), "Calibration error (0–1, lower is better)")
    return parts.combine_layers(layers, title, subtitle, "", parts.ROW_HEIGHT * len(rows))


def success_by_week(frame: pl.DataFrame) -> alt.LayerChart:
    """Success of real attempts, week by week, of the projects with most attempts. `frame`: of `success_by_week`."""
    known = frame.filter(pl.col("week").is_not_null() & (pl.col("attempts") > 0))
    known = known.with_columns(
        (pl.col("success_rate") * pl.col("attempts")).round().cast(pl.Int64).alias("successes"),
        pl.col("attempts").cast(pl.Int64),
        pl.col("project").fill_null("").alias("project"),
    )
    if known.is_empty():
        return parts.blank("No attempts yet", _NO_OUTCOMES)
    sizes = known.group_by("project").agg(pl.col("attempts").sum()).sort(pl.col("attempts").neg(), "project")
    chosen = sizes["project"].head(_MOST_PROJECTS).to_list()
    called = dict(zip(chosen, parts.distinct(_place(name) for name in chosen), strict=True))
    rest = "all other projects"
    marked = known.with_columns(
        pl.when(pl.col("project").is_in(chosen)).then(pl.col("project").replace(called)).otherwise(pl.lit(rest))
        .alias("series")
    )  # fmt: skip
    summed, period = parts.sum_by_period(marked, "week", ["attempts", "successes"], ["series"])
    if period == "day":
        period = "week"
    names = [name for name in (*called.values(), rest) if name in summed["series"]]
    rows = [
        {
            "at": parts.instant(row["week"]),
            "series": row["series"],
            "value": parts.number(row["successes"] / row["attempts"]),
            "n": row["attempts"],
            "is_complete": row["is_complete"],
        }
        for row in summed.iter_rows(named=True)
    ]
    total = summed.group_by("week").agg(pl.col("attempts", "successes").sum()).sort("week")
    last = total.row(-1, named=True)
    title = f"{percent(last['successes'] / last['attempts'])} of {number_of(last['attempts'], 'attempt')} "
    title += f"succeeded in the {period} of {last['week']}"
    if total.height > 1:
        before = total.row(-2, named=True)
        rate = percent(before["successes"] / before["attempts"])
        title += f", {rate} of {before['attempts']:,} in that of {before['week']}"
    y = alt.Y("value:Q", title="Share of attempts that succeeded", scale=alt.Scale(domain=[0, 1]))
    layers = parts.line_layers(rows, names, total["week"].to_list(), f"UTC {period}", y)
    inferred = "some inferred" if known["inferred"].sum() else "reported or evaluated"
    subtitle = f"Successful share of real attempts ({inferred}) per {period}; skips and cascades are no attempts"
    subtitle += parts.unfinished_words(rows, period)
    if len(sizes) > _MOST_PROJECTS:
        subtitle += f". The {_MOST_PROJECTS} of {len(sizes):,} projects with most attempts"
    described = f"{number_of(int(total['attempts'].sum()), 'attempt')} in {number_of(total.height, period)}."
    return parts.combine_layers(layers, title, subtitle, described, 220)


def need_calibration(frame: pl.DataFrame) -> alt.LayerChart:
    """How much better need_30d was than the base rate, with its interval. `frame`: of `need_calibration`."""
    known = frame.drop_nulls(["cutoff_at", "skill"]).sort("cutoff_at", "skill")
    known = known.unique("cutoff_at", keep="first", maintain_order=True).tail(100)
    if known.is_empty():
        return parts.blank("No graded forecasts of need yet", "They are graded 30 days after a Monday.")
    last = known.row(-1, named=True)
    title = f"need_30d {beside_base_rate(last['skill'], last['skill_low'], last['skill_high'])}"
    rows = [
        {
            "at": parts.instant(row["cutoff_at"]),
            "value": parts.number(row["skill"]),
            "low": parts.number(row["skill_low"]),
            "high": parts.number(row["skill_high"]),
        }
        for row in known.iter_rows(named=True)
    ]
    x = parts.time_axis(known["cutoff_at"].to_list(), "Monday of the forecast (UTC)")
    y = alt.Y("value:Q", title="Skill (above 0: better than base rate)", axis=alt.Axis(tickCount=5))
    base = alt.Chart(alt.InlineData(values=rows))
    ranged = alt.Chart(alt.InlineData(values=[row for row in rows if row["low"] is not None]))
    layers = [
        alt.Chart(alt.InlineData(values=[{"value": 0}])).mark_rule(color=GREY, strokeDash=[4, 4]).encode(y),
        ranged.mark_rule(color=ORANGE, strokeWidth=2).encode(x, alt.Y("low:Q"), alt.Y2("high:Q")),
        base.mark_point(filled=True, color=ORANGE, size=70, opacity=1, shape="square").encode(x, y),
    ]
    subtitle = "Square: how much lower than the base rate's its log loss is, as a share of that. Line: 90 % interval"
    described = f"{number_of(known.height, 'Monday')} graded."
    if last["calibration_error"] is not None and last["calibration_error_if_perfect"] is not None:
        described += f" The last forecast was {points(last['calibration_error'])} points off on average, a perfect "
        described += f"forecaster {points(last['calibration_error_if_perfect'])}."
    return parts.combine_layers(layers, title, subtitle, described, 200)


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
