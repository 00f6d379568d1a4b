"""The derived table of statements that stand in answers."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import FoundIn

ExtractRule = Literal[
    "decision_heading",
    "constraint_heading",
    "requirement_heading",
    "fact_heading",
    "preference_sentence",
    "decided_to_sentence",
    "requirement_sentence",
]
MEMORY_TYPES: dict[str, str] = {
    "decision_heading": "adaptation",
    "constraint_heading": "project",
    "requirement_heading": "project",
    "fact_heading": "knowledge",
    "preference_sentence": "preference",
    "decided_to_sentence": "adaptation",
    "requirement_sentence": "project",
}


class ExtractedStatements(Table):
    """Statements of an answer that one of the seven rules (`extract/1`) takes for worth remembering."""

    name: ClassVar[str] = "extracted_statements"
    key: ClassVar[tuple[str, ...]] = ("interaction_id", "rule", "statement_id")

    interaction_id: str = column("Key: the interaction.")
    rule: ExtractRule = column("Key: the rule that found it.")
    statement_id: str = column("Key: hash of the normalised text: who says the same has the same.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    project: str = column("Project of the interaction.")
    agent: str = column("Agent of the interaction.")
    session_id: str | None = column("Session of the interaction.")
    memory_type: str = column("The type of memory it would be: adaptation, project, knowledge, preference.")
    text: str = column("As written, white space collapsed, without list marks and emphasis around it.")
    found_in: FoundIn = column("Where.")
    in_prompt: bool = column("The same words already stood in the prompt.")
