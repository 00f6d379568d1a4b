"""The most alike pairs of statements, for a closer look: of one type as they were compared, and across types."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.observations.merges.likeness import likeness_logits
from slowwave.transforms.observations.pairs.candidates import CandidatePairs, first_per, mix_keys
from slowwave.transforms.observations.pairs.relations import pair_similarity
from slowwave.transforms.observations.pairs.texts import PairTexts, products
from slowwave.transforms.observations.params import ObservationParams

_SIGNATURE = 5  # heaviest words, of which every two and every three are looked up across types
_ACROSS = 2  # statements of other types that each is compared with
_BLOCK = 16_384
_SCORED_PER_COMPARED = 2
_NEVER = -1


class NearStatements:
    """The statements in use that are nearly one, gathered while they are compared: of each project the most alike.

    left, right: numbers of statements, the smaller first; logits: see `likeness_logits`; filled by `look_closer`.
    """

    def __init__(self, statements: pl.DataFrame, params: ObservationParams) -> None:
        """`statements`: see `distinct_statements`."""
        self._statements, self._params = statements, params
        self._projects = statements["project"].rank("dense").cast(pl.Int64).to_numpy()
        self.left, self.right = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._alike, self.logits = np.zeros(0, np.int64), np.zeros(0)

    def is_alone(self) -> bool:
        """Whether no statement has another of its project and agent beside it, of whatever type."""
        return self._statements.select("project", "owner").is_unique().all()

    def add(self, left: Integers, right: Integers, alike: Integers) -> None:
        """Pairs that were compared, and how alike they are in 1/10,000; some at a time, in any order."""
        near = np.flatnonzero(alike >= round(self._params.near_similarity * 10_000))
        left, right = np.r_[self.left, left[near]], np.r_[self.right, right[near]]
        alike = np.r_[self._alike, alike[near]]
        of_project = self._projects[left]
        best = first_per(of_project, np.lexsort((right, left, -alike, of_project)), self._params.most_compared)
        self.left, self.right, self._alike = left[best], right[best], alike[best]

    def look_closer(self, texts: PairTexts) -> None:
        """Add pairs across types, and tell how likely each pair is one; `texts`: of the statements."""
        found = across_types(self._statements, texts)
        # only of the most alike by their vectors: to tell how alike two texts are takes as long as finding many
        of_project = self._projects[found.left]
        order = np.lexsort((found.right, found.left, -found.likeness, of_project))
        best = first_per(of_project, order, _SCORED_PER_COMPARED * self._params.most_compared)
        left, right = found.left[best], found.right[best]
        self.add(left, right, pair_similarity(texts, left, right, found.likeness[best]))
        self.logits = likeness_logits(texts, self.left, self.right)


def across_types(statements: pl.DataFrame, texts: PairTexts) -> CandidatePairs:
    """For each statement the most alike ones of its project and agent that are of another type, at most two.

    Statements are filed under every two and three of their heaviest words and under all their words. In a bucket one
    meets the last before it of another type, so the work grows with the number of statements, however alike they are.
    """
    none = CandidatePairs(*(np.zeros(0, np.int64) for _ in range(3)))
    numbered = statements.select(
        pl.struct("project", "owner").rank("dense").cast(pl.Int64).alias("family"),
        pl.struct("project", "scope").rank("dense").cast(pl.Int64).alias("scope"),
    )
    several = numbered.with_row_index("statement").filter(pl.col("scope").n_unique().over("family") > 1)
    if several.is_empty():
        return none
    asked = several["statement"].to_numpy().astype(np.int64)
    left, right = _find_pairs(asked, several["family"].to_numpy(), several["scope"].to_numpy(), texts)
    likeness = np.concatenate(
        [
            products(texts.sums[left[at : at + _BLOCK]], texts.sums[right[at : at + _BLOCK]])
            for at in range(0, max(1, len(left)), _BLOCK)
        ]
    )
    best = first_per(right, np.lexsort((-left, -likeness, right)), _ACROSS)
    return CandidatePairs(left[best], right[best], likeness[best])


def _find_pairs(asked: Integers, families: Integers, scopes: Integers, texts: PairTexts) -> tuple[Integers, Integers]:
    """Pairs of an earlier statement and one of `asked` that share a bucket and are of different types, each once."""
    words = texts.words[asked]
    bases = np.where(words >= 0, texts.bases.astype(np.int32)[words] if len(texts.bases) else 0, np.int32(_NEVER))
    heavy, count = bases[:, :_SIGNATURE].copy(), len(texts.lengths)
    bases.sort(axis=1)
    keys_of_all = mix_keys(families, *bases.T)
    del words, bases
    codes = [np.zeros(0, np.int64)]
    for places in (None, *combinations(range(_SIGNATURE), 2), *combinations(range(_SIGNATURE), 3)):
        if places is None:
            key, is_filed = keys_of_all, heavy[:, 0] >= 0
        else:
            chosen = np.sort(heavy[:, places], axis=1)
            key, is_filed = mix_keys(families, *chosen.T), chosen[:, 0] >= 0
        entries = np.flatnonzero(is_filed)
        entries = entries[np.argsort(key[entries], kind="stable")]
        keys, of_scope = key[entries], scopes[entries]
        is_begun = np.r_[True, (keys[1:] != keys[:-1]) | (of_scope[1:] != of_scope[:-1])][: len(entries)]
        begins = np.maximum.accumulate(np.where(is_begun, np.arange(len(entries)), 0))
        before = begins - 1  # of another type, if it has the same key
        is_met = (begins > 0) & (keys[before] == keys)
        one, other = asked[entries[before[is_met]]], asked[entries[is_met]]
        codes.append(np.maximum(one, other) * count + np.minimum(one, other))
    pairs = np.unique(np.concatenate(codes))
    return pairs % count, pairs // count
