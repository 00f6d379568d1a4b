"""The fit of a memory's detectability: how often `used/3` finds a use of a memory, by its words and its pool.

    PYTHONPATH=tests/support/models:tests/support/logs .venv/bin/python tests/support/models/used_3_detectability.py

prints what was found and what the model says, then the coefficients of `transforms/health/use_states.py`. Labelled logs
are locomo's, and those in the folder $SLOWWAVE_LABELLED_LOGS, where it is set. Each is seen with all its memories, with
few, and with memories cut to their first words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
import real_rows

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.memories import used_memories
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.health.use_states import word_masses

_AT = datetime(2024, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_POOLS = (8, 24, 100_000)
_WORDS = (3, 6, 1_000)
_MOST_PARTS, _SEED, _STEPS, _RIDGE = 6, 5, 30, 1e-3


def linked_pairs(folder: Path) -> Iterator[pl.DataFrame]:
    """Yield the gold links of one set of logs: inverse_mass, log_pool, is_found; of every layout."""
    memories, asked, links = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("memories", "interactions", "links")
    )
    for (project,), own in memories.sort("project", "id").group_by("project", maintain_order=True):
        order = np.random.default_rng(_SEED).permutation(own.height)
        for size in _POOLS:
            for start in range(0, min(own.height, size * _MOST_PARTS), size):
                part = own[order[start : start + size]]
                theirs = links.join(part, left_on="memory_id", right_on="id", how="semi")
                answers = asked.filter(project=project).join(
                    theirs, left_on="id", right_on="interaction_id", how="semi"
                )
                for words in _WORDS if answers.height else ():
                    yield _pairs(answers, part, theirs, words)


def _pairs(answers: pl.DataFrame, memories: pl.DataFrame, links: pl.DataFrame, words: int) -> pl.DataFrame:
    at = pl.lit(_AT, pl.Datetime("us"))
    content = pl.col("content").str.split(" ").list.head(words).list.join(" ")
    held = memories.select(pl.col("id").alias("memory_id"), content, project=pl.lit("p"), status=pl.lit("active"))
    pool = held.with_columns(is_global=False, valid_from=at, valid_until=pl.lit(None, pl.Datetime("us")))
    rows = answers.select(
        pl.col("id").alias("interaction_id"),
        *(pl.col(name).fill_null("") for name in ("prompt", "response")),
        occurred_at=at,
        project=pl.lit("p"),
        response_summary=pl.lit(""),
    )
    found = used_memories(rows, pool, word_vectors, UsedParams())
    found = found.filter(pl.col("used_method").is_not_null()).select("interaction_id", "memory_id", is_found=True)
    return (
        links.select("interaction_id", "memory_id")
        .join(rows, on="interaction_id", how="semi")
        .join(found, on=["interaction_id", "memory_id"], how="left")
        .join(word_masses(held.lazy()).collect(), on="memory_id")
        .filter(pl.col("words_count") >= UsedParams().min_words)
        .select(
            (1 / (1 + pl.col("mass") / 16)).alias("inverse_mass"),
            pl.col("pool_size").log().alias("log_pool"),
            "is_found",
        )
        .with_columns(pl.col("is_found").fill_null(value=False))
    )


def fit_model(pairs: pl.DataFrame) -> np.ndarray:
    """Return intercept and coefficients of a logistic regression; each set of logs weighs the same."""
    columns = np.column_stack([np.ones(pairs.height), pairs["inverse_mass"], pairs["log_pool"]])
    gold, weight = pairs["is_found"].to_numpy().astype(float), pairs["weight"].to_numpy()
    found = np.zeros(3)
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weight * (gold - expected)) - _RIDGE * found
        curve = (columns.T * (weight * expected * (1 - expected))) @ columns + _RIDGE * np.eye(3)
        found += np.linalg.solve(curve, slope)
    return found


def main() -> None:
    """Print the figures and the coefficients."""
    folders = [real_rows.FOLDER / "locomo"]
    if more := os.environ.get("SLOWWAVE_LABELLED_LOGS"):
        folders += sorted(links.parent for links in Path(more).glob("*/links.parquet"))
    sets = {folder.name: pl.concat(linked_pairs(folder)) for folder in folders}
    pairs = pl.concat(one.with_columns(name=pl.lit(name), weight=1e4 / one.height) for name, one in sets.items())
    coefficients = fit_model(pairs)
    odds = coefficients[0] + coefficients[1] * pl.col("inverse_mass") + coefficients[2] * pl.col("log_pool")
    said = pairs.with_columns(said=1 / (1 + (-odds).exp()))
    groups = {
        "set": pl.col("name"),
        "pool": pl.col("log_pool").exp().log(4).round(),
        "log2 of mass": (1 / pl.col("inverse_mass") - 1).log(2).round(),
    }
    for what, by in groups.items():
        print(said.group_by(by.alias(what)).agg(pl.len(), pl.col("said", "is_found").mean()).sort(what))
    shifts = [0.0]  # of the logs at hand alone, nothing is known of others
    for name, one in sets.items():
        others = pairs.filter(pl.col("name") != name)
        if others.height:
            left, found = fit_model(others), float(one["is_found"].mean())  # type: ignore[reportArgumentType] - a number
            odds_left = (left[0] + left[1] * one["inverse_mass"] + left[2] * one["log_pool"]).to_numpy()
            shifts.append(shift_to(odds_left, found))
            print(f"{name} left out: said {mean_rate(odds_left):.3f}, found {found:.3f}")
    print("of most sets no more is said than was found in them:")
    coefficients[0] += min(np.median(shifts[1:] or shifts), 0.0)
    print("INTERCEPT, BY_MASS, BY_POOL = " + ", ".join(f"{value:.2f}" for value in coefficients))


def mean_rate(odds: np.ndarray) -> float:
    """Return the mean probability of log-odds."""
    return float((1 / (1 + np.exp(-odds))).mean())


def shift_to(odds: np.ndarray, found: float) -> float:
    """Return what has to be added to log-odds for their mean probability to be what was found."""
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_rate(odds + middle) < found else (low, middle)
    return low


if __name__ == "__main__":
    main()
