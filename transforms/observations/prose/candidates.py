"""Which statements are worth reading for what prose tells: asked of all at once, for reading each takes long."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.observations.states.claims import LONGEST

TELLS_IN_PROSE = (
    r"(?i)(?-u:\b)(?:now|no longer|(?:has|have) been|(?:travell?ed|flew|drove|returned|came|commuted) (?:back )?from"
    r"|fired|laid off|let go|dismissed|promoted|hired|evicted|expelled|back together|stopped working|broke down"
    r"|fell apart|called off|cancell?ed|postponed|old|previous|former|unused|legacy|duplicated?|obsolete)(?-u:\b)"
    r"|\((?:was|were|previously|formerly|up from|down from) |` (?:→|->) `"
)
"""Without one of these none tells in passing what changed."""
_MEANT = (
    r"(?i)(?-u:\b)(?:let me|let['’]s|i['’]ll|i will|need to|going to|i should|we should|we['’]ll|next step"
    r"|todo)(?-u:\b)"
    r"|^\W*(?:step \d|phase \d|task \d|part \d|before\W{0,3}:|all \d+ |(?:now|next|first|then|also|finally),? [a-z]+ "
    r"|(?:add|creat|implement|introduc|build|remov|delet|fix|resolv|correct|renam|mov|extract|updat|chang|modif"
    r"|replac"
    r"|switch|convert|migrat|rewrit|wir|connect|integrat|merg|register|simplif|upgrad|enabl|disabl|install|refactor"
    r"|document|expos|deploy|configur|apply|writ|adjust|restor|revert|test|mak|us|sett|extend|expand)\w*ing )"
)
"""Where no statement of a scope has one of these, none means to do anything."""
_PLANNED = (
    r"(?i)(?-u:\b)(?:will|going|gonna|wanna|upcoming|soon|next|have to|has to|book(?:s|ed|ing)?|tickets?|about to"
    r"|can(?:no|['’])t wait|(?:is|are|am|was|were|been|be) \w+ing"
    r"|(?:plan|inten|hop|wish|aim|want|dream|consider|prepar|schedul|promis|seek|think|look|excit|invit|regist"
    r"|enrol|sign"
    r"|try|trie|expect|wait|appl|choos|chose|agree|need|decid|train|sav|search|organi|arrang|practic"
    r"|goal)\w*)(?-u:\b)"
)
"""Without one of these a statement tells of nothing that somebody means to do."""
_FELT = (
    r"(?i)(?-u:\b)(?:better|recover\w*|worse|worsen\w*|over (?:it|his|her|their|the)|calmed|relieved|cheered up"
    r"|made up"
    r"|reconciled|solve[ds]?|resolve[ds]?|sort(?:ed|s)? out|happier|calmer|feel\w*|tested negative|return\w*"
    r"|back)(?-u:\b)"
)
"""Without one of these nobody feels otherwise than before."""
_SECOND_SENTENCE = r"[.!?]\s+\S"
_FIRST_WORD = r"(?i)^\W*(?:(?:the|our|my|your|his|her|their)\s+)?(\w+)"


def prose_candidates(statements: pl.DataFrame) -> pl.DataFrame:
    """The statements that may tell a change by themselves, a step of work that was meant or done, or what people did.

    Args:
        statements: scope (a number) and content, and what else is to be kept.

    Adds is_staged (none is), is_told, is_step and is_run (here: what a person meant or did): which of these.
    """
    content = pl.col("content")
    is_meant = content.str.contains(_MEANT).any().over("scope")
    of_one = ("scope", content.str.extract(_FIRST_WORD).str.to_lowercase())
    return (
        statements.filter(
            content.str.len_chars() <= LONGEST,
            ~content.str.contains(_SECOND_SENTENCE),
            ~content.str.ends_with("?"),
            ~content.str.starts_with("|"),
        )
        .with_columns(
            pl.lit(value=False).alias("is_staged"),
            content.str.contains(TELLS_IN_PROSE).alias("is_told"),
            is_meant.alias("is_step"),
            (content.str.contains(f"{_PLANNED}|{_FELT}").any().over(*of_one) & (pl.len().over(*of_one) > 1)).alias(
                "is_run"
            ),
        )
        .filter(pl.any_horizontal("is_told", "is_step", "is_run"))
    )
