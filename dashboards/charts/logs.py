"""Charts of what was landed and refused, and of any query's result."""

from __future__ import annotations

from datetime import date, datetime

import altair as alt
import polars as pl

from slowwave.dashboards.charts import parts
from slowwave.dashboards.charts.theme import RED
from slowwave.dashboards.words import number_of

_MOST_REASONS = 12
_MOST_MARKS = 500
_MOST_NAMES = 25
_MOST_SERIES = 3
_LATE = "recorded late, of all kinds"


def quarantine_reasons(frame: pl.DataFrame) -> alt.LayerChart:
    """Why rows were refused, at most 12 reasons and the rest. `frame`: of the recipe `quarantine_reasons`."""
    counts = (
        frame.select(pl.col("field").fill_null(""), pl.col("reason"), pl.col("refused").fill_null(0).cast(pl.Int64))
        .group_by("field", "reason")
        .agg(pl.col("refused").sum())
        .filter(pl.col("refused") > 0)
        .sort(pl.col("refused").neg(), "field", "reason", nulls_last=True)
    )
    if counts.is_empty():
        return parts.blank("No refused rows", "Every row that was delivered could be read.")
    total = int(counts["refused"].sum())
    shown = counts.head(_MOST_REASONS)
    texts = [
        f"{parts.label(row['reason'], 70)}\n{number_of(row['refused'], 'row')} · "
        + (f"field {parts.label(row['field'], 24)}" if row["field"] else "the whole row")
        for row in shown.iter_rows(named=True)
    ]
    values = shown["refused"].to_list()
    if counts.height > shown.height:
        others = total - sum(values)
        texts.append(f"{number_of(counts.height - shown.height, 'other reason')}\n{number_of(others, 'row')}")
        values.append(others)
    rows = [{"row": text, "value": count} for text, count in zip(parts.distinct(texts), values, strict=True)]
    layers, height = parts.row_bars(rows, "Refused rows", parts.count_ticks(max(values)), RED)
    title = f"{number_of(total, 'row was', 'rows were')} refused"
    is_tied = counts.height > 1 and counts["refused"][1] == values[0]
    often = "among them" if is_tied else "most often"
    title += f", {often}: {parts.label(shown['reason'][0], 60)}" if counts.height > 1 else ""
    described = f"{number_of(counts.height, 'reason')}; the uppermost with {number_of(values[0], 'row')}."
    return parts.combine_layers(layers, title, "Rows kept aside, by what was wrong with them", described, height)


def landed_by_day(frame: pl.DataFrame) -> alt.LayerChart:
    """Rows by kind and the day they happened, and how many were late. `frame`: of the recipe `landed_by_day`."""
    named = frame.with_columns(pl.col("landed_table").fill_null("unknown"))
    summed, period = parts.sum_by_period(named, "day", ["rows_count", "late_count"], ["landed_table"])
    if summed.is_empty():
        return parts.blank("No landed rows yet", "`slowwave land PATH` lands logs.")
    tables = sorted(summed["landed_table"].unique())[:5]
    late = summed.group_by("day").agg(pl.col("late_count").sum()).sort("day")
    rows = [
        {
            "at": parts.instant(row["day"]),
            "series": parts.label(row["landed_table"]),
            "value": row["rows_count"],
            "is_complete": row["is_complete"],
        }
        for row in summed.iter_rows(named=True)
        if row["landed_table"] in tables
    ]
    late_rows = [{"at": parts.instant(day), "series": _LATE, "value": count} for day, count in late.iter_rows()]
    total, behind = int(summed["rows_count"].sum()), int(summed["late_count"].sum())
    title = f"{number_of(behind, 'row')} of {total:,} ({100 * behind / max(total, 1):.1f} %) "
    done = "was recorded more than 24 hours after it" if behind == 1 else "were recorded more than 24 hours after they"
    title += f"{done} happened"
    if not behind:
        title = f"None of {number_of(total, 'row')} was recorded more than 24 hours after it happened"
    times = late["day"].to_list()
    y = parts.count_axis(f"Rows per {period}", max(row["value"] for row in rows))
    series = [*(parts.label(name) for name in tables), _LATE]
    layers = parts.line_layers([*rows, *late_rows], series, times, f"UTC {period} they happened on", y)
    per = summed.group_by("landed_table").agg(pl.col("rows_count").sum()).sort("landed_table")
    described = ", ".join(f"{parts.label(name)} {count:,}" for name, count in per.iter_rows())
    subtitle = f"Rows per {period} by kind; of each row the latest version{parts.unfinished_words(rows, period)}"
    return parts.combine_layers(layers, title, subtitle, f"From {times[0]} to {times[-1]}: {described}.", 220)


