"""A store that ALMA's own library writes: what is imported is what the library reads, before and after it changes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome

alma = pytest.importorskip("alma.types", reason="alma-memory is not installed")
sqlite_local = pytest.importorskip("alma.storage.sqlite_local")

BEGAN = datetime(2026, 3, 1, 8, tzinfo=UTC)


def at(hours: int) -> datetime:
    return BEGAN + timedelta(hours=hours, microseconds=hours)


def filled(path: Path) -> Any:
    store = sqlite_local.SQLiteStorage(db_path=path, embedding_dim=4)
    for n in range(1, 13):
        own = ("coder", "shop")
        store.save_heuristic(
            alma.Heuristic(f"h{n}", *own, f"case {n}", f"way {n}", n / 20, n, n // 2, at(n + 1), at(n), None, {"n": n})
        )
        store.save_domain_knowledge(alma.DomainKnowledge(f"k{n}", *own, "till", f"fact {n} ☃", "docs", n / 20, at(n)))
        store.save_user_preference(alma.UserPreference(f"p{n}", "ann", "tone", f"wish {n}", "explicit", 0.9, at(n)))
        store.save_anti_pattern(alma.AntiPattern(f"a{n}", *own, f"bad {n}", f"why {n}", "", n, at(n + 1), at(n)))
        store.save_outcome(
            alma.Outcome(f"o{n}", *own, "testing", f"task {n}", n % 3 > 0, f"way {n}", n, None, None, at(n))
        )
    return store


def read_by_alma(store: Any) -> dict[str, tuple[str, float | None]]:
    """Text and confidence of every memory in use."""
    found = {
        f"heuristics:{one.id}": (f"When: {one.condition}\nDo: {one.strategy}", one.confidence)
        for one in store.get_heuristics("shop", top_k=100)
    }
    found |= {
        f"domain_knowledge:{one.id}": (one.fact, one.confidence)
        for one in store.get_domain_knowledge("shop", top_k=100)
    }
    found |= {f"preferences:{one.id}": (one.preference, one.confidence) for one in store.get_user_preferences("ann")}
    found |= {
        f"anti_patterns:{one.id}": (f"Don't: {one.pattern}\nWhy: {one.why_bad}", None)
        for one in store.get_anti_patterns("shop", top_k=100)
    }
    return {f"alma:{own}": value for own, value in found.items()}


def landed(home: SmallHome) -> dict[str, dict[str, Any]]:
    """Each memory as its changes leave it."""
    done = home.ask("sql", "FROM memories_log ORDER BY memory_id, changed_at", "--format", "json")
    last: dict[str, dict[str, Any]] = {}
    for row in json.loads(done.stdout):
        last.setdefault(row["memory_id"], {}).update({name: held for name, held in row.items() if held is not None})
    return last


def in_use(home: SmallHome) -> dict[str, tuple[str, float | None]]:
    return {
        memory_id: (row["content"], row.get("confidence"))
        for memory_id, row in landed(home).items()
        if row["status"] == "active"
    }


def test_what_is_imported_is_what_alma_reads(tmp_path: Path):
    home, path = SmallHome(tmp_path / "home"), tmp_path / "alma.db"
    store = filled(path)
    assert home.ask("import", "alma", str(path)).returncode == 0
    assert in_use(home) == read_by_alma(store)
    outcomes = home.ask("sql", "SELECT outcome_id, created_at, success, basis FROM outcomes", "--format", "json")
    assert {
        (one["outcome_id"], one["created_at"], one["success"], one["basis"]) for one in json.loads(outcomes.stdout)
    } == {
        (f"alma:{one.id}", one.timestamp.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), one.success, "reported")
        for one in store.get_outcomes("shop", top_k=100)
    }

    store.update_heuristic_confidence("h1", 0.42)
    store.increment_heuristic_occurrence("h2", success=True)
    store.archive_memory("k1", "domain_knowledge", "decay", 0.05)
    store.archive_memory("k2", "domain_knowledge", "decay", 0.05)  # and left in its table
    store.delete_domain_knowledge("k1")
    store.delete_anti_pattern("a1")
    restored = store.restore_from_archive(store.list_archives("shop", memory_type="domain_knowledge")[-1].id)
    done = home.ask("import", "alma", str(path), "--format", "json")
    assert json.loads(done.stdout)["import"]["rows"] == {"memory": 5}
    assert in_use(home) == read_by_alma(store)
    found = landed(home)
    assert f"alma:domain_knowledge:{restored}" in found
    assert found["alma:domain_knowledge:k1"]["reason"] == "archived by ALMA: decay"
    assert found["alma:anti_patterns:a1"]["reason"] == "it is no longer in the store"
