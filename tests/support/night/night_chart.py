"""The benchmark's chart: what each stage of a night costs, as a multiple of reading its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl
from night_record import WHOLE

_INK, _BAR, _SUM = "#1a1a1a", "#4c78a8", "#9aa5b1"


def night_chart(
    sizes: Mapping[str, Mapping[str, float]], order: Sequence[str], sums: Sequence[str]
) -> alt.HConcatChart:
    """A panel of bars for each size, from its ratios; `sums` are bars that no stage is (the whole, nights after it)."""
    largest, ratios = list(sizes.items())[-1]
    title = alt.TitleParams(
        _conclusion(largest, ratios, sums),
        subtitle=[
            "CPU time divided by that of reading the same Parquet files and lower-casing their texts with Polars;",
            "interactions x memories x projects",
        ],
        anchor="start",
        fontSize=19,
        subtitleFontSize=14,
        offset=18,
    )
    most = max(ratio for of in sizes.values() for ratio in of.values())
    panels = [_panel(name, of, order, sums, most, is_first=name == next(iter(sizes))) for name, of in sizes.items()]
    return (
        alt.hconcat(*panels, spacing=28)
        .properties(title=title)
        .configure(background="white", font="sans-serif", padding=16)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=14, titleFontSize=14, labelColor=_INK, titleColor=_INK, grid=False, domain=False)
    )


def _conclusion(size: str, ratios: Mapping[str, float], sums: Sequence[str]) -> str:
    stage = max((name for name in ratios if name not in sums), key=lambda name: ratios[name])
    share = ratios[stage] / ratios[WHOLE]
    return f"A night of {size} costs {ratios[WHOLE]:.0f} times reading its text; “{stage}” takes {share:.0%} of it"


def _panel(
    name: str, ratios: Mapping[str, float], order: Sequence[str], sums: Sequence[str], most: float, *, is_first: bool
) -> alt.LayerChart | alt.FacetChart:
    rows = pl.DataFrame(
        [{"part": part, "ratio": ratio, "is_sum": part in sums} for part, ratio in ratios.items()],
        schema={"part": pl.String, "ratio": pl.Float64, "is_sum": pl.Boolean},
    )
    labels = alt.Axis(title=None, ticks=False, labels=is_first)
    base = alt.Chart(rows).encode(
        alt.Y("part:N", sort=list(order), axis=labels),
        alt.X("ratio:Q", axis=None, scale=alt.Scale(domainMin=0, domainMax=1.2 * most)),
    )
    bars = base.mark_bar(height=15).encode(
        color=alt.condition("datum.is_sum", alt.value(_SUM), alt.value(_BAR)),
    )
    values = base.mark_text(align="left", dx=5, fontSize=14, color=_INK).encode(alt.Text("ratio:Q", format=",.1f"))
    title = alt.TitleParams(name, fontSize=15, anchor="start", fontWeight="normal")
    return (bars + values).properties(title=title, width=250, height=24 * rows.height)
