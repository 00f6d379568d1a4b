"""One thing over time: a lane for each kind of event, a mark for each day, week or month that has some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import altair as alt
import polars as pl

from slowwave.dashboards.charts import parts
from slowwave.dashboards.charts.theme import PALETTE
from slowwave.flows.kernel.terminal import format_count

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
