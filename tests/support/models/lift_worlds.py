"""Made-up worlds in which what each memory does to success is known."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import polars as pl
from lift_cases import frames as lift_case_frames
from lift_cases import interaction

START = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
DAYS = 120
AS_OF = START + timedelta(days=DAYS + 1)


@dataclass(frozen=True)
class World:
    """What retrieval and chance do.

    Interactions come in sessions of one task type; `hard` of them are hard, which nobody logs, and succeed less often
    by `hardness`. A memory fits an interaction by a normal score, plus `pull` where the case is hard. The `shown` best
    are offered. `chance`: each is injected with that probability, logged; None: the best
    half is injected, or with `threshold` those with a better score, and the offers are logged if `logs_offers`. `tasks`
    per task type, 0: none is named; hard tasks are always hard if `hard_tasks`; a memory fits a share `fits` of the
    tasks. Memories come into being evenly until twice `first_day`.
    """

    interactions: int = 6000
    memories: int = 20
    effects: dict[int, float] = field(default_factory=dict)
    pull: float = 1.0
    hard: float = 0.4
    hardness: float = 0.35
    shown: int = 6
    chance: float | None = None
    threshold: float | None = None
    fits: float = 1.0
    logs_offers: bool = True
    tasks: int = 0
    hard_tasks: bool = False
    session: int = 3
    session_spread: float = 0.0
    first_day: float = 20.0


def frames(world, seed):
    """references, interactions, memories, attempts of a world."""
    random = np.random.default_rng(seed)
    n, m = world.interactions, world.memories
    session = np.arange(n) // world.session
    minutes = np.sort(random.uniform(0, DAYS * 1440, n))
    kind = random.integers(0, 4, session.max() + 1)[session]
    task = random.integers(0, max(world.tasks, 1), session.max() + 1)[session]
    hard = random.random(n) < world.hard
    if world.hard_tasks:
        hard = random.random((4, max(world.tasks, 1)))[kind, task] < world.hard
    created = random.uniform(0, 2 * world.first_day, m)
    score = random.normal(size=(n, m)) + world.pull * hard[:, None]
    score[minutes[:, None] / 1440 < created[None, :]] = -np.inf
    suited = random.random((4, max(world.tasks, 1), m)) < world.fits
    score[~suited[kind, task]] = -np.inf
    order = np.argsort(-score, axis=1)[:, : world.shown]
    is_real = np.take_along_axis(score, order, axis=1) > -np.inf
    best = np.arange(world.shown)[None, :] < world.shown // 2
    if world.threshold is not None:
        drawn = np.take_along_axis(score, order, axis=1) > world.threshold
    elif world.chance is None:
        drawn = np.broadcast_to(best, order.shape)
    else:
        drawn = random.random(order.shape) < world.chance
    injected = drawn & is_real
    effect = np.zeros(m)
    for number, size in world.effects.items():
        effect[number] = size
    rate = np.array([0.8, 0.7, 0.75, 0.65])[kind] - world.hardness * hard + (effect[order] * injected).sum(axis=1)
    rate = rate + world.session_spread * random.normal(size=session.max() + 1)[session]
    success = random.random(n) < np.clip(rate, 0.02, 0.98)
    at = pl.Series(minutes * 60e6).cast(pl.Int64).cast(pl.Duration("us")) + START
    ids = pl.Series([f"i{k:06d}" for k in range(n)])
    names = np.array([f"m{k:03d}" for k in range(m)])
    sessions = pl.Series([f"s{k}" for k in session])
    interactions = pl.DataFrame(
        {
            "interaction_id": ids,
            "interaction": np.arange(n),
            "occurred_at": at,
            "injection_probability": pl.Series([world.chance] * n, dtype=pl.Float64),
            "row": np.arange(n),
        }
    )
    row, place = np.nonzero(is_real & (world.chance is not None or world.logs_offers))
    offers = pl.DataFrame(
        {
            "row": row,
            "id": names[order[row, place]],
            "rank": place + 1,
            "score": score[row, order[row, place]],
        },
        schema={"row": pl.Int64, "id": pl.String, "rank": pl.Int64, "score": pl.Float64},
    )
    offered = offers.group_by("row", maintain_order=True).agg(
        pl.struct("id", "rank", "score").alias("memories_offered")
    )
    interactions = interactions.join(offered, on="row", how="left", maintain_order="left").drop("row")
    row, place = np.nonzero(injected)
    echoed = random.random(len(row)) < 0.5  # half of what is injected is echoed
    references = pl.DataFrame(
        {
            "memory_id": names[order[row, place]],
            "interaction": row,
            "is_injected": True,
            "is_referenced": echoed,
        },
        schema_overrides={"memory_id": pl.String},
    )
    memories = pl.DataFrame(
        {
            "memory_id": names,
            "project": "p",
            "created_at": [START + timedelta(days=float(x)) for x in created],
            "confidence": 0.7,
        }
    )
    attempts = pl.DataFrame(
        {
            "outcome_id": [f"o{k:06d}" for k in range(n)],
            "interaction_id": ids,
            "created_at": at,
            "known_at": at + timedelta(minutes=1),
            "project": "p",
            "agent": "a",
            "task_type": [f"t{k}" for k in kind],
            "task": [f"t{k}-{u}" for k, u in zip(kind, task, strict=True)] if world.tasks else [None] * n,
            "block": sessions,
            "success": success,
        },
        schema_overrides={"task": pl.String},
    )
    return references, interactions, memories, attempts


def topic_frames(rule, seed, first_day=-300.0, count=1500):
    """references, interactions, memories, attempts of a world of four topics in which no memory does anything.

    Memory k scores about .5 higher where the topic is k % 4, m000 another .5 where the case is hard, which nobody logs.
    The best six of twelve are offered. Rules: "best": the best three are injected; "by topic": the same, but hard is
    the first topic and raises no score further; "threshold": those with a score above .45 are. m000 exists from
    `first_day` on.
    """
    random = np.random.default_rng(seed)
    topic = random.integers(0, 4, count)
    hard = topic == 0 if rule == "by topic" else random.random(count) < 0.4
    score = 0.5 * (np.arange(12)[None, :] % 4 == topic[:, None]) + random.normal(0, 0.12, (count, 12))
    score[:, 0] += 0.5 * hard * (rule != "by topic")
    day = np.sort(random.uniform(0, 59, count))
    score[day < first_day, 0] = -np.inf
    order = np.argsort(-score, axis=1)[:, :6]
    success = random.random(count) < np.where(hard, 0.3, 0.85)
    rows = []
    for k in range(count):
        offered = [(f"m{n:03d}", rank, round(float(score[k, n]), 3)) for rank, n in enumerate(order[k], start=1)]
        injected = [name for name, rank, value in offered if (value > 0.45 if rule == "threshold" else rank <= 3)]
        rows.append(
            interaction(
                day[k] * 24, bool(success[k]), injected=injected, offered=offered, session=f"s{k // 2}",
                task=f"t{random.integers(0, 10)}",
            )
        )  # fmt: skip
    created = {f"m{n:03d}": -7200 for n in range(12)} | {"m000": first_day * 24}
    return lift_case_frames(rows, created=created, confidence={})
