"""The fit of `used/3`, and how well it does on dialogues that it was not fitted to.

    PYTHONPATH=tests/support/models:tests/support/logs .venv/bin/python tests/support/models/used_3_fit.py

prints figures, then what `transforms/evidence/used/ranking/coefficients.py` holds. `SLOWWAVE_LABELLED_LOGS` is a folder
with more labelled sets, each a folder of `interactions`, `memories` and `links`; without it there is `locomo` alone.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import real_rows
from scipy.optimize import minimize
from used_fits import Joined, average_precision, baseline_scores, hit_at_1, rank_correlation, recall_at

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.memories import _arrays
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.ranked_memories import memory_features
from slowwave.transforms.evidence.used.ranking.pair_features import FEATURES, SIZES

RIDGE, _FOLDS = 3.0, 3
_AT = datetime(2024, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
# Dialogues count more than passages and reviews; small pools more than their few pairs would.
SET_WEIGHTS = {"locomo": 5.0, "realtalk": 4.0, "ikat": 0.6, "mtragun": 0.3, "dstc11": 0.2}
# All memories as they are; observations joined into long ones; pools of 1 to 24, with what is used mostly left out.
LAYOUTS = {"all": 1.0, "joined": 0.3, "cut": 3.0}
_MOST_IN_A_CUT, _ANSWERS_OF_A_CUT = 24, 8
# A turn without a link may well repeat a fact: only what a fact was first noted from is linked.
_UNLINKED_TURN = 0.4
_LONG = 300
_UNCOMPARED = -100.0


@dataclass(frozen=True)
class Case:
    """Answers of a set in pools of one layout: candidates with their features, and what is linked.

    `row`, `memory`, `features` and `is_linked` are of candidates; `pair_row`, `pair_memory` and `pair_label` of links;
    `asked` (id, project, unit, task_type, prompt, response) and `held` (id, type, unit, content) are in order of row.
    """

    row: Any
    memory: Any
    features: Any
    is_linked: Any
    pair_row: Any
    pair_memory: Any
    pair_label: Any
    asked: pl.DataFrame
    held: pl.DataFrame

    @property
    def is_linked_row(self) -> Any:
        """Of each answer, whether it has a link."""
        return np.bincount(self.pair_row, minlength=self.asked.height) > 0

    @property
    def weights(self) -> Any:
        """Of each candidate: what it counts in a fit."""
        is_turn = (self.asked["task_type"] == "dialog_turn").to_numpy()
        return np.where(is_turn & ~self.is_linked_row, _UNLINKED_TURN, 1.0)[self.row]

    def scores(self, coefficients: Any) -> Any:
        """Log-odds of each candidate."""
        return self.features @ coefficients[1:] + coefficients[0]


def folders() -> dict[str, Path]:
    """By name, the sets at hand."""
    found = {"locomo": real_rows.FOLDER / "locomo"}
    if more := os.environ.get("SLOWWAVE_LABELLED_LOGS"):
        found |= {path.parent.name: path.parent for path in sorted(Path(more).glob("*/links.parquet"))}
    return found


def read_case(name: str, folder: Path, layout: str) -> Case:
    """A set, its memories laid out as `layout` says (`LAYOUTS`, or `injected`: what is used among 5 to 10)."""
    texts = [pl.col(text).fill_null("") for text in ("prompt", "response")]
    asked = pl.read_parquet(folder / "interactions.parquet").select("id", "project", "task_type", *texts)
    held = pl.read_parquet(folder / "memories.parquet").select("id", "project", "type", "content")
    links = pl.read_parquet(folder / "links.parquet").select("interaction_id", "memory_id", "label")
    chance = np.random.default_rng(zlib.crc32(f"{name} {layout}".encode()))
    if layout == "joined":
        held, links = _join_observations(held, links)
    if layout in ("cut", "injected"):
        asked, held = _cut_pools(asked, held, links, chance, is_injected=layout == "injected")
    else:
        asked, held = (rows.with_columns(pl.col("project").alias("unit")) for rows in (asked, held))
    return _case(asked, held, links)


def _join_observations(held: pl.DataFrame, links: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows, moved = [], []
    for (project,), own in held.filter(type="observation").group_by("project", maintain_order=True):
        for content, ids in Joined(350, share=0.25).of(own):
            rows.append((ids[0], project, "observation", content))
            moved += [(id_, ids[0]) for id_ in ids]
    places = pl.DataFrame(moved, schema=["memory_id", "whole"], orient="row")
    links = links.join(places, on="memory_id").select("interaction_id", pl.col("whole").alias("memory_id"), "label")
    return pl.DataFrame(rows, schema=held.schema, orient="row"), links


def _cut_pools(
    asked: pl.DataFrame, held: pl.DataFrame, links: pl.DataFrame, chance: np.random.Generator, *, is_injected: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A pool for every eight answers, with what one of them uses in a third of the pools; or for each linked answer."""
    used = dict(links.group_by("interaction_id", maintain_order=True).agg("memory_id").iter_rows())
    rows, pools = [], []
    for (project,), own in asked.group_by("project", maintain_order=True):
        memories = held.filter(pl.col("project") == project)
        ids = memories["id"].to_numpy()
        cut = own.filter(pl.col("id").is_in(list(used))) if is_injected else own[chance.permutation(own.height)]
        for number, part in enumerate(cut.iter_slices(1 if is_injected else _ANSWERS_OF_A_CUT)):
            linked = [id_ for id_ in part["id"] if id_ in used]
            is_in = bool(linked) and (is_injected or chance.random() < 1 / 3)
            kept = used[linked[chance.integers(len(linked))]] if is_in else []
            size = chance.integers(5, 11) if is_injected else round(np.exp(chance.uniform(0, np.log(_MOST_IN_A_CUT))))
            others = chance.permutation(np.setdiff1d(ids, kept))[: max(size - len(kept), 0)]
            unit = pl.lit(f"{project} {number}").alias("unit")
            rows.append(part.with_columns(unit))
            pools.append(memories.filter(pl.col("id").is_in([*kept, *others])).with_columns(unit))
    return pl.concat(rows), pl.concat(pools)


