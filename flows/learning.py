"""What a publish learns from outcomes: the log read, the rest left to the transforms."""

from __future__ import annotations

import polars as pl

from slowwave.flows.plan import Plan
from slowwave.flows.run import Run
from slowwave.flows.stage_costs import stage_cost
from slowwave.transforms.attempts import resolved_outcomes
from slowwave.transforms.evidence_tables import MemoryReferences, ReplayedInteractions
from slowwave.transforms.landed_tables import Interactions, Outcomes
from slowwave.transforms.learning import Learned, learned
from slowwave.transforms.memory_outcomes import memory_outcomes
from slowwave.transforms.memory_reach import memory_owners
from slowwave.transforms.memory_references import is_reference
from slowwave.transforms.memory_states import memory_origins

_NOT_NEEDED = {"user_id", "feedback", "extra", "row_hash", "key_hash"}
_COLUMNS = tuple(name for name in Outcomes.model_fields if name not in _NOT_NEEDED)


def learned_from(run: Run, plan: Plan) -> Learned:
    """What the outcomes known as of the plan teach."""
    outcomes = plan.log.winners(Outcomes, plan.log.files(Outcomes), _COLUMNS)
    interactions = run.lake.scan_evidence(ReplayedInteractions, plan.partitions)
    resolved = resolved_outcomes(outcomes, interactions).collect()
    return learned(resolved, plan.log.as_of, run.params, stage_cost)


def memory_outcomes_from(run: Run, plan: Plan, attempts: pl.DataFrame) -> pl.DataFrame:
    """What is known of memories from how the interactions that had them ended (see `memory_outcomes`)."""
    of_interactions = attempts.filter(pl.col("interaction_id").is_not_null()).select("interaction_id").unique()
    interactions = (
        plan.log.winners(
            Interactions,
            plan.partitions if of_interactions.height else [],
            ["project", "agent", "session_id", "user_id", "memories_offered", "injection_probability"],
        )
        .join(of_interactions.lazy(), on="interaction_id", how="semi")
        .with_columns(pl.col("project", "agent").fill_null(""))
        .rename({"created_at": "occurred_at"})
        .collect()
    )
    references = (
        run.lake.scan_evidence(MemoryReferences, plan.partitions)
        .join(of_interactions.lazy(), on="interaction_id", how="semi")
        .select("memory_id", "interaction_id", "is_injected", is_reference().alias("is_referenced"))
        .collect()
    )
    states, params = plan.log.states.lazy(), run.params
    memories = memory_origins(states).collect()
    owners = memory_owners(states, params.evidence).collect()
    return memory_outcomes(references, interactions, memories, attempts, plan.log.as_of, params.memory_outcomes, owners)
