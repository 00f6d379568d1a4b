"""What the timelines of memories are read with, of the params of a run."""

from __future__ import annotations

from typing import Protocol

from slowwave.transforms.learning.scorecard.params import ScorecardParams
from slowwave.transforms.usage.need.params import NeedParams
from slowwave.transforms.usage.strength.params import StrengthParams
from slowwave.transforms.usage.trend.params import TrendParams


class UsageParams(Protocol):
    """The params that strength, need, trend and their grades depend on."""

    strength: StrengthParams
    need: NeedParams
    trend: TrendParams
    scorecard: ScorecardParams
