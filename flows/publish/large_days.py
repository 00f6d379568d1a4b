"""Days whose interactions are too many to be held at once, even without their texts: they are read part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Protocol

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.lake.pieces import Between, footer, pieces, with_columns
from slowwave.flows.publish.replay_inputs import ReplayInputs, Times
from slowwave.transforms.core.node import LandedInput
from slowwave.transforms.core.rows_digest import RowsDigest
from slowwave.transforms.core.schema import Landed, Table, polars_schema
from slowwave.transforms.evidence.buckets import ORDER, bucket_ends
from slowwave.transforms.evidence.eligibility import memory_eligibility_of_parts
from slowwave.transforms.evidence.nodes import REPLAYED
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.params import Params

WITH_CITATIONS = LandedInput(Interactions, (*REPLAYED.columns, "memories_cited"))
# Of less than this in files, rows are not counted.
MANY_BYTES = 32 * 2**20
# To read a row that counts, without its texts, takes some 750 bytes.
_ROWS_AT_ONCE = 400_000
# Of what was found in buckets.
_MERGED_AT_ONCE = 1_000_000
# Of so many, or twice as many, is told where a day is divided.
_SAMPLED = 50_000


class Log(Protocol):
    """What is read here of a log (see `LogAsOf`)."""

    params: Params

    def files(self, table: type[Landed]) -> Mapping[date, Sequence[LakeFile]]:
        """By day."""
        ...

    def rows_within(self, rows: LandedInput, day: date, within: Between) -> pl.LazyFrame:
        """Of one day, of a part of it."""
        ...

    def pool_between(self, times: Times) -> pl.LazyFrame:
        """The memories that could be used then."""
        ...

    def is_any_long(self, eligibility: pl.DataFrame) -> bool:
        """Whether one of these memories has several passages."""
        ...


def rows_count(files: Sequence[LakeFile]) -> int:
    """The rows in files, as these say."""
    return sum(footer(file.path).num_rows for file in files)


def parts_of_day(files: Sequence[LakeFile]) -> list[Between]:
    """What of a day's rows is held at once: all of them while they are few."""
    if sum(file.size for file in files) < MANY_BYTES:
        return [Between(ORDER)]
    return divide_rows(Interactions, files, ORDER, -(-rows_count(files) // _ROWS_AT_ONCE))


def divide_rows(table: type[Table], files: Sequence[LakeFile], order: tuple[str, ...], count: int) -> list[Between]:
    """The rows of files in about so many parts of about as many; whoever divides the same files finds the same."""
    if count <= 1:
        return [Between(order)]
    step = max(1, rows_count(files) // _SAMPLED)
    rows = scan_declared(table, with_columns(files, order)).select(order)
    sample = rows.with_row_index("at").filter(pl.col("at") % step == 0).drop("at").collect()
    return [Between(order, first, end) for first, end in bucket_ends(sample, count)]


def merge_files(table: type[Table], files: Sequence[LakeFile]) -> Iterator[pl.DataFrame]:
    """The rows of files by key, some at a time: each file has them in that order."""
    for within in divide_rows(table, files, table.key, -(-rows_count(files) // _MERGED_AT_ONCE)):
        found = [scan_declared(table, [piece.path]).slice(piece.offset, piece.rows) for piece in pieces(files, within)]
        nothing = pl.LazyFrame(schema=polars_schema(table))
        yield pl.concat([nothing, *found]).filter(within.holds()).sort(table.key).collect()


def first_and_last(times: pl.Series) -> Times:
    """When the first and the last were; None of none."""
    return None if times.is_empty() else (times.min(), times.max())  # type: ignore[return-value] - of times


def large_day_inputs(log: Log, day: date, parts: Sequence[Between]) -> ReplayInputs:
    """What `LogAsOf.replay_inputs` reads, without the interactions themselves: these are read once."""
    rows_hash, cited = RowsDigest(), False
    ends: list[pl.Series] = []

    def read_parts() -> Iterator[pl.LazyFrame]:
        nonlocal cited
        for part in parts:
            with stage_cost("versions"):
                rows = log.rows_within(WITH_CITATIONS, day, part).collect()
            rows_hash.add(rows["row_hash"])
            cited = cited or bool(rows["memories_cited"].list.len().gt(0).any())
            ends.append(pl.concat([rows["occurred_at"].bottom_k(1), rows["occurred_at"].top_k(1)]))
            yield rows.lazy()

    whole_day = (datetime.combine(day, time.min), datetime.combine(day, time.max))
    with stage_cost("eligibility", "memory_eligibility"):
        eligibility = memory_eligibility_of_parts(read_parts(), log.pool_between(whole_day))
    return ReplayInputs(
        rows_hash=rows_hash.digest(),
        times=first_and_last(pl.concat(ends)),
        interactions=None,
        eligibility=eligibility,
        params=log.params,
        is_any_long=log.is_any_long(eligibility),
        is_any_cited=cited,
    )


def interactions_of(log: Log, day: date, inputs: ReplayInputs) -> pl.DataFrame:
    """The interactions of a day that count, without their texts: held, or read again."""
    if inputs.interactions is not None:
        return inputs.interactions
    parts = parts_of_day(log.files(Interactions)[day])
    return pl.concat([log.rows_within(REPLAYED, day, part).collect() for part in parts])
