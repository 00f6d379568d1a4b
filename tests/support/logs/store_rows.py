"""Rows of memory stores, made up, and stores that hold them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Refused, Row
from slowwave.transforms.imports.stores.change_log import Store
from slowwave.transforms.imports.stores.store_state import ReadBefore, StoreSnapshot

Cells = dict[str, Any]
NOON = "2026-03-01T12:00:00.000001+00:00"
LATER = "2026-03-05T08:30:00+00:00"
SEEN_AT = datetime(2026, 4, 1, 2)  # noqa: DTZ001 - times are naive and hold UTC everywhere

# As the programs that write such stores declare them.
SCHEMAS: dict[str, str] = {
    "alma": """
CREATE TABLE heuristics (
    id TEXT PRIMARY KEY, agent TEXT NOT NULL, project_id TEXT NOT NULL, condition TEXT NOT NULL, strategy TEXT NOT NULL,
    confidence REAL DEFAULT 0.0, occurrence_count INTEGER DEFAULT 0, success_count INTEGER DEFAULT 0,
    last_validated TEXT, created_at TEXT, metadata TEXT, verification_status TEXT, verified_at TEXT
);
CREATE TABLE outcomes (
    id TEXT PRIMARY KEY, agent TEXT NOT NULL, project_id TEXT NOT NULL, task_type TEXT, task_description TEXT NOT NULL,
    success INTEGER DEFAULT 0, strategy_used TEXT, duration_ms INTEGER, error_message TEXT, user_feedback TEXT,
    timestamp TEXT, metadata TEXT
);
CREATE TABLE preferences (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, category TEXT, preference TEXT NOT NULL, source TEXT,
    confidence REAL DEFAULT 1.0, timestamp TEXT, metadata TEXT
);
CREATE TABLE domain_knowledge (
    id TEXT PRIMARY KEY, agent TEXT NOT NULL, project_id TEXT NOT NULL, domain TEXT, fact TEXT NOT NULL, source TEXT,
    confidence REAL DEFAULT 1.0, last_verified TEXT, metadata TEXT
);
CREATE TABLE anti_patterns (
    id TEXT PRIMARY KEY, agent TEXT NOT NULL, project_id TEXT NOT NULL, pattern TEXT NOT NULL, why_bad TEXT,
    better_alternative TEXT, occurrence_count INTEGER DEFAULT 1, last_seen TEXT, created_at TEXT, metadata TEXT
);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, memory_type TEXT, memory_id TEXT, embedding BLOB NOT NULL);
CREATE TABLE memory_archive (
    id TEXT PRIMARY KEY, original_id TEXT NOT NULL, memory_type TEXT NOT NULL, content TEXT NOT NULL, embedding BLOB,
    metadata TEXT, original_created_at TEXT NOT NULL, archived_at TEXT NOT NULL, archive_reason TEXT NOT NULL,
    final_strength REAL NOT NULL, project_id TEXT NOT NULL, agent TEXT NOT NULL, restored INTEGER DEFAULT 0
);
""",
    "mem0": """
CREATE TABLE history (
    id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME,
    updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT
);
""",
    "astrocyte": """
CREATE TABLE astrocyte_vectors (
    pk INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, bank_id TEXT NOT NULL, embedding BLOB NOT NULL, text TEXT NOT NULL,
    metadata TEXT, tags TEXT, fact_type TEXT, occurred_at INTEGER, memory_layer TEXT, retained_at INTEGER NOT NULL,
    forgotten_at INTEGER, chunk_id TEXT, changed_at INTEGER
);
""",
    "langgraph": """
