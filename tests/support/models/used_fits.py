"""Labelled dialogues whose observations are joined into longer memories, and how a ranking of pairs is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from slowwave.transforms.language.terms import gram_counts, word_counts
from slowwave.transforms.language.word_vectors import WordVectors

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


def hit_at_1(row: Any, score: Any, gold: Any, linked_rows: Any) -> float:
    """Of the rows with a link, the share whose best pair is linked."""
    order = np.lexsort((-score, row))
    first = order[np.diff(row[order], prepend=-1) != 0]
    return float(gold[first].sum() / len(np.unique(linked_rows)))


def rank_correlation(one: Any, other: Any) -> float:
    """Spearman's; ties have their mean rank."""
    ranks = [pl.Series(values).rank("average").to_numpy() for values in (one, other)]
    return float(np.corrcoef(ranks)[0, 1]) if all(np.ptp(rank) > 0 for rank in ranks) else float("nan")


def baseline_scores(asked: pl.DataFrame, held: pl.DataFrame, word_vectors: WordVectors) -> dict[str, Any]:
    """By name of a simple likeness: row, memory and score of every answer, with its prompt, and memory of a unit."""
    found: dict[str, list[Any]] = {name: [] for name in ("TF-IDF", "BM25", "characters", "WordLlama")}
    for (unit,), rows in asked.group_by("unit", maintain_order=True):
        own = held.filter(pl.col("unit") == unit)
        if own.is_empty():
            continue
        texts = rows.select(pl.concat_str("prompt", "response", separator=" "))["prompt"]
        every = pl.concat([texts.alias("text"), own["content"].alias("text")])
        counted, split = word_counts(every), rows.height
        words, grams = (sp.csr_array(counts.astype(float)) for counts in (counted.matrix, gram_counts(every)))
        scores = {
            "TF-IDF": _cosines(_weigh(words, split), split),
            "BM25": _weigh_by_length(words, split),
            "characters": _cosines(_weigh(grams, split), split),
            "WordLlama": _cosines(words @ word_vectors(counted.words).astype(float), split),
        }
        row = np.repeat(rows["place"].to_numpy(), own.height)
        memory = np.tile(own["place"].to_numpy(), rows.height)
        for name, score in scores.items():
            found[name].append((row, memory, score.ravel()))
    return {name: [np.concatenate(part) for part in zip(*parts, strict=True)] for name, parts in found.items()}


def _weigh(counts: Any, split: int) -> Any:
    frequency = np.bincount(counts[split:].indices, minlength=counts.shape[1])
    rarity = np.log((counts.shape[0] - split + 1) / (frequency + 0.5))
    return sp.csr_array(counts.astype(bool).multiply(np.maximum(rarity, 0)[None, :]))


def _cosines(rows: Any, split: int) -> Any:
    lengths = np.sqrt((rows.multiply(rows) if sp.issparse(rows) else rows**2).sum(axis=1)) + 1e-9
    product = rows[:split] @ rows[split:].T
    return (product.toarray() if sp.issparse(product) else product) / lengths[:split, None] / lengths[None, split:]


def _weigh_by_length(counts: Any, split: int) -> Any:
    """BM25 with k1 1.2 and b 0.75."""
    memories = sp.csr_array(counts[split:])
    sizes = memories.sum(axis=1)
    share = np.repeat(0.25 + 0.75 * sizes / max(sizes.mean(), 1), np.diff(memories.indptr))
    weighed = memories.copy()
    weighed.data = 2.2 * memories.data / (memories.data + 1.2 * share)
    return (_weigh(counts, split)[:split] @ weighed.T).toarray()
