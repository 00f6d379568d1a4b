r"""What speaks for and against a statement of an answer as something to remember.

Wording tells a rule that stands by itself from talk, guesses, remarks on a change at hand, and pieces of a page.
Each sign weighs a whole number, so that a person can add up why one candidate stands before another.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.carried import taken_over, with_made_of
from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.decisions.review.tables import StatementSigns
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.language.word_runs import with_edges


class _Sign(NamedTuple):
    """A pattern of a statement's text (Rust regex), what it weighs, and how it is said; '' is not said."""

    weight: int
    pattern: str
    said: str
    unless: str | None = None

    def holds(self) -> pl.Expr:
        """Whether the text shows it, and not what takes it back."""
        shown = pl.col("text").str.contains(with_edges(self.pattern))
        return shown if self.unless is None else shown & ~pl.col("text").str.contains(with_edges(self.unless))


_START = r"^[\W_]*"
_POINTING = (
    "it|its|they|them|their|this|that|that's|these|those|he|she|him|her|such|which|both|there|here|then|same|whatever"
)
_REMARK = (
    "but|so|now|also|and|or|because|since|however|although|though|while|note|actually|unfortunately|okay|ok|well"
    "|anyway|alternatively|part \\d+|low priority|rationale|reason|agreed|maybe|perhaps|as|for example"
    "|e\\.g|i\\.e|minor|nit|suggested|suggestion|one wrinkle|to actually|to keep"
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
    r"\bmust (?:already|somehow|have|be (?:an?|in|some|elsewhere|the|because|due|something|somewhere|that|why|how)"
    r"|handle this|remind|love|know|mean)\b|\b(?:issue|problem|bug|error|cause) must be\b|\bthat means\b"
    r"|^\W*must be an?\b|\bmust (?:lie|stem)\b|\bmust (?:[a-z]+ ){0,3}(?:elsewhere|somewhere|something)\b"
    r"|\bsomething(?: else)? must\b|\bmust be (?:old|wrong|broken|stale|missing|cached|outdated|different)\b"
)

