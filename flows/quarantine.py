"""What was refused: its rows in the ledger, and the bytes of what could not be read, kept as delivered.

A file's rows in the ledger count once the file's own entry in `run_files` is there: that is written last, so that a
landing killed before it, or stopped by a fault of ours, leaves nothing that counts.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

import polars as pl

from slowwave.flows.lake import Lake
from slowwave.flows.store import write_durably
from slowwave.transforms.schema import Table
from slowwave.transforms.serving_tables import LEDGER, Quarantine, QuarantineResolved, RunFiles

_BLOCK = 2**20


class ChangedFileError(Exception):
    """A delivered file is no longer what was read."""


def kept_path(lake: Lake, sha256: str) -> Path:
    """Where the bytes with this hash are kept."""
    return lake.root / Quarantine.name / "files" / sha256


def keep_bytes(lake: Lake, handle: BinaryIO, sha256: str) -> None:
    """Keep the bytes of a delivered file, durably, unless they are kept already.

    Raises ChangedFileError when they no longer have that hash, OSError when a disk fails.
    """
    path = kept_path(lake, sha256)
    if path.exists():
        return

    def copy(aside: Path) -> None:
        handle.seek(0)
        state = hashlib.sha256()
        with aside.open("wb") as out:
            while block := handle.read(_BLOCK):
                state.update(block)
                out.write(block)
        if state.hexdigest() != sha256:
            raise ChangedFileError

    write_durably(path, copy)


def refused_rows(lake: Lake) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `quarantine`, refused to this day, and of `quarantine_resolved`, which have passed since."""
    files = lake.ledger(RunFiles).select("run_id", "file_hash").unique()
    stored, noted = lake.ledger(Quarantine), lake.ledger(QuarantineResolved)
    is_early = pl.col("format").is_null()  # by a release that wrote the rows of a file under whichever run came first
    refused = pl.concat(
        [
            stored.filter(is_early).join(files, on="file_hash", how="semi"),
            stored.filter(~is_early).join(files, on=["run_id", "file_hash"], how="semi"),
        ]
    )
    refused = refused.sort("landed_at", "run_id").unique("quarantine_id", keep="first").sort("quarantine_id")
    resolved = noted.join(
        files, left_on=["resolved_run_id", "file_hash"], right_on=["run_id", "file_hash"], how="semi"
    ).sort("resolved_at", "resolved_run_id")
    resolved = resolved.unique("quarantine_id", keep="first").sort("quarantine_id")
    return refused.join(resolved, on="quarantine_id", how="anti", maintain_order="left"), resolved


def ledgers(lake: Lake) -> dict[type[Table], pl.DataFrame]:
    """The tables of the ledger as they are published."""
    refused, resolved = refused_rows(lake)
    ours = {Quarantine: refused, QuarantineResolved: resolved}
    return {table: ours[table] if table in ours else lake.ledger(table) for table in LEDGER}


def forget_resolved_bytes(lake: Lake, young: float) -> int:
    """Remove kept files that no refused row needs, unless changed after `young`; returns how many bytes went."""
    folder = kept_path(lake, "")
    if not folder.is_dir():
        return 0
    needed = set(refused_rows(lake)[0]["kept_file"].drop_nulls())
    gone = 0
    for path in folder.iterdir():
        if path.name not in needed and path.stat().st_mtime < young:
            gone += path.stat().st_size
            path.unlink(missing_ok=True)
    return gone
