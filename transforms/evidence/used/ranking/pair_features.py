"""What `used/3` weighs of a pair: what answer and memory share, and how far the memory stands out from its pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.evidence.used.ranking.nearest_pairs import (
    STEPS,
    NearestPairs,
    PoolCosines,
    pair_cosines,
    passages_of,
)
from slowwave.transforms.evidence.used.ranking.shared_stems import STEP, TEXTS

# Added to a spread, in steps: pools in which nothing is alike have none.
_LEAST_SPREAD = 200
KINDS = ("cosine", "z", "lead", "mass")
_SQUARED = ("answer_cosine",)
_BY_ANSWER_MASS = ("answer_cosine", "answer_z", "answer_lead", "all_z", "all_lead", "prompt_z")
FEATURES = (
    *(f"{text}_{kind}" for text in TEXTS for kind in KINDS),
    "memory_mass",
    "memory_passages",
    "pool_size",
    "answer_mass_of_all",
    "new_mass_of_all",
    "prompt_mass_of_all",
    *(f"{name}_squared" for name in _SQUARED),
    *(f"{name}_by_answer_mass" for name in _BY_ANSWER_MASS),
    "new_cosine_by_new_mass",
    "prompt_cosine_by_new_cosine",
)


@dataclass(frozen=True)
class RankedPairs:
    """Pairs in order of interaction, and by name what a model weighs."""

    row: Integers
    document: Integers
    features: dict[str, Floats]


def ranked_pairs(nearest: NearestPairs, memory: Integers, pool_size: Integers) -> RankedPairs:
    """The nearest pairs with their features; `memory` is by document, `pool_size` by row."""
    pairs, documents = nearest.shared, nearest.documents
    common, whole = pairs.parts(), nearest.texts.parts()
    cosine = pair_cosines(pairs, nearest.texts, documents, memory)
    of_row = pairs.row
    values: dict[str, Floats] = {}
    for name in TEXTS:
        standing = _standing(cosine[name], of_row, nearest.pool[name], pool_size)
        values |= {f"{name}_{kind}": value for kind, value in zip(KINDS[:3], standing, strict=True)}
        values[f"{name}_mass"] = np.log1p(common[name].weights / STEP)
        values[f"{name}_mass_of_all"] = np.log1p(whole[name].weights / STEP)[of_row]
    values["memory_mass"] = np.log1p(documents.weights / STEP)[pairs.document]
    values["memory_passages"] = np.log(passages_of(memory))[pairs.document]
    values["pool_size"] = np.log(pool_size)[of_row]
    values |= {f"{name}_squared": values[name] ** 2 for name in _SQUARED}
    values |= {f"{name}_by_answer_mass": values[name] * values["answer_mass_of_all"] for name in _BY_ANSWER_MASS}
    values["new_cosine_by_new_mass"] = values["new_cosine"] * values["new_mass_of_all"]
    values["prompt_cosine_by_new_cosine"] = values["prompt_cosine"] * values["new_cosine"]
    return RankedPairs(of_row, pairs.document, {name: values[name] for name in FEATURES})


def _standing(value: Integers, row: Integers, pool: PoolCosines, pool_size: Integers) -> tuple[Floats, Floats, Floats]:
    """Of each pair: cosine, how many spreads above its pool's mean, how far above or below the best other."""
    mean, squares = pool.total / pool_size, pool.squares / pool_size
    spread = np.sqrt(np.maximum(squares - mean**2, 0)) + _LEAST_SPREAD
    best = pool.best[row]
    lead = value - np.where(value >= best, pool.second[row], best)
    return value / STEPS, (value - mean[row]) / spread[row], lead / STEPS
