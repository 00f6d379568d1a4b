"""Which memories an interaction was given, and which its answer echoes, uses in other words, or names itself."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, conform, selected
from slowwave.transforms.core.methods.registry import implementation
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.echo.echo import Echo
from slowwave.transforms.evidence.params import ReferenceParams
from slowwave.transforms.evidence.reach import BOUND, is_reached
from slowwave.transforms.evidence.tables import MemoryReferences, PublishedReferences
from slowwave.transforms.evidence.used.memories import STEPS

_ANSWERS = {"response": 1, "response_summary": 2}
_WHERE = {1: "response", 2: "summary", 3: "both"}


def is_reference() -> pl.Expr:
    """Evidence rows whose answer echoes or uses the memory."""
    return pl.col("is_echoed") | pl.col("is_used")


def memory_references(
    interactions: pl.DataFrame,
    pool: pl.DataFrame,
    used: pl.DataFrame,
    params: ReferenceParams,
    echoed_before: pl.DataFrame | None = None,
) -> Frame[MemoryReferences]:
    """Evidence rows of a set of interactions, one per (memory_id, interaction_id), sorted by key.

    Args:
        interactions: interaction_id, occurred_at, project, agent, session_id, user_id, prompt, response,
            response_summary, memories_used, memories_cited, reinforce; one row per interaction_id.
        pool: memory_id, is_global, project, only_agent, only_user, pattern, valid_from, valid_until.
        used: of `used_memories_by_day`; pairs without a method are not sure enough.
        params: names and bounds of the methods.
        echoed_before: pairs that were echoed in texts which have gone since (see `kept.echoed_before`).
    """
    echoed = _quoted_pairs(interactions, pool, implementation(params.echo_method))
    if echoed_before is not None:
        echoed = pl.concat([echoed, echoed_before.lazy()])
    injected, cited = listed_pairs(interactions, "memories_used"), listed_pairs(interactions, "memories_cited")
    pair = ["interaction_id", "memory_id"]
    # Polars divides one row, and many rows, with another last bit: rounded, both are the nearest number
    sure = used.lazy().filter(pl.col("used_method").is_not_null())
    scored = sure.with_columns((pl.col("used_score") / STEPS).round(4))
    found = (
        injected.with_columns(is_injected=True)
        .join(echoed, on=pair, how="full", coalesce=True)
        .join(scored, on=pair, how="full", coalesce=True)
        .join(cited.with_columns(is_cited=True), on=pair, how="full", coalesce=True)
        .with_columns(
            pl.col("is_injected", "is_cited").fill_null(value=False),
            pl.col("echoed_in").is_not_null().alias("is_echoed"),
            pl.col("used_score").is_not_null().alias("is_used"),
        )
    )
    methods = pl.concat_list(
        pl.when("is_injected").then(pl.lit(params.injected_method)),
        pl.when("is_echoed").then(pl.lit(params.echo_method)),
        pl.col("used_method"),
        pl.when("is_cited").then(pl.lit(params.cited_method)),
    ).list.drop_nulls()
    of_both = [name for name in polars_schema(MemoryReferences) if name in interactions.columns]
    about = interactions.lazy().select(of_both)
    rows = found.with_columns(methods.alias("methods")).join(about, on="interaction_id")
    return conform(MemoryReferences, rows).sort(MemoryReferences.key).collect()


def listed_pairs(interactions: pl.DataFrame, name: str) -> pl.LazyFrame:
    """interaction_id, memory_id of the memories that interactions list themselves, known or not, each once."""
    listed = interactions.lazy().select("interaction_id", pl.col(name).alias("memory_id"))
    return listed.explode("memory_id").drop_nulls("memory_id").unique()


def _quoted_pairs(interactions: pl.DataFrame, pool: pl.DataFrame, echo: Echo) -> pl.LazyFrame:
    """interaction_id, memory_id, echoed_in, in_prompt of the pairs that `echo` finds."""
    reinforcing = interactions.filter("reinforce").with_row_index("row")
    scope = pl.when(~pl.col("is_global")).then("project")
    searched = pool.lazy().filter(pl.col("pattern").is_not_null()).with_columns(scope.alias("scope"))
    patterns = searched.select("scope", "pattern").unique().with_row_index("pattern_id").collect()
    texts = pl.concat([_texts(reinforcing.lazy(), name, bit) for name, bit in _ANSWERS.items()]).collect()
    matches = (
        echo.matches(texts, patterns)
        .lazy()
        .group_by((pl.col("text_id") // 4).alias("row"), "pattern_id")
        .agg((pl.col("text_id") % 4).sum().alias("where"))
        .collect()
    )
    found = patterns.join(matches, on="pattern_id", how="semi")
    memories = searched.join(found.lazy(), on=["scope", "pattern"], nulls_equal=True)
    eligible = (
        matches.lazy()
        .join(memories.select("pattern_id", "memory_id", *BOUND, "valid_from", "valid_until"), on="pattern_id")
        .join(reinforcing.lazy().select("row", "interaction_id", "occurred_at", "agent", "user_id"), on="row")
        .filter(
            is_reached(),
            pl.col("valid_from") <= pl.col("occurred_at"),
            pl.col("valid_until").is_null() | (pl.col("occurred_at") < pl.col("valid_until")),
        )
        .unique(["row", "memory_id"])
        .collect()
    )
    echoing = reinforcing.lazy().join(eligible.lazy().select("row"), on="row", how="semi")
    parroted = echo.matches(_texts(echoing, "prompt", 0).collect(), found).lazy()
    parroted = parroted.select((pl.col("text_id") // 4).alias("row"), "pattern_id", in_prompt=True)
    return (
        eligible.lazy()
        .join(parroted, on=["row", "pattern_id"], how="left")
        .select(
            "interaction_id",
            "memory_id",
            pl.col("where").replace_strict(_WHERE, return_dtype=pl.String).alias("echoed_in"),
            pl.col("in_prompt").fill_null(value=False),
        )
    )


def _texts(interactions: pl.LazyFrame, name: str, bit: int) -> pl.LazyFrame:
    """One text of each interaction, as `echo_matches` takes them."""
    return interactions.select(
        (pl.col("row") * 4 + bit).alias("text_id"), pl.col("project").alias("scope"), pl.col(name).alias("text")
    )


def published_references(references: Lazy[MemoryReferences]) -> Lazy[PublishedReferences]:
    """memory_references as they are published: all that was found, of all days."""
    return selected(PublishedReferences, references)
