"""What is learned of strategies with, of the params of a run."""

from __future__ import annotations

from typing import Protocol

from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.heuristic_params import HeuristicParams
from slowwave.transforms.learning.scorecard.params import ScorecardParams


class LearningParams(Protocol):
    """The params that everything learned of strategies depends on."""

    attempts: AttemptParams
    confidence: ConfidenceParams
    heuristics: HeuristicParams
    anti_patterns: AntiPatternParams
    scorecard: ScorecardParams
