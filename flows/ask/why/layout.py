"""How `slowwave why` lays out lines: no line wider than the terminal, nothing in it obeyed by the terminal."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe

_WIDTH = 100
# where a line is too long, these give way, the widest first, down to this; times and ids stay whole
_SHRINKING = (1, 2, 3)
_LEAST = 8
_MOST_LINES = 24
_LABELLED = 13
_LINE = _WIDTH - _LABELLED - 1  # characters of a text that stand on one line behind a label
_ID = 80
_ARGUMENT = 200
_MOST_LINES_OF_TEXT = (3, 2, 1)

PIECES = 3
"""So many rows of a fact are shown on the one screen."""


class FactRow(NamedTuple):
    """A thing that a fact names: `KIND:ID` (a bare ID where its kind is not known), when, and what is said of it.

    `line` is the whole row as a terminal shows it.
    """

    thing: str
    at: datetime | None
    says: str
    line: str


class Fact(NamedTuple):
    """A label, texts about it, and rows that each name a thing."""

    label: str
    texts: Sequence[str]
    rows: Sequence[FactRow] = ()


def more(count: int, limit: int) -> list[str]:
    """How many were left out, if any."""
    return [f"  … and {count - limit} more (--limit, or --format json for all)"] if count > limit else []


def align_columns(rows: list[list[str]]) -> list[str]:
    """Rows in columns, narrowed to the width."""
    if not rows:
        return []
    rows = [[terminal_safe(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    excess = sum(widths) + 2 * len(widths) - width()
    while excess > 0:
        widest = max(_SHRINKING, key=lambda i: widths[i])
        if widths[widest] <= _LEAST:
            break
        widths[widest] -= 1
        excess -= 1
    return ["  " + "  ".join(map(_fit_cell, row, widths)).rstrip() for row in rows]


def _fit_cell(cell: str, width: int) -> str:
    return set_cell_size(cell, width) if cell_len(cell) <= width else set_cell_size(cell, width - 1) + "…"


def wrap_text(text: str) -> list[str]:
    """A text from the log as indented lines."""
    return textwrap.wrap(terminal_safe(text), width() - 2, initial_indent="  ", subsequent_indent="  ")


def width() -> int:
    """Return the columns that a line may have."""
    return min(_WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else _WIDTH


def format_lines(lines: Sequence[str]) -> str:
    """The lines as text; what is wider than the terminal is continued on indented lines."""
    printed = []
    for line in map(terminal_safe, lines):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        printed += _fold_line(line, indent) or [""]
    return "\n".join(printed) + "\n"


def _fold_line(line: str, indent: str) -> list[str]:
    if cell_len(line) <= width():
        return [line]
    return textwrap.wrap(line, width(), subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)


def screen_text(facts: Sequence[Fact]) -> str:
    """Return facts as one screen of 24 lines: the label before its first text, each text on as many lines as there are.

    A text takes at most three lines, or as few as it must for all of them to fit; where it is cut, it ends in an
    ellipsis. Of rows the first three are shown.
    """
    lines: list[str] = []
    for most in _MOST_LINES_OF_TEXT:
        lines = [line for fact in facts for line in _fact_lines(fact, most)]
        if len(lines) <= _MOST_LINES:
            break
    return "\n".join(lines) + "\n"


def _fact_lines(fact: Fact, most: int) -> list[str]:
    texts = [*fact.texts, *(row.line for row in fact.rows[:PIECES])]
    lines = [
        line for text in texts for line in _first_lines(terminal_safe(text), max(width() - _LABELLED, _LEAST), most)
    ]
    return [f"{fact.label if number == 0 else '':{_LABELLED}}{line}" for number, line in enumerate(lines)]


def _first_lines(text: str, room: int, most: int) -> list[str]:
    """The first `most` lines of a text, no wider than `room`."""
    narrow = room if cell_len(text) == len(text) else room // 2  # wide characters take two columns
    lines = textwrap.wrap(text, narrow, subsequent_indent="  ", break_on_hyphens=False)
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"{lines[most - 1][: narrow - 1]}…"]


def one_line(text: str | None, missing: str = "") -> str:
    """Return the beginning of a text on one line of a screen; `missing` where there is none."""
    return shorten_to_width(terminal_safe(" ".join((text or "")[: 4 * _LINE].split())), _LINE) or missing


def short_id(text: str) -> str:
    """Return an id, which is whole unless nobody could type it."""
    return shorten_to_width(text, _ID)


def shown_argument(text: str) -> str:
    """Return a text as an argument of a command, to be read, however long it is."""
    return terminal_safe(shorten_to_width(shlex.quote(text), _ARGUMENT))