_RULE = (
    r"(?i)\b(?:must|shall) (?:not|never|always|only)\b|\bnever\b|\balways\b"
    r"|^\W*(?:do not|don['’]t|no|keep|prefer|preserve|use|avoid)\b"
)
_OF_ALL = (
    r"(?i)^[\W_]*(?:all|every|each|any|the (?:user|team|project|api|server|client|agent|test|app)\w*|tests|users)\b"
)
_NAMED = r"^[\W_]*(?:\p{Lu}?[\w`./:'’-]+ ){1,5}(?:must|shall|prefers?)\b|^(?i:we|the team) (?:have |has )?decided\b"
_CONDITION = r"(?i)^[\W_]*(?:if|when|once)\b"
# What a task's page lists: what is to be built, its headings, its options, its cases, its checks.
_STEP = (
    r"(?i)^\W*(?:implement|create|define|modify|extract|integrate|register|enhance|refactor|identify|consider|look up"
    r"|delete|move|rename|convert|introduce|extend|set up|write|document|prompt|parse|assign|build on|verify"
    r"|check|validate|test (?:the|that|all|each))\b"
)
_VAGUE = r"(?i)^\W*(?:ensure|support|provide|handle|allow|return|include|display|show|maintain|make|apply)\b"
_DONE = (
    r"(?i)^\W*(?:successfully )?(?:added|fixed|improved|enhanced|maintained|preserved|followed|implemented|leveraged"
    r"|utili[sz]ed|integrated|updated|created|removed|refactored|ensured|kept|extended|verified|tested|cleaned|built)\b"
)
_HEADING = r"^\W*\p{Lu}[\w/-]*(?: (?:\p{Lu}[\w/-]*|of|for|and|per|in|the|to|with|an?|&)){0,6}\W*$"
_THING = (
    r"(?i)^\W*(?:(?:[a-z-]+ ){0,2}(?:handling|tests?|testing|examples?|instructions) (?:for|of|with)\b"
    r"|an? [\w ]{1,30}:|[a-z]+ing (?:an?|the|with|from)\b)"
)
_OPTION = r"^[\s`*_]*--?[a-z][\w-]*"
_CASE = (
    r"(?i)^\W*(?:no \w+ (?:is|are|was|were|found|exists?|given|provided)\b|non-existent\b|multiple \w+ exist\b"
    r"|(?:\w+ ){1,3}not found\W*$|(?:[\w-]+ ){1,4}(?:issues?|failures?|errors?)\W*$)"
)
_CHECK = (
    r"(?i)^\W*all (?:\w+ ){0,2}tests pass\b|^\W*(?:documentation|help text)(?: \w+){0,4} (?:is|are|reflects?)\b"
    r"|\b(?:properly|correctly|successfully|as expected|exactly as before)\b"
)
_MODAL = r"(?i)\b(?:must|shall|should|is|are|will|may|can|decided|prefers?)\b"
_RETOLD = (
    r"(?i)^\W*(?:explicitly |clearly )?(?:emphasi[sz]es|states|clarifies|explains|describes|outlines|covers|mentions"
    r"|adds|removes|shows|displays|maintains|includes|provides|ensures|creates|updates|returns|handles|supports|uses)\b"
    r"|\b(?:steps?|things?|items?|points?|statements?|parts?) that (?:must|shall)\b"
)
_OUTPUT = (
    r"\b\d+:\d+:? +(?i:error|warning)\b|^\W*(?:\w*(?:Error|Exception)|ERROR|Warning|WARNING|Fatal|fatal)(?: [\w ]*)?:"
    r"|\w@[\w.-]+[: ][^\s]+ ?[%$#] |(?:(?:^|\W)d|\w-)(?:[r-][w-][x-]){3}"
)
_GREETING = r"(?i)^\W*(?:hi|hello|hey|thanks|thank you|sure|welcome|good (?:morning|evening)|congrat\w*|sorry)\b"
_OCCASION = (
    r"(?i)\bthis (?:binary|pr|file|commit|task|plan|session|change|issue|line|page|test|validation|error|module"
    r"|process|approach|option|feature|section|step)\b|\bthe new (?:option|command|flag|feature|method|field)\b"
    r"|\b(?:pr|issue) ?#\d|(?:^|[^\w&])#\d+\b|\blines? \d|:\d{2,}\b|\b\d{2,}→|\btoday\b|\byesterday\b|\btomorrow\b"
    r"|\bjust now\b|\bin this (?:task|pr|plan)\b"
)
_PLACE = r"(?:^|[\s`(])(?:/(?:home|Users|tmp|var|private|root|mnt)/|[A-Za-z]:\\|~/)"
_PIECE = r"[✅❌⚠❓❗🎉👍🚀➡→←↑↓]|\\n|</|^\d+[.):]?\s|\*\*\s*[—:–-]|^[^\s(]+\*\*"
_CUT = (
    r"(?i)\b(?:a|an|the|in|of|to|and|or|with|for|by|is|be|that)$"
    r"|\b(?:copyright|warranty|liab\w+|permission notice|license)\b|(?-i:[A-Z]{2,} [A-Z]{2,} [A-Z]{2,})"
)
SIGNS = (
    _Sign(3, _RULE, "a standing rule", rf"{_CASE}|^\W*no,"),
    _Sign(2, _OF_ALL, "a general subject (every, the user, the API)"),
    _Sign(1, _NAMED, ""),
    _Sign(-5, r"[?\uff1f]", "asks"),
    _Sign(-5, _GREETING, "greets"),
    _Sign(-4, rf"(?i)(?:^|[^\w`'’])(?:{_TALK})(?:[^\w'’.]|\.\W|\.?$)", "talks about the speakers"),
    _Sign(-4, rf"(?i)\b(?:{_FEELING})\b", "chats"),
    _Sign(-4, rf"(?i){_GUESS}", "guesses"),
    _Sign(-3, rf"(?i){_START}(?:{_POINTING})\b", "points back to what was said before"),
    _Sign(-3, rf"(?i){_START}(?:(?:{_REMARK})\b|(?:yes|no),)", "a remark on something at hand"),
    _Sign(-1, _CONDITION, ""),
    _Sign(-3, _STEP, "a step of a task"),
    _Sign(-2, _VAGUE, ""),
    _Sign(-3, _DONE, "reports what was done"),
    _Sign(-3, _HEADING, "a heading"),
    _Sign(-3, _THING, "names a thing and says nothing of it", _MODAL),
    _Sign(-3, _OPTION, "explains an option"),
    _Sign(-3, _CASE, "a case, not what is to be done"),
    _Sign(-3, _CHECK, "a check", r"(?i)\b(?:must|shall|should|never|always)\b"),
    _Sign(-3, _RETOLD, "retells a text"),
    _Sign(-5, _OUTPUT, "what a program printed"),
    _Sign(-3, _OCCASION, "about one occasion"),
    _Sign(-3, _PLACE, "names a place of one machine"),
    _Sign(-3, _PIECE, "a piece of a page"),
    _Sign(-3, _CUT, "cut off or boilerplate"),
    _Sign(-1, r"!", ""),
    _Sign(-1, r"\w[\w./-]*/[\w.-]+\.\w", ""),
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
# Read off the text with the signs: the bit after theirs.
_IS_ODD_SIZE = 2 ** len(SIGNS)
_LOOKED_FOR = digest(
    [*(part for sign in SIGNS for part in (sign.pattern, str(sign.unless))), f"{_FEW_WORDS} to {_MANY_WORDS} words"]
)
_MOST_SESSIONS = 4
_READ = choose_columns(
    ExtractedStatements,
    *("interaction_id", "rule", "statement_id", "occurred_at", "project", "memory_type", "text", "in_prompt"),
)
_LANDED = 4


def statement_signs(
    before: Frame[StatementSigns], statements: Lazy[ExtractedStatements], days: Mapping[date, str]
) -> Frame[StatementSigns]:
    """The signs that the texts of statements show: patterns are looked for on days that are new or changed only.

    Args:
        before: such rows, of whatever night.
        statements: extracted_statements of all days, one after the other, with `day`.
        days: by day what its statements are named after.
    """
    made_of = {day.isoformat(): digest([_LOOKED_FOR, name]) for day, name in days.items()}
    kept = taken_over(before, made_of)
    known = set(kept["part"].unique())
    new = [day for day in days if day.isoformat() not in known]
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("day").alias("place")
    told = statements.filter(pl.col("day").is_in(new)).select("day", place, "text").collect()
    found = shown_signs(told).with_columns(part=pl.col("day").cast(pl.String))
    rows = pl.concat(some.select(kept.columns) for some in (kept, with_made_of(found, made_of)))
    return framed(StatementSigns, rows.sort(StatementSigns.key))


def known_signs(statements: Lazy[ExtractedStatements], signs: Frame[StatementSigns]) -> pl.DataFrame:
    """What is read of statements, day after day as their signs come, to find candidates; with the signs they show."""
    return statements.select(_READ).collect().with_columns(signs["signs"])


def _signs() -> pl.Expr:
    words = pl.col("text").str.count_matches(r"\S+")
    is_odd_size = (words < _FEW_WORDS) | (words > _MANY_WORDS)
    bits = [sign.holds().cast(pl.Int64) * 2**at for at, sign in enumerate(SIGNS)]
    return pl.sum_horizontal(*bits, is_odd_size.cast(pl.Int64) * _IS_ODD_SIZE)


def shown_signs(told: pl.DataFrame) -> pl.DataFrame:
    """What is `told` (text) with its `signs`: they are looked for where they are NULL, or no such column is there.

    Where there is nothing to look for, patterns are not even read, which takes longest.
    """
    if "signs" not in told.columns:
        told = told.with_columns(pl.lit(None, pl.Int64).alias("signs"))
    new = told.filter(pl.col("signs").is_null()).select("text").unique()
    if new.is_empty():
        return told
    found = told.join(
        new.with_columns(_signs().alias("found")), on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return found.with_columns(pl.coalesce("signs", "found")).drop("found")


def promising_statements(told: pl.DataFrame, landed: pl.Series, ended: pl.DataFrame, least: int) -> pl.DataFrame:
    """The statements that may be candidates for which `least` or more speaks, or say what was landed as one.

    Of those said once it is known what speaks for them before anything else is: most are said once, and few are left.

    Args:
        told: statement_id, interaction_id, rule, text, signs, in_prompt, and more to be kept.
        landed: statement_id of candidates that were landed.
        ended: interaction_id, success: how the latest attempt of interactions ended.
        least: points.
    """
    is_once = ~pl.col("statement_id").is_duplicated() & ~pl.col("statement_id").is_in(landed.implode())
    by_rule = pl.col("rule").replace_strict(_OF_RULES, default=0, return_dtype=pl.Int64)
    points = pl.col("weight of signs") + by_rule + pl.col("weight of size")
    near = (
        _add_wording(shown_signs(told))
        .with_columns(is_once.alias("is once"), points.alias("points"))
        .filter(~pl.col("is once") | (~pl.col("in_prompt") & (pl.col("points") + 1 >= least)))
    )
    is_enough = ~pl.col("is once") | (pl.col("points") >= least)
    open_ones = near.filter(~is_enough)["interaction_id"].unique()  # few: of all others it need not be known
    succeeded = ended.filter(pl.col("interaction_id").is_in(open_ones.implode()), "success")["interaction_id"]
    return near.filter(is_enough | pl.col("interaction_id").is_in(succeeded.implode())).select(told.columns)


def judged_candidates(candidates: pl.DataFrame, least: int) -> pl.DataFrame:
    """Candidates for which `least` or more speaks, with `points` and `wording`.

    Args:
        candidates: text, rules, memory_ids, rank_score (sessions), succeeded_count, failed_count, and more to be kept;
            `signs`, where it is known what their texts show.
        least: points.

    points: what speaks for a candidate less what speaks against it. Besides the wording: the rule that found it, up to
    four sessions in which it was stated and not just repeated, whether attempts behind it succeeded more often than
    failed, and that its owner landed it. wording: see `_words`.
    """
    return (
        _add_wording(shown_signs(candidates))
        .with_columns(_points().alias("points"))
        .filter(pl.col("points") >= least)
        .select(*candidates.columns, "points", "wording")
    )


def _add_wording(shown: pl.DataFrame) -> pl.DataFrame:
    """What shows `signs` with what these weigh, and in words; few sets of signs are shown by many texts."""
    each = [((pl.col("signs") // 2**at) % 2 == 1).alias(_name(sign)) for at, sign in enumerate(SIGNS)]
    weights = [pl.col(_name(sign)).cast(pl.Int64) * sign.weight for sign in SIGNS]
    worded = (
        shown.select(pl.col("signs").unique())
        .with_columns(each)
        .select(
            "signs",
            pl.sum_horizontal(weights).alias("weight of signs"),
            pl.when(pl.col("signs") >= _IS_ODD_SIZE).then(-2).otherwise(0).cast(pl.Int64).alias("weight of size"),
            _words().alias("wording"),
        )
    )
    return shown.join(worded, on="signs", how="left", maintain_order="left")


def _name(sign: _Sign) -> str:
    return f"sign {SIGNS.index(sign)}"


def _points() -> pl.Expr:
    wording = pl.col("weight of signs")
    by_rule = pl.max_horizontal(
        pl.lit(0, dtype=pl.Int64),
        *(pl.col("rules").list.contains(rule).cast(pl.Int64) * weight for rule, weight in _OF_RULES.items()),
    )
    size = pl.col("weight of size")
    # a step or a heading said in ten sessions is one still: they copied the same page
    sessions = pl.when(wording < 0).then(0).otherwise(pl.col("rank_score").clip(1, _MOST_SESSIONS) - 1)
    ended = (pl.col("succeeded_count") > pl.col("failed_count")).cast(pl.Int64)
    is_landed = pl.col("memory_ids").list.len() > 0
    return pl.when(is_landed).then(_LANDED + sessions + ended).otherwise(wording + by_rule + size + sessions + ended)


def _words() -> pl.Expr:
    """What of a candidate's wording speaks for and against it, '' where nothing does: "; for it: …; against it: …"."""
    parts = [
        pl.concat_list(
            pl.when(_name(sign)).then(pl.lit(sign.said)) for sign in SIGNS if sign.said and (sign.weight > 0) is is_for
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
