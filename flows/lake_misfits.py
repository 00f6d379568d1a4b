"""Which file of the lake cannot be read as declared: looked for only when a read has failed, as it opens every file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slowwave.flows.errors import UserError
from slowwave.flows.lake import written_columns
from slowwave.flows.lake_files import files_by_day
from slowwave.transforms.decision_tables import Decisions
from slowwave.transforms.evidence_tables import EVIDENCE, DayInputs
from slowwave.transforms.landed_tables import LANDED
from slowwave.transforms.schema_changes import misfit
from slowwave.transforms.serving_tables import LEDGER
from slowwave.transforms.set_aside_tables import CheckedFiles


def explained(error: Exception, lake: str | Path) -> Exception:
    """`error`, or where a file could not be read as declared a UserError that names the file, column and both types."""
    is_misfit = isinstance(error, pl.exceptions.SchemaError) or "SchemaError" in str(error)  # as DuckDB passes it on
    message = first_misfit(Path(lake)) if is_misfit else ""
    return UserError(message) if message else error


def first_misfit(root: Path) -> str:
    """The first file of the lake at `root` that cannot be read as its table is declared, and why; '' when all can."""
    folders = {table.name: table for table in (*LANDED, Decisions, DayInputs, CheckedFiles, *LEDGER)}
    folders |= {f"evidence/{table.name}": table for table in EVIDENCE}
    for folder, table in folders.items():
        for files in files_by_day(root, folder).values():
            for file in files:
                found = misfit(table, written_columns(file.path))
                if found:
                    return f"{file.path} was not written by this version of slowwave or an earlier one: {found}"
    return ""
