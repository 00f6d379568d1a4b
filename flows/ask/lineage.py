"""`slowwave inspect lineage`: what a table is made from, down to landed columns, from the graph that computes it.

As text, as a Mermaid diagram, or as a page that needs no network.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from html import escape

from slowwave.flows.ask.lineage_steps import KINDS, LineageStep, by_room, last_run, lineage
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, terminal_safe
from slowwave.transforms.params import Params


def run_lineage(settings: Settings, table: str | None, *, output: str, rooms: bool = False) -> None:
    """Print what `table` is made from; None: of every table the tables it is made from, or with `rooms` of every room.

    Raises UserError for an unknown table, or when the link to the current publish leads nowhere.
    """
    if rooms and table is not None:
        message = f"a room makes several tables: ask for --rooms, or for {quote_shortened(table)}"
        raise UserError(message)
    steps = lineage(table, params_shown(settings), last_run(settings))
    if rooms:
        steps = by_room(steps)
    if output == "json":
        text = json.dumps([asdict(step) for step in steps], indent=2) + "\n"
    elif output == "mermaid":
        text = mermaid(steps)
    elif output == "html":
        text = html_page(table or "every table", steps)
    else:
        text = _list_steps(steps) if table is None else _tree(steps)
    sys.stdout.write(text)
    sys.stdout.flush()


def params_shown(settings: Settings) -> Params:
    """Return the params of the home, or the defaults with a warning where its file cannot be used."""
    try:
        return settings.params()
    except WrongUsageError as error:
        sys.stderr.write(f"slowwave: {terminal_safe(str(error))}; methods are shown as by default\n")
        return Params()


def facts(step: LineageStep) -> str:
    """Grain, reuse, rows, cost and methods of it, on one line; of a room its tables."""
    if step.kind == "room":
        return step.about
    known = [
        f"by {step.grain}" if step.grain.startswith("day") else "" if step.reuse else step.grain,
        step.reuse,
        "" if step.rows is None else format_count(step.rows, "row"),
        "" if step.cpu_seconds is None else f"{step.cpu_seconds:.2f} s",
        ", ".join(step.methods),
    ]
    return " · ".join(fact for fact in known if fact)


def _list_steps(steps: Sequence[LineageStep]) -> str:
    """Every step, by kind, with what it is made from."""
    by_id = {step.id: step for step in steps}
    wide = max(len(step.name) for step in steps)
    blocks = []
    for kind, title in KINDS.items():
        lines = [f"{title}:"]
        for step in (step for step in steps if step.kind == kind):
            lines.append(f"  {step.name:{wide}}  {facts(step) or ', '.join(_columns_read(step, steps))}")
            if step.sources:
                lines.append(f"  {'':{wide}}  from {', '.join(_step_label(by_id[source]) for source in step.sources)}")
        if len(lines) > 1:
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _columns_read(step: LineageStep, steps: Sequence[LineageStep]) -> list[str]:
    return list(dict.fromkeys(name for each in steps for name in each.sources.get(step.id, ())))


def _step_label(step: LineageStep) -> str:
    return f"{step.name} (evidence)" if step.kind == "evidence" else step.name


def _tree(steps: Sequence[LineageStep]) -> str:
    """The last step with its sources below it, each listed once."""
    by_id = {step.id: step for step in steps}
    told: set[str] = set()
    lines = list[str]()

    def tell(step: LineageStep, columns: tuple[str, ...], head: str, below: str) -> None:
        again = step.id in told and bool(step.sources)
        told.add(step.id)
        said = "(see above)" if again else facts(step) or ", ".join(columns)
        lines.append(f"{head}{_step_label(step)}  {said}")
        for at, (source, read) in enumerate(() if again else step.sources.items()):
            is_last = at == len(step.sources) - 1
            tell(by_id[source], read, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  "))

    root = steps[-1]
    tell(root, (), "", "")
    lines[1:1] = [root.about, f"Made by {root.made_by}." if root.made_by else "Read, not computed.", ""]
    return "\n".join(lines) + "\n"


_SHAPES = {
    "landed": ('[("', '")]'),
    "evidence": ('[["', '"]]'),
    "state": ('[["', '"]]'),
    "handed": ('("', '")'),
    "published": ('["', '"]'),
    "room": ('["', '"]'),
}
# Pixels of the drawing.
_WIDE, _HIGH, _GAP_X, _GAP_Y, _MARGIN = 190, 26, 70, 10, 20
_POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
# Pixels of a line of the legend, where it is not broken; more is scrolled to.
_LEGEND_HIGH = 34
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #1b2230; background: #fff }
svg text { font: 12px system-ui, sans-serif; fill: #1b2230 } svg path { fill: none; stroke: #98a2b3 }
svg rect { stroke: #667085 } .landed { fill: #d8eadf } .evidence, .state { fill: #dbe7f8 } .handed { fill: #f4f4f5 }
.published, .room { fill: #fbe8cd } table { border-collapse: collapse; margin-top: 1.5rem }
td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #e4e7ec }
.drawing { overflow-x: auto }
"""


