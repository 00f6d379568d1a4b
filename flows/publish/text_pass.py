"""The text pass: reads every text of some days once, some at a time, for all that is found in texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import polars as pl

from slowwave.flows.kernel.processes import give_back
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.lake.lifetime.raw_files import scan_retained
from slowwave.flows.lake.pieces import Between, gathered_pieces
from slowwave.flows.publish.day_reader import first_and_last
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.replay_inputs import Times
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.eligibility import eligible_pool
from slowwave.transforms.evidence.expected_use import use_probabilities
from slowwave.transforms.evidence.nodes import TEXTS, USED_MEMORIES
from slowwave.transforms.evidence.reach import REACH, within_reach
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.retained_evidence import find_retained, select_quoted, select_used
from slowwave.transforms.evidence.statements.extract import extracted_statements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences, UseProbabilities
from slowwave.transforms.evidence.used.memories import USED, used_memories_by_day
from slowwave.transforms.graph import FOUND_IN_TEXTS, node_of
from slowwave.transforms.landing.erasure import is_text_expired

# Memories of days that are compared together.
_POOL_ROWS = 500_000
# A table, and what was found of it.
_Found = Iterator[tuple[type[Table], pl.DataFrame]]
# What `echo/1` asks of the pool.
_ECHOED = ("memory_id", *REACH, "pattern", "valid_from", "valid_until")


class DayMemories(NamedTuple):
    """By which memories a day is judged: those that were eligible on it (`ELIGIBLE`), as they stood at its times."""

    times: Times
    eligible: pl.DataFrame


def found_in_texts(
    log: LogAsOf,
    judged: Mapping[date, DayMemories],
    wanted: pl.DataFrame,
    tables: Iterable[type[Table]],
    slice_bytes: int,
    within: Between | None = None,
) -> dict[type[Table], pl.DataFrame]:
    """Of what is found in texts those in `tables`.

    `judged`: days, each by all memories eligible on it; `wanted`: their interactions, or some, which lie `within`.
    """
    files = [file for day in judged for file in log.files(TEXTS.of)[day]]
    times = first_and_last(wanted["occurred_at"])
    found: dict[type[Table], list[pl.DataFrame]] = {table: [] for table in FOUND_IN_TEXTS if table in tables}
    finders = dict.fromkeys(_FINDERS[table] for table in found)
    first = node_of(next(iter(found)))
    slices = _slices(files, wanted, slice_bytes, within)
    while True:
        with stage_cost(first.stage, first.name):
            rows = next(slices, None)
        if rows is None:
            return {table: pl.concat(frames) for table, frames in found.items()}
        for find in finders:
            for table, frame in find(log, rows, judged, times, found.keys()):
                found[table].append(frame)


def _slices(
    files: Sequence[LakeFile], wanted: pl.DataFrame, slice_bytes: int, within: Between | None
) -> Iterator[pl.DataFrame]:
    """The wanted rows with their texts, about so many bytes at a time, also where few are wanted here and there."""
    held: list[pl.DataFrame] = []
    seen = set[str]()
    for together in gathered_pieces(files, slice_bytes, within):
        scans = [
            scan_declared(TEXTS.of, [piece.path]).slice(piece.offset, piece.rows).select("row_hash", *TEXTS.columns)
            for piece in together
        ]
        held.append(_wanted_rows(pl.concat(scans).collect(), wanted, seen))
        if sum(rows.estimated_size() for rows in held) >= slice_bytes // 2:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _uses(
    log: LogAsOf,
    rows: pl.DataFrame,
    judged: Mapping[date, DayMemories],
    times: Times,
    wanted: Collection[type[Table]],
) -> _Found:
    """memory_references and use_probabilities of interactions with their texts."""
    node = node_of(MemoryReferences)
    is_gone = rows.select(is_text_expired()).to_series()
    with stage_cost("used", "used_memories_by_day"):
        give_back()
        used = _used(log, rows.filter(~is_gone), judged)
    with stage_cost(node.stage, node.name):
        give_back()
        pool = log.pool_between(times).select(_ECHOED).collect()
        params, echoed = node.select_params(log.params), None
        if is_gone.any():
            gone = rows.filter(is_gone)
            kept = scan_retained(log.lake, node.tables[0], _days_of(gone))
            before = find_retained(kept, gone, pool.lazy())
            used, echoed = pl.concat([used, select_used(before)]), select_quoted(before)
        if MemoryReferences in wanted:
            yield MemoryReferences, memory_references(rows, pool, used, params, echoed)
    if UseProbabilities in wanted:
        with stage_cost("used", "use_probabilities"):
            yield UseProbabilities, use_probabilities(rows, used)


def _statements(
    log: LogAsOf,
    rows: pl.DataFrame,
    judged: Mapping[date, DayMemories],
    times: Times,
    wanted: Collection[type[Table]],
) -> _Found:
    """extracted_statements of texts, and what was extracted from texts that have gone since."""
    del judged, times, wanted  # no memory is asked
    node = node_of(ExtractedStatements)
    with stage_cost(node.stage, node.name):
        yield ExtractedStatements, extracted_statements(rows, node.select_params(log.params))
    gone = rows.filter(is_text_expired())
    if gone.height:
        kept = scan_retained(log.lake, node.tables[0], _days_of(gone))
        kept = kept.join(gone.lazy().select("row_hash"), on="row_hash", how="semi").drop("row_hash")
        yield ExtractedStatements, kept.collect()


def _days_of(rows: pl.DataFrame) -> list[date]:
    return rows["occurred_at"].dt.date().unique().sort().to_list()


def _used(log: LogAsOf, rows: pl.DataFrame, judged: Mapping[date, DayMemories]) -> pl.DataFrame:
    """The pairs that may be uses: each day is judged by the memories eligible on it."""
    with stage_cost("used"):
        day = pl.col("occurred_at").dt.date().alias("day")
        asked = rows.filter("reinforce").with_columns(day)
        found = [pl.DataFrame(schema=USED)]
        together: list[date] = []
        days = asked["day"].unique().sort().to_list()
        for of_day in days:
            together.append(of_day)
            # several days together: what is made of their texts and memories is made once
            if of_day == days[-1] or sum(judged[one].eligible.height for one in together) >= _POOL_ROWS:
                pool = pl.concat([_pool_of_day(log, one, judged[one]) for one in together])
                of_days = asked.filter(pl.col("day").is_in(together))
                used = used_memories_by_day(
                    of_days, pool, word_vectors, node_of(USED_MEMORIES).select_params(log.params)
                )
                found.append(within_reach(used, of_days, pool))
                together = []
        return pl.concat(found)


def _pool_of_day(log: LogAsOf, day: date, judged: DayMemories) -> pl.LazyFrame:
    """The pool rows of the memories that were eligible on a day, with `day`."""
    pool = log.pool_between(judged.times)
    rows = eligible_pool(pool, judged.eligible.lazy())  # pyright: ignore[reportArgumentType] - the columns it reads
    return rows.with_columns(pl.lit(day).alias("day"))


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


# What finds each table in a slice of texts.
_FINDERS: Mapping[type[Table], Callable[..., _Found]] = {
    UseProbabilities: _uses,
    MemoryReferences: _uses,
    ExtractedStatements: _statements,
}
