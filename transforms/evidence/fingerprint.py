"""The name of a derived partition: a digest of everything it is computed from."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.hashing import Joined, digest
from slowwave.transforms.core.schema import columns
from slowwave.transforms.evidence.tables import MemoryEligibility

_ROWS_AT_ONCE = 10_000


def fingerprint(rows_hash: str, eligibility: pl.DataFrame, evidence_hash: str) -> str:
    """Digest of a day's winning rows (`rows_digest`), of the memories as they stood for them, and of the params.

    `eligibility` stands for the memories: it holds exactly what the evidence can see of them on that day, so a change
    that no interaction of the day could see leaves the fingerprint alone. Columns newer than the first format say
    something only where they are not NULL: a day that they say nothing of keeps the name it had without them.
    """
    told = [c.name for c in columns(MemoryEligibility) if c.since == 1 or eligibility[c.name].is_not_null().any()]
    stretches = pl.struct(told).struct.json_encode().str.join("\n")
    # JSON holds no line break, so joined lines are as good as a list; those of many memories are not held three times
    lines = [rows.select(stretches).item() for rows in eligibility.iter_slices(_ROWS_AT_ONCE)]
    return digest([rows_hash, evidence_hash, Joined(lines)])
