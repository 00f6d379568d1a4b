"""What `used/3` weighs of a pair: what answer and memory share, and how far the memory stands out from its pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.evidence.used.ranking.meanings import Directions, Meanings, likeness
from slowwave.transforms.evidence.used.ranking.nearest_pairs import (
    STEPS,
    NearestPairs,
    PoolCosines,
    pair_cosines,
    passages_of,
    pool_cosines,
)
from slowwave.transforms.evidence.used.ranking.shared_stems import STEP, TEXTS

# Added to a spread, in steps: pools in which nothing is alike have none.
_LEAST_SPREAD = 200
# A memory of a smaller pool hardly stands out from it, and a shorter answer has little to share: other things tell.
_SMALL_POOL, _SHORT_ANSWER = np.log(32), 4.5
# The size of what is compared; its coefficients have any sign.
SIZES = (
    "memory_mass",
    "memory_passages",
    "answer_mass_of_all",
    "new_mass_of_all",
    "prompt_mass_of_all",
    "small_pool",
)
# The more of it, the likelier a use; a gain is a lead above 0, a lag one below.
EVIDENCE = (
    "new_mass",
    "new_cosine_root",
    "prompt_cosine_root",
    "all_lag",
    "all_meaning_cosine",
    "all_meaning_z",
    "answer_z_by_answer_mass",
    "answer_gain_by_answer_mass",
    "answer_lag_by_answer_mass",
    "memory_share_by_answer_mass",
    "answer_cosine_by_small_pool",
    "answer_meaning_cosine_by_small_pool",
    "prompt_z_by_short_answer",
    "prompt_cosine_by_short_answer",
    "all_lead_by_short_answer",
)
FEATURES = (*SIZES, *EVIDENCE)
_FACTORS = {"answer_mass": "answer_mass_of_all", "small_pool": "small_pool", "short_answer": "short_answer"}


@dataclass(frozen=True)
class RankedPairs:
    """Pairs in order of interaction, and by name what a model weighs."""

    row: Integers
    document: Integers
    features: dict[str, Floats]


def ranked_pairs(
    nearest: NearestPairs,
    meanings: Meanings,
    multiply: Callable[[Directions, Directions, Integers, Integers], Integers],
    memory: Integers,
    pool_size: Integers,
) -> RankedPairs:
    """The nearest pairs with their features; `multiply` as `dot_products`, `memory` by document, `pool_size` by row."""
    pairs, documents = nearest.shared, nearest.documents
    common, whole = pairs.parts(), nearest.texts.parts()
    cosine = pair_cosines(pairs, nearest.texts, documents, memory)
    of_row, sizes = pairs.row, np.maximum(pool_size, 1)
    values: dict[str, Floats] = {}
    for name in TEXTS:
        values |= _named(name, _standing(cosine[name], of_row, nearest.pool[name], sizes))
        values[f"{name}_mass_of_all"] = np.log1p(whole[name].weights / STEP)[of_row]
    candidates = np.bincount(of_row, minlength=len(pool_size))
    for name, directions in (("answer", meanings.answers), ("all", meanings.together)):
        alike = likeness(multiply(directions, meanings.contents, of_row, meanings.text[pairs.document]), STEPS)
        among = pool_cosines(of_row, alike, len(pool_size))
        values |= _named(f"{name}_meaning", _standing(alike, of_row, among, np.maximum(candidates, 1)))
    held = documents.weights[pairs.document]
    values["new_mass"] = np.log1p(common["new"].weights / STEP)
    values["memory_mass"] = np.log1p(held / STEP)
    values["memory_passages"] = np.log(passages_of(memory))[pairs.document]
    values["memory_share"] = (common["answer"].weights + STEP) / (held + STEP)
    values["small_pool"] = np.maximum(_SMALL_POOL - np.log(sizes), 0)[of_row]
    values["short_answer"] = np.maximum(_SHORT_ANSWER - values["answer_mass_of_all"], 0)
    for name in ("answer", "all"):
        values[f"{name}_gain"] = np.maximum(values[f"{name}_lead"], 0)
        values[f"{name}_lag"] = np.minimum(values[f"{name}_lead"], 0)
    for name in ("new", "prompt"):
        values[f"{name}_cosine_root"] = np.sqrt(values[f"{name}_cosine"])
    for feature in FEATURES:
        if feature not in values:
            name, _, other = feature.partition("_by_")
            values[feature] = values[name] * values[_FACTORS[other]]
    return RankedPairs(of_row, pairs.document, {name: values[name] for name in FEATURES})


def _named(name: str, standing: tuple[Floats, Floats, Floats]) -> dict[str, Floats]:
    return dict(zip((f"{name}_cosine", f"{name}_z", f"{name}_lead"), standing, strict=True))


def _standing(value: Integers, row: Integers, pool: PoolCosines, pool_size: Integers) -> tuple[Floats, Floats, Floats]:
    """Of each pair: cosine, how many spreads above its pool's mean, how far above or below the best other."""
    mean, squares = pool.total / pool_size, pool.squares / pool_size
    spread = np.sqrt(np.maximum(squares - mean**2, 0)) + _LEAST_SPREAD
    best = pool.best[row]
    lead = value - np.where(value >= best, pool.second[row], best)
    return value / STEPS, (value - mean[row]) / spread[row], lead / STEPS
