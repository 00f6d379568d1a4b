"""Which statements are worth reading for changes of state: asked of all at once, for reading each takes long."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.state_claims import LONGEST

TELLS_ITSELF = (
    r"(?i)\b(?:switched|moved|migrated|changed|upgraded|downgraded|converted|transitioned|relocated|renamed|updated"
    r"|increased|decreased|raised|lowered|reduced|bumped|rose|grew|fell|dropped|went|replaced|instead of|rather than"
    r"|is now|no longer|any ?more|used to|stop\w*|quits?)\b"
)
"""Without one of these no statement tells what changed by itself."""

_SECOND_SENTENCE = r"[.!?]\s+\S"
_FIRST_WORD = (
    r"^\W*(?:(?:the|a|an|our|my|your|his|her|their|this|new|all|now|currently|recently|finally|today)\s+)*(\w+)"
)


def state_candidates(statements: pl.DataFrame) -> pl.DataFrame:
    """The statements of which another of the same scope may tell a later state, and those that tell both themselves.

    Args:
        statements: scope (a number) and content, and what else is to be kept.

    Adds is_numbered: whether another is the same but for its numbers. Two that can have one subject begin with the same
    word, once articles are passed over; two that differ in a number alone are the same without their digits.
    """
    content, lower = pl.col("content"), pl.col("content").str.to_lowercase()
    begins_alike, is_numbered = (
        pl.col(name).is_not_null() & (pl.len().over("scope", name) > 1) for name in ("first_word", "but_digits")
    )
    return (
        statements.filter(content.str.len_chars() <= LONGEST, ~content.str.contains(_SECOND_SENTENCE))
        .with_columns(
            lower.str.extract(_FIRST_WORD).alias("first_word"),
            pl.when(content.str.contains(r"\d")).then(lower.str.replace_all(r"[\W\d_]+", "")).alias("but_digits"),
        )
        .with_columns(is_numbered.alias("is_numbered"))
        .filter(pl.any_horizontal(begins_alike, "is_numbered", content.str.contains(TELLS_ITSELF)))
        .drop("first_word", "but_digits")
    )
