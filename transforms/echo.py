r"""`echo/1`: a response repeats the first 80 code points of a memory it could have used.

The rule is AtoCore's reinforcement v1, made exact: both sides lower-cased (Polars), runs of white space (`\s` of
Rust's regex) to one space, trimmed; the memory's prefix is not trimmed again, and skipped when shorter than 12 code
points.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.params import EvidenceParams

# Scopes share an automaton up to here: beyond 100 patterns the library takes a slower kind of automaton.
_PATTERNS_PER_AUTOMATON = 100


def normalised(text: pl.Expr) -> pl.Expr:
    r"""Lower case, runs of white space as one space, trimmed. NULL stays NULL.

    Single spaces, nearly all there is, are not matched at all: replacing `\s+` is ten times slower.
    """
    return text.str.to_lowercase().str.replace_all(r"\s{2,}|[^\S ]", " ").str.strip_chars()


def echo_pattern(content: pl.Expr, params: EvidenceParams) -> pl.Expr:
    """What to look for: the prefix of the normalised content, NULL when too short."""
    prefix = normalised(content).str.slice(0, params.echo_code_points)
    return pl.when(prefix.str.len_chars() >= params.echo_min_code_points).then(prefix)


def echo_matches(texts: pl.DataFrame, patterns: pl.DataFrame) -> pl.DataFrame:
    """Every (text_id, pattern) where the pattern stands in the text.

    Args:
        texts: text_id, scope, text (normalised; NULL is skipped).
        patterns: scope, pattern (normalised); scope NULL is looked for in every scope.

    Returns:
        text_id, pattern: distinct. Texts share an automaton with other scopes, so a match may lie outside the text's
        scope; whoever asks filters by scope and time.
    """
    shared = patterns.filter(pl.col("scope").is_null())["pattern"].unique().to_list()
    plans = []
    for scopes in _scopes_per_automaton(texts, patterns):
        chosen = pl.Series(scopes, dtype=pl.String).implode()
        own = patterns.filter(pl.col("scope").is_in(chosen))["pattern"].unique().to_list()
        wanted = sorted({*own, *shared})
        if wanted:
            found = pl.col("text").str.extract_many(wanted, overlapping=True)
            plans.append(
                texts.lazy()
                .filter(pl.col("scope").is_in(chosen), pl.col("text").is_not_null())
                .select("text_id", found.alias("pattern"))
                .filter(pl.col("pattern").list.len() > 0)
                .explode("pattern", empty_as_null=False)
                .unique()
            )
    empty = pl.DataFrame(schema={"text_id": texts.schema["text_id"], "pattern": pl.String})
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
