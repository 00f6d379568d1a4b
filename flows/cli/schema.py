"""`slowwave inspect schema`: what the tables are, from their declarations."""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path

from slowwave.flows.kernel.doors import outside
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.transforms.core.schema import Table, documentation, duckdb_ddl, json_schema, table_comment
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, SERVING, STATES
from slowwave.transforms.landing.tables import LANDED

_PUBLISHED = {table.name for table in SERVING}
# Evidence that is published too, memory_references, is listed as it is published: with run_id and as_of.
GROUPS: dict[str, tuple[type[Table], ...]] = {
    "landed: what producers deliver (--format json is the JSON Schema of one row)": LANDED,
    "evidence: what a day's publish is made from, in the lake": tuple(
        table for table in (*EVIDENCE, *STATES, DayInputs) if table.name not in _PUBLISHED
    ),
    "serving: what is published, for `slowwave sql`": SERVING,
}


def run_schema(table: str | None, *, output: str) -> None:
    """Print the declaration of `table` as `json` (JSON Schema), `markdown` or `sql` (DDL); None: of all tables.

    Without a table, `json` prints a list of the tables for people, as a schema is of one table.

    Raises UserError for an unknown table.
    """
    tables = {declared.name: declared for group in GROUPS.values() for declared in group}
    if table is not None and table not in tables:
        near = difflib.get_close_matches(table.casefold(), tables, n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        message = f"there is no table {quote_shortened(table)}: {hint}`slowwave inspect schema` lists them"
        raise UserError(message)
    chosen = list(tables.values()) if table is None else [tables[table]]
    if output == "markdown":
        text = "\n".join(documentation(declared) for declared in chosen)
    elif output == "sql":
        text = "\n".join("".join(f"{statement};\n" for statement in duckdb_ddl(declared)) for declared in chosen)
    elif table is None:
        text = _list_tables()
    else:
        text = json.dumps(json_schema(chosen[0]), indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(text)
    sys.stdout.flush()


def run_views(lake: str, to: str | None) -> None:
    """Print SQL with which DuckDB alone sees the lake at `lake`, or write it into the file `to` and print where.

    Raises UserError when there is no such lake, nothing has landed, or `to` is a folder.
    """
    from slowwave.flows.lake.schema_views import lake_views_sql  # loads Polars

    if "://" in lake:
        message = (
            f"{quote_shortened(lake)} is a lake in a bucket: DuckDB alone opens no bucket, and what was "
            "removed within a day is "
            "still in it; name a lake in a folder, or ask with `slowwave sql`"
        )
        raise UserError(message)
    sql = lake_views_sql(Path(lake))
    if to is None:
        sys.stdout.write(sql)
        sys.stdout.flush()
        return
    path = Path(to)
    if path.is_dir():
        message = f"{path} is a folder: name a file in it"
        raise UserError(message)
    with outside():
        path.write_text(sql, encoding="utf-8")
    sys.stdout.write(f"{to}\n")


def _list_tables() -> str:
    wide = max(len(declared.name) for group in GROUPS.values() for declared in group)
    blocks = [
        "\n".join([title, *(f"  {declared.name:{wide}}  {table_comment(declared)}" for declared in group)])
        for title, group in GROUPS.items()
    ]
    return "\n\n".join(blocks) + "\n"
