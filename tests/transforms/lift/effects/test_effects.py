"""What the effects of memories may be called: by chance, within task, or nothing."""

from random import Random
from typing import Any

import pytest
from lift_cases import AS_OF, effects, frames, interaction
from polars.testing import assert_frame_equal

Log = list[dict[str, Any]]


def drawn_log(effect: float, *, count: int = 500, is_joint: bool = False, chance: float | None = 0.5) -> Log:
    """Two memories offered each time and injected by a draw; the first changes success by `effect`."""
    random, rows = Random(3), []
    for hour in range(count):
        first = random.random() < 0.5
        second = first if is_joint else random.random() < 0.5
        injected = [name for name, is_in in (("m1", first), ("m2", second)) if is_in]
        success = random.random() < 0.5 + effect * first
        rows.append(
            interaction(
                hour, success, injected=injected, chance=chance, offered=[("m1", 1, 0.9), ("m2", 2, 0.8)],
                session=f"s{hour // 2}", task=f"task {hour % 4}",
            )
        )  # fmt: skip
    return rows


def effects_of(rows: Log) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The rows of effects, by scope, scope_id and basis."""
    references, interactions, _, attempts = frames(rows)
    found = effects(references, interactions, attempts, AS_OF)
    return {(row["scope"], row["scope_id"], row["basis"]): row for row in found.to_dicts()}


@pytest.mark.parametrize(("effect", "claim"), [(0.4, "helps"), (-0.4, "harms"), (0.0, "cannot be told")])
def test_where_chance_decided_an_effect_is_claimed(effect: float, claim: str) -> None:
    found = effects_of(drawn_log(effect))
    one, other = (found["memory", name, "randomised"] for name in ("m1", "m2"))
    assert (one["claim"], other["claim"]) == (claim, "cannot be told")
    assert one["low"] <= effect <= one["high"]
    assert (one["e_value"] >= 20) == (claim != "cannot be told")
    assert one["with_count"] + one["without_count"] == 500
    assert found["all", "", "randomised"]["with_count"] == one["with_count"] + other["with_count"]


def test_the_overall_effect_is_that_of_one_memory() -> None:
    found = effects_of(drawn_log(0.4))
    for scope, name in (("all", ""), ("project", "p")):
        row = found[scope, name, "randomised"]
        assert row["low"] < 0.2 < row["high"]
        assert row["estimate"] == row["own_estimate"]


def test_without_chance_no_more_than_an_association_is_told() -> None:
    found = effects_of(drawn_log(0.4, chance=None))
    assert {row["claim"] for row in found.values()} == {"associated", "cannot be told"}
    assert {key for key, row in found.items() if row["claim"] == "cannot be told"} == {("all", "", "none")}
    row = found["memory", "m1", "within task"]
    assert row["low"] < 0.4 < row["high"]
    assert row["e_value"] is None


def test_memories_drawn_together_have_no_row_of_their_own() -> None:
    found = effects_of(drawn_log(0.4, is_joint=True))
    assert {key for key in found if key[2] == "randomised"} == {
        ("all", "", "randomised"),
        ("project", "p", "randomised"),
    }
    assert found["all", "", "randomised"]["claim"] == "helps"


def test_few_sessions_claim_nothing() -> None:
    assert effects_of(drawn_log(0.5, count=24))["memory", "m1", "randomised"]["claim"] == "cannot be told"
    found = effects_of(drawn_log(0.5, count=6))
    assert {key for key in found if key[0] == "memory"} == set()


def test_nothing_known_is_told_as_such() -> None:
    references, interactions, _, attempts = frames([interaction(1, True)])
    rows = effects(references, interactions, attempts, AS_OF)
    assert rows["claim"].to_list() == ["cannot be told"] * 2
    assert rows["estimate"].null_count() == 2


def test_the_order_in_which_rows_come_does_not_matter() -> None:
    references, interactions, _, attempts = frames(drawn_log(0.2))
    once = effects(references, interactions, attempts, AS_OF)
    for seed in (1, 2):
        shuffled = [rows.sample(fraction=1, shuffle=True, seed=seed) for rows in (references, interactions, attempts)]
        assert_frame_equal(effects(shuffled[0], shuffled[1], shuffled[2], AS_OF), once, check_exact=True)
