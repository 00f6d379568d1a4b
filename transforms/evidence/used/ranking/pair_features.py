"""What `used/3` weighs of a pair: what answer and memory share, and how far the memory stands out from its pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.evidence.used.ranking.shared_stems import STEP, SharedPairs, TextMass

# Cosines are integers in these steps: sums and spreads over a pool are sums of integers.
STEPS = 10_000
# Added to a spread, in steps: pools in which nothing is alike have none.
_LEAST_SPREAD = 200
# The best of many passages is near by chance: what it shares counts less, by the logarithm of their number.
_DISCOUNT = 0.5
TEXTS = ("answer", "new", "prompt", "all")
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
class TextMasses:
    """Of each interaction: what its answer, its prompt, and stems that both have weigh."""

    answer: TextMass
    prompt: TextMass
    both: TextMass

    def parts(self) -> dict[str, TextMass]:
        """By name of a text, see `TEXTS`: the answer, what is new in it, the prompt, and answer and prompt together."""
        return _parts(self.answer, self.prompt, self.both)


@dataclass(frozen=True)
class RankedPairs:
    """Pairs in order of interaction, and by name what a model weighs."""

    row: Integers
    document: Integers
    features: dict[str, Floats]


def _parts(answer: TextMass, prompt: TextMass, both: TextMass) -> dict[str, TextMass]:
    new = TextMass(answer.weights - both.weights, answer.squares - both.squares)
    together = TextMass(new.weights + prompt.weights, new.squares + prompt.squares)
    return dict(zip(TEXTS, (answer, new, prompt, together), strict=True))


def ranked_pairs(
    shared: SharedPairs,
    texts: TextMasses,
    documents: TextMass,
    memory: Integers,
    is_eligible: Booleans,
    pool_size: Integers,
    limit: int,
) -> RankedPairs:
    """The memories nearest to each answer that share a stem with it, each by its nearest passage.

    Args:
        shared: pairs of interactions and documents.
        texts: of each interaction.
        documents: what each weighs.
        memory: by document, whose passage it is.
        is_eligible: by pair.
        pool_size: by interaction, the memories of its pool.
        limit: memories kept per interaction.
    """
    common, whole = _parts(shared.answer, shared.prompt, shared.both), texts.parts()
    passages = np.bincount(memory)[memory]
    discount = (1 / (1 + _DISCOUNT * np.log(passages)))[shared.document]
    cosine = {
        name: np.rint(
            STEPS
            * discount
            * (common[name].squares / np.sqrt(np.maximum(whole[name].squares[shared.row] * 1.0, 1)))
            / np.sqrt(np.maximum(documents.squares[shared.document] * 1.0, 1))
        ).astype(np.int64)
        for name in TEXTS
    }
    nearness = cosine["answer"] + cosine["all"]
    kept = _nearest_passages(shared, nearness, memory, is_eligible)
    row = shared.row[kept]
    touched = np.flatnonzero(shared.answer.weights[kept] > 0)
    chosen = touched[_first_of_each(row[touched], nearness[kept][touched], limit)]
    pair, of_row = kept[chosen], row[chosen]
    values: dict[str, Floats] = {}
    for name in TEXTS:
        standing = _standing(row, cosine[name][kept], pool_size, chosen)
        values |= {f"{name}_{kind}": value for kind, value in zip(KINDS[:3], standing, strict=True)}
        values[f"{name}_mass"] = np.log1p(common[name].weights[pair] / STEP)
        values[f"{name}_mass_of_all"] = np.log1p(whole[name].weights[of_row] / STEP)
    values["memory_mass"] = np.log1p(documents.weights[shared.document[pair]] / STEP)
    values["memory_passages"] = np.log(passages[shared.document[pair]])
    values["pool_size"] = np.log(pool_size[of_row])
    values |= {f"{name}_squared": values[name] ** 2 for name in _SQUARED}
    values |= {f"{name}_by_answer_mass": values[name] * values["answer_mass_of_all"] for name in _BY_ANSWER_MASS}
    values["new_cosine_by_new_mass"] = values["new_cosine"] * values["new_mass_of_all"]
    values["prompt_cosine_by_new_cosine"] = values["prompt_cosine"] * values["new_cosine"]
    return RankedPairs(of_row, shared.document[pair], {name: values[name] for name in FEATURES})


def _nearest_passages(shared: SharedPairs, nearness: Integers, memory: Integers, is_eligible: Booleans) -> Integers:
    """Places of the eligible pairs, of each memory the passage that is nearest; of equal ones the first."""
    kept = np.flatnonzero(is_eligible)
    if len(memory) == memory[-1] + 1:
        return kept
    of_memory = memory[shared.document[kept]]
    order = np.lexsort((kept, -nearness[kept], of_memory, shared.row[kept]))
    kept, of_memory = kept[order], of_memory[order]
    is_first = np.diff(of_memory, prepend=-1) != 0
    is_first |= np.diff(shared.row[kept], prepend=-1) != 0
    return kept[is_first]


def _first_of_each(row: Integers, nearness: Integers, limit: int) -> Integers:
    """Places of the `limit` nearest of each row, in order; ties go by place."""
    order = np.lexsort((-nearness, row))
    first = np.flatnonzero(np.diff(row[order], prepend=-1))
    nth = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return np.sort(order[nth < limit])


def _standing(row: Integers, cosine: Integers, pool_size: Integers, chosen: Integers) -> tuple[Floats, Floats, Floats]:
    """Of the `chosen` pairs: cosine, how many spreads above its pool's mean, how far above or below the best other."""
    of_row, value = row[chosen], cosine[chosen]
    # whole numbers below 2**53: exact in any order
    total = np.bincount(row, cosine, len(pool_size))[of_row] / pool_size[of_row]
    squares = np.bincount(row, cosine**2, len(pool_size))[of_row] / pool_size[of_row]
    spread = np.sqrt(np.maximum(squares - total**2, 0)) + _LEAST_SPREAD
    first = np.flatnonzero(np.diff(row, prepend=-1))
    best, second = np.zeros((2, len(pool_size)), np.int64)
    if len(first):
        best[row[first]] = np.maximum.reduceat(cosine, first)
        is_best = np.flatnonzero(cosine == best[row])
        is_best = is_best[np.diff(row[is_best], prepend=-1) != 0]
        others = cosine.copy()
        others[is_best] = 0
        second[row[first]] = np.maximum.reduceat(others, first)
    lead = value - np.where(value >= best[of_row], second[of_row], best[of_row])
    return value / STEPS, (value - total) / spread, lead / STEPS
