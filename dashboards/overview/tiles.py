"""One answer of the first screen: its question, its figure, how that changed, and what it is about by name."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from slowwave.dashboards.charts.theme import BLUE

_WIDTH, _HEIGHT, _EDGE = 240, 36, 3


@dataclass(frozen=True)
class Named:
    """A thing by name: the beginning of its text, a figure about it, its page, and the command that shows it."""

    text: str
    figure: str = ""
    link: str = ""
    command: str = ""


@dataclass(frozen=True)
class Tile:
    """An answer. `values`: over time, None where nothing is known; `lacks`: the one thing to record for an answer.

    `has_commands`: a page without links shows the command of each thing that is named.
    """

    question: str
    link: str
    figure: str = ""
    unit: str = ""
    change: str = ""
    says: str = ""
    values: Sequence[float | None] = ()
    values_are: str = ""
    named: Sequence[Named] = field(default_factory=tuple)
    lacks: str = ""
    has_commands: bool = False

    @property
    def sparkline(self) -> Markup:
        """The values as a small line; '' where fewer than two are known."""
        return sparkline(self.values, self.values_are)


def sparkline(values: Sequence[float | None], label: str) -> Markup:
    """Return values as a line in a picture, broken where none is known; '' where fewer than two are known."""
    path = line_path(values)
    if not path:
        return Markup()
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none">'
        f'<path d="{path}" fill="none" stroke="{BLUE}" stroke-width="2" stroke-linecap="round" '
        'vector-effect="non-scaling-stroke"/></svg>'
    )
    # a picture, as Streamlit takes an SVG element out of a page
    data = b64encode(svg.encode()).decode()
    return Markup('<img class="sw-spark" alt="{}" src="data:image/svg+xml;base64,{}">').format(label, data)


def line_path(values: Sequence[float | None]) -> str:
    """Return the path of values in SVG, 240 wide and 36 high; '' where fewer than two are known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - a line needs two points
        return ""
    low, high = min(known), max(known)
    reach = (high - low) or 1.0
    step = (_WIDTH - 2 * _EDGE) / (len(values) - 1)
    path, is_drawn = [], False
    for place, value in enumerate(values):
        if value is not None:
            y = _HEIGHT / 2 if high == low else _HEIGHT - _EDGE - (value - low) / reach * (_HEIGHT - 2 * _EDGE)
            path.append(f"{'L' if is_drawn else 'M'}{_EDGE + place * step:.1f} {y:.1f}")
        is_drawn = value is not None
    return " ".join(path)
