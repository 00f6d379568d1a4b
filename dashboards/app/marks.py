"""Where a memory's words stand in a text: its quote as `echo/1` looks for it, and words that both share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from slowwave.transforms.evidence.echo.echo import echo_pattern, normalise_text
from slowwave.transforms.evidence.params import PatternParams

QUOTED, SHARED = "quoted", "shared"
_SHORTEST_WORD, _MOST_WORDS = 5, 200


class MarkedSpan(NamedTuple):
    """A piece of a text; `kind`: QUOTED, SHARED, or '' for what is neither."""

    text: str
    kind: str


def mark_text(text: str, quotes: Sequence[str], used: Sequence[str], params: PatternParams) -> list[MarkedSpan]:
    """Return a text in pieces, what of it stands in memories marked.

    Args:
        text: a prompt or an answer.
        quotes: texts of memories that it quotes: marked is the whole memory, or what `echo/1` found of it.
        used: texts of memories, or their passages, that it uses: marked are the longer words that both have.
        params: how much of a memory `echo/1` looks for.
    """
    marked = [""] * len(text)
    for pattern in filter(None, [_shared_words(used)]):
        for found in pattern.finditer(text):
            marked[found.start() : found.end()] = [SHARED] * len(found[0])
    for patterns in _quotes(quotes, params):
        found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
        if found:
            marked[found.start() : found.end()] = [QUOTED] * len(found[0])
    return _spans(text, marked)


def cut_spans(spans: Iterable[MarkedSpan], most: int) -> tuple[list[MarkedSpan], list[MarkedSpan]]:
    """Return the pieces up to `most` characters, and the rest."""
    first: list[MarkedSpan] = []
    rest: list[MarkedSpan] = []
    left = most
    for text, kind in spans:
        first += [MarkedSpan(text[:left], kind)] if left else []
        rest += [MarkedSpan(text[left:], kind)] if len(text) > left else []
        left = max(0, left - len(text))
    return first, rest


def _quotes(memories: Sequence[str], params: PatternParams) -> list[list[re.Pattern[str]]]:
    """Of each memory what may stand in a text: all of it, or as much as is looked for."""
    texts = pl.DataFrame({"text": memories}, schema={"text": pl.String})
    rows = texts.select(normalise_text(pl.col("text")), echo_pattern(pl.col("text"), params).alias("begin")).iter_rows()
    return [[_anywhere(whole), _anywhere(begin)] for whole, begin in rows if begin]


def _anywhere(words: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)


def _shared_words(used: Sequence[str]) -> re.Pattern[str] | None:
    words = dict.fromkeys(word for text in used for word in re.findall(r"\w+", text) if len(word) >= _SHORTEST_WORD)
    found = "|".join(map(re.escape, list(words)[:_MOST_WORDS]))
    return re.compile(rf"\b(?:{found})\b", re.IGNORECASE) if found else None


def _spans(text: str, marked: Sequence[str]) -> list[MarkedSpan]:
    starts = [at for at in range(len(text)) if at == 0 or marked[at] != marked[at - 1]]
    ends = [*starts[1:], len(text)]
    return [MarkedSpan(text[start:end], marked[start]) for start, end in zip(starts, ends, strict=bool(starts))]
