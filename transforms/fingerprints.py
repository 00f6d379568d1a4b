"""The name of a derived partition: a digest of everything it is computed from."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.hashing import Joined, digest

_ROWS_AT_ONCE = 10_000


def fingerprint(rows_hash: str, eligibility: pl.DataFrame, evidence_hash: str) -> str:
    """Digest of a day's winning rows (`rows_digest`), of the memories as they stood for them, and of the params.

    `eligibility` stands for the memories: it holds exactly what the evidence can see of them on that day, so a change
    that no interaction of the day could see leaves the fingerprint alone.
    """
    stretches = pl.struct(pl.all()).struct.json_encode().str.join("\n")
    # JSON holds no line break, so joined lines are as good as a list; those of many memories are not held three times
    lines = [rows.select(stretches).item() for rows in eligibility.iter_slices(_ROWS_AT_ONCE)]
    return digest([rows_hash, evidence_hash, Joined(lines)])
