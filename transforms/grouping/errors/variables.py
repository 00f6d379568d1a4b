"""What differs between two occurrences of one failing thing: numbers, ids, times, addresses, durations.

What is named stays: a test, a module, a table, a host, a target, a tool, a file; so quotes and paths are left as they
are, temporary paths apart. What errors have in common, their family, is what is left once names are masked too.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.grouping.errors.masking import ADDRESSES, FIGURES, KEPT_RULES, RULES
from slowwave.transforms.grouping.errors.mining import error_mined
from slowwave.transforms.grouping.errors.params import ErrorParams
from slowwave.transforms.grouping.errors.placeholders import KEPT, MARKS, SHOWN

_END = r"[^\s\"'`<>()\[\]{},;|]*[^\s\"'`<>()\[\]{},;|.:]"
_NUMBER = MARKS["number"]
_VARIABLES = (
    *KEPT_RULES,
    (
        rf"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/{_END}|(?i:\b[a-z]:\\\S*\\te?mp\\){_END}",
        MARKS["path"],
    ),
    # the program that speaks, wherever it is installed
    (r"^/(?:[^\s:/]+/)+([^\s:/]+: )", "${1}"),
    *((pattern, MARKS[kind]) for kind, pattern in ADDRESSES if kind != "url"),
    *((pattern, MARKS[kind]) for kind, pattern in FIGURES),
    # a few digits behind a letter belong to a name: http2, utf8, db1
    (rf"(^|[^0-9A-Za-z{KEPT}])[0-9]+(?:[.,][0-9]+)*|([A-Za-z])[0-9]{{4,}}", f"${{1}}${{2}}{_NUMBER}"),
    (rf"(^|[\s=:(\[,])[-+]{_NUMBER}", f"${{1}}{_NUMBER}"),
    (r"\s+", " "),
)
# Marks that masking finds inside names and paths once these are masked: a figure again, of their shape.
_FIGURES_AGAIN = {_NUMBER: "0", MARKS["hex"]: "0x0", MARKS["id"]: "0a0"}


def error_named(text: pl.Expr) -> pl.Expr:
    """`text` (without control characters but `KEPT`) with placeholders for what varies, trimmed, white space as one.

    A text that shows placeholders already (`<number>`) is taken at its word: a template is its own template.
    """
    for shown, mark in SHOWN.items():
        text = text.str.replace_all(shown, mark, literal=True)
    for pattern, value in _VARIABLES:
        text = text.str.replace_all(pattern, value)
    return text.str.strip_chars()


def error_families(masked: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """Each masked text as its own template, and the family it is of within its project.

    Args:
        masked: project, masked (`error_named`); distinct rows.
        params: how much evidence makes a place of a family variable.

    Returns:
        In the order given: project, masked, template, family (the template that `error_mined` finds of the texts once
        names are masked too).
    """
    named = masked.with_columns(common=_without_names(pl.col("masked")))
    families = error_mined(named.select("project", masked="common").unique(), params)
    return named.join(
        families.select("project", common="masked", family="template"),
        on=["project", "common"],
        how="left",
        maintain_order="left",
    ).select("project", "masked", "family", template="masked")


def _without_names(named: pl.Expr) -> pl.Expr:
    text = named
    for mark, figure in _FIGURES_AGAIN.items():
        text = text.str.replace_all(mark, figure, literal=True)
    for pattern, value in RULES:
        text = text.str.replace_all(pattern, value)
    return text.str.strip_chars()