def result_chart(frame: pl.DataFrame) -> alt.LayerChart | None:
    """A chart of any query's result, or None where there is nothing sensible to draw.

    Up to three columns of numbers stand over the first column of times, else beside the first column of text, else
    over the first column of numbers. More rows than can be drawn are averaged, or the first of them taken.
    """
    if not frame.width or not frame.height:
        return None
    plain = frame.rename({name: f"c{at}" for at, name in enumerate(frame.columns)})
    called = dict(zip(plain.columns, frame.columns, strict=True))
    plain = plain.select(
        pl.col(name).cast(pl.Float64) if dtype.is_numeric() else pl.col(name) for name, dtype in plain.schema.items()
    ).select(pl.col(name) for name, dtype in plain.schema.items() if _drawable(dtype))
    of_kind = {
        "time": [name for name, dtype in plain.schema.items() if dtype.is_temporal()],
        "text": [name for name, dtype in plain.schema.items() if dtype == pl.String],
        "number": [name for name, dtype in plain.schema.items() if dtype.is_numeric()],
    }
    across = next((names[0] for names in of_kind.values() if names), "")
    numbers = [name for name in of_kind["number"] if name != across][:_MOST_SERIES]
    if not numbers:
        return None
    finite = plain.with_columns(pl.when(pl.col(name).is_finite()).then(pl.col(name)) for name in of_kind["number"])
    known = finite.filter(pl.col(across).is_not_null(), pl.any_horizontal(pl.col(numbers).is_not_null()))
    if known.is_empty():
        return None
    used = [across, *numbers]
    titles = dict(zip(used, parts.distinct(parts.label(called[name]) for name in used), strict=True))
    if across in of_kind["text"]:
        return _named_numbers(known, across, numbers[0], titles)
    return _numbers_over(known, across, numbers, titles)


def _drawable(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or any(dtype == drawn for drawn in (pl.Date, pl.Datetime, pl.String))


def _named_numbers(known: pl.DataFrame, across: str, column: str, titles: dict[str, str]) -> alt.LayerChart | None:
    """A bar per name, the greatest of them."""
    shown = parts.first_rows(known.drop_nulls(column), _MOST_NAMES, -pl.col(column), [across])
    if shown.is_empty():
        return None
    texts = [f"{parts.label(name)}\n{value:,.6g}" for name, value in shown.select(across, column).iter_rows()]
    rows = [
        {"row": text, "value": parts.number(value)}
        for text, value in zip(parts.distinct(texts), shown[column], strict=True)
    ]
    layers, height = parts.row_bars(rows, titles[column], alt.Axis(tickCount=5))
    title = f"{titles[column]} by {titles[across]}"
    subtitle = (
        f"The {shown.height} greatest of {known.height:,}"
        if known.height > shown.height
        else f"All {number_of(shown.height, 'row')}"
    )
    described = f"The greatest is {parts.label(shown[across][0])} with {shown[column][0]:,.6g}."
    return parts.combine_layers(layers, title, subtitle, described, height)


def _numbers_over(known: pl.DataFrame, across: str, numbers: list[str], titles: dict[str, str]) -> alt.LayerChart:
    """Lines over time, or points over numbers; averaged where there are too many rows."""
    most = _MOST_MARKS // len(numbers)
    is_time = not known.schema[across].is_numeric()
    shown = known.select(across, *numbers).sort(across, *numbers)
    subtitle = f"All {number_of(shown.height, 'row')}"
    if shown.height > most:
        size = -(-shown.height // most)
        shown = (
            shown.with_columns((pl.int_range(pl.len()) // size).alias("bucket"))
            .group_by("bucket", maintain_order=True)
            .agg(pl.col(across).first(), pl.col(numbers).mean())
        )
        subtitle = f"Averages of {size:,} neighbouring rows each, of {known.height:,} rows"
    rows = [
        {"at": _at(row[across]), "series": titles[name], "value": parts.number(row[name])}
        for name in numbers
        for row in shown.iter_rows(named=True)
        if row[name] is not None
    ]
    y = alt.Y("value:Q", title=titles[numbers[0]] if len(numbers) == 1 else "Value", axis=alt.Axis(tickCount=5))
    series = [titles[name] for name in numbers]
    times = shown[across].to_list() if is_time else []
    layers = parts.line_layers(rows, series, times, titles[across], y)
    if not is_time:
        x = alt.X("at:Q", title=titles[across], scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
        layers = [layers[-1].encode(x)]
    title = f"{', '.join(series)} over {titles[across]}"
    described = "; ".join(
        f"{titles[name]} from {shown[name].min():,.6g} to {shown[name].max():,.6g}"
        for name in numbers
        if shown[name].count()
    )
    return parts.combine_layers(layers, title, subtitle, described + ".", 260)


def _at(value: date | datetime | float) -> str | float | None:
    return parts.number(value) if isinstance(value, (int, float)) else parts.instant(value)
