"""What DuckDB answers of files of the lake: for who asks how things are and does not wait for Polars to load."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from slowwave.flows.lake.sql import no_globs

if TYPE_CHECKING:
    import duckdb

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
