"""Interactions and eligible memories of several days, in order of project and day, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.evidence.used.passages import compared_texts, is_long

_FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ProjectDayRange:
    """Consecutive interactions of one project and day."""

    project: int
    day: int
    start: int
    stop: int


def answer() -> pl.Expr:
    """What was answered and its summary, as one text."""
    return pl.concat_str("response", "response_summary", separator="\n").alias("answer")


def text_bytes() -> pl.Expr:
    """Bytes of prompt and `answer`."""
    sizes = (pl.col(name).str.len_bytes().cast(pl.Int64) for name in ("prompt", "response", "response_summary"))
    return pl.sum_horizontal(*sizes) + 1


class InteractionArrays:
    """Interactions sorted by project and day: their `ids`, texts, and when (`at`, microseconds)."""

    def __init__(self, asked: pl.DataFrame) -> None:
        """`asked`: what `used_memories` takes of interactions, and of each its project and day as numbers."""
        self._frame = asked.sort("project_at", "day_at")
        self.ids = self._frame["interaction_id"]
        self.at = self._frame["occurred_at"].dt.timestamp("us").to_numpy(writable=True)
        self._project, self._day = self._frame["project_at"].to_numpy(), self._frame["day_at"].to_numpy()
        self._ends = np.cumsum(self._frame.select(text_bytes()).to_series().to_numpy())

    @property
    def text_bytes(self) -> int:
        """Of all prompts and answers."""
        return int(self._ends[-1]) if len(self._ends) else 0

    @cached_property
    def id_ranks(self) -> Integers:
        """The place of each id in their order."""
        ranks = np.empty(len(self.ids), np.int64)
        ranks[self.ids.arg_sort().to_numpy()] = np.arange(len(ranks))
        return ranks

    def texts(self, start: int, stop: int) -> tuple[pl.Series, pl.Series]:
        """Prompts and answers of some; the answers of all would take as much memory as all that was read."""
        prompt, answered = self._frame[start:stop].select("prompt", answer())
        return prompt, answered

    def parts(self, size: int) -> Iterator[tuple[int, int]]:
        """Consecutive interactions with about so many bytes of text."""
        start = 0
        while start < len(self._ends):
            before = int(self._ends[start - 1]) if start else 0
            stop = max(int(np.searchsorted(self._ends, before + size, side="right")), start + 1)
            yield start, stop
            start = stop

    def groups(self, start: int, stop: int) -> list[ProjectDayRange]:
        """The same project and day together."""
        project, day = self._project[start:stop], self._day[start:stop]
        cuts = np.flatnonzero((np.diff(project) != 0) | (np.diff(day) != 0)) + 1
        bounds = [0, *cuts.tolist(), stop - start]
        return [
            ProjectDayRange(int(project[begin]), int(day[begin]), start + begin, start + end)
            for begin, end in pairwise(bounds)
        ]


class ProjectDayMemories(NamedTuple):
    """Memories of a project's day: `documents` are their passages; those of memory m begin at `firsts[m]`.

    `span_memory`, `span_from` and `span_until` tell when a memory was eligible.
    """

    documents: Integers
    firsts: Integers
    span_memory: Integers
    span_from: Integers
    span_until: Integers


class PoolArrays:
    """Memories by project and day.

    A memory with one of its texts has a rank, in order of id and text. Its passages are documents, in that order and
    by place: where all memories have one, ranks and documents are the same. `text`, by document, is a place in
    `contents`.
    """

    def __init__(self, spans: pl.DataFrame) -> None:
        """`spans`: memory_id, content, project_at (NULL: every project), day_at, valid_from, valid_until."""
        texts = spans.select("memory_id", "content").unique()
        contents = texts.select("content").filter(pl.col("content").is_first_distinct()).sort("content")
        ranked = (
            texts.join(contents.with_row_index("text"), on="content").sort("memory_id", "text").with_row_index("rank")
        )
        # the ids and texts of many days are held no longer than it takes to number them
        numbered = (
            spans.lazy()
            .join(ranked.lazy().drop("text"), on=["memory_id", "content"])
            .select(
                "project_at",
                "day_at",
                "rank",
                pl.col("valid_from").dt.timestamp("us"),
                pl.col("valid_until").dt.timestamp("us").fill_null(_FOREVER),
            )
            .sort("project_at", "day_at", "rank", "valid_from", nulls_last=True)
            .collect()
        )
        self._memory_ids = ranked["memory_id"]
        self._take_texts(contents["content"], ranked["text"].cast(pl.Int64))
        self._rank = numbered["rank"].to_numpy()
        self._from, self._until = numbered["valid_from"].to_numpy(), numbered["valid_until"].to_numpy()
        places = (
            numbered.with_row_index("place")
            .group_by("project_at", "day_at")
            .agg(pl.col("place").min().alias("start"), pl.col("place").max().alias("last"))
        )
        self._places = {(project, day): slice(start, last + 1) for project, day, start, last in places.iter_rows()}

    def _take_texts(self, contents: pl.Series, text: pl.Series) -> None:
        self.contents, self.text = contents, text.to_numpy()
        self._passages: pl.DataFrame | None = None
        self._firsts = self._rank_of = np.zeros(0, np.int64)
        if not contents.to_frame("content").select(is_long(pl.col("content")).any()).item():
            return
        whole = pl.DataFrame({"text": text}).with_row_index("rank")
        documents = whole.join(compared_texts(contents), on="text", maintain_order="left_right")
        self.contents = documents["read"].unique().sort()
        places = self.contents.to_frame("read").with_row_index("place")
        self.text = documents.join(places, on="read", maintain_order="left")["place"].cast(pl.Int64).to_numpy()
        self._rank_of = documents["rank"].cast(pl.Int64).to_numpy()
        self._firsts = np.append(np.flatnonzero(np.diff(self._rank_of, prepend=-1)), len(self._rank_of))
        self._passages = documents.select("passage", "passage_at")

    def ranks(self, documents: Integers) -> Integers:
        """The ranks of the memories of documents: in order of their ids."""
        return documents if self._passages is None else self._rank_of[documents]

    def document_passages(self, documents: Integers) -> pl.DataFrame:
        """memory_id, passage and passage_at (NULL where the memory is one passage) of documents."""
        if self._passages is None:
            about = self._memory_ids.gather(documents).alias("memory_id").to_frame()
            return about.with_columns(passage=pl.lit(None, pl.String), passage_at=pl.lit(None, pl.Int64))
        about = self._memory_ids.gather(self._rank_of[documents]).alias("memory_id").to_frame()
        return about.hstack(self._passages[documents])

    def of(self, project: int, day: int) -> ProjectDayMemories:
        """The memories that were eligible in a project on a day."""
        parts = [self._places.get(key, slice(0)) for key in ((project, day), (None, day))]
        rank, valid_from, valid_until = (
            np.concatenate([array[part] for part in parts]) for array in (self._rank, self._from, self._until)
        )
        ranks, place = np.unique(rank, return_inverse=True)
        ranks = ranks.astype(np.int64)
        documents, firsts = ranks, np.arange(len(ranks) + 1)
        if self._passages is not None:
            counts = self._firsts[ranks + 1] - self._firsts[ranks]
            firsts = np.append(0, np.cumsum(counts))
            documents = np.arange(firsts[-1]) + np.repeat(self._firsts[ranks] - firsts[:-1], counts)
        return ProjectDayMemories(documents, firsts, place.astype(np.int64), valid_from, valid_until)
