"""Logs for the benchmarks: many interactions of one size against many memories, as Parquet files."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

_VOCABULARY = 6_000


def _words(rng: random.Random) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(_VOCABULARY)]


def write_logs(
    folder: Path,
    *,
    interactions: int,
    response_bytes: int,
    days: int,
    memories: int,
    projects: int,
    echo_every: int = 20,
    seed: int = 1,
) -> None:
    """Write memories.parquet and, per day, interactions-NN.parquet into `folder`.

    One response in `echo_every` repeats a memory of its project with other case and white space; each interaction was
    given two memories.
    """
    rng = random.Random(seed)
    words = _words(rng)
    start = datetime(2026, 3, 1)  # noqa: DTZ001 - naive is UTC
    contents = [" ".join(rng.choices(words, k=20)).capitalize() for _ in range(memories)]
    pl.DataFrame(
        {
            "memory_id": [f"m{i}" for i in range(memories)],
            "changed_at": [start - timedelta(days=1)] * memories,
            "project": [f"project-{i % projects}" for i in range(memories)],
            "status": ["active"] * memories,
            "content": contents,
            "confidence": [0.5] * memories,
        }
    ).write_parquet(folder / "memories.parquet")
    per_day = interactions // days
    for day in range(days):
        rows = []
        for i in range(per_day):
            project = rng.randrange(projects)
            memory = rng.randrange(memories // projects) * projects + project
            text = " ".join(rng.choices(words, k=response_bytes // 7 + 1))[:response_bytes]
            if i % echo_every == 0:
                half = len(text) // 2
                text = f"{text[:half]} {contents[memory].upper().replace(' ', '  ')} {text[half:]}"
            rows.append(
                {
                    "interaction_id": f"i-{day}-{i}",
                    "created_at": start + timedelta(days=day, seconds=i * 86_000 // per_day),
                    "project": f"project-{project}",
                    "agent": f"agent-{i % 5}",
                    "session_id": f"s-{day}-{i // 10}",
                    "prompt": " ".join(rng.choices(words, k=20)),
                    "response": text,
                    "memories_used": [f"m{memory}", f"m{(memory + projects) % memories}"],
                }
            )
        pl.DataFrame(rows).write_parquet(folder / f"interactions-{day:02}.parquet")
