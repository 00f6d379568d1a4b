"""The parts a report is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from slowwave.dashboards.charts.theme import chart_svg, chart_words, remove_title
from slowwave.dashboards.cookbook.answers import ShownTable
from slowwave.dashboards.words import project_label

if TYPE_CHECKING:
    import altair as alt


_CHART_WIDTH = 720


@dataclass(frozen=True)
class Figure:
    """A drawn chart with its title and subtitle, which the page sets as its own text."""

    title: str
    subtitle: str
    svg: Markup


@dataclass(frozen=True)
class Item:
    """One thing to look at: what and where it is, its text, what speaks for looking, and the command that shows it."""

    lead: str
    text: str
    note: str
    command: str


@dataclass(frozen=True)
class Items:
    """The first few things to look at, and the command that lists all."""

    caption: str
    items: list[Item]
    command: str


def distinguish_items(items: Sequence[Item], ids: Sequence[str]) -> list[Item]:
    """The items, those that read alike each with its id."""
    alike = Counter((item.lead, item.text, item.note) for item in items)
    return [
        replace(item, lead=f"{item.lead} · {project_label(about)}")
        if alike[item.lead, item.text, item.note] > 1
        else item
        for item, about in zip(items, ids, strict=True)
    ]


@dataclass
class ReportSection:
    """One question: what is said of it first, then things to look at, charts, tables, and commands to go on with."""

    anchor: str
    title: str
    says: list[str] = field(default_factory=list)
    lists: list[Items] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[ShownTable] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def add_chart(self, chart: alt.LayerChart) -> None:
        """Add a chart."""
        title, subtitle, _ = chart_words(chart)
        self.figures.append(Figure(title, subtitle, Markup(chart_svg(remove_title(chart), _CHART_WIDTH))))  # noqa: S704 - escaped by it

    def next(self, *commands: str) -> None:
        """Add commands to run next; one that cannot be copied safely is left out."""
        self.commands += [command for command in commands if command]
