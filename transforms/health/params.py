"""What the health of memories is told with, of the params of a run."""

from __future__ import annotations

from typing import Protocol

from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.health.stated_confidence_params import StatedConfidenceParams
from slowwave.transforms.health.verdict_params import VerdictParams
from slowwave.transforms.usage.strength.params import StrengthParams
from slowwave.transforms.usage.trend.params import TrendParams


class ReinforcementParams(Protocol):
    """How an echoing interaction raises the initial confidence."""

    reinforcement_delta: float
    reinforcement_cap: float


class HealthParams(ReinforcementParams, Protocol):
    """Reinforcement, and what a source's word is worth."""

    stated: StatedConfidenceParams


class HistoryParams(Protocol):
    """What use alone leads to, day by day; and which memories are global."""

    evidence: EvidenceParams
    strength: StrengthParams
    trend: TrendParams
    verdict: VerdictParams
