"""Placeholders for what differs between two occurrences of one error: numbers, ids, paths, times, quoted values.

The idea is that of log parsers' preprocessing (He et al., "Drain", ICWS 2017). While rules run, each placeholder is one
control character, so that no rule reads the inside of another's result.
"""

from __future__ import annotations

import polars as pl

# Every kind with its control character. White space is left out: it separates tokens.
MARKS = {
    "value": "\x01",
    "url": "\x02",
    "email": "\x03",
    "uuid": "\x04",
    "time": "\x05",
    "date": "\x06",
    "ip": "\x07",
    "host": "\x08",
    "path": "\x0e",
    "hex": "\x0f",
    "id": "\x10",
    "version": "\x11",
    "duration": "\x12",
    "size": "\x13",
    "number": "\x14",
    "list": "\x15",
    "*": "\x16",
}
ANY = MARKS["*"]
"""Stands where texts of one template differ; shown as `<*>`."""
KEPT = "\x17"
"""Stands before digits that stay; not shown."""
PLACEHOLDERS = f"[{''.join(MARKS.values())}]"
"""Character class of all placeholders."""

SHOWN = {f"<{kind}>": mark for kind, mark in MARKS.items()}


def shown_placeholders(masked: pl.Expr) -> pl.Expr:
    """Masked text as people read it: `<number>`, `<path>`, ..."""
    shown = masked.str.replace_all(KEPT, "", literal=True)
    for name, mark in SHOWN.items():
        shown = shown.str.replace_all(mark, name, literal=True)
    return shown


def named_placeholders(masked: pl.Expr) -> pl.Expr:
    """The kinds of placeholders in masked text, each once: `<path>, <number>`; '' without any."""
    kinds = [pl.when(masked.str.contains(mark, literal=True)).then(pl.lit(name)) for name, mark in SHOWN.items()]
    return pl.concat_str(kinds, separator=", ", ignore_nulls=True)
