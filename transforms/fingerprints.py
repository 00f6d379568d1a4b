"""The name of a derived partition: a digest of everything it is computed from."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.hashing import digest, rows_digest


def fingerprint(row_hashes: pl.Series, eligibility: pl.DataFrame, evidence_hash: str) -> str:
    """Digest of a day's winning rows, of the memories as they stood for them, and of the params.

    `eligibility` stands for the memories: it holds exactly what the evidence can see of them on that day, so a change
    that no interaction of the day could see leaves the fingerprint alone. '' when the day has no rows.
    """
    if row_hashes.is_empty():
        return ""
    stretches = eligibility.select(pl.struct(pl.all()).struct.json_encode()).to_series()
    # JSON holds no line break, so joined lines are as good as a list
    return digest([rows_digest(row_hashes), evidence_hash, "\n".join(stretches.to_list())])
