"""What outcomes teach: of strategies, of their failures, and how good the forecasts of both were."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, LandedInput, Node, ReuseByDifference, TableInput
from slowwave.transforms.core.schema import producer_columns
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.landing.tables import Outcomes
from slowwave.transforms.learning.tables import (
    AntiPatterns,
    CountedOutcomes,
    ErrorReadings,
    ErrorTemplates,
    ForecastFits,
    Heuristics,
    StrategyScoresState,
    StrategyVariants,
    TaskDifficulty,
    UntriedStrategies,
)

_NOT_NEEDED = {"feedback", "extra"}
OUTCOMES = LandedInput(Outcomes, tuple(c.name for c in producer_columns(Outcomes) if c.name not in _NOT_NEEDED))

RESOLVED_OUTCOMES = Handed("resolved_outcomes", "Outcomes, with what their interaction says where they say nothing.")
READ_ERRORS = Handed("read_errors", "What each error message says by itself.")
ATTEMPTS = Handed("attempts", "Of counted_outcomes those that count: whose, when, at which task, with what end.")
CELLS = Handed("cells", "Strategies of an agent on a task type, numbered.")
TRIED = Handed("tried", "Of counted_outcomes those that are learned from: of which cell, when, with what end.")
ENDED = Handed("ended_interactions", "How the latest attempt that counts of each interaction ended.")

LEARNING: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.learning.outcomes:resolved_outcomes",
        outputs=(RESOLVED_OUTCOMES,),
        inputs={"outcomes": OUTCOMES, "interactions": ReplayedInteractions},
        stage="fits",
    ),
    Node(
        "slowwave.transforms.learning.counted:error_readings",
        outputs=(ErrorReadings, READ_ERRORS),
        inputs={"outcomes": RESOLVED_OUTCOMES},
        params=("attempts", "errors"),
        methods=("errors.method",),
        stage="fits",
    ),
    Node(
        "slowwave.transforms.learning.counted:count_attempts",
        outputs=(CountedOutcomes, StrategyVariants, ErrorTemplates, CELLS, TRIED, ATTEMPTS),
        inputs={"outcomes": RESOLVED_OUTCOMES, "readings": READ_ERRORS},
        params=("attempts", "strategies", "errors"),
        methods=("attempts.method", "attempts.task_type_method", "strategies.method", "errors.method"),
        reuse={CountedOutcomes: ReuseByDifference("created_at")},
        stage="fits",
    ),
    Node(
        "slowwave.transforms.learning.learned:learn_strategies",
        outputs=(Heuristics, UntriedStrategies, TaskDifficulty, AntiPatterns, ForecastFits, StrategyScoresState),
        inputs={
            "tried": TRIED,
            "cells": CELLS,
            "variants": TableInput(StrategyVariants, ("project", "strategy_id", "representative")),
            "templates": TableInput(
                ErrorTemplates, ("project", "error_id", "error_template", "error_family", "error_family_template")
            ),
        },
        params=("attempts", "confidence", "heuristics", "anti_patterns", "scorecard"),
        methods=("heuristics.method", "anti_patterns.method"),
        stage="fits",
    ),
    Node(
        "slowwave.transforms.learning.outcomes:ended_interactions",
        outputs=(ENDED,),
        inputs={"counted": TableInput(CountedOutcomes, ("interaction_id", "success", "is_deciding"))},
    ),
)
