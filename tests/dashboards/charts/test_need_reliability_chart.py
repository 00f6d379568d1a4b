"""The chart of forecasts of need against what came."""

import json

import polars as pl
import pytest

from slowwave.dashboards.charts.learning import reliability_bins, reliability_chart

GRADED = pl.DataFrame(
    {
        "method": ["need/1"] * 4 + ["other"] * 4,
        "forecast": [0.01, 0.03, 0.9, 0.92, 0.5, 0.5, 0.5, 0.5],
        "is_needed": [False, False, True, True, True, False, False, False],
    }
)


def test_bins_count_what_was_said_and_what_came():
    found = reliability_bins(GRADED.reverse())
    assert found.select("method", "bin", "observed", "cases").rows() == [
        ("need/1", 0, 0.0, 2),
        ("need/1", 13, 1.0, 2),
        ("other", 7, 0.25, 4),
    ]
    assert found["forecast"].to_list() == pytest.approx([0.02, 0.91, 0.5])


def test_the_title_says_what_to_conclude_and_the_page_loads_nothing():
    spec = reliability_chart(GRADED, "atlas").to_dict()
    assert spec["title"]["text"] == "atlas: need/1 is off by 5.5 points on average"
    assert "other: 0.250" in spec["description"]
    lines = spec["layer"][1]["encoding"]
    assert {lines[channel]["field"] for channel in ("color", "shape", "strokeDash")} == {"method"}
    assert '"url"' not in json.dumps(spec)
