"""What is carried from night to night of the grades of forecasts: kept in the lake and not published."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from slowwave.transforms.core.schema import State, column


class StrategyScoresState(State):
    """The rows of scorecard that grade forecasts of strategies, carried from night to night: past weeks stay."""

    name: ClassVar[str] = "strategy_scores_state"
    key: ClassVar[tuple[str, ...]] = ("part", "method", "metric", "cutoff_at", "horizon_days")

    part: str = column("Key: the cutoff in days since 1970, alone or to date; or all cutoffs together.")
    method: str = column("Key: as in scorecard.")
    metric: str = column("Key: as in scorecard.")
    cutoff_at: datetime = column("Key: as in scorecard.", unit="UTC")
    horizon_days: int = column("Key: as in scorecard.", unit="days")
    value: float | None = column("As in scorecard.")
    value_low: float | None = column("As in scorecard.")
    value_high: float | None = column("As in scorecard.")
    attempts: int = column("As in scorecard.")
    cutoffs: int = column("As in scorecard.")
    made_of: str = column("Digest of all that the part was computed from: where that differs, it is computed anew.")
