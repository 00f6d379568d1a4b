"""Labelled dialogues whose observations are joined into longer memories, and how a ranking of pairs is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

_SEED = 5


@dataclass(frozen=True)
class Joined:
    """Observations that followed each other in a session, or any, are one memory, from so many characters on.

    `share`: of the memories so many begin with an observation that is joined with others; the rest stand alone.
    """

    characters: int
    of_one_session: bool = True
    share: float = 1.0
    separator: str = " "

    def of(self, memories: pl.DataFrame) -> list[tuple[str, list[str]]]:
        """Text of each memory, and the observations in it. `memories`: id, content, in order of appearance."""
        chance = np.random.default_rng(_SEED)
        rows = memories.select("id", "content", pl.col("id").str.extract(r"-o-(\d+)-").alias("session")).rows()
        if not self.of_one_session:
            rows = [(*rows[at][:2], "") for at in chance.permutation(len(rows))]
        found: list[tuple[str, list[str]]] = []
        texts, ids, session_before = [], [], None
        for id_, content, session in rows:
            if texts and session != session_before:
                found.append((self.separator.join(texts), ids))
                texts, ids = [], []
            session_before = session
            texts, ids = [*texts, content], [*ids, id_]
            is_alone = len(texts) == 1 and chance.random() >= self.share
            if is_alone or len(self.separator.join(texts)) >= self.characters:
                found.append((self.separator.join(texts), ids))
                texts, ids = [], []
        return [*found, *([(self.separator.join(texts), ids)] if texts else [])]


def recall_at(precision: float, parts: list[tuple[Any, Any]]) -> float:
    """Of what is linked, the largest share that any threshold finds with this precision or better."""
    scores, gold = (np.concatenate(part) for part in zip(*parts, strict=True))
    ranked = gold[np.argsort(-scores, kind="stable")]
    found = np.cumsum(ranked)
    enough = found / np.arange(1, len(ranked) + 1) >= precision
    return float(found[enough].max(initial=0) / ranked.sum())


def average_precision(parts: list[tuple[Any, Any]]) -> float:
    """The mean, over what is linked, of the precision of all that ranks as high."""
    scores, gold = (np.concatenate(part) for part in zip(*parts, strict=True))
    ranked = gold[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked].mean())
