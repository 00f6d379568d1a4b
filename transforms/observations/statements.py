"""The active memories as statements: what they say, since when, and what they were distilled from."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.blank import is_blank


def scope() -> pl.Expr:
    r"""Where a memory may meet others: its type and its owner, such as `type/agent@user` (see `memory_owner`).

    A backslash stands before `/`, `@`, `#` and `\` of a type.
    """
    return pl.concat_str(pl.col("memory_type").str.replace_all(r"([/@#\\])", r"\$1"), "owner")


def normal_text(content: pl.Expr) -> pl.Expr:
    """A text without what is no difference: case, white space, and stops at its end."""
    return content.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .!;,")


def is_said(content: pl.Expr) -> pl.Expr:
    """Whether there is any text."""
    return ~is_blank(content)


def utterances(states: pl.DataFrame) -> pl.DataFrame:
    """When each memory said what: at each change of its text, and when it cited a source for the first time.

    memory_id, project, scope, content, normal, said_at; sorted by memory_id and said_at. The same again from no new
    source is a repetition of the log, and says nothing.
    """
    ordered = states.sort("memory_id", "valid_from")
    differs = pl.col("content").ne_missing(pl.col("content").shift().over("memory_id"))
    cited = (
        ordered.select("memory_id", "valid_from", pl.col("source_ids").alias("source_id"))
        .explode("source_id", empty_as_null=False, keep_nulls=False)
        .filter(pl.col("source_id").fill_null("") != "")
        .group_by("memory_id", "source_id")
        .agg(pl.col("valid_from").min())
        .select("memory_id", "valid_from", pl.lit(value=True).alias("is_cited"))
        .unique()
    )
    return (
        ordered.with_columns(differs.alias("differs"))
        .join(cited, on=["memory_id", "valid_from"], how="left", maintain_order="left")
        .filter(is_said(pl.col("content")), pl.col("differs") | pl.col("is_cited").fill_null(value=False))
        .select(
            "memory_id",
            "project",
            scope().alias("scope"),
            "content",
            normal_text(pl.col("content")).alias("normal"),
            pl.col("valid_from").alias("said_at"),
        )
    )


def active_memories(states: pl.DataFrame) -> pl.DataFrame:
    """Memories active at the end of `states` (see `memory_states`), with text: one row each, in order of time and id.

    memory_id, project, scope, owner, content, normal (see `normal_text`), said_at (since when it says this),
    last_said_at (see `utterances`), source_ids (sorted; itself where it has none), source_times
    (since when each is cited).
    """
    ordered = states.sort("memory_id", "valid_from")
    last = ordered.filter(
        pl.col("valid_until").is_null(), pl.col("status") == "active", is_said(pl.col("content"))
    ).select("memory_id", "project", scope().alias("scope"), "owner", "content", pl.col("source_ids").alias("cited"))
    of_active = ordered.join(last.select("memory_id"), on="memory_id", how="semi")
    differs = pl.col("content").ne_missing(pl.col("content").shift().over("memory_id"))
    said_at = of_active.filter(differs).group_by("memory_id").agg(pl.col("valid_from").max().alias("said_at"))
    last_said_at = utterances(of_active).group_by("memory_id").agg(pl.col("said_at").max().alias("last_said_at"))
    first_at = of_active.group_by("memory_id").agg(pl.col("valid_from").min().alias("first_at"))
    cited = (
        of_active.select("memory_id", "valid_from", pl.col("source_ids").alias("source_id"))
        .explode("source_id", empty_as_null=False, keep_nulls=False)
        .filter(pl.col("source_id").fill_null("") != "")
        .group_by("memory_id", "source_id")
        .agg(pl.col("valid_from").min().alias("cited_at"))
    )
    now_cited = (
        last.select("memory_id", pl.col("cited").alias("source_id"))
        .explode("source_id", empty_as_null=False, keep_nulls=False)
        .unique()
        .join(cited, on=["memory_id", "source_id"])
        .sort("memory_id", "source_id")
        .group_by("memory_id", maintain_order=True)
        .agg(pl.col("source_id").alias("source_ids"), pl.col("cited_at").alias("source_times"))
    )
    return (
        last.drop("cited")
        .join(said_at, on="memory_id")
        .join(last_said_at, on="memory_id")
        .join(first_at, on="memory_id")
        .join(now_cited, on="memory_id", how="left")
        .with_columns(
            pl.col("source_ids").fill_null(pl.concat_list("memory_id")),
            pl.col("source_times").fill_null(pl.concat_list("first_at")),
            normal_text(pl.col("content")).alias("normal"),
        )
        .drop("first_at")
        .sort("said_at", "memory_id")
    )


def distinct_statements(memories: pl.DataFrame) -> pl.DataFrame:
    """What the memories of each project and scope say, once, in order of when it was said first.

    statement (0, 1, …), project, scope, normal, owner, content and founder (memory_id) of the first to say it,
    first_at, last_at.
    """
    return (
        memories.sort("said_at", "memory_id")
        .group_by("project", "scope", "normal", maintain_order=True)
        .agg(
            pl.col("owner", "content").first(),
            pl.col("memory_id").first().alias("founder"),
            pl.col("said_at").min().alias("first_at"),
            pl.col("last_said_at").max().alias("last_at"),
        )
        .sort("first_at", "founder")
        .with_row_index("statement")
        .with_columns(pl.col("statement").cast(pl.Int64))
    )
