"""The fit of `used/3`, and how well it does on conversations that it was not fitted to.

    PYTHONPATH=tests/support/models:tests/support/logs .venv/bin/python tests/support/models/used_3_fit.py

prints the numbers of a cross-fit by conversation, then what `transforms/evidence/used/ranking/coefficients.py` holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import real_rows
from used_fits import Joined, average_precision, recall_at

from slowwave.transforms.evidence.used.memories import _arrays
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.ranked_memories import memory_features
from slowwave.transforms.evidence.used.ranking.pair_features import FEATURES

RIDGE, _STEPS, _SEED = 1.0, 40, 5
_AT = datetime(2024, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
# All memories as they are; observations joined into long ones; few of them: so pools differ in size and length.
LAYOUTS = {"all": 1.0, "joined": 0.3, "few": 1.0}
_FEW = 24


@dataclass(frozen=True)
class Case:
    """Answers of a conversation with a link: candidates by row and memory, features, gold (answers x memories)."""

    row: Any
    memory: Any
    features: Any
    gold: Any
    task: Any
    sizes: Any  # characters of each memory

    @property
    def is_linked(self) -> Any:
        """Of each candidate."""
        return self.gold[self.row, self.memory]

    def scores(self, coefficients: Any) -> Any:
        """Log-odds of each candidate."""
        return self.features @ coefficients[1:] + coefficients[0]


def read_cases(layout: str) -> dict[str, Case]:
    """By conversation of locomo, all answers that have a link in this layout."""
    folder = real_rows.FOLDER / "locomo"
    memories = pl.read_parquet(folder / "memories.parquet")
    asked = pl.read_parquet(folder / "interactions.parquet")
    links = pl.read_parquet(folder / "links.parquet")
    found = {}
    for (project,), own in memories.sort("project", maintain_order=True).group_by("project", maintain_order=True):
        held = [(content, [id_]) for id_, content in own.select("id", "content").rows()]
        if layout == "joined":
            held = Joined(350, share=0.25).of(own.filter(type="observation"))
        elif layout == "few":
            held = [held[at] for at in np.random.default_rng(_SEED).permutation(len(held))[:_FEW]]
        found[str(project)] = _case(asked.filter(pl.col("project") == project), held, links)
    return found


def _case(asked: pl.DataFrame, held: list[tuple[str, list[str]]], links: pl.DataFrame) -> Case:
    place = {id_: at for at, (_, ids) in enumerate(held) for id_ in ids}
    own = links.filter(pl.col("memory_id").is_in(list(place)))
    asked = asked.join(own, left_on="id", right_on="interaction_id", how="semi", maintain_order="left")
    row = {id_: at for at, id_ in enumerate(asked["id"])}
    gold = np.zeros((len(row), len(held)), bool)
    for interaction, memory in own.select("interaction_id", "memory_id").rows():
        if interaction in row:
            gold[row[interaction], place[memory]] = True
    rows = asked.select(
        pl.lit("p").alias("project"), pl.lit(0).alias("day"), pl.lit(_AT, pl.Datetime("us")).alias("occurred_at"),
        pl.int_range(pl.len()).alias("place").cast(pl.String).str.zfill(6).alias("interaction_id"),
        pl.col("prompt").fill_null(""), pl.col("response").fill_null(""), pl.lit("").alias("response_summary"),
    )  # fmt: skip
    texts = [text for text, _ in held]
    pool = pl.DataFrame({"content": texts}).select(
        "content", pl.int_range(pl.len()).cast(pl.String).str.zfill(6).alias("memory_id"),
        pl.lit(False).alias("is_global"), pl.lit("p").alias("project"), pl.lit(0).alias("day"),
        pl.lit(_AT, pl.Datetime("us")).alias("valid_from"), pl.lit(None, pl.Datetime("us")).alias("valid_until"),
    )  # fmt: skip
    params = UsedParams()
    arrays, memories = _arrays(rows, pool)
    found = list(memory_features(arrays, memories, params))
    at = np.concatenate([arrays.ids.gather(pairs.row).cast(pl.Int64).to_numpy() for pairs in found])
    ids = [memories.document_passages(pairs.document)["memory_id"].cast(pl.Int64).to_numpy() for pairs in found]
    features = np.concatenate([np.stack([pairs.features[name] for name in FEATURES], 1) for pairs in found])
    sizes = np.array([len(text) for text in texts])
    return Case(at, np.concatenate(ids), features, gold, asked["task_type"].to_numpy(), sizes)


def fit_logistic(chosen: list[tuple[Case, float]]) -> Any:
    """Intercept and coefficients: weighted ridge logistic regression on standardised features (damped Newton)."""
    features = np.concatenate([case.features for case, _ in chosen])
    gold = np.concatenate([case.is_linked for case, _ in chosen]).astype(float)
    weights = np.concatenate([np.full(len(case.row), weight) for case, weight in chosen])
    mean = np.average(features, axis=0, weights=weights)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights)) + 1e-9
    columns = np.hstack([np.ones((len(features), 1)), (features - mean) / spread])
    ridge = np.diag([0.0, *[RIDGE] * len(mean)])

    def loss(at: Any) -> float:
        odds = columns @ at
        return float((weights * (np.logaddexp(0, odds) - gold * odds)).sum() + at @ ridge @ at / 2)

    found = np.zeros(len(ridge))
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-np.clip(columns @ found, -30, 30)))
        slope = columns.T @ (weights * (expected - gold)) + ridge @ found
        curve = (columns * (weights * expected * (1 - expected) + 1e-9)[:, None]).T @ columns + ridge
        change, size = np.linalg.solve(curve, slope), 1.0
        while loss(found - size * change) > loss(found) and size > 1e-4:
            size /= 2
        found = found - size * change
        if np.abs(size * change).max() < 1e-6:
            break
    coefficients = found[1:] / spread
    return np.append(found[0] - (mean * coefficients).sum(), coefficients)


def cross_fit(layouts: dict[str, dict[str, Case]]) -> dict[str, Any]:
    """By conversation, a fit to the other ones."""
    return {
        held: fit_logistic(
            [(case, LAYOUTS[layout]) for layout, of in layouts.items() for name, case in of.items() if name != held]
        )
        for held in layouts["all"]
    }


def _print_figures(
    layout: str, parts: list[tuple[Case, Any]], tasks: tuple[str, ...], *, long: bool | None = None
) -> None:
    pairs, best, expected, true = [], [], 0.0, 0
    for case, coefficients in parts:
        odds = np.full(case.gold.shape, -100.0)
        odds[case.row, case.memory] = case.scores(coefficients)
        rows = np.isin(case.task, tasks) if tasks else np.ones(len(case.task), bool)
        columns = np.ones(len(case.sizes), bool) if long is None else (case.sizes > 300) == long
        odds, gold = odds[np.ix_(rows, columns)], case.gold[np.ix_(rows, columns)]
        pairs.append((odds.ravel(), gold.ravel()))
        linked = gold.any(axis=1)
        best += list(gold[linked, odds[linked].argmax(axis=1)])
        expected += (1 / (1 + np.exp(-odds))).sum()
        true += gold.sum()
        if not tasks and long is None:
            print(f"   {(1 / (1 + np.exp(-odds))).sum():.0f} expected of {gold.sum()} in a conversation")
    scores, gold = (np.concatenate(part) for part in zip(*pairs, strict=True))
    print(
        f"{layout} {tasks or ''} {'' if long is None else 'long' if long else 'short'}:"
        f" AP {average_precision(pairs):.3f}, found at precision .8 {recall_at(0.8, pairs):.3f},"
        f" hit@1 {np.mean(best):.3f}, expected {expected:.0f} of {true}"
    )
    if tasks or long is not None:
        return
    chance = 1 / (1 + np.exp(-scores))
    for threshold in (0.4, 0.45, 0.5, 0.6, 0.7):
        sure = chance >= threshold
        print(f"   from {threshold}: precision {gold[sure].mean():.3f}, found {gold[sure].sum() / gold.sum():.3f}")
    for low in np.arange(0, 1, 0.1):
        within = (chance >= low) & (chance < low + 0.1) & (scores > -99)
        print(f"   {low:.1f}: {within.sum()} pairs, said {chance[within].mean():.3f}, true {gold[within].mean():.3f}")


def main() -> None:
    """Print the numbers and the coefficients."""
    layouts = {layout: read_cases(layout) for layout in LAYOUTS}
    fits = cross_fit(layouts)
    questions = tuple(f"qa_cat{number}" for number in (1, 2, 3, 4))
    for layout, of in layouts.items():
        parts = [(case, fits[name]) for name, case in of.items()]
        for tasks in ((), ("dialog_turn",), questions, ("qa_cat5",)):
            _print_figures(layout, parts, tasks)
        if layout == "joined":
            _print_figures(layout, parts, (), long=True)
            _print_figures(layout, parts, (), long=False)
    intercept, *coefficients = fit_logistic(
        [(case, LAYOUTS[name]) for name, of in layouts.items() for case in of.values()]
    )
    print(f"INTERCEPT = {intercept:.4f}\nCOEFFICIENTS = {{")
    for name, coefficient in zip(FEATURES, coefficients, strict=True):
        print(f'    "{name}": {coefficient:.4f},')
    print("}")


if __name__ == "__main__":
    main()
