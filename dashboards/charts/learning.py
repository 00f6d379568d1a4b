"""Charts of what is learned from outcomes: estimates with their intervals, and how good forecasts were."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from slowwave.dashboards.charts import parts
from slowwave.dashboards.charts.theme import BLUE, GREEN, GREY, ORANGE, RED
from slowwave.dashboards.words import beside_base_rate, number_of, part, percent, points

_MOST_ROWS = 25
_MOST_TASKS, _PER_TASK = 6, 3
_MOST_PATTERNS = 15
_MOST_PROJECTS = 5
_EVEN = 0.5
_BASE_RATE, _LAPLACE = "base_rate/1", "laplace/1"
_METHODS = {
    _BASE_RATE: "base rate",
    _LAPLACE: "simple average (Laplace)",
    "records/1": "sum of the records of strategy and task",
}
_NO_OUTCOMES = "Outcomes of attempts are what this is learned from."
_NO_WEEKS = "Forecasts are graded on the seven days after a Monday, once these are over."
_CONFIDENCE = ("confidence", "confidence_low", "confidence_high")


def confidence_intervals(
    frame: pl.DataFrame,
    *,
    label: str = "label",
    group: str | None = "group",
    attempts: str | None = "attempts",
    noun: tuple[str, str] = ("row", "rows"),
    unit: str = "estimated success of the next comparable attempt",
    total: int | None = None,
) -> alt.LayerChart:
    """Estimates with their intervals, at most 25: those with most attempts, highest lower bound first.

    Args:
        frame: the columns named below, and confidence, confidence_low, confidence_high (0-1).
        label: column with what is estimated.
        group: column with where it belongs, such as its project; None: nowhere.
        attempts: column with the attempts behind it; None: rows with the narrowest intervals are shown.
        noun: what a row is, one and many.
        unit: what `confidence` estimates.
        total: how many rows there are, where `frame` holds only those with most attempts.
    """
    known = frame.drop_nulls(_CONFIDENCE)
    if known.is_empty():
        return parts.blank(f"No {noun[1]} with an estimate yet", _NO_OUTCOMES)
    named = known.select(
        pl.col(label).cast(pl.String).alias("label"),
        (pl.col(group).cast(pl.String) if group else pl.lit(None, pl.String)).alias("group"),
        (pl.col(attempts).cast(pl.Int64) if attempts else pl.lit(None, pl.Int64)).alias("attempts"),
        *_CONFIDENCE,
    )
    width = pl.col("confidence_high") - pl.col("confidence_low")
    most = -pl.col("attempts").fill_null(0) if attempts else width
    shown = parts.first_rows(
        named.with_columns(width.alias("width")), _MOST_ROWS, most, ["width", "label", "group", *_CONFIDENCE]
    ).sort("confidence_low", "confidence", "label", "group", descending=[True, True, False, False], nulls_last=True)
    above = shown.filter(pl.col("confidence_low") > _EVEN).height
    below = shown.filter(pl.col("confidence_high") < _EVEN).height
    among = max(known.height, total or 0)
    is_part = among > shown.height
    subject = f"the {number_of(shown.height, *noun)} shown" if is_part else number_of(shown.height, *noun)
    title = f"Of {subject}, {above} with the whole interval above 0.5, {below} below"
    behind = "most attempts" if attempts else "the narrowest intervals"
    chosen = f"; the {shown.height} with {behind} of {among:,}" if is_part else ""
    subtitle = f"Point: {unit}. Line: 90 % credible interval{chosen}"
    texts = [_words(row, with_group=group is not None) for row in shown.iter_rows(named=True)]
    labels = parts.distinct(texts)
    rows = [{"row": text, **_bounds(row)} for text, row in zip(labels, shown.iter_rows(named=True), strict=True)]
    first = shown.row(0, named=True)
    described = f"Best so far: {parts.label(first['label'])}, {_worded(first)}."
    return parts.drawn(_intervals(rows, labels), title, subtitle, described, parts.ROW_HEIGHT * len(rows))


def _words(row: dict[str, Any], *, with_group: bool) -> str:
    """The two lines of a row: what is estimated; the figures and where."""
    behind = [_worded(row)]
    if row["attempts"] is not None:
        behind.append(number_of(row["attempts"], "attempt"))
    if with_group:
        behind.append(_place(row["group"]))
    return f"{parts.label(row['label'])}\n{' · '.join(behind)}"


def _worded(row: dict[str, Any]) -> str:
    return parts.estimate(*(row[name] for name in _CONFIDENCE))


def _place(*names: str | None) -> str:
    """Project, agent and task type, those that are said."""
    return " / ".join(parts.label(name, 24) for name in names if name) or "no project"


def _bounds(row: dict[str, Any]) -> dict[str, float | None]:
    low, high = parts.number(row["confidence_low"]), parts.number(row["confidence_high"])
    return {"low": low, "high": high, "value": parts.number(row["confidence"])}


def _intervals(rows: list[parts.Row], labels: list[str]) -> list[alt.Chart]:
    """Points with their intervals beside 0.5; `mark` of a row, where there is one, says with which shape."""
    x_axis = alt.Axis(format=".1f", tickCount=5, orient="bottom", grid=False)
    title = "Estimate (0–1); the dashed line is 0.5"
    x = alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), title=title, axis=x_axis)
    base = alt.Chart(alt.InlineData(values=rows)).encode(parts.row_axis(labels))
    even = alt.Chart(alt.InlineData(values=[{"even": _EVEN}])).mark_rule(color=GREY, strokeDash=[4, 4])
    lines = base.mark_rule(color=BLUE, strokeWidth=2.5, yOffset=parts.MARK_OFFSET).encode(x, alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=80, opacity=1, yOffset=parts.MARK_OFFSET).encode(alt.X("value:Q"))
    if not any("mark" in row for row in rows):
        return [even.encode(alt.X("even:Q")), lines, points.encode(color=alt.value(BLUE))]
    kinds = sorted({row["mark"] for row in rows}, key=_MARKS.index)
    legend = alt.Legend(title=None, orient="top", direction="horizontal", columns=1, labelLimit=400)
    colours = alt.Scale(domain=kinds, range=[(GREEN, GREY, BLUE)[_MARKS.index(kind)] for kind in kinds])
    shapes = alt.Scale(domain=kinds, range=[("diamond", "circle", "square")[_MARKS.index(kind)] for kind in kinds])
    told = points.encode(
        alt.Color("mark:N", scale=colours, legend=legend), alt.Shape("mark:N", scale=shapes, legend=legend)
    )
    return [even.encode(alt.X("even:Q")), lines, told]


_MARKS = ("best so far", "also tried", "the only one tried")


def strategies_per_task(frame: pl.DataFrame) -> alt.LayerChart:
    """Tried strategies per kind of task, that with the highest lower bound marked.

    `frame`: of the recipe `strategies`, or of `best_strategies` for that one alone. Shown: the six combinations of
    project, agent and kind of task with most attempts, three strategies each.
    """
    known = frame.drop_nulls(_CONFIDENCE)
    if known.is_empty():
        return parts.blank("No strategies yet", _NO_OUTCOMES)
    task = ["project", "agent", "task_type"]
    tried = pl.col("strategies_tried").max().fill_null(1) if "strategies_tried" in known.columns else pl.len()
    tasks = known.group_by(task).agg(
        pl.col("attempts").sum().alias("of_task"),
        pl.col("confidence_low").max().alias("best"),
        tried.cast(pl.Int64).alias("tried"),
    )
    sure = tasks.filter(pl.col("best") > _EVEN).height
    chosen = parts.first_rows(tasks, _MOST_TASKS, -pl.col("of_task"), task)
    # of equal lower bounds the recipes name the lowest id; `best_strategies` has none, and one row of each task
    told = [name for name in ("strategy_id", "strategy", "attempts") if name in known.columns]
    order = [*told, "confidence", "confidence_high"]
    shown = (
        known.select(*task, *_CONFIDENCE, *told)
        .join(chosen, on=task, nulls_equal=True)
        .sort(-pl.col("confidence_low"), *order, nulls_last=True)
        .with_columns(pl.int_range(pl.len()).over(task).alias("rank"))
        .filter(pl.col("rank") < _PER_TASK)
        .sort(-pl.col("of_task"), *task, "rank", nulls_last=True)
    )
    texts = [
        f"{parts.label(row['strategy'])}\n{_worded(row)} · {number_of(row['attempts'] or 0, 'attempt')} · "
        + _place(row["project"], row["agent"], row["task_type"])
        for row in shown.iter_rows(named=True)
    ]
    labels = parts.distinct(texts)
    rows = []
    for text, row in zip(labels, shown.iter_rows(named=True), strict=True):
        mark = _MARKS[1] if row["rank"] else _MARKS[0] if row["tried"] > 1 else _MARKS[2]
        rows.append({"row": text, "mark": mark, **_bounds(row)})
    title = f"{sure:,} of {number_of(tasks.height, 'combination')} of project, agent and kind of task "
    title += f"{'has' if sure == 1 else 'have'} a strategy whose whole interval is above 0.5"
    subtitle = "Point: estimated success of the next comparable attempt. Line: 90 % credible interval"
    if tasks.height > _MOST_TASKS:
        subtitle += f". The {_MOST_TASKS} combinations with most attempts"
    first = parts.first_rows(known, 1, -pl.col("confidence_low"), ["project", "task_type", "agent", *order]).row(
        0, named=True
    )
    described = f"Best so far: {parts.label(first['strategy'])}, {_worded(first)}, "
    described += f"{_place(*(first[name] for name in task))}."
    return parts.drawn(_intervals(rows, labels), title, subtitle, described, parts.ROW_HEIGHT * len(rows))


def anti_patterns(frame: pl.DataFrame, *, total: int | None = None) -> alt.LayerChart:
    """How often strategies fail beside comparable attempts, and what succeeds instead; at most 15, open ones first.

    Args:
        frame: of the recipe `costliest_anti_patterns` (of open ones), or `anti_patterns_by_state`.
        total: how many there are of those, where `frame` holds only the first.
    """
    if "failure_rate" in frame.columns:
        rates = [pl.col("failure_rate"), pl.col("baseline_rate")]
    else:
        rates = [pl.col("failures") / pl.col("attempts"), pl.col("expected_failures") / pl.col("attempts")]
    optional = ("better_alternative", "state")
    told = [pl.col(name) if name in frame.columns else pl.lit(None, pl.String).alias(name) for name in optional]
    place = ["project", "agent", "task_type"]
    known = frame.select(*place, "pattern", *told, rates[0].alias("failed"), rates[1].alias("expected"))
    known = known.filter(pl.col("failed").is_not_null())
    if known.is_empty():
        return parts.blank("No anti-patterns yet", "No strategy keeps failing on evidence that holds every night.")
    gap = (pl.col("failed") - pl.col("expected").fill_null(pl.col("failed"))).neg()
    is_open = pl.col("state").is_null() | (pl.col("state") == "open")
    # a share lies within 0 and 1: those not open come after any gap
    rank = gap + pl.when(is_open).then(0).otherwise(2)
    shown = parts.first_rows(known, _MOST_PATTERNS, rank, ["pattern", *place, *optional, "failed"])
    texts = [
        f"{parts.label(row['pattern'])}\n" + _instead(row) + _place(*(row[name] for name in place))
        for row in shown.iter_rows(named=True)
    ]
    labels = parts.distinct(texts)
    rows = [
        {"row": text, "failed": parts.number(row["failed"]), "expected": parts.number(row["expected"])}
        for text, row in zip(labels, shown.iter_rows(named=True), strict=True)
    ]
    worst = shown.row(0, named=True)
    open_ones = known.filter(is_open).height
    given = open_ones or known.height
    count = max(given, total or 0)
    subject = "1 strategy keeps failing" if count == 1 else f"{count:,} strategies keep failing"
    if not open_ones:
        subject = f"{number_of(count, 'anti-pattern')} kept failing; none is open"
    title = f"{subject}: “{parts.label(worst['pattern'])}” in {part(worst['failed'])} of its attempts"
    title += f", {part(worst['expected'])} expected" if worst["expected"] is not None else ""
    subtitle = "Diamond: failed share of its attempts. Ring: of comparable attempts"
    if known.height > shown.height:
        subtitle += f". The {shown.height} of {known.height:,} with the widest gap"
        subtitle += ", open ones first" if 0 < open_ones < known.height else ""
    if count > given:
        subtitle += f". Chosen from the first {given:,} of {count:,}"
    better = worst["better_alternative"]
    instead = parts.label(better) if better else "nothing known to be better"
    layers = _dumbbells(rows, labels, ("expected", "failed"), "Failed share of attempts (0–1)")
    described = f"Instead of the first: {instead}."
    return parts.drawn(layers, title, subtitle, described, parts.ROW_HEIGHT * len(rows))


def _instead(row: dict[str, Any]) -> str:
    if row["better_alternative"]:
        return f"instead: {parts.label(row['better_alternative'])} · "
    return f"{parts.label(row['state'])} · " if row["state"] else ""


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
    return parts.drawn(layers, title, subtitle, described + ".", 220)


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
    return parts.drawn(layers, title, subtitle, "", parts.ROW_HEIGHT * len(rows))


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
    summed, period = parts.bucketed(marked, "week", ["attempts", "successes"], ["series"])
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
    return parts.drawn(layers, title, subtitle, described, 220)


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
    return parts.drawn(layers, title, subtitle, described, 200)
