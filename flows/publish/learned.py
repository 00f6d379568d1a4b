"""What a publish learns from outcomes: the log read, the rest left to the transforms."""

from __future__ import annotations

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.publish.plan import Plan, days_together
from slowwave.flows.publish.replayed import replayed_interactions
from slowwave.flows.publish.run import Run
from slowwave.transforms.evidence.reach import memory_owners
from slowwave.transforms.evidence.states import memory_origins
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.landing.tables import Interactions, Outcomes
from slowwave.transforms.learning.attempts.outcomes import resolved_outcomes
from slowwave.transforms.learning.learned import Learned, learned
from slowwave.transforms.learning.nodes import OUTCOMES
from slowwave.transforms.lift.nodes import ATTEMPTED
from slowwave.transforms.lift.outcomes import attempted_references, memory_outcomes

_READ_BYTES = 128 * 2**20


def learned_from(run: Run, plan: Plan) -> Learned:
    """What the outcomes known as of the plan teach."""
    outcomes = plan.log.winners(Outcomes, plan.log.files(Outcomes), OUTCOMES.columns)
    interactions = replayed_interactions(run.lake, plan)
    resolved = resolved_outcomes(outcomes, interactions).collect()
    return learned(resolved, plan.log.as_of, run.params, stage_cost)


def memory_outcomes_from(run: Run, plan: Plan, attempts: pl.DataFrame) -> pl.DataFrame:
    """What is known of memories from how the interactions that had them ended (see `memory_outcomes`)."""
    of_interactions = attempts.filter(pl.col("interaction_id").is_not_null()).select("interaction_id").unique()
    days, files = list(plan.partitions) if of_interactions.height else [], plan.log.files(Interactions)
    # some days at a time: what was offered in all of them takes several times as much to find as to hold
    interactions = pl.concat(
        [
            plan.log.winners(Interactions, some, ATTEMPTED.columns, of_interactions.lazy())
            .with_columns(pl.col("project", "agent").fill_null(""))
            .rename({"created_at": "occurred_at"})
            .collect()
            for some in [*days_together(days, files, _READ_BYTES)] or [[]]
        ]
    )
    references = attempted_references(run.lake.scan_evidence(MemoryReferences, plan.partitions), attempts)
    states, params = plan.log.states.lazy(), run.params
    memories = memory_origins(states).collect()
    owners = memory_owners(states, params.evidence).collect()
    return memory_outcomes(references, interactions, memories, attempts, plan.log.as_of, params.memory_outcomes, owners)
