"""The plan: which rule says what, what is never planned, and quotas that are met exactly."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.forgetting.plan import forgetting_plan, forgetting_quotas
from slowwave.transforms.decisions.forgetting.tables import ForgettingPlan, ForgettingQuotas
from slowwave.transforms.decisions.params import ForgettingParams
from slowwave.transforms.health.tables import MemoryHealth

EPOCH = datetime(1970, 1, 1)
TODAY = 20_000
PARAMS = ForgettingParams()
RULES = {"superseded", "invalid", "low_confidence", "faded", "untouched"}

HEALTH = {
    "memory_id": pl.String, "project": pl.String, "agent": pl.String, "status": pl.String,
    "created_at": pl.Datetime("us"), "eligible_count": pl.Int64, "injected_count": pl.Int64,
    "reference_count": pl.Int64, "last_referenced_at": pl.Datetime("us"), "confirmed_count": pl.Int64,
    "contradicted_count": pl.Int64, "confidence_high": pl.Float64, "strength": pl.Float64, "need_30d": pl.Float64,
    "need_if_active": pl.Float64,
    "verdict": pl.String, "expires_at": pl.Datetime("us"),
}  # fmt: skip
EVIDENCE = {
    "memory_id": pl.String, "pinned": pl.Boolean, "is_held": pl.Boolean, "status_since": pl.Datetime("us"),
    "touched_day": pl.Int32, "eligible_since_touch": pl.Int64, "shadowed_day": pl.Int32, "restored_day": pl.Int32,
}  # fmt: skip


def at(day: int, hour: int = 12) -> datetime:
    return EPOCH + timedelta(days=day, hours=hour)


def of(memory_id: str = "m", **fields: Any) -> dict[str, Any]:
    """An active memory a year old, eligible often, never touched, of which nothing is predicted."""
    created = fields.pop("created_day", TODAY - 365)
    return {
        "memory_id": memory_id,
        "project": "p",
        "agent": "a",
        "status": "active",
        "created_at": at(created),
        "eligible_count": 500,
        "injected_count": 0,
        "reference_count": 0,
        "confirmed_count": 0,
        "contradicted_count": 0,
        "pinned": False,
        "is_held": False,
        "status_since": at(created),
        **fields,
    }


FADED = {"verdict": "forget", "strength": 0.031, "need_30d": 0.012, "touched_day": TODAY - 200}


def frames(memories: list[dict[str, Any]]) -> tuple[Frame[MemoryHealth], pl.DataFrame]:
    def frame(schema: dict[str, Any]) -> pl.DataFrame:
        return pl.DataFrame([{name: row.get(name) for name in schema} for row in memories], schema=schema)

    return framed(MemoryHealth, frame(HEALTH), partial=True), frame(EVIDENCE)


def planned(*memories: dict[str, Any], params: ForgettingParams = PARAMS) -> list[dict[str, Any]]:
    return forgetting_plan(*frames(list(memories)), TODAY, params).to_dicts()


def rule(**fields: Any) -> str | None:
    rows = planned(of(**fields))
    return rows[0]["rule"] if rows else None


# --------------------------------------------------------------------------------------------------------------- rules


def test_nothing_known_plans_nothing() -> None:
    assert rule() is None


@pytest.mark.parametrize("status", ["superseded", "invalid"])
def test_replaced_memories_go_after_some_days(status: str) -> None:
    for days, expected in ((29, None), (30, status)):
        assert rule(status=status, status_since=at(TODAY - days)) == expected


def test_one_is_said_as_one() -> None:
    (row,) = planned(of(verdict="forget", eligible_count=1))
    assert row["reason"].endswith("no detected reference or injection in 1 interaction")
    params = ForgettingParams(replaced_after_days=1, project_quota=0)
    (row,) = planned(of(status="invalid", status_since=at(TODAY - 1)), params=params)
    assert row["reason"].endswith(", 1 day ago (at least 1)")
    (row,) = planned(of(), params=params)
    assert row["reason"].startswith("the project has 1 active memory besides")


@pytest.mark.parametrize("status", ["superseded", "invalid"])
def test_what_landed_replaced_never_had_a_chance_and_goes_all_the_same(status: str) -> None:
    fields = {"status": status, "status_since": at(TODAY - 30), "eligible_count": 0}
    assert rule(**fields) == status
    assert rule(**fields | {"status_since": at(TODAY - 29)}) is None


def test_what_was_never_touched_is_untouched_since_it_was_created() -> None:
    never = {"created_day": TODAY - 90, "eligible_count": 20, "verdict": "review"}
    assert rule(**never) == "untouched"
    assert rule(**never | {"created_day": TODAY - 89}) is None
    assert rule(**never | {"eligible_count": 19}) is None
    assert rule(**never | {"verdict": "unproven"}) is None
    assert rule(**never | {"need_30d": 0.11}) is None


def test_what_has_a_date_to_expire_at_is_left_to_it() -> None:
    never = {"created_day": TODAY - 90, "eligible_count": 20, "verdict": "review"}
    assert rule(**never | {"expires_at": at(TODAY + 400)}) is None
    assert rule(**FADED, expires_at=at(TODAY + 400)) is None


def test_untouched_counts_from_the_last_touch_and_needs_chances_since() -> None:
    untouched = {"touched_day": TODAY - 90, "eligible_since_touch": 20, "verdict": "review"}
    assert rule(**untouched) == "untouched"
    assert rule(**untouched | {"touched_day": TODAY - 89}) is None
    assert rule(**untouched | {"verdict": "keep"}) is None
    assert rule(**untouched | {"eligible_since_touch": 19}) is None
    assert rule(**untouched | {"need_30d": 0.11}) is None
    assert rule(**untouched | {"need_30d": 0.1}) == "untouched"
    assert rule(**untouched | {"need_30d": 0.02, "need_if_active": 0.4}) is None  # silence is no evidence
    assert rule(**untouched | {"last_referenced_at": at(TODAY - 80)}) is None


def test_age_alone_is_no_rule() -> None:
    assert rule(created_day=TODAY - 5000) is None


def test_low_confidence_needs_judged_references() -> None:
    low = {"confidence_high": 0.29, "confirmed_count": 1, "contradicted_count": 4}
    assert rule(**low) == "low_confidence"
    assert rule(**low | {"confidence_high": 0.3}) is None
    assert rule(**low | {"contradicted_count": 3}) is None
    assert rule(**low | {"confidence_high": None}) is None


def test_faded_follows_the_verdict() -> None:
    assert rule(**FADED) == "faded"
    assert rule(**FADED | {"verdict": "review"}) is None


def test_reasons_state_the_figures() -> None:
    (row,) = planned(of(**FADED))
    assert row["reason"] == (
        "verdict forget: strength 0.031, predicted need within 30 days 1.2 %, last referenced or injected 200 days ago"
    )
    (row,) = planned(of(verdict="forget"))
    assert row["reason"] == (
        "verdict forget: strength unknown, no predicted need known,"
        " no detected reference or injection in 500 interactions"
    )
    (row,) = planned(of(touched_day=TODAY - 91, eligible_since_touch=40, verdict="review"))
    assert row["reason"] == (
        "last referenced or injected 91 days ago (at least 90); eligible in 40 interactions since,"
        " no detected use in them; no predicted need known"
    )


# --------------------------------------------------------------------------------------------------------- protections

PROTECTING = {
    "pinned": {"pinned": True},
    "held": {"is_held": True},
    "never eligible": {"eligible_count": 0},
    "young": {"created_day": TODAY - 29},
    "restored lately": {"restored_day": TODAY - 29},
    "referenced lately": {"last_referenced_at": at(TODAY - 13, 0)},
    "injected lately": {"touched_day": TODAY - 13},
    "in shadow": {"shadowed_day": TODAY - 29},
    "candidate": {"status": "candidate"},
    "archived": {"status": "archived"},
    "graduated": {"status": "graduated"},
}


@each("why", PROTECTING)
def test_what_is_protected_is_never_planned(why: str) -> None:
    everything = {**FADED, "confidence_high": 0.1, "contradicted_count": 9, "eligible_since_touch": 99}
    params = ForgettingParams(project_quota=0, agent_quota=0)
    assert planned(of(**everything), params=params)
    assert planned(of(**everything | PROTECTING[why]), params=params) == []


@pytest.mark.parametrize(
    "barely", [{"created_day": TODAY - 30}, {"restored_day": TODAY - 30}, {"last_referenced_at": at(TODAY - 14)}]
)
def test_a_protection_ends(barely: dict[str, Any]) -> None:
    assert rule(**FADED | barely) == "faded"


def test_a_memory_that_never_landed_is_not_planned() -> None:
    health, evidence = frames([of(status=None, created_at=None, project=None, verdict="forget")])
    assert forgetting_plan(health, evidence.clear(), TODAY, PARAMS).is_empty()


# -------------------------------------------------------------------------------------------------------------- quotas

memories_strategy = st.lists(
    st.fixed_dictionaries(
        {
            "project": st.sampled_from(["", "p", "q"]),
            "agent": st.sampled_from(["", "a", "b"]),
            "status": st.sampled_from(["active", "active", "active", "candidate", "superseded", "archived"]),
            "pinned": st.booleans(),
            "is_held": st.sampled_from([False, False, True]),
            "eligible_count": st.sampled_from([0, 30, 500]),
            "touched_day": st.sampled_from([None, TODAY - 2, TODAY - 100]),
            "eligible_since_touch": st.sampled_from([0, 50]),
            "created_day": st.sampled_from([TODAY - 3, TODAY - 400]),
            "need_30d": st.sampled_from([None, 0.0, 0.05, 0.5]),
            "verdict": st.sampled_from([None, "keep", "forget"]),
        }
    ),
    max_size=25,
)
quotas_strategy = st.builds(
    ForgettingParams,
    project_quota=st.sampled_from([None, 0, 2, 5]),
    agent_quota=st.sampled_from([None, 0, 1, 3]),
    project_quotas=st.sampled_from([{}, {"q": 4}, {"": 1}]),
    agent_quotas=st.sampled_from([{}, {"b": 2}, {"": 1}]),
)


@settings(max_examples=examples(10, 80), deadline=None)
@given(memories_strategy, quotas_strategy, st.randoms(use_true_random=False))
def test_quotas_are_met_exactly_and_protections_hold(fields: list[Any], params: ForgettingParams, random: Any) -> None:
    memories = {f"m{number:02}": of(f"m{number:02}", **one) for number, one in enumerate(fields)}
    plan = {row["memory_id"]: row for row in planned(*memories.values(), params=params)}
    shuffled = list(memories.values())
    random.shuffle(shuffled)
    assert {row["memory_id"]: row for row in planned(*shuffled, params=params)} == plan

    for memory_id in plan:
        one = memories[memory_id]
        assert not one["pinned"]
        assert not one["is_held"]
        assert one["eligible_count"] > 0 or one["status"] == "superseded"
        assert one["created_at"] < at(TODAY - 30)
        assert one["touched_day"] in {None, TODAY - 100}
        assert one["status"] in {"active", "superseded"}

    alone = {row["memory_id"] for row in planned(*memories.values())}  # by the rules, without quotas
    assert {memory_id for memory_id, row in plan.items() if row["rule"] in RULES} == alone
    active = {memory_id: one for memory_id, one in memories.items() if one["status"] == "active"}
    left = {memory_id: one for memory_id, one in active.items() if memory_id not in alone}
    for kind, general, single in (
        ("agent", params.agent_quota, params.agent_quotas),
        ("project", params.project_quota, params.project_quotas),
    ):
        groups: dict[Any, list[str]] = {}
        for memory_id, one in left.items():
            groups.setdefault((one["project"], one["agent"] if kind == "agent" else ""), []).append(memory_id)
        for (project, agent), members in groups.items():
            name = agent if kind == "agent" else project
            quota = single.get(name, general if name else None)
            gone = [memory_id for memory_id in members if plan.get(memory_id, {}).get("rule") == f"{kind}_quota"]
            may_go = [m for m in members if m in plan or _may_go(memories[m])]
            excess = 0 if quota is None else max(0, len(members) - quota)
            assert len(gone) == min(excess, len(may_go))
            kept = [memory_id for memory_id in may_go if memory_id not in gone]
            assert all(_order(memories[one]) < _order(memories[other]) for one in gone for other in kept)
        left = {m: one for m, one in left.items() if plan.get(m, {}).get("rule") != f"{kind}_quota"}


def _may_go(one: dict[str, Any]) -> bool:
    is_free = not one["pinned"] and not one["is_held"] and one["eligible_count"] > 0
    return is_free and one["created_at"] < at(TODAY - 30) and one["touched_day"] != TODAY - 2


def _order(one: dict[str, Any]) -> tuple[Any, ...]:
    need = one["need_30d"]
    return need is None, need or 0.0, one["touched_day"] or TODAY - 400, one["memory_id"]


def test_the_least_needed_go_first_and_unknown_need_last() -> None:
    needs = {"m1": 0.5, "m2": None, "m3": 0.1, "m4": 0.2}
    memories = [of(memory_id, need_30d=need) for memory_id, need in needs.items()]
    for quota, gone in ((4, []), (3, ["m3"]), (2, ["m3", "m4"]), (1, ["m1", "m3", "m4"])):
        rows = planned(*memories, params=ForgettingParams(project_quota=quota))
        assert [row["memory_id"] for row in rows] == gone
    assert rows[1]["reason"] == (
        "the project has 4 active memories besides those that other rules plan, its quota is 1;"
        " in order of expected need this is number 1 from below (predicted need within 30 days 10.0 %)"
    )


def test_a_quota_that_protected_memories_exceed_says_so() -> None:
    memories = [of(f"m{number}", pinned=number < 3) for number in range(5)]
    params = ForgettingParams(project_quota=2)
    assert len(planned(*memories, params=params)) == 2
    (row,) = forgetting_quotas(*frames(memories), TODAY, params).to_dicts()
    assert (row["active_count"], row["planned_count"], row["protected_count"], row["is_met"]) == (5, 2, 3, False)
    assert row["reason"] == (
        "3 of its 5 active memories are protected (pinned, held, young, recently used or never eligible):"
        " 3 must stay, the quota is 2"
    )


def test_a_quota_that_is_met_has_no_reason() -> None:
    rows = forgetting_quotas(*frames([of("m1"), of("m2")]), TODAY, ForgettingParams(agent_quota=1)).to_dicts()
    assert [(row["quota_kind"], row["agent"], row["is_met"], row["reason"]) for row in rows] == [
        ("agent", "a", True, None)
    ]


def test_memories_in_shadow_count_as_gone() -> None:
    memories = [of("m1"), of("m2", shadowed_day=TODAY - 3)]
    assert planned(*memories, params=ForgettingParams(project_quota=1)) == []


# -------------------------------------------------------------------------------------------------------------- shadow


def test_about_the_share_is_left_in_shadow_and_always_the_same() -> None:
    memories = [of(f"m{number}", **FADED) for number in range(4_000)]
    rows = planned(*memories, params=ForgettingParams(shadow_share=0.02))
    chosen = {row["memory_id"] for row in rows if row["is_shadow"]}
    assert 50 <= len(chosen) <= 110
    some = planned(*memories[:100], params=ForgettingParams(shadow_share=0.02))
    assert {row["memory_id"] for row in some if row["is_shadow"]} == chosen & {f"m{n}" for n in range(100)}
    assert not any(row["is_shadow"] for row in planned(*memories))


def test_a_memory_is_in_shadow_once() -> None:
    params = ForgettingParams(shadow_share=1.0)
    assert [row["is_shadow"] for row in planned(of(**FADED), params=params)] == [True]
    assert [row["is_shadow"] for row in planned(of(**FADED, shadowed_day=TODAY - 30), params=params)] == [False]


# --------------------------------------------------------------------------------------------- what the peers get wrong


def test_a_quota_leaves_no_excess() -> None:
    """ALMA asked for 100 of 5,000 prunes 0 or 100."""
    memories = [of(f"m{number}", need_30d=number / 10_000) for number in range(5_000)]
    assert len(planned(*memories, params=ForgettingParams(agent_quota=100))) == 4_900


def test_a_preference_can_be_forgotten() -> None:
    """ALMA cannot delete one."""
    assert [row["rule"] for row in planned(of("preference-1", project="", agent="", **FADED))] == ["faded"]


def test_a_memory_referenced_an_hour_ago_stays_however_old() -> None:
    """Astrocyte deletes it 365 days after its creation."""
    just_now = of(created_day=TODAY - 4000, last_referenced_at=at(TODAY, 11), touched_day=TODAY, reference_count=1)
    assert planned(just_now, params=ForgettingParams(project_quota=0)) == []


@pytest.mark.parametrize("days", [1, 365, 3653])
def test_years_of_silence_plan_nothing_by_themselves(days: int) -> None:
    """A silent project is no evidence of disuse: no interaction since, no chance since."""
    assert rule(touched_day=TODAY - days, eligible_since_touch=0, created_day=TODAY - days - 1) is None


# --------------------------------------------------------------------------------------------------------------- shape


def test_the_columns_are_the_declared_ones() -> None:
    params = ForgettingParams(project_quota=0)
    for made, table in (
        (forgetting_plan(*frames([of()]), TODAY, params), ForgettingPlan),
        (forgetting_quotas(*frames([of()]), TODAY, params), ForgettingQuotas),
    ):
        declared = {n: t for n, t in polars_schema(table).items() if n not in {"run_id", "as_of"}}
        assert dict(made.schema) == declared
        assert made.height == 1


def test_no_memories_are_no_plan() -> None:
    assert planned() == []
    assert forgetting_quotas(*frames([]), TODAY, ForgettingParams(project_quota=0)).is_empty()
