"""The child process that answers queries of the SQL page, so that no query can harm the dashboard or its readers.

It is started before there is a question, and answers one after the other. On standard input come the folder where the
answer and the problem are written, and the question, as `SqlQuestion` writes it, each on its line. On standard output
goes a line after each: "answered" or "failed", and "goes-on" or, where it held much memory, "ends".
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa  # noqa: F401 - loaded before there is a question, as Polars would while it is answered
import typer

from slowwave.flows.ask.cells import cell_text
from slowwave.flows.ask.narrowed import narrowed_by
from slowwave.flows.ask.sql import answer_query, result_writer
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import peak_memory
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake import views  # noqa: F401 - likewise

if TYPE_CHECKING:
    import duckdb

    from slowwave.flows.ask.connection import DuckDBConfig

SECONDS = 30
SHOWN_ROWS, SHOWN_COLUMNS = 1_000, 200
_SHOWN_CELLS = 40_000
COUNTED_ROWS = 100_000
LIMITS: DuckDBConfig = {"memory_limit": "1GB", "max_temp_directory_size": "2GB", "threads": 2}
# What DuckDB does not count, such as the rows read from the lake, is limited too.
_MOST_MEMORY = 4 * 2**30
_MORE_SECONDS = 5
_MOST_KEPT = 768 * 2**20
"""The most that one may have held, in bytes, to be asked again."""
_BATCH_ROWS = 500
_MAX_CELL = 300


def main() -> None:
    """Answer one question after the other."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    with os.fdopen(os.dup(1), "w") as replies:
        # without a line, what started it has ended
        while (folder := sys.stdin.readline()) and (question := sys.stdin.readline()):
            _write_into(Path(json.loads(folder)))
            signal.alarm(SECONDS + _MORE_SECONDS)  # where nobody is left to end it
            reply = _answer(json.loads(question))
            signal.alarm(0)
            is_last = peak_memory() > _MOST_KEPT
            replies.write(f"{reply} {'ends' if is_last else 'goes-on'}\n")
            replies.flush()
            if is_last:
                return


def _answer(asked: dict[str, Any]) -> Literal["answered", "failed"]:
    try:
        answer_query(
            settings_from_environment(),
            asked["query"],
            asked["values"],
            serving=Path(asked["serving"]),
            cut=utc_now(),
            write=write_first_rows if asked["output"] == "first rows" else result_writer(asked["output"]),
            limits=LIMITS,
            narrowed=narrowed_by(),
        )
    except (UserError, typer.BadParameter) as error:
        sys.stderr.write(str(error))
        sys.stderr.flush()
        return "failed"
    sys.stdout.flush()
    return "answered"


def _write_into(folder: Path) -> None:
    """Have the answer, what is said of a problem and what is spilled written there."""
    for name, stream in (("answer", sys.stdout), ("problem", sys.stderr)):
        with (folder / name).open("wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def write_first_rows(
    connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement, params: Mapping[str, str]
) -> None:
    """Write the first rows as JSON: names and types of the columns, texts of the cells (null is NULL), rows in all.

    Rows are counted up to `COUNTED_ROWS`, and then `is_more`.
    """
    connection.execute(statement, params)
    columns = connection.description or []
    if len(columns) > SHOWN_COLUMNS:
        message = f"the result has {len(columns):,} columns, and this page shows at most {SHOWN_COLUMNS}: name some"
        raise UserError(message)
    most = min(SHOWN_ROWS, _SHOWN_CELLS // max(1, len(columns)))
    cells: list[list[str | None]] = []
    count = 0
    while count <= COUNTED_ROWS and (rows := connection.fetchmany(_BATCH_ROWS)):
        cells += [[_cell(value) for value in row] for row in rows[: most - len(cells)]]
        count += len(rows)
    answer = {
        "names": [name for name, *_ in columns],
        "types": [str(dtype) for _, dtype, *_ in columns],
        "cells": cells,
        "count": min(count, COUNTED_ROWS),
        "is_more": count > COUNTED_ROWS,
    }
    json.dump(answer, sys.stdout)


def _cell(value: object) -> str | None:
    if value is None:
        return None
    # shortened first: a text may be megabytes long
    return shorten_to_width(terminal_safe(shorten_to_width(cell_text(value), _MAX_CELL)), _MAX_CELL)


if __name__ == "__main__":
    main()
