"""Logs in which it is known what each memory does to success: to grade whatever estimates it from a log.

A memory's true effect is how much likelier success becomes by putting it into the prompt, everything else as it was,
averaged over the interactions that offered it. `effects_world(kind, seed)` makes one world; `WORLDS` are graded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
import polars as pl

RANDOMISED = ("randomised", "interference", "drift", "missing outcomes", "spill-over")
"""Each offered memory is injected by a draw of its own, of a logged probability; what is offered hangs on the case."""
CONFOUNDED = ("difficulty", "recency", "popularity", "hidden difficulty", "mixed")
"""The best three offered are injected, and nothing is drawn: what makes a memory be chosen also changes success."""
SEEDS = (1, 2, 3, 4)
WORLDS = tuple((kind, seed) for kind in (*RANDOMISED, *CONFOUNDED) for seed in SEEDS)
"""Kind and seed of the worlds that are graded: 20 of each sort. Tune on other seeds."""

START = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
DAYS = 120
_SESSION, _OFFERED, _INJECTED, _PROJECTS, _TYPES, _TASKS = 3, 5, 3, 2, 4, 10
_LEAST_EFFECT, _MOST_EFFECT = 0.1, 0.25
_HARD, _KNOWN = 0.4, 0.7  # share of cases that are hard in themselves, of outcomes that are told where some are missing
_OFFER = pl.Struct({"id": pl.String, "rank": pl.Int64, "score": pl.Float64})

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EffectsWorld:
    """A log in the landing contract's columns, and what is true of it.

    `truth`: memory_id, effect (difference of probabilities), injected_share of the interactions that offered it.
    """

    kind: str
    interactions: pl.DataFrame
    outcomes: pl.DataFrame
    memories: pl.DataFrame
    truth: pl.DataFrame

    @property
    def is_randomised(self) -> bool:
        """Whether chance alone decided what was injected."""
        return self.kind in RANDOMISED


@dataclass(frozen=True)
class _Cases:
    """What an interaction is about; a row each, in their order."""

    day: Numbers
    project: npt.NDArray[np.int64]
    task: npt.NDArray[np.int64]
    hidden: Numbers
    base: Numbers
    session: npt.NDArray[np.int64]


def effects_world(
    kind: str, seed: int, *, count: int = 6000, memories: int = 100, affecting: int = 10, chance: float = 0.7
) -> EffectsWorld:
    """Return a world of a kind (`RANDOMISED`, `CONFOUNDED`); the same arguments give the same one.

    count: interactions. affecting: how many of the memories change success, by .10 to .25 up or down. chance: with
    which an offered memory is injected where chance decides.
    """
    if kind not in (*RANDOMISED, *CONFOUNDED):
        message = f"no kind of world: {kind!r}; kinds are {', '.join((*RANDOMISED, *CONFOUNDED))}"
        raise ValueError(message)
    random = np.random.default_rng([seed, sum(map(ord, kind))])
    cases = _make_cases(kind, count, random)
    size = np.zeros(memories)
    chosen = random.choice(memories, affecting, replace=False)
    size[chosen] = random.uniform(_LEAST_EFFECT, _MOST_EFFECT, affecting) * random.choice([-1, 1], affecting)
    born = np.where(np.arange(memories) % 4 == 0, random.uniform(0, DAYS / 2, memories), -30.0)
    score = _retrieve(kind, cases, born, random)
    offered = np.argsort(-score, axis=1)[:, :_OFFERED]
    score = np.take_along_axis(score, offered, axis=1)
    is_drawn = kind in RANDOMISED
    injected = random.random(offered.shape) < chance if is_drawn else np.arange(_OFFERED) < _INJECTED
    injected = np.broadcast_to(injected, offered.shape) & np.isfinite(score)
    effect = size[offered]
    if kind == "drift":  # what helped in January is true no more by May
        effect = effect * (1.5 - cases.day / DAYS)[:, None]
    rate = _Rates(kind, cases, effect, injected)
    success = random.random(count) < rate.of(injected)
    return EffectsWorld(
        kind,
        _interactions(cases, offered, score, injected, chance if is_drawn else None),
        _outcomes(kind, cases, success, random),
        _memories(born),
        _truth(rate, offered, injected, np.isfinite(score), memories),
    )


def _make_cases(kind: str, count: int, random: np.random.Generator) -> _Cases:
    session = np.arange(count) // _SESSION
    sessions = int(session.max()) + 1
    day = np.sort(random.uniform(0, DAYS, sessions))[session] + (np.arange(count) % _SESSION) / 100
    project = random.integers(0, _PROJECTS, sessions)[session]
    types, tasks = random.integers(0, _TYPES, sessions)[session], random.integers(0, _TASKS, sessions)[session]
    task = types * _TASKS + tasks
    hardness = random.normal(0, 0.12, _TYPES * _TASKS)
    hidden = (random.random(count) < _HARD).astype(float)  # hard in itself: nobody logs it
    base = 0.55 - hardness[task] + 0.1 * (project == 0)
    base = base + {"recency": 0.3, "mixed": 0.25, "drift": -0.2}.get(kind, 0.0) * (day / DAYS - 0.5)
    base = base + {"popularity": 0.2, "mixed": 0.15}.get(kind, 0.0) * (project - 0.5)
    base = base - (0.1 if kind in ("difficulty", "recency", "popularity", "mixed") else 0.25) * hidden
    return _Cases(day, project, task, hidden, base, session)


def _retrieve(kind: str, cases: _Cases, born: Numbers, random: np.random.Generator) -> Numbers:
    """Scores of each memory for each case; -inf: it is not there yet."""
    memories = len(born)
    topics = _TYPES * _TASKS
    score = random.normal(size=(len(cases.day), memories)) + random.normal(0, 0.5, (topics, memories))[cases.task]
    pull = random.normal(size=memories)  # what draws a memory to some cases: unrelated to what it does
    if kind in ("difficulty", "mixed", "hidden difficulty"):
        of_task = np.zeros(topics)
        np.add.at(of_task, cases.task, 1)
        mean = np.bincount(cases.task, cases.base, topics) / np.maximum(of_task, 1)
        score += pull * (mean.mean() - mean[cases.task])[:, None] / 0.1
    if kind == "hidden difficulty" or kind in RANDOMISED:  # who is offered what is never by chance
        score += 0.7 * pull * (cases.hidden - _HARD)[:, None]
    if kind in ("recency", "mixed"):
        score += 2.5 * np.exp(-np.maximum(cases.day[:, None] - np.maximum(born, 0), 0) / 20)
        score += pull * ((cases.day / DAYS - 0.5) * 2)[:, None]
    if kind in ("popularity", "mixed"):
        score += 1.2 * np.abs(pull) + pull * (2.0 * cases.project - 1)[:, None]
    score[cases.day[:, None] < born[None, :]] = -np.inf
    return score


@dataclass(frozen=True)
class _Rates:
    kind: str
    cases: _Cases
    effect: Numbers
    injected: npt.NDArray[np.bool_]

    def of(self, injected: npt.NDArray[np.bool_]) -> Numbers:
        """Probability of success of each case, had these of its offers been injected."""
        rate = self.cases.base + (self.effect * injected).sum(axis=1)
        if self.kind == "interference":  # a crowded prompt is read less well, and one of two that say a thing is enough
            rate -= 0.04 * np.maximum(injected.sum(axis=1) - 2, 0)
            helping = (self.effect > 0) & injected
            rate -= 0.5 * (self.effect * helping).sum(axis=1) * (helping.sum(axis=1) > 1)
        if self.kind == "spill-over":  # what a session was told before still works in it
            before = (self.effect * self.injected).sum(axis=1)
            carried = np.concatenate([[0.0], before[:-1]]) * (np.arange(len(before)) % _SESSION > 0)
            rate += 0.5 * carried
        return np.clip(rate, 0.02, 0.98)


def _truth(
    rate: _Rates,
    offered: npt.NDArray[np.int64],
    injected: npt.NDArray[np.bool_],
    is_offer: npt.NDArray[np.bool_],
    memories: int,
) -> pl.DataFrame:
    difference = np.zeros(offered.shape)
    for place in range(offered.shape[1]):
        with_it, without = injected.copy(), injected.copy()
        with_it[:, place], without[:, place] = True, False
        difference[:, place] = rate.of(with_it) - rate.of(without)
    count, had = (np.bincount(offered[is_offer], of[is_offer], memories) for of in (np.ones(offered.shape), injected))
    total = np.bincount(offered[is_offer], difference[is_offer], memories)
    return pl.DataFrame(
        {
            "memory_id": _names(memories),
            "effect": total / np.maximum(count, 1),
            "injected_share": had / np.maximum(count, 1),
        }
    )


def _names(memories: int) -> list[str]:
    return [f"m{number:04d}" for number in range(memories)]


def _times(days: Numbers) -> pl.Series:
    return pl.Series(np.round(days * 86_400e6).astype(np.int64)).cast(pl.Duration("us")) + START


def _interactions(
    cases: _Cases,
    offered: npt.NDArray[np.int64],
    score: Numbers,
    injected: npt.NDArray[np.bool_],
    chance: float | None,
) -> pl.DataFrame:
    rows, places = np.nonzero(np.isfinite(score))
    names = np.array(_names(int(offered.max()) + 1))
    each = pl.DataFrame(
        {
            "row": rows,
            "id": names[offered[rows, places]],
            "rank": places + 1,
            "score": np.round(score[rows, places], 4),
            "injected": injected[rows, places],
        }
    )
    lists = each.group_by("row", maintain_order=True).agg(
        pl.struct("id", "rank", "score").cast(_OFFER).alias("memories_offered"),
        pl.col("id").filter("injected").alias("memories_used"),
    )
    count = len(cases.day)
    frame = pl.DataFrame(
        {
            "row": np.arange(count),
            "interaction_id": [f"i{number:06d}" for number in range(count)],
            "created_at": _times(cases.day),
            "project": [f"project-{number}" for number in cases.project],
            "agent": "agent",
            "session_id": [f"s{number:06d}" for number in cases.session],
            "prompt": [f"Do task {number}." for number in cases.task],
            "injection_probability": pl.Series([chance] * count, dtype=pl.Float64),
        }
    )
    return frame.join(lists, on="row", how="left", maintain_order="left").drop("row")


def _outcomes(kind: str, cases: _Cases, success: npt.NDArray[np.bool_], random: np.random.Generator) -> pl.DataFrame:
    count = len(success)
    delay, is_known = np.full(count, 0.001), np.ones(count, bool)
    if kind == "missing outcomes":
        delay, is_known = random.exponential(2.0, count), random.random(count) < _KNOWN
    frame = pl.DataFrame(
        {
            "outcome_id": [f"o{number:06d}" for number in range(count)],
            "interaction_id": [f"i{number:06d}" for number in range(count)],
            "created_at": _times(cases.day),
            "recorded_at": _times(cases.day + delay),
            "project": [f"project-{number}" for number in cases.project],
            "agent": "agent",
            "session_id": [f"s{number:06d}" for number in cases.session],
            "task_type": [f"type-{number // _TASKS}" for number in cases.task],
            "task": [f"task-{number}" for number in cases.task],
            "success": success,
        }
    )
    return frame.filter(pl.Series(is_known))


def _memories(born: Numbers) -> pl.DataFrame:
    at = [START + timedelta(days=round(float(day), 4)) for day in born]
    return pl.DataFrame(
        {
            "memory_id": _names(len(born)),
            "created_at": at,
            "changed_at": at,
            "project": "",
            "content": [f"Rule {number} of this team." for number in range(len(born))],
            "status": "active",
        }
    )
