"""The names of derived partitions: digests of everything that they are computed from."""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl

from slowwave.transforms.core.hashing import Joined, digest
from slowwave.transforms.core.schema import columns
from slowwave.transforms.evidence.tables import MemoryEligibility

_ROWS_AT_ONCE = 10_000
# Partitions of another scheme are not looked for: 0.1.0 named them after all of its params.
_SCHEME = "partitions/2"


def fingerprint(rows_hash: str, eligibility: pl.DataFrame) -> str:
    """Digest of a day's winning rows (`rows_digest`), and of the memories as they stood for them.

    `eligibility` stands for the memories: it holds exactly what the evidence can see of them on that day, so a change
    that no interaction of the day could see leaves the fingerprint alone. Columns newer than the first format say
    something only where they are not NULL: a day that they say nothing of keeps the name it had without them.
    """
    told = [c.name for c in columns(MemoryEligibility) if c.since == 1 or eligibility[c.name].is_not_null().any()]
    stretches = pl.struct(told).struct.json_encode().str.join("\n")
    # JSON holds no line break, so joined lines are as good as a list; those of many memories are not held three times
    lines = [rows.select(stretches).item() for rows in eligibility.iter_slices(_ROWS_AT_ONCE)]
    return digest([_SCHEME, rows_hash, Joined(lines)])


def partition_name(fingerprint: str, params: Mapping[str, object]) -> str:
    """Name of a table's partition of a day with this fingerprint; `params`: what differs of those it follows from."""
    if not params:
        return fingerprint
    told = (f"{name} = {json.dumps(value)}" for name, value in sorted(params.items()))
    return digest([fingerprint, *told])
