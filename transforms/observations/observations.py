"""Observations: the facts that the active memories state, with their proof; and what people should settle about them.

Everything is a pure function of the memory log as of a time and of memory_health: what is no longer active leaves
nothing behind, and no count is kept that a replay could raise.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.frames import Frame, empty
from slowwave.transforms.core.hashing import digest, digests
from slowwave.transforms.core.schema import choose_columns, polars_schema
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.language.word_vectors import WordVectors
from slowwave.transforms.observations.answered import related_pairs
from slowwave.transforms.observations.groups import StatementGroups, StatementPair, groups, statement_pairs
from slowwave.transforms.observations.journeys import journeys
from slowwave.transforms.observations.merge_proposals import likely_mergers
from slowwave.transforms.observations.near import NearStatements
from slowwave.transforms.observations.pairs.reading import forget_readings, reading
from slowwave.transforms.observations.pairs.texts import ReadyTexts
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.statements import active_memories, distinct_statements, utterances
from slowwave.transforms.observations.tables import Contradictions, MergeProposals, Observations

_ID_CHARACTERS = 16
_FIXED_POINT = 1_000_000
_OF_RUN = ("run_id", "as_of")
_COUNTS = choose_columns(MemoryHealth, "confirmed_count", "contradicted_count", "reference_count", "injected_count")


class Observed(NamedTuple):
    """The tables of that name, without run_id and as_of, each sorted by its key."""

    observations: pl.DataFrame
    contradictions: pl.DataFrame
    merge_proposals: pl.DataFrame


def observe_memories(
    states: pl.DataFrame,
    health: Frame[MemoryHealth],
    word_vectors: WordVectors,
    as_of: datetime,
    params: ObservationParams,
    answered: pl.DataFrame | None = None,
    ready: ReadyTexts | None = None,
) -> Observed:
    """Observations of the memories active at `as_of`, what contradicts what, and what may be merged.

    Args:
        states: memory states visible at `as_of` (see `memory_states`).
        health: of memory_health: memory_id, confidence, confirmed_count, contradicted_count, reference_count,
            injected_count, last_referenced_at, trend.
        word_vectors: vectors of words.
        as_of: UTC.
        params: thresholds.
        answered: what a language model said of pairs of memories (see `answered_pairs`); None: nothing.
        ready: texts that `curation_decisions` of the same states made ready.

    An observation's text is that of the member most often confirmed; of these, referenced, injected; of these, with
    most content words; of these, said first.
    """
    memories = active_memories(states)
    if memories.is_empty():
        none = (empty(table).drop(_OF_RUN, strict=False) for table in (Observations, Contradictions, MergeProposals))
        return Observed(*none)
    statements = distinct_statements(memories)
    near = NearStatements(statements, params)
    by_rules = statement_pairs(statements, word_vectors, params, near, ready)
    pairs = by_rules if answered is None else related_pairs(by_rules, answered, memories, statements)
    found = groups(statements, pairs)
    found = found._replace(proposals=likely_mergers(statements, near, pairs, found, params))
    every = _place_memories(memories, statements, found, health)
    is_silent = pl.col("statement").is_in(found.silent) | pl.col("end").is_in(found.silent)
    placed = every.filter(~is_silent)
    silent = every.filter(pl.col("statement").is_in(found.silent)).select("statement", "memory_id")
    uttered = utterances(states.join(memories, on="memory_id", how="semi"))
    told = journeys(placed, found, uttered, silent.join(uttered, on="memory_id").select("statement", "said_at"), params)
    rows = _observations(placed, found, told, as_of, params)
    best = _best_memories(placed.filter(pl.col("statement").is_in(_paired_statements(found))))
    forget_readings()  # nobody compares any more
    return Observed(
        rows.select([name for name in polars_schema(Observations) if name not in _OF_RUN]).sort("observation_id"),
        _contradictions([*found.contradictions, *found.doubts], best),
        _merge_proposals(
            placed, found, best, _Methods(params.method, params.curation_method, *_by_model(pairs, by_rules, answered))
        ),
    )


def _paired_statements(found: StatementGroups) -> set[int]:
    """The statements that people are asked about beside another."""
    paired = [*found.contradictions, *found.doubts, *found.proposals]
    return {statement for pair in paired for statement in (pair.earlier, pair.later)}


def _place_memories(
    memories: pl.DataFrame, statements: pl.DataFrame, found: StatementGroups, health: pl.DataFrame
) -> pl.DataFrame:
    """The memories with their statement, its group, the group that holds now, and evidence; the best first."""
    ends = list(range(len(found.successor)))
    for start in ends:
        end = start
        while found.successor[end] >= 0:
            end = found.successor[end]
        ends[start] = end
    heads = found.representative
    said = statements.select(
        "statement",
        "project",
        "scope",
        "normal",
        pl.Series("head", heads, dtype=pl.Int64),
        pl.Series("end", [ends[head] for head in heads], dtype=pl.Int64),
        pl.Series("similarity", found.similarity, dtype=pl.Int64),
    )
    placed = memories.join(said, on=["project", "scope", "normal"])
    # how many words a statement has counts only beside others: most stand alone, and need not be read
    is_compared = (pl.len().over("end") > 1) | pl.col("statement").is_in(_paired_statements(found))
    compared = placed.filter(is_compared)["statement"].unique()
    contents = statements["content"].gather(compared)
    words = pl.Series("words", [len(set(reading(one).content)) for one in contents], dtype=pl.Int64)
    return (
        placed.join(compared.to_frame().with_columns(words), on="statement", how="left")
        .join(health, on="memory_id", how="left")
        .with_columns(pl.col(*_COUNTS, "words").fill_null(0))
        .sort(
            "confirmed_count",
            "reference_count",
            "injected_count",
            "words",
            "said_at",
            "memory_id",
            descending=[True] * 4 + [False] * 2,
        )
    )


def _observations(
    placed: pl.DataFrame, found: StatementGroups, told: pl.DataFrame, as_of: datetime, params: ObservationParams
) -> pl.DataFrame:
    current = placed.filter(pl.col("head") == pl.col("end"))
    outcomes = pl.col("confirmed_count") + pl.col("contradicted_count")
    known = pl.col("confidence").is_not_null() & (outcomes > 0)
    weighted = (pl.col("confidence") * _FIXED_POINT).round().cast(pl.Int64) * outcomes
    by_use = ["reference_count", "last_referenced_at", "memory_id"]
    rows = current.group_by("end", maintain_order=True).agg(
        pl.col("project", "scope").first(),
        pl.col("content").first().alias("text"),
        pl.col("memory_id").first().alias("best_memory_id"),
        pl.col("memory_id").sort().alias("memory_ids"),
        (weighted.filter(known).sum() / (outcomes.filter(known).sum() * _FIXED_POINT)).alias("confidence"),
        known.any().alias("is_known"),
        pl.col("trend").sort_by(by_use, descending=[True, True, False], nulls_last=True).first(),
        pl.col("last_referenced_at").max(),
    )
    sources = (
        current.select("end", "source_ids", "source_times")
        .explode("source_ids", "source_times")
        .group_by("end", "source_ids")
        .agg(pl.col("source_times").min())
        .sort("end", "source_ids")
        .group_by("end", maintain_order=True)
        .agg("source_ids", "source_times", pl.len().cast(pl.Int64).alias("proof_count"))
    )
    founders = placed.group_by("end").agg(pl.col("memory_id").sort_by("said_at", "memory_id").first().alias("founder"))
    earlier = (
        placed.filter(pl.col("head") != pl.col("end"))
        .group_by("end")
        .agg(pl.col("memory_id").sort().alias("supersedes"))
    )
    contradicted = _contradicting_memories(placed, found.representative, [*found.contradictions, *found.doubts])
    evidence_at = pl.max_horizontal(pl.col("source_times").list.max(), "last_referenced_at")
    age = pl.lit(as_of, dtype=pl.Datetime("us")) - pl.col("last_evidence_at")
    freshness = (
        pl.when(age <= timedelta(days=params.fresh_days))
        .then(pl.lit("fresh"))
        .when(age <= timedelta(days=params.ageing_days))
        .then(pl.lit("ageing"))
        .otherwise(pl.lit("stale"))
    )
    joined = rows
    for other in (sources, founders, earlier, told, contradicted):
        joined = joined.join(other, on="end", how="left")
    ids = digests(joined.select("project", "scope", "founder")).str.head(_ID_CHARACTERS)
    return joined.with_columns(
        ids.alias("observation_id"),
        pl.when("is_known").then("confidence").alias("confidence"),
        pl.col("trend").fill_null("unproven"),
        evidence_at.alias("last_evidence_at"),
        pl.col("supersedes", "contradicts").fill_null(pl.lit([], dtype=pl.List(pl.String))),
        pl.lit(params.method).alias("method"),
    ).with_columns(freshness.alias("freshness"))


def _contradicting_memories(
    placed: pl.DataFrame, representative: list[int], at_odds: list[StatementPair]
) -> pl.DataFrame:
    """end, contradicts: the memories of the observations it is, or may be, at odds with."""
    heads = [
        (representative[a], representative[b])
        for pair in at_odds
        for a, b in ((pair.earlier, pair.later), (pair.later, pair.earlier))
    ]
    pairs = pl.DataFrame(heads, schema={"end": pl.Int64, "head": pl.Int64}, orient="row").unique()
    return (
        pairs.join(placed.select("head", "memory_id"), on="head")
        .group_by("end")
        .agg(pl.col("memory_id").unique().sort().alias("contradicts"))
    )


class _Best(NamedTuple):
    """The best memory of a statement."""

    memory_id: str
    project: str
    scope: str
    content: str
    said_at: datetime
    source_ids: list[str]


def _best_memories(placed: pl.DataFrame) -> dict[int, _Best]:
    best = placed.group_by("statement", maintain_order=True).agg(pl.col(_Best._fields).first())
    return {row[0]: _Best(*row[1:]) for row in best.select("statement", *_Best._fields).iter_rows()}


def _contradictions(pairs: list[StatementPair], best: dict[int, _Best]) -> pl.DataFrame:
    rows = []
    for pair in pairs:
        one, other = best[pair.earlier], best[pair.later]
        again = "; what it replaces was said again since" if pair.relation.relation == "supersedes" else ""
        rows.append(
            {
                "contradiction_id": _id_of([one, other]),
                "project": one.project,
                "scope": one.scope,
                "memory_ids": [one.memory_id, other.memory_id],
                "texts": [one.content, other.content],
                "similarity": pair.similarity / 10_000,
                "conflicting_words": list(pair.relation.words),
                "said_at": max(one.said_at, other.said_at),
                "reason": pair.relation.reason + again,
            }
        )
    return pl.DataFrame(rows, schema=polars_schema(Contradictions)).unique("contradiction_id").sort("contradiction_id")


class _Methods(NamedTuple):
    """Who related statements: the rules, those that propose, and a language model the pairs that the rules did not."""

    rules: str
    proposing: str
    model: str
    by_model: frozenset[frozenset[int]]


def _by_model(
    pairs: list[StatementPair], by_rules: list[StatementPair], answered: pl.DataFrame | None
) -> tuple[str, frozenset[frozenset[int]]]:
    """The method of the language model, and the pairs that it alone calls one fact."""
    if answered is None or answered.is_empty():
        return "", frozenset()
    known = {frozenset((pair.earlier, pair.later)) for pair in by_rules if pair.relation.relation == "same_fact"}
    said = {frozenset((pair.earlier, pair.later)) for pair in pairs if pair.relation.relation == "same_fact"}
    return answered["method"][0], frozenset(said - known)


def _merge_proposals(
    placed: pl.DataFrame, found: StatementGroups, best: dict[int, _Best], methods: _Methods
) -> pl.DataFrame:
    """Observations of several memories, the best to be kept; and pairs that may be one fact."""
    several = (
        placed.filter(pl.col("head") == pl.col("end"))
        .filter(pl.len().over("end") > 1)
        .group_by("end", maintain_order=True)
        .agg(
            pl.struct(_Best._fields).alias("memories"),
            pl.col("statement").unique().sort().alias("statements"),
            pl.col("similarity").min(),
        )
    )
    rows = []
    for memories, statements, similarity in several.select("memories", "statements", "similarity").iter_rows():
        wordings = f"{len(statements)} wordings" if len(statements) > 1 else "the same words"
        reason = f"{len(memories)} memories state one fact in {wordings}"
        joined = [found.joined[statement] for statement in statements]
        is_told = any(pair and frozenset((pair.earlier, pair.later)) in methods.by_model for pair in joined)
        if is_told:
            reason += "; that they are one fact, a language model says, and not the rules"
        method = methods.model if is_told else methods.rules
        rows.append(_proposal([_Best(**one) for one in memories], similarity, reason, method, is_certain=True))
    rank = {statement: place for place, statement in enumerate(best)}
    for pair in found.proposals:
        both = [best[statement] for statement in sorted((pair.earlier, pair.later), key=rank.__getitem__)]
        is_told = frozenset((pair.earlier, pair.later)) in methods.by_model
        reason = (
            pair.relation.reason
            if is_told
            else f"alike, and nothing contradicts that they are one fact; {pair.relation.reason}"
        )
        method = methods.model if is_told else methods.proposing
        rows.append(_proposal(both, pair.similarity, reason, method, is_certain=False))
    return pl.DataFrame(rows, schema=polars_schema(MergeProposals)).unique("proposal_id").sort("proposal_id")


def _proposal(
    memories: list[_Best], similarity: int, reason: str, method: str, *, is_certain: bool
) -> dict[str, object]:
    return {
        "proposal_id": _id_of(memories),
        "project": memories[0].project,
        "scope": memories[0].scope,
        "memory_ids": [memory.memory_id for memory in memories],
        "texts": [memory.content for memory in memories],
        "target_memory_id": memories[0].memory_id,
        "proof_count": len({source for memory in memories for source in memory.source_ids}),
        "similarity": similarity / 10_000,
        "is_certain": is_certain,
        "said_at": max(memory.said_at for memory in memories),
        "reason": reason,
        "method": method,
    }


def _id_of(memories: list[_Best]) -> str:
    """Digest of memories and what they say, in whatever order."""
    said = sorted((memory.memory_id, memory.content) for memory in memories)
    return digest([part for one in said for part in one])[:_ID_CHARACTERS]
