"""What a language model said of pairs of memories, put in place of what the rules say of the same pairs."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.observations.groups import StatementPair
from slowwave.transforms.observations.pairs.conflicts import conflicts
from slowwave.transforms.observations.pairs.reading import reading
from slowwave.transforms.observations.pairs.relation import NOTHING, Relation
from slowwave.transforms.observations.tables import Observations

_RELATIONS = {
    "same_fact": Relation("same_fact", "the same fact, says the language model"),
    "supersedes": Relation("supersedes", "it replaces this, says the language model"),
}


def related_pairs(
    pairs: list[StatementPair], answered: pl.DataFrame, memories: pl.DataFrame, statements: pl.DataFrame
) -> list[StatementPair]:
    """`pairs` with what was answered about two statements in place of the rules' relation, sorted.

    A pair that was shown and not named is unrelated, but stays at odds where the rules found it so: that is for people
    to settle. What keeps facts apart (numbers, names, negation) does so whatever was answered.

    Args:
        pairs: what the rules found (see `statement_pairs`).
        answered: memory_id, other_id, relation (see `answered_pairs`).
        memories: the active memories: memory_id, project, scope, normal.
        statements: what they say: statement, project, scope, normal, content, last_at.
    """
    if answered.is_empty():
        return pairs
    said = memories.select("memory_id", "project", "scope", "normal").join(
        statements.select("statement", "project", "scope", "normal", "last_at"), on=["project", "scope", "normal"]
    )
    others = said.select(
        pl.col("memory_id").alias("other_id"),
        pl.col("statement").alias("other"),
        pl.col("last_at").alias("other_at"),
        "project",
        "scope",
    )
    rows = (
        answered.join(said, on="memory_id", how="inner")
        .join(others, on=["other_id", "project", "scope"], how="inner")
        .filter(pl.col("statement") != pl.col("other"))
        .sort("last_at", "memory_id", "other_id")
        .select("statement", "other", "relation", pl.col("other_at") > pl.col("last_at"))
    )
    contents = dict(statements.select("statement", "content").iter_rows())
    found = {frozenset((pair.earlier, pair.later)): pair for pair in pairs}
    for statement, other, name, is_swapped in rows.iter_rows():
        key = frozenset((statement, other))
        before = found.get(key)
        if name is None:
            if before is not None and before.relation.relation != "contradicts":
                found[key] = before._replace(relation=NOTHING)
            continue
        if name == "same_fact" and conflicts(reading(contents[statement]), reading(contents[other])):
            continue
        # of one fact the statement said last comes last; what replaces another comes last whatever was said again since
        first, last = (statement, other) if is_swapped and name == "same_fact" else (other, statement)
        found[key] = StatementPair(first, last, before.similarity if before else 0, _RELATIONS[name])
    return sorted(found.values())


def observation_methods(observations: pl.DataFrame, answered: pl.DataFrame) -> Frame[Observations]:
    """`observations` with the method of the language model where it was asked about one of its memories."""
    if answered.is_empty():
        return framed(Observations, observations)
    asked = answered.select(pl.col("memory_id"), answered_by="method").unique("memory_id")
    methods = (
        observations.select("observation_id", "memory_ids")
        .explode("memory_ids")
        .join(asked, left_on="memory_ids", right_on="memory_id")
        .unique("observation_id")
        .select("observation_id", "answered_by")
    )
    rows = (
        observations.join(methods, on="observation_id", how="left", maintain_order="left")
        .with_columns(pl.coalesce("answered_by", "method").alias("method"))
        .drop("answered_by")
    )
    return framed(Observations, rows)
