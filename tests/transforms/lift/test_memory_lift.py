"""Lift: each comparison against the textbook formula, what may be shown, and what is said where nothing may."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from lift_cases import AS_OF as CASES_AS_OF
from lift_cases import PARAMS, interaction, memory_outcomes, outcomes_of
from lift_worlds import AS_OF, World, frames, topic_frames
from thorough import some

from slowwave.transforms.lift import matched as matched_module
from slowwave.transforms.lift import trials
from slowwave.transforms.lift.matched import Others, matched_estimates, pseudo_treated
from slowwave.transforms.lift.params import MemoryOutcomeParams
from slowwave.transforms.lift.same_task import same_task

LIFT = ("lift", "lift_low", "lift_high", "lift_basis", "lift_p_value", "lift_q_value", "is_harmful", "lost_successes")

# ----------------------------------------------------------------------------------------------------------- randomised


def drawn(count=60, harm=0.5, chance=0.5, offered=("m",), is_joint=False, seed=5, extra=None):
    """Interactions that draw what they inject; `m` lowers success from .9 by `harm`."""
    random = np.random.default_rng(seed)
    rows = [interaction(k / 10, success=random.random() < 0.9) for k in range(40)]
    for k in range(count):
        coins = np.repeat(random.random(), len(offered)) if is_joint else random.random(len(offered))
        injected = [name for name, coin in zip(offered, coins, strict=True) if coin < chance]
        success = random.random() < 0.9 - harm * ("m" in injected)
        offers = [(name, rank, None) for rank, name in enumerate(offered)]
        rows.append(interaction(10 + k, success, injected=injected, offered=offers, chance=chance, **(extra or {})))
    return rows


def test_a_harmful_memory_is_found_where_chance_decides():
    found = outcomes_of(drawn(200))["m"]
    assert found["lift_basis"] == "randomised"
    assert found["lift_low"] < -0.5 < found["lift_high"] < 0
    assert found["is_harmful"] is True
    assert found["lift_note"] is None
    assert 0 < found["lift_detectable"] < 0.3
    assert found["lift_p_value"] == found["lift_q_value"] < 0.001


def test_what_it_cost_is_lift_times_injections():
    rows = drawn(200)
    found = outcomes_of(rows)["m"]
    injected = sum("m" in row["injected"] for row in rows)
    assert found["lost_successes"] == pytest.approx(-found["lift"] * injected)
    assert found["lost_successes"] > 40


def test_a_helpful_memory_is_not_harmful():
    found = outcomes_of(drawn(200, harm=-0.5))["m"]
    assert (found["is_harmful"], found["lift"] > 0) == (False, True)


def test_logged_probabilities_undo_who_was_treated_more():
    """Injected with .9 where everything fails, with .1 where everything succeeds: no effect."""
    random = np.random.default_rng(1)
    rows = []
    for k in range(800):
        is_bad = k % 2 == 0
        chance = 0.9 if is_bad else 0.1
        injected = ["m"] if random.random() < chance else []
        rows.append(interaction(k, success=not is_bad, injected=injected, offered=[("m", 1, None)], chance=chance))
    found = outcomes_of(rows)["m"]
    assert found["lift_basis"] == "randomised"
    assert found["lift_low"] < 0 < found["lift_high"]
    assert abs(found["lift"]) < 0.1


@pytest.mark.parametrize("chance", [0.0, 0.01, 0.99, 1.0])
def test_without_chance_nothing_is_randomised(chance):
    assert outcomes_of(drawn(300, chance=chance))["m"]["lift_basis"] is None


def test_too_few_sessions_show_no_lift_but_what_could_be_detected():
    found = outcomes_of(drawn(200, extra={"session": "s"}))["m"]
    assert found["lift"] is None
    found = outcomes_of(drawn(8))["m"]
    assert found["lift"] is None
    assert "too few sessions with or without it" in found["lift_note"]
    assert found["lift_detectable"] > 0.3


def test_memories_always_injected_together_are_not_told_apart():
    rows = drawn(300, offered=("m", "n"), is_joint=True)
    for found in outcomes_of(rows).values():
        assert found["lift"] is None
        assert "none can be told apart" in found["lift_note"]
    apart = outcomes_of(drawn(300, offered=("m", "n")))
    assert apart["m"]["is_harmful"] is True
    assert apart["n"]["is_harmful"] is False


# --------------------------------------------------------------------------------------------------------------- cutoff


def cut(count=1200, harm=0.5, seed=3, rule="threshold", gap=0.0, digits=9, rewrite=None):
    """Five offers by a score; `m` lowers success by `harm` where injected. `rewrite` changes the logged scores.

    threshold: those above .5 are injected; best: the first two. No score is within `gap` of .5.
    """
    random = np.random.default_rng(seed)
    rows = []
    for k in range(count):
        scores = dict(zip("mnopq", random.random(5).round(digits).tolist(), strict=True))
        scores = {name: x + gap * (1 if x > 0.5 else -1) for name, x in scores.items()}
        order = sorted(scores, key=lambda name: -scores[name])
        injected = order[:2] if rule == "best" else [name for name in order if scores[name] > 0.5]
        offers = [(name, rank, (rewrite or float)(scores[name])) for rank, name in enumerate(order, start=1)]
        random.shuffle(offers)
        success = random.random() < 0.9 - harm * ("m" in injected)
        rows.append(interaction(k, success, injected=injected, offered=offers))
    return rows


def test_a_harmful_memory_is_found_at_the_threshold():
    found = outcomes_of(cut())["m"]
    assert found["lift_basis"] == "cutoff"
    assert found["lift_low"] < -0.5 < found["lift_high"] < 0
    assert found["is_harmful"] is True


def test_the_unit_of_scores_does_not_matter():
    plain = outcomes_of(cut())["m"]
    # in powers of two nothing is rounded
    assert outcomes_of(cut(rewrite=lambda x: x * 2.0**900))["m"] == plain
    assert outcomes_of(cut(rewrite=lambda x: x * 2.0**-900))["m"] == plain
    times = outcomes_of(cut(rewrite=lambda x: 1.78e12 + x * 9e10))["m"]
    assert times["lift"] == pytest.approx(plain["lift"], abs=1e-6)
    assert times["is_harmful"] is True


def test_each_project_has_its_own_threshold():
    rows = cut()
    for k, row in enumerate(rows):
        if k % 2:
            row.update(project="q", offered=[(name, rank, score + 3) for name, rank, score in row["offered"]])
    assert outcomes_of(rows)["m"]["is_harmful"] is True


@pytest.mark.parametrize("given", [{"rule": "best"}, {"rewrite": lambda _: None}, {"rewrite": lambda _: float("nan")}])
def test_no_cutoff_where_injection_does_not_follow_a_score(given):
    found = outcomes_of(cut(**given))["m"]
    assert found["lift_basis"] is None
    assert "does not follow a fixed score" in found["lift_note"]
    assert "log injection_probability to know" in found["lift_note"]


@pytest.mark.parametrize("given", [{"gap": 0.2}, {"digits": 1}, {"count": 40}])
def test_no_cutoff_across_a_gap(given):
    found = outcomes_of(cut(**given))["m"]
    assert found["lift_basis"] is None
    assert "just below or just above the injection threshold" in found["lift_note"]


def test_few_exceptions_do_not_undo_a_threshold_and_many_do():
    rows = cut()
    for share, basis in ((300, "cutoff"), (10, None)):
        for row in rows[::share]:
            row["injected"] = [name for name, _, score in row["offered"] if score <= 0.5]
        assert outcomes_of(rows)["m"]["lift_basis"] == basis


@pytest.mark.parametrize("bad", some([float("inf"), 1e308, -1e308, 5e-324, float("-inf"), float("nan")], 2))
def test_one_absurd_score_changes_little(bad):
    rows = cut()
    rows[7]["offered"] = [(name, rank, bad if name == "m" else score) for name, rank, score in rows[7]["offered"]]
    found = outcomes_of(rows)["m"]
    assert found["lift_basis"] == "cutoff"
    assert found["lift"] == pytest.approx(outcomes_of(cut())["m"]["lift"], abs=0.05)


@pytest.mark.parametrize("scale", [1e308, 1e-315])
def test_absurd_scores_throughout_are_scaled(scale):
    plain = outcomes_of(cut(rewrite=lambda x: 2 * x - 1))["m"]
    assert outcomes_of(cut(rewrite=lambda x: (2 * x - 1) * scale))["m"]["lift"] == pytest.approx(
        plain["lift"], abs=1e-4
    )


def test_a_jump_in_the_forecast_withholds_the_cutoff():
    """Above the threshold comes another task type, which always fails."""
    rows = cut(harm=0)
    for row in rows:
        if "m" in row["injected"]:
            row.update(task_type="hopeless", success=False)
    rows += [interaction(k / 100, success=False, task_type="hopeless") for k in range(100)]
    found = outcomes_of(rows)["m"]
    assert found["lift_basis"] is None
    assert "cannot have made one" in found["lift_note"]


def test_a_jump_where_nothing_is_cut_withholds_the_cutoff():
    """Cases are hard, which no forecast knows of, from a score a little below the threshold."""
    rows = cut(harm=0)
    for row in rows:
        score = next(score for name, _, score in row["offered"] if name == "m")
        row["success"] = score < 0.37
    found = outcomes_of(rows)["m"]
    assert found["lift_basis"] is None
    assert "cannot have made one" in found["lift_note"]


def test_without_cases_to_check_it_on_the_cutoff_is_withheld():
    """Nothing has a score a little farther from the threshold, so that nowhere else can be looked at."""
    distances = [(row, abs({name: x for name, _, x in row["offered"]}["m"] - 0.5)) for row in cut(6000)]
    found = outcomes_of([row for row, distance in distances if distance < 0.08 or distance > 0.4])["m"]
    assert found["lift_basis"] is None
    assert "could not be checked" in found["lift_note"]


@pytest.mark.parametrize("rule", ["best", "by topic", "threshold"])
@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_hardness_is_not_put_down_to_memories(rule, seed):
    found = memory_outcomes(*topic_frames(rule, seed), CASES_AS_OF, PARAMS)
    assert found.filter("is_harmful").is_empty()
    assert found.filter((pl.col("lift_high") < 0) | (pl.col("lift_low") > 0)).is_empty()
    if rule != "threshold":
        assert found.filter(pl.col("lift_basis") == "cutoff").is_empty()


@pytest.mark.parametrize("rule", ["best", "threshold"])
def test_hidden_hardness_makes_a_later_memory_no_more_than_associated_with_failure(rule):
    found = memory_outcomes(*topic_frames(rule, 0, first_day=40), CASES_AS_OF, PARAMS)
    assert found.filter("is_harmful").is_empty()
    blamed = found.filter((pl.col("lift_high") < 0) | (pl.col("lift_low") > 0))
    assert blamed.filter(pl.col("lift_basis") != "matched").is_empty()


# ------------------------------------------------------------------------------------------------------------ same task


def known_and_having(spec):
    """trials and had of a dictionary task -> list of (hour, successes of, attempts, share that had memory 0)."""
    rows = []
    for number, parts in enumerate(spec.values()):
        for hour, successes, attempts, with_memory in parts:
            rows += [(number + 1, hour, int(k < successes), k * 7 % attempts < with_memory) for k in range(attempts)]
    start = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
    known = pl.DataFrame(
        {
            "trial": range(len(rows)),
            "block": [f"s{k}" for k in range(len(rows))],
            "at": [start + timedelta(hours=row[1]) for row in rows],
            "success": [row[2] for row in rows],
            "of_task_type": 1,
            "of_task": [row[0] for row in rows],
        }
    )
    having = known.filter(pl.Series([row[3] for row in rows])).with_columns(pl.lit(0).alias("memory"))
    return known, having, pl.DataFrame({"memory": [0], "created_at": [start + timedelta(hours=10)]})


TASKS = {
    "had": [(1, 20, 40, 0), (2, 20, 40, 0), (11, 60, 80, 40)],
    "never": [(1, 20, 40, 0), (2, 20, 40, 0), (11, 44, 80, 0)],
    "never 2": [(1, 10, 40, 0), (2, 10, 40, 0), (11, 24, 80, 0)],
}


def test_same_task_is_the_change_beyond_the_trend_per_dose():
    lift, placebo = same_task(*known_and_having(TASKS), PARAMS)
    # it rises from .5 to .75, others by .05; half of the later interactions had it
    assert lift["estimate"].item() == pytest.approx((0.25 - 0.05) / 0.5)
    assert placebo["estimate"].item() == pytest.approx(0)
    assert lift["sessions"].item() == 80


def test_same_task_does_not_care_which_later_interactions_had_it():
    known, having, created = known_and_having(TASKS)
    hard = known.filter((pl.col("success") == 0) & (pl.col("of_task") == 1) & (pl.col("at").dt.hour() == 11))
    easy = having.filter(pl.col("success") == 1).head(40 - hard.height)
    picked = pl.concat([hard.with_columns(pl.lit(0).alias("memory")), easy])
    assert picked.height == having.height
    lift, _ = same_task(known, picked, created, PARAMS)
    assert lift["estimate"].item() == pytest.approx(0.4)


def test_same_task_placebo_sees_what_began_earlier():
    tasks = {**TASKS, "had": [(1, 10, 40, 0), (2, 30, 40, 0), (11, 60, 80, 40)]}
    _, placebo = same_task(*known_and_having(tasks), PARAMS)
    assert placebo["estimate"].item() == pytest.approx((0.75 - 0.25) / 0.5)


def test_same_task_needs_a_task_that_never_had_it_a_before_and_uptake():
    assert same_task(*known_and_having({"had": TASKS["had"]}), PARAMS)[0].is_empty()
    no_before = {**TASKS, "had": TASKS["had"][2:]}
    assert same_task(*known_and_having(no_before), PARAMS)[0].is_empty()
    rare = {**TASKS, "had": [*TASKS["had"][:2], (11, 60, 80, 15)]}
    assert same_task(*known_and_having(rare), PARAMS)[0].is_empty()


# -------------------------------------------------------------------------------------------------------------- matched


def matched_rows(strata):
    """strata: (day, residuals that had it, residuals that had not), each its own session."""
    start = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
    rows = [
        (start + timedelta(days=day), value, has)
        for day, with_it, without in strata
        for has, values in ((True, with_it), (False, without))
        for value in values
    ]
    everyone = pl.DataFrame(
        {
            "trial": range(len(rows)),
            "block": range(len(rows)),
            "of_task_type": 1,
            "at": [row[0] for row in rows],
            "usual": [row[1] for row in rows],
            "residual": [row[1] for row in rows],
            "variance": 0.1,
        }
    )
    treated = everyone.filter(pl.Series([row[2] for row in rows])).with_columns(pl.lit(0).alias("memory"))
    return treated, Others.of(everyone, PARAMS)


def test_matched_weighs_strata_by_overlap():
    strata = [(0, [0.2, 0.4], [0.0, 0.1]), (30, [-0.5] * 6, [0.1, 0.2])]
    found = matched_estimates(*matched_rows(strata))
    weights = np.array([2 * 2 / 4, 6 * 2 / 8])
    assert found["estimate"].item() == pytest.approx((weights * [0.25, -0.65]).sum() / weights.sum())


def test_matched_says_nothing_without_overlap():
    strata = [(0, [0.2, 0.4], []), (30, [], [0.1, 0.2])]
    assert matched_estimates(*matched_rows(strata)).is_empty()


def test_those_who_would_have_had_it_are_told_by_its_companions():
    start = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
    # memory 1 is had with memory 0 at hours 10-13; memory 2 only once; both were had before, at hours 1 and 2
    pairs = [(0, hour) for hour in range(10, 14)] + [(1, hour) for hour in (1, 2, 10, 11, 12, 13)] + [(2, 3), (2, 10)]
    having = pl.DataFrame(
        {
            "memory": [m for m, _ in pairs],
            "trial": [h for _, h in pairs],
            "at": [start + timedelta(hours=h) for _, h in pairs],
        }
    )
    created = pl.DataFrame({"memory": [0], "created_at": [start + timedelta(hours=5)]})
    assert pseudo_treated(having, created, PARAMS).rows() == [(0, 1), (0, 2)]
    only_last = PARAMS.model_copy(update={"companion_interactions": 1})
    assert pseudo_treated(having, created, only_last).rows() == [(0, 2)]
    earlier = created.with_columns(created_at=pl.lit(start + timedelta(hours=2)))
    assert pseudo_treated(having, earlier, PARAMS).rows() == [(0, 1)]


# ------------------------------------------------------------------------------------------------------------ all of it


@pytest.mark.parametrize(("seed", "basis"), [(5, "matched"), (2, "same_task")])
def test_an_association_is_never_called_harmful(seed, basis):
    world = World(
        interactions=4000, memories=12, threshold=0.0, logs_offers=False, hardness=0.0, effects={0: -0.4}, tasks=10,
        fits=0.15, first_day=50,
    )  # fmt: skip
    found = memory_outcomes(*frames(world, seed), AS_OF, PARAMS).row(0, named=True)
    assert (found["memory_id"], found["lift_basis"]) == ("m000", basis)
    assert found["lift_high"] < -0.05
    assert [found[name] for name in ("is_harmful", "lift_q_value", "lost_successes")] == [None, None, None]


def test_every_row_without_a_lift_says_why_and_has_no_other_figure():
    world = World(interactions=3000, threshold=1.5, logs_offers=False)
    found = memory_outcomes(*frames(world, 1), AS_OF, PARAMS)
    hidden = found.filter(pl.col("lift").is_null())
    assert hidden.height > 10
    assert hidden["lift_note"].null_count() == 0
    for name in LIFT:
        assert hidden[name].null_count() == hidden.height
    assert found.filter(pl.col("lift").is_not_null())["lift_note"].null_count() == found.height - hidden.height


@pytest.mark.parametrize(
    "world",
    [
        World(interactions=900, chance=0.5),
        World(interactions=3000, memories=6, threshold=1.0),
        World(interactions=900, memories=6, threshold=0.0, logs_offers=False, tasks=6, fits=0.3, hardness=0.0),
    ],
)
def test_row_order_does_not_matter(world):
    given = frames(world, 4)
    straight = memory_outcomes(*given, AS_OF, PARAMS)
    references, interactions, memories, attempts = [frame.sample(fraction=1, shuffle=True, seed=8) for frame in given]
    assert memory_outcomes(references, interactions, memories, attempts, AS_OF, PARAMS).equals(straight)


def test_params_are_bounded_and_frozen():
    with pytest.raises(ValueError, match="less than or equal to 1"):
        MemoryOutcomeParams(min_uptake=1.5)
    with pytest.raises(ValueError, match="frozen"):
        PARAMS.min_uptake = 0.5


@pytest.mark.parametrize("rows_at_once", [1, 7, 100])
def test_what_is_counted_in_parts_is_what_is_counted_at_once_bit_for_bit(rows_at_once, monkeypatch):
    worlds = [frames(World(interactions=400, memories=6, chance=chance), 3) for chance in (None, 0.5)]
    at_once = [memory_outcomes(*world, AS_OF, PARAMS) for world in worlds]
    assert sum(found["lift"].count() for found in at_once)
    for module in (trials, matched_module):
        monkeypatch.setattr(module, "_ROWS_AT_ONCE", rows_at_once)
    for world, found in zip(worlds, at_once, strict=True):
        assert memory_outcomes(*world, AS_OF, PARAMS).equals(found)