def _case(asked: pl.DataFrame, held: pl.DataFrame, links: pl.DataFrame) -> Case:
    asked, held = (rows.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64)) for rows in (asked, held))
    number, when = pl.col("place").cast(pl.String).str.zfill(8), pl.lit(_AT, pl.Datetime("us"))
    alike = [pl.col("unit").alias("project"), pl.lit(0).alias("day")]
    rows = asked.select(
        number.alias("interaction_id"), when.alias("occurred_at"), "prompt", "response",
        pl.lit("").alias("response_summary"), *alike,
    )  # fmt: skip
    pool = held.select(
        number.alias("memory_id"), "content", pl.lit(False).alias("is_global"), when.alias("valid_from"),
        pl.lit(None, pl.Datetime("us")).alias("valid_until"), *alike,
    )  # fmt: skip
    arrays, memories = _arrays(rows, pool)
    found = list(memory_features(arrays, memories, word_vectors, UsedParams()))
    row = np.concatenate([arrays.ids.gather(pairs.row).cast(pl.Int64).to_numpy() for pairs in found])
    ids = [memories.document_passages(pairs.document)["memory_id"].cast(pl.Int64).to_numpy() for pairs in found]
    memory = np.concatenate(ids)
    features = np.concatenate([np.stack([pairs.features[name] for name in FEATURES], 1) for pairs in found])
    pairs = (
        links.join(asked.select("id", "unit", pl.col("place").alias("row")), left_on="interaction_id", right_on="id")
        .join(held.select("id", "unit", "place"), left_on=["memory_id", "unit"], right_on=["id", "unit"])
        .unique(["row", "place"], maintain_order=True)
    )
    pair_row, pair_memory = pairs["row"].to_numpy(), pairs["place"].to_numpy()
    is_linked = np.isin(row * held.height + memory, pair_row * held.height + pair_memory)
    return Case(row, memory, features, is_linked, pair_row, pair_memory, pairs["label"].to_numpy(), asked, held)


