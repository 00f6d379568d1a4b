"""Reads and writes memories by a store's own library, in whatever interpreter has that: JSON lines in, JSON lines out.

It imports nothing of ours, for that interpreter need not have it: `python store_helper.py STORE PATH CONFIG`. The first
line it writes is `{"version": …}`. Then a line `{"ids": […]}` is answered by `{"states": {id: state}}`, and a line
`{"id", "before", "after"}` by `{"state": …}`, the state read back, or by `{"changed": why}`. Whatever keeps it from
answering is `{"error": why}`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

KEY = "slowwave"
# The releases that were tried, by the package that has the library.
TRIED = {
    "alma": ("alma-memory", ("0.11.",)),
    "mem0": ("mem0ai", ("2.2.",)),
    "astrocyte": ("astrocyte-sqlite", ("0.22.",)),
    "langgraph": ("langgraph-checkpoint-sqlite", ("3.1.", "3.2.")),
}
# Of each table of ALMA's what it calls the kind, and the calls that set its confidence and delete.
ALMA_WAYS = {
    "heuristics": ("heuristic", "update_heuristic_confidence", "delete_heuristic"),
    "domain_knowledge": ("domain_knowledge", "update_knowledge_confidence", "delete_domain_knowledge"),
    "anti_patterns": ("anti_pattern", None, "delete_anti_pattern"),
    "preferences": ("preference", None, None),
}
# What ALMA calls a memory that its own check of confidences finds so; a verdict it has no word for is uncertain.
ALMA_STATUS = {"keep": "verified", "unproven": "unverifiable"}
State = dict[str, Any]


class ChangedError(Exception):
    """The store is not as it was seen; the message says how."""


def scores_text(scores: State | None) -> str:
    """Scores as one line: `confidence 0.72; verdict keep`."""
    return "; ".join(f"{name} {value}" for name, value in sorted((scores or {}).items()))


def scores_said(text: object) -> State | None:
    """The scores that such a line states; None for another."""
    split = [part.partition(" ") for part in text.split("; ")] if isinstance(text, str) and text else []
    parts = {name: value for name, _, value in split}
    if not parts or parts.keys() - {"confidence", "verdict"}:
        return None
    try:
        return {name: float(value) if name == "confidence" else value for name, value in parts.items()}
    except ValueError:
        return None


def first_row(path: str, query: str, *values: str) -> sqlite3.Row | None:
    """The first row of an answer: what no call of a library gives is looked up, and never written so."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(query, values).fetchone()


