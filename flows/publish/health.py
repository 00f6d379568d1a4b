"""What a publish tells of memories: their timelines read, their history told piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.publish.learned import memory_outcomes_from
from slowwave.flows.publish.plan import LogAsOf, Plan, days_together
from slowwave.flows.publish.run import Run
from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.schema import Table
from slowwave.transforms.core.times import epoch_day
from slowwave.transforms.decisions.effects import archivings, forgetting_audit
from slowwave.transforms.decisions.forgetting.evidence import forgetting_evidence
from slowwave.transforms.decisions.forgetting.plan import forgetting_plan, forgetting_quotas
from slowwave.transforms.decisions.forgetting.regret import regret
from slowwave.transforms.decisions.forgetting.tables import ForgettingAudit, ForgettingPlan, ForgettingQuotas, Regret
from slowwave.transforms.evidence.nodes import REPLAYED
from slowwave.transforms.evidence.reach import bound_days, bound_reaches
from slowwave.transforms.evidence.tables import MemoryDays, MemoryReferences, ProjectDays, ReferenceDays
from slowwave.transforms.health.history import memory_health_history
from slowwave.transforms.health.judged_health import judged_health
from slowwave.transforms.health.memory_health import COUNTS
from slowwave.transforms.health.project.project_health import project_health
from slowwave.transforms.health.project.tables import ProjectHealth
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.health.usage_history import memory_use_history
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.usage.strength.tables import FittedStrengths
from slowwave.transforms.usage.timelines import MemoryTimelines, memory_timelines
from slowwave.transforms.usage.usage import MemoryUse

# Rows of history told at once: a year of 100,000 memories is tens of millions, and a million takes 500 MB.
PIECE_ROWS = 1_000_000


def timelines_from(run: Run, plan: Plan) -> MemoryTimelines:
    """When each memory was referenced, as known as of the plan."""
    days = run.lake.scan_evidence(ReferenceDays, plan.partitions)
    active = run.lake.scan_evidence(ProjectDays, plan.partitions)
    states, params = plan.log.states.lazy(), run.params.evidence
    return memory_timelines(states, days, active, params, _bound_days(plan.log, bound_reaches(states, params)))


def _bound_days(log: LogAsOf, reaches: pl.DataFrame) -> pl.DataFrame | None:
    """How active agents and users with memories of their own were; nothing is read where there are none."""
    if reaches.is_empty():
        return None
    files = log.files(Interactions)
    told = [
        bound_days(log.winners(Interactions, days, REPLAYED.columns).rename({"created_at": "occurred_at"}), reaches)
        for days in days_together(files, files)
    ]
    return pl.concat(told) if told else None


def health_from(
    run: Run, plan: Plan, attempts: pl.DataFrame, use: MemoryUse, eligible: pl.DataFrame
) -> dict[type[Table], pl.DataFrame]:
    """memory_health and what follows from it: of projects, and of what may be forgotten.

    `eligible`: memory_id, eligible_count, touched_day, eligible_since_touch: what the history ends with.
    """
    log, params, today = plan.log, run.params, epoch_day(plan.log.as_of)
    states, days = log.states.lazy(), run.lake.scan_evidence(ReferenceDays, plan.partitions)
    with stage_cost("lift"):
        outcomes = memory_outcomes_from(run, plan, attempts).lazy()
    touches = eligible.lazy().drop("eligible_count").drop_nulls("touched_day")
    evidence = forgetting_evidence(states, touches, log.decisions, log.as_of)
    is_held = evidence.lazy().select("memory_id", "is_held")
    health = judged_health(states, days, eligible.lazy(), outcomes, use.memories.lazy(), is_held, today, params)
    archived = archivings(log.decisions, log.as_of)
    references = run.lake.scan_evidence(MemoryReferences, plan.partitions)
    return {
        MemoryHealth: health,
        ProjectHealth: project_health(health, today, params.project_health),
        ForgettingPlan: forgetting_plan(health, evidence, today, params.forgetting),
        ForgettingQuotas: forgetting_quotas(health, evidence, today, params.forgetting),
        ForgettingAudit: forgetting_audit(log.decisions, log.as_of),
        Regret: regret(archived, references, log.as_of, params.forgetting),
    }


def history_pieces(
    run: Run,
    plan: Plan,
    timelines: MemoryTimelines,
    strength_fits: Frame[FittedStrengths],
    before: pl.DataFrame | None = None,
    first_day: date = date.min,
) -> Iterator[pl.DataFrame]:
    """memory_health_history from `first_day` on, in pieces, memory by memory in order of memory_id.

    `before` holds the counts of each memory up to `first_day`; None: there are no such days.
    """
    numbers = timelines.memories.select("memory", "memory_id")
    later = {day: name for day, name in plan.partitions.items() if day >= first_day}
    days = (
        run.lake.scan_evidence(MemoryDays, later)
        .select("memory_id", "day", pl.col(COUNTS).cast(pl.UInt32))
        .join(numbers.lazy(), on="memory_id")
        .drop("memory_id")
        .collect()
    )
    rows = days.height + plan.log.states.height
    count = max(1, -(-rows // PIECE_ROWS))
    size = max(1, -(-numbers.height // count))
    for start in range(0, numbers.height, size):
        chosen = numbers.slice(start, size)
        of_piece = days.filter(pl.col("memory").is_between(start, start + size - 1))
        counts = of_piece.join(chosen, on="memory").drop("memory").with_columns(pl.col(COUNTS).cast(pl.Int64))
        told = memory_health_history(
            plan.log.states.lazy().join(chosen.lazy(), on="memory_id", how="semi"),
            framed(MemoryDays, counts, partial=True).lazy(),
            run.params,
            None if before is None else before.join(chosen, on="memory_id", how="semi").lazy(),
            first_day,
        ).collect()
        yield memory_use_history(told, timelines, strength_fits, run.params)
