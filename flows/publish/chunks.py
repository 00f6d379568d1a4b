"""What a publish tells of the document chunks that interactions used: nothing is read where none says so."""

from __future__ import annotations

import polars as pl

from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.publish.plan import LogAsOf, days_together
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.chunks.tables import ChunkUse
from slowwave.transforms.evidence.chunks.use import chunk_days, chunk_use
from slowwave.transforms.evidence.nodes import CHUNKS
from slowwave.transforms.landing.tables import Interactions

_WANTED = {
    "interaction_id": pl.String,
    "occurred_at": pl.Datetime("us"),
    "project": pl.String,
    "chunks_used": pl.List(pl.String),
}


def chunks_from(log: LogAsOf) -> dict[type[Table], pl.DataFrame]:
    """chunk_use of the interactions visible, counted some days at a time."""
    files = log.files(Interactions)
    is_named = pl.col("chunks_used").list.len() > 0
    counted = [chunk_days(pl.LazyFrame(schema=_WANTED)).collect()]
    for days in days_together(files, files):
        paths = [file.path for day in days for file in files[day]]
        if scan_declared(Interactions, paths).select(is_named.any()).collect().item():
            won = log.winners(Interactions, days, CHUNKS.columns).rename({"created_at": "occurred_at"})
            counted.append(chunk_days(won).collect())
    return {ChunkUse: chunk_use(pl.concat(counted).lazy()).collect()}
