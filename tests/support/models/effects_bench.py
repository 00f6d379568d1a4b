"""Grade what is said of memories' effects in worlds where these are known: `make bench-effects`, some minutes.

Each method says, of each memory, an estimate, an interval and a call (1 helps, -1 harms, 0 neither can be told). It is
asked at the end of four stretches of each log, as one would who reads it now and then.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import polars as pl

from slowwave.data.effects_world import DAYS, START, WORLDS, EffectsWorld, effects_world
from slowwave.transforms.lift import observed_outcomes
from slowwave.transforms.lift.effects.effects import effects
from slowwave.transforms.lift.params import MemoryOutcomeParams
from slowwave.transforms.params import Params

PARAMS = MemoryOutcomeParams()
LOOKS = tuple(START + timedelta(days=DAYS * part / 4 + (10 if part == 4 else 0)) for part in (1, 2, 3, 4))
_Z, _NULL, _LARGE = 1.6449, 0.01, 0.1
_OWNERS = pl.DataFrame(schema={"memory_id": pl.String, "only_user": pl.String})
SAID = pl.Schema({"memory_id": pl.String, **dict.fromkeys(("estimate", "low", "high"), pl.Float64), "call": pl.Int64})
Method = Callable[[EffectsWorld, datetime], pl.DataFrame]


class Frames:
    """What the room of lift takes of a world, as it was known at a time."""

    def __init__(self, world: EffectsWorld, as_of: datetime) -> None:
        """Read a world."""
        ended = world.outcomes.filter(pl.col("recorded_at") < as_of)
        landed = world.interactions.filter(pl.col("created_at") < as_of)
        landed = landed.join(ended, on="interaction_id", how="semi")
        self.interactions = landed.select(
            "interaction_id",
            "project",
            pl.col("created_at").alias("occurred_at"),
            pl.lit(None, pl.String).alias("user_id"),
            "memories_offered",
            "injection_probability",
        ).with_row_index("interaction")
        self.references = (
            landed.select("interaction_id", "memories_used")
            .explode("memories_used")
            .drop_nulls()
            .join(self.interactions.select("interaction_id", "interaction"), on="interaction_id")
            .select(memory_id="memories_used", interaction="interaction", is_injected=True, is_referenced=False)
        )
        self.attempts = ended.rename({"recorded_at": "known_at", "session_id": "block"})
        self.memories = world.memories.select("memory_id", "created_at", pl.lit(0.5).alias("confidence"))
        self.trials = observed_outcomes.attempted_trials(self.interactions, self.attempts, _OWNERS, as_of)


def lift_1(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """What `memory_health` says: only randomised and cutoff lifts are called anything."""
    of = Frames(world, as_of)
    found = observed_outcomes.memory_outcomes(
        of.references, of.trials.offers, of.memories, of.trials.known, of.trials.of_users, _OWNERS, PARAMS
    )
    is_sure = pl.col("lift_q_value") <= PARAMS.false_discovery_rate
    call = pl.when(is_sure & (pl.col("lift_low") > 0)).then(1).when(is_sure & (pl.col("lift_high") < 0)).then(-1)
    return found.select("memory_id", estimate="lift", low="lift_low", high="lift_high", call=call.otherwise(0))


def effects_1(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """What `effects` says of each memory: by chance where that decided, else within task."""
    of = Frames(world, as_of)
    found = effects(
        of.references, of.trials.offers, of.interactions, of.trials.known, of.trials.of_users, _OWNERS, Params()
    )
    rows = found.filter(pl.col("scope") == "memory").sort("comparison").unique("scope_id", keep="first")
    call = pl.when(pl.col("claim") == "helps").then(1).when(pl.col("claim") == "harms").then(-1).otherwise(0)
    return rows.select("estimate", "low", "high", memory_id="scope_id", call=call)


def _places(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """A row per offer: interaction_id, memory_id, rank, is_injected, chance, success, task, project, created_at."""
    ended = world.outcomes.filter(pl.col("recorded_at") < as_of).select("interaction_id", "success", "task")
    return (
        world.interactions.select(
            *("interaction_id", "project", "created_at", "memories_offered", "memories_used"),
            pl.col("injection_probability").alias("chance"),
        )
        .join(ended, on="interaction_id", maintain_order="left")
        .explode("memories_offered")
        .unnest("memories_offered")
        .with_columns(pl.col("id").is_in("memories_used").alias("is_injected"), pl.col("success").cast(pl.Float64))
        .drop("memories_used")
        .rename({"id": "memory_id"})
    )


def raw_difference(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """Success of the interactions that had it less success of all others."""
    places = _places(world, as_of)
    each = places.unique("interaction_id")
    had = (
        places.filter("is_injected")
        .group_by("memory_id")
        .agg(pl.len().alias("n1"), pl.col("success").sum().alias("x1"))
    )
    n, x = each.height, each["success"].sum()
    rates = had.with_columns(p1=pl.col("x1") / pl.col("n1"), p0=(x - pl.col("x1")) / (n - pl.col("n1")))
    error = (
        pl.col("p1") * (1 - pl.col("p1")) / pl.col("n1") + pl.col("p0") * (1 - pl.col("p0")) / (n - pl.col("n1"))
    ).sqrt()
    return _called(rates.select("memory_id", estimate=pl.col("p1") - pl.col("p0"), error=error))


def regression(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """Least squares of success on every memory's presence and each kind of task, as a notebook would."""
    places = _places(world, as_of)
    cases = places.unique("interaction_id", maintain_order=True).with_row_index("row")
    had = places.filter("is_injected").join(cases.select("interaction_id", "row"), on="interaction_id")
    names = had["memory_id"].unique().sort()
    tasks = cases.select(pl.col("task").rank("dense") - 1).to_series().to_numpy().astype(int)
    x = np.zeros((cases.height, len(names) + tasks.max() + 1))
    x[had["row"].to_numpy(), names.search_sorted(had["memory_id"]).to_numpy()] = 1
    x[np.arange(cases.height), len(names) + tasks] = 1
    y = cases["success"].to_numpy()
    inverse = np.linalg.pinv(x.T @ x)
    fit = inverse @ (x.T @ y)
    spread = ((y - x @ fit) ** 2).sum() / (len(y) - x.shape[1])
    error = np.sqrt(np.maximum(np.diag(inverse), 0) * spread)
    return _called(pl.DataFrame({"memory_id": names, "estimate": fit[: len(names)], "error": error[: len(names)]}))


