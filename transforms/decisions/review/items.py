"""What there is to review, kind by kind, before it is weighed and before what was decided is left out."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.extract import statement
from slowwave.transforms.hashing import digest, hashed
from slowwave.transforms.memory_reach import is_global
from slowwave.transforms.params import Params
from slowwave.transforms.review_queue_params import ReviewQueueParams

ITEM_SCHEMA = pl.Schema(
    {
        "item_id": pl.String(),
        "kind": pl.String(),
        "project": pl.String(),
        "memory_type": pl.String(),
        "text": pl.String(),
        "memory_ids": pl.List(pl.String()),
        "target_memory_id": pl.String(),
        "created_at": pl.Datetime("us"),
        "reason": pl.String(),
        "basis": pl.String(),
        "method": pl.String(),
    }
)
_STATEMENT = ("project", "statement_id")
_GOING_DOWN = ("weakening", "stale")


def item_id(kind: str, *about: str) -> str:
    """Id of an item: digest of its kind and of what it is about."""
    return digest(["review item", kind, *about])


def statement_ids(text: pl.Series) -> pl.Series:
    """`statement_id` (see extracted_statements) of texts."""
    return hashed(text.to_frame("text").select(statement(pl.col("text"))).to_series())


def landed_candidates(health: pl.DataFrame, params: ReviewQueueParams) -> pl.DataFrame:
    """Memories landed as candidates and not decided since: items, with statement_id."""
    # there is nothing to read in white space, controls and invisible characters
    is_said = pl.col("content").str.contains(r"[^\s\p{C}]")
    waiting = health.filter(pl.col("status") == "candidate", is_said)
    ids = [item_id("candidate", memory_id) for memory_id in waiting["memory_id"]]
    return waiting.select(
        pl.Series("item_id", ids, dtype=pl.String),
        pl.lit("candidate").alias("kind"),
        "project",
        "memory_type",
        pl.col("content").alias("text"),
        pl.concat_list("memory_id").alias("memory_ids"),
        pl.lit(None, dtype=pl.String).alias("target_memory_id"),
        "created_at",
        pl.lit("Landed as a candidate").alias("reason"),
        pl.lit("").alias("basis"),
        pl.lit(params.method).alias("method"),
        statement_ids(waiting["content"]).alias("statement_id"),
    )


def extracted_candidates(statements: pl.LazyFrame, health: pl.DataFrame, params: Params) -> pl.DataFrame:
    """Statements of answers that no memory, in whatever state, says already: items, with statement_id.

    A memory of the same project with the same words, of whatever type, settles it: in use, rejected, replaced or
    archived, it has been decided; as a candidate it is the item itself. So does a global one in use. The type is that
    of the rule that found it first.
    """
    asked, extract_method = params.review_queue, params.evidence.extract.method
    said = health.filter(pl.col("content").is_not_null(), pl.col("project").is_not_null())
    known = said.with_columns(statement_ids(said["content"]).alias("statement_id"))
    is_of_all = is_global(params.evidence) & (pl.col("scope") != "agent").fill_null(value=True)
    everywhere = known.filter(is_of_all, pl.col("user_id").is_null(), pl.col("status") == "active")
    found = (
        statements.join(known.lazy().select(_STATEMENT).unique(), on=_STATEMENT, how="anti")
        .join(everywhere.lazy().select("statement_id").unique(), on="statement_id", how="anti")
        .sort("occurred_at", "interaction_id", "rule")
        .group_by(_STATEMENT, maintain_order=True)
        .agg(pl.col("text", "memory_type", "occurred_at").first())
        .collect()
    )
    ids = [item_id("candidate", *about) for about in found.select(_STATEMENT).iter_rows()]
    made = pl.Series("item_id", ids, dtype=pl.String)
    return (
        found.select(
            made,
            pl.lit("candidate").alias("kind"),
            "project",
            "memory_type",
            "text",
            pl.lit([], dtype=pl.List(pl.String)).alias("memory_ids"),
            pl.lit(None, dtype=pl.String).alias("target_memory_id"),
            pl.col("occurred_at").alias("created_at"),
            pl.lit("Stated").alias("reason"),
            pl.lit("").alias("basis"),
            pl.lit(f"{asked.method} on {extract_method}").alias("method"),
            "statement_id",
        )
        # a promoted or rejected one is the memory that has its id, whatever that says today
        .join(health.select("memory_id"), left_on="item_id", right_on="memory_id", how="anti", maintain_order="left")
    )


def troubled_memories(health: pl.DataFrame, as_of: datetime, params: ReviewQueueParams) -> pl.DataFrame:
    """Active memories that are harmful, need a look, or fade though they are needed: items.

    What needs a look is `unused` without a detected use, `fading` where it has faded or its trend goes down, else
    `doubtful`. Asked again when: a harmful or doubtful one, of more failures after references, or of another text; the
    others, of a later reference or another text.
    """
    active = health.filter(pl.col("status") == "active", pl.col("content").is_not_null())
    is_harmful = pl.col("verdict") == "harmful"
    days_left = (pl.col("fades_at") - pl.lit(as_of, dtype=pl.Datetime("us"))).dt.total_days()
    is_needed = ~pl.col("pinned") & (days_left <= params.fading_days) & (pl.col("need_30d") >= params.fading_need)
    is_needed = is_needed.fill_null(value=False)
    has_faded = (days_left <= 0).fill_null(value=False) | pl.col("trend").is_in(_GOING_DOWN).fill_null(value=False)
    kind = (
        pl.when(is_harmful)
        .then(pl.lit("harmful"))
        .when(is_needed)
        .then(pl.lit("fading"))
        .when(pl.col("reference_count") == 0)
        .then(pl.lit("unused"))
        .when(has_faded)
        .then(pl.lit("fading"))
        .otherwise(pl.lit("doubtful"))
    )
    last_us = pl.col("last_referenced_at").dt.timestamp("us").fill_null(0)
    troubled = active.filter(is_harmful | is_needed | (pl.col("verdict") == "review")).with_columns(
        kind.alias("kind"),
        pl.when(kind.is_in(["harmful", "doubtful"])).then("contradicted_count").otherwise(last_us).alias("evidence"),
        pl.col("reasons").list.first().alias("said"),
    )
    ids = [item_id(kind, memory_id) for kind, memory_id in troubled.select("kind", "memory_id").iter_rows()]
    reason = pl.when(~is_harmful & (pl.col("verdict") != "review")).then(
        pl.format("Fades by {} though it may be needed", pl.col("fades_at").dt.strftime("%Y-%m-%d"))
    )
    return troubled.select(
        pl.Series("item_id", ids, dtype=pl.String),
        "kind",
        "project",
        "memory_type",
        pl.col("content").alias("text"),
        pl.concat_list("memory_id").alias("memory_ids"),
        pl.lit(None, dtype=pl.String).alias("target_memory_id"),
        "created_at",
        pl.coalesce(reason, "said", pl.lit("Needs a look")).alias("reason"),
        pl.format("{} {}", hashed(troubled["content"]), "evidence").alias("basis"),
        pl.lit(params.method).alias("method"),
    )


def outdated_memories(curation: pl.DataFrame, contradictions: pl.DataFrame, health: pl.DataFrame) -> pl.DataFrame:
    """Memories in use though a later one, in use too, replaces them or takes them back (curation_decisions): items.

    One per pair, as its last decision has it, while both say what they said then; a pair that is a contradiction is
    asked about as one. Asked again when either text changes.
    """
    active = health.filter(pl.col("status") == "active").select("memory_id", "memory_type", "content")
    pairs = (
        curation.sort("memory_id", "changed_at")
        .unique("memory_id", keep="last", maintain_order=True)
        .filter(pl.col("action").is_in(["update", "delete"]), pl.col("target_memory_id") != pl.col("memory_id"))
        .join(active, on=["memory_id", "content"], maintain_order="left")
        .join(
            active.select(target_memory_id="memory_id", target_content="content"),
            on=["target_memory_id", "target_content"],
            maintain_order="left",
        )
        .with_columns(pl.concat_list("target_memory_id", "memory_id").alias("memory_ids"))
        .with_columns(pl.col("memory_ids").list.sort().alias("pair"))
        .join(
            contradictions.select(pl.col("memory_ids").list.sort().alias("pair")),
            on="pair",
            how="anti",
            maintain_order="left",
        )
        .unique("pair", keep="last", maintain_order=True)
    )
    ids = [item_id("outdated", *memory_ids) for memory_ids in pairs["memory_ids"]]
    does = (
        pl.when(pl.col("action") == "delete")
        .then(pl.lit("takes the earlier back"))
        .otherwise(pl.lit("replaces the earlier"))
    )
    return pairs.select(
        pl.Series("item_id", ids, dtype=pl.String),
        pl.lit("outdated").alias("kind"),
        "project",
        "memory_type",
        pl.format("{} | {}", "target_content", "content").alias("text"),
        "memory_ids",
        pl.col("memory_id").alias("target_memory_id"),
        pl.col("changed_at").alias("created_at"),
        pl.format("The later one {}, and both are in use ({})", does, "reason").alias("reason"),
        pl.format("{} {}", hashed(pairs["target_content"]), hashed(pairs["content"])).alias("basis"),
        "method",
    )


def disputed_memories(
    contradictions: pl.DataFrame, proposals: pl.DataFrame, health: pl.DataFrame, method: str
) -> pl.DataFrame:
    """Contradictions and merge proposals (observe/1) as items; their ids name the texts, so another text asks again."""
    both = pl.concat(
        [
            contradictions.select(
                pl.lit("contradiction").alias("kind"),
                pl.col("contradiction_id").alias("about"),
                *("project", "memory_ids", "texts", "said_at", "reason"),
                pl.lit(None, dtype=pl.String).alias("target_memory_id"),
                pl.lit(method).alias("method"),
            ),
            proposals.select(
                pl.lit("merge").alias("kind"),
                pl.col("proposal_id").alias("about"),
                *("project", "memory_ids", "texts", "said_at", "reason", "target_memory_id", "method"),
            ),
        ]
    )
    ids = [item_id(kind, about) for kind, about in both.select("kind", "about").iter_rows()]
    types = health.select("memory_id", "memory_type")
    return (
        both.with_columns(pl.Series("item_id", ids, dtype=pl.String), first=pl.col("memory_ids").list.first())
        .join(types, left_on="first", right_on="memory_id", maintain_order="left")
        .select(
            "item_id",
            "kind",
            "project",
            "memory_type",
            pl.col("texts").list.join(" | ").alias("text"),
            "memory_ids",
            "target_memory_id",
            pl.col("said_at").alias("created_at"),
            "reason",
            pl.lit("").alias("basis"),
            "method",
        )
    )


def guessed_items(proposals: pl.DataFrame) -> pl.Series:
    """The ids of merge items whose memories are only nearly alike enough: nothing but a likeness speaks for them."""
    guessed = proposals.filter(~pl.col("is_certain"))["proposal_id"]
    return pl.Series("item_id", [item_id("merge", about) for about in guessed], dtype=pl.String)


def merger_likelihoods(proposals: pl.DataFrame) -> pl.DataFrame:
    """item_id, likelihood (in 1/10,000) of the merge items."""
    ids = [item_id("merge", about) for about in proposals["proposal_id"]]
    return proposals.select(
        pl.Series("item_id", ids, dtype=pl.String),
        (pl.col("similarity") * 10_000).round().cast(pl.Int64).alias("likelihood"),
    )
