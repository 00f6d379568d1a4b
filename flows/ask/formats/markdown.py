"""Rows as a GitHub table, for an issue or a page; what a cell says is shown, never obeyed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from slowwave.flows.ask.formats.table import format_value, is_numeric
from slowwave.flows.kernel.terminal import terminal_safe

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
