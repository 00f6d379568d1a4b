"""The lake's files in DuckDB's SQL, for commands that answer without loading Polars or the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from slowwave.flows.kernel.declared_columns import READ
from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.transforms.core.vocabularies import EXPIRED_TEXT

if TYPE_CHECKING:
    from slowwave.flows.lake.files import LakeFile


def with_lake_rows(sql: str) -> str:
    """`sql` where `{table}` stands for the rows of that table's files, which are listed in the param of its name.

    They have the declared columns that `sql` names; all of them, where it says `*`. One that a file lacks is NULL, a
    narrower number is widened, whichever release wrote the file.
    """
    named = set(re.findall(r"\w+", sql))
    for table, columns in READ.items():
        wanted = {name: dtype for name, dtype in columns.items() if name in named or "*" in sql}
        read = ", ".join(
            f'CAST({shown_column_sql(table, name)} AS {dtype}) AS "{name}"' for name, dtype in wanted.items()
        )
        declared = ", ".join(f'CAST(NULL AS {dtype}) AS "{name}"' for name, dtype in wanted.items())
        # hive_partitioning: else the folder day=… of a file would stand for a column `day` in it
        files = f"FROM read_parquet(${table}, hive_partitioning = false, union_by_name = true)"
        rows = f"(SELECT {read} FROM ({files} UNION ALL BY NAME SELECT {declared} WHERE false))"  # noqa: S608 - our own
        sql = sql.replace(f"{{{table}}}", rows)
    return sql


def shown_column_sql(table: str, name: str) -> str:
    """A column as people see it: no prompt that lands is blank, so one that is has expired."""
    if (table, name) == ("interactions", "prompt"):
        return f"CASE WHEN prompt = '' THEN '{EXPIRED_TEXT}' ELSE prompt END"
    return f'"{name}"'


def partition_sql(table: str) -> str:
    """The name of an evidence table's partition, by a row of `day_inputs`."""
    own = f"list_filter(partitions, lambda other: starts_with(other, '{table}='))"
    return f"coalesce({own}[1][{len(table) + 2}:], fingerprint)"


def no_globs(paths: Sequence[Path]) -> list[str]:
    """Files of the lake as DuckDB's readers take them: what they would read as a pattern stands for itself."""
    return [str(path).replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") for path in on_disk(paths)]


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
