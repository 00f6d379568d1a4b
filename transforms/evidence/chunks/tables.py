"""What is published of the document chunks that interactions used."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID


class ChunkUse(Table):
    """One row per project and document chunk that an interaction says it used (`chunks_used`)."""

    name: ClassVar[str] = "chunk_use"
    key: ClassVar[tuple[str, ...]] = ("project", "chunk_id")

    project: str = column("Key: project; '' is none. Of the interactions.")
    chunk_id: str = column("Key: the chunk, as the producer names it.")
    document_id: str | None = column("Of `document#chunk` the document, up to the last #. NULL: no such id.")
    used_count: int = column(
        "Interactions whose answer relies on it in other words (`used/3`): a lower bound. Of a chunk."
    )
    first_used_at: datetime = column("The first of them.", unit="UTC")
    last_used_at: datetime = column("The last of them.", unit="UTC")
    document_chunks_count: int = column("Chunks of its document that were used. 0: it has no document.")
    document_used_count: int = column(
        "Interactions that used any chunk of its document, each once. 0: it has no document."
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
