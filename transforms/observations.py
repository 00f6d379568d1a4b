"""Observations: the facts that the active memories state, with their proof; and what people should settle about them.

Everything is a pure function of the memory log as of a time and of memory_health: what is no longer active leaves
nothing behind, and no count is kept that a replay could raise.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

import orjson
import polars as pl

from slowwave.transforms.hashing import digest
from slowwave.transforms.llm_relations import related_pairs
from slowwave.transforms.observation_groups import Groups, StatementPair, groups, statement_pairs
from slowwave.transforms.observation_params import ObservationParams
from slowwave.transforms.observation_statements import active_memories, distinct_statements
from slowwave.transforms.observation_tables import Contradictions, MergeProposals, Observations
from slowwave.transforms.pair_reading import reading
from slowwave.transforms.schema import empty, polars_schema
from slowwave.transforms.text_terms import WORD
from slowwave.transforms.word_vectors import WordVectors

_ID_CHARACTERS = 16
_FIXED_POINT = 1_000_000
_OF_RUN = ("run_id", "as_of")
_HEALTH = ("memory_id", "confidence", "confirmed_count", "contradicted_count", "reference_count",
           "last_referenced_at", "trend")  # fmt: skip


class Observed(NamedTuple):
    """The tables of that name, without run_id and as_of, each sorted by its key."""

    observations: pl.DataFrame
    contradictions: pl.DataFrame
    merge_proposals: pl.DataFrame


def observed(
    states: pl.DataFrame,
    health: pl.DataFrame,
    word_vectors: WordVectors,
    as_of: datetime,
    params: ObservationParams,
    answered: pl.DataFrame | None = None,
) -> Observed:
    """Observations of the memories active at `as_of`, what contradicts what, and what may be merged.

    Args:
        states: memory states visible at `as_of` (see `memory_states`).
        health: memory_health of the same publish.
        word_vectors: vectors of words.
        as_of: UTC.
        params: thresholds.
        answered: what a language model said of pairs of memories (see `answered_pairs`); None: nothing.

    An observation's text is that of the member most often confirmed; of these, of the one said by most memories, with
    most words, first.
    """
    memories = active_memories(states)
    if memories.is_empty():
        none = (empty(table).drop(_OF_RUN, strict=False) for table in (Observations, Contradictions, MergeProposals))
        return Observed(*none)
    statements = distinct_statements(memories)
    pairs = statement_pairs(statements, word_vectors, params)
    found = groups(statements, pairs if answered is None else related_pairs(pairs, answered, memories, statements))
    placed = _placed(memories, statements, found, health)
    rows = _observations(placed, found, as_of, params)
    best = _best_memories(placed)
    return Observed(
        rows.select([name for name in polars_schema(Observations) if name not in _OF_RUN]).sort("observation_id"),
        _contradictions(found.contradictions, best),
        _merge_proposals(placed, found, best),
    )


def _placed(memories: pl.DataFrame, statements: pl.DataFrame, found: Groups, health: pl.DataFrame) -> pl.DataFrame:
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
        pl.col("normal").str.count_matches(WORD).alias("words"),
    )
    return (
        memories.join(said, on=["project", "scope", "normal"])
        .join(health.select(_HEALTH), on="memory_id", how="left")
        .with_columns(pl.col("confirmed_count", "contradicted_count", "reference_count").fill_null(0))
        .with_columns(
            pl.len().over("statement").alias("copies"),
            pl.col("confirmed_count").sum().over("statement").alias("confirmed"),
        )
        .sort(
            "confirmed", "copies", "words", "said_at", "memory_id", descending=[True, True, True, False, False]
        )
    )  # fmt: skip


def _observations(placed: pl.DataFrame, found: Groups, as_of: datetime, params: ObservationParams) -> pl.DataFrame:
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
    journeys = _journeys(placed, found)
    contradicted = _contradicted(placed, found)
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
    for other in (sources, founders, earlier, journeys, contradicted):
        joined = joined.join(other, on="end", how="left")
    ids = [
        digest([project, scope, founder])[:_ID_CHARACTERS]
        for project, scope, founder in joined.select("project", "scope", "founder").iter_rows()
    ]
    return joined.with_columns(
        pl.Series("observation_id", ids, dtype=pl.String),
        pl.when("is_known").then("confidence").alias("confidence"),
        pl.col("trend").fill_null("unproven"),
        evidence_at.alias("last_evidence_at"),
        pl.col("supersedes", "contradicts").fill_null(pl.lit([], dtype=pl.List(pl.String))),
        pl.lit(params.method).alias("method"),
    ).with_columns(freshness.alias("freshness"))


def _journeys(placed: pl.DataFrame, found: Groups) -> pl.DataFrame:
    """end, journey: the states an observation went through, each in the words of its best memory.

    A state holds from when it was first said after those it replaced were last said, until the same of its successor.
    """
    moved = placed.filter((pl.col("head") != pl.col("end")).any().over("end"))
    states = moved.group_by("end", "head", maintain_order=True).agg(pl.col("memory_id", "content", "said_at"))
    times = {head: sorted(said_at) for head, said_at in states.select("head", "said_at").iter_rows()}
    replaced_at: dict[int, datetime] = {}
    for head, said_at in times.items():
        successor = found.successor[head]
        if successor >= 0:
            replaced_at[successor] = max(replaced_at.get(successor, said_at[-1]), said_at[-1])
    began = {
        head: next(time for time in said_at if head not in replaced_at or time > replaced_at[head])
        for head, said_at in times.items()
    }
    told: dict[int, list[dict[str, str | None]]] = {}
    for end, head, memory_ids, texts, _ in sorted(states.iter_rows(), key=lambda row: (row[0], began[row[1]], row[1])):
        until = began.get(found.successor[head])
        step = {"memory_id": memory_ids[0], "text": texts[0], "from": _iso(began[head]), "until": until and _iso(until)}
        told.setdefault(end, []).append(step)
    return pl.DataFrame(
        {"end": list(told), "journey": [orjson.dumps(steps).decode() for steps in told.values()]},
        schema={"end": pl.Int64, "journey": pl.String},
    )


def _iso(time: datetime) -> str:
    return time.isoformat() + "Z"


def _contradicted(placed: pl.DataFrame, found: Groups) -> pl.DataFrame:
    """end, contradicts: the memories of the observations it is at odds with."""
    heads = [
        (found.representative[a], found.representative[b])
        for pair in found.contradictions
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


def _merge_proposals(placed: pl.DataFrame, found: Groups, best: dict[int, _Best]) -> pl.DataFrame:
    """Observations of several memories, the best to be kept; and pairs that may be one fact."""
    several = (
        placed.filter(pl.col("head") == pl.col("end"))
        .filter(pl.len().over("end") > 1)
        .group_by("end", maintain_order=True)
        .agg(
            pl.struct(_Best._fields).alias("memories"),
            pl.col("statement").n_unique().alias("wordings"),
            pl.col("similarity").min(),
        )
    )
    rows = []
    for memories, wordings, similarity in several.select("memories", "wordings", "similarity").iter_rows():
        reason = f"{len(memories)} memories state one fact in " + (
            f"{wordings} wordings" if wordings > 1 else "the same words"
        )
        rows.append(_proposal([_Best(**one) for one in memories], similarity, reason, is_certain=True))
    for pair in found.proposals:
        one, other = best[pair.earlier], best[pair.later]
        extra = set(reading(one.content).content) ^ set(reading(other.content).content)
        said = f"one has more words: {', '.join(sorted(extra))}" if extra else "the same words"
        reason = f"alike, and nothing contradicts that they are one fact; {said}"
        # the longer one says more
        both = sorted([one, other], key=lambda memory: (-len(memory.content), memory.said_at, memory.memory_id))
        rows.append(_proposal(both, pair.similarity, reason, is_certain=False))
    return pl.DataFrame(rows, schema=polars_schema(MergeProposals)).unique("proposal_id").sort("proposal_id")


def _proposal(memories: list[_Best], similarity: int, reason: str, *, is_certain: bool) -> dict[str, object]:
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
    }


def _id_of(memories: list[_Best]) -> str:
    """Digest of memories and what they say, in whatever order."""
    said = sorted((memory.memory_id, memory.content) for memory in memories)
    return digest([part for one in said for part in one])[:_ID_CHARACTERS]
