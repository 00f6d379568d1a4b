"""The lake's files in DuckDB's SQL, for commands that answer without loading Polars or the declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from slowwave.flows.kernel.declared_columns import READ
from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.transforms.core.vocabularies import EXPIRED_TEXT


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
