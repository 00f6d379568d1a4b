"""What charts look like, on light and dark pages alike, and how one becomes an SVG that loads and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    import altair as alt

# Mid-tones: at least 3:1 against white and against #0e1117, the dark page of Streamlit.
BLUE = "#3f86c9"
ORANGE = "#c9751c"
GREEN = "#2a9d77"
RED = "#d14b5c"
PURPLE = "#8f6fd0"
GREY = "#7d8590"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, RED, GREY)
# One shape and one dash per colour, in the same order: what is shown by colour is shown by these as well.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [7, 3, 2, 3], [12, 3], [4, 6])
# Whatever colour the text around the chart has; axes and titles have it from the theme.
TEXT = "currentColor"

_SVG = "http://www.w3.org/2000/svg"
# Measured as Arial, whose widths vl-convert brings along, and shown in whatever the reader's system prefers.
_MEASURED = "Arial, Liberation Sans, Helvetica, sans-serif"
_SHOWN = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
_CONFIG = {
    "aria": False,  # the picture is one image with one description: its parts say nothing by themselves
    "background": None,
    "padding": {"left": 8, "top": 4, "right": 16, "bottom": 4},
    "font": _MEASURED,
    "axis": {
        "labelColor": TEXT,
        "titleColor": TEXT,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titlePadding": 8,
        "gridColor": TEXT,
        "gridOpacity": 0.13,
        "domainColor": TEXT,
        "domainOpacity": 0.35,
        "ticks": False,
        "labelPadding": 6,
    },
    "header": {"labelColor": TEXT, "titleColor": TEXT},
    "legend": {"labelColor": TEXT, "titleColor": TEXT, "labelFontSize": 11},
    "text": {"color": TEXT},
    "title": {
        "anchor": "start",
        "color": TEXT,
        "subtitleColor": TEXT,
        "fontSize": 15,
        "subtitleFontSize": 11.5,
        "subtitlePadding": 5,
        "lineHeight": 19,
        "subtitleLineHeight": 15,
        "offset": 14,
    },
    "view": {"stroke": None},
}
_ONLY_VEGA = {"class", "font-family", "pointer-events", "role", "version"}
# What XML 1.0 cannot hold, not even escaped; a text with one of these ends the process inside vl-convert.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@contextmanager
def skip_chart_checks() -> Iterator[None]:
    """Inside, Altair takes parts of charts as they are: to check them takes as long as to draw, and tests do."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(arg=False):
        yield


def chart_svg(chart: alt.LayerChart, width: int = 640) -> str:
    """`chart` as an SVG element `width` pixels wide, the same bytes for the same chart.

    Text takes the colour and the background of the page around it. The description is its label for screen readers.
    Nothing in it is a link or a script; ids are unique to the chart, so that several stand in one page.
    """
    import vl_convert

    spec = writable(chart.to_dict(validate=False))
    description = spec.get("description", "")
    spec["config"] = _CONFIG
    # No address is allowed: what is not in the chart is not drawn.
    drawn = vl_convert.vegalite_to_svg({**spec, "width": width}, allowed_base_urls=[], format_locale="en-US")
    root = ElementTree.fromstring(drawn)  # noqa: S314 - written by vl-convert just now
    ids = {element.attrib["id"]: f"part-{number}" for number, element in enumerate(root.iterfind(".//*[@id]"))}
    for element in root.iter():
        _plain(element, ids)
    root.attrib.update({"role": "img", "aria-label": description, "font-family": _SHOWN, "overflow": "visible"})
    name = sha256(ElementTree.tostring(root)).hexdigest()[:12]
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.attrib[key] = f"c{name}-{value}"
            elif value.startswith("url(#"):
                element.attrib[key] = f"url(#c{name}-{value[5:]}"
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _plain(element: ElementTree.Element, ids: dict[str, str]) -> None:
    """Drop what only Vega needs, and number the ids: vl-convert counts them over all charts of a process."""
    for key in [key for key in element.attrib if key in _ONLY_VEGA or key.startswith("aria-")]:
        del element.attrib[key]
    for key, value in element.attrib.items():
        if key == "id":
            element.attrib[key] = ids[value]
        elif value.startswith("url(#"):
            element.attrib[key] = f"url(#{ids[value[5:-1]]})"


def writable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    r"""`value` with every character that XML cannot hold written out, such as `\x01`."""
    if isinstance(value, str):
        return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), value)
    if isinstance(value, dict):
        return {writable(key): writable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [writable(item) for item in value]
    return value


def chart_words(chart: alt.LayerChart) -> tuple[str, str, str]:
    """Title, subtitle and description of a chart, each on one line: for a page that sets them as its own text."""
    import altair as alt

    # read where they stand: working out the whole specification takes a hundred times as long
    title = chart.title
    words = (title.text, title.subtitle) if isinstance(title, alt.TitleParams) else (title, "")
    return _in_a_line(words[0]), _in_a_line(words[1]), _in_a_line(chart.description)


def _in_a_line(text: object) -> str:
    if isinstance(text, str):
        return text
    return " ".join(map(str, text)) if isinstance(text, (list, tuple)) else ""


def remove_title(chart: alt.LayerChart) -> alt.LayerChart:
    """`chart` without its title and subtitle, for a page that has set them as its own text (see `chart_words`)."""
    import altair as alt

    bare = chart.copy()
    bare.title = alt.Undefined
    return bare