def fit_logistic(chosen: list[tuple[Case, Any]]) -> Any:
    """Intercept and coefficients, given cases and the weights of their candidates (0: left out).

    A ridge logistic regression on standardised features, in which evidence never counts against a use.
    """
    kept = [(case, weights, np.flatnonzero(weights > 0)) for case, weights in chosen]
    features = np.concatenate([case.features[at] for case, _, at in kept])
    gold = np.concatenate([case.is_linked[at] for case, _, at in kept]).astype(float)
    weights = np.concatenate([weights[at] for _, weights, at in kept])
    mean = np.average(features, axis=0, weights=weights)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights)) + 1e-9
    columns = np.hstack([np.ones((len(features), 1)), (features - mean) / spread])
    is_free = [True, *(name in SIZES for name in FEATURES)]

    def loss(at: Any) -> tuple[float, Any]:
        odds, tied = columns @ at, np.append(0, at[1:])
        expected = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        size = float((weights * (np.logaddexp(0, odds) - gold * odds)).sum() + RIDGE * tied @ tied / 2)
        return size, columns.T @ (weights * (expected - gold)) + RIDGE * tied

    bounds = [(None, None) if free else (0, None) for free in is_free]
    found = minimize(loss, np.zeros(len(is_free)), jac=True, method="L-BFGS-B", bounds=bounds).x
    coefficients = found[1:] / spread
    return np.append(found[0] - (mean * coefficients).sum(), coefficients)


def weigh_cases(cases: dict[tuple[str, str], Case], *, without: str = "", fold: int = -1) -> list[tuple[Case, Any]]:
    """What to fit to: every set but one, and of each every conversation but those of a fold."""
    return [
        (case, SET_WEIGHTS.get(name, 1.0) * LAYOUTS[layout] * case.weights * (folds_of(case)[case.row] != fold))
        for (name, layout), case in cases.items()
        if layout in LAYOUTS and name != without
    ]


def folds_of(case: Case) -> Any:
    """Of each answer: the fold of its conversation."""
    return case.asked.select((pl.col("project").rank("dense") % _FOLDS).cast(pl.Int64)).to_series().to_numpy()


def cross_fit(cases: dict[tuple[str, str], Case]) -> dict[tuple[str, str], Any]:
    """Log-odds of each case's candidates from a fit to the conversations, of all sets, that are in other folds."""
    fits = [fit_logistic(weigh_cases(cases, fold=fold)) for fold in range(_FOLDS)]
    return {
        key: np.choose(folds_of(case)[case.row], [case.scores(fitted) for fitted in fits])
        for key, case in cases.items()
    }


def print_figures(
    name: str, case: Case, odds: Any, *, rows: Any = None, memories: Any = None, is_detailed: bool = False
) -> None:
    """One line of a ranking of all pairs of some answers and memories; the rest of its calibration if asked for."""
    rows = np.ones(case.asked.height, bool) if rows is None else rows
    memories = np.ones(case.held.height, bool) if memories is None else memories
    at = np.flatnonzero(rows[case.row] & memories[case.memory])
    linked = rows[case.pair_row] & memories[case.pair_memory]
    chance, gold = 1 / (1 + np.exp(-odds[at])), case.is_linked[at]
    missed = int(linked.sum() - gold.sum())
    pairs = [(np.append(odds[at], np.full(missed, _UNCOMPARED)), np.append(gold, np.ones(missed, bool)))]
    expected = np.bincount(case.memory[at], chance, case.held.height)
    true = np.bincount(case.pair_memory[linked], minlength=case.held.height)
    sure = chance >= UsedParams().threshold
    print(
        f"{name}: AP {average_precision(pairs):.3f}, found at precision .8 {recall_at(0.8, pairs):.3f},"
        f" hit@1 {hit_at_1(case.row[at], odds[at], gold, case.pair_row[linked]):.3f}; from {UsedParams().threshold}:"
        f" precision {gold[sure].mean():.3f}, found {gold[sure].sum() / linked.sum():.3f};"
        f" expected {chance.sum():.0f} of {linked.sum()}, by memory {rank_correlation(expected, true):.3f}"
    )
    if is_detailed:
        for low in np.arange(0, 1, 0.1):
            within = (chance >= low) & (chance < low + 0.1)
            print(
                f"   {low:.1f}: {within.sum()} pairs, said {chance[within].mean():.3f}, true {gold[within].mean():.3f}"
            )


