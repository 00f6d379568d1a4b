"""What the evidence of one day is computed from, how its partitions are named after that, in what parts it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import TypeVar

import polars as pl

from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.lake.pieces import Between, footer, pieces, with_columns
from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.schema import Table, polars_schema
from slowwave.transforms.evidence.buckets import ORDER, bucket_ends
from slowwave.transforms.evidence.fingerprint import fingerprint, partition_name
from slowwave.transforms.evidence.tables import MemoryEligibility
from slowwave.transforms.graph import params_behind
from slowwave.transforms.params import Params

_KEEP_BYTES = 256 * 2**20
# Of less than this in files, rows are not counted.
MANY_BYTES = 32 * 2**20
# To read a row that counts, without its texts, takes some 750 bytes.
_ROWS_AT_ONCE = 400_000
# Of what was found in buckets.
_MERGED_AT_ONCE = 1_000_000
# Of so many, or twice as many, is told where a day is divided.
_SAMPLED = 50_000
# Of files that are read together.
_READ_BYTES = 16 * 2**20
_Item = TypeVar("_Item")

# The first and the last interaction of a day; None where none is visible.
Times = tuple[datetime, datetime] | None


@dataclass(frozen=True)
class ReplayInputs:
    """A day as its evidence sees it.

    Args:
        rows_hash: of the winning interactions.
        times: when the first and the last of them were.
        interactions: they themselves, without their texts; None where they are too many to be held.
        eligibility: the stretches in which memories were eligible for them.
        params: of the run.
    """

    rows_hash: str
    times: Times
    interactions: pl.DataFrame | None
    eligibility: Frame[MemoryEligibility]
    params: Params

    @cached_property
    def fingerprint(self) -> str:
        """What the names of all its partitions follow from; '' where no row is visible."""
        return "" if self.times is None else fingerprint(self.rows_hash, self.eligibility)

    def name(self, table: type[Table]) -> str:
        """What a partition is called: a param that the table does not follow from leaves its name alone."""
        return partition_name(self.fingerprint, self.params.partition_params(params_behind(table)))

    @property
    def bytes(self) -> int:
        """Memory it takes, about."""
        rows = 0 if self.interactions is None else self.interactions.estimated_size()
        return int(rows + self.eligibility.estimated_size())


class KeptInputs:
    """Inputs of days that planning has read and building reads again, once: the first few hundred megabytes."""

    def __init__(self) -> None:
        self._by_day: dict[date, ReplayInputs] = {}
        self._bytes = 0

    def take(self, day: date) -> ReplayInputs | None:
        """What is kept of a day; it is kept no longer."""
        found = self._by_day.pop(day, None)
        self._bytes -= found.bytes if found else 0
        return found

    def keep(self, day: date, found: ReplayInputs) -> None:
        """Keep it, if there is room."""
        if self._bytes + found.bytes <= _KEEP_BYTES:
            self._by_day[day] = found
            self._bytes += found.bytes


def rows_count(files: Sequence[LakeFile]) -> int:
    """The rows in files, as these say."""
    return sum(footer(file.path).num_rows for file in files)


def parts_of_day(table: type[Table], files: Sequence[LakeFile]) -> list[Between]:
    """What of a day's rows is held at once: all of them while they are few."""
    if sum(file.size for file in files) < MANY_BYTES:
        return [Between(ORDER)]
    return divide_rows(table, files, ORDER, -(-rows_count(files) // _ROWS_AT_ONCE))


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


def together(
    items: Iterable[_Item], bytes_of: Callable[[_Item], int], most: int = _READ_BYTES
) -> Iterator[list[_Item]]:
    """The items, in order, in groups of at most so many bytes, or of one."""
    group: list[_Item] = []
    held = 0
    for item in items:
        size = bytes_of(item)
        if group and held + size > most:
            yield group
            group, held = [], 0
        group.append(item)
        held += size
    if group:
        yield group
