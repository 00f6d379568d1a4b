"""What there is to review, kind by kind, before it is weighed and before what was decided is left out."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.core.figures import count_with_noun, decimals
from slowwave.transforms.core.hashing import DIGEST_BYTES, digest, digests, hash_texts
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.decisions.params import QueueParams, ReviewQueueParams
from slowwave.transforms.evidence.reach import is_global
from slowwave.transforms.evidence.statements.extract import statement
from slowwave.transforms.observations.tables import Contradictions

_STATEMENT = ("project", "statement_id")
_GOING_DOWN = ("weakening", "stale")
_ITEM_ID = rf"^[0-9a-f]{{{2 * DIGEST_BYTES}}}$"


def item_id(kind: str, *about: str) -> str:
    """Id of an item: digest of its kind and of what it is about."""
    return digest(["review item", kind, *about])


def item_ids(rows: pl.DataFrame, kind: pl.Expr, *about: str) -> pl.Series:
    """`item_id` of each row: its kind, and the columns that say what it is about."""
    named = rows.select(pl.lit("review item").alias("review item"), kind.alias("kind of item"), *about)
    return digests(named).alias("item_id")


def statement_ids(text: pl.Series) -> pl.Series:
    """`statement_id` (see extracted_statements) of texts."""
    return hash_texts(text.to_frame("text").select(statement(pl.col("text"))).to_series())


def landed_candidates(health: pl.DataFrame, params: ReviewQueueParams) -> pl.DataFrame:
    """Memories landed as candidates and not decided since: items, with statement_id."""
    # there is nothing to read in white space, controls and invisible characters
    is_said = pl.col("content").str.contains(r"[^\s\p{C}]")
    waiting = health.filter(pl.col("status") == "candidate", is_said)
    return waiting.select(
        item_ids(waiting, pl.lit("candidate"), "memory_id"),
        pl.lit("candidate").alias("kind"),
        "project",
        "user_id",
        "memory_type",
        pl.col("content").alias("text"),
        pl.concat_list("memory_id").alias("memory_ids"),
        pl.lit(None, dtype=pl.String).alias("target_memory_id"),
        "created_at",
        pl.lit("Landed as a candidate").alias("reason"),
        pl.lit("").alias("fingerprint"),
        pl.lit(params.method).alias("method"),
        statement_ids(waiting["content"]).alias("statement_id"),
    )


def with_settled(statements: pl.LazyFrame, users: pl.LazyFrame, health: pl.DataFrame) -> pl.LazyFrame:
    """Statements with user_id, the user of their interaction, and is_settled: a memory of their project says them.

    It has the same words, whatever its type and state: in use, rejected, replaced or archived, it has been decided; as
    a candidate it is the item itself. A user's memory settles what was said to that user, and what nobody knows to
    whom, as that may have been the same user.

    Args:
        statements: extracted_statements, with signs.
        users: interaction_id, user_id of the interactions that name a user, none twice.
        health: memory_health.
    """
    said = health.filter(pl.col("content").is_not_null(), pl.col("project").is_not_null())
    known = said.select("project", "user_id", statement_ids(said["content"]).alias("statement_id"))
    of_users = known.filter(pl.col("user_id").is_not_null()).lazy()
    of_all = known.filter(pl.col("user_id").is_null()).lazy().select(_STATEMENT).unique()
    nobody = pl.lit(None, dtype=pl.String).alias("user_id")
    settled = pl.concat([of_users, of_users.with_columns(nobody)]).unique()
    return (
        statements.join(users, on="interaction_id", how="left")
        .join(of_all.with_columns(pl.lit(value=True).alias("of_all")), on=_STATEMENT, how="left")
        .join(
            settled.with_columns(pl.lit(value=True).alias("of_user")),
            on=[*_STATEMENT, "user_id"],
            how="left",
            nulls_equal=True,
        )
        .with_columns(pl.any_horizontal(pl.col("of_all", "of_user").fill_null(value=False)).alias("is_settled"))
        .drop("of_all", "of_user")
    )


def extracted_candidates(statements: pl.LazyFrame, health: pl.DataFrame, params: QueueParams) -> pl.DataFrame:
    """Statements of answers (see `with_settled`) that no memory says already: items, with statement_id.

    Besides the memories that settle a statement in its project, a global one in use that is no user's settles it
    everywhere. The type is that of the rule that found it first.

    Where all interactions that name a user name the same one, the candidate is that user's: an interaction that names
    none does not show that others may know it, and what was told to all cannot be taken back. Of several users it is
    the project's.
    """
    asked, extract_method = params.review_queue, params.evidence.extract.method
    said = health.filter(pl.col("content").is_not_null(), pl.col("project").is_not_null())
    is_of_all = is_global(params.evidence) & (pl.col("scope") != "agent").fill_null(value=True)
    everywhere = said.filter(is_of_all, pl.col("user_id").is_null(), pl.col("status") == "active")
    known = pl.LazyFrame({"statement_id": statement_ids(everywhere["content"])}).unique()
    first_user, last_user = pl.col("user_id").min(), pl.col("user_id").max()
    rows = (
        statements.filter(~pl.col("is_settled"))
        .join(known, on="statement_id", how="anti")
        .sort("occurred_at", "interaction_id", "rule")
        .collect()
    )
    of_users = rows.group_by(_STATEMENT, maintain_order=True).agg(
        pl.when(first_user == last_user).then(first_user).alias("user_id")
    )
    found = rows.unique(_STATEMENT, keep="first", maintain_order=True).with_columns(of_users["user_id"])
    is_of_user = found["user_id"].is_not_null()
    of_user = item_ids(found.filter(is_of_user), pl.lit("candidate"), *_STATEMENT, "user_id")
    # which items everybody's would be matters where a memory may be one: to tell it takes as long as all else
    is_asked = ~is_of_user | health["memory_id"].str.contains(_ITEM_ID).any()
    of_all = pl.repeat(None, found.height, dtype=pl.String, eager=True)
    of_all.scatter(is_asked.arg_true(), item_ids(found.filter(is_asked), pl.lit("candidate"), *_STATEMENT))
    of_item = health.select(of_all="memory_id", owner="user_id", is_made=pl.lit(value=True))
    return (
        found.select(
            # a user's is another item than everybody's: to settle the one does not settle the other
            of_all.clone().scatter(is_of_user.arg_true(), of_user).alias("item_id"),
            pl.lit("candidate").alias("kind"),
            "project",
            "user_id",
            "memory_type",
            "text",
            "signs",
            pl.lit([], dtype=pl.List(pl.String)).alias("memory_ids"),
            pl.lit(None, dtype=pl.String).alias("target_memory_id"),
            pl.col("occurred_at").alias("created_at"),
            pl.lit("Stated").alias("reason"),
            pl.lit("").alias("fingerprint"),
            pl.lit(f"{asked.method} on {extract_method}").alias("method"),
            "statement_id",
            of_all.alias("of_all"),
        )
        # a promoted or rejected one is the memory that has its id, whatever that says today
        .join(health.select("memory_id"), left_on="item_id", right_on="memory_id", how="anti", maintain_order="left")
        # and so is everybody's, once it is this user's
        .join(of_item, on="of_all", how="left", maintain_order="left")
        .filter(pl.col("is_made").is_null() | pl.col("owner").ne(pl.col("user_id")).fill_null(value=False))
        .drop("of_all", "owner", "is_made")
    )


def troubled_memories(health: pl.DataFrame, as_of: datetime, params: ReviewQueueParams) -> pl.DataFrame:
    """Active memories that are harmful, not followed, need a look, or fade though they are needed: items.

    What needs a look is `unused` without a detected use, `fading` where it has faded or its trend goes down, else
    `doubtful`; an instruction that answers followed is not unused, whatever their words. Asked again when: a harmful or
    doubtful one, of more failures after references, or of another text; an ignored one, of ten times as many answers
    that do not follow it, or of another text; the others, of a later reference or another text.
    """
    active = health.filter(pl.col("status") == "active", pl.col("content").is_not_null())
    is_harmful = pl.col("verdict") == "harmful"
    is_ignored = (pl.col("followed_high") < params.ignored_below).fill_null(value=False)
    days_left = (pl.col("fades_at") - pl.lit(as_of, dtype=pl.Datetime("us"))).dt.total_days()
    is_needed = ~pl.col("pinned") & (days_left <= params.fading_days) & (pl.col("need_30d") >= params.fading_need)
    is_needed = is_needed.fill_null(value=False)
    has_faded = (days_left <= 0).fill_null(value=False) | pl.col("trend").is_in(_GOING_DOWN).fill_null(value=False)
    kind = (
        pl.when(is_harmful)
        .then(pl.lit("harmful"))
        .when(is_ignored)
        .then(pl.lit("ignored"))
        .when(is_needed)
        .then(pl.lit("fading"))
        .when(pl.col("reference_count") == 0)
        .then(pl.lit("unused"))
        .when(has_faded)
        .then(pl.lit("fading"))
        .otherwise(pl.lit("doubtful"))
    )
    last_us = pl.col("last_referenced_at").dt.timestamp("us").fill_null(0)
    needs_look = (pl.col("verdict") == "review") & ~((kind == "unused") & (pl.col("followed_count") > 0))
    evidence = (
        pl.when(kind.is_in(["harmful", "doubtful"]))
        .then("contradicted_count")
        .when(kind == "ignored")
        .then(pl.col("not_followed_count").cast(pl.String).str.len_bytes().cast(pl.Int64))
        .otherwise(last_us)
    )
    troubled = active.filter(is_harmful | is_ignored | is_needed | needs_look).with_columns(
        kind.alias("kind"),
        evidence.alias("evidence"),
        pl.col("reasons").list.first().alias("said"),
    )
    fades = pl.when(days_left > 0).then(pl.lit("Fades by")).otherwise(pl.lit("Faded by"))
    checked = count_with_noun(pl.col("followed_count") + pl.col("not_followed_count"), "checked answer")
    reason = (
        pl.when(pl.col("kind") == "ignored")
        .then(
            pl.format(
                "Not followed in {} of {} (90 % interval of the share followed: {} to {})",
                "not_followed_count",
                checked,
                decimals(pl.col("followed_low")),
                decimals(pl.col("followed_high")),
            )
        )
        .when(~is_harmful & (pl.col("verdict") != "review"))
        .then(pl.format("{} {} though it may be needed", fades, pl.col("fades_at").dt.strftime("%Y-%m-%d")))
    )
    return troubled.select(
        item_ids(troubled, pl.col("kind"), "memory_id"),
        "kind",
        "project",
        "user_id",
        "memory_type",
        pl.col("content").alias("text"),
        pl.concat_list("memory_id").alias("memory_ids"),
        pl.lit(None, dtype=pl.String).alias("target_memory_id"),
        "created_at",
        pl.coalesce(reason, "said", pl.lit("Needs a look")).alias("reason"),
        pl.format("{} {}", hash_texts(troubled["content"]), "evidence").alias("fingerprint"),
        pl.lit(params.method).alias("method"),
    )


def expiring_memories(health: pl.DataFrame, as_of: datetime, params: ReviewQueueParams) -> pl.DataFrame:
    """Active memories that were referenced often and are about to expire: items.

    Asked again when `expires_at` or the text changes.
    """
    latest = pl.lit(as_of, dtype=pl.Datetime("us")) + pl.duration(days=params.expiring_days)
    expiring = health.filter(
        pl.col("status") == "active",
        pl.col("content").is_not_null(),
        pl.col("expires_at") <= latest,
        pl.col("reference_count") >= params.expiring_references,
    )
    return expiring.select(
        item_ids(expiring, pl.lit("expiring"), "memory_id"),
        pl.lit("expiring").alias("kind"),
        "project",
        "user_id",
        "memory_type",
        pl.col("content").alias("text"),
        pl.concat_list("memory_id").alias("memory_ids"),
        pl.lit(None, dtype=pl.String).alias("target_memory_id"),
        "created_at",
        pl.format(
            "Expires on {}, and {} referenced it: `promote` lets it stand 90 days longer",
            pl.col("expires_at").dt.strftime("%Y-%m-%d"),
            count_with_noun(pl.col("reference_count"), "interaction"),
        ).alias("reason"),
        pl.format("{} {}", hash_texts(expiring["content"]), pl.col("expires_at").dt.timestamp("us")).alias(
            "fingerprint"
        ),
        pl.lit(params.method).alias("method"),
    )


def outdated_memories(
    curation: pl.DataFrame, contradictions: pl.DataFrame, health: pl.DataFrame, owners: pl.DataFrame
) -> pl.DataFrame:
    """Memories in use though a later one, in use too, replaces them or takes them back (curation_decisions): items.

    One per pair, as its last decision has it, while both say what they said then; a pair that is a contradiction is
    asked about as one. Asked again when either text changes. `owners`: memory_id, owner as they are.
    """
    active = (
        health.filter(pl.col("status") == "active")
        .select("memory_id", "user_id", "memory_type", "content")
        .join(owners, on="memory_id", how="left", maintain_order="left")
    )
    pairs = (
        curation.sort("memory_id", "changed_at")
        .unique("memory_id", keep="last", maintain_order=True)
        .filter(pl.col("action").is_in(["update", "delete"]), pl.col("target_memory_id") != pl.col("memory_id"))
        .join(active, on=["memory_id", "content"], maintain_order="left")
        .join(
            active.select(target_memory_id="memory_id", target_content="content", target_owner="owner"),
            on=["target_memory_id", "target_content"],
            maintain_order="left",
        )
        # one of them may have come to another user, agent or tag since
        .filter(pl.col("owner").eq_missing(pl.col("target_owner")))
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
        "user_id",
        "memory_type",
        pl.format("{} | {}", "target_content", "content").alias("text"),
        "memory_ids",
        pl.col("memory_id").alias("target_memory_id"),
        pl.col("changed_at").alias("created_at"),
        pl.format("The later one {}, and both are in use ({})", does, "reason").alias("reason"),
        pl.format("{} {}", hash_texts(pairs["target_content"]), hash_texts(pairs["content"])).alias("fingerprint"),
        "method",
    )


_DISPUTED = choose_columns(Contradictions, "project", "memory_ids", "texts", "said_at", "reason")


def disputed_memories(
    contradictions: pl.DataFrame, proposals: pl.DataFrame, health: pl.DataFrame, method: str
) -> pl.DataFrame:
    """Contradictions and merge proposals of a method as items; their ids name the texts, so another text asks again."""
    both = pl.concat(
        [
            contradictions.select(
                pl.lit("contradiction").alias("kind"),
                pl.col("contradiction_id").alias("about"),
                *_DISPUTED,
                pl.lit(None, dtype=pl.String).alias("target_memory_id"),
                pl.lit(method).alias("method"),
            ),
            proposals.select(
                pl.lit("merge").alias("kind"),
                pl.col("proposal_id").alias("about"),
                *_DISPUTED,
                "target_memory_id",
                "method",
            ),
        ]
    )
    types = health.select("memory_id", "memory_type", "user_id")
    return (
        both.with_columns(item_ids(both, pl.col("kind"), "about"), first=pl.col("memory_ids").list.first())
        .join(types, left_on="first", right_on="memory_id", maintain_order="left")
        .select(
            "item_id",
            "kind",
            "project",
            "user_id",
            "memory_type",
            pl.col("texts").list.join(" | ").alias("text"),
            "memory_ids",
            "target_memory_id",
            pl.col("said_at").alias("created_at"),
            "reason",
            pl.lit("").alias("fingerprint"),
            "method",
        )
    )


def guessed_items(proposals: pl.DataFrame) -> pl.Series:
    """The ids of merge items whose memories are only nearly alike enough: nothing but a likeness speaks for them."""
    return item_ids(proposals.filter(~pl.col("is_certain")), pl.lit("merge"), "proposal_id")


def merger_likelihoods(proposals: pl.DataFrame) -> pl.DataFrame:
    """item_id, likelihood (in 1/10,000) of the merge items."""
    return proposals.select(
        item_ids(proposals, pl.lit("merge"), "proposal_id"),
        (pl.col("similarity") * 10_000).round().cast(pl.Int64).alias("likelihood"),
    )