def _print_kinds(name: str, case: Case, odds: Any) -> None:
    linked = case.is_linked_row
    print_figures(f"   {name}, answers with a link", case, odds, rows=linked)
    for label in sorted(set(case.pair_label.tolist())):
        rows = np.zeros(case.asked.height, bool)
        rows[case.pair_row[case.pair_label == label]] = True
        print_figures(f"   {name}, {label}", case, odds, rows=rows)
    is_long = (case.held["content"].str.len_chars() > _LONG).to_numpy()
    for kind, memories in (("short", ~is_long), ("long", is_long)):
        if memories[case.pair_memory].sum() > len(FEATURES):
            print_figures(f"   {name}, {kind} memories", case, odds, memories=memories)


def _print_baselines(name: str, case: Case) -> None:
    for baseline, (row, memory, score) in baseline_scores(case.asked, case.held, word_vectors).items():
        count = case.held.height
        gold = np.isin(row * count + memory, case.pair_row * count + case.pair_memory)
        pairs = [(score, gold)]
        print(
            f"   {name}, {baseline}: AP {average_precision(pairs):.3f},"
            f" found at precision .8 {recall_at(0.8, pairs):.3f}, hit@1 {hit_at_1(row, score, gold, case.pair_row):.3f}"
        )


def main() -> None:
    """Print the numbers and the coefficients."""
    cases = {
        (name, layout): read_case(name, folder, layout)
        for name, folder in folders().items()
        for layout in (*LAYOUTS, "injected")
        if layout != "joined" or name == "locomo"
    }
    if len(folders()) > 1:
        print("Fitted to the other sets:")
        others = {name: fit_logistic(weigh_cases(cases, without=name)) for name in folders()}
        for (name, layout), case in cases.items():
            odds = case.scores(others[name])
            print_figures(f"{name}, {layout}", case, odds)
            if layout == "all":
                _print_kinds(name, case, odds)
    print("Fitted to the other conversations of all sets:")
    pooled = []
    for (name, layout), odds in cross_fit(cases).items():
        case = cases[name, layout]
        print_figures(f"{name}, {layout}", case, odds, is_detailed=True)
        if layout in ("all", "joined"):
            _print_kinds(f"{name}, {layout}", case, odds)
        if layout == "all":
            _print_baselines(name, case)
            pooled.append((1 / (1 + np.exp(-odds)), case.is_linked, len(case.pair_row)))
    for threshold in (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8):
        sure = [(gold[chance >= threshold], count) for chance, gold, count in pooled]
        by_set = " ".join(f"{gold.mean():.3f}/{gold.sum() / count:.3f}" for gold, count in sure)
        gold, count = np.concatenate([gold for gold, _ in sure]), sum(count for _, count in sure)
        print(f"from {threshold}: precision/found {gold.mean():.3f}/{gold.sum() / count:.3f}; by set {by_set}")
    intercept, *coefficients = fit_logistic(weigh_cases(cases))
    print(f"INTERCEPT = {intercept:.4f}\nCOEFFICIENTS = {{")
    for name, coefficient in zip(FEATURES, coefficients, strict=True):
        print(f'    "{name}": {coefficient:.4f},')
    print("}")


if __name__ == "__main__":
    main()
