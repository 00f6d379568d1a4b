"""Which statements are worth reading for changes of state: asked of all at once, for reading each takes long."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.observations.states.claims import LONGEST
from slowwave.transforms.observations.states.plain import is_plain
from slowwave.transforms.observations.states.state_words import BESIDE_NUMBERS
from slowwave.transforms.observations.states.ticked import ITEM

# where a word ends is found several times as fast by ASCII
TELLS_ITSELF = (
    r"(?i)(?-u:\b)(?:(?:switch|mov|migrat|chang|upgrad|downgrad|convert|transition|relocat|renam|updat|increas|decreas"
    r"|rais|lower|reduc|modifi|refactor|fix|correct|replac|adjust|rework|simplifi|improv|extend|tighten|widen|relax"
    r"|shorten)ed|bumped|trimmed|dropped|rewrote|cut|grew|shrank|went|rose|fell|instead of|rather than|is now|are now"
    r"|now,? .* (?:is|are)|(?:was|were|used to be) .*now)(?-u:\b)|→|->"
    r"|\((?:was|were|previously|formerly|up from|down from|instead of) "
)
"""Without one of these no statement tells what changed by itself."""

_SECOND_SENTENCE = r"[.!?]\s+\S"
_COUNT = r"^([^;(,\d]*(?-u:\b)\d+ (?:\w+ )?\w+s \w+)(?:\s*[;(,]|\s(?:and|with|but)\s).*$"
_BESIDE = rf"(?-u:\b)(?:{'|'.join(sorted(BESIDE_NUMBERS))})(?-u:\b)"
_FIRST_WORD = (
    r"^\W*(?:(?:the|a|an|our|my|your|his|her|their|this|new|all|now|currently|recently|finally|today)\s+)*(\w+)"
)


def state_candidates(statements: pl.DataFrame) -> pl.DataFrame:
    """The statements of which another of the same scope may tell a later state, and those that tell both themselves.

    Args:
        statements: scope (a number) and content, and what else is to be kept.

    Adds is_numbered: whether another is the same but for its numbers; is_telling: whether it may tell a change by
    itself; is_item: whether it is an item of a list. Two that can have one subject begin with the same word, once
    articles are passed over; two that differ in a number alone are the same without their digits.
    """
    content, lower = pl.col("content"), pl.col("content").str.to_lowercase()
    begins_alike, is_numbered = (
        pl.col(name).is_not_null() & (pl.len().over("scope", name) > 1) for name in ("first_word", "but_digits")
    )
    return (
        statements.filter(content.str.len_chars() <= LONGEST, ~content.str.contains(_SECOND_SENTENCE), is_plain())
        .with_columns(
            lower.str.extract(_FIRST_WORD).alias("first_word"),
            pl.when(content.str.contains(r"\d")).then(_but_digits(lower)).alias("but_digits"),
        )
        .with_columns(
            is_numbered.alias("is_numbered"),
            content.str.contains(TELLS_ITSELF).alias("is_telling"),
            content.str.contains(ITEM).alias("is_item"),
        )
        .filter(pl.any_horizontal(begins_alike, "is_numbered", "is_telling", "is_item"))
        .drop("first_word", "but_digits")
    )


def _but_digits(lower: pl.Expr) -> pl.Expr:
    return lower.str.replace(_COUNT, "$1").str.replace_all(_BESIDE, "").str.replace_all(r"[\W\d_]+", "")
