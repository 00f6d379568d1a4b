"""What charts are made of: words, labels, and the few layouts they share. No chart of its own."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import altair as alt
import polars as pl

from slowwave.dashboards.charts.theme import BLUE, DASHES, PALETTE, SHAPES, TEXT
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_iso

Row = dict[str, Any]

LABEL_WIDTH = 40
ROW_HEIGHT = 50
# Labels stand above their marks, not beside them: a telephone has room for them there.
MARK_OFFSET = 12
_TITLE_WIDTH, _SUBTITLE_WIDTH = 58, 90
_MOST_BUCKETS = 100
_WITH_POINTS, _WITH_COUNTS = 45, 15
_COMPLETE = "is_complete"
_NAME_GAP = 0.09  # between names at the ends of lines, as a share of the height
_PERIODS = {
    "1d": "day",
    "1w": "week",
    "1mo": "month",
    "1q": "quarter",
    "1y": "year",
    "10y": "decade",
    "100y": "century",
}
_DAYS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365, "decade": 3652, "century": 36524}
_MOST_TICKS = 6
_BLANK_HEIGHT = 4
_DAYS_OF_A_SEASON, _DAYS_OF_FOUR_YEARS = 140, 1461


def combine_layers(
    layers: Sequence[alt.Chart], title: str, subtitle: str, description: str, height: int
) -> alt.LayerChart:
    """The layers as one chart, as wide as what holds it, with `height` pixels for the marks."""
    return alt.LayerChart(layer=list(layers)).properties(
        title=alt.TitleParams(
            _lines(title, _TITLE_WIDTH),
            subtitle=_lines(subtitle, _SUBTITLE_WIDTH),
            subtitleColor=TEXT,  # Streamlit's theme does not colour it
            anchor="start",
            frame="bounds",
        ),
        description=f"{title}. {description}" if description else f"{title}.",
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )


def blank(title: str, subtitle: str) -> alt.LayerChart:
    """A chart that only says why there is nothing to draw."""
    nothing = alt.Chart(alt.InlineData(values=[{}])).mark_text(text="")
    return combine_layers([nothing], title, subtitle, subtitle, _BLANK_HEIGHT)


def is_blank(chart: alt.LayerChart) -> bool:
    """Whether a chart only says why there is nothing to draw (see `blank`)."""
    return chart.height == _BLANK_HEIGHT


def _lines(text: str, width: int) -> str | list[str]:
    lines = textwrap.wrap(text, width)
    return lines if len(lines) > 1 else text


def label(text: object, width: int = LABEL_WIDTH) -> str:
    """Any text from logs on one line, at most `width` characters, controls written out; '(none)' for NULL and ''."""
    begun = " ".join(str(text if text is not None else "")[: 8 * width].split())
    return shorten_to_width(terminal_safe(begun), width) or "(none)"


def distinct(labels: Iterable[str]) -> list[str]:
    """The labels, those that occurred before with a number behind them: each has its own row of a chart."""
    seen: Counter[str] = Counter()
    found = []
    for text in labels:
        seen[text] += 1
        head, newline, tail = text.partition("\n")
        found.append(f"{head} ({seen[text]}){newline}{tail}" if seen[text] > 1 else text)
    return found


def first_rows(frame: pl.DataFrame, count: int, rank: pl.Expr, then: Sequence[str]) -> pl.DataFrame:
    """The rows of lowest rank, ties by the columns `then`, without sorting the others."""
    if frame.height > count:
        ranks = frame.select(rank.alias("rank"))["rank"]
        frame = frame.filter(ranks <= ranks.bottom_k(count).max())
    return frame.sort(rank, *then, nulls_last=True).head(count)


def instant(value: date | datetime) -> str:
    """A UTC day or time as every browser reads it, whatever its time zone."""
    return utc_iso(value) if isinstance(value, datetime) else f"{value.isoformat()}T00:00:00Z"


def number(value: float | None) -> float | None:
    """A finite number in six significant decimals, or none."""
    return None if value is None or not math.isfinite(value) else round(float(value), 6)


def sum_by_period(
    frame: pl.DataFrame, day: str, sums: Sequence[str], by: Sequence[str] = ()
) -> tuple[pl.DataFrame, str]:
    """Integer columns summed per day, or per week, month, … where that leaves too many to draw.

    Returns `by`, `day` (the first of the period), the sums and `is_complete` (all of it had ended, by the frame's
    `is_complete`), sorted, and the name of the period. A period without rows has none; `unbroken` gives it sums of 0.
    """
    days = frame.filter(pl.col(day).is_not_null()).with_columns(pl.col(day).cast(pl.Date))
    days = days if _COMPLETE in days.columns else days.with_columns(pl.lit(value=True).alias(_COMPLETE))
    every = next(
        (every for every in _PERIODS if days[day].dt.truncate(every).n_unique() <= _MOST_BUCKETS), list(_PERIODS)[-1]
    )
    summed = (
        days.with_columns(pl.col(day).dt.truncate(every))
        .group_by(*by, day)
        .agg(*(pl.col(name).fill_null(0).cast(pl.Int64).sum() for name in sums), pl.col(_COMPLETE).all())
    )
    return summed.sort(day, *by), _PERIODS[every]


def unbroken(frame: pl.DataFrame, day: str, sums: Sequence[str]) -> tuple[pl.DataFrame, str]:
    """As `sum_by_period`, with sums of 0 for the periods between the first and the last that have no rows."""
    complete = [_COMPLETE] if _COMPLETE in frame.columns else []
    days = frame.filter(pl.col(day).is_not_null()).select(pl.col(day).cast(pl.Date), *sums, *complete)
    if days.is_empty():
        return sum_by_period(days, day, sums)
    # a row of nothing for every day between: the period is then chosen for the whole range
    between = days.select(pl.date_range(pl.col(day).min(), pl.col(day).max()).alias(day))
    return sum_by_period(pl.concat([days, between], how="diagonal"), day, sums)


def time_axis(times: Sequence[date | datetime], title: str) -> alt.X:
    """The field `at` on a UTC axis; within a season, the ticks are some of `times`."""
    shown = sorted(set(times))
    span = shown[-1].toordinal() - shown[0].toordinal() if shown else 0
    ticks: Any = alt.Undefined
    if span <= _DAYS_OF_A_SEASON:
        step = -(-len(shown) // _MOST_TICKS) or 1
        ticks = [alt.DateTime(year=at.year, month=at.month, date=at.day, utc=True) for at in shown[::step]]
    style = "%-d %b" if span <= _DAYS_OF_A_SEASON else "%b %Y" if span <= _DAYS_OF_FOUR_YEARS else "%Y"
    axis = alt.Axis(format=style, values=ticks, tickCount=_MOST_TICKS, labelOverlap=True, grid=False)
    return alt.X("at:T", scale=alt.Scale(type="utc"), title=title, axis=axis)


def count_axis(title: str, most: int) -> alt.Y:
    """The field `value`, counts of up to `most`, from 0 on."""
    return alt.Y("value:Q", title=title, scale=alt.Scale(zero=True, nice=True), axis=count_ticks(most))


def count_ticks(most: int) -> alt.Axis:
    """Ticks at whole numbers."""
    return alt.Axis(format=",d", tickCount=max(1, min(5, most)))


def line_layers(
    rows: Sequence[Row], series: Sequence[str], times: Sequence[date | datetime], x_title: str, y: alt.Y
) -> list[alt.Chart]:
    """A line per series over time, its name at its end, distinguished by colour, dash and, where there is room, shape.

    `rows`: at, series, and the field of `y`; sorted. `n`, where a row has it, is what its value rests on; a row with a
    false `is_complete` is a ring.
    """
    size = len(series)
    has_points = len(set(times)) <= _WITH_POINTS
    symbol = 90 if has_points else 700  # without points it is a piece of line, long enough to show its dashes
    has_legend = size > 1 and not times  # over time each line has its name at its end
    legend = alt.Legend(title=None, orient="top", labelLimit=300, symbolSize=symbol) if has_legend else None
    told: dict[str, Any] = {"domain": list(series)}
    encodings: list[Any] = [
        time_axis(times, x_title),
        y,
        alt.Color("series:N", scale=alt.Scale(**told, range=list(PALETTE[:size])), legend=legend),
        alt.StrokeDash("series:N", scale=alt.Scale(**told, range=list(DASHES[:size])), legend=legend),
    ]
    shapes = alt.Shape("series:N", scale=alt.Scale(**told, range=list(SHAPES[:size])), legend=legend)
    behind = alt.TooltipContent(content="data")
    base = alt.Chart(alt.InlineData(values=list(rows)))
    layers = [base.mark_line(strokeWidth=2, interpolate="linear").encode(*encodings)]
    if has_points:
        layers.append(base.mark_point(filled=True, size=45, opacity=1, tooltip=behind).encode(*encodings[:3], shapes))
    unfinished = [row for row in rows if row.get(_COMPLETE) is False]
    if unfinished:
        rings = alt.Chart(alt.InlineData(values=unfinished)).mark_point(
            filled=False, size=170, strokeWidth=2, opacity=1, tooltip=behind
        )
        layers.append(rings.encode(*encodings[:3]))
    if size == 1 and len(rows) <= _WITH_COUNTS and "n" in rows[0]:
        counts = base.mark_text(dy=-12, fontSize=11, color=TEXT)
        layers.append(counts.encode(*encodings[:2], alt.Text("n:Q", format=",d")))
    return layers if size == 1 or has_legend else [*_line_names(rows, encodings), *layers]


def unfinished_words(rows: Sequence[Row], period: str) -> str:
    """Return what a subtitle says where some rows of `line_layers` are not complete; '' where all are."""
    return f". Ring: a {period} that had not ended" if any(row.get(_COMPLETE) is False for row in rows) else ""


def _line_names(rows: Sequence[Row], encodings: Sequence[Any]) -> list[alt.Chart]:
    """The name of each line beside its end, none upon another; what holds the chart makes room for them."""
    ends = {row["series"]: row for row in rows if row["value"] is not None}
    values = [row["value"] for row in rows if row["value"] is not None]
    gap = (max([*values, 0]) - min([*values, 0])) * _NAME_GAP or 1
    named, above = [], -math.inf
    for row in sorted(ends.values(), key=lambda row: row["value"]):
        above = max(row["value"], above + gap)
        named.append({**row, "value": above})
    lower = max(0.0, above - max([*values, gap]))  # the highest name stays inside
    named = [{**row, "value": row["value"] - lower} for row in named]
    x, y, colour, _ = encodings
    names = alt.Chart(alt.InlineData(values=named)).mark_text(align="left", dx=8, fontSize=11, limit=150)
    return [names.encode(x, y, colour, alt.Text("series:N"))]


def bars_over_time(rows: Sequence[Row], period: str, x: alt.X, y: alt.Y, colour: str = BLUE) -> alt.Chart:
    """A bar per period, from 0 on, its middle on the period's first day. `rows`: at (instant), value."""
    half = timedelta(days=0.4 * _DAYS[period])
    values = []
    for row in rows:
        middle = datetime.fromisoformat(row["at"][:-1])
        values.append({"at": instant(middle - half), "until": instant(middle + half), "value": row["value"]})
    bars = alt.Chart(alt.InlineData(values=values)).mark_bar(color=colour)
    return bars.encode(x, alt.X2("until:T"), y, y2=alt.datum(0))


