"""Tokens of masked error messages: where they are cut, what each is, and the messages as rows of token codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Booleans, Integers
from slowwave.transforms.grouping.errors.placeholders import ANY, KEPT, PLACEHOLDERS

_CUT_AT = r"[=,;:()\[\]{}|\"'`<>]|[^\s=,;:()\[\]{}|\"'`<>]+"
_REST = " …"
# Codes of tokens that are no texts: no token, a place found variable, a placeholder (of any kind).
NO_TOKEN, VARIED, PLACEHOLDER, _FIRST_TEXT = range(4)
# What a token is. Words carry meaning; names (a.b, a/b, a1) are likeliest to vary, identifiers (aB, a_b) less so.
MARKS, CODES, FIXED, WORDS, IDENTIFIERS, NAMES, PLACEHOLDERS_ONLY, VARIED_PLACES = range(8)

_EXCEPTION = r"^[\w.$]*(?:Error|Exception|Warning|Interrupt|Fault|Failure|Exit|Timeout)[.!?]?$"
_SUCCESS = rf"^{KEPT}[123][0-9]{{2}}$"
# After these even a plain word is a name.
_NAME_FOLLOWS = frozenset(
    {"=", "user", "username", "host", "hostname", "node", "domain", "named", "name", "account", "package", "module"}
    | {
        "service",
        "table",
        "column",
        "key",
        "file",
        "directory",
        "branch",
        "function",
        "method",
        "variable",
        "attribute",
    }
)


@dataclass(frozen=True)
class Tokens:
    """What is known of each distinct token, by its code."""

    kind: Integers
    name_follows: Booleans
    is_success: Booleans

    def is_word(self, rows: Integers) -> Booleans:
        """Which tokens of the rows carry meaning."""
        kind = self.kind[rows]
        return (kind == WORDS) | (kind == FIXED) | (kind == CODES)


def _kind(token: pl.Expr) -> pl.Expr:
    bare = token.str.replace_all(PLACEHOLDERS, "")
    return (
        pl.when(token.str.contains(PLACEHOLDERS))
        .then(pl.when(bare.str.contains(r"\pL{3}")).then(NAMES).otherwise(PLACEHOLDERS_ONLY))
        .when(~token.str.contains(r"[\pL\pN]"))
        .then(MARKS)
        .when(token.str.contains(rf"^-?{KEPT}[0-9]+$"))
        .then(CODES)
        .when(token.str.contains(KEPT, literal=True) | token.str.contains(_EXCEPTION))
        .then(FIXED)
        .when(token.str.contains(r"^\pL+(?:['’-]\pL+)*[.!?]?$") & ~token.str.contains(r"\p{Ll}\p{Lu}"))
        .then(WORDS)
        .when(token.str.contains(r"^[\pL_-]+[.!?]?$"))
        .then(IDENTIFIERS)
        .otherwise(NAMES)
        .cast(pl.Int64)
    )


def error_tokens(masked: pl.DataFrame, max_tokens: int) -> pl.DataFrame:
    """One row per token of each row of `masked`, in order: row, place, spaced (with the space before it), token.

    A text of more than `max_tokens` ends with one more token, an ellipsis.
    """
    spaced = pl.col("masked").str.extract_all(rf"\s?(?:{_CUT_AT})")
    return (
        masked.select(row=pl.int_range(pl.len(), dtype=pl.Int64), spaced=spaced)
        .with_columns(
            pl.when(pl.col("spaced").list.len() > max_tokens)
            .then(pl.col("spaced").list.head(max_tokens).list.concat(pl.lit([_REST])))
            .otherwise(pl.col("spaced"))
        )
        .with_columns(place=pl.int_ranges(pl.col("spaced").list.len(), dtype=pl.Int64))
        .explode("spaced", "place", empty_as_null=False, keep_nulls=False)
        .with_columns(token=pl.col("spaced").str.strip_chars_start(" "))
    )


def token_codes(tokens: pl.DataFrame) -> tuple[pl.DataFrame, Tokens]:
    """`tokens` with the code of each, and what is known of each code. Codes follow the order of the texts."""
    texts = tokens.select(pl.col("token").unique().sort()).filter(pl.col("token") != ANY)
    known = texts.select(
        kind=_kind(pl.col("token")),
        name_follows=pl.col("token").str.to_lowercase().is_in(sorted(_NAME_FOLLOWS)),
        is_success=pl.col("token").str.contains(_SUCCESS),
    )
    no_text = np.zeros(_FIRST_TEXT, np.bool_)
    coded = tokens.join(
        texts.with_row_index("code", offset=_FIRST_TEXT), on="token", how="left", maintain_order="left"
    ).with_columns(pl.col("code").cast(pl.Int64).fill_null(VARIED))
    return coded, Tokens(
        kind=np.concatenate([[MARKS, VARIED_PLACES, PLACEHOLDERS_ONLY], known["kind"].to_numpy()]),
        name_follows=np.concatenate([no_text, known["name_follows"].to_numpy()]),
        is_success=np.concatenate([no_text, known["is_success"].to_numpy()]),
    )
