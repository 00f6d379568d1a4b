"""What a publish tells of the facts behind the memories: observations, curation decisions, the review queue."""

from __future__ import annotations

import polars as pl

from slowwave.flows.plan import Plan
from slowwave.flows.run import Run
from slowwave.transforms.schema import Table


def curated_from(run: Run, plan: Plan, health: pl.DataFrame) -> dict[type[Table], pl.DataFrame]:
    """Observations, curation_decisions and review_queue, from the memory log and from memory_health."""
    return {}
