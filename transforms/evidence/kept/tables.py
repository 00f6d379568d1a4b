"""What was found in the texts of interactions, kept when the texts went."""

from __future__ import annotations

from typing import ClassVar

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import FoundIn
from slowwave.transforms.evidence.statements.tables import ExtractedStatements

_ROW_HASH = "Key: hash of the row version whose texts went."


class KeptReferences(Table):
    """Of memory_references what was found in texts that have gone; the rest still follows from the row itself."""

    name: ClassVar[str] = "kept_references"
    key: ClassVar[tuple[str, ...]] = ("row_hash", "memory_id")

    row_hash: str = column(_ROW_HASH)
    interaction_id: str = column("The interaction.")
    memory_id: str = column("Key: the memory.")
    echoed_in: FoundIn | None = column("As in memory_references.")
    in_prompt: bool | None = column("As in memory_references.")
    used_score: float | None = column("As in memory_references.", unit="0-1")
    passage: str | None = column("As in memory_references.")
    passage_at: int | None = column("As in memory_references.", unit="code points")
    used_method: str | None = column("The method that found it used, with version. NULL: not used.")


class KeptStatements(ExtractedStatements):
    """Rows of extracted_statements that were found in texts that have gone."""

    name: ClassVar[str] = "kept_statements"
    key: ClassVar[tuple[str, ...]] = ("row_hash", "rule", "statement_id")

    row_hash: str = column(_ROW_HASH)
