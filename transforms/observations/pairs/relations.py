"""The relations of many pairs of statements at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.observations.pairs.candidates import RELATED_LIKENESS
from slowwave.transforms.observations.pairs.plain_wording import is_one_wording, plain_reading
from slowwave.transforms.observations.pairs.relation import NOTHING, Relation, relation
from slowwave.transforms.observations.pairs.scores import pair_features, similarity
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts
from slowwave.transforms.observations.params import ObservationParams

_ONE = 10_000
_SCORED_LIKENESS = UNIT * UNIT // 2  # vectors less alike than this: no fitted score would call the texts one fact


class TextPairs(NamedTuple):
    """Pairs of texts, by number: the one said earlier, the later one, and whether it was really said later."""

    earlier: Integers
    later: Integers
    is_later: np.ndarray[Any, np.dtype[np.bool_]]


def pair_similarity(texts: PairTexts, left: Integers, right: Integers, likeness: Integers) -> Integers:
    """How alike the texts of each pair are, in 1/10,000; 0 where their vectors tell that they are not."""
    out = np.zeros(len(left), np.int64)
    scored = likeness >= _SCORED_LIKENESS
    if scored.any():
        out[scored] = similarity(pair_features(texts, left[scored], right[scored]))
    return out


def pair_relations(
    contents: pl.Series,
    pairs: TextPairs,
    likeness: Integers,
    alike: Integers,
    params: ObservationParams,
) -> list[Relation]:
    """The relation of each pair of texts, given by number in `contents`; see `relation`."""
    found = [NOTHING] * len(alike)
    known: dict[tuple[int, int, bool], Relation] = {}
    related = np.flatnonzero(likeness >= RELATED_LIKENESS)
    spoken_of = np.unique(np.concatenate([pairs.earlier[related], pairs.later[related]]))
    said = dict(zip(spoken_of.tolist(), contents.gather(spoken_of).to_list(), strict=True))
    keys = zip(*(of[related].tolist() for of in pairs), strict=True)
    for at, key, score in zip(related.tolist(), keys, alike[related].tolist(), strict=True):
        if key not in known:
            one, other = said[key[0]], said[key[1]]
            likest = _ONE if is_one_wording(one, other) else score
            known[key] = relation(plain_reading(one), plain_reading(other), likest, params, is_later=key[2])
        found[at] = known[key]
    return found
