"""Folders of Codex imported and landed: the same rows however often, from plain, packed and archived rollouts.

The rollouts are made up after what is published of the format: no client wrote them.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from pathlib import Path
from typing import Any

import zstandard
from codex_rollouts import Paginated, Record, drawn_id, event, given, legacy_turn, meta, shell_call
from small_home import SmallHome

THREAD = drawn_id(0, 1)


def rollout() -> Paginated:
    """A thread with two turns, of which one is tested."""
    thread = Paginated(0, THREAD)
    first, second = drawn_id(10, 2), drawn_id(60, 3)
    thread.begin(10, first, "add the totals")
    thread.command(20, first, "pytest -q", "2 passed in 0.10s", 0)
    entry = {"path": "MEMORY.md", "lineStart": 1, "lineEnd": 2, "note": ""}
    thread.say(28, first, "Totals are added.", "final_answer", memory_citation={"entries": [entry], "rolloutIds": []})
    thread.complete(30, first, "Totals are added.")
    thread.begin(60, second, "use sk-ant-api03-abcdefghijklmnopqrstuvwx for it")
    thread.complete(70, second, "Done.")
    return thread


def legacy(number: int) -> list[Record]:
    """A thread of the earlier generation."""
    thread_id, turn_id = drawn_id(100 * number, 4), drawn_id(100 * number + 10, 5)
    calls = shell_call(100 * number + 20, "c1", "cargo build", "boom", 101)
    head = [meta(100 * number, thread_id, "0.147.0"), given(100 * number, "developer", "You are careful.")]
    return [*head, *legacy_turn(100 * number + 10, turn_id, f"task {number}", "Done.", *calls)]


def write(path: Path, records: list[Record], more: str = "") -> Path:
    """A rollout that nobody has written to for two hours; packed as its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = ("".join(json.dumps(one) + "\n" for one in records) + more).encode()
    if path.suffix == ".zst":
        raw = zstandard.ZstdCompressor().compress(raw)
    elif path.suffix == ".gz":
        raw = gzip.compress(raw)
    path.write_bytes(raw)
    before = time.time() - 7200
    os.utime(path, (before, before))
    return path


