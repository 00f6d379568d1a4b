"""Which statements are worth reading for changes of state: asked of all at once, for reading each takes long."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.observations.states.claims import LONGEST
from slowwave.transforms.observations.states.state_words import BESIDE_NUMBERS

# where a word ends is found several times as fast by ASCII
TELLS_ITSELF = (
    r"(?i)(?-u:\b)(?:switched|moved|migrated|changed|upgraded|downgraded|converted|transitioned|relocated|renamed|updated"
    r"|increased|decreased|raised|lowered|reduced|bumped|rose|grew|fell|dropped|went|replaced|instead of|rather than"
    r"|is now|are now|now,? .* (?:is|are)|no longer|any ?more|used to|stop\w*|quits?|lost|left|sold)(?-u:\b)"
)
"""Without one of these no statement tells what changed by itself."""

_COUNTS = (
    r"(?i)(?-u:\b)(?:his|her|their|my|our) (?:\d|two|three|four|five|six|seven|eight|nine|ten)"
    r"|(?-u:\b)a (?:second|third|fourth|fifth|sixth)(?-u:\b)"
)
"""Without one of these no statement tells beside how many of a thing somebody has."""
_TELLS_A_PLAN = (
    r"(?i)(?-u:\b)(?:will|would|going|upcoming|future|potential|possible|soon|next|have to|has to|book(?:s|ed|ing)?"
    r"|tickets?|flight|work(?:s|ed|ing)? on|start\w*|beg[aiu]n\w*|continu\w*|keeps?|resum\w*"
    r"|(?:is|are|am|was|were|been|be) \w+ing"
    r"|(?:plan|inten|hop|wish|aim|aspir|want|dream|consider|prepar|schedul|promis|seek|anticipat|contemplat|propos"
    r"|think|look|excit|stoke|thrill|pump|eager|keen|ready|interest|invit|regist|enrol|sign|try|trie|expect|wait|appl"
    r"|pick|select|choos|chose|agree|need|decid|determin|curious|train|sav|ask|search|hunt|shop"
    r"|gear|organi|arrang|practic|goal|ambition|mission)\w*|about to|can(?:no|['’])t wait)(?-u:\b)"
)
"""Without one of these a statement tells of nothing that is to be, or under way."""

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
    itself, or beside how many of a thing there are; is_plan: whether it may tell of what is to be. Two that can have
    one subject begin with the same word, once articles are passed over; two that differ in a number alone are the same
    without their digits.
    """
    content, lower = pl.col("content"), pl.col("content").str.to_lowercase()
    begins_alike, is_numbered = (
        pl.col(name).is_not_null() & (pl.len().over("scope", name) > 1) for name in ("first_word", "but_digits")
    )
    return (
        statements.filter(content.str.len_chars() <= LONGEST, ~content.str.contains(_SECOND_SENTENCE))
        .with_columns(
            lower.str.extract(_FIRST_WORD).alias("first_word"),
            pl.when(content.str.contains(r"\d")).then(_but_digits(lower)).alias("but_digits"),
        )
        .with_columns(is_numbered.alias("is_numbered"), content.str.contains(TELLS_ITSELF).alias("is_telling"))
        .filter(pl.any_horizontal(begins_alike, "is_numbered", "is_telling"))
        .drop("first_word", "but_digits")
        .with_columns(
            (pl.col("is_telling") | content.str.contains(_COUNTS)).alias("is_telling"),
            content.str.contains(_TELLS_A_PLAN).alias("is_plan"),
        )
    )


def _but_digits(lower: pl.Expr) -> pl.Expr:
    return lower.str.replace(_COUNT, "$1").str.replace_all(_BESIDE, "").str.replace_all(r"[\W\d_]+", "")
