"""What a publish set aside, in the few lines a person acts on."""

from __future__ import annotations

from pathlib import Path

import duckdb

from slowwave.flows.kernel.terminal import format_count, shorten_to_width

_SHOWN = 3
_SHOWN_CHARACTERS = 60

# A row that fails several checks is one row.
_ROWS = """
SELECT "table", "key", any_value(reason ORDER BY "check"), bool_or("check" = 'left_out') AS is_left_out
FROM set_aside
GROUP BY "table", "key", row_hash
ORDER BY is_left_out, "table", "key", row_hash
"""


def set_aside_lines(serving: Path) -> list[tuple[str, str]]:
    """Label and text of each line; none where every row counts."""
    with duckdb.connect(serving, read_only=True) as connection:
        rows = connection.execute(_ROWS).fetchall()
    if not rows:
        return []
    refused = [row for row in rows if not row[3]]
    said = [f"{format_count(len(refused), 'row')} failed a check"] * bool(refused)
    said += [f"{len(rows) - len(refused):,} left out by decision"] * (len(refused) < len(rows))
    lines = [("set aside", f"{', '.join(said)}: they count nowhere, see the table set_aside")]
    lines += [
        ("", f"{table}:{shorten_to_width(key, _SHOWN_CHARACTERS) or '(no id)'}: {reason}")
        for table, key, reason, _ in rows[:_SHOWN]
    ]
    return lines
