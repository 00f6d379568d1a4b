r"""What speaks for and against a statement of an answer as something to remember: `review_queue/3`.

Wording tells a rule that stands by itself from talk, guesses, remarks on a change at hand, and pieces of a page.
Each sign weighs a whole number, so that a person can add up why one candidate stands before another.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl


class _Sign(NamedTuple):
    """A pattern of a statement's text (Rust regex), what it weighs, and how it is said; '' is not said."""

    weight: int
    pattern: str
    said: str


_START = r"^[\W_]*"
_POINTING = "it|its|they|them|their|this|that|that's|these|those|he|she|him|her|such|which|both|there|here|then|same"
_REMARK = (
    "but|so|now|also|and|or|because|since|however|although|though|while|note|actually|unfortunately|okay|ok|well"
    "|anyway|alternatively|part \\d+|low priority|if|when|once|rationale|reason|agreed|maybe|perhaps|as|for example"
    "|e\\.g|i\\.e|yes|no,|minor|nit|suggested|suggestion|one wrinkle|to actually|to keep"
    "|add|fix|change|tighten|update|address|remove"
)
_TALK = (
    r"i|i'm|i’m|i'll|i’ll|i've|i’ve|i'd|i’d|me|my|let me|let's|let’s|if you|would you|do you|you may|you might"
    r"|your preferred|let me know|please confirm|by the way"
)
_FEELING = (
    "so much|such an?|awesome|amazing|unreal|lovely|fun|wonderful|fantastic|excited|excit\\w+|love|loves|loved|feel\\w*"
    "|rewarding|cheer|happy|delicious|cute|imagine|unique experience|memories|frustrating|together|cool|great|weekend"
)
_GUESS = (
    r"\bmust (?:already|somehow|have|be (?:an?|in|some|elsewhere|the|because|due|something|somewhere|that|why|how)\b"
    r"|handle this|remind|love|know|mean)\b|\b(?:issue|problem|bug|error|cause) must be\b|\bthat means\b"
    r"|^\W*must be an?\b"
)

_RULE = (
    r"(?i)\b(?:must|shall) (?:not|never|always|only)\b|\bnever\b|\balways\b"
    r"|^\W*(?:do not|don['’]t|no|keep|prefer|preserve|use|avoid)\b"
)
_OF_ALL = (
    r"(?i)^[\W_]*(?:all|every|each|any|the (?:user|team|project|api|server|client|agent|test|app)\w*|tests|users)\b"
)
_NAMED = r"^[\W_]*(?:\p{Lu}?[\w`./:-]+ ){1,5}(?:must|shall|prefers?)\b|^(?i:we|the team) (?:have |has )?decided\b"
_GREETING = r"(?i)^\W*(?:hi|hello|hey|thanks|thank you|sure|welcome|good (?:morning|evening)|congrat\w*|sorry)\b"
_OCCASION = (
    r"(?i)\bthis (?:binary|pr|file|commit|task|plan|session|change|issue|line|page|test|validation|error|module)\b"
    r"|\b(?:pr|issue) ?#\d|(?:^|[^\w&])#\d+\b|\blines? \d|:\d{2,}\b|\b\d{2,}→|\btoday\b|\byesterday\b|\btomorrow\b"
    r"|\bjust now\b|\bin this (?:task|pr|plan)\b"
)
_PLACE = r"(?:^|[\s`(])(?:/(?:home|Users|tmp|var|private|root|mnt)/|[A-Za-z]:\\|~/)"
_PIECE = r"[✅❌⚠❓❗🎉👍🚀➡→←↑↓]|\\n|</|^\d+[.):]?\s|\*\*\s*[—:–-]|^[^\s(]+\*\*"
_CUT = (
    r"(?i)\b(?:a|an|the|in|of|to|and|or|with|for|by|is|be|that)$"
    r"|\b(?:copyright|warranty|liab\w+|permission notice|license)\b|(?-i:[A-Z]{2,} [A-Z]{2,} [A-Z]{2,})"
)
_SIGNS = (
    _Sign(3, _RULE, "a standing rule"),
    _Sign(2, _OF_ALL, "says of all"),
    _Sign(1, _NAMED, ""),
    _Sign(-5, r"[?\uff1f]", "asks"),
    _Sign(-5, _GREETING, "greets"),
    _Sign(-4, rf"(?i)(?:^|[^\w`'’])(?:{_TALK})(?:[^\w'’]|$)", "talks about the speakers"),
    _Sign(-4, rf"(?i)\b(?:{_FEELING})\b", "chats"),
    _Sign(-4, rf"(?i){_GUESS}", "guesses"),
    _Sign(-3, rf"(?i){_START}(?:{_POINTING})\b", "points back to what was said before"),
    _Sign(-3, rf"(?i){_START}(?:{_REMARK})\b", "a remark on something at hand"),
    _Sign(-3, _OCCASION, "about one occasion"),
    _Sign(-3, _PLACE, "names a place of one machine"),
    _Sign(-3, _PIECE, "a piece of a page"),
    _Sign(-3, _CUT, "cut off or boilerplate"),
    _Sign(-1, r"!", ""),
    _Sign(-1, r"\b(?:[\w./-]+/[\w.-]+\.\w{1,4}(?::\d+)?)", ""),
)
_OF_RULES = {
    "decision_heading": 4,
    "constraint_heading": 4,
    "requirement_heading": 3,
    "fact_heading": 3,
    "decided_to_sentence": 1,
    "requirement_sentence": 1,
    "preference_sentence": 0,
}
_FEW_WORDS, _MANY_WORDS = 4, 40
_MOST_SESSIONS = 4
_LANDED = 4


def candidate_points() -> pl.Expr:
    """What speaks for a candidate less what speaks against it, from text, rules, memory_ids, sessions and outcomes.

    Besides the wording: the rule that found it, up to four sessions in which it was stated and not just repeated,
    whether attempts behind it succeeded more often than failed, and that its owner landed it.
    """
    wording = pl.sum_horizontal(
        pl.col("text").str.contains(sign.pattern).cast(pl.Int64) * sign.weight for sign in _SIGNS
    )
    by_rule = pl.max_horizontal(
        pl.lit(0, dtype=pl.Int64),
        *(pl.col("rules").list.contains(rule).cast(pl.Int64) * weight for rule, weight in _OF_RULES.items()),
    )
    words = pl.col("text").str.count_matches(r"\S+").cast(pl.Int64)
    size = pl.when(words < _FEW_WORDS).then(-2).when(words > _MANY_WORDS).then(-2).otherwise(0).cast(pl.Int64)
    sessions = pl.col("rank_score").clip(1, _MOST_SESSIONS) - 1
    ended = (pl.col("succeeded_count") > pl.col("failed_count")).cast(pl.Int64)
    is_landed = pl.col("memory_ids").list.len() > 0
    return pl.when(is_landed).then(_LANDED + sessions + ended).otherwise(wording + by_rule + size + sessions + ended)


def candidate_words() -> pl.Expr:
    """What of a candidate's wording speaks for and against it, '' where nothing does: "; for it: …; against it: …"."""
    parts = [
        pl.concat_list(
            pl.when(pl.col("text").str.contains(sign.pattern)).then(pl.lit(sign.said))
            for sign in _SIGNS
            if sign.said and (sign.weight > 0) is is_for
        )
        .list.drop_nulls()
        .list.join(", ")
        for is_for in (True, False)
    ]
    return pl.concat_str(
        *(
            pl.when(part == "").then(pl.lit("")).otherwise(pl.format(f"; {name} it: {{}}", part))
            for name, part in zip(("for", "against"), parts, strict=True)
        )
    )