CREATE TABLE store (
    prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
    expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key)
);
""",
    "atocore": """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, memory_type TEXT, content TEXT, project TEXT, source_chunk_id TEXT, confidence REAL,
    status TEXT, last_referenced_at TEXT, reference_count INTEGER, created_at TEXT, updated_at TEXT, domain_tags TEXT
);
CREATE TABLE interactions (
    id TEXT PRIMARY KEY, prompt TEXT, context_pack TEXT, response_summary TEXT, response TEXT, memories_used TEXT,
    chunks_used TEXT, client TEXT, session_id TEXT, project TEXT, project_id TEXT, created_at TEXT
);
CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT);
CREATE TABLE source_documents (id TEXT PRIMARY KEY, file_path TEXT, file_hash TEXT, title TEXT, tags TEXT);
CREATE TABLE source_chunks (
    id TEXT PRIMARY KEY, document_id TEXT, chunk_index INTEGER, content TEXT, heading_path TEXT, metadata TEXT
);
""",
}


def heuristic(own: str, **cells: Any) -> Cells:
    base = {"id": own, "agent": "dev", "project_id": "shop", "condition": "prices", "strategy": f"round {own} last"}
    return {**base, "confidence": 0.6, "occurrence_count": 5, "last_validated": NOON, "created_at": NOON, **cells}


def knowledge(own: str, **cells: Any) -> Cells:
    base = {"id": own, "agent": "dev", "project_id": "shop", "fact": f"the till {own} keeps integers"}
    return {**base, "confidence": 0.8, "last_verified": NOON, **cells}


def history(memory_id: str, event: str, new: str | None, at: str, **cells: Any) -> Cells:
    base = {"id": f"{memory_id}-{event}-{at}", "memory_id": memory_id, "event": event, "new_memory": new}
    return {**base, "created_at": NOON, "updated_at": at, **cells}


def atocore_memory(own: str, **cells: Any) -> Cells:
    base = {"id": own, "memory_type": "project", "content": f"the shop {own} opens at nine", "status": "active"}
    return {**base, "created_at": "2026-03-01 12:00:00", "updated_at": "2026-03-01 12:00:00", **cells}


def records(store: Store, tables: Mapping[str, Iterable[Cells]]) -> list[Located]:
    """What the shell hands over of these rows: tables in the store's order."""
    rows = [(table.name, row) for table in store.tables for row in tables.get(table.name, ())]
    return [Located(at, {"table": table, "row": row}) for at, (table, row) in enumerate(rows, 1)]


def told(
    store: Store,
    tables: Mapping[str, Iterable[Cells]],
    seen: StoreSnapshot | None = None,
    *,
    seen_at: datetime = SEEN_AT,
    name: str = "one",
    absent: Iterable[str] = (),
    accepts_vanished: bool = False,
) -> list[Made]:
    """What a reading of a store makes."""
    before = ReadBefore(
        name, StoreSnapshot(store.version) if seen is None else seen, seen_at, frozenset(absent), accepts_vanished
    )
    return list(store.make_rows(records(store, tables), Context(before=before)))


def rows_of(made: Iterable[Made]) -> list[dict[str, Any]]:
    return [one.fields for one in made if isinstance(one, Row)]


def refused_of(made: Iterable[Made]) -> list[str]:
    return [one.reason for one in made if isinstance(one, Refused)]


def left_of(made: Iterable[Made]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in made:
        if isinstance(one, LeftOut):
            found[one.sort] = found.get(one.sort, 0) + one.count
    return found


def write_store(path: Path, kind: str, tables: Mapping[str, Iterable[Cells]], *, is_wal: bool = False) -> Path:
    """A store of a kind at `path`, whose tables then hold these rows and no others."""
    with closing(sqlite3.connect(path)) as store, store:
        if is_wal:
            store.execute("PRAGMA journal_mode = WAL")
        if not store.execute("SELECT 1 FROM sqlite_master").fetchone():
            store.executescript(SCHEMAS[kind])
        for table, rows in tables.items():
            store.execute(f"DELETE FROM {table}")  # noqa: S608 - names of this file
            insert(store, table, rows)
    return path


def insert(store: sqlite3.Connection, table: str, rows: Iterable[Cells]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        store.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))  # noqa: S608
