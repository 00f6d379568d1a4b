"""What DuckDB answers of files of the lake: for who asks how things are and does not wait for Polars to load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from slowwave.flows.lake.sql import no_globs, with_lake_rows

if TYPE_CHECKING:
    from slowwave.flows.lake.files import LakeFile


Record = dict[str, Any]


def lake_rows(sql: str, files: Iterable[LakeFile], **params: object) -> list[Record]:
    """The rows that `sql` gives of Parquet files, for which `{files}` stands in it.

    Raises duckdb.Error when a file cannot be read.
    """
    # hive_partitioning: else the folder day=… of a file would stand for a column `day` in it
    read = "read_parquet($files, hive_partitioning = false, union_by_name = true)"
    with _database().cursor() as connection:
        connection.execute(sql.replace("{files}", read), {"files": no_globs([file.path for file in files]), **params})
        names = [column[0] for column in connection.description or []]
        return [dict(zip(names, row, strict=True)) for row in connection.fetchall()]


@cache
def _database() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={"threads": 1})


# Ids of memories that look like one that no memory has.

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