def imported(home: SmallHome, *arguments: str, code: int = 0) -> dict[str, Any]:
    """What an import reports."""
    done = home.ask("import", "codex", *arguments, "--format", "json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)["import"]


def asked(home: SmallHome, query: str) -> list[dict[str, Any]]:
    done = home.ask("sql", query, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


VERSIONS = (
    "SELECT 'i' AS kind, interaction_id AS id, row_hash FROM interactions_log"
    " UNION ALL SELECT 'o', outcome_id, row_hash FROM outcomes_log ORDER BY ALL"
)


def test_a_folder_lands_once_however_often_it_is_imported_and_however_its_files_lie(tmp_path: Path):
    sessions = tmp_path / "codex" / "sessions" / "2026" / "05" / "04"
    write(sessions / f"rollout-2026-05-04T10-00-00-{THREAD}.jsonl", rollout().records)
    write(sessions / "rollout-a.jsonl.zst", legacy(3))
    home = SmallHome(tmp_path / "home")
    report = imported(home, str(tmp_path / "codex"))
    assert report["rows"] == {"interaction": 3, "outcome": 2}
    assert report["producers"] == {"Codex 0.147.0": 1, "Codex 0.153.4": 1}
    assert report["secrets"] == {"anthropic": 1}
    landed = asked(home, VERSIONS)
    assert len(landed) == 5
    assert imported(home, str(tmp_path / "codex"))["units"] == 0

    archived = tmp_path / "codex" / "archived_sessions"
    write(archived / f"rollout-2026-05-04T10-00-00-{THREAD}.jsonl.zst", rollout().records)
    write(archived / "rollout-a.jsonl", legacy(3))
    write(archived / "rollout-b.jsonl.gz", legacy(3))
    assert imported(home, str(tmp_path / "codex"))["units"] == 3
    assert asked(home, VERSIONS) == landed
    other = SmallHome(tmp_path / "other")
    imported(other, str(archived))
    assert asked(other, VERSIONS) == landed


def test_what_lands_is_what_was_said(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    imported(home, str(write(tmp_path / "rollout.jsonl", rollout().records)))
    first, second = asked(
        home, "SELECT prompt, response, memories_used, memories_cited FROM interactions ORDER BY created_at"
    )
    cited = ["codex:MEMORY.md#L1-2"]
    assert first == {
        "prompt": "add the totals",
        "response": "Totals are added.",
        "memories_used": cited,
        "memories_cited": cited,
    }
    assert second["prompt"] == "use [secret:anthropic] for it"
    assert asked(home, "SELECT success, basis, basis_method FROM outcomes") == [
        {"success": True, "basis": "inferred", "basis_method": "transcript_tests/1"}
    ]


def test_a_fork_lands_no_second_time_in_any_order(tmp_path: Path):
    thread = rollout()
    fork = Paginated(500, drawn_id(500, 8), forked_from_id=THREAD)
    fork.add(*(one | {"timestamp": fork.records[0]["timestamp"]} for one in thread.records))
    own = drawn_id(520, 9)
    fork.begin(520, own, "add the means instead")
    fork.complete(530, own, "Done.")
    told = []
    for number, order in enumerate((["thread", "fork"], ["fork", "thread"])):
        home = SmallHome(tmp_path / f"home-{number}")
        for name in order:
            records = thread.records if name == "thread" else fork.records
            imported(home, str(write(tmp_path / f"{number}-{name}.jsonl", records)))
        told.append(asked(home, VERSIONS))
    assert told[0] == told[1]
    assert len([one for one in told[0] if one["kind"] == "i"]) == 3


def test_half_a_rollout_then_all_of_it_is_one_row_with_a_later_version(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    records = rollout().records
    path = tmp_path / "rollout.jsonl"
    half = next(place for place, one in enumerate(records) if one["payload"].get("type") == "task_complete")
    imported(home, str(write(path, records[:half])))
    before = asked(home, "SELECT interaction_id, recorded_at FROM interactions")
    imported(home, str(write(path, records)))
    after = asked(home, "SELECT interaction_id, recorded_at FROM interactions ORDER BY created_at")
    assert [one["interaction_id"] for one in before] == [after[0]["interaction_id"]]
    assert before[0]["recorded_at"] < after[0]["recorded_at"]


def test_lines_that_are_none_are_refused_and_the_others_land(tmp_path: Path):
    records = legacy(1)
    text = json.dumps({"timestamp": "x", "type": "event_msg", "payload": {"type": "agent_message", "message": "half"}})
    write(tmp_path / "logs" / "rollout.jsonl", records, more=f"[1]\n{text[:40]}")
    write(tmp_path / "logs" / "notes.jsonl", [{"note": "a list of somebody's"}])
    write(tmp_path / "logs" / "pi.jsonl", [{"type": "session", "id": "s", "version": 3}])
    (tmp_path / "logs" / "image.jsonl").write_bytes(random.Random(1).randbytes(300))
    home = SmallHome(tmp_path / "home")
    report = imported(home, str(tmp_path / "logs"))
    assert report["rows"] == {"interaction": 1, "outcome": 1}
    assert sum(report["refused"].values()) == 2
    assert {Path(one["name"]).name for one in report["other_files"]} == {"notes.jsonl", "pi.jsonl", "image.jsonl"}
    assert any("pi or OpenClaw" in one["why"] for one in report["other_files"])
    assert len(asked(home, "FROM interactions")) == 1


def test_hostile_text_lands_as_text(tmp_path: Path):
    prompt = "'; DROP TABLE x; -- <script>\x00 \x1b[31m ../../etc"
    home = SmallHome(tmp_path / "home")
    turn = legacy_turn(10, drawn_id(10, 5), prompt, "Done.")
    imported(home, str(write(tmp_path / "rollout.jsonl", [meta(0, THREAD, "0.147.0", cwd="../../etc"), *turn])))
    (row,) = asked(home, "SELECT prompt, project FROM interactions")
    assert row["prompt"].startswith("'; DROP TABLE x; -- <script>")


def test_an_empty_turn_and_a_thread_of_codex_itself_are_said_to_be_left_out(tmp_path: Path):
    own = Paginated(0, drawn_id(0, 7), source={"subagent": "review"})
    own.begin(10, drawn_id(10, 2), "review this")
    write(tmp_path / "logs" / "review.jsonl", own.records)
    write(
        tmp_path / "logs" / "empty.jsonl",
        [meta(0, THREAD, "0.153.4"), event(5, "task_started"), event(6, "task_complete")],
    )
    report = imported(SmallHome(tmp_path / "home"), str(tmp_path / "logs"), code=1)
    assert report["rows"] == {}
    assert {sort.partition(":")[0] for sort in report["left_out"]} == {
        "records of a thread that Codex started for itself",
        "a turn without a text of the person's",
    }
