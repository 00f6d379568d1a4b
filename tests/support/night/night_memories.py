"""Memories of the benchmarks' logs: sentences in the words of their projects, changed now and then within the month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import night_words as nw
import numpy as np
import polars as pl
import pyarrow as pa
from night_words import Numbers
from numpy.typing import NDArray

START = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC
DAY_US = 86_400_000_000
_TYPES = ("knowledge", "project", "preference", "episodic", "adaptation")


@dataclass(frozen=True)
class Size:
    """How much to make. Memory `i` belongs to project `i % projects`, apart from a few that are everybody's."""

    interactions: int
    memories: int
    projects: int
    days: int = 30
    seed: int = 1
    more: int = 0  # days after those, kept apart


@dataclass(frozen=True)
class Held:
    """Memories as they are drawn upon: ids, texts, the words of each, and the words of projects."""

    words: nw.Vocabulary
    ids: pa.StringArray
    texts: pl.Series
    forms: NDArray[np.int32]
    starts: Numbers
    own: nw.ProjectWords


def write_memories(folder: Path, size: Size, words: nw.Vocabulary) -> Held:
    chance = np.random.default_rng([size.seed, 2])
    own = nw.project_words(words, chance, size.projects)
    count = size.memories
    project = np.arange(count) % size.projects
    lengths = chance.integers(8, 41, count)
    # an eighth says again, with some words changed, what an earlier one of its project said
    again = np.flatnonzero((np.arange(count) >= count // 2) & (chance.random(count) < 0.25))
    earlier = (
        again % size.projects + chance.integers(0, max(1, count // 2 // size.projects), len(again)) * size.projects
    )
    again, earlier = again[earlier < count // 2], earlier[earlier < count // 2]
    lengths[again] = lengths[earlier]
    starts, row = nw.places(lengths)
    forms = nw.drawn_forms(words, chance, own, project[row], 0.45)
    _copy_words(forms, starts, again, earlier, keep=0.85, chance=chance)
    texts = _memory_texts(words, chance, forms, starts)
    ids = pl.Series(np.arange(count)).cast(pl.String).str.zfill(7).str.replace("^", "m")
    common = min(20, count // 500)  # everybody's
    everybody = np.arange(count) < common
    at = np.where(
        chance.random(count) < 0.7,
        -chance.integers(1, 60 * DAY_US, count),
        chance.integers(0, size.days * DAY_US, count),
    )
    kind = np.where(everybody, 2, chance.choice(len(_TYPES), count, p=(0.5, 0.25, 0.1, 0.1, 0.05)))
    named = pl.Series(project).cast(pl.String).str.replace("^", "project-")
    first = pl.DataFrame(
        {
            "memory_id": ids,
            "changed_at": times_of(at),
            "project": pl.select(pl.when(~pl.Series(everybody)).then(named).otherwise(pl.lit(""))).to_series(),
            "memory_type": pl.Series(_TYPES).gather(kind),
            "agent": pl.Series(chance.integers(0, 5, count)).cast(pl.String).str.replace("^", "agent-"),
            "content": texts,
            "status": pl.Series(["active", "candidate"]).gather((chance.random(count) < 0.1).astype(int)),
            "confidence": np.round(chance.uniform(0.3, 0.9, count), 2),
            "importance": np.round(chance.uniform(0, 1, count), 2),
            "pinned": chance.random(count) < 0.01,
            "source_ids": pl.Series(np.arange(count) // 3)
            .cast(pl.String)
            .str.replace("^", "note-")
            .reshape((-1, 1))
            .arr.to_list(),
        }
    )
    changes = pl.concat([first, _later_changes(size, words, chance, first, forms, starts, at)], how="diagonal")
    changes = changes.sort("changed_at", "memory_id")
    day = changes["changed_at"].dt.date()
    changes.filter(day < START.date()).write_parquet(folder / "memories-before.parquet")
    for number in range(size.days):
        of_day = changes.filter(day == (START + timedelta(days=number)).date())
        if of_day.height:
            of_day.write_parquet(folder / f"memories-{number:02}.parquet")
    return Held(
        words,
        cast("pa.StringArray", ids.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.string())),
        texts,
        forms,
        starts,
        own,
    )


def _memory_texts(
    words: nw.Vocabulary, chance: np.random.Generator, forms: NDArray[np.int32], starts: Numbers
) -> pl.Series:
    extra: list[pl.Series] = []
    tokens = nw.tokens_of(forms, nw.marks(chance, nw.MEMORY_MARKS, starts), starts)
    nw.sprinkle(words, chance, tokens, extra)
    return cast("pl.Series", pl.from_arrow(nw.joined(words, tokens, starts, extra)))


def _copy_words(
    forms: NDArray[np.int32], starts: Numbers, to: Numbers, source: Numbers, keep: float, chance: np.random.Generator
) -> None:
    """Write the words of one text into another of the same length, all but some."""
    length = np.diff(starts)[to]
    into, out_of = ranges(starts[to], length), ranges(starts[source], length)
    kept = chance.random(len(into)) < keep
    forms[into[kept]] = forms[out_of[kept]]


def ranges(first: Numbers, length: Numbers) -> Numbers:
    """The numbers from each first on, so many of each."""
    begins = np.cumsum(length) - length
    return np.repeat(first - begins, length) + np.arange(length.sum())


def _later_changes(
    size: Size,
    words: nw.Vocabulary,
    chance: np.random.Generator,
    first: pl.DataFrame,
    forms: NDArray[np.int32],
    starts: Numbers,
    at: Numbers,
) -> pl.DataFrame:
    """A fifth of the memories changes within the month: reworded, archived, superseded, promoted, weighed anew."""
    changed = np.flatnonzero(chance.random(size.memories) < 0.2)
    kind = chance.choice(5, len(changed), p=(0.4, 0.15, 0.15, 0.2, 0.1))
    length = np.diff(starts)[changed]
    reworded, of_changed = forms[ranges(starts[changed], length)], nw.places(length)[0]
    swapped = chance.random(len(reworded)) < 0.2
    reworded[swapped] = chance.permutation(reworded[swapped])
    begin = np.maximum(at[changed] + 3_600_000_000, 0)
    when = begin + (chance.random(len(changed)) * np.maximum(size.days * DAY_US - begin, 1)).astype(np.int64)
    what = pl.Series(kind)
    rows = (
        first[changed]
        .select("memory_id")
        .with_columns(
            times_of(when).alias("changed_at"),
            pl.when(what == 0).then(_memory_texts(words, chance, reworded, of_changed)).alias("content"),
            pl.when(what == 1)
            .then(pl.lit("archived"))
            .when(what == 2)
            .then(pl.lit("superseded"))
            .when(what == 3)
            .then(pl.lit("active"))
            .alias("status"),
            pl.when(what == 2)
            .then(first["memory_id"].gather((changed + size.projects) % size.memories))
            .alias("superseded_by"),
            pl.when(what == 4).then(pl.Series(np.round(chance.uniform(0.3, 0.9, len(changed)), 2))).alias("confidence"),
            pl.lit("curator").alias("changed_by"),
        )
    )
    return rows.filter(pl.col("changed_at") < START + timedelta(days=size.days))


def times_of(microseconds: Numbers) -> pl.Series:
    return pl.Series(microseconds).cast(pl.Duration("us")) + START
