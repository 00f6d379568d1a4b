r"""`echo/1`: a response repeats the first 80 code points of a memory it could have used.

The rule is AtoCore's reinforcement v1, made exact: both sides lower-cased (Polars), runs of white space (`\s` of
Rust's regex) to one space, trimmed; the memory's prefix is not trimmed again, and skipped when shorter than 12 code
points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.compiled import is_any_loaded, kernel
from slowwave.transforms.evidence.params import PatternParams

# From this much text on it pays to load what is compiled, which takes half a second; a tenth where others are loaded.
KERNEL_FROM_BYTES = 24 * 2**20
_FURTHER_BYTES = 4 * 2**20
# As much text is searched the plain way while one pattern is put into an automaton.
_BYTES_PER_PATTERN = 1_500
# Scopes share an automaton up to here: beyond 100 patterns the library takes a slower kind of automaton.
_PATTERNS_PER_AUTOMATON = 100


def normalise_text(text: pl.Expr) -> pl.Expr:
    r"""Lower case, runs of white space as one space, trimmed. NULL stays NULL.

    Single spaces, nearly all there is, are not matched at all: replacing `\s+` is ten times slower.
    """
    return text.str.to_lowercase().str.replace_all(r"\s{2,}|[^\S ]", " ").str.strip_chars()


def echo_pattern(content: pl.Expr, params: PatternParams) -> pl.Expr:
    """What to look for: the prefix of the normalised content, NULL when too short, or blank."""
    prefix = normalise_text(content).str.slice(0, params.echo_code_points)
    is_long = prefix.str.len_chars() >= params.echo_min_code_points
    return pl.when(is_long & ~is_blank(prefix)).then(prefix)


def echo_matches(texts: pl.DataFrame, patterns: pl.DataFrame) -> pl.DataFrame:
    """Every text and pattern of its scope that stands in it.

    Args:
        texts: text_id, scope, text (as written; NULL is skipped).
        patterns: pattern_id, scope, pattern (normalised); scope NULL is looked for in every scope.

    Returns:
        text_id, pattern_id: distinct.
    """
    asked = patterns.filter(pl.col("scope").is_null() | pl.col("scope").is_in(texts["scope"].unique().implode()))
    none = pl.DataFrame(schema={"text_id": texts.schema["text_id"], "pattern_id": patterns.schema["pattern_id"]})
    if asked.is_empty():
        return none
    work = texts["text"].str.len_bytes().sum() + _BYTES_PER_PATTERN * asked.height
    least = _FURTHER_BYTES if is_any_loaded() else KERNEL_FROM_BYTES
    compiled = kernel("evidence.echo.echo_kernel") if work >= least else None
    return pl.concat([none, compiled.echo_matches(texts, asked) if compiled else echo_matches_plainly(texts, asked)])


def echo_matches_plainly(texts: pl.DataFrame, patterns: pl.DataFrame) -> pl.DataFrame:
    """The reference of `echo_matches`, for a few texts: by Aho-Corasick automatons that scopes share."""
    texts = texts.drop_nulls("text").with_columns(normalise_text(pl.col("text")))
    shared = patterns.filter(pl.col("scope").is_null())
    plans = []
    for scopes in _scopes_per_automaton(texts, patterns):
        chosen = pl.Series(scopes, dtype=pl.String).implode()
        own = patterns.filter(pl.col("scope").is_in(chosen))
        wanted = sorted({*own["pattern"], *shared["pattern"]})
        if wanted:
            found = pl.col("text").str.extract_many(wanted, overlapping=True)
            matches = (
                texts.lazy()
                .filter(pl.col("scope").is_in(chosen))
                .select("text_id", "scope", found.alias("pattern"))
                .filter(pl.col("pattern").list.len() > 0)
                .explode("pattern", empty_as_null=False)
                .unique()
            )
            plans += [
                matches.join(own.lazy(), on=["scope", "pattern"]).select("text_id", "pattern_id"),
                matches.join(shared.lazy().drop("scope"), on="pattern").select("text_id", "pattern_id"),
            ]
    empty = pl.DataFrame(schema={"text_id": texts.schema["text_id"], "pattern_id": patterns.schema["pattern_id"]})
    return pl.concat([empty, *pl.collect_all(plans)])


def _scopes_per_automaton(texts: pl.DataFrame, patterns: pl.DataFrame) -> list[list[str]]:
    """Scopes that have texts, packed in order so that each pack has few patterns."""
    counts = (
        texts.select("scope")
        .unique()
        .join(patterns.group_by("scope").agg(pl.len().alias("patterns")), on="scope", how="left")
        .sort("scope")
        .with_columns(pl.col("patterns").fill_null(0))
    )
    packs: list[list[str]] = []
    room = 0
    for scope, size in counts.rows():
        if not packs or size > room:
            packs.append([])
            room = _PATTERNS_PER_AUTOMATON
        packs[-1].append(scope)
        room -= size
    return packs


@dataclass(frozen=True)
class Echo:
    """A version of the method: what is looked for of a memory's content, and where such patterns stand in texts.

    `pattern` is like `echo_pattern` (NULL: the memory is not looked for), `matches` like `echo_matches`.
    """

    pattern: Callable[[pl.Expr, PatternParams], pl.Expr]
    matches: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]


ECHO_1 = Echo(echo_pattern, echo_matches)
