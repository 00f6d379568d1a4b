"""What the released methods say of how memories are used, of timelines and rows written by rule; every digit.

The files in tests/golden are released: neither they nor their digests change (see golden_tables).
"""

from __future__ import annotations

from typing import get_args

import golden_health as given
import polars as pl
import pytest
from alma_strength import alma_strengths
from each import each
from golden_tables import assert_golden, golden_names
from golden_timelines import START, TODAY, golden_timelines
from health_rows import TODAY as HEALTH_DAY
from health_rows import ago, health_frame, leaks_of, owners_of

from slowwave.transforms.core.vocabularies import TRENDS, VERDICTS, ForgettingRule
from slowwave.transforms.decisions.effects import archivings, forgetting_audit
from slowwave.transforms.decisions.forgetting.plan import forgetting_plan, forgetting_quotas
from slowwave.transforms.decisions.forgetting.regret import regret
from slowwave.transforms.decisions.params import ForgettingParams
from slowwave.transforms.health.project.project_health import project_health
from slowwave.transforms.health.review_value import review_value
from slowwave.transforms.health.verdicts import USE_VERDICTS, use_case, verdicts
from slowwave.transforms.params import Params
from slowwave.transforms.usage.params import NeedParams
from slowwave.transforms.usage.timelines import MemoryTimelines
from slowwave.transforms.usage.trends import memory_trends
from slowwave.transforms.usage.usage import memory_scores, memory_use

# of a peer's formula, which is no method
ALMA = "alma-1/memory_health", "5ed6b15471b56dd9bd413b8412b28d77b852991f66a0a70b61e90b83d50dffd2"
NAMES = golden_names(
    *("strength-2", "need-1", "memory_trend-2", "memory_trend-2-seen", "verdict-4", "review_value-1"),
    *("project_health-3", "project_health-3-shares", "forgetting-3", "forgetting-3-quotas", "regret-1"),
)
# A project of some hundred cases has a fit of its own.
PARAMS = Params(need=NeedParams(min_fit_rows=300))
QUOTAS = ForgettingParams(
    project_quota=30, agent_quota=30, project_quotas={"mill": 3, "": 2}, agent_quotas={"ada": 2}, shadow_share=0.25
)
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
    told, half_lives, needs = [], [], []
    for day in ASKED:
        use = memory_use(_until(timelines, day), day, PARAMS)
        asked = pl.lit(day).alias("asked_day")
        told.append(use.memories.with_columns(asked))
        half_lives.append(use.strength_fits.with_columns(asked))
        needs.append(use.need_fits.with_columns(asked))
    shown = ~pl.col("memory_id").str.contains("crowd [1-9]")
    memories = pl.concat(told).filter(shown).sort("memory_id", "asked_day")
    names = timelines.memories.select("memory", "memory_id").filter(shown)
    looks = names.join(pl.DataFrame({"day": LOOKS}, schema={"day": pl.Int32}), how="cross")
    frames = (timelines.memories, timelines.days, timelines.scope_days)
    of_looks = looks.select("memory", "day")
    trends = memory_trends(*frames, of_looks, PARAMS.trend)
    # as if all had been made half a year before
    older = timelines.memories.with_columns(pl.col("created_day") - 180)
    of_older = memory_trends(older, *frames[1:], of_looks, PARAMS.trend)
    by_alma = alma_strengths(*frames[:2], of_looks.gather_every(4))
    scores = memory_scores(timelines, TODAY, PARAMS)
    is_need = pl.col("metric").str.starts_with("need_")
    strength = ["memory_id", "asked_day", "half_life_days", "strength", "strength_state", "fades_at"]
    return {
        "strength-2/memory_health": memories.select(strength),
        "strength-2/strength_fits": pl.concat(half_lives),
        "strength-2/scorecard": scores.filter(~is_need),
        "alma-1/memory_health": by_alma.join(names, on="memory", maintain_order="left").drop("memory"),
        "need-1/memory_health": memories.select("memory_id", "asked_day", "need_30d", "need_if_active"),
        "need-1/need_fits": pl.concat(needs),
        "need-1/scorecard": scores.filter(is_need),
        "memory_trend-2-seen/memory_health": trends.join(names, on="memory", maintain_order="left").drop("memory"),
        "memory_trend-2/memory_health": of_older.join(names, on="memory", maintain_order="left").drop("memory"),
    }


def _of_health() -> dict[str, pl.DataFrame]:
    judged, silent, undetected = map(health_frame, (given.judged_rows(), given.silent_rows(), given.undetected_rows()))
    told = pl.concat(
        [verdicts(rows.lazy(), HEALTH_DAY, PARAMS.verdict).collect() for rows in (judged, silent, undetected)]
    )
    rows = pl.concat([judged, silent]).drop("verdict").join(told, on="memory_id", maintain_order="left")
    projects, exposed = health_frame(given.project_rows()), health_frame(given.exposed_rows())
    leaked = leaks_of(("well 0", ago(9)), ("long ago", ago(31)))
    memories, evidence = given.forgetting_frames()
    archived = archivings(given.decided(), given.AS_OF)
    return {
        "verdict-4/memory_health": told,
        "review_value-1/memory_health": review_value(rows, PARAMS.review),
        "project_health-3-shares/project_health": project_health(
            projects, owners_of(given.project_rows()), leaks_of(), HEALTH_DAY, PARAMS.project_health
        ),
        "project_health-3/project_health": project_health(
            exposed, owners_of(given.exposed_rows()), leaked, HEALTH_DAY, PARAMS.project_health
        ),
        "forgetting-3-quotas/forgetting_plan": forgetting_plan(memories, evidence, HEALTH_DAY, QUOTAS),
        "forgetting-3-quotas/forgetting_quotas": forgetting_quotas(memories, evidence, HEALTH_DAY, QUOTAS),
        "forgetting-3/forgetting_plan": forgetting_plan(
            *given.forgetting_frames(given.NEVER_TOUCHED), HEALTH_DAY, QUOTAS
        ),
        "forgetting-3-quotas/forgetting_audit": forgetting_audit(given.decided(), given.AS_OF),
        "regret-1/regret": regret(archived, given.uses(), given.AS_OF, QUOTAS),
    }


@pytest.fixture(scope="module")
def published() -> dict[str, pl.DataFrame]:
    return {**_of_use(), **_of_health()}


def test_every_table_is_pinned(published):
    assert published.keys() == {*NAMES, ALMA[0]}


@each("name", NAMES)
def test_what_was_published_is_published(name, published):
    assert_golden(published[name], name)


def test_the_peer_still_says_what_it_said(published):
    assert_golden(published[ALMA[0]], *ALMA)


def test_the_inputs_take_every_path(published):
    def said(name: str, column: str) -> set[str | None]:
        return set(published[name][column])

    assert said("strength-2/memory_health", "strength_state") == {None, "strong", "normal", "weak", "forgettable"}
    assert said("memory_trend-2-seen/memory_health", "trend") == set(TRENDS)
    assert said("need-1/need_fits", "fitted_on") == {"default", "lake", "scope"}
    assert said("verdict-4/memory_health", "verdict") == set(VERDICTS)
    assert said("project_health-3-shares/project_health", "health") == {"healthy", "warning", "critical", "unknown"}
    assert said("forgetting-3-quotas/forgetting_plan", "rule") == set(get_args(ForgettingRule))
    judged = health_frame(given.judged_rows())
    cases = judged.select(use_case(pl.lit(HEALTH_DAY), PARAMS.verdict)).to_series()
    assert set(cases) == USE_VERDICTS.keys() - {"few_injections"}
