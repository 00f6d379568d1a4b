"""What the use of memories over time tells: strength, need, trend, and how good the forecasts of both were."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, Node
from slowwave.transforms.evidence.nodes import MEMORY_STATES, REPLAYED
from slowwave.transforms.evidence.tables import ProjectDays, ReferenceDays
from slowwave.transforms.learning.tables import Scorecard, StrategyScoresState
from slowwave.transforms.usage.tables import FittedStrengths, NeedFits

BOUND_REACHES = Handed("bound_reaches", "Agents and users who have memories that only their interactions see.")
BOUND_DAYS = Handed("bound_days", "How active each of these was on the day.")
TIMELINES = Handed("memory_timelines", "When each memory was referenced, and how active those were who could do so.")
MEMORY_USE = Handed("memory_use", "Strength, need and trend of each memory.")
USE_SCORES = Handed("use_scores", "Rows of scorecard: how good the forecasts of memories were.")

USAGE: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.evidence.reach:bound_reaches",
        outputs=(BOUND_REACHES,),
        inputs={"states": MEMORY_STATES},
        params=("evidence.eligible_method", "evidence.global_types"),
        stage="fits",
    ),
    Node(
        "slowwave.transforms.evidence.reach:bound_days",
        outputs=(BOUND_DAYS,),
        inputs={"interactions": REPLAYED, "reaches": BOUND_REACHES},
        unless_empty="reaches",
        grain="day",
        stage="fits",
    ),
    Node(
        "slowwave.transforms.usage.timelines:memory_timelines",
        outputs=(TIMELINES,),
        inputs={"states": MEMORY_STATES, "days": ReferenceDays, "project_days": ProjectDays, "of_bound": BOUND_DAYS},
        params=("evidence.eligible_method", "evidence.global_types"),
        stage="fits",
    ),
    Node(
        "slowwave.transforms.usage.usage:memory_use",
        outputs=(MEMORY_USE, FittedStrengths, NeedFits, USE_SCORES),
        inputs={"timelines": TIMELINES},
        params=("strength", "need", "trend", "scorecard"),
        methods=("strength.method", "need.method", "trend.method"),
        stage="fits",
    ),
    Node(
        "slowwave.transforms.usage.usage:all_scores",
        outputs=(Scorecard,),
        inputs={"of_strategies": StrategyScoresState, "of_memories": USE_SCORES},
    ),
)
