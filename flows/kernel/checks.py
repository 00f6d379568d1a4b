"""Findings about a home, one line each with a state, as `status` and `doctor` print them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import duckdb

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.kernel.times import utc_iso

if TYPE_CHECKING:  # rich is slow to load, and a monitor asks for JSON
    from rich.console import Console

State = Literal["ok", "warn", "error"]

_SEVERITY: dict[State, int] = {"ok": 0, "warn": 1, "error": 2}
_COLOURS: dict[State, str] = {"ok": "green", "warn": "yellow", "error": "bold red"}
_WIDTH = 100
_TRIES = 3
# What a home that is broken, half-made or changing right now makes its readers raise.
_UNREADABLE = (UserError, OSError, ValueError, IndexError, duckdb.Error)


@dataclass(frozen=True)
class CheckLine:
    """One finding: what was looked at, how it is, what to do about it, and the figures behind the words."""

    name: str
    state: State
    says: str
    todo: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The line as one flat object; times as ISO 8601 ending in Z."""
        facts = {name: utc_iso(fact) if isinstance(fact, datetime) else fact for name, fact in self.facts.items()}
        return {"name": self.name, "state": self.state, "says": self.says, "todo": self.todo, **facts}


def run_check(name: str, look: Callable[[], CheckLine]) -> CheckLine:
    """The line `look` returns, or an error line that says why it could not look.

    A file that has gone is looked for again: a landing that merges small files removes them under a reader.
    """
    for _ in range(_TRIES - 1):
        try:
            return look()
        except (FileNotFoundError, duckdb.IOException):
            continue
        except _unreadable_errors() as error:
            return _unreadable(name, error)
    try:
        return look()
    except _unreadable_errors() as error:
        return _unreadable(name, error)


def _unreadable_errors() -> tuple[type[Exception], ...]:
    """With those of Polars, where it is loaded: who has not loaded it raises none."""
    polars = sys.modules.get("polars")
    return (*_UNREADABLE, polars.exceptions.PolarsError) if polars else _UNREADABLE


def _unreadable(name: str, error: Exception) -> CheckLine:
    return CheckLine(name, "error", str(error) if isinstance(error, UserError) else f"cannot be read: {error}")


def worst(states: Iterable[State]) -> State:
    """The most severe of some states; ok when there are none."""
    found: State = "ok"
    for state in states:
        found = state if _SEVERITY[state] > _SEVERITY[found] else found
    return found


def at_most(limit: State, state: State) -> State:
    """`state`, but no more severe than `limit`."""
    return limit if _SEVERITY[state] > _SEVERITY[limit] else state


def screen() -> Console:
    """Standard output, at most 100 columns wide, taking no text for markup."""
    from rich.console import Console

    wide = Console(markup=False, highlight=False, emoji=False)
    width = min(_WIDTH, wide.width) if wide.is_terminal else _WIDTH
    return Console(markup=False, highlight=False, emoji=False, width=width)


def print_check_lines(title: str, lines: Sequence[CheckLine]) -> None:
    """Print the title and one row per finding, with what to do under each that needs it."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in lines:
        says = Text("\n").join(Text(terminal_safe(part)) for part in line.says.split("\n"))
        if line.todo:
            says.append(f"\n→ {terminal_safe(line.todo)}", style="bold")
        grid.add_row(Text(line.state, style=_COLOURS[line.state]), Text(line.name), says)
    console = screen()
    console.print(Text(terminal_safe(title), style="bold", overflow="fold"))
    console.print(grid)
