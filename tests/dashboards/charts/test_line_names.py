"""Lines over time have their names at their ends."""

from __future__ import annotations

from datetime import date

import altair as alt

from slowwave.dashboards.charts import parts


def test_names_at_the_ends_of_lines_stand_apart_and_inside():
    at = "2026-03-02T00:00:00Z"
    rows = [{"at": at, "series": name, "value": value} for name, value in (("a", 1.0), ("b", 0.99), ("c", 0.2))]
    layers = parts.line_layers(rows, ["a", "b", "c"], [date(2026, 3, 2)], "UTC day", alt.Y("value:Q"))
    named = layers[0].to_dict()
    assert named["mark"]["type"] == "text"
    places = {row["series"]: row["value"] for row in next(iter(named["datasets"].values()))}
    assert places["a"] <= 1.0
    assert places["a"] - places["b"] >= 0.08
    assert 0 < places["c"] <= 0.2
    assert all("legend" not in str(layer.to_dict()["encoding"]).replace("'legend': None", "") for layer in layers)
