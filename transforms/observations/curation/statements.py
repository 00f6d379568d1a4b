"""What was said when, what was active just before, and what kind of thing was said: the log as curation sees it."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from slowwave.transforms.observations.pairs.pair_words import RECURRING, WEEKDAYS
from slowwave.transforms.observations.pairs.reading import reading
from slowwave.transforms.observations.statements import is_said, normal_text, scope

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
