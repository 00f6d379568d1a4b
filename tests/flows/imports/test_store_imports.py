"""`slowwave import` of stores: what lands, what a second import brings, and what is said of what is gone."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from small_home import SmallHome, interaction
from store_rows import NOON, Cells, atocore_memory, heuristic, history, knowledge, write_store

from slowwave.flows.imports import import_state as seen_file
from slowwave.transforms.imports.stores import claude_memories

TEN = [knowledge(f"k{number}") for number in range(10)]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


def imported(home: SmallHome, source: str, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = home.ask("import", source, *map(str, arguments), "--format", "json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def counts(report: dict[str, Any]) -> tuple[int, int, int]:
    """Rows that the import made, versions that are new in the lake, and rows refused."""
    landed = report["landing"]["totals"]
    return sum(report["import"]["rows"].values()), landed["accepted"], landed["quarantined"]


def log(home: SmallHome, query: str = "FROM memories_log ORDER BY memory_id, changed_at") -> list[dict[str, Any]]:
    done = home.ask("sql", query, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def statuses(home: SmallHome) -> dict[str, str]:
    last: dict[str, str] = {}
    for row in log(home):
        last[row["memory_id"]] = row["status"] or last[row["memory_id"]]
    return last


def touched(path: Path) -> Path:
    """The store, such that a cursor takes it for changed."""
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    return path


def test_a_second_import_changes_nothing(home: SmallHome, tmp_path: Path):
    stores: dict[str, dict[str, Iterable[Cells]]] = {
        "alma": {"heuristics": [heuristic("h1")], "domain_knowledge": TEN},
        "mem0": {"history": [history("m1", "ADD", "a", NOON), history("m1", "DELETE", None, "2026-03-02")]},
        "astrocyte": {
            "astrocyte_vectors": [
                {"id": "a1", "bank_id": "b", "embedding": b"\x80", "text": "a", "retained_at": 1, "changed_at": 2}
            ]
        },
        "langgraph": {
            "store": [{"prefix": "m.u", "key": "k", "value": '{"content": "x"}', "updated_at": "2026-03-01 01:02:03"}]
        },
        "atocore": {"memories": [atocore_memory("m1")]},
    }
    for kind, tables in stores.items():
        path = write_store(tmp_path / f"{kind}.db", kind, tables)
        made, accepted, refused = counts(imported(home, kind, path))
        assert made == accepted > 0
        assert refused == 0
        assert imported(home, kind, path)["import"]["unchanged"] == 1
        copy = tmp_path / "elsewhere" / f"{kind}-copy.db"
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
        for again in (touched(path), copy):
            report = imported(home, kind, again)
            assert (report["import"]["units"], *counts(report)) == (1, 0, 0, 0)


def test_successive_imports_make_the_change_log(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    imported(home, "alma", path)
    changed = [{**TEN[0], "confidence": 0.3}, *TEN[1:9], knowledge("new")]
    write_store(path, "alma", {"domain_knowledge": changed})
    assert counts(imported(home, "alma", path)) == (3, 3, 0)
    found = statuses(home)
    assert found.pop("alma:domain_knowledge:k9") == "archived"
    assert set(found.values()) == {"active"}
    later = [row for row in log(home) if row["changed_at"] > "2026-03-02"]
    assert {(row["memory_id"][-2:], row["confidence"], row["reason"]) for row in later} == {
        ("k0", 0.3, None),
        ("k9", None, "it is no longer in the store"),
    }


@pytest.mark.slow
def test_what_was_erased_is_left_out_and_not_kept_as_seen(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    imported(home, "alma", path)
    erased = home.run("lake", "erase", "--memory", "alma:domain_knowledge:k3", "--yes")
    assert erased.returncode == 0, erased.stderr
    for _ in range(2):
        report = imported(home, "alma", touched(path))
        assert (report["import"]["left_out"]["erased here by `slowwave lake erase`"]["count"], *counts(report)) == (
            1,
            0,
            0,
            0,
        )
        (seen,) = (home.folder / "lake" / "imports").glob("*.seen.zst")
        told = zstandard.decompress(seen.read_bytes())
        assert b"domain_knowledge:k4" in told
        assert b"domain_knowledge:k3" not in told


def test_of_many_that_are_gone_none_is_archived_without_a_word(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    imported(home, "alma", path)
    write_store(path, "alma", {"domain_knowledge": [*TEN[5:], knowledge("new")]})
    for new in (1, 0):  # what is new lands; what is gone is said each time
        report = imported(home, "alma", path, code=1)
        assert counts(report) == (new, new, 0)
        (said,) = report["import"]["not_imported"]
        assert said.startswith(
            f"{path} 5 of its 10 memories are gone at once" if new else f"{path} 5 of its 11 memories"
        )
    assert set(statuses(home).values()) == {"active"}
    assert counts(imported(home, "alma", path, "--accept-vanished")) == (5, 5, 0)
    assert sorted(statuses(home).values()) == ["active"] * 6 + ["archived"] * 5


def test_two_stores_do_not_archive_each_others_memories(home: SmallHome, tmp_path: Path):
    first = write_store(tmp_path / "first.db", "alma", {"domain_knowledge": TEN})
    second = write_store(tmp_path / "second.db", "alma", {"domain_knowledge": [knowledge(f"s{n}") for n in range(10)]})
    imported(home, "alma", first)
    imported(home, "alma", second)
    assert counts(imported(home, "alma", touched(first), touched(second))) == (0, 0, 0)
    assert set(statuses(home).values()) == {"active"}


def test_a_store_that_was_moved_is_the_same_store(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    imported(home, "alma", path)
    moved = path.rename(tmp_path / "moved.db")
    assert counts(imported(home, "alma", moved)) == (0, 0, 0)
    write_store(moved, "alma", {"domain_knowledge": TEN[1:]})
    assert counts(imported(home, "alma", moved)) == (1, 1, 0)
    assert statuses(home)["alma:domain_knowledge:k0"] == "archived"


def test_what_a_person_changed_here_is_not_undone_by_a_change_of_something_else(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]})
    imported(home, "alma", path)
    home.land(
        {"memory_id": "alma:heuristics:h1", "changed_at": "2026-03-03", "status": "archived", "changed_by": "person"}
    )
    write_store(path, "alma", {"heuristics": [heuristic("h1", occurrence_count=9, last_validated="2026-03-09")]})
    assert counts(imported(home, "alma", path)) == (1, 1, 0)
    assert statuses(home) == {"alma:heuristics:h1": "archived"}


def test_a_rehearsal_leaves_nothing(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    home.land({"memory_id": "m", "changed_at": "2026-03-01", "content": "x"})
    imported(home, "alma", write_store(tmp_path / "other.db", "alma", {"domain_knowledge": [knowledge("other")]}))
    before = home.contents()
    assert sum(imported(home, "alma", path, "--dry-run")["import"]["rows"].values()) == 10
    assert home.contents() == before
    assert counts(imported(home, "alma", path)) == (10, 10, 0)


def test_secrets_and_homes_stay_out_and_odd_rows_are_refused(home: SmallHome, tmp_path: Path):
    rows = [
        knowledge("k1", fact=f"push with {SECRET}"),
        knowledge("k2", fact="it lies in " + "/home" + "/ann/shop", project_id="/home" + "/ann/shop"),
        knowledge("k3", fact=b"\xff\xfe" * 10),
        knowledge("k4", confidence=7),
        knowledge("k5", fact="x" * 3_000_000),
        knowledge("k6", fact="nul \0 inside"),
    ]
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": rows})
    report = imported(home, "alma", path)
    assert counts(report) == (5, 4, 2)
    assert report["import"]["secrets"] == {"github": 1}
    found = {row["memory_id"][-2:]: row for row in log(home)}
    assert found["k1"]["content"] == "push with [secret:github]"
    assert (found["k2"]["content"], found["k2"]["project"]) == ("it lies in ~/shop", "~/shop")
    assert len(found["k5"]["content"]) == 3_000_000
    assert found["k6"]["content"] == "nul \0 inside"
    everything = b"".join(file.read_bytes() for file in home.folder.rglob("*") if file.is_file())
    assert SECRET.encode() not in everything


def test_files_that_are_no_such_store_are_named(home: SmallHome, tmp_path: Path):
    folder = tmp_path / "stores"
    folder.mkdir()
    write_store(folder / "alma.db", "alma", {"domain_knowledge": TEN})
    write_store(folder / "history.db", "mem0", {"history": []})
    (folder / "notes.db").write_text("no database")
    with closing(sqlite3.connect(folder / "storage.sqlite")) as store, store:
        store.execute("CREATE TABLE points (id TEXT, point BLOB)")
    report = imported(home, "alma", folder)
    assert counts(report)[1] == 10
    others = {Path(one["name"]).name: one["why"] for one in report["import"]["other_files"]}
    assert others["history.db"] == "is a store of mem0 (the history of mem0ai 0.1 to 2.2)"
    assert others["notes.db"] == "is no SQLite database"
    assert others["storage.sqlite"].startswith("is a vector store of Qdrant's, whose points are pickled objects")
    (refused,) = imported(home, "alma", folder / "storage.sqlite", code=1)["import"]["not_imported"]
    assert "never read" in refused
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as store, store:
        store.execute("CREATE TABLE heuristics (id TEXT, agent TEXT)")
    (refused,) = imported(home, "alma", old, code=1)["import"]["not_imported"]
    assert refused.endswith(
        "is no store of ALMA (alma-memory 0.7 to 0.11): it has no column project_id in its table heuristics"
    )


def test_a_store_is_read_whole(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    done = home.ask("import", "alma", str(path), "--since", "2026-01-01")
    assert (done.returncode, "are read whole" in done.stderr) == (2, True)
    done = home.ask("import", "pi", str(tmp_path), "--accept-vanished")
    assert (done.returncode, "--accept-vanished is for stores" in done.stderr) == (2, True)


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("at", ["before the delivery", "after the delivery"])
def test_killed_at_any_moment_nothing_is_lost_or_told_twice(
    at: str, home: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    imported(home, "alma", path)
    write_store(path, "alma", {"domain_knowledge": [{**TEN[0], "confidence": 0.3}, *TEN[1:9]]})
    expect = seen_file.SeenFile.expect

    def die(*arguments: Any) -> None:
        if at == "before the delivery":
            expect(*arguments)
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr(seen_file.SeenFile, "expect" if at == "before the delivery" else "settle", die)
        with pytest.raises(_Killed):
            imported(home, "alma", path)
    report = imported(home, "alma", path)
    made = 2 if at == "before the delivery" else 0
    assert (counts(report)[0], counts(report)[1]) == (made, 2)
    assert len(log(home)) == 12
    assert counts(imported(home, "alma", touched(path))) == (0, 0, 0)


def test_what_was_told_and_is_damaged_is_named(home: SmallHome, tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": TEN})
    imported(home, "alma", path)
    (home.folder / "lake" / "imports" / "alma.seen.zst").write_bytes(b"\0\1\2")
    done = home.ask("import", "alma", str(path))
    assert done.returncode == 1
    assert "alma.seen.zst is damaged" in done.stderr


# ------------------------------------------------------------------------------------------------- Claude Code's files


def claude_folder(folder: Path) -> Path:
    memory = folder / "projects" / "-srv-work-shop" / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [Rounding](rounding.md) — prices\n")
    for name in ("rounding", "till", "opening", "closing", "stock", "tax"):
        (memory / f"{name}.md").write_text(f"---\nname: {name}\nmetadata:\n  type: project\n---\nMind {name}.\n")
    (memory.parent / "s1.jsonl").write_text('{"type": "summary"}\n{"type": "user", "cwd": "/srv/work/shop"}\n')
    (folder / "CLAUDE.md").write_text("# Tone\nNo emojis.\n")
    return memory


def test_memory_files_and_instructions(home: SmallHome, tmp_path: Path):
    memory = claude_folder(tmp_path / "config")
    assert counts(imported(home, "claude-memory", tmp_path / "config")) == (8, 8, 0)
    found = {row["memory_id"]: row for row in log(home)}
    rounding = found["claude-memory:-srv-work-shop/rounding"]
    assert (rounding["project"], rounding["memory_type"], rounding["content"]) == ("shop", "project", "Mind rounding.")
    (tone,) = (row for memory_id, row in found.items() if memory_id.endswith("CLAUDE.md#tone"))
    (emojis,) = (row for row in found.values() if row["parent_id"])
    assert (emojis["parent_id"], emojis["category"], emojis["status"]) == (tone["memory_id"], "Tone", "active")
    assert (emojis["scope"], emojis["content"]) == ("global", "No emojis.")
    assert imported(home, "claude-memory", tmp_path / "config")["import"]["unchanged"] == 1
    (memory / "till.md").write_text("---\nname: till\n---\nThe till is new.\n")
    (memory / "tax.md").unlink()
    assert counts(imported(home, "claude-memory", tmp_path / "config")) == (2, 2, 0)
    assert statuses(home)["claude-memory:-srv-work-shop/tax"] == "archived"


def test_instructions_of_a_project_and_links_that_lead_away(home: SmallHome, tmp_path: Path):
    shop = tmp_path / "shop"
    (shop / ".claude" / "rules").mkdir(parents=True)
    (shop / "AGENTS.md").write_text("# Build\nWith make.\n")
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")  # one file, which is read once
    (tmp_path / "till").mkdir()
    (tmp_path / "till" / "AGENTS.md").write_text("# Build\nBy hand.\n")
    (shop / ".claude" / "rules" / "style.md").write_text("Short lines.\n")
    (tmp_path / "elsewhere.md").write_text("Not ours.\n")
    (shop / "CLAUDE.local.md").symlink_to(tmp_path / "elsewhere.md")
    assert counts(imported(home, "claude-memory", shop)) == (4, 4, 0)
    assert {row["project"] for row in log(home)} == {"shop"}
    assert {row["content"] for row in log(home)} == {"With make.", "Short lines."}
    assert counts(imported(home, "claude-memory", tmp_path / "till")) == (2, 2, 0)
    (refused,) = imported(home, "claude-memory", tmp_path / "shop" / ".claude" / "rules", code=1)["import"][
        "not_imported"
    ]
    assert refused.endswith("has neither memory files nor CLAUDE.md")


def test_a_file_that_cannot_be_read_archives_nothing(home: SmallHome, tmp_path: Path):
    memory = claude_folder(tmp_path / "config")
    imported(home, "claude-memory", tmp_path / "config")
    (memory / "tax.md").write_bytes(b"x" * (17 * 2**20))
    (memory / "till.md").unlink()
    (said,) = imported(home, "claude-memory", tmp_path / "config", code=1)["import"]["not_imported"]
    assert "tax.md cannot be: it has 17,825,792 bytes, which no memory file has" in said
    assert {memory_id for memory_id, status in statuses(home).items() if status != "active"} == {
        one for one in statuses(home) if one.endswith("#tone")
    }


SECTION = "- Answer in British English.\n- Use tabs.\n"


def test_a_home_with_sections_as_memories_goes_on_with_their_rules(
    home: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As it was imported until now, published, then imported again: nothing is lost, and nothing counts twice."""
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "CLAUDE.md").write_text(f"# Style\n{SECTION}\n# Old\n- Say please.\n")
    os.utime(shop / "CLAUDE.md", (1.77e9, 1.77e9))
    with monkeypatch.context() as before:
        before.setattr(claude_memories, "split_rules", lambda _text: [])
        assert counts(imported(home, "claude-memory", shop)) == (2, 2, 0)
    style, old = (next(row for row in log(home) if row["memory_id"].endswith(name)) for name in ("#style", "#old"))
    home.land(
        interaction(
            "i1",
            project="shop",
            created_at="2026-04-01T09:00:00Z",
            response="As you wish: - Say please.",
            memories_used=[style["memory_id"], old["memory_id"]],
        )
    )
    home.nightly()
    assert home.ask("memory", "archive", old["memory_id"], "--yes").returncode == 0
    imports = Path(home.settings.lake) / "imports"
    seen = imports / "claude-memory.seen.zst"
    state = json.loads(zstandard.decompress(seen.read_bytes()))
    seen.write_bytes(zstandard.compress(json.dumps(state | {"version": 1}).encode()))
    (imports / "claude-memory.json").unlink()

    assert counts(imported(home, "claude-memory", shop)) == (5, 5, 0)
    home.land(interaction("i2", project="shop", created_at="2027-01-01T09:00:00Z", response="Fine."))
    home.nightly(datetime(2027, 1, 2))  # noqa: DTZ001 - times are naive and hold UTC
    now = {row["memory_id"]: row for row in log(home, "FROM memories_now")}
    rules = {row["content"]: row for row in now.values() if row["parent_id"]}
    assert {text: (row["parent_id"], row["status"]) for text, row in rules.items()} == {
        "Answer in British English.": (style["memory_id"], "active"),
        "Use tabs.": (style["memory_id"], "active"),
        "Say please.": (old["memory_id"], "archived"),  # what a person took out of use stays so
    }
    ended = now[style["memory_id"]]
    assert (ended["status"], ended["content"]) == ("archived", SECTION.strip())
    assert rules["Use tabs."]["created_at"] == ended["ended_at"], "they begin where it ends"
    assert imported(home, "claude-memory", shop)["import"]["unchanged"] == 1

    health = {row["memory_id"]: row for row in log(home, "FROM memory_health")}
    assert (health[style["memory_id"]]["eligible_count"], health[style["memory_id"]]["injected_count"]) == (1, 1)
    assert health[old["memory_id"]]["echoed_count"] == 1, "its history stays with it"
    assert {health[row["memory_id"]]["eligible_count"] for row in rules.values()} == {0, 1}
    shown = home.ask("memory", "show", rules["Use tabs."]["memory_id"])
    assert f"part of {style['memory_id']}" in " ".join(shown.stdout.split()), shown.stdout


