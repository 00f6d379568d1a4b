"""What the released methods say of how memories are used, of timelines and rows written by rule; every digit.

The files in tests/golden are released: neither they nor `PINNED` change. A better method is a new version with a folder
of its own. To write the files of a new version, run

    SLOWWAVE_REGENERATE_GOLDEN=1 pytest tests/transforms/test_golden_use.py

read what changed line by line, and pin the hash that the failing test names.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import golden_health as given
import polars as pl
import pytest
from golden_tables import assert_golden
from golden_timelines import START, TODAY, golden_timelines
from health_rows import TODAY as HEALTH_DAY
from health_rows import health_frame

from slowwave.transforms.decisions import archivings, forgetting_audit
from slowwave.transforms.forgetting_params import ForgettingParams
from slowwave.transforms.forgetting_plan import forgetting_plan, forgetting_quotas
from slowwave.transforms.forgetting_tables import ForgettingRule
from slowwave.transforms.memory_scores import memory_scores
from slowwave.transforms.memory_timelines import MemoryTimelines
from slowwave.transforms.memory_trends import memory_trends
from slowwave.transforms.memory_use import memory_use
from slowwave.transforms.need_params import NeedParams
from slowwave.transforms.params import Params
from slowwave.transforms.project_health import project_health
from slowwave.transforms.regret import regret
from slowwave.transforms.review_value import review_value
from slowwave.transforms.strength_fits import strength_fits
from slowwave.transforms.strengths import strengths
from slowwave.transforms.trend_looks import TRENDS
from slowwave.transforms.verdicts import USE_VERDICTS, VERDICTS, use_case, verdicts

FOLDER = Path(__file__).resolve().parents[1] / "golden"
PINNED: dict[str, str] = {
    "strength-1/memory_health": "e2d8f48829cfe45636dfdce36a6d982ae4b3b2a41b20cf75f53a757f5dc9d0f7",
    "strength-1/strength_fits": "581ab23cc41afb4d8a5540c57805728d0d3d033c697260644b96bb78177ff12f",
    "strength-1/scorecard": "3a73d818725077eed909adf8fc4f6d04088d9cd91120e6c906c0f8d4a280b5f6",
    "strength-2/memory_health": "b40409c1629e7e148f1005fd61e01f338854b2792a3e374f20b16b0da376a3fc",
    "strength-2/strength_fits": "a81f80532fbf8c2dbe00b8d958e9f49f8e22605987038c13e2f926ad5cd54d92",
    "strength-2/scorecard": "abc04872d63edf90bbff8670f0bf7562a95832ea14eac0be09c708737ea80fe8",
    "alma-1/memory_health": "5ed6b15471b56dd9bd413b8412b28d77b852991f66a0a70b61e90b83d50dffd2",
    "need-1/memory_health": "055cde7d2a3cf56d39691a8723fbaff1e9be42afb38152866d54a284be27ee79",
    "need-1/need_fits": "17e4401a475040c2db20b419fd1a3e30ce3eab323676eef84388bfa08131e367",
    "need-1/scorecard": "49423d729c1a97c33378518b8b6241203f1238880ad637a03e8621420ed913ce",
    "memory_trend-1/memory_health": "8fdfe97dbd125cfc892a081703afef5cd9188785d6f8caa87e106da7ac539224",
    "memory_trend-2/memory_health": "c404dfb0580140ef24d6e41c043d395845b182d2fb24db3e404055010a3bbc7b",
    "verdict-1/memory_health": "b101631c161418631bfebd62b868e041eb28d283c44cacb18f7f4ff8f74f0df7",
    "verdict-2/memory_health": "74374eb8f17299a436c7501f3670f5c94c9051b13435ba8a81ef91a06b83edf4",
    "review_value-1/memory_health": "3b054d06c1a4e69e0ff8f77cc7e71078aa890428889831907142c25410b5cf41",
    "project_health-1/project_health": "d66f8b702a357bfd36b61ba4ef310181740124b4789aee641196f39379be40d9",
    "forgetting-1/forgetting_plan": "c4a874758a8d69c7b90b0750f77be442cf1c136397201e0db9b1111247c99fcc",
    "forgetting-1/forgetting_quotas": "1b482f34d9af066a11288546d6d4ca33b1affc8606262b19f08f67b9a8427841",
    "forgetting-2/forgetting_plan": "98efdf744ab2859263e125e26f5cb34c207b788779ab330a6dc91fbc4443ed21",
    "forgetting-1/forgetting_audit": "8f891103822ade67b69a1aeef568c81e837927a18ba1a4dc113e20026ecb23f1",
    "regret-1/regret": "51feadd115e26a1800a63aeb357320b534347db94dad0de71b8d72a25abcfa10",
}
# A project of some hundred cases has a fit of its own.
PARAMS = Params(need=NeedParams(min_fit_rows=300))
QUOTAS = ForgettingParams(
    project_quota=30, agent_quota=30, project_quotas={"mill": 3, "": 2}, agent_quotas={"ada": 2}, shadow_share=0.25
)
STRENGTH_1 = PARAMS.model_copy(update={"strength": PARAMS.strength.model_copy(update={"method": "strength/1"})})
QUOTAS_1 = QUOTAS.model_copy(update={"method": "forgetting/1"})
# A week after it begins, on a leap day, and after two years.
ASKED = (START + 7, START + 59, TODAY)
LOOKS = range(START, TODAY + 1, 43)


def _until(timelines: MemoryTimelines, day: int) -> MemoryTimelines:
    """What was known at the midnight that begins the day."""
    before = pl.col("day") < day
    memories = timelines.memories.with_columns(
        pl.when(pl.col("created_day") < day).then("created_day").alias("created_day")
    )
    return MemoryTimelines(
        memories, timelines.days.filter(before), timelines.scope_days.filter(before), timelines.scopes
    )


def _of_use() -> dict[str, pl.DataFrame]:
    timelines = golden_timelines()
    told, half_lives, needs, told_2, half_lives_2 = [], [], [], [], []
    for day in ASKED:
        use = memory_use(_until(timelines, day), day, STRENGTH_1)
        later = memory_use(_until(timelines, day), day, PARAMS)
        asked = pl.lit(day).alias("asked_day")
        told.append(use.memories.with_columns(asked))
        half_lives.append(use.strength_fits.drop("reach_days").with_columns(asked))
        told_2.append(later.memories.with_columns(asked))
        half_lives_2.append(later.strength_fits.with_columns(asked))
        needs.append(use.need_fits.with_columns(asked))
    shown = ~pl.col("memory_id").str.contains("crowd [1-9]")
    memories, memories_2 = (pl.concat(rows).filter(shown).sort("memory_id", "asked_day") for rows in (told, told_2))
    names = timelines.memories.select("memory", "memory_id").filter(shown)
    looks = names.join(pl.DataFrame({"day": LOOKS}, schema={"day": pl.Int32}), how="cross")
    frames = (timelines.memories, timelines.days, timelines.scope_days)
    of_looks = looks.select("memory", "day")
    trend_1 = PARAMS.trend.model_copy(update={"method": "memory_trend/1"})
    trends = memory_trends(*frames, of_looks, trend_1)
    # as if all had been made half a year before
    older = timelines.memories.with_columns(pl.col("created_day") - 180)
    of_older = memory_trends(older, *frames[1:], of_looks, PARAMS.trend)
    alma = PARAMS.strength.model_copy(update={"method": "alma/1"})
    fits = strength_fits(*frames, TODAY, alma)
    by_alma = strengths(*frames[:2], fits, looks.select("memory", "day").gather_every(4), alma)
    scores = memory_scores(timelines, TODAY, STRENGTH_1)
    scores_2 = memory_scores(timelines, TODAY, PARAMS)
    is_need = pl.col("metric").str.starts_with("need_")
    strength = ["memory_id", "asked_day", "half_life_days", "strength", "strength_state", "fades_at"]
    return {
        "strength-1/memory_health": memories.select(strength),
        "strength-1/strength_fits": pl.concat(half_lives),
        "strength-1/scorecard": scores.filter(~is_need),
        "strength-2/memory_health": memories_2.select(strength),
        "strength-2/strength_fits": pl.concat(half_lives_2),
        "strength-2/scorecard": scores_2.filter(~is_need),
        "alma-1/memory_health": by_alma.join(names, on="memory", maintain_order="left").drop("memory"),
        "need-1/memory_health": memories.select("memory_id", "asked_day", "need_30d", "need_if_active"),
        "need-1/need_fits": pl.concat(needs),
        "need-1/scorecard": scores.filter(is_need),
        "memory_trend-1/memory_health": trends.join(names, on="memory", maintain_order="left").drop("memory"),
        "memory_trend-2/memory_health": of_older.join(names, on="memory", maintain_order="left").drop("memory"),
    }


def _of_health() -> dict[str, pl.DataFrame]:
    judged, silent = health_frame(given.judged_rows()), health_frame(given.silent_rows())
    verdict_1 = PARAMS.verdict.model_copy(update={"method": "verdict/1"})
    told, told_2 = (
        pl.concat([verdicts(rows.lazy(), HEALTH_DAY, params).collect() for rows in (judged, silent)])
        for params in (verdict_1, PARAMS.verdict)
    )
    rows = pl.concat([judged, silent]).drop("verdict").join(told, on="memory_id", maintain_order="left")
    projects = health_frame(given.project_rows())
    memories, evidence = given.forgetting_frames()
    archived = archivings(given.decided(), given.AS_OF)
    return {
        "verdict-1/memory_health": told,
        "verdict-2/memory_health": told_2,
        "review_value-1/memory_health": review_value(rows, PARAMS.review),
        "project_health-1/project_health": project_health(projects, HEALTH_DAY, PARAMS.project_health),
        "forgetting-1/forgetting_plan": forgetting_plan(memories, evidence, HEALTH_DAY, QUOTAS_1),
        "forgetting-1/forgetting_quotas": forgetting_quotas(memories, evidence, HEALTH_DAY, QUOTAS_1),
        "forgetting-2/forgetting_plan": forgetting_plan(memories, evidence, HEALTH_DAY, QUOTAS),
        "forgetting-1/forgetting_audit": forgetting_audit(given.decided(), given.AS_OF),
        "regret-1/regret": regret(archived, given.uses(), given.AS_OF, QUOTAS),
    }


@pytest.fixture(scope="module")
def published() -> dict[str, pl.DataFrame]:
    return {**_of_use(), **_of_health()}


def test_every_table_is_pinned(published):
    assert published.keys() == PINNED.keys()


@pytest.mark.parametrize("name", PINNED)
def test_what_was_published_is_published(name, published):
    assert_golden(published[name], FOLDER / f"{name}.ndjson", PINNED[name])


def test_the_inputs_take_every_path(published):
    def said(name: str, column: str) -> set[str | None]:
        return set(published[name][column])

    assert said("strength-1/memory_health", "strength_state") == {None, "strong", "normal", "weak", "forgettable"}
    assert said("memory_trend-1/memory_health", "trend") == set(TRENDS)
    assert said("need-1/need_fits", "fitted_on") == {"default", "lake", "scope"}
    assert said("verdict-2/memory_health", "verdict") == set(VERDICTS)
    assert said("project_health-1/project_health", "status") == {"healthy", "warning", "critical", "unknown"}
    assert said("forgetting-1/forgetting_plan", "rule") == set(get_args(ForgettingRule))
    cases = health_frame(given.judged_rows()).select(use_case(pl.lit(HEALTH_DAY), PARAMS.verdict)).to_series()
    assert set(cases) == USE_VERDICTS.keys()


def test_the_golden_methods_are_the_present_ones():
    params = Params()
    present = (params.strength, params.need, params.trend, params.verdict, params.review, params.project_health)
    methods = {*(topic.method for topic in present), params.forgetting.method, params.forgetting.regret_method}
    # beside them a peer's formula, and what was released before, which may be chosen
    beside = {"alma-1", "forgetting-1", "memory_trend-1", "strength-1", "verdict-1"}
    assert {name.split("/")[0] for name in PINNED} == {*(method.replace("/", "-") for method in methods), *beside}
