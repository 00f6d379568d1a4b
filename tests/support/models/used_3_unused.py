"""Of memories that `verdict/4` calls not used: how many have no use on labelled logs, by its bound.

    PYTHONPATH=tests/support/models:tests/support/logs .venv/bin/python tests/support/models/used_3_unused.py

`SLOWWAVE_LABELLED_LOGS` as in `used_3_fit`. Probabilities are of a fit to the other sets. Memories stand among all of
their project, or in pools of 24; each is injected into all answers of its project, or into so many, drawn by chance.
Then homes: half of 60 injections use a memory, by three or more different answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from used_3_fit import LAYOUTS, Case, fit_logistic, folders, read_case, weigh_cases

from slowwave.transforms.evidence.used.memories import LEAST, STEPS
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.health.use_states import detectability, use_state

BOUNDS, _ANSWERS = (0.0, 0.01, 0.02, 0.05, 0.1, 1e9), (30, 200, 1_000)
_SEED, _LEAST_ANSWERS, _INJECTIONS, _LEAST_USES = 7, 10, 60, 3


def held_memories(case: Case) -> pl.DataFrame:
    """Return unit and detectability of memories, in order."""
    ids = pl.int_range(pl.len()).cast(pl.String).alias("memory_id")
    held = case.held.select(ids, "unit", "content", pl.col("unit").alias("project"), status=pl.lit("active"))
    found = detectability(held.lazy()).collect()
    return held.join(found, on="memory_id", how="left", maintain_order="left").select("unit", "detectability")


def counted_scores(odds: Any) -> Any:
    """Return the probabilities of log-odds, as `used/3` counts them."""
    score = np.rint(STEPS / (1 + np.exp(-odds)))
    return np.where(score < LEAST, 0, score) / STEPS


def injected_health(case: Case, held: pl.DataFrame, chance: Any, answers: int) -> pl.DataFrame:
    """Return what `use_state` takes, and uses, of memories injected into so many answers of their unit."""
    units = case.asked["unit"]
    order = np.random.default_rng(_SEED).permutation(len(units))
    nth = units.gather(order).to_frame().select(pl.int_range(pl.len()).over("unit")).to_series().to_numpy()
    is_asked = np.zeros(len(units), bool)
    is_asked[order[nth < answers]] = True
    sizes = case.asked.filter(is_asked).group_by("unit").agg(pl.len().alias("injected_count"))
    at, linked = is_asked[case.row], case.pair_memory[is_asked[case.pair_row]]
    memory, chance = case.memory[at], chance[at]
    counts = held.with_columns(
        injected_use_expected=np.bincount(memory, chance, held.height),
        reference_count=np.bincount(memory, chance >= UsedParams().threshold, held.height),
        uses=np.bincount(linked, minlength=held.height),
    )
    return counts.join(sizes, on="unit").filter(pl.col("injected_count") >= _LEAST_ANSWERS)


def home_health(case: Case, held: pl.DataFrame, chance: Any) -> pl.DataFrame:
    """Return the same of memories that half of 60 injections use, and of those never used, each injected apart."""
    drawn, chances = np.random.default_rng(_SEED), {}
    for row, memory, one in zip(case.row, case.memory, chance, strict=True):
        chances.setdefault(memory, {})[row] = one
    rows = {unit: own["row"].to_numpy() for (unit,), own in case.asked.with_row_index("row").group_by("unit")}
    uses = {memory: case.pair_row[case.pair_memory == memory] for memory in range(held.height)}
    found = []
    for memory, (unit, detected) in enumerate(held.iter_rows()):
        others = np.setdiff1d(rows[unit], uses[memory])
        used = len(uses[memory])
        if 0 < used < _LEAST_USES or len(others) < _LEAST_ANSWERS:
            continue
        half = _INJECTIONS // 2 if used else 0
        asked = np.append(drawn.choice(uses[memory], half) if half else [], drawn.choice(others, _INJECTIONS - half))
        own = np.array([chances.get(memory, {}).get(row, 0.0) for row in asked])
        found.append((detected, own.sum(), float((own >= UsedParams().threshold).sum()), used, _INJECTIONS))
    names = ["detectability", "injected_use_expected", "reference_count", "uses", "injected_count"]
    return pl.DataFrame(found, schema=names, orient="row")


def count_called(health: pl.DataFrame, bound: float) -> tuple[int, int, int]:
    """Return how many memories are called not used, of those how many have no use, and how many have none of all."""
    rows = health.with_columns(pl.col("injected_count").alias("eligible_count"))
    states = rows.select("uses", use_state(VerdictParams(unused_expected=bound)).alias("state"))
    called, is_never = states["state"] == "not_used", states["uses"] == 0
    return int(called.sum()), int((called & is_never).sum()), int(is_never.sum())


def print_called(what: str, health: pl.DataFrame) -> None:
    """Print, by bound, the share without a use of those called not used, and how many of the never used are called."""
    print(what, f"({health.height} memories):")
    for bound in BOUNDS if health.height else ():
        called, right, never = count_called(health, bound)
        share = right / max(called, 1)
        print(f"   {bound:g}: {right} of {called} called are right ({share:.2f}), of {never} never used")


def main() -> None:
    """Print it of each set, with the others fitted to."""
    cases = {
        (name, layout): read_case(name, folder, layout)
        for name, folder in folders().items()
        for layout in LAYOUTS
        if layout != "joined" or name == "locomo"
    }
    for name, folder in folders().items():
        fitted = fit_logistic(weigh_cases(cases, without=name if len(folders()) > 1 else ""))
        for layout in ("all", "pools"):
            case = cases.get((name, layout)) or read_case(name, folder, layout)
            held, chance = held_memories(case), counted_scores(case.scores(fitted))
            for answers in _ANSWERS:
                print_called(f"{name}, {layout}, {answers} answers", injected_health(case, held, chance, answers))
            print_called(f"{name}, {layout}, homes", home_health(case, held, chance))


if __name__ == "__main__":
    main()
