"""How prompt, answer and both together touch the memories that may have been used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Booleans, Floats, Integers, SingleFloats
from slowwave.transforms.evidence.used.pool import ComparedMemories, text_directions
from slowwave.transforms.evidence.used.word_matches import LENGTH, ONE

# Features are rounded to these steps: sums and spreads over the candidates of an answer are sums of integers.
STEPS = 10_000
_INELIGIBLE = -(2**40)
TEXTS = ("prompt", "answer", "both")


@dataclass(frozen=True)
class Texts:
    """Word counts of prompts and answers (CSR, texts x words of the forms), row by row the same interactions."""

    prompt: Any
    answer: Any


@dataclass(frozen=True)
class CandidateFeatures:
    """`memory` (or passage) is interactions x candidates, -1: none; `features` has a float of that shape per name."""

    memory: Integers
    features: dict[str, Floats]


@dataclass(frozen=True)
class _Text:
    """One of prompt, answer and both, of every interaction. `has`, `near` and `blend` are by known word, then none."""

    mass: Integers
    squares: Integers
    meaning: SingleFloats  # direction of the summed word vectors
    wording: SingleFloats  # and of their signs
    has: NDArray[np.int32]  # 0 or 1
    near: NDArray[np.int32]  # 0-256: has it, or something like it
    blend: Integers  # weights of the words that are like it, times likeness


def candidate_features(
    texts: Texts,
    memories: ComparedMemories,
    eligible: Booleans | None,
    likeness: Any,  # noqa: ANN401 - scipy has no types
    limit: int,
    firsts: Integers | None = None,
) -> CandidateFeatures:
    """The memories nearest to each interaction, with what a model weighs.

    Args:
        texts: prompts and answers.
        memories: of the interactions' project; by passage, where they are compared so.
        eligible: interactions x memories; None: all.
        likeness: words of the forms x known words.
        limit: candidates kept per interaction.
        firsts: by memory, its first passage; each stands for its memory that is nearest. None: each is a memory.
    """
    counts = {"prompt": texts.prompt, "answer": texts.answer, "both": texts.prompt + texts.answer}
    text = {name: _text(count, memories, likeness) for name, count in counts.items()}
    chosen = _nearest(text, memories, eligible, limit, np.arange(len(memories.mass)) if firsts is None else firsts)
    is_real = chosen >= 0
    memory = np.maximum(chosen, 0)
    values: dict[str, Floats] = {}
    for name in TEXTS:
        values |= {f"{name}_{kind}": found for kind, found in _overlaps(text[name], memories, memory).items()}
        values[f"{name}_meaning"] = _cosine(text[name].meaning, memories.meaning[memory])
    values = {name: np.where(is_real, np.rint(value * STEPS), 0) for name, value in values.items()}
    values |= _standing(values, is_real)
    values |= {name: value * STEPS for name, value in _names(text, memories, memory).items()}
    return CandidateFeatures(
        chosen, {name: value / STEPS for name, value in values.items()} | _sizes(text, memories, memory)
    )


def _text(counts: Any, memories: ComparedMemories, likeness: Any) -> _Text:  # noqa: ANN401 - scipy has no types
    has = counts.astype(bool).astype(np.int64)
    weighted = has.copy()
    weighted.data = memories.weight[has.indices]
    meaning, wording = text_directions(has, memories.weight, memories.forms)
    none = ((0, 0), (0, 1))
    return _Text(
        mass=has @ memories.weight,
        squares=has @ memories.weight**2,
        meaning=meaning,
        wording=wording,
        has=np.pad(has[:, memories.known].toarray().astype(np.int32), none),
        near=np.pad(np.minimum((has @ likeness).toarray(), ONE).astype(np.int32), none),
        blend=np.pad((weighted @ likeness).toarray(), none),
    )


def _nearest(
    text: dict[str, _Text], memories: ComparedMemories, eligible: Booleans | None, limit: int, firsts: Integers
) -> Integers:
    """The memories nearest to answer and both in meaning and wording, each by its nearest passage, nearest first.

    Ties go by place.
    """
    # no partial sum exceeds the product of the lengths, (2 x 2000) x 2000 each, so float32 is exact
    near = sum(
        (getattr(text["answer"], side) + getattr(text["both"], side)) @ getattr(memories, side).T
        for side in ("meaning", "wording")
    )
    score = np.asarray(near, np.int64)
    count = score.shape[1]
    rank = score * count + np.arange(count)[::-1]
    if len(firsts) < count:
        rank = np.maximum.reduceat(rank, firsts, axis=1)
    if eligible is not None:
        rank = np.where(eligible, rank, _INELIGIBLE * count)
    if rank.shape[1] > limit:
        kept = np.argpartition(-rank, limit - 1, axis=1)[:, :limit]
        rank = np.take_along_axis(rank, kept, axis=1)
    rank = -np.sort(-rank, axis=1)
    place = count - 1 - rank % count
    found = np.full((len(score), limit), -1)
    found[:, : place.shape[1]] = np.where(rank // count > _INELIGIBLE, place, -1)
    return found


def _cosine(text: SingleFloats, memory: SingleFloats) -> Floats:
    """Of the direction of each text with those of its candidates."""
    return (memory @ text[:, :, None])[:, :, 0].astype(np.float64) / LENGTH**2


def _overlaps(text: _Text, memories: ComparedMemories, memory: Integers) -> dict[str, Floats]:
    """What the words of a text and of a memory have in common, by weight."""
    weights = memories.known_weight
    sums = {name: np.zeros(memory.shape, np.int64) for name in ("same", "squares", "near", "blend", "rarest")}
    row = np.arange(len(memory))[:, None] * text.has.shape[1]
    for nth in range(memories.words.shape[1]):
        word = memories.words[memory, nth]
        weight = weights[word]
        same = weight * text.has.take(row + word)
        sums["same"] += same
        sums["squares"] += same * weight
        sums["near"] += weight * text.near.take(row + word)
        sums["blend"] += weight * text.blend.take(row + word)
        sums["rarest"] = np.maximum(sums["rarest"], same)
    mass = np.maximum(memories.mass[memory], 1)
    length = np.sqrt(np.maximum(memories.squares[memory], 1))
    own = np.sqrt(np.maximum(text.squares, 1))[:, None]
    return {
        "covered": sums["same"] / mass,
        "nearly": sums["near"] / (mass * ONE),
        "cosine": sums["squares"] / (length * own),
        "blend": sums["blend"] / (length * own * ONE),
        "strength": sums["near"] / (length * ONE),
        "share": sums["same"] / np.maximum(text.mass, 1)[:, None],
        "rarest": sums["rarest"] / (8 * ONE),
    }


def _names(text: dict[str, _Text], memories: ComparedMemories, memory: Integers) -> dict[str, Floats]:
    """Whether prompt and answer name what the memory names, or what it does not; whether it names what neither does."""
    row = np.arange(len(memory))[:, None] * text["prompt"].has.shape[1]
    shared = {name: np.zeros(memory.shape, np.int64) for name in TEXTS}
    named = np.zeros(memory.shape, np.int64)
    for nth in range(memories.words.shape[1]):
        word = memories.words[memory, nth]
        is_name = memories.is_name[word]
        named += is_name
        for name in TEXTS:
            shared[name] += is_name & (text[name].has.take(row + word) > 0)
    found = {"names_foreign": named > shared["both"]}
    for name in ("prompt", "answer"):
        of_text = (text[name].has * memories.is_name).sum(axis=1)[:, None]
        found[f"{name}_named"] = shared[name] > 0
        found[f"{name}_names_missed"] = of_text > shared[name]
    return {name: value.astype(np.float64) for name, value in found.items()}


def _standing(values: dict[str, Floats], is_real: Booleans) -> dict[str, Floats]:
    """How each candidate stands among those of its interaction."""
    count = np.maximum(is_real.sum(axis=1, keepdims=True), 1)
    found = {}
    for name in (f"{text}_{kind}" for text in TEXTS for kind in ("cosine", "blend", "strength", "meaning")):
        value = values[name]
        mean = value.sum(axis=1, keepdims=True) / count
        spread = np.sqrt(np.maximum((value**2).sum(axis=1, keepdims=True) / count - mean**2, 0))
        found[f"{name}_z"] = np.rint(STEPS * (value - mean) / (spread + STEPS / 50)) * is_real
        ranked = np.sort(value, axis=1)[:, ::-1]
        second = ranked[:, 1:2] if ranked.shape[1] > 1 else ranked * 0
        found[f"{name}_lead"] = np.where(value >= ranked[:, :1], value - second, value - ranked[:, :1]) * is_real
    return found


def _sizes(text: dict[str, _Text], memories: ComparedMemories, memory: Integers) -> dict[str, Floats]:
    masses = {name: np.log1p(part.mass / (ONE * 4))[:, None] for name, part in text.items()}
    return {
        "answer_mass": np.broadcast_to(masses["answer"], memory.shape),
        "prompt_mass": np.broadcast_to(masses["prompt"], memory.shape),
        "memory_mass": np.log1p(memories.mass[memory] / (ONE * 4)),
        "pool": np.full(memory.shape, np.log1p(len(memories.mass))),
    }