def mermaid(steps: Sequence[LineageStep]) -> str:
    """A flowchart for Markdown pages that draw Mermaid."""
    lines = ["flowchart LR"]
    for step in steps:
        before, after = _SHAPES[step.kind]
        lines.append(f"    {step.id}{before}{step.name}{after}")
    lines += [f"    {' & '.join(step.sources)} --> {step.id}" for step in steps if step.sources]
    return "\n".join(lines) + "\n"


def html_page(title: str, steps: Sequence[LineageStep]) -> str:
    """The drawing, and of each step what it is, how it is reused, from what, by which methods, rows and cost."""
    by_id = {step.id: step for step in steps}
    rows = []
    for step in reversed(steps):
        made = ", ".join(
            f"{by_id[source].name} ({', '.join(names)})" if names else by_id[source].name
            for source, names in step.sources.items()
        )
        cost = "" if step.cpu_seconds is None else f"{step.cpu_seconds:.2f} s"
        count = "" if step.rows is None else f"{step.rows:,}"
        cells = (step.name, step.kind, step.grain, step.reuse, made, ", ".join(step.methods), count, cost, step.about)
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    heads = ("name", "kind", "grain", "reuse", "made from", "methods", "rows", "CPU", "what it is")
    return _document(
        f"Lineage of {title}",
        f"<h1>What {escape(title)} is made from</h1>\n{_figure(steps)}\n<table>\n<tr>"
        + "".join(f"<th>{head}</th>" for head in heads)
        + "</tr>\n"
        + "\n".join(rows)
        + "\n</table>",
    )


def figure_page(steps: Sequence[LineageStep]) -> tuple[str, int]:
    """Return a page of the drawing and what its colours mean, for a frame in another page, and its height in pixels."""
    high = max(y for _, y in _places(steps).values()) + _HIGH + _MARGIN
    legend_high = _LEGEND_HIGH * len({step.kind for step in steps})
    style = "body { margin: 0 } .drawing { border: 1px solid #98a2b3 } p { margin: .3rem 0 }"
    return _document("What is made from what", _figure(steps), style), legend_high + high + _LEGEND_HIGH


def _figure(steps: Sequence[LineageStep]) -> str:
    """The drawing, which the keyboard scrolls, and above it what its colours mean."""
    legend = "".join(
        f'<p><svg width="14" height="14" aria-hidden="true"><rect class="{kind}" width="13" height="13"/></svg> '
        f"{escape(said)}</p>"
        for kind, said in KINDS.items()
        if any(step.kind == kind for step in steps)
    )
    region = 'tabindex="0" role="region" aria-label="Drawing, scrolls sideways"'
    return f'{legend}\n<div class="drawing" {region}>{drawing(steps)}</div>'


def _document(title: str, body: str, style: str = "") -> str:
    """A page that runs nothing and loads nothing."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">{_POLICY}<title>{escape(title)}</title>'
        f"<style>{_STYLE}{style}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def drawing(steps: Sequence[LineageStep]) -> str:
    """An SVG: sources to the left, each step in the column behind its last source, lines between them."""
    places = _places(steps)
    wide = max(x for x, _ in places.values()) + _WIDE + _MARGIN
    high = max(y for _, y in places.values()) + _HIGH + _MARGIN
    parts = [f'<svg role="img" aria-label="What is made from what" width="{wide}" height="{high}">']
    for step in steps:
        x, y = places[step.id]
        for source in step.sources:
            from_x, from_y = places[source]
            start, end, bend = from_x + _WIDE, x, (x - from_x - _WIDE) // 2
            parts.append(
                f'<path d="M{start} {from_y + _HIGH // 2}C{start + bend} {from_y + _HIGH // 2}'
                f' {end - bend} {y + _HIGH // 2} {end} {y + _HIGH // 2}"/>'
            )
    for step in steps:
        x, y = places[step.id]
        parts.append(
            f'<g><title>{escape(step.about)}</title><rect class="{step.kind}" x="{x}" y="{y}" width="{_WIDE}"'
            f' height="{_HIGH}" rx="4"/><text x="{x + 8}" y="{y + 17}">{escape(step.name)}</text></g>'
        )
    return "".join(parts) + "</svg>"


def _places(steps: Sequence[LineageStep]) -> dict[str, tuple[int, int]]:
    """Where the upper left corner of each step is; within a column by the middle of its sources."""
    columns: dict[str, int] = {}
    for step in steps:
        columns[step.id] = 1 + max((columns[source] for source in step.sources), default=-1)
    places: dict[str, tuple[int, int]] = {}
    for column in range(max(columns.values()) + 1):
        here = [step for step in steps if columns[step.id] == column]
        heights = {step.id: [places[source][1] for source in step.sources] for step in here}
        here.sort(key=lambda step: sum(heights[step.id]) / max(1, len(heights[step.id])))
        for row, step in enumerate(here):
            places[step.id] = (_MARGIN + column * (_WIDE + _GAP_X), _MARGIN + row * (_HIGH + _GAP_Y))
    return places