def row_axis(labels: Sequence[str]) -> alt.Y:
    """The field `row`, one of `labels`, from top to bottom; each label of one or two lines stands above its marks."""
    axis = alt.Axis(
        title=None,
        labelExpr="split(datum.label, '\\n')",
        labelAlign="left",
        labelBaseline="top",
        labelColor=TEXT,
        labelFontSize=11,
        labelLineHeight=14,
        labelLimit=0,
        labelOffset=3 - ROW_HEIGHT // 2,
        labelPadding=0,
        labelOverlap=False,
        ticks=False,
        domain=False,
        grid=False,
    )
    return alt.Y("row:N", sort=list(labels), scale=alt.Scale(type="band", padding=0), axis=axis)


def row_bars(rows: Sequence[Row], x_title: str, axis: alt.Axis, colour: str = BLUE) -> tuple[list[alt.Chart], int]:
    """A bar per row, from `row` (label) and `value`; with the height they need."""
    x = alt.X("value:Q", title=x_title, axis=axis)
    bars = alt.Chart(alt.InlineData(values=list(rows))).mark_bar(color=colour, height=8, yOffset=MARK_OFFSET)
    return [bars.encode(x, row_axis([row["row"] for row in rows]))], ROW_HEIGHT * len(rows)


def matrix(cells: pl.DataFrame, down: Sequence[str], across: Sequence[str], x_title: str) -> list[alt.Chart]:
    """A table of counts, the greater the deeper their ground.

    `cells`: down, across, count; `down` and `across` say the order.
    """
    x_axis = alt.Axis(labelAngle=-30, domain=False, ticks=False, grid=False, labelOverlap=False)
    y_axis = alt.Axis(domain=False, ticks=False, grid=False, labelLimit=170, labelPadding=8)
    bands: dict[str, Any] = {"type": "band", "paddingInner": 0.08}
    x = alt.X("across:N", sort=list(across), scale=alt.Scale(domain=list(across), **bands), title=x_title, axis=x_axis)
    y = alt.Y("down:N", sort=list(down), scale=alt.Scale(domain=list(down), **bands), title=None, axis=y_axis)
    values = cells.select("down", "across", "count").sort("down", "across").to_dicts()
    base = alt.Chart(alt.InlineData(values=values)).encode(x, y)
    depth = alt.Opacity("count:Q", scale=alt.Scale(type="sqrt", domainMin=0, range=[0.05, 0.55]), legend=None)
    grounds = base.mark_rect(color=BLUE, cornerRadius=3).encode(depth)
    return [grounds, base.mark_text(fontSize=12, color=TEXT).encode(alt.Text("count:Q", format=",d"))]
