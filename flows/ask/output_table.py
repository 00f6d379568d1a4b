"""Rows as a table for people: one line per row where the columns fit, else one block per row; shown, never obeyed.

A few rows of sentences, of which most would be cut, are blocks too, so that they can be read.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, BinaryIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from slowwave.flows.ask.cells import cell_text
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe

MAX_ROWS = 200
MAX_BLOCKS = 20
WIDTH_ELSEWHERE = 100
# prose, lists and long texts may be cut down to this; numbers, times and ids never
_LEAST_TEXT = 12
_LONGEST_ID = 40
_GAP = 2
# as blocks, rows of which more than half would be cut: of more or longer ones nobody finds the next
_FEW_ROWS = 5
_LONGEST_SENTENCE = 500
_MAX_CELL = 2_000
_BIG = 1e15

Rows = list[list[str]]


def write_table(names: Sequence[str], batches: Iterable[Sequence[Sequence[Any]]], *, can_cut_all: bool = False) -> None:
    """Write the first rows to stdout with how many there are in all; says on stderr when some are not shown.

    `can_cut_all`: another command shows each row whole, so any text may be cut for a row to take one line.
    """
    console = Console(
        file=sys.stdout,
        width=None if sys.stdout.isatty() else WIDTH_ELSEWHERE,
        markup=False,
        highlight=False,
        emoji=False,
    )
    kept: list[Sequence[Any]] = []
    count = 0
    for rows in batches:
        kept += rows[: MAX_ROWS - len(kept)]
        count += len(rows)
    header = [terminal_safe(name) for name in names]
    cells = [[format_value(value) for value in row] for row in kept]
    numeric = [is_numeric(row[i] for row in kept) for i in range(len(names))]
    prose = [any(can_cut_all or _is_prose(row[i]) for row in kept) and not numeric[i] for i in range(len(names))]
    widths = _widths(header, cells, prose, console.width)
    if widths is None:
        header = [_in_lines(name, [row[i] for row in cells]) for i, name in enumerate(header)]
        widths = _widths(header, cells, prose, console.width)
    if widths is None or (not can_cut_all and _cuts_sentences(cells, widths)):
        cells = cells[:MAX_BLOCKS]
        _print_blocks(console, [name.replace("\n", "") for name in header], cells)
    else:
        console.print(_table(header, cells, numeric, widths))
    console.print(Text(format_count(count, "row")))
    if len(cells) < count:
        sys.stdout.flush()
        said = f"{len(cells):,} of {count:,} rows are shown"
        sys.stderr.write(f"slowwave: {said}; --format csv, json, md, parquet or xlsx gives all\n")


def format_value(value: object) -> str:
    """A value for people: numbers to four places, times to the second, long texts cut, controls written out."""
    if value is None:
        return "NULL"
    if isinstance(value, float) and abs(value) < _BIG:
        return f"{value:.4g}" if 0 < abs(value) < 0.001 else str(round(value, 4))  # noqa: PLR2004 - digits that matter
    text = cell_text(value)
    if isinstance(value, datetime):
        text = f"{text[:19].replace('T', ' ')}Z"  # to the second: the other formats give the rest
    return terminal_safe(shorten_to_width(text, _MAX_CELL))


def is_numeric(values: Iterable[object]) -> bool:
    """Whether these are numbers, as far as they are not NULL."""
    given = [value for value in values if value is not None]
    return bool(given) and all(
        isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) for value in given
    )


def _is_prose(value: object) -> bool:
    return isinstance(value, (list, tuple, dict)) or (
        isinstance(value, str) and (" " in value or len(value) > _LONGEST_ID)
    )


def _in_lines(name: str, cells: list[str]) -> str:
    """A column's name, broken after underscores where it is wider than what stands below it."""
    parts = [f"{part}_" for part in name.split("_")]
    parts[-1] = parts[-1][:-1]
    room = max(map(cell_len, [*parts, *cells]))
    lines = [""]
    for part in parts:
        if cell_len(lines[-1] + part) <= room:
            lines[-1] += part
        else:
            lines.append(part)
    return "\n".join(lines)


def _widths(header: list[str], cells: Rows, prose: list[bool], width: int) -> list[int] | None:
    """Width of each column so that a row takes one line; None when the columns do not fit side by side."""
    names = [max(map(cell_len, name.split("\n"))) for name in header]
    widths = [max([name, *map(cell_len, column)]) for name, *column in zip(names, *cells, strict=True)]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    while excess > 0:
        # the widest gives way first, down to the next widest
        texts = [i for i, size in enumerate(widths) if prose[i] and size > max(_LEAST_TEXT, names[i])]
        if not texts:
            return None
        widest = max(texts, key=lambda i: widths[i])
        below = max((widths[i] for i in texts if widths[i] < widths[widest]), default=0)
        floor = max(below, _LEAST_TEXT, names[widest])
        cut = min(excess, widths[widest] - floor) or 1
        widths[widest] -= cut
        excess -= cut
    return widths


def _cuts_sentences(cells: Rows, widths: list[int]) -> bool:
    """Whether less than half of a few rows of sentences is shown by these widths."""
    lengths = [[cell_len(text) for text in row] for row in cells]
    if len(cells) > _FEW_ROWS or any(length > _LONGEST_SENTENCE for row in lengths for length in row):
        return False
    shown = sum(min(length, width) for row in lengths for length, width in zip(row, widths, strict=True))
    return 2 * shown < sum(map(sum, lengths))


def _table(header: list[str], cells: Rows, numeric: list[bool], widths: list[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name, is_number, size in zip(header, numeric, widths, strict=True):
        table.add_column(
            Text(name), justify="right" if is_number else "left", width=size, no_wrap=True, overflow="ellipsis"
        )
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _print_blocks(console: Console, header: list[str], cells: Rows) -> None:
    for number, row in enumerate(cells, start=1):
        console.print(Text(f"── row {number}", style="dim"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True, overflow="ellipsis", max_width=console.width // 2)
        grid.add_column(overflow="fold")
        for name, value in zip(header, row, strict=True):
            grid.add_row(Text(name, style="dim"), Text(value))
        console.print(grid)


# Rows as a GitHub table, for an issue or a page; what a cell says is shown, never obeyed.

# What Markdown takes for a link, a style, code, a formula or the end of a cell; an underscore within a word is none.
_MARKS = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def write_markdown(names: Sequence[str], batches: Iterable[Sequence[Sequence[Any]]], to: BinaryIO) -> None:
    """Write all rows: numbers and times as in a table for people, texts whole, NULL as NULL; numbers to the right."""
    if not names:  # of a statement that answers nothing
        return
    rest = iter(batches)
    first = next(rest, [])
    ends = ["---:" if is_numeric(row[i] for row in first) else "---" for i in range(len(names))]
    to.write(_line([markdown_safe(name) or " " for name in names]))
    to.write(_line(ends))
    to.writelines(_line([_cell(value) for value in row]) for rows in itertools.chain([first], rest) for row in rows)


def markdown_safe(text: str) -> str:
    r"""`text` as a cell that is read as it stands: marks and HTML are escaped, lines end with `<br>`.

    Controls are written out, such as `\\x1b`.
    """
    lines = [terminal_safe(line) for line in _LINE_END.split(text)]
    return "<br>".join(_MARKS.sub(r"\\\g<0>", line).translate(_HTML) for line in lines)


def _cell(value: object) -> str:
    return markdown_safe(value if isinstance(value, str) else format_value(value))


def _line(cells: Sequence[str]) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()
