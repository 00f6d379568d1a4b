"""`slowwave why` of a run: how it ended and why, the files it landed and the rows it refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slowwave.flows.ask.why.layout import align_columns, format_lines, more, wrap_text
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.kernel.times import utc_text

Record = dict[str, Any]
Records = Callable[..., list[Record]]

_SHOWN = 400
_RUN = "SELECT * EXCLUDE (methods, table_hashes) FROM runs WHERE run_id = $id"
_FILES = "SELECT * EXCLUDE (run_id) FROM run_files WHERE run_id = $id ORDER BY file_number"
_REFUSED = """
SELECT source, row_number, field, reason
FROM quarantine
WHERE run_id = $id
ORDER BY source, row_number
"""


def run_about(records: Records, given: str) -> Record | None:
    """Return a run of the ledger, its `files`, and the rows it `refused` that still are; None: there is none."""
    runs = records(_RUN, id=given)
    return (
        {"run": runs[0], "files": records(_FILES, id=given), "refused": records(_REFUSED, id=given)} if runs else None
    )


def run_text(found: Record, limit: int) -> str:
    """Return the same for people, at most `limit` files and rows."""
    run, files, refused = found["run"], found["files"], found["refused"]
    lines = [
        f"run {run['run_id']}: {run_words(run)}",
        *wrap_text(shorten_to_width(" ".join((run["message"] or "").split()), _SHOWN)),
    ]
    lines += ["", f"files {len(files)}: {landed_words(run)}"]
    lines += [line for row in files[:limit] for line in wrap_text(f"- {file_words(row)}")] + more(len(files), limit)
    lines += ["", f"refused {len(refused)}: rows that still are in quarantine"]
    shown = [["", row["source"], f"row {row['row_number']}", row["reason"]] for row in refused[:limit]]
    return format_lines([*lines, *align_columns(shown), *more(len(refused), limit)])


def run_words(run: Record) -> str:
    """Return what ran, how it ended, when, and what it describes."""
    ended = f" to {utc_text(run['finished_at'])}" if run["finished_at"] else ""
    as_of = f", as of {utc_text(run['as_of'])}" if run["as_of"] else ""
    return f"{run['kind']}, {run['status'].replace('_', ' ')}, {utc_text(run['started_at'])}{ended}{as_of}"


def landed_words(row: Record) -> str:
    """Return what became of the delivered rows of a run or a file."""
    names = ("accepted", "duplicate", "quarantined")
    return f"{format_count(row['delivered'], 'row')} delivered: " + ", ".join(f"{row[name]:,} {name}" for name in names)


def file_words(row: Record) -> str:
    """Return what became of a file."""
    return f"{shorten_to_width(row['source'], _SHOWN)}: {landed_words(row)}"
