"""What the evidence of one day is computed from, and how its partitions are named after that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import polars as pl

from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.fingerprint import UNNAMED_HASHES, fingerprint, partition_name
from slowwave.transforms.evidence.tables import MemoryEligibility
from slowwave.transforms.graph import params_behind
from slowwave.transforms.params import Params

_CITED = "evidence.cited_method"

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
        is_any_long: whether one of these memories is long (`used.passages.is_long`).
        is_any_cited: whether an answer names a memory itself.
    """

    rows_hash: str
    times: Times
    interactions: pl.DataFrame | None
    eligibility: Frame[MemoryEligibility]
    params: Params
    is_any_long: bool
    is_any_cited: bool

    @cached_property
    def fingerprint(self) -> str:
        """What the names of all its partitions follow from; '' where no row is visible."""
        return self._named_after(UNNAMED_HASHES[self.is_any_long])

    @cached_property
    def former_name(self) -> str:
        """What releases before lake format 4 called each of its partitions."""
        params_hash = self.params.partition_hash(is_any_long=self.is_any_long)
        is_unnamed = params_hash == UNNAMED_HASHES[self.is_any_long]
        return self.fingerprint if is_unnamed else self._named_after(params_hash)

    def name(self, table: type[Table]) -> str:
        """What a partition is called: a param that the table does not follow from leaves its name alone."""
        return partition_name(self.fingerprint, self._partition_params(table))

    def former_name_of(self, table: type[Table]) -> str:
        """What releases before lake format 4 called it, if what they put into it is what is in it now: else ''."""
        return "" if _CITED in self._partition_params(table) else self.former_name

    @property
    def bytes(self) -> int:
        """Memory it takes, about."""
        rows = 0 if self.interactions is None else self.interactions.estimated_size()
        return int(rows + self.eligibility.estimated_size())

    def _partition_params(self, table: type[Table]) -> dict[str, object]:
        return self.params.partition_params(
            params_behind(table), is_any_long=self.is_any_long, is_any_cited=self.is_any_cited
        )

    def _named_after(self, params_hash: str) -> str:
        if self.times is None:
            return ""
        return fingerprint(self.rows_hash, self.eligibility, params_hash)
