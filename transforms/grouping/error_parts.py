"""Parts of masked error messages: where they are cut, what each is, and the messages as rows of codes.

Placeholders stand for what differs between two occurrences of one error: numbers, ids, paths, times, quoted values. The
idea is that of log parsers' preprocessing (He et al., "Drain", ICWS 2017). While rules run, each placeholder is one
control character, so that no rule reads the inside of another's result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Booleans, Integers

_CUT_AT = r"::\w+|[=,;:()\[\]{}|\"'`<>]|[^\s=,;:()\[\]{}|\"'`<>]+"
_REST = " …"
# Codes of parts that are no texts: no part, a place found variable, a placeholder (of any kind).
NO_PART, VARIED, FIGURE, _FIRST_TEXT = range(4)
# What a part is. Words carry meaning; names (a.b, a/b, a1, what follows `=`) are likeliest to vary, identifiers less.
MARK, CODE, FIXED, WORD, IDENTIFIER, NAME, FIGURES_ONLY, ANYTHING = range(8)

_EXCEPTION = r"^[\w.$]*(?:Error|Exception|Warning|Interrupt|Fault|Failure|Exit|Timeout)[.!?]?$"
# What follows these and `=` says what went wrong, and is no name.
_SPEAKS = r"(?i)^(?:message|msg|err|error|type|code|reason|details?|status|state|title|cause|exception|result)$"


@dataclass(frozen=True)
class Parts:
    """What is known of each distinct part, by its code; `is_value`: seen to vary elsewhere, so likely to vary here."""

    kind: Integers
    is_value: Booleans

    def kinds(self, rows: Integers) -> Integers:
        """What each cell is: a value is a name, unless no word stands before it (what opens a sentence says most)."""
        kind = self.kind[rows]
        word = is_word(kind) & ~self.is_value[rows]
        opened = np.cumsum(word, axis=1) - word > 0
        return np.where(self.is_value[rows] & opened, NAME, kind)


def is_word(kind: Integers) -> Booleans:
    """Which cells carry meaning."""
    return (kind == WORD) | (kind == FIXED) | (kind == CODE)


def _kind(part: pl.Expr) -> pl.Expr:
    bare = part.str.replace_all(PLACEHOLDERS, "")
    return (
        pl.when(part == ANY)
        .then(ANYTHING)
        .when(part.str.contains(PLACEHOLDERS))
        .then(pl.when(bare.str.contains(r"\pL{3}")).then(NAME).otherwise(FIGURES_ONLY))
        .when(~part.str.contains(r"[\pL\pN]"))
        .then(MARK)
        .when(part.str.contains(rf"^-?{KEPT}[0-9]+$"))
        .then(CODE)
        .when(part.str.contains(KEPT, literal=True) | part.str.contains(_EXCEPTION) | part.str.starts_with("::"))
        .then(FIXED)
        .when(part.str.contains(r"^\pL+(?:['’-]\pL+)*[.!?]?$") & ~part.str.contains(r"\p{Ll}\p{Lu}"))
        .then(WORD)
        .when(part.str.contains(r"^[\pL_-]+[.!?]?$"))
        .then(IDENTIFIER)
        .otherwise(NAME)
        .cast(pl.Int64)
    )


def error_parts(masked: pl.DataFrame, max_tokens: int) -> pl.DataFrame:
    """One row per part of each row of `masked`, in order: row, place, spaced (with the space before it), part, follows.

    A text of more than `max_tokens` ends with one more part, an ellipsis. `follows` tells that the part is the value
    of a key (`key=value`).
    """
    spaced = pl.col("masked").str.extract_all(rf"\s?(?:{_CUT_AT})")
    before = [pl.col("part").shift(n).over("row") for n in (1, 2)]
    return (
        masked.select(row=pl.int_range(pl.len(), dtype=pl.Int64), spaced=spaced)
        .with_columns(
            pl.when(pl.col("spaced").list.len() > max_tokens)
            .then(pl.col("spaced").list.head(max_tokens).list.concat(pl.lit([_REST])))
            .otherwise(pl.col("spaced"))
        )
        .with_columns(place=pl.int_ranges(pl.col("spaced").list.len(), dtype=pl.Int64))
        .explode("spaced", "place", empty_as_null=False, keep_nulls=False)
        .with_columns(part=pl.col("spaced").str.strip_chars_start(" "))
        .with_columns(follows=((before[0] == "=") & ~before[1].str.contains(_SPEAKS)).fill_null(value=False))
    )


def part_codes(parts: pl.DataFrame) -> tuple[pl.DataFrame, Parts]:
    """`parts` with the code of each, and what is known of each code. Codes follow the order of the texts."""
    texts = parts.filter(pl.col("part") != ANY).select("part", "follows").unique().sort("part", "follows")
    kind = _kind(pl.col("part"))
    known = texts.select(
        kind=pl.when(pl.col("follows") & kind.is_in([WORD, IDENTIFIER])).then(NAME).otherwise(kind).cast(pl.Int64),
    )
    coded = parts.join(
        texts.with_row_index("code", offset=_FIRST_TEXT), on=["part", "follows"], how="left", maintain_order="left"
    ).with_columns(pl.col("code").cast(pl.Int64).fill_null(VARIED))
    return coded, Parts(
        kind=np.concatenate([[MARK, ANYTHING, FIGURES_ONLY], known["kind"].to_numpy()]).astype(np.int64),
        is_value=np.zeros(len(known) + _FIRST_TEXT, np.bool_),
    )


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