class Alma:
    """ALMA: confidence has a column, scores stand in the reason of a verification, what is archived is deleted."""

    _NO_TEXT = "ALMA finds it by an embedding that only your embedding model makes: save its new text in ALMA"

    def __init__(self, path: str, _config: str) -> None:
        storage = importlib.import_module("alma.storage.sqlite_local").SQLiteStorage
        self._types = importlib.import_module("alma.types")
        self._storage: Any = storage(Path(path), auto_migrate=False)
        self._path = path

    def state(self, memory_id: str) -> State | None:
        """What its tables say of a memory."""
        _, table, own = memory_id.split(":", 2)
        if table not in ALMA_WAYS:
            return None
        row = first_row(self._path, f"SELECT * FROM {table} WHERE id = ?", own)  # noqa: S608 - one of the tables above
        if row is None:
            archived = self._find_archived(table, own)
            if archived is None:
                return None
            # the archive keeps no verification: its reason has what stood there
            beside = {"user_id": archived["project_id"], "verification_reason": archived["archive_reason"]}
            return {"is_archived": True, **self._build_state(table, {**json.loads(archived["content"]), **beside})}
        return {"is_archived": False, **self._build_state(table, dict(row))}

    def _build_state(self, table: str, row: State) -> State:
        kind, sets_confidence, deletes = ALMA_WAYS[table]
        method, reason = row.get("verification_method"), str(row.get("verification_reason"))
        ours = reason.removeprefix(f"{KEY}: ") if reason.startswith(f"{KEY}: ") else ""
        fixed = {"content": self._NO_TEXT}
        state: State = {"scores": scores_said(ours), "content": self._content(kind, row), "fixed": fixed}
        if method not in (None, "", "none") and not ours:
            state["fixed"]["scores"] = "ALMA verified it itself"
        if sets_confidence:
            state["confidence"] = row.get("confidence")
        if not deletes:
            state["fixed"]["is_archived"] = "ALMA has no call that deletes a preference"
            state["user"] = row.get("user_id")
        return state

    @staticmethod
    def _content(kind: str, row: State) -> str | None:
        if kind == "heuristic" and row.get("condition"):
            return f"When: {row['condition']}\nDo: {row['strategy']}"
        # an anti-pattern, of which an import makes several lines, has none of these
        return row.get({"heuristic": "strategy", "domain_knowledge": "fact"}.get(kind, "preference"))

    def write(self, memory_id: str, before: State, after: State) -> None:
        """What differs, by ALMA's calls."""
        _, table, own = memory_id.split(":", 2)
        kind, sets_confidence, deletes = ALMA_WAYS[table]
        if after["is_archived"] and not before["is_archived"]:
            reason = _reason(after.get("scores"))
            if not self._is_archived_so(table, own, reason):  # it is where a push was killed before it deleted
                self._storage.archive_memory(own, kind, reason, 0.0)
            getattr(self._storage, str(deletes))(own)
            return
        if before["is_archived"] and not after["is_archived"]:
            self._bring_back(table, own)
            self._verify(table, own, after.get("scores"))
        if sets_confidence and after.get("confidence") != before.get("confidence"):
            getattr(self._storage, sets_confidence)(own, after["confidence"])
        if after.get("scores") != before.get("scores"):
            self._verify(table, own, after.get("scores"))

    def _verify(self, table: str, own: str, scores: State | None) -> None:
        said: tuple[Any, ...] = (None,) * 4
        if scores:
            status = ALMA_STATUS.get(scores.get("verdict", ""), "uncertain")
            said = status, "confidence", scores.get("confidence", 0.0), _reason(scores)
        self._storage.update_memory_verification(table, own, *said)

    def _bring_back(self, table: str, own: str) -> None:
        """Under its own id: ALMA's `restore_from_archive` would make another memory of it."""
        row = self._find_archived(table, own)
        if row is None:
            message = "it is not in ALMA's archive any more"
            raise ChangedError(message)
        kept = self._storage.get_archive(row["id"])
        born = kept.original_created_at
        said = {**json.loads(kept.content), "id": own, "project_id": kept.project_id, "agent": kept.agent}
        said |= {"metadata": kept.metadata, "embedding": kept.embedding}
        if table == "heuristics":
            self._storage.save_heuristic(self._types.Heuristic(**said, last_validated=born, created_at=born))
        elif table == "domain_knowledge":
            self._storage.save_domain_knowledge(self._types.DomainKnowledge(**said, last_verified=born))
        else:
            self._storage.save_anti_pattern(self._types.AntiPattern(**said, last_seen=born, created_at=born))

    def _is_archived_so(self, table: str, own: str, reason: str) -> bool:
        kept, row = self._find_archived(table, own), first_row(self._path, f"SELECT * FROM {table} WHERE id = ?", own)  # noqa: S608
        if not kept or not row or (kept["archive_reason"], kept["metadata"]) != (reason, row["metadata"] or "{}"):
            return False
        return all(row[name] == value for name, value in json.loads(kept["content"]).items())

    def _find_archived(self, table: str, own: str) -> sqlite3.Row | None:
        query = "SELECT * FROM memory_archive WHERE original_id = ? AND memory_type = ? ORDER BY archived_at DESC"
        return first_row(self._path, query, own, ALMA_WAYS[table][0])


def _reason(scores: State | None) -> str:
    return f"{KEY}: {scores_text(scores) or 'push'}"


