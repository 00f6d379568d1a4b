"""What waits for a person's word, with the evidence behind it, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import polars as pl

from slowwave.transforms.core.figures import count_with_noun
from slowwave.transforms.core.frames import Frame, Lazy, selected
from slowwave.transforms.core.schema import choose_columns, polars_schema
from slowwave.transforms.core.vocabularies import REVIEW_KINDS
from slowwave.transforms.decisions.params import QueueParams
from slowwave.transforms.decisions.review.candidate_evidence import (
    judged_candidates,
    known_signs,
    promising_statements,
    shown_signs,
)
from slowwave.transforms.decisions.review.items import (
    disputed_memories,
    expiring_memories,
    extracted_candidates,
    guessed_items,
    landed_candidates,
    merger_likelihoods,
    outdated_memories,
    troubled_memories,
    with_settled,
)
from slowwave.transforms.decisions.review.rejected_texts import REJECTED_SCHEMA
from slowwave.transforms.decisions.review.tables import ReviewDecisions, ReviewQueue, ReviewStatements, StatementSigns
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences, ReplayedInteractions
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.language.marked_texts import mark_differences
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.tables import CurationDecisions

_STATEMENT = ["project", "statement_id"]
_PUBLISHED_ALONE = ("run_id", "as_of")
_NO_OWNERS = pl.Schema({"memory_id": pl.String(), "owner": pl.String()})
_NO_USERS = pl.Schema({"interaction_id": pl.String(), "user_id": pl.String()})


@dataclass(frozen=True)
class ReviewEvidence:
    """What the log and a publish know that the queue stands on.

    statements: extracted_statements, with `signs` where it is known what their texts show; those of which no candidate
    can come may lack.
    interactions: interaction_id, occurred_at, session_id of the interactions that state them or are a source.
    references: memory_id, interaction_id, occurred_at, session_id. sources: memory_id, source_ids of memories as they
    are. ended: interaction_id, success (how its latest attempt ended). health: memory_health. contradictions,
    merge_proposals: of the method that `disputes_method` names. curation: curation_decisions. decided: item_id,
    fingerprint of what was decided. rejected: project, statement_id of texts that a person rejected. users:
    interaction_id, user_id of the interactions that name a user. owners: memory_id, owner of memories as they are.
    """

    statements: pl.LazyFrame
    interactions: pl.LazyFrame
    references: pl.LazyFrame
    sources: pl.DataFrame
    ended: pl.DataFrame
    health: Frame[MemoryHealth]
    contradictions: pl.DataFrame
    merge_proposals: pl.DataFrame
    disputes_method: str
    curation: Frame[CurationDecisions]
    decided: pl.DataFrame
    rejected: pl.DataFrame = field(default_factory=REJECTED_SCHEMA.to_frame)
    users: pl.LazyFrame = field(default_factory=lambda: _NO_USERS.to_frame().lazy())
    owners: pl.DataFrame = field(default_factory=_NO_OWNERS.to_frame)


def review_queue(
    evidence: ReviewEvidence, as_of: datetime, params: QueueParams
) -> tuple[Frame[ReviewQueue], Frame[ReviewStatements]]:
    """The rows of review_queue and of review_statements, each sorted by key, without what only the run decides.

    Harm comes first, then instructions that are ignored: both cost something in every interaction that has them.

    rank_score counts sessions: whoever says or uses a thing ten times in one session says it once. A candidate that
    answers only repeated from their prompts scores 0 there and, unless landed by its owner, stays out
    (`min_sessions`); what is only guessed to state one fact comes last. It says how much there is to look at, not how
    likely the memory is to be right. Where candidates stand, they stand in the order of what speaks for each (see
    `judged_candidates`), and guessed mergers likeliest first.
    """
    asked = params.review_queue
    landed = landed_candidates(evidence.health, asked)
    statements = with_settled(shown_signs(evidence.statements.collect()).lazy(), evidence.users, evidence.health)
    extracted = extracted_candidates(statements, evidence.health, params)
    candidates = pl.concat([landed, extracted], how="diagonal")
    if evidence.rejected.height:
        candidates = candidates.join(evidence.rejected, on=_STATEMENT, how="anti", maintain_order="left")
    others = pl.concat(
        [
            troubled_memories(evidence.health, as_of, asked),
            expiring_memories(evidence.health, as_of, asked),
            outdated_memories(evidence.curation, evidence.contradictions, evidence.health, evidence.owners),
            disputed_memories(
                evidence.contradictions, evidence.merge_proposals, evidence.health, evidence.disputes_method
            ),
        ]
    ).join(evidence.decided, on=["item_id", "fingerprint"], how="anti")
    is_guessed = pl.col("item_id").is_in(guessed_items(evidence.merge_proposals).implode())
    place = pl.col("kind").replace_strict({kind: at for at, kind in enumerate(REVIEW_KINDS)}, return_dtype=pl.Int64)
    order = (_urgency(), is_guessed, -pl.col("rank_score"), place)
    stated = _candidate_statements(evidence, statements, candidates)
    behind = pl.concat([stated.select(*_BEHIND), _item_interactions(evidence, others)])
    items = pl.concat([candidates.drop("statement_id"), others], how="diagonal")
    del candidates, others
    # few steps, so that none is held longer than the next one takes
    ranked = (
        items.join(_counts(behind, evidence.ended, asked.examples), on="item_id", how="left")
        .join(_rules(stated), on="item_id", how="left")
        .with_columns(
            pl.col(_COUNTED).fill_null(0),
            pl.col("example_ids", "rules").fill_null(pl.lit([], dtype=pl.List(pl.String))),
            pl.coalesce("first_seen_at", "created_at").alias("first_seen_at"),
            pl.coalesce("last_seen_at", "created_at").alias("last_seen_at"),
        )
        .filter(
            (pl.col("kind") != "candidate")
            | (pl.col("memory_ids").list.len() > 0)
            | (pl.col("rank_score") >= asked.min_sessions)
        )
    )
    is_candidate = pl.col("kind") == "candidate"
    told = ranked.filter(~is_candidate).with_columns(
        pl.lit(0, dtype=pl.Int64).alias("points"), pl.lit("").alias("wording")
    )
    ranked = (
        pl.concat([judged_candidates(ranked.filter(is_candidate), asked.min_points), told])
        .with_columns(_reason())
        .sort("item_id")
        .with_columns((_place_by(*order) + 1).cast(pl.Int64).alias("rank"))
    )
    ranked = _by_evidence(ranked, is_guessed, merger_likelihoods(evidence.merge_proposals))
    ranked = _mark_differences(ranked, evidence.health, asked.marked_items)
    shown = stated.join(ranked, on="item_id", how="semi").sort("item_id", "interaction_id")
    return selected(ReviewQueue, ranked), selected(ReviewStatements, shown)


_OF_TEXTS = ("contradiction", "outdated", "merge")
_BEHIND = choose_columns(ReviewStatements, "item_id", "interaction_id", "occurred_at", "session_id", "in_prompt")
_COUNTED = choose_columns(
    ReviewQueue,
    "interactions_count",
    "sessions_count",
    "in_prompt_count",
    "succeeded_count",
    "failed_count",
    "rank_score",
)


def _urgency() -> pl.Expr:
    """0 of what is harmful, 1 of instructions that are ignored, 2 of all others."""
    return pl.when(pl.col("kind") == "harmful").then(0).when(pl.col("kind") == "ignored").then(1).otherwise(2)


def _by_evidence(ranked: pl.DataFrame, is_guessed: pl.Expr, likelihoods: pl.DataFrame) -> pl.DataFrame:
    """The places of candidates given to those that most speaks for, and of guessed mergers to the likeliest."""
    is_candidate = pl.col("kind") == "candidate"
    told = ranked.join(likelihoods.unique("item_id"), on="item_id", how="left", maintain_order="left").with_columns(
        pl.when(is_candidate).then(1).when(is_guessed).then(2).otherwise(0).alias("group"),
        pl.when(is_candidate).then("points").when(is_guessed).then("likelihood").otherwise(0).alias("weight"),
    )
    places = pl.col("rank").sort_by("group", "rank")
    return told.with_columns(places.gather(_place_by("group", -pl.col("weight"), "rank")))


def _place_by(*by: str | pl.Expr) -> pl.Expr:
    """The place of each row, from 0, if they were sorted by these; what is the same stays in order."""
    return pl.arg_sort_by(by, maintain_order=True).arg_sort()


def _mark_differences(ranked: pl.DataFrame, health: pl.DataFrame, most: int) -> pl.DataFrame:
    """What differs marked in the texts of the first items about several memories (see `marked_texts`)."""
    about = (
        ranked.filter(pl.col("kind").is_in(_OF_TEXTS), pl.col("rank") <= most)
        .select("item_id", pl.col("memory_ids").alias("memory_id"))
        .explode("memory_id")
        .join(health.select("memory_id", "content"), on="memory_id", maintain_order="left")
        .group_by("item_id", maintain_order=True)
        .agg(pl.col("content").fill_null(""))
    )
    rows = [(item_id, " | ".join(_marked_texts(texts))) for item_id, texts in about.iter_rows()]
    texts = pl.DataFrame(rows, schema={"item_id": pl.String, "marked": pl.String}, orient="row")
    return ranked.join(texts, on="item_id", how="left", maintain_order="left").with_columns(
        pl.coalesce("marked", "text").alias("text")
    )


def _marked_texts(texts: list[str]) -> list[str]:
    """Two texts marked; of more the others, each beside the first."""
    if len(texts) == 2:  # noqa: PLR2004 - a pair
        return [*mark_differences(*texts)]
    return [*texts[:1], *(mark_differences(texts[0], other)[1] for other in texts[1:])]


def _columns(table: type) -> list[str]:
    return [name for name in polars_schema(table) if name not in _PUBLISHED_ALONE]


def _candidate_statements(evidence: ReviewEvidence, statements: pl.LazyFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """review_statements of candidates: interactions that state one, or that its owner named as a source.

    Of a user's candidate those of other users do not; nor, of one from answers, those that a memory settles.
    """
    is_landed = pl.col("memory_ids").list.len() > 0
    about = candidates.lazy().select("item_id", *_STATEMENT, is_landed.alias("is_landed"), owner="user_id")
    said = (
        statements.join(about, on=_STATEMENT)
        .filter(
            pl.any_horizontal(pl.col("owner", "user_id").is_null()) | (pl.col("owner") == pl.col("user_id")),
            pl.col("is_landed") | ~pl.col("is_settled"),
        )
        .sort("rule")  # as each list of them then is: to sort the lists takes several times as long
        .group_by("item_id", "interaction_id")
        .agg(pl.col("in_prompt").all(), pl.col("rule").alias("rules"))
    )
    sources = (
        candidates.lazy()
        .select("item_id", pl.col("memory_ids").list.first().alias("memory_id"))
        .join(evidence.sources.lazy(), on="memory_id")
        .select("item_id", pl.col("source_ids").alias("interaction_id"))
        .explode("interaction_id", empty_as_null=False)
        .drop_nulls()
        .unique()
        .with_columns(pl.lit(value=True).alias("is_source"))
    )
    found = said.join(sources, on=["item_id", "interaction_id"], how="full", coalesce=True)
    return (
        found.join(evidence.interactions, on="interaction_id")
        .with_columns(
            pl.col("in_prompt", "is_source").fill_null(value=False),
            pl.col("rules").fill_null(pl.lit([], dtype=pl.List(pl.String))),
        )
        .select(*_columns(ReviewStatements))
        .collect()
    )


def _item_interactions(evidence: ReviewEvidence, items: pl.DataFrame) -> pl.DataFrame:
    """The interactions that had or referenced a memory of an item."""
    about = items.select("item_id", pl.col("memory_ids").alias("memory_id")).explode("memory_id")
    return (
        # few of all, and of the others no more is read
        evidence.references.filter(pl.col("memory_id").is_in(about["memory_id"].unique().implode()))
        .join(about.lazy(), on="memory_id")
        .select("item_id", "interaction_id", "occurred_at", "session_id", pl.lit(value=False).alias("in_prompt"))
        .unique()
        .collect()
    )


def _counts(behind: pl.DataFrame, ended: pl.DataFrame, examples: int) -> pl.DataFrame:
    """item_id, the counts, first_seen_at, last_seen_at, example_ids: the latest first."""
    session = pl.when(pl.col("session_id").is_not_null()).then(pl.format("s{}", "session_id")).otherwise(
        pl.format("i{}", "interaction_id")
    )  # fmt: skip
    own = pl.when(~pl.col("in_prompt")).then("session")  # else NULL, which is counted as one more
    success = pl.col("success").fill_null(value=False)
    return (
        behind.lazy()
        .join(ended.lazy().select("interaction_id", "success"), on="interaction_id", how="left")
        .with_columns(session.cast(pl.Categorical).to_physical().alias("session"))
        .sort("occurred_at", "interaction_id", descending=[True, False])
        .group_by("item_id", maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("interactions_count"),
            pl.col("session").n_unique().cast(pl.Int64).alias("sessions_count"),
            pl.col("in_prompt").cast(pl.Int64).sum().alias("in_prompt_count"),
            success.cast(pl.Int64).sum().alias("succeeded_count"),
            (pl.col("success").is_not_null() & ~success).cast(pl.Int64).sum().alias("failed_count"),
            (own.n_unique().cast(pl.Int64) - pl.col("in_prompt").any()).alias("rank_score"),
            pl.col("occurred_at").min().alias("first_seen_at"),
            pl.col("occurred_at").max().alias("last_seen_at"),
            pl.col("interaction_id").head(examples).alias("example_ids"),
        )
        .collect()
    )


def _rules(stated: pl.DataFrame) -> pl.DataFrame:
    rules, is_one_of_several = stated.select("item_id", "rules"), stated["item_id"].is_duplicated()
    each = rules.filter(is_one_of_several).explode("rules", empty_as_null=False).drop_nulls()
    return pl.concat([rules.filter(~is_one_of_several), each.unique().sort("rules").group_by("item_id").agg("rules")])


def _reason() -> pl.Expr:
    """Why it waits, in a sentence, with the figures."""
    stated = pl.format("{} in {} of {}", "reason", _interactions(), _sessions())
    sourced = pl.format("{}, with {} of {} behind it", "reason", _interactions(), _sessions())
    repeated = pl.format("; in {} of them the prompt said it already", "in_prompt_count")
    ended = pl.format("; latest attempts: {} succeeded, {} failed", "succeeded_count", "failed_count")
    has_ended = pl.col("succeeded_count") + pl.col("failed_count") > 0
    candidate = pl.concat_str(
        pl.when(pl.col("memory_ids").list.len() > 0).then(sourced).otherwise(stated),
        pl.when(pl.col("in_prompt_count") > 0).then(repeated).otherwise(pl.lit("")),
        pl.when(has_ended).then(ended).otherwise(pl.lit("")),
        "wording",
        pl.lit("."),
    )
    is_candidate = pl.col("kind") == "candidate"
    return pl.when(is_candidate).then(candidate).otherwise("reason").alias("reason")


def _interactions() -> pl.Expr:
    return count_with_noun(pl.col("interactions_count"), "interaction")


def _sessions() -> pl.Expr:
    return count_with_noun(pl.col("sessions_count"), "session")


class ReviewedParams(QueueParams, Protocol):
    """What the queue is made with, and who says what contradicts what."""

    observations: ObservationParams


def review_tables(
    statements: Lazy[ExtractedStatements],
    interactions: Lazy[ReplayedInteractions],
    references: Lazy[MemoryReferences],
    memories: pl.DataFrame,
    ended: pl.DataFrame,
    health: Frame[MemoryHealth],
    contradictions: pl.DataFrame,
    merge_proposals: pl.DataFrame,
    curation: Frame[CurationDecisions],
    decided: Frame[ReviewDecisions],
    rejected: pl.DataFrame,
    signs: Frame[StatementSigns],
    as_of: datetime,
    params: ReviewedParams,
) -> tuple[Frame[ReviewQueue], Frame[ReviewStatements]]:
    """The rows of review_queue and of review_statements, each sorted by key, before they are stamped.

    Args:
        statements: extracted_statements, with `day`.
        interactions: replayed_interactions.
        references: memory_references; what an answer only cites is none here.
        memories: of `current_memories`: memory_id, source_ids, owner.
        ended: of `ended_interactions`.
        health: memory_health.
        contradictions: of `observed`.
        merge_proposals: of `observed`.
        curation: curation_decisions.
        decided: review_decisions.
        rejected: of `rejected_texts`.
        signs: statement_signs.
        as_of: the instant asked for.
        params: of the queue, of evidence, and the method of observations.
    """
    told = known_signs(statements, signs)
    landed = landed_candidates(health, params.review_queue)["statement_id"]
    told = promising_statements(told, landed, ended, params.review_queue.min_points)
    named = _read_source_interactions(interactions, told, memories)
    evidence = ReviewEvidence(
        statements=told.lazy(),
        interactions=named.select("interaction_id", "occurred_at", "session_id"),
        references=references.filter(pl.col("is_injected") | is_reference()).select(
            "memory_id", "interaction_id", "occurred_at", "session_id"
        ),
        sources=memories.select("memory_id", "source_ids"),
        ended=ended,
        health=health,
        contradictions=contradictions,
        merge_proposals=merge_proposals,
        disputes_method=params.observations.method,
        curation=curation,
        decided=decided.select("item_id", "fingerprint").unique(),
        users=named.filter(pl.col("user_id").fill_null("") != "").select("interaction_id", "user_id"),
        rejected=rejected,
        owners=memories.select("memory_id", "owner"),
    )
    return review_queue(evidence, as_of, params)


def _read_source_interactions(
    interactions: Lazy[ReplayedInteractions], statements: pl.DataFrame, memories: pl.DataFrame
) -> pl.LazyFrame:
    """The interactions that state something or are a memory's source: few of all, which are read once for them."""
    sources = memories.select(pl.col("source_ids").explode().alias("interaction_id"))
    ids = pl.concat([statements.select("interaction_id"), sources]).drop_nulls().unique()
    return (
        interactions.select("interaction_id", "occurred_at", "session_id", "user_id")
        .join(ids.lazy(), on="interaction_id", how="semi")
        .collect()
        .lazy()
    )
