"""Landed files without the texts of their rows: keys, times, hashes and what else counts stay as they are."""

from __future__ import annotations

from datetime import datetime

import orjson
import polars as pl
import pyarrow.parquet as pq

from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.flows.kernel.store import write_parquet
from slowwave.flows.lake.files import LakeFile
from slowwave.transforms.core.schema import Landed, polars_schema
from slowwave.transforms.landing.erased.let_go import TEXTS_OF, is_let_go
from slowwave.transforms.landing.schema_changes import from_extra
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.landing.versions import is_visible


def with_texts(table: type[Landed], file: LakeFile, as_of: datetime) -> tuple[pl.Series, int]:
    """The hashes of the rows visible at `as_of` that have texts still, and how many rows are not visible yet."""
    (path,) = on_disk([file.path])
    rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    has_text = ~is_let_go() if table is Interactions else pl.any_horizontal(pl.col(*TEXTS_OF[table]).is_not_null())
    seen = rows.select("row_hash", is_visible(table, as_of).alias("is_visible"), has_text.alias("has_text")).collect()
    return seen.filter("is_visible", "has_text")["row_hash"], seen.filter(~pl.col("is_visible")).height


def texts_bytes(table: type[Landed], file: LakeFile) -> int:
    """What the texts of a file take in it."""
    told = pq.read_metadata(on_disk([file.path])[0])
    groups = (told.row_group(at) for at in range(told.num_row_groups))
    chunks = (group.column(at) for group in groups for at in range(group.num_columns))
    return sum(one.total_compressed_size for one in chunks if one.path_in_schema.split(".")[0] in TEXTS_OF[table])


def write_without_texts(table: type[Landed], file: LakeFile, as_of: datetime) -> int:
    """Put in place of a file what is left of it without the texts of the rows visible at `as_of`; bytes that it saves.

    What `extra` of an older file says of columns that came later stays: it is read from there.
    """
    (path,) = on_disk([file.path])
    rows = pl.read_parquet(path, glob=False, hive_partitioning=False)
    later = [c.name for c in from_extra(table) if c.name not in rows.columns]
    nothing = {"prompt": pl.lit("")}
    if later:
        nothing["extra"] = pl.lit(pl.Series("extra", [_only(later, text) for text in rows["extra"]], pl.String))
    goes = is_visible(table, as_of)
    left = rows.with_columns(
        pl.when(goes).then(nothing.get(name, pl.lit(None))).otherwise(name).cast(polars_schema(table)[name]).alias(name)
        for name in TEXTS_OF[table]
    )
    before = file.size
    write_parquet(file.path, left)
    return before - LakeFile(file.day, file.path).size


def _only(names: list[str], text: str | None) -> str | None:
    stated = orjson.loads(text) if text else {}
    kept = {name: stated[name] for name in names if name in stated}
    return orjson.dumps(kept).decode() if kept else None
