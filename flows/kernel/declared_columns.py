"""What columns are declared to be, for commands that answer without loading the declarations.

`make declared` writes it from the `tables.py` files: change those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class EditOption(NamedTuple):
    """An option of `slowwave memory edit`; `kind` as in `Column`, `low` and `high` bound a number."""

    option: str
    help: str
    kind: str
    metavar: str | None
    choices: tuple[str, ...]
    low: float | None
    high: float | None


CARRIED: tuple[str, ...] = (
    "memory_type",
    "project",
    "agent",
    "content",
    "status",
    "confidence",
    "importance",
    "pinned",
    "source_ids",
    "superseded_by",
    "scope",
    "user_id",
    "category",
    "domain",
    "source",
    "tags",
    "expires_at",
    "stated_references",
    "stated_last_referenced_at",
    "parent_id",
)
"""Fields of a memory that hold until a change states another value."""

OF_CHANGE: tuple[str, ...] = ("changed_at", "recorded_at", "reason", "changed_by")
"""What belongs to one change of a memory alone."""

LABELS: Mapping[str, str] = {
    "memory_type": "type",
    "source_ids": "sources",
    "superseded_by": "replaced by",
    "user_id": "user",
    "parent_id": "part of",
}
"""Fields of a memory that screens call otherwise."""

FACTS: tuple[str, ...] = ("category", "domain", "source", "tags", "expires_at")
"""Fields of a memory that have a line of their own on its page."""

CLEARABLE: tuple[str, ...] = (
    "agent",
    "confidence",
    "importance",
    "source_ids",
    "scope",
    "user_id",
    "category",
    "domain",
    "source",
    "tags",
    "expires_at",
)
"""Fields of a memory that a person may clear by a command."""

EDITS: Mapping[str, EditOption] = {
    "memory_type": EditOption("--type", "Its type, such as preference.", "text", None, (), None, None),
    "project": EditOption("--project", "Its project; '' is none.", "text", None, (), None, None),
    "agent": EditOption("--agent", "Its agent; '' is none.", "text", None, (), None, None),
    "content": EditOption("--content", "The text; - reads it from standard input.", "text", "TEXT", (), None, None),
    "status": EditOption(
        "--status",
        "`memory archive` and `memory invalidate` give others.",
        "text",
        None,
        ("candidate", "active", "graduated"),
        None,
        None,
    ),
    "confidence": EditOption("--confidence", "How sure one is of it; quotes add to it.", "number", "0-1", (), 0, 1),
    "importance": EditOption("--importance", "Importance.", "number", "0-1", (), 0, 1),
    "scope": EditOption(
        "--scope",
        "Eligible for its agent, in its project, or everywhere.",
        "text",
        None,
        ("agent", "project", "global"),
        None,
        None,
    ),
    "user_id": EditOption(
        "--user", "The user it is about: eligible for nobody else; '' is none.", "text", None, (), None, None
    ),
    "category": EditOption("--category", "Kind of preference; '' is none.", "text", None, (), None, None),
    "domain": EditOption("--domain", "Field of knowledge; '' is none.", "text", None, (), None, None),
    "source": EditOption("--source", "How it came to be known; '' is none.", "text", None, (), None, None),
    "expires_at": EditOption(
        "--expires-at",
        "From then on it is not eligible, such as 2026-07-01; '' is never.",
        "time",
        "TIME",
        (),
        None,
        None,
    ),
}
"""Fields of a memory that a person may give a value."""

COUNTED: Mapping[str, str] = {
    "eligible": "eligible_count",
    "injected": "injected_count",
    "stale": "stale_injected_count",
    "echoed": "echoed_count",
    "used": "used_count",
    "cited": "cited_count",
    "followed": "followed_count",
    "not_followed": "not_followed_count",
    "references": "reference_count",
    "confirmed": "confirmed_count",
    "contradicted": "contradicted_count",
}
"""What `slowwave why` lists of a memory, each with the column that counts it."""

LISTS: tuple[str, ...] = ("memories_used", "memories_offered", "chunks_used", "memories_cited", "source_ids", "tags")
"""Fields of landed rows that are lists."""

IDS: Mapping[str, str] = {
    "best_memory_id": "memories",
    "interaction_id": "interactions",
    "memories_cited": "memories",
    "memories_used": "memories",
    "memory_id": "memories",
    "memory_ids": "memories",
    "outcome_id": "outcomes",
    "parent_id": "memories",
    "rules_target_memory_id": "memories",
    "superseded_by": "memories",
    "target_memory_id": "memories",
}
"""Columns that hold ids, each with the landed table whose ids they are."""

READ: Mapping[str, Mapping[str, str]] = {
    "day_inputs": {
        "run_id": "VARCHAR",
        "landed_table": "VARCHAR",
        "day": "DATE",
        "rows_signature": "VARCHAR",
        "rows_hash": "VARCHAR",
        "memories_signature": "VARCHAR",
        "evidence_hash": "VARCHAR",
        "fingerprint": "VARCHAR",
        "evidence_columns": "VARCHAR",
        "partitions": "VARCHAR[]",
    },
    "replayed_interactions": {
        "interaction_id": "VARCHAR",
        "occurred_at": "TIMESTAMP",
        "project": "VARCHAR",
        "agent": "VARCHAR",
        "session_id": "VARCHAR",
        "user_id": "VARCHAR",
    },
    "memory_eligibility": {
        "memory_id": "VARCHAR",
        "is_global": "BOOLEAN",
        "project": "VARCHAR",
        "pattern": "VARCHAR",
        "content_hash": "VARCHAR",
        "first_at": "TIMESTAMP",
        "last_at": "TIMESTAMP",
        "eligible_count": "BIGINT",
        "only_agent": "VARCHAR",
        "only_user": "VARCHAR",
    },
    "memories": {
        "memory_id": "VARCHAR",
        "changed_at": "TIMESTAMP",
        "recorded_at": "TIMESTAMP",
        "memory_type": "VARCHAR",
        "project": "VARCHAR",
        "agent": "VARCHAR",
        "content": "VARCHAR",
        "status": "VARCHAR",
        "confidence": "DOUBLE",
        "importance": "DOUBLE",
        "pinned": "BOOLEAN",
        "source_ids": "VARCHAR[]",
        "superseded_by": "VARCHAR",
        "reason": "VARCHAR",
        "changed_by": "VARCHAR",
        "scope": "VARCHAR",
        "user_id": "VARCHAR",
        "category": "VARCHAR",
        "domain": "VARCHAR",
        "source": "VARCHAR",
        "tags": "VARCHAR[]",
        "expires_at": "TIMESTAMP",
        "stated_references": "BIGINT",
        "stated_last_referenced_at": "TIMESTAMP",
        "parent_id": "VARCHAR",
        "extra": "VARCHAR",
        "clears": "VARCHAR[]",
        "row_hash": "VARCHAR",
        "key_hash": "BIGINT",
    },
    "interactions": {
        "interaction_id": "VARCHAR",
        "created_at": "TIMESTAMP",
        "recorded_at": "TIMESTAMP",
        "project": "VARCHAR",
        "agent": "VARCHAR",
        "client": "VARCHAR",
        "session_id": "VARCHAR",
        "user_id": "VARCHAR",
        "prompt": "VARCHAR",
        "response": "VARCHAR",
        "response_summary": "VARCHAR",
        "memories_used": "VARCHAR[]",
        "memories_offered": 'STRUCT("id" VARCHAR, "rank" BIGINT, "score" DOUBLE)[]',
        "injection_probability": "DOUBLE",
        "chunks_used": "VARCHAR[]",
        "context_pack": "VARCHAR",
        "tokens": "BIGINT",
        "cost": "DOUBLE",
        "reinforce": "BOOLEAN",
        "memories_cited": "VARCHAR[]",
        "extra": "VARCHAR",
        "row_hash": "VARCHAR",
        "key_hash": "BIGINT",
    },
    "decisions": {
        "decision_id": "VARCHAR",
        "command": "VARCHAR",
        "target_kind": "VARCHAR",
        "target": "VARCHAR",
        "values": "VARCHAR",
        "reason": "VARCHAR",
        "changed_by": "VARCHAR",
        "decided_at": "TIMESTAMP",
        "recorded_at": "TIMESTAMP",
        "on_run_id": "VARCHAR",
        "row_hash": "VARCHAR",
        "key_hash": "BIGINT",
    },
}
"""Tables whose files are read in SQL: their columns with DuckDB's types."""