def test_what_a_store_counted_and_its_documents_are_published_beside_our_counts(
    home: SmallHome, tmp_path: Path
) -> None:
    memory = atocore_memory("m1", reference_count=7, last_referenced_at="2026-03-01 10:00:00", project="shop")
    chunk = {"id": "c1", "document_id": "d1", "content": "We open at nine."}
    asked = {"id": "i1", "prompt": "When?", "chunks_used": '["c1"]', "created_at": "2026-03-02 09:00:00"}
    tables = {
        "memories": [memory], "source_documents": [{"id": "d1", "title": "Hours"}], "source_chunks": [chunk],
        "projects": [{"id": "p1"}, {"id": "p2"}], "interactions": [asked],
    }  # fmt: skip
    report = imported(home, "atocore", write_store(tmp_path / "a.db", "atocore", tables))
    assert report["import"]["left_out"]["a row of the table projects, which is not read"]["count"] == 2
    home.nightly(datetime(2026, 4, 1))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    health = "SELECT reference_count, stated_references, stated_last_referenced_at AS at FROM memory_health"
    (row,) = json.loads(home.ask("sql", health, "--format", "json").stdout)
    assert row == {"reference_count": 0, "stated_references": 7, "at": "2026-03-01T10:00:00Z"}
    (used,) = json.loads(home.ask("sql", "SELECT chunk_id, document_id FROM chunk_use", "--format", "json").stdout)
    assert used == {"chunk_id": "d1#c1", "document_id": "d1"}
    said = " ".join(home.ask("why", "atocore:m1", "--all").stdout.split())
    assert "the store it comes from counted 7 references, the last on 2026-03-01" in said
