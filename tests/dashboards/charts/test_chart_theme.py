"""Charts as SVG: the same bytes, one image with a description, and nothing that runs, loads or clashes."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date, timedelta
from xml.etree import ElementTree

import altair as alt
import polars as pl
import pytest

from slowwave.dashboards.charts import logs, memories
from slowwave.dashboards.charts.parts import combine_layers
from slowwave.dashboards.charts.theme import DASHES, PALETTE, SHAPES, chart_svg, chart_words, remove_title

HOSTILE = [
    "</svg><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]> <!-- &amp; &lt;",
    "https://example.org/x",
    "\x00\x01\x1b[31m\x9b\u202e\u2028\ufffe\uffff",
]
RENDER = """
import polars as pl
from slowwave.dashboards.charts import logs, memories
from slowwave.dashboards.charts.theme import chart_svg
frame = pl.DataFrame({"field": ["a", ""], "reason": ["x", "<y>"], "refused": [1, 2]})
logs.quarantine_reasons(frame)
print(chart_svg(logs.quarantine_reasons(frame)))
"""


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - made by the test


def refused(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"field": texts, "reason": texts, "refused": range(1, len(texts) + 1)})


def clipped() -> alt.LayerChart:
    layer = alt.Chart(alt.InlineData(values=[{"n": 1}])).mark_bar(clip=True).encode(alt.X("n:Q"))
    return combine_layers([layer], "Clipped", "of n", "One bar", 20)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", ["#ffffff", "#0e1117"])
def test_every_colour_stands_out_on_light_and_dark(page):
    for colour in PALETTE:
        light, dark = sorted([luminance(colour), luminance(page)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_every_colour_has_its_own_shape_and_dash():
    assert len(PALETTE) == len(set(PALETTE)) == len(set(SHAPES)) == len({tuple(dash) for dash in DASHES})


def test_an_svg_is_one_image_with_its_description():
    chart = logs.quarantine_reasons(refused(["one", "two"]))
    root = parsed(chart_svg(chart, 500))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == chart_words(chart)[2]
    assert root.get("width") == "500"
    assert [element.get("role") for element in root.iter() if element.get("role")] == ["img"]


def test_hostile_texts_stay_text():
    chart = logs.quarantine_reasons(refused(HOSTILE))
    svg = chart_svg(chart)
    root = parsed(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath"}
    names = {key for element in root.iter() for key in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name]
    assert "".join(root.itertext()).count("alert(1)") == svg.count("alert(1)") - root.get("aria-label", "").count(
        "alert"
    )
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:|url\((?!#)""", svg.replace("&quot;", '"'))
    assert re.findall(r'="(https?://[^"]*)"', svg) == ["http://www.w3.org/2000/svg"]
    assert "\\x1b" in svg


def test_what_xml_cannot_hold_is_written_out_whatever_chart_holds_it():
    layer = alt.Chart(alt.InlineData(values=[{"n\x01": "a\x02"}])).mark_text().encode(alt.Text("n\x01:N"))
    svg = chart_svg(combine_layers([layer], "T\x00", "\ufffe", "\x1b", 20))
    assert parsed(svg).get("aria-label") == "T\\x00. \\x1b"


@pytest.mark.slow
def test_the_same_chart_has_the_same_bytes_in_another_process():
    run = [sys.executable, "-c", RENDER]
    other = subprocess.run(run, capture_output=True, text=True, check=True, env={"TZ": "Asia/Tokyo", "LANG": "de_DE"})
    frame = pl.DataFrame({"field": ["a", ""], "reason": ["x", "<y>"], "refused": [1, 2]})
    chart_svg(clipped())
    assert chart_svg(logs.quarantine_reasons(frame)) == other.stdout.rstrip("\n")


def test_times_are_utc_whatever_the_time_zone():
    days = [date(2026, 3, 1) + timedelta(days=at) for at in range(3)]
    columns = ("injected_interactions", "referencing_interactions")
    svg = chart_svg(memories.reinforcement_over_time(pl.DataFrame({"day": days, **dict.fromkeys(columns, [1] * 3)})))
    assert re.findall(r">(\d+ \w{3})<", svg) == ["1 Mar", "2 Mar", "3 Mar"]


def test_ids_are_unique_to_the_chart_and_the_same_each_time():
    first, again = chart_svg(clipped()), chart_svg(clipped())
    assert first == again
    ids = re.findall(r' id="([^"]+)"', first)
    assert ids
    assert set(re.findall(r"url\(#([^)]+)\)", first)) <= set(ids)
    other = chart_svg(clipped(), 300)
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', other))


def test_text_takes_the_colour_of_the_page():
    svg = chart_svg(logs.quarantine_reasons(refused(["one", "two"])))
    root = parsed(svg)
    fills = {element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert fills == {"currentColor"}
    assert 'fill="white"' not in svg


def test_a_page_may_set_the_words_itself():
    chart = logs.quarantine_reasons(refused(["one", "two"]))
    words = chart_words(chart)
    bare = remove_title(chart)
    assert chart_words(bare)[:2] == ("", "")
    assert chart_words(bare)[2] == words[2]
    assert chart_words(chart) == words
    assert "Rows kept aside" not in chart_svg(bare)
