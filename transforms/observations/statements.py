"""The active memories as statements: what they say, since when, and what they were distilled from."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.observations.pairs.reading import reading
from slowwave.transforms.observations.pairs.statement_tokens import RECURRING, WEEKDAYS


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


# What was said when, what was active just before, and what kind of thing was said: the log as curation sees it.

_MODEL_TYPES = frozenset({"preference", "identity", "instruction", "rule", "heuristic", "strategy", "adaptation"})
_OBSERVATION_TYPES = frozenset({"event", "episode", "episodic", "observation", "summary", "outcome"})
_ORDER = re.compile(r"\W*(?:please\s+)?(?:do|don['’]t)\s", re.IGNORECASE)
_NO_EVENTS = frozenset(WEEKDAYS.values()) | RECURRING


class CurationLog(NamedTuple):
    """What is to be decided on, and what a decision may be about.

    said: each first text of a memory and each later change of it. active: stretches in which a memory was active with
    one text. Both have memory_id, project, scope, content, normal (the number of its `normal_text`), from, sorted by
    from and memory_id; `said` also memory_type and is_first, `active` also until (NULL: still).
    """

    said: pl.DataFrame
    active: pl.DataFrame


def curation_log(states: pl.DataFrame) -> CurationLog:
    """The two views of `states` (see `memory_states`)."""
    ordered = states.sort("memory_id", "valid_from").with_columns(
        scope().alias("scope"),
        (is_said(pl.col("content")) & (pl.col("status") == "active")).alias("is_active"),
        normal_text(pl.col("content").fill_null("")).alias("text"),
    )
    normals = ordered.filter(pl.col("text").is_first_distinct()).select("text").with_row_index("normal")
    # texts of their own take as much memory as all that the memories say
    ordered = ordered.join(normals, on="text", how="left", maintain_order="left").drop("text")
    before = pl.col("content").shift().over("memory_id")
    is_first = ~is_said(before)
    said = ordered.filter(is_said(pl.col("content")), pl.col("content").ne_missing(before)).select(
        "memory_id", "memory_type", "project", "scope", "content", "normal", pl.col("valid_from").alias("from")
    )
    firsts = ordered.filter(is_said(pl.col("content")), is_first).select("memory_id", "valid_from")
    first = firsts.group_by("memory_id").agg(pl.col("valid_from").min().alias("first"))
    same = pl.all_horizontal(
        pl.col(name).eq_missing(pl.col(name).shift().over("memory_id"))
        for name in ("content", "project", "scope", "is_active")
    )
    active = (
        ordered.with_columns((~same.fill_null(value=False)).cum_sum().alias("stretch"))
        .group_by("stretch", maintain_order=True)
        .agg(
            pl.col("memory_id", "project", "scope", "content", "normal", "is_active").first(),
            pl.col("valid_from").first().alias("from"),
            pl.col("valid_until").last().alias("until"),
        )
        .filter("is_active")
        .drop("stretch", "is_active")
    )
    return CurationLog(
        said.join(first, on="memory_id", how="left")
        .with_columns((pl.col("from") <= pl.col("first")).alias("is_first"))
        .drop("first")
        .sort("from", "memory_id"),
        active.sort("from", "memory_id"),
    )


def curation_kind(memory_type: str, content: str) -> str:
    """model, observation or fact: from the memory's type where that says it, else from its words.

    A day of the week, or how often something is done, makes no event of it.
    """
    if memory_type in _MODEL_TYPES:
        return "model"
    if memory_type in _OBSERVATION_TYPES:
        return "observation"
    read = reading(content)
    if read.is_standing or _ORDER.match(content):
        return "model"
    return "observation" if read.is_past or set(read.dates) - _NO_EVENTS else "fact"
