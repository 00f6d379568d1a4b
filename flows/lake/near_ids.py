"""Ids of memories that look like one that no memory has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from slowwave.flows.lake.sql import no_globs, with_lake_rows

SHOWN_NEAR = 3

_NEAR = """
SELECT memory_id
FROM {known}
WHERE starts_with(lower(memory_id), lower($id)) OR jaro_winkler_similarity(lower(memory_id), lower($id)) > 0.85
ORDER BY starts_with(lower(memory_id), lower($id)) DESC, jaro_winkler_similarity(memory_id, $id) DESC, memory_id
LIMIT $limit
"""
# Those that landed: rows of others name what was erased.
NEAR_PUBLISHED = _NEAR.replace("{known}", "(FROM memory_health WHERE content IS NOT NULL)")
_NEAR_LANDED = with_lake_rows(_NEAR.replace("{known}", "(SELECT DISTINCT memory_id FROM {memories})"))


def near_landed(files: Sequence[Path], memory_id: str, limit: int = SHOWN_NEAR) -> list[str]:
    """Of the memories in files of the memory log those named most alike; first those that begin so."""
    if not files:
        return []
    with duckdb.connect() as connection:
        found = connection.execute(
            _NEAR_LANDED, {"id": memory_id, "limit": limit, "memories": no_globs(files)}
        ).fetchall()
    return [near for (near,) in found]
