"""States, which are carried from night to night: where they are kept, and which of them go.

A state says of each of its parts what that was made of, so any of those kept serves any publish, if not as well. Its
file is named by the run and a digest of its bytes: what a disk has changed in it would else be published for good.
"""

from __future__ import annotations

import hashlib
from datetime import date

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.flows.kernel.store import packed_parquet
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import Lake, written_columns
from slowwave.transforms.core.frames import empty
from slowwave.transforms.core.hashing import DIGEST_BYTES
from slowwave.transforms.core.schema import State, polars_schema

_PART = ["part", "made_of"]


def kept_state(lake: Lake, table: type[State], day: date) -> pl.LazyFrame:
    """The state kept last of the nights up to a day, or else of the first one after it; nothing where there is none."""
    file = _serving_best(lake, table, day)
    if file is None or not _is_intact(file):
        return empty(table).lazy()
    if written_columns(file.path) != polars_schema(table):  # by another release: it is made anew
        return empty(table).lazy()
    return lake.scan_evidence(table, {file.day: file.path.stem}).drop("day").collect().lazy()


def keep_state(
    lake: Lake,
    table: type[State],
    day: date,
    run_id: str,
    rows: pl.DataFrame,
    *,
    kept: pl.DataFrame | None = None,
    verify: bool = False,
) -> None:
    """Keep the state of a run as of a day, if it says more than what is kept, or to `verify` that.

    `kept`: of `kept_state`, where it was read already.

    Raises UserError when a part that is kept differs from `rows`, after it was replaced.
    """
    kept = kept_state(lake, table, day).collect() if kept is None else kept
    # a part that was made of the same has as many rows
    if verify or rows.height > kept.height or rows.join(kept, on=_PART, how="anti").height:
        packed = packed_parquet(rows)
        lake.write_packed_evidence(table, day, f"{run_id}-{_digest(packed)}", packed)
    if verify:
        as_now = kept.join(rows, on=_PART, how="semi")
        wrong = as_now.join(rows, on=rows.columns, how="anti", nulls_equal=True)
        if wrong.height:
            message = f"{table.name} differs from a full rebuild; it was replaced: please report this"
            raise UserError(message)


def run_of_state(file: LakeFile) -> str:
    """The run that kept a state."""
    return file.path.stem.rpartition("-")[0]


def superseded_states(lake: Lake, table: type[State]) -> list[LakeFile]:
    """All but the last of each month: what a late row has changed is computed from there on."""
    months: dict[tuple[int, int], list[LakeFile]] = {}
    for day, files in lake.files(f"evidence/{table.name}").items():
        months.setdefault((day.year, day.month), []).extend(files)
    return [file for files in months.values() for file in files[:-1]]


def _serving_best(lake: Lake, table: type[State], day: date) -> LakeFile | None:
    files = [file for of_day in lake.files(f"evidence/{table.name}").values() for file in of_day]
    earlier = [file for file in files if file.day <= day]
    return earlier[-1] if earlier else files[0] if files else None


def _is_intact(file: LakeFile) -> bool:
    return file.path.stem.rpartition("-")[2] == _digest(on_disk([file.path])[0].read_bytes())


def _digest(packed: bytes | memoryview) -> str:
    return hashlib.blake2b(packed, digest_size=DIGEST_BYTES).hexdigest()
