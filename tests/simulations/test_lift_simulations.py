"""Worlds with known effects: what plain matching gets wrong must be withheld or covered, planted harm must be found."""

from functools import cache

import polars as pl
import pytest
from lift_cases import memory_outcomes
from lift_worlds import AS_OF, World, frames

from slowwave.transforms.lift.params import MemoryOutcomeParams

pytestmark = pytest.mark.slow

PARAMS = MemoryOutcomeParams()
SEEDS = 12
COVERS_ZERO = (pl.col("lift_low") <= 0) & (pl.col("lift_high") >= 0)
COVERS = (pl.col("lift_low") <= pl.col("truth")) & (pl.col("truth") <= pl.col("lift_high"))
EFFECTS = {0: -0.2, 1: -0.15, 2: 0.15}
CONFOUNDED = World(threshold=1.5, logs_offers=False, pull=1.5, hardness=0.5)
# the same, with named tasks to which only some memories fit: placebos are fewer and so less sure
CONFOUNDED_TASKS = World(threshold=1.5, logs_offers=False, tasks=20, fits=0.3)
HARD_TASKS = World(threshold=1.5, logs_offers=False, tasks=20, fits=0.3, hard_tasks=True)


@cache
def found_in(world_name):
    """memory_outcomes of a world under several seeds, with the truth beside."""
    worlds = {
        "confounded": CONFOUNDED,
        "confounded tasks": CONFOUNDED_TASKS,
        "hard tasks": HARD_TASKS,
        "clean": World(threshold=1.5, logs_offers=False, hardness=0.0),
        "drawn": World(chance=0.5, effects=EFFECTS),
        "drawn in sessions": World(chance=0.5, session=6, session_spread=0.2, hardness=0.0),
        "best few": World(effects=EFFECTS),
        "by score": World(threshold=1.0),
        "by score with harm": World(interactions=12000, threshold=1.0, effects={0: -0.3, 1: -0.3, 2: 0.15}),
        "repeated": World(
            interactions=12000, threshold=0.0, logs_offers=False, tasks=10, fits=0.15, first_day=60, memories=10,
            hardness=0.0, session=1, effects={0: -0.3},
        ),
    }  # fmt: skip
    world = worlds[world_name]
    truth = {f"m{number:03d}": size for number, size in world.effects.items()}
    parts = [memory_outcomes(*frames(world, seed), AS_OF, PARAMS) for seed in range(SEEDS)]
    return pl.concat(parts).with_columns(
        pl.col("memory_id").replace_strict(truth, default=0.0, return_dtype=pl.Float64).alias("truth")
    )


def share(rows, condition):
    """Share of rows that meet a condition; NULL does not."""
    return rows.filter(condition).height / rows.height


def plain_difference(world, seed):
    """Success with each memory less success without, within its task type: what association alone says."""
    references, interactions, memories, attempts = frames(world, seed)
    sizes = []
    for name in memories["memory_id"]:
        having = references.filter(pl.col("memory_id") == name)
        with_it = interactions.join(having, on="interaction", how="semi")["interaction_id"].implode()
        has = pl.col("interaction_id").is_in(with_it).alias("has")
        rates = attempts.group_by("task_type", has).agg(pl.col("success").mean(), pl.len())
        both = rates.filter("has").join(rates.filter(~pl.col("has")), on="task_type", suffix="_without")
        difference = (pl.col("success") - pl.col("success_without")) * pl.col("len")
        sizes.append(both.select(difference.sum() / pl.col("len").sum()).item())
    return sum(sizes) / len(sizes)


def test_plain_matching_blames_memories_for_hard_cases():
    assert plain_difference(CONFOUNDED, 1) < -0.2
    assert plain_difference(World(threshold=1.5, logs_offers=False, hardness=0.0), 1) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("world", ["confounded", "confounded tasks", "hard tasks"])
def test_memories_without_effect_are_not_blamed_for_hard_cases(world):
    found = found_in(world)
    assert share(found, pl.col("lift").is_null() | COVERS_ZERO) >= 0.95
    assert share(found, "is_harmful") == 0


def test_where_cases_are_alike_matching_may_speak():
    found = found_in("clean")
    assert share(found, pl.col("lift_basis") == "matched") > 0.25
    assert share(found.filter(pl.col("lift_basis") == "matched"), COVERS_ZERO) >= 0.88


def test_planted_harm_is_found_where_chance_decides_and_nothing_else():
    found = found_in("drawn")
    assert share(found, pl.col("lift_basis") == "randomised") == 1
    assert share(found.filter(pl.col("truth") < 0), "is_harmful") >= 0.95
    assert share(found.filter("is_harmful"), pl.col("truth") >= 0) <= 0.1


@pytest.mark.parametrize("world", ["drawn", "drawn in sessions", "by score with harm"])
def test_intervals_cover_the_truth(world):
    shown = found_in(world).filter(pl.col("lift_basis").is_in(["randomised", "cutoff"]))
    assert shown.height > 150
    assert 0.86 <= share(shown, COVERS) <= 0.985


def test_memories_without_effect_are_hardly_ever_flagged():
    """The rate bounds the share of worlds in which any memory is flagged when none does anything: 5 %."""
    flagged = sum(found_in(world).filter("is_harmful").height for world in ("drawn in sessions", "by score"))
    assert flagged <= 0.1 * 2 * SEEDS


def test_planted_harm_is_found_at_the_threshold():
    found = found_in("by score with harm").filter(pl.col("lift_basis") == "cutoff")
    assert share(found.filter(pl.col("truth") < 0), "is_harmful") >= 0.8
    assert share(found.filter("is_harmful"), pl.col("truth") >= 0) <= 0.1


def test_taking_the_best_few_shows_no_lift_at_the_cut():
    found = found_in("best few")
    assert share(found, pl.col("lift_basis").is_null() | (pl.col("lift_basis") != "cutoff")) == 1
    assert share(found, "is_harmful") == 0


def test_repeated_tasks_tell_harm():
    found = found_in("repeated").filter(pl.col("lift_basis") == "same_task")
    assert found.height > 25
    assert share(found.filter(pl.col("truth") < 0), pl.col("lift") < -0.1) >= 0.9
    assert share(found, COVERS) >= 0.85


def test_the_smallest_detectable_lift_is_detected_four_times_in_five():
    found = found_in("drawn")
    assert found["lift_detectable"].median() == pytest.approx(0.06, abs=0.02)
    assert share(found.filter(pl.col("truth").abs() > pl.col("lift_detectable")), ~COVERS_ZERO) >= 0.8
