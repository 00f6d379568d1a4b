"""Which statements in use may be one fact, likeliest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from slowwave.transforms.observations.groups import StatementGroups, StatementPair
from slowwave.transforms.observations.near import NearStatements, merge_likelihood
from slowwave.transforms.observations.pairs.conflicts import conflicts
from slowwave.transforms.observations.pairs.reading import ParsedStatement, reading
from slowwave.transforms.observations.pairs.relation import Relation
from slowwave.transforms.observations.pairs.relations import plain_reading
from slowwave.transforms.observations.params import ObservationParams

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
