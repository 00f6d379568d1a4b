"""Charts of memories: their state, use and fading, and what happened to one over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import altair as alt
import polars as pl

from slowwave.dashboards.charts import parts
from slowwave.dashboards.charts.theme import GREY, ORANGE, PALETTE, RED, TEXT
from slowwave.dashboards.words import STATES, URGENT_FIRST, number_of, part
from slowwave.flows.kernel.terminal import format_count
from slowwave.transforms.core.vocabularies import FADING_STATES, STRENGTH_STATES, TRENDS

_BANDS = (*STRENGTH_STATES, "no evidence")
_NO_MEMORIES = "Land memories, then run the night: they are shown here the morning after."
_TWO_WEEKS = 14


def memories_by_verdict(frame: pl.DataFrame) -> alt.LayerChart:
    """Active memories by verdict and trend. `frame`: of the recipe `memories_by_verdict`."""
    cells = _cells(frame, "verdict", "trend", "unproven", TRENDS[-1])
    if cells.is_empty():
        return parts.blank("No active memories yet", _NO_MEMORIES)
    per = _totals(cells)
    total = sum(per.values())
    found = ", ".join(f"{per.get(verdict, 0):,} {verdict}" for verdict in ("review", "forget", "harmful"))
    title = f"{number_of(total, 'active memory', 'active memories')} by verdict: {found}"
    down = [name for name in URGENT_FIRST if name in per]
    rising = _totals(cells.rename({"down": "across", "across": "down"}))
    described = _join_counts({name: per[name] for name in down}) + ". By trend: "
    return _table(
        cells, down, TRENDS, title, "Memories per verdict (rows) and trend of their use (columns)",
        described + _join_counts({name: rising[name] for name in TRENDS if name in rising}), "Trend of use",
    )  # fmt: skip


def memories_by_state(frame: pl.DataFrame) -> alt.LayerChart:
    """Memories by state and band of strength. `frame`: of the recipe `memories_by_state`."""
    cells = _cells(frame, "status", "strength_state", STATES[-1], _BANDS[-1])
    if cells.is_empty():
        return parts.blank("No memories yet", _NO_MEMORIES)
    per = _totals(cells)
    active = cells.filter(pl.col("down") == "active")
    fading = int(active.filter(pl.col("across").is_in(FADING_STATES))["count"].sum())
    title = f"{fading:,} of {number_of(per.get('active', 0), 'active memory', 'active memories')} "
    title += "is weak or forgettable" if fading == 1 else "are weak or forgettable"
    if active.is_empty():
        title = "No memory is active"
    down = [name for name in STATES if name in per]
    return _table(
        cells, down, _BANDS, title, "Memories per state (rows) and band of strength (columns)",
        _join_counts({name: per[name] for name in down}), "Strength",
    )  # fmt: skip


def _cells(frame: pl.DataFrame, down: str, across: str, no_down: str, no_across: str) -> pl.DataFrame:
    return (
        frame.select(
            pl.col(down).fill_null(no_down).alias("down"),
            pl.col(across).fill_null(no_across).alias("across"),
            pl.col("memories_count").fill_null(0).cast(pl.Int64).alias("count"),
        )
        .group_by("down", "across")
        .agg(pl.col("count").sum())
        .filter(pl.col("count") > 0)
        .sort("down", "across")
    )


def _totals(cells: pl.DataFrame) -> dict[str, int]:
    return dict(cells.group_by("down").agg(pl.col("count").sum()).sort("down").iter_rows())


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _table(
    cells: pl.DataFrame,
    down: list[str],
    across: tuple[str, ...],
    title: str,
    subtitle: str,
    description: str,
    x_title: str,
) -> alt.LayerChart:
    per = _totals(cells)
    rows = {name: f"{name} {per[name]:,}" for name in down}
    known = cells.filter(pl.col("down").is_in(down) & pl.col("across").is_in(across))
    named = known.with_columns(pl.col("down").replace(rows))
    layers = parts.matrix(named, list(rows.values()), across, x_title)
    return parts.combine_layers(layers, title, subtitle, description, 34 * len(rows))


def reinforcement_over_time(frame: pl.DataFrame) -> alt.LayerChart:
    """Interactions with a memory injected, and answers that quote or use one. `frame`: of `references_by_day`."""
    series = {"injected_interactions": "got a memory", "referencing_interactions": "quoted or used one"}
    summed, period = parts.unbroken(frame, "day", list(series))
    if summed.is_empty():
        return parts.blank("No references yet", "No memory was injected, and no answer quotes or uses one.")
    days = summed["day"].to_list()
    given, used = (int(summed[name].sum()) for name in series)
    words = format_count(used, "answer quotes or uses", "answers quote or use")
    title = f"{words} a memory"
    if (days[-1] - days[0]).days >= _TWO_WEEKS - 1 and period == "day":
        last, before = _weeks(frame, "referencing_interactions", days[-1])
        title = f"Answers using a memory: {last:,} in 7 days, {before:,} before"
    told = (
        f"From {days[0]} to {days[-1]}: {format_count(given, 'interaction', 'interactions')} with a memory injected; "
    )
    told += f"{words} one"
    # a line at 0 would say that no memory is given, where no injection is logged
    shown = series if given else {"referencing_interactions": series["referencing_interactions"]}
    rows = [
        {"at": parts.instant(row["day"]), "series": name, "value": row[column], "is_complete": row["is_complete"]}
        for column, name in shown.items()
        for row in summed.iter_rows(named=True)
    ]
    layers = parts.line_layers(rows, list(shown.values()), days, f"UTC {period}", _per("Interactions", period, rows))
    subtitle = f"Interactions per {period}{parts.unfinished_words(rows, period)}"
    return parts.combine_layers(layers, title, subtitle, told + ".", 180)


def _per(noun: str, period: str, rows: list[parts.Row]) -> alt.Y:
    return parts.count_axis(f"{noun} per {period}", max(row["value"] for row in rows))


def _weeks(frame: pl.DataFrame, column: str, last: date) -> tuple[int, int]:
    """The sums of the last seven days and of the seven before."""
    ago = (pl.lit(last) - pl.col("day").cast(pl.Date)).dt.total_days()
    found = [frame.filter((ago >= start) & (ago < start + 7))[column].fill_null(0).sum() for start in (0, 7)]
    return int(found[0]), int(found[1])


def decay_forecast(frame: pl.DataFrame) -> alt.LayerChart:
    """Active memories that fade, day by day, if nothing refers to them. `frame`: of the recipe `decay_forecast`.

    Its first row is the day of the publish, with those that have faded already.
    """
    days = frame.filter(pl.col("day").is_not_null()).sort("day", "cumulative_count")
    active = int(days["active_count"].max() or 0) if not days.is_empty() else 0  # pyright: ignore[reportArgumentType]
    if not active:
        return parts.blank("No active memories yet", _NO_MEMORIES)
    first = days["day"][0]
    today = days.filter(pl.col("day") == first)
    coming = days.filter(pl.col("day") > first)
    faded, fading = int(today["fading_count"].fill_null(0).sum()), int(coming["fading_count"].fill_null(0).sum())
    span = (days["day"][-1] - first).days
    title = f"{fading:,} of {number_of(active, 'active memory', 'active memories')} "
    title += f"{'fades' if fading == 1 else 'fade'} in the next {number_of(span, 'day')} unless referenced"
    undated = int(days["undated_count"].fill_null(0).max() or 0)  # pyright: ignore[reportArgumentType]
    title += f"; of {undated:,} it is not known" if undated else ""
    if faded == active:
        title = f"{format_count(faded, 'active memory has', 'active memories have')} faded, which is all there are"
    summed, period = parts.sum_by_period(coming, "day", ["fading_count"])
    so_far, rows = faded, []
    for day, count in summed.select("day", "fading_count").iter_rows():
        so_far += count
        rows.append({"at": parts.instant(day), "value": count, "total": so_far})
    if not so_far or not rows:
        return parts.blank(title, f"{format_count(faded, 'memory has', 'memories have')} faded already")
    x = parts.time_axis(summed["day"].to_list(), f"UTC {period}")
    y = parts.count_axis("Memories", so_far)
    steps = alt.Chart(alt.InlineData(values=rows)).mark_line(color=GREY, interpolate="step-after", strokeDash=[5, 3])
    layers = [parts.bars_over_time(rows, period, x, y, ORANGE), steps.encode(x, alt.Y("total:Q"))]
    subtitle = f"Bars: memories that become forgettable that {period}. Dashed line: all forgettable by then, "
    subtitle += f"{faded:,} of them today"
    month = int(coming.filter((pl.col("day") - pl.lit(first)).dt.total_days() <= 30)["fading_count"].fill_null(0).sum())  # noqa: PLR2004
    described = f"{format_count(faded, 'memory has', 'memories have')} faded already; within 30 days "
    described += f"{format_count(month, 'more does', 'more do')} so, "
    described += f"within {number_of(span, 'day')} {format_count(fading, 'does', 'do')}."
    return parts.combine_layers(layers, title, subtitle, described, 200)


def memory_strength(
    frame: pl.DataFrame, *, bands: Mapping[str, float] | None = None, fades_at: datetime | None = None
) -> alt.LayerChart:
    """One memory's strength so far and to come. `frame`: of the recipe `memory_strength`.

    Args:
        frame: at (UTC), strength (0-1), kind (measured or forecast).
        bands: what is said at a threshold of strength, such as {'forgettable below': 0.1}.
        fades_at: when it becomes forgettable, if it does.
    """
    known = frame.drop_nulls(["at", "strength"]).filter(pl.col("kind").is_in(["measured", "forecast"]))
    known = known.select(pl.col("at").cast(pl.Datetime("us")), "strength", "kind").sort("at", "kind", "strength")
    if known.is_empty():
        return parts.blank("No strength yet", "A memory has none before it is known and active.")
    kinds = {kind: _thin_rows(known.filter(pl.col("kind") == kind)) for kind in ("measured", "forecast")}
    measured, forecast = kinds["measured"], kinds["forecast"]
    if not measured.is_empty() and not forecast.is_empty():
        forecast = pl.concat([measured.tail(1).with_columns(pl.lit("forecast").alias("kind")), forecast])
    shown = pl.concat([measured, forecast])
    now = measured if not measured.is_empty() else forecast.head(1)
    title = f"Its strength is {part(now['strength'][-1])}"
    title += f"; forgettable from {fades_at.date()} on unless referenced" if fades_at else ""
    rows = [
        {"at": parts.instant(at), "series": kind, "value": parts.number(strength)}
        for at, strength, kind in shown.iter_rows()
    ]
    y = alt.Y("value:Q", title="Strength (0–1)", scale=alt.Scale(domain=[0, 1]))
    times = shown["at"].to_list()
    layers = parts.line_layers(rows, [name for name in kinds if name in shown["kind"]], times, "UTC day", y)
    for words, at in sorted((bands or {}).items()):
        rule = alt.Chart(alt.InlineData(values=[{"value": at, "text": f"{parts.label(words)} {part(at)}"}]))
        layers += [
            rule.mark_rule(color=GREY, strokeDash=[2, 4]).encode(y),
            rule.mark_text(align="left", baseline="bottom", dx=3, dy=-2, fontSize=10, color=TEXT).encode(
                y, alt.Text("text:N"), x=alt.value(0)
            ),
        ]
    if fades_at:
        rule = alt.Chart(alt.InlineData(values=[{"at": parts.instant(fades_at)}]))
        layers.append(rule.mark_rule(color=RED, strokeDash=[4, 2]).encode(parts.time_axis(times, "UTC day")))
    last = forecast.tail(1).rows()
    described = (
        f"In {number_of((last[0][0] - now['at'][-1]).days, 'day')} it would be {part(last[0][1])}." if last else ""
    )
    subtitle = "Strength from 0 to 1; dashed: forecast if nothing refers to it"
    subtitle += "; upright dashes: when it is forgettable" if fades_at else ""
    return parts.combine_layers(layers, title, subtitle, described, 200)


def _thin_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """At most about 200 rows, evenly taken, the last among them."""
    step = max(1, -(-frame.height // 200))
    return frame.reverse().gather_every(step).reverse()


Event = tuple[datetime, str]
"""When something happened, and in which lane it is drawn."""

_LANE_PIXELS = 24
_LABEL_CHARACTERS = 32


def event_timeline(title: str, events: Iterable[Event], lanes: Sequence[str]) -> alt.LayerChart:
    """Events in `lanes`, those of the first one uppermost; a larger mark stands for more of them."""
    rows = pl.DataFrame(list(events), schema={"at": pl.Datetime("us"), "lane": pl.String}, orient="row")
    rows = rows.filter(pl.col("lane").is_in(lanes)).with_columns(pl.lit(1).alias("count"))
    if rows.is_empty():
        return parts.blank("Nothing happened yet", "Its events are shown here once there are some.")
    summed, period = parts.sum_by_period(rows, "at", ["count"], ["lane"])
    known = [lane for lane in lanes if lane in summed["lane"]]
    labels = dict(zip(known, parts.distinct(parts.label(lane, _LABEL_CHARACTERS) for lane in known), strict=True))
    values = [
        {"at": parts.instant(at), "lane": labels[lane], "count": count}
        for lane, at, count in summed.select("lane", "at", "count").iter_rows()
    ]
    told: dict[str, Any] = {"domain": list(labels.values())}
    colours = [PALETTE[at % len(PALETTE)] for at in range(len(known))]
    axis = alt.Axis(ticks=False, domain=False, grid=True, labelLimit=210, labelOverlap=False)
    marks = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, opacity=0.85)
    layer = marks.encode(
        parts.time_axis(summed["at"].to_list(), f"UTC {period}"),
        alt.Y("lane:N", sort=told["domain"], title=None, axis=axis),
        alt.Color("lane:N", scale=alt.Scale(**told, range=colours), legend=None),
        alt.Size("count:Q", scale=alt.Scale(type="sqrt", domainMin=0, rangeMin=20, rangeMax=220), legend=None),
        tooltip=["lane:N", alt.Tooltip("at:T", title=period), "count:Q"],
    )
    described = f"{format_count(rows.height, 'event')} from {summed['at'][0]} to {summed['at'][-1]}."
    return parts.combine_layers([layer], title, f"Events per UTC {period}", described, _LANE_PIXELS * len(known))