class Mem0:
    """mem0: scores in the metadata; what is archived has expired, and can be found by those who ask for expired."""

    def __init__(self, path: str, config: str) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        memory = importlib.import_module("mem0").Memory
        self._memory: Any = memory.from_config(json.loads(Path(config).read_text(encoding="utf-8")))
        history = Path(self._memory.config.history_db_path).expanduser().resolve()
        if history != Path(path).resolve():
            message = f"{config} is of another store: its history is {history}"
            raise ValueError(message)

    def state(self, memory_id: str) -> State | None:
        """What mem0 itself says of a memory."""
        found = self._memory.get(memory_id.split(":", 1)[1])
        if not found:
            return None
        expires = found.get("expiration_date")
        return {
            "is_archived": bool(expires) and str(expires)[:10] < date.today().isoformat(),  # noqa: DTZ011 - as mem0 does
            "expires": expires,
            "scores": scores_said((found.get("metadata") or {}).get(KEY)),
            "content": found.get("memory"),
            "user": found.get("user_id"),
        }

    def write(self, memory_id: str, before: State, after: State) -> None:
        """What differs, in one call: mem0 embeds a new text itself."""
        said: State = {}
        if after.get("scores") != before.get("scores"):
            said["metadata"] = {KEY: scores_text(after["scores"]) if after.get("scores") else None}
        if after["expires"] != before["expires"]:
            said["expiration_date"] = after["expires"]
        if after["content"] != before["content"]:
            said["text"] = after["content"]
        self._memory.update(memory_id.split(":", 1)[1], **said)


class Astrocyte:
    """Astrocyte: scores in the metadata; what is archived is forgotten, which keeps its row and its vector."""

    _NO_VECTOR = "its new text needs a vector that only your embedding model makes: retain it in Astrocyte"

    def __init__(self, path: str, _config: str) -> None:
        self._store: Any = importlib.import_module("astrocyte_sqlite").SqliteStore(path=path)
        self._path = path

    def state(self, memory_id: str) -> State | None:
        """What its row says, live or forgotten."""
        row = self._row(memory_id)
        if row is None:
            return None
        item = self._store._row_to_item(row)  # noqa: SLF001 - the list of the library lacks what is forgotten
        banks = {row["bank_id"], row["bank_id"].removesuffix("::obs")}
        is_held = any(asyncio.run(self._store.list_legal_holds(bank)) for bank in banks)
        state: State = {
            "is_archived": row["forgotten_at"] is not None,
            "scores": scores_said((item.metadata or {}).get(KEY)),
            "content": row["text"],
            "fixed": {"content": self._NO_VECTOR},
        }
        return {**state, "closed": "its bank is on legal hold in Astrocyte"} if is_held else state

    def write(self, memory_id: str, before: State, after: State) -> None:
        """Forget it, or store it again as it was, with its scores."""
        row = self._row(memory_id)
        if row is None:
            return
        if after["is_archived"] and not before["is_archived"]:
            asyncio.run(self._store.delete([row["id"]], row["bank_id"]))
            return
        item = self._store._row_to_item(row)  # noqa: SLF001
        kept = {name: value for name, value in (item.metadata or {}).items() if name != KEY}
        scores = {KEY: scores_text(after["scores"])} if after.get("scores") else {}
        said = {**kept, **scores} or None
        asyncio.run(self._store.store_vectors([replace(item, metadata=said, chunk_id=row["chunk_id"])]))

    def _row(self, memory_id: str) -> sqlite3.Row | None:
        """Rows are keyed by id alone; a bank, or an id, may hold a colon."""
        asyncio.run(self._store.list_legal_holds(""))  # the library looks after the schema first
        query = "SELECT * FROM astrocyte_vectors WHERE bank_id || ':' || id = ?"
        return first_row(self._path, query, memory_id.split(":", 1)[1])


