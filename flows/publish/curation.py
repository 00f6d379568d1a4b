"""What a publish tells of the facts behind the memories: observations, curation decisions, the review queue."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from slowwave.flows.kernel.memory import give_back
from slowwave.flows.publish.plan import LogAsOf, Plan
from slowwave.flows.publish.review_queue import review_from
from slowwave.flows.publish.run import Run
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.schema import Table
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.llm.decisions import answered_pairs, curation_answered
from slowwave.transforms.observations.answered import observation_methods
from slowwave.transforms.observations.curation.decisions import curation_decisions
from slowwave.transforms.observations.observations import observed
from slowwave.transforms.observations.pairs.reading import forget_readings
from slowwave.transforms.observations.pairs.texts import ReadyTexts
from slowwave.transforms.observations.tables import CurationDecisions, Observations


def curated_from(
    run: Run, plan: Plan, health: Frame[MemoryHealth], ended: pl.DataFrame
) -> dict[type[Table], pl.DataFrame]:
    """Observations, curation_decisions and review_queue, from the memory log and from memory_health.

    `ended`: interaction_id, success of interactions' latest attempts.
    """
    params = run.params.observations
    states = plan.log.states
    with _without_cycles():
        ready = ReadyTexts()
        rules = decided_by_rules(plan.log, ready)
        give_back()
        answered = answered_pairs(rules, states, plan.log.decisions, run.params.llm)
        told = observed(states, health, word_vectors, plan.log.as_of, params, answered, ready)
        curated = curation_answered(rules, states, plan.log.decisions, run.params.llm)
        forget_readings()
        give_back()
        review = review_from(run, plan, health, ended, told.contradictions, told.merge_proposals, curated)
    return {
        Observations: observation_methods(told.observations, answered),
        CurationDecisions: curated,
        **review,
    }


def decided_by_rules(log: LogAsOf, ready: ReadyTexts | None = None) -> pl.DataFrame:
    """curation_decisions as the rules have them: what a language model is asked about; texts are kept in `ready`."""
    return curation_decisions(log.states, word_vectors, log.params.observations, ready)


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Do not look for cycles: what statements say is held in many small objects, and looking takes a third longer."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
