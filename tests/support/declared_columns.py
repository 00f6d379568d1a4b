"""Write `flows/kernel/declared_columns.py`, as `make declared` does; of another tree its path is the argument."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from slowwave.transforms.core.schema import Column, columns, producer_columns
from slowwave.transforms.evidence.tables import DayInputs, MemoryEligibility, ReplayedInteractions
from slowwave.transforms.graph import SERVING
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories

WRITTEN = Path(__file__).resolve().parents[2] / "flows" / "kernel" / "declared_columns.py"
# The tables whose files commands read in DuckDB's SQL alone.
READ = (DayInputs, ReplayedInteractions, MemoryEligibility, Memories, Interactions, Decisions)
_HEADER = '''"""What columns are declared to be, for commands that answer without loading the declarations.

`make declared` writes it from the `tables.py` files: change those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class EditOption(NamedTuple):
    """An option of `slowwave memory edit`; `kind` as in `Column`, `low` and `high` bound a number."""

    option: str
    help: str
    kind: str
    metavar: str | None
    choices: tuple[str, ...]
    low: float | None
    high: float | None
'''


def declared_text() -> str:
    """Return the source of the module, formatted as all others are."""
    carried = {c: c.carried for c in columns(Memories) if c.carried}
    named: dict[str, tuple[object, str]] = {
        "CARRIED: tuple[str, ...]": (
            tuple(c.name for c in carried),
            "Fields of a memory that hold until a change states another value.",
        ),
        "OF_CHANGE: tuple[str, ...]": (Memories.of_change, "What belongs to one change of a memory alone."),
        "LABELS: Mapping[str, str]": (
            {c.name: each.label for c, each in carried.items() if each.label},
            "Fields of a memory that screens call otherwise.",
        ),
        "FACTS: tuple[str, ...]": (
            tuple(c.name for c, each in carried.items() if each.is_fact),
            "Fields of a memory that have a line of their own on its page.",
        ),
        "CLEARABLE: tuple[str, ...]": (
            tuple(c.name for c, each in carried.items() if each.is_clearable),
            "Fields of a memory that a person may clear by a command.",
        ),
        "EDITS: Mapping[str, EditOption]": (_edits(), "Fields of a memory that a person may give a value."),
        "COUNTED: Mapping[str, str]": (
            {c.counts: c.name for c in columns(MemoryHealth) if c.counts},
            "What `slowwave why` lists of a memory, each with the column that counts it.",
        ),
        "LISTS: tuple[str, ...]": (_lists(), "Fields of landed rows that are lists."),
        "IDS: Mapping[str, str]": (_ids(), "Columns that hold ids, each with the landed table whose ids they are."),
        "READ: Mapping[str, Mapping[str, str]]": (
            {table.name: {c.name: c.duckdb_type for c in columns(table)} for table in READ},
            "Tables whose files are read in SQL: their columns with DuckDB's types.",
        ),
    }
    source = _HEADER + "".join(f'\n\n{name} = {value!r}\n"""{said}"""' for name, (value, said) in named.items()) + "\n"
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(WRITTEN), "-"]
    return subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout


class _Call:
    """What is written as the call that makes it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _edits() -> dict[str, _Call]:
    edits: dict[str, _Call] = {}
    for c in columns(Memories):
        edit = c.carried.edit if c.carried else None
        if edit is not None:
            option = edit.option or f"--{c.name.replace('_', '-')}"
            metavar = edit.metavar or (c.unit if c.kind == "number" else None)
            values = (option, edit.help, c.kind, metavar, edit.choices or c.choices, c.low, c.high)
            edits[c.name] = _Call(f"EditOption{values!r}")
    return edits


def _lists() -> tuple[str, ...]:
    of_rows = (c for table in LANDED for c in producer_columns(table) if c.kind in {"texts", "structs"})
    return tuple(dict.fromkeys(c.name for c in of_rows))


def _ids() -> dict[str, str]:
    of_tables = (c for table in (*LANDED, *SERVING) for c in columns(table))
    found = {c.name: of for c in of_tables if (of := _landed(c)) is not None}
    return dict(sorted(found.items()))


def _landed(column: Column) -> str | None:
    """Return the landed table whose ids a column holds: by its declaration, else by its name."""
    key_like = column.name.removesuffix("s") if column.kind == "texts" else column.name
    return column.ids_of or next((of.name for of in LANDED if key_like.endswith(of.key[0])), None)


if __name__ == "__main__":
    written = Path(sys.argv[1]) / "flows" / "kernel" / "declared_columns.py" if sys.argv[1:] else WRITTEN
    text = declared_text()
    written.unlink(missing_ok=True)  # a link to the file of another tree is not written through
    written.write_text(text)
