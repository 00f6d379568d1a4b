"""`slowwave inspect lineage`: what a table is made from, down to landed columns, from the graph that computes it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from slowwave.flows.ask.lineage_drawn import html_page, mermaid
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
