"""Which statements in use may be one fact, likeliest first, and what a language model answered of such pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.observations.groups import StatementGroups, StatementPair
from slowwave.transforms.observations.near import NearStatements, merge_likelihood
from slowwave.transforms.observations.pairs.conflicts import conflicts
from slowwave.transforms.observations.pairs.reading import ParsedStatement, reading
from slowwave.transforms.observations.pairs.relation import NOTHING, Relation
from slowwave.transforms.observations.pairs.relations import plain_reading
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.tables import Observations

_SHOWN_WORDS = 6
_APART = frozenset({"supersedes", "contradicts", "may_contradict"})


class _Likely(NamedTuple):
    """A pair of statements that may be one, by number."""

    likelihood: int
    earlier: int
    later: int


def likely_mergers(
    statements: pl.DataFrame,
    near: NearStatements,
    pairs: Sequence[StatementPair],
    found: StatementGroups,
    params: ObservationParams,
) -> list[StatementPair]:
    """The pairs of statements that hold, may be one fact and are not one observation; of each project the likeliest.

    `similarity` is the fitted likelihood that people call the two one, in 1/10,000. What is at odds, replaced or taken
    back, and what differs in a number, an order, a negation or a name against another is not proposed. What the pairs
    call one fact, and no observation has together, stays.

    Args:
        statements: see `distinct_statements`.
        near: those nearly one.
        pairs: those with a relation.
        found: the groups they make.
        params: bounds.
    """
    contents, projects = (statements[name].to_list() for name in ("content", "project"))
    scopes = statements["scope"].to_list()
    told = {frozenset((pair.earlier, pair.later)): pair.relation.relation for pair in pairs}
    heads, replaced = found.representative, found.successor
    likely: dict[str, list[_Likely]] = {}
    for one, other, logit in zip(near.left.tolist(), near.right.tolist(), near.logits.tolist(), strict=True):
        a, b = min(one, other), max(one, other)
        both = frozenset((a, b))
        if heads[a] == heads[b] or told.get(both, "") in _APART or not found.silent.isdisjoint(both):
            continue
        if replaced[heads[a]] >= 0 or replaced[heads[b]] >= 0:
            continue
        likelihood = merge_likelihood(logit, conflicts(plain_reading(contents[a]), plain_reading(contents[b])))
        if likelihood >= round(params.merge_likelihood * 10_000):
            likely.setdefault(projects[a], []).append(_Likely(likelihood, a, b))
    chosen = [pair for pair in found.proposals if pair.relation.relation == "same_fact"]
    known = {frozenset((pair.earlier, pair.later)) for pair in chosen}
    for project in sorted(likely):
        ranked = sorted(set(likely[project]), key=lambda pair: (-pair.likelihood, pair.earlier, pair.later))
        for likelihood, a, b in ranked[: params.most_proposals]:
            if frozenset((a, b)) in known:
                continue
            said = _differing(reading(contents[a]), reading(contents[b]), across=scopes[a] != scopes[b])
            chosen.append(StatementPair(a, b, likelihood, Relation("may_be_one", said)))
    return chosen


def _differing(earlier: ParsedStatement, later: ParsedStatement, *, across: bool) -> str:
    """What only one of them says, in words."""
    mine, other = (
        list(dict.fromkeys(one.as_written(word) for word in one.content if word not in another.content))
        for one, another in ((earlier, later), (later, earlier))
    )
    types = "their memory types differ; " if across else ""
    if mine and other:
        return f"{types}one says {_join_words(mine)}, the other {_join_words(other)}"
    if mine or other:
        return f"{types}one has more words: {_join_words(mine or other)}"
    return f"{types}the same content words"


def _join_words(words: Sequence[str]) -> str:
    left = len(words) - _SHOWN_WORDS
    return ", ".join(words[:_SHOWN_WORDS]) + (f" and {left:,} more" if left > 0 else "")


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
