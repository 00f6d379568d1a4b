"""The worlds of known effects are reproducible, and hold what they say."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from slowwave.data.effects_world import CONFOUNDED, RANDOMISED, WORLDS, EffectsWorld, effects_world
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes


def success_by_offer(world: EffectsWorld) -> pl.DataFrame:
    """A row per offer: memory_id, is_injected, success."""
    return (
        world.interactions.join(world.outcomes.select("interaction_id", "success"), on="interaction_id")
        .explode("memories_offered")
        .unnest("memories_offered")
        .select("success", memory_id="id", is_injected=pl.col("id").is_in("memories_used"))
    )


def errors_of_difference(kind: str) -> np.ndarray:
    """How far success with it less success where offered and left out is from the truth, in its own noise."""
    found = []
    for seed in (50, 51):
        world = effects_world(kind, seed, count=9000, memories=30)
        sides = success_by_offer(world).group_by("memory_id", "is_injected").agg(pl.col("success").mean(), n=pl.len())
        both = sides.filter("is_injected").join(sides.filter(~pl.col("is_injected")), on="memory_id", suffix="_0")
        noise = (0.25 / both["n"] + 0.25 / both["n_0"]).sqrt()
        truth = both.join(world.truth, on="memory_id", maintain_order="left")["effect"]
        found.append(((both["success"] - both["success_0"] - truth) / noise).to_numpy())
    return np.concatenate(found)


def test_twenty_worlds_of_each_sort_are_graded() -> None:
    sorts = [kind in RANDOMISED for kind, _ in WORLDS]
    assert (sum(sorts), len(sorts) - sum(sorts), len(set(WORLDS))) == (20, 20, 40)


def test_the_same_arguments_give_the_same_world() -> None:
    one, again, another = (effects_world("mixed", seed, count=60) for seed in (5, 5, 6))
    for name in ("interactions", "outcomes", "memories", "truth"):
        assert_frame_equal(getattr(one, name), getattr(again, name))
        assert not getattr(one, name).equals(getattr(another, name))


@pytest.mark.parametrize("kind", [*RANDOMISED, *CONFOUNDED])
def test_a_world_is_a_log_of_the_contract(kind: str) -> None:
    world = effects_world(kind, 5, count=300)
    for table, rows in ((Interactions, world.interactions), (Outcomes, world.outcomes), (Memories, world.memories)):
        choose_columns(table, *(name for name in rows.columns if name != "created_at"))
    used, offered = world.interactions["memories_used"], world.interactions["memories_offered"]
    assert (used.list.len() <= offered.list.len()).all()
    assert world.interactions["injection_probability"].is_null().all() != world.is_randomised
    assert set(used.explode().drop_nulls()) <= set(world.truth["memory_id"])
    assert (world.truth["effect"].abs() > 0.05).sum() in range(3, 11)  # of ten, those that were offered


@pytest.mark.parametrize("kind", RANDOMISED)
def test_where_chance_decided_plain_differences_are_the_truth_and_noise(kind: str) -> None:
    errors = errors_of_difference(kind)
    assert abs(errors.mean()) < 0.5
    assert errors.std() < 1.3


@pytest.mark.parametrize("kind", ["difficulty", "hidden difficulty", "mixed"])
def test_where_chance_did_not_decide_plain_differences_are_wrong(kind: str) -> None:
    world = effects_world(kind, 50, count=9000, memories=30)
    having = (
        success_by_offer(world).filter("is_injected").group_by("memory_id").agg(pl.col("success").mean(), n=pl.len())
    )
    usual = success_by_offer(world)["success"].mean()
    off = having.join(world.truth, on="memory_id").filter(pl.col("n") > 100)
    assert ((off["success"] - usual - off["effect"]) * off["n"].sqrt() * 2).to_numpy().std() > 1.5


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind of world: 'fair'; kinds are randomised"):
        effects_world("fair", 1)
