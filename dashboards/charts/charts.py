"""Every chart of the report and the dashboard: a pure function from a recipe's frame to an Altair chart.

Each takes rows in any order, an empty frame and any number of rows: it draws at most a few hundred marks and says what
it left out. Its title is the conclusion, its description says the figures to those who do not see it.
"""

from __future__ import annotations

from slowwave.dashboards.charts.learning import (
    calibration,
    calibration_error,
    need_calibration,
    success_by_week,
)
from slowwave.dashboards.charts.logs import landed_by_day, quarantine_reasons, result_chart
from slowwave.dashboards.charts.memories import (
    decay_forecast,
    memories_by_state,
    memories_by_verdict,
    memory_strength,
    reinforcement_over_time,
)

__all__ = [
    "calibration",
    "calibration_error",
    "decay_forecast",
    "landed_by_day",
    "memories_by_state",
    "memories_by_verdict",
    "memory_strength",
    "need_calibration",
    "quarantine_reasons",
    "reinforcement_over_time",
    "result_chart",
    "success_by_week",
]
