"""Which landed rows fail a declared check: found once per file of the lake, for a file never changes.

What is not in the ledger yet is looked through when it is asked for; the next night enters it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property
from typing import Any

import polars as pl

from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import Landed, polars_schema
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import CheckedFiles
from slowwave.transforms.landing.set_aside import (
    FAILED,
    checks_digest,
    failed_checks,
    fails_any,
    left_out_rows,
    read_by_checks,
)

# Files that are looked through together, up to this much of them.
_READ_BYTES = 16 * 2**20


class FileChecks:
    """What the checks say of the files of a lake; `new`: rows for the ledger, of files it does not know."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        ledger = lake.ledger(CheckedFiles).filter(pl.col("checks") == checks_digest())
        rows = ledger.select("landed_table", "day", "file_name", "failed").iter_rows()
        self._known: dict[tuple[str, date, str], list[dict[str, Any]]] = {(t, d, f): failed for t, d, f, failed in rows}
        self._new: list[dict[str, Any]] = []

    @cached_property
    def left_out(self) -> pl.DataFrame:
        """The rows that people left out, read once for all tables."""
        return left_out_by_people(self._lake)

    def unknown(self, table: type[Landed], files: Sequence[LakeFile]) -> list[LakeFile]:
        """The files that nobody has looked through."""
        return [file for file in files if _key(table, file) not in self._known]

    def find_failed_rows(self, table: type[Landed], files: Sequence[LakeFile]) -> pl.DataFrame:
        """The rows in `files` that fail a check, one per check: key, row_hash, check, reason, their times."""
        for some in _together(self.unknown(table, files)):
            self._look_through(table, some)
        rows = [failed for file in files for failed in self._known[_key(table, file)]]
        return pl.DataFrame(rows, schema=FAILED).unique(["row_hash", "check"], maintain_order=True)

    def new(self) -> pl.DataFrame:
        """What was found out since the ledger was written."""
        return pl.DataFrame(self._new, schema=polars_schema(CheckedFiles))

    def _look_through(self, table: type[Landed], files: Sequence[LakeFile]) -> None:
        rows = self._lake.scan_files(table, files, read_by_checks(table)).filter(fails_any(table)).collect()
        of_files: dict[str, list[dict[str, Any]]] = {}
        found = failed_checks(table, rows).sort("row_hash", "check")
        for path, failed in found.select("file_path", pl.struct(*FAILED)).iter_rows():
            of_files.setdefault(path, []).append(failed)
        for file in files:
            failed = of_files.get(str(file.path), [])
            self._known[_key(table, file)] = failed
            of = {"landed_table": table.name, "day": file.day, "file_name": file.path.name, "checks": checks_digest()}
            self._new.append({**of, "failed": failed})


def left_out_by_people(lake: Lake) -> pl.DataFrame:
    """Rows that people left out, at whatever time: landed_table, key, row_hash, check, reason and their times."""
    files = [file for of_day in lake.files(Decisions.name).values() for file in of_day]
    return left_out_rows(lake.scan_rows(Decisions, files).collect())


def counted_rows(lake: Lake, checks: FileChecks, table: type[Landed], files: Sequence[LakeFile]) -> pl.LazyFrame:
    """The rows in `files` that are not set aside, copies too; nothing is read of files before the frame is."""
    unknown = checks.unknown(table, files)
    unseen = set(unknown)
    known = [file for file in files if file not in unseen]
    left_out = checks.left_out.filter(pl.col("landed_table") == table.name)
    aside = pl.concat([checks.find_failed_rows(table, known)["row_hash"], left_out["row_hash"]]).unique()
    rows = lake.scan_copies(table, known)
    if unknown:
        rows = pl.concat([rows, lake.scan_copies(table, unknown).filter(~fails_any(table))])
    return rows.join(aside.to_frame().lazy(), on="row_hash", how="anti") if len(aside) else rows


def _key(table: type[Landed], file: LakeFile) -> tuple[str, date, str]:
    return table.name, file.day, file.path.name


def _together(files: Sequence[LakeFile]) -> Iterator[list[LakeFile]]:
    gathered: list[LakeFile] = []
    held = 0
    for file in files:
        size = file.size
        if gathered and held + size > _READ_BYTES:
            yield gathered
            gathered, held = [], 0
        gathered.append(file)
        held += size
    if gathered:
        yield gathered
