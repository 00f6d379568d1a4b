"""Building day partitions: the texts of a few days at a time, matched, split by day, written once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.memory import give_back
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.lake.pieces import gathered_pieces, pieces
from slowwave.flows.publish.plan import DayPlan, LogAsOf, ReplayInputs, taken_replay_inputs
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.eligibility import eligible_pool
from slowwave.transforms.evidence.memory_days import memory_days, project_days, reference_days, replayed_interactions
from slowwave.transforms.evidence.nodes import TEXTS
from slowwave.transforms.evidence.reach import REACH, within_reach
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.statements.extract import extracted_statements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import (
    MemoryDays,
    MemoryEligibility,
    MemoryReferences,
    ProjectDays,
    ReferenceDays,
    ReplayedInteractions,
)
from slowwave.transforms.evidence.used.memories import USED, used_memories_by_day
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.landing.tables import Interactions

# Days are matched together up to this much text (uncompressed), and texts are held in slices of this size.
BATCH_BYTES = 192 * 2**20
_SLICE_BYTES = 192 * 2**20
# The stretches of a memory and its counts on a day take about as much.
_BYTES_PER_MEMORY = 300
# Memories of days that are compared together.
_POOL_ROWS = 500_000
# What `echo/1` asks of the pool.
_ECHOED = ("memory_id", *REACH, "pattern", "valid_from", "valid_until")


def batches_of_days(log: LogAsOf, plans: Sequence[DayPlan]) -> list[list[DayPlan]]:
    """Days to build, in order, grouped so that a group holds about `BATCH_BYTES` of text and of eligible memories."""
    sizes = dict.fromkeys((plan.day for plan in plans), log.pool.height * _BYTES_PER_MEMORY)
    for piece in pieces([file for plan in plans for file in log.files(Interactions)[plan.day]]):
        sizes[piece.file.day] += piece.bytes
    groups: list[list[DayPlan]] = []
    room = 0
    for plan in plans:
        if not groups or sizes[plan.day] > room:
            groups.append([])
            room = BATCH_BYTES
        groups[-1].append(plan)
        room -= sizes[plan.day]
    return groups


@stage_cost("eligibility", "memory_days")
def build_days(log: LogAsOf, plans: Sequence[DayPlan], verify: bool = False) -> int:
    """Build and write the partitions of `plans`; returns the number of days built.

    A partition that is there already is left, or with `verify` compared with what was computed.

    Raises OSError when the lake cannot be written, UserError when a verified partition differs.
    """
    with stage_cost("versions"):
        inputs = {plan.day: taken_replay_inputs(log, plan.day) for plan in plans}
    for plan in plans:
        if inputs[plan.day].fingerprint != plan.fingerprint:
            message = f"the files of {plan.day} changed while they were read: run this again"
            raise UserError(message)
    references, statements = _found_in_texts(log, list(inputs), inputs)
    is_of_day = pl.col("occurred_at").dt.date()
    tables: list[type[Table]] = [table for table in EVIDENCE if table is not ReferenceDays]
    frames: list[pl.LazyFrame] = []
    for day, of_day in inputs.items():
        interactions, eligibility = of_day.interactions.lazy(), of_day.eligibility.lazy()
        referred = framed(MemoryReferences, references).lazy().filter(is_of_day == day)
        made: dict[type[Table], pl.LazyFrame] = {
            ReplayedInteractions: replayed_interactions(interactions),
            MemoryEligibility: eligibility,
            MemoryReferences: referred,
            MemoryDays: memory_days(eligibility, referred, log.params.evidence),
            ProjectDays: project_days(interactions),
            ExtractedStatements: statements.lazy().filter(is_of_day == day),
        }
        frames += [made[table].sort(table.key) for table in tables]
    collected = iter(pl.collect_all(frames))
    for plan in plans:
        of_plan = {table: next(collected) for table in tables}
        counted = framed(MemoryDays, of_plan[MemoryDays])
        of_plan[ReferenceDays] = reference_days(counted.lazy()).collect()
        for table in EVIDENCE:
            log.lake.write_evidence(table, plan.day, plan.fingerprint, of_plan[table], verify=verify)
    return len(plans)


def _found_in_texts(
    log: LogAsOf, days: Sequence[date], inputs: dict[date, ReplayInputs]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """memory_references and extracted_statements of several days, their texts held a slice at a time."""
    files = [file for day in days for file in log.files(Interactions)[day]]
    wanted = pl.concat([day.interactions for day in inputs.values()])
    found, stated = [], []
    seen: set[str] = set()
    for slices in gathered_pieces(files, _SLICE_BYTES):
        scans = [
            scan_declared(Interactions, [piece.file.path])
            .slice(piece.offset, piece.rows)
            .select("row_hash", *TEXTS.columns)
            for piece in slices
        ]
        with stage_cost("echo", "memory_references"):
            rows = _wanted_rows(pl.concat(scans).collect(), wanted, seen)
        with stage_cost("used", "used_memories_by_day"):
            give_back()
            used = _used(log, rows, inputs)
        with stage_cost("echo", "memory_references"):
            give_back()
            pool = log.pool_between(wanted["occurred_at"]).select(_ECHOED).collect()
            found.append(memory_references(rows, pool, used, log.params.evidence))
            del pool
        with stage_cost("statements and pairs", "extracted_statements"):
            stated.append(extracted_statements(rows, log.params.evidence.extract))
    return pl.concat(found), pl.concat(stated)


def _used(log: LogAsOf, rows: pl.DataFrame, inputs: dict[date, ReplayInputs]) -> pl.DataFrame:
    """The pairs that `used/2` finds: each day is judged by the memories eligible on it."""
    with stage_cost("used"):
        day = pl.col("occurred_at").dt.date().alias("day")
        asked = rows.filter("reinforce").with_columns(day)
        found = [pl.DataFrame(schema=USED)]
        together: list[date] = []
        days = asked["day"].unique().sort().to_list()
        for of_day in days:
            together.append(of_day)
            # several days together: what is made of their texts and memories is made once
            if of_day == days[-1] or sum(inputs[one].eligibility.height for one in together) >= _POOL_ROWS:
                pool = pl.concat([_pool_of_day(log, one, inputs[one]) for one in together])
                of_days = asked.filter(pl.col("day").is_in(together))
                used = used_memories_by_day(of_days, pool, word_vectors, log.params.evidence.used)
                found.append(within_reach(used, of_days, pool))
                together = []
        return pl.concat(found)


def _pool_of_day(log: LogAsOf, day: date, of_day: ReplayInputs) -> pl.LazyFrame:
    """The pool rows of the memories that were eligible on a day, with `day`."""
    pool = log.pool_between(of_day.interactions["occurred_at"])
    return eligible_pool(pool, of_day.eligibility.lazy()).with_columns(pl.lit(day).alias("day"))


def _wanted_rows(texts: pl.DataFrame, wanted: pl.DataFrame, seen: set[str]) -> pl.DataFrame:
    """`texts` that are wanted, with what is known of them; a row in two files (a killed compaction) comes once.

    Joins only the narrow columns: the texts themselves are copied no more than needed.
    """
    about = texts.select("row_hash").join(wanted, on="row_hash", how="left", maintain_order="left")
    fresh = about["interaction_id"].is_not_null() & about["row_hash"].is_first_distinct()
    if seen:
        fresh &= ~about["row_hash"].is_in(pl.Series(list(seen), dtype=pl.String).implode())
    seen.update(about.filter(fresh)["row_hash"])
    rows = texts.hstack(about.drop("row_hash"))
    return rows if fresh.all() else rows.filter(fresh)