class LangGraph:
    """LangGraph's store: scores in the value; what is archived moves to a namespace that no search of the old finds."""

    _ARCHIVE = "slowwave-archived"
    _NAMES = ("content", "text", "memory", "value")
    _VECTOR = "its new text needs a vector that only your embedding model makes: put it by your own agent"

    def __init__(self, path: str, _config: str) -> None:
        self._put: Any = importlib.import_module("langgraph.store.base").PutOp
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._store: Any = importlib.import_module("langgraph.store.sqlite").SqliteStore(self._connection)
        self._store.setup()
        # a row that is written anew must not take its vectors with it
        self._connection.execute("PRAGMA foreign_keys = OFF")

    def state(self, memory_id: str) -> State | None:
        """What its item says, where it was, or in the archive."""
        for is_archived in (False, True):
            found = self._find_item(memory_id, is_archived=is_archived)
            if found is not None:
                value = found.value
                name = self._text_name(value)
                state: State = {
                    "is_archived": is_archived,
                    "scores": scores_said(value.get(KEY)),
                    "content": value[name] if name else None,
                }
                if not name or self._has_vectors(memory_id):
                    state["fixed"] = {"content": self._VECTOR if name else "its item has no text of its own"}
                return state
        return None

    def write(self, memory_id: str, before: State, after: State) -> None:
        """Put it anew, in one transaction with the deletion of where it was."""
        found = self._find_item(memory_id, is_archived=before["is_archived"])
        if found is None:
            return
        value = {name: said for name, said in found.value.items() if name != KEY}
        if after.get("scores"):
            value[KEY] = scores_text(after["scores"])
        name = self._text_name(value)
        if name and after["content"] != before["content"]:
            value[name] = after["content"]
        query = "SELECT ttl_minutes FROM store WHERE prefix = ? AND key = ?"
        (ttl,) = self._connection.execute(query, (".".join(found.namespace), found.key)).fetchone()
        plain = found.namespace[1:] if before["is_archived"] else found.namespace
        namespace = (self._ARCHIVE, *plain) if after["is_archived"] else plain
        puts = [self._put(namespace, found.key, value, index=False, ttl=ttl)]
        if namespace != found.namespace:
            puts.append(self._put(found.namespace, found.key, None))
        self._store.batch(puts)

    def _find_item(self, memory_id: str, *, is_archived: bool) -> Any:  # noqa: ANN401 - an item of LangGraph's
        """A namespace holds no slash for sure only by what is in the table."""
        said = memory_id.split(":", 1)[1]
        for at in [at for at, letter in enumerate(said) if letter == "/"]:
            prefix, key = said[:at], said[at + 1 :]
            namespace = tuple(prefix.split(".")) if prefix else ()
            item = self._store.get((self._ARCHIVE, *namespace) if is_archived else namespace, key, refresh_ttl=False)
            if item is not None:
                return item
        return None

    def _text_name(self, value: State) -> str | None:
        return next((name for name in self._NAMES if isinstance(value.get(name), str) and value[name].strip()), None)

    def _has_vectors(self, memory_id: str) -> bool:
        if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'store_vectors'").fetchone():
            return False
        said = memory_id.split(":", 1)[1]
        query = "SELECT 1 FROM store_vectors WHERE prefix || '/' || key = ?"
        return self._connection.execute(query, (said,)).fetchone() is not None


STORES = {"alma": Alma, "mem0": Mem0, "astrocyte": Astrocyte, "langgraph": LangGraph}


def answer(store: Any, asked: State) -> State:  # noqa: ANN401 - one of the classes above
    """The answer to one line."""
    try:
        if "ids" in asked:
            states = {memory_id: store.state(memory_id) for memory_id in asked["ids"]}
            return {"states": {memory_id: state for memory_id, state in states.items() if state is not None}}
        return _write_memory(store, asked["id"], asked["before"], asked["after"])
    except ChangedError as error:
        return {"changed": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a library raises is told to who asked
        return {"error": describe_error(error)}


def _write_memory(store: Any, memory_id: str, before: State, after: State) -> State:  # noqa: ANN401
    now = store.state(memory_id)
    if now is None:
        return {"changed": "it is no longer in the store"}
    if now != before:
        differing = sorted(name for name in {**now, **before} if now.get(name) != before.get(name))
        return {"changed": f"its {differing[0].replace('is_', '')} changed since it was looked at"}
    store.write(memory_id, before, after)
    return {"state": store.state(memory_id)}


def describe_error(error: Exception) -> str:
    """An error in words."""
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return "it is locked by another program: push again when that program rests"
    return f"{type(error).__name__}: {error}"


def main() -> None:
    """Open the store, and answer lines until there are none. What libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    name, path, config = sys.argv[1:4]
    package, tried = TRIED[name]

    def tell(answered: State) -> None:
        out.write(json.dumps(answered) + "\n")
        out.flush()

    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        tell({"missing": package})
        return
    if not version.startswith(tried):
        tell({"untried": f"{package} {version}", "tried": ", ".join(f"{one}x" for one in tried)})
        return
    try:
        store = STORES[name](path, config)
    except Exception as error:  # noqa: BLE001 - as above
        tell({"error": describe_error(error)})
        return
    tell({"version": f"{package} {version}"})
    for line in sys.stdin:
        tell(answer(store, json.loads(line)))


if __name__ == "__main__":
    main()
