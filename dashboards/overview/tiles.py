"""One answer of the first screen: its question, its figure, how that changed, and what it is about by name."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from slowwave.dashboards.charts.theme import BLUE

_WIDTH, _HEIGHT, _EDGE = 240, 36, 3


@dataclass(frozen=True)
class Named:
    """A thing by name: the beginning of its text, a figure about it, its page, its command, and its whole text."""

    text: str
    figure: str = ""
    link: str = ""
    command: str = ""
    whole: str = ""


@dataclass(frozen=True)
class Tile:
    """An answer. `values`: over time, None where nothing is known; `lacks`: the one thing to record for an answer.

    `limits`: of each value the ends of its interval, where it is a difference. `has_commands`: a page without links
    shows the command of each thing that is named.
    """

    question: str
    link: str
    figure: str = ""
    unit: str = ""
    change: str = ""
    says: str = ""
    values: Sequence[float | None] = ()
    limits: Sequence[tuple[float, float] | None] = ()
    values_are: str = ""
    named: Sequence[Named] = field(default_factory=tuple)
    lacks: str = ""
    has_commands: bool = False

    @property
    def lines(self) -> list[SparklinePath]:
        """The values as lines of a small picture; none where fewer than two are known."""
        return [*spark_lines(self.values, self.limits)]

    @property
    def sparkline(self) -> Markup:
        """The values as a small picture; '' where fewer than two are known."""
        return sparkline(self.lines, self.values_are)


@dataclass(frozen=True)
class SparklinePath:
    """A path of SVG in a field 240 wide and 36 high, and how it is drawn."""

    path: str
    width: float = 2.0
    opacity: float = 1.0


def sparkline(lines: Sequence[SparklinePath], label: str) -> Markup:
    """Return lines as a picture with a label; '' of none."""
    if not lines:
        return Markup()
    drawn = "".join(
        f'<path d="{line.path}" fill="none" stroke="{BLUE}" stroke-width="{line.width:g}" opacity="{line.opacity:g}" '
        'stroke-linecap="round" vector-effect="non-scaling-stroke"/>'
        for line in lines
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none">'
        f"{drawn}</svg>"
    )
    # a picture, as Streamlit takes an SVG element out of a page
    data = b64encode(svg.encode()).decode()
    return Markup('<img class="sw-spark" alt="{0}" title="{0}" src="data:image/svg+xml;base64,{1}">').format(
        label, data
    )


def spark_lines(
    values: Sequence[float | None], limits: Sequence[tuple[float, float] | None] = ()
) -> Iterator[SparklinePath]:
    """Yield the line of values, broken where none is known; where they have `limits`, before it those and a line at 0.

    Nothing where fewer than two values are known.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - a line needs two points
        return
    reached = [*known, *(end for each in limits if each for end in each), *([0.0] if limits else [])]
    low, high = min(reached), max(reached)
    step = (_WIDTH - 2 * _EDGE) / (len(values) - 1)

    def y(value: float) -> float:
        return _HEIGHT / 2 if high == low else _HEIGHT - _EDGE - (value - low) / (high - low) * (_HEIGHT - 2 * _EDGE)

    if limits:
        yield SparklinePath(f"M{_EDGE} {y(0):.1f} L{_WIDTH - _EDGE} {y(0):.1f}", 1, 0.6)
        ends = [(_EDGE + place * step, each) for place, each in enumerate(limits) if each]
        yield SparklinePath(
            " ".join(f"M{x:.1f} {y(each[0]):.1f} L{x:.1f} {y(each[1]):.1f}" for x, each in ends), 5, 0.3
        )
    path, is_drawn = [], False
    for place, value in enumerate(values):
        if value is not None:
            point = f"{_EDGE + place * step:.1f} {y(value):.1f}"
            path.append(f"L{point}" if is_drawn else f"M{point} h0")  # h0: a dot, where the next value is not known
        is_drawn = value is not None
    has_line = any(point.startswith("L") for point in path)
    yield SparklinePath(" ".join(path), 2 if has_line else 5)
