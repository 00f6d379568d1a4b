"""Stores that their own libraries make, read and change, and a home that has imported one and published."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome, interaction, outcome

BEGAN = datetime(2026, 1, 1, 8, tzinfo=UTC)
TEXT = "Indent with tabs in every single file."
OTHER = "Deploy by hand on late Fridays."
Read = dict[str, dict[str, Any]]


def of_alma(path: Path) -> Any:
    return pytest.importorskip("alma.storage.sqlite_local").SQLiteStorage(db_path=path, embedding_dim=4)


def make_alma(path: Path) -> None:
    types, store = pytest.importorskip("alma.types"), of_alma(path)
    store.save_domain_knowledge(types.DomainKnowledge("k1", "dev", "shop", "style", TEXT, "docs", 0.6, BEGAN))
    store.save_heuristic(
        types.Heuristic("h1", "dev", "shop", "", OTHER, 0.5, 4, 2, BEGAN, BEGAN, None, {"from": "review"})
    )
    store.save_anti_pattern(types.AntiPattern("a1", "dev", "shop", "Guess", "it breaks", "ask", 1, BEGAN, BEGAN))
    store.save_user_preference(types.UserPreference("p1", "ann", "tone", "Be brief and kind.", "explicit", 0.9, BEGAN))


def read_alma(path: Path) -> Read:
    store, found = of_alma(path), {}
    for kind, held in {
        "domain_knowledge": store.get_domain_knowledge("shop", top_k=99),
        "heuristics": store.get_heuristics("shop", top_k=99),
        "anti_patterns": store.get_anti_patterns("shop", top_k=99),
        "preferences": store.get_user_preferences("ann"),
    }.items():
        with closing(sqlite3.connect(path)) as connection:
            said = dict(connection.execute(f"SELECT id, verification_reason FROM {kind}").fetchall())  # noqa: S608
        for one in held:
            found[f"alma:{kind}:{one.id}"] = {"confidence": getattr(one, "confidence", None), "said": said[one.id]}
    return found


def change_alma(path: Path) -> None:
    of_alma(path).update_knowledge_confidence("k1", 0.11)


def of_astrocyte(path: Path) -> Any:
    return pytest.importorskip("astrocyte_sqlite").SqliteStore(path=str(path))


def make_astrocyte(path: Path) -> None:
    item = pytest.importorskip("astrocyte.types").VectorItem
    asyncio.run(
        of_astrocyte(path).store_vectors(
            [
                item(id="m:1", bank_id="shop", vector=[0.1, 0.2], text=TEXT, metadata={"a": 1}, retained_at=BEGAN),
                item(id="m2", bank_id="shop", vector=[0.3, 0.2], text=OTHER, metadata=None, retained_at=BEGAN),
            ]
        )
    )


def read_astrocyte(path: Path) -> Read:
    return {
        f"astrocyte:{one.bank_id}:{one.id}": {
            "said": (one.metadata or {}).get("slowwave"),
            "rest": {name: value for name, value in (one.metadata or {}).items() if name != "slowwave"},
            "vector": list(one.vector),
            "retained_at": one.retained_at,
        }
        for one in asyncio.run(of_astrocyte(path).list_vectors("shop"))
    }


def change_astrocyte(path: Path) -> None:
    store = of_astrocyte(path)
    one = next(each for each in asyncio.run(store.list_vectors("shop")) if each.id == "m:1")
    one.text += " Always."
    asyncio.run(store.store_vectors([one]))


def of_langgraph(path: Path) -> Any:
    sqlite_store = pytest.importorskip("langgraph.store.sqlite").SqliteStore
    store = sqlite_store(sqlite3.connect(path, check_same_thread=False, isolation_level=None))
    store.setup()
    return store


def make_langgraph(path: Path) -> None:
    store = of_langgraph(path)
    store.put(("memories", "u1"), "k/1", {"kind": "Memory", "content": {"content": TEXT}})
    store.put(("memories", "u1"), "k2", {"content": OTHER, "n": 1}, ttl=600)
    store.conn.execute("UPDATE store SET created_at = '2026-01-01 08:00:00', updated_at = '2026-01-01 08:00:00'")
    store.conn.close()


def read_langgraph(path: Path) -> Read:
    store = of_langgraph(path)
    found = {
        f"langgraph:{'.'.join(one.namespace)}/{one.key}": {
            "said": one.value.get("slowwave"),
            "rest": {name: value for name, value in one.value.items() if name != "slowwave"},
        }
        for one in store.search(("memories",), limit=99)
    }
    store.conn.close()
    return found


def change_langgraph(path: Path) -> None:
    store = of_langgraph(path)
    store.put(("memories", "u1"), "k/1", {"kind": "Memory", "content": {"content": f"{TEXT} Always."}})
    store.conn.close()


@dataclass(frozen=True)
class Made:
    """A kind of store: how its library makes, reads and changes it; the memory that is used, and another."""

    name: str
    make: Callable[[Path], None]
    read: Callable[[Path], Read]
    change: Callable[[Path], None]
    used: str
    other: str


ALMA = Made("alma", make_alma, read_alma, change_alma, "alma:domain_knowledge:k1", "alma:heuristics:h1")
ASTROCYTE = Made(
    "astrocyte", make_astrocyte, read_astrocyte, change_astrocyte, "astrocyte:shop:m:1", "astrocyte:shop:m2"
)
LANGGRAPH = Made(
    "langgraph",
    make_langgraph,
    read_langgraph,
    change_langgraph,
    "langgraph:memories.u1/k/1",
    "langgraph:memories.u1/k2",
)
LIBRARIES = (ALMA, ASTROCYTE, LANGGRAPH)


def pushed(home: SmallHome, made: Made, path: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.ask("push", made.name, str(path), "--format", "json", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)[0]


def newly_landed(home: SmallHome, made: Made, path: Path) -> int:
    done = home.ask("import", made.name, str(path), "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["landing"]["totals"]["accepted"]


def published(home: SmallHome, made: Made, path: Path) -> None:
    made.make(path)
    assert newly_landed(home, made, path) > 1
    rows = []
    for at in range(24):
        told = {"response": TEXT, "memories_used": [made.used]} if at % 2 else {}
        day = f"2026-03-{at + 1:02}T"
        rows.append(interaction(f"i{at}", project="shop", session_id=f"s{at}", created_at=f"{day}09:00:00Z", **told))
        success = bool(at % 2) or at < 3
        rows.append(outcome(f"o{at}", interaction_id=f"i{at}", created_at=f"{day}10:00:00Z", success=success))
    home.land(*rows)
    home.nightly()
