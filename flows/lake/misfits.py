"""Which file of the lake cannot be read as declared: looked for only when a read has failed, as it opens every file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.lake import written_columns
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, STATES
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import LEDGER, CheckedFiles
from slowwave.transforms.landing.schema_changes import misfit
from slowwave.transforms.landing.tables import LANDED

_PUT_BACK = "put it back from a backup, or move it out of the lake"
_BUILD = "`slowwave nightly --full` builds it again"


def explain_read_error(error: Exception, root: Path) -> Exception:
    """`error`, or where a file could not be read as declared, or at all, a UserError that names it and says why."""
    is_misfit = isinstance(error, pl.exceptions.SchemaError) or "SchemaError" in str(error)  # as DuckDB passes it on
    is_damage = isinstance(error, pl.exceptions.ComputeError) or "ComputeError" in str(error)
    message = first_damaged(root) if is_damage else first_misfit(root) if is_misfit else ""
    return UserError(message) if message else error


def first_damaged(root: Path) -> str:
    """The first file of the lake at `root` that cannot be read, and what to do; '' when all can."""
    for folder, table in _tables().items():
        mend = _BUILD if table in (*EVIDENCE, *STATES) else _PUT_BACK
        for file in (each for of_day in files_by_day(root, folder).values() for each in of_day):
            try:
                pl.read_parquet(on_disk([file.path])[0])
            except pl.exceptions.PolarsError as error:
                said = str(error).strip().splitlines()[0]
                return f"{file.path} is damaged: {mend} ({said})"
    return ""


def _tables() -> dict[str, type[Table]]:
    """Every table of a lake by its folder."""
    folders = {table.name: table for table in (*LANDED, Decisions, DayInputs, CheckedFiles, *LEDGER)}
    return folders | {f"evidence/{table.name}": table for table in (*EVIDENCE, *STATES)}


def first_misfit(root: Path) -> str:
    """The first file of the lake at `root` that cannot be read as its table is declared, and why; '' when all can."""
    for folder, table in _tables().items():
        for files in files_by_day(root, folder).values():
            for file in files:
                found = misfit(table, written_columns(file.path))
                if found:
                    return f"{file.path} was not written by this version of slowwave or an earlier one: {found}"
    return ""
