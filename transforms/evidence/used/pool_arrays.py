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
from slowwave.transforms.language.text_windows import WORD

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
    """Distinct texts of memories of a project's day: their passages are `documents`, of text m from `firsts[m]` on.

    `span_memory`, `span_from` and `span_until` tell when a text was eligible, `span_rank` as which memory's.
    """

    documents: Integers
    firsts: Integers
    span_memory: Integers
    span_rank: Integers
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
        self.contents = contents
        self.text = self._text_of = text.to_numpy()
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

    def documents_like(self, documents: Integers, ranks: Integers) -> Integers:
        """The same passages of other memories, by rank, with the same text."""
        return (
            ranks if self._passages is None else self._firsts[ranks] + documents - self._firsts[self.ranks(documents)]
        )

    def document_passages(self, documents: Integers) -> pl.DataFrame:
        """memory_id, passage and passage_at (NULL where the memory is one passage) of documents."""
        if self._passages is None:
            about = self._memory_ids.gather(documents).alias("memory_id").to_frame()
            return about.with_columns(passage=pl.lit(None, pl.String), passage_at=pl.lit(None, pl.Int64))
        about = self._memory_ids.gather(self._rank_of[documents]).alias("memory_id").to_frame()
        return about.hstack(self._passages[documents])

    def of(self, project: int, day: int) -> ProjectDayMemories:
        """The memories that were eligible in a project on a day; of equal texts one stands for all."""
        parts = [self._places.get(key, slice(0)) for key in ((project, day), (None, day))]
        rank, valid_from, valid_until = (
            np.concatenate([array[part] for part in parts]) for array in (self._rank, self._from, self._until)
        )
        # in order of their texts: which memories have a text decides no tie
        _, first, place = np.unique(self._text_of[rank], return_index=True, return_inverse=True)
        ranks = rank[first].astype(np.int64)
        documents, firsts = ranks, np.arange(len(ranks) + 1)
        if self._passages is not None:
            counts = self._firsts[ranks + 1] - self._firsts[ranks]
            firsts = np.append(0, np.cumsum(counts))
            documents = np.arange(firsts[-1]) + np.repeat(self._firsts[ranks] - firsts[:-1], counts)
        return ProjectDayMemories(
            documents, firsts, place.astype(np.int64), rank.astype(np.int64), valid_from, valid_until
        )


# A memory of no more is one passage: that much is compared whole (`used_pool`).
ONE_PASSAGE_CODE_POINTS = 300
ONE_PASSAGE_WORDS = 48
# A sentence of fewer words goes with the next one, unless so many more of the memory have come together.
_LEAST_WORDS = 8
_WORDS_TOGETHER = 16
# A longer sentence, or a text without any, is cut.
_MOST_TOKENS = 40
# To the end of a sentence and the space behind it, or of a line, or of the text: no code point is between two.
_SENTENCE = r"(?s).+?(?:[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’)\]]*\s*|\n\s*|\z)"  # noqa: RUF001 - full-width marks
_TOKENS = rf"\s*(?:\S+\s*){{1,{_MOST_TOKENS}}}"


def is_long(content: pl.Expr) -> pl.Expr:
    """Whether a text is looked at by passages: almost always it has several."""
    # the words of others are not counted
    many = pl.when(content.str.len_chars() > ONE_PASSAGE_CODE_POINTS).then(content)
    return (many.str.count_matches(WORD) > ONE_PASSAGE_WORDS).fill_null(value=False)


def passages(contents: pl.Series) -> pl.DataFrame:
    """The passages of those long texts that have several, in order.

    A passage is a sentence with the short ones before it: eight words or more, so that what is left of a text at its
    end goes with the passage before. Lines end sentences, too, and what has no end is cut after forty words.

    Args:
        contents: texts without NULL.

    Returns:
        text (place in `contents`), passage, passage_at (code points of the text before it): sorted.
    """
    texts = contents.rename("content").to_frame().with_row_index("text").lazy().filter(is_long(pl.col("content")))
    sentences = texts.select("text", pl.col("content").str.extract_all(_SENTENCE).alias("part")).explode("part")
    parts = sentences.with_columns(pl.col("part").str.extract_all(_TOKENS)).explode("part").collect()
    counted = parts.with_columns(
        pl.col("part").str.count_matches(WORD).cast(pl.Int64).alias("words"),
        pl.col("part").str.len_chars().cast(pl.Int64).alias("size"),
    )
    so_far, words = pl.col("words").cum_sum().over("text"), pl.col("words")
    many_together = so_far // _WORDS_TOGETHER > (so_far - words) // _WORDS_TOGETHER
    left = words.sum().over("text") - so_far
    is_last = (left >= _LEAST_WORDS) & ((words >= _LEAST_WORDS) | many_together)
    numbered = counted.with_columns(
        is_last.cast(pl.Int64).alias("is_last"), (pl.col("size").cum_sum().over("text") - pl.col("size")).alias("at")
    ).with_columns((pl.col("is_last").cum_sum().over("text") - pl.col("is_last")).alias("passage_number"))
    whole = numbered.group_by("text", "passage_number", maintain_order=True).agg(
        pl.col("part").str.join("").alias("raw"), pl.col("at").first()
    )
    space = pl.col("raw").str.len_chars() - pl.col("raw").str.strip_chars_start().str.len_chars()
    return (
        whole.select(
            pl.col("text").cast(pl.Int64),
            pl.col("raw").str.strip_chars().alias("passage"),
            (pl.col("at") + space.cast(pl.Int64)).alias("passage_at"),
        )
        .filter(pl.len().over("text") > 1)
        .sort("text", "passage_at")
    )


def compared_texts(contents: pl.Series) -> pl.DataFrame:
    """What of each text is compared: its passages, or all of it where it is one.

    Returns:
        text (place in `contents`), read (what is compared), passage and passage_at (as above; NULL: all of it): by
        text, then by place.
    """
    texts = contents.rename("content").to_frame().with_row_index("text").with_columns(pl.col("text").cast(pl.Int64))
    found = passages(contents)
    each = texts.join(found, on="text", how="left", maintain_order="left_right")
    return each.select("text", pl.coalesce("passage", "content").alias("read"), "passage", "passage_at")
