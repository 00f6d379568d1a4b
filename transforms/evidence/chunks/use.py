"""How often each chunk of a document was used, and each document."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Lazy, selected
from slowwave.transforms.evidence.chunks.tables import ChunkUse

# Whatever stands before the last # is the document; both sides have to say something.
_DOCUMENT = r"^(?s)(.*\S.*)#[^#]*[^#\s][^#]*$"
_SCHEMA = pl.Schema(
    {
        "project": pl.String,
        "chunk_id": pl.String,
        "document_id": pl.String,
        "used_count": pl.Int64,
        "first_used_at": pl.Datetime("us"),
        "last_used_at": pl.Datetime("us"),
    }
)


def chunk_days(interactions: pl.LazyFrame) -> pl.LazyFrame:
    """Counts of some interactions, to be added up by `chunk_use`: one row per chunk, and one per document.

    `interactions`: interaction_id, occurred_at, project, chunks_used; one row per interaction_id. A chunk that is named
    twice by one interaction, or a document two chunks of which are, counts once; a blank id says nothing.

    Columns: project, chunk_id (NULL: of the document), document_id (NULL: the chunk has none), used_count,
    first_used_at, last_used_at.
    """
    named = (
        interactions.filter(pl.col("chunks_used").list.len() > 0)
        .select("interaction_id", "occurred_at", "project", pl.col("chunks_used").alias("chunk_id"))
        .explode("chunk_id")
        .filter(~is_blank(pl.col("chunk_id")))
        .unique(["interaction_id", "chunk_id"])
        .with_columns(pl.col("chunk_id").str.extract(_DOCUMENT).alias("document_id"))
    )
    nothing = pl.lit(None, dtype=pl.String).alias("chunk_id")
    whole = named.drop_nulls("document_id").unique(["interaction_id", "document_id"]).with_columns(nothing)
    counted = [
        of.group_by("project", "chunk_id", "document_id").agg(
            pl.len().cast(pl.Int64).alias("used_count"),
            pl.col("occurred_at").min().alias("first_used_at"),
            pl.col("occurred_at").max().alias("last_used_at"),
        )
        for of in (named, whole.select(named.collect_schema().names()))
    ]
    return pl.concat(counted).select(_SCHEMA.names())


def chunk_use(days: pl.LazyFrame) -> Lazy[ChunkUse]:
    """One row per project and chunk, sorted by them, without run_id and as_of. `days`: `chunk_days`, stacked."""
    added = (
        pl.concat([pl.LazyFrame(schema=_SCHEMA), days])
        .group_by("project", "chunk_id", "document_id")
        .agg(pl.col("used_count").sum(), pl.col("first_used_at").min(), pl.col("last_used_at").max())
    )
    document = ["project", "document_id"]
    chunks = added.drop_nulls("chunk_id")
    documents = added.filter(pl.col("chunk_id").is_null()).select(
        *document, pl.col("used_count").alias("document_used_count")
    )
    sizes = (
        chunks.drop_nulls("document_id").group_by(document).agg(pl.len().cast(pl.Int64).alias("document_chunks_count"))
    )
    rows = (
        chunks.join(documents, on=document, how="left")
        .join(sizes, on=document, how="left")
        .with_columns(pl.col("document_used_count", "document_chunks_count").fill_null(0))
    )
    return selected(ChunkUse, rows).sort(ChunkUse.key)
