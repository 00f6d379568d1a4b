"""`slowwave schema`: what the tables are, from their declarations."""

from __future__ import annotations

import json
import sys

from slowwave.flows.errors import UserError
from slowwave.flows.terminal import quoted
from slowwave.transforms.evidence_tables import EVIDENCE, DayInputs
from slowwave.transforms.landed_tables import LANDED
from slowwave.transforms.schema import Table, documentation, duckdb_ddl, json_schema, table_comment
from slowwave.transforms.serving_tables import SERVING

_PUBLISHED = {table.name for table in SERVING}
# Evidence that is published too, memory_references, is listed as it is published: with run_id and as_of.
GROUPS: dict[str, tuple[type[Table], ...]] = {
    "landed: what producers deliver (--format json is the JSON Schema of one row)": LANDED,
    "evidence: what a day's publish is made from, in the lake": tuple(
        table for table in (*EVIDENCE, DayInputs) if table.name not in _PUBLISHED
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
        message = f"there is no table {quoted(table)}: the tables are {', '.join(tables)}"
        raise UserError(message)
    chosen = list(tables.values()) if table is None else [tables[table]]
    if output == "markdown":
        text = "\n".join(documentation(declared) for declared in chosen)
    elif output == "sql":
        text = "\n".join("".join(f"{statement};\n" for statement in duckdb_ddl(declared)) for declared in chosen)
    elif table is None:
        text = _listed()
    else:
        text = json.dumps(json_schema(chosen[0]), indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(text)
    sys.stdout.flush()


def _listed() -> str:
    wide = max(len(declared.name) for group in GROUPS.values() for declared in group)
    blocks = [
        "\n".join([title, *(f"  {declared.name:{wide}}  {table_comment(declared)}" for declared in group)])
        for title, group in GROUPS.items()
    ]
    return "\n\n".join(blocks) + "\n"