def inverse_propensity(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """Weighted by the logged chance; without one, by how often each rank is injected."""
    places = _places(world, as_of).with_columns(
        chance=pl.coalesce("chance", pl.col("is_injected").mean().over("rank").clip(0.05, 0.95))
    )
    treated, weight = pl.col("is_injected"), 1 / pl.col("chance")
    sides = places.with_columns(weight=pl.when(treated).then(weight).otherwise(1 / (1 - pl.col("chance"))))
    means = sides.group_by("memory_id", "is_injected").agg(
        mean=(pl.col("weight") * pl.col("success")).sum() / pl.col("weight").sum(),
        size=pl.col("weight").sum().pow(2) / pl.col("weight").pow(2).sum(),
    )
    both = means.filter("is_injected").join(means.filter(~pl.col("is_injected")), on="memory_id", suffix="_0")
    error = sum((pl.col(f"mean{s}") * (1 - pl.col(f"mean{s}")) / pl.col(f"size{s}") for s in ("", "_0")), pl.lit(0.0))
    return _called(both.select("memory_id", estimate=pl.col("mean") - pl.col("mean_0"), error=error.sqrt()))


def learned_value(world: EffectsWorld, as_of: datetime) -> pl.DataFrame:
    """A value that each use moves towards its reward, as agents learn that rank memories by it (MemRL); no interval."""
    uses = _places(world, as_of).filter("is_injected").sort("created_at", "interaction_id")
    usual = uses.unique("interaction_id")["success"].mean() if uses.height else 0.0
    value = uses.group_by("memory_id").agg(pl.col("success").ewm_mean(alpha=0.1, adjust=False).last().alias("value"))
    unknown = pl.lit(None, pl.Float64)
    return value.select("memory_id", estimate=pl.col("value") - usual, low=unknown, high=unknown, call=pl.lit(None))


def _called(found: pl.DataFrame) -> pl.DataFrame:
    reach = _Z * pl.col("error")
    limits = found.with_columns(low=pl.col("estimate") - reach, high=pl.col("estimate") + reach)
    return limits.with_columns(call=(pl.col("low") > 0).cast(pl.Int64) - (pl.col("high") < 0).cast(pl.Int64))


METHODS: dict[str, Method] = {
    "raw difference": raw_difference,
    "regression": regression,
    "inverse propensity": inverse_propensity,
    "learned value (MemRL)": learned_value,
    "lift/1": lift_1,
    "effects/1": effects_1,
}


def grade(method: Method, world: EffectsWorld) -> pl.DataFrame:
    """One row per memory: what was said of it at the last look, the truth, and whether any look told it wrong."""
    looks = []
    for as_of in LOOKS:
        said = method(world, as_of).with_columns(pl.col("call").cast(pl.Int64)).select(SAID.names())
        looks.append(said.with_columns(pl.lit(as_of).alias("look")))
    truth = world.truth.select("memory_id", "effect")
    every = truth.join(pl.concat(looks), on="memory_id", how="left")
    is_wrong = (pl.col("call") != 0) & ((pl.col("effect").abs() < _NULL) | (pl.col("call") * pl.col("effect") < 0))
    is_covered = (pl.col("low") <= pl.col("effect")) & (pl.col("effect") <= pl.col("high"))
    checked = every.with_columns(is_wrong.fill_null(value=False).alias("wrong"), is_covered.alias("covered"))
    ever = checked.group_by("memory_id").agg(
        pl.col("wrong").any().alias("ever_wrong"), pl.col("covered").mean().alias("covered_at_looks")
    )
    return checked.filter(pl.col("look") == LOOKS[-1]).join(ever, on="memory_id").sort("memory_id")


def summary(name: str, graded: dict[tuple[str, int], pl.DataFrame], raw: dict[tuple[str, int], pl.DataFrame]) -> str:
    """The line of one method over some worlds."""
    rows = pl.concat(list(graded.values())).drop_nulls("estimate")
    large = rows.filter(pl.col("effect").abs() >= _LARGE)
    error = (rows["estimate"] - rows["effect"]).to_numpy()
    right = large.filter(pl.col("call") * pl.col("effect").sign() > 0).height / max(large.height, 1)
    better = sum(_size_of_error(each, raw[of]) < _size_of_error(raw[of], each) for of, each in graded.items())
    called = f"{100 * rows['ever_wrong'].to_numpy().mean():.1f}" if rows["call"].count() else "-"
    cells = (
        f"{100 * rows.height / max(sum(of.height for of in raw.values()), 1):.0f}",
        f"{100 * error.mean():+.1f}",
        f"{100 * np.sqrt((error**2).mean()):.1f}",
        *(_share(part["covered"]) for part in (rows, large)),
        *(_share(part["covered_at_looks"]) for part in (rows, large)),
        called,
        f"{right:.2f}" if rows["call"].count() else "-",
        f"{_rank_correlation(graded):.2f}",
        f"{better} of {len(graded)}",
    )
    return f"| {name} | {' | '.join(cells)} |"


def _share(values: pl.Series) -> str:
    return f"{values.mean():.3f}" if values.count() else "-"


def _size_of_error(rows: pl.DataFrame, beside: pl.DataFrame) -> float:
    """Root mean square over the memories of which both say something."""
    known = rows.join(beside.drop_nulls("estimate"), on="memory_id", how="semi").drop_nulls("estimate")
    return float(np.sqrt(((known["estimate"] - known["effect"]).to_numpy() ** 2).mean())) if known.height else np.inf


def _rank_correlation(graded: dict[tuple[str, int], pl.DataFrame]) -> float:
    each = [
        rows.drop_nulls("estimate").select(pl.corr("estimate", "effect", method="spearman")).item()
        for rows in graded.values()
        if rows["estimate"].count() > 2
    ]
    return float(np.nanmean(each)) if each else float("nan")


HEAD = (
    "| method | told % | bias | error | covered | with effect | at looks | with effect | wrong ever % | power | rank "
    "| beats raw |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Print a table for worlds in which chance decides, and one for those in which it does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds-from", type=int, default=0, help="add this to each seed: to tune, take others than 0")
    parser.add_argument("--only", nargs="*", help="these methods")
    parser.add_argument("--by-kind", action="store_true", help="a table for each kind of world")
    asked = parser.parse_args()
    chosen = {name: method for name, method in METHODS.items() if not asked.only or name in asked.only}
    worlds = {of: effects_world(of[0], of[1] + asked.seeds_from) for of in WORLDS}
    raw = {of: grade(raw_difference, world) for of, world in worlds.items()}
    graded = {name: {of: grade(method, world) for of, world in worlds.items()} for name, method in chosen.items()}
    sorts = {"chance decided": True, "chance did not decide": False}
    parts = {name: [of for of in worlds if worlds[of].is_randomised == drawn] for name, drawn in sorts.items()}
    if asked.by_kind:
        parts = {kind: [of for of in worlds if of[0] == kind] for kind, _ in worlds}
    for title, some in parts.items():
        print(f"\n{title} ({len(some)} worlds)\n\n{HEAD}")
        for name, each in graded.items():
            print(summary(name, {of: each[of] for of in some}, {of: raw[of] for of in some}))


if __name__ == "__main__":
    main()
