"""Transcripts of Claude Code and pi imported and landed: the same rows however often, in whatever order and packing."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import zstandard
from claude_code_records import Session, moment
from each import each
from imports_run import aged, imported, landed
from pi_entries import PiSession

from slowwave.flows.imports.record_readers import repair_line
from slowwave.flows.kernel.settings import Settings
from slowwave.transforms.imports.claude_code import ClaudeCode
from slowwave.transforms.landing.tables import Interactions, Outcomes

# Put together here, so that no file holds what looks like a key.
KEY = "sk-" + "ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
Capture = pytest.CaptureFixture[str]


def write(path: Path, records: Sequence[dict[str, Any]], more: str = "") -> Path:
    """A transcript that nobody has written to for two hours; packed as its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = ("".join(f"{json.dumps(one)}\n" for one in records) + more).encode()
    if path.suffix == ".zst":
        raw = zstandard.ZstdCompressor().compress(raw)
    elif path.suffix == ".gz":
        raw = gzip.compress(raw)
    path.write_bytes(raw)
    return aged(path)


def asked(session: str = "s-1") -> Session:
    """A session with two turns, of which the first is tested."""
    made = Session(session)
    made.user(f"Make {session} faster.")
    made.call(f"{session}-c", command="pytest -q")
    made.result(f"{session}-c", "3 passed in 0.12s", result={"stdout": "3 passed in 0.12s", "stderr": ""})
    made.say("It is faster.", stop="end_turn")
    made.over()
    made.turn(f"And {session} smaller?", "Smaller too.")
    return made


def forked(session: Session, name: str, keep: int | None = None) -> Session:
    """A copy under another session, which goes on."""
    fork = Session(name)
    fork.records = [record | {"sessionId": name} for record in session.records[:keep]]
    fork.last, fork.second = fork.records[-1]["uuid"], session.second + 100
    fork.turn(f"Another way in {name}?", "There is one.")
    return fork


def versions(home: Path) -> list[tuple[Any, ...]]:
    """All versions of all rows as they lie in the lake."""
    found = [(row["interaction_id"], row["recorded_at"], row["row_hash"]) for row in landed(home, Interactions)]
    return found + [(row["outcome_id"], row["recorded_at"], row["row_hash"]) for row in landed(home, Outcomes)]


def sessions_of(home: Path) -> dict[str, str]:
    """The session of each interaction, of its last version."""
    return {row["prompt"]: row["session_id"] for row in landed(home, Interactions)}


# ------------------------------------------------------------------------------------------------------------- again


def test_imported_again_nothing_is_new(tmp_path: Path, capsys: Capture) -> None:
    home, folder = tmp_path / "home", tmp_path / "projects"
    write(folder / "-work-shop" / "s-1.jsonl", asked().records)
    write(folder / "-work-shop" / "s-2.jsonl", asked("s-2").records)
    first = imported(home, "claude-code", folder, capsys=capsys)
    assert first["import"]["rows"] == {"interaction": 4, "outcome": 2}
    assert first["landing"]["totals"]["accepted"] == 6
    rows = versions(home)
    assert len(rows) == 6

    again = imported(home, "claude-code", folder, capsys=capsys)
    assert (again["import"]["units"], again["import"]["unchanged"], again["exit"]) == (0, 2, 0)
    shutil.rmtree(Path(Settings(home).lake) / "imports")
    anew = imported(home, "claude-code", folder, capsys=capsys)
    assert (anew["import"]["units"], anew["landing"]["totals"]["accepted"]) == (2, 0)
    assert versions(home) == rows


def test_the_same_transcript_packed_or_elsewhere_is_the_same(tmp_path: Path, capsys: Capture) -> None:
    home = tmp_path / "home"
    imported(home, "claude-code", write(tmp_path / "a" / "s-1.jsonl", asked().records), capsys=capsys)
    rows = versions(home)
    for name in ("s-1.jsonl.zst", "s-1.jsonl.gz", "copy of s-1.jsonl"):
        said = imported(home, "claude-code", write(tmp_path / "b" / name, asked().records), capsys=capsys)
        assert (said["import"]["units"], said["landing"]["totals"]["accepted"]) == (1, 0)
    assert versions(home) == rows


@pytest.mark.parametrize("half", range(1, 8))
def test_half_a_transcript_and_then_all_of_it_says_what_all_of_it_says(
    half: int, tmp_path: Path, capsys: Capture
) -> None:
    path, records = tmp_path / "s-1.jsonl", asked().records
    imported(tmp_path / "home", "claude-code", write(path, records[:half]), capsys=capsys)
    before = {row["interaction_id"]: row for row in landed(tmp_path / "home", Interactions)}
    imported(tmp_path / "home", "claude-code", write(path, records), capsys=capsys)
    imported(tmp_path / "whole", "claude-code", path, capsys=capsys)
    now, whole = ({row["interaction_id"]: row for row in landed(home, Interactions)} for home in (
        tmp_path / "home", tmp_path / "whole",
    ))  # fmt: skip
    assert now == whole
    assert all(before[key]["recorded_at"] <= now[key]["recorded_at"] for key in before)
    assert before.keys() <= now.keys()


def test_half_a_line_is_left_while_it_is_written_and_refused_once_nobody_writes_on(
    tmp_path: Path, capsys: Capture
) -> None:
    home, path = tmp_path / "home", tmp_path / "s-1.jsonl"
    records = asked().records
    write(path, records, more=json.dumps(records[1])[:60])
    aged(path, 1.0)
    said = imported(home, "claude-code", path, capsys=capsys)
    assert said["import"]["left_out"]["a last line that was still being written"]["count"] == 1
    assert (said["import"]["rows"]["interaction"], said["import"]["refused"]) == (2, {})
    aged(path)
    said = imported(home, "claude-code", path, capsys=capsys)
    assert sum(said["import"]["refused"].values()) == said["landing"]["totals"]["quarantined"] == 1
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    assert imported(home, "claude-code", aged(path), capsys=capsys)["landing"]["totals"]["accepted"] == 0


# ------------------------------------------------------------------------------------------------------------- forks


@pytest.mark.parametrize("order", list(permutations(["s-1", "s-2", "s-3"])))
@pytest.mark.parametrize("is_together", [True, False])
def test_a_fork_lands_no_second_interaction_and_the_first_session_counts(
    order: tuple[str, ...], is_together: bool, tmp_path: Path, capsys: Capture
) -> None:
    first = asked()
    second = forked(first, "s-2")
    third = forked(second, "s-3", keep=-2)
    made = {"s-1": first, "s-2": second, "s-3": third}
    home = tmp_path / "home"
    paths = [write(tmp_path / f"{at}-{name}.jsonl", made[name].records) for at, name in enumerate(order)]
    for path in [paths] if is_together else [[path] for path in paths]:
        imported(home, "claude-code", *path, capsys=capsys)
    added = {f"Another way in {name}?": name for name in ("s-2", "s-3")}
    assert sessions_of(home) == {"Make s-1 faster.": "s-1", "And s-1 smaller?": "s-1"} | added
    assert len({row["interaction_id"] for row in landed(home, Interactions)}) == 4
    rows = versions(home)
    shutil.rmtree(Path(Settings(home).lake) / "imports")
    imported(home, "claude-code", *paths, capsys=capsys)
    won = {row["interaction_id"]: row["session_id"] for row in landed(home, Interactions)}
    assert set(won.values()) == {"s-1", "s-2", "s-3"}
    assert sessions_of(home)["Make s-1 faster."] == "s-1"
    if is_together:
        assert versions(home) == rows


def test_a_fork_that_says_what_it_was_copied_from_has_no_ids_of_its_own_there(tmp_path: Path, capsys: Capture) -> None:
    first, home = asked(), tmp_path / "home"
    fork = Session("s-2")
    anew = {record["uuid"]: f"new-{record['uuid']}" for record in first.records}
    for record in first.records:
        of = {"forkedFrom": {"sessionId": "s-1", "messageUuid": record["uuid"]}, "sessionId": "s-2"}
        parent = record["parentUuid"]
        fork.records.append(record | of | {"uuid": anew[record["uuid"]], "parentUuid": parent and anew[parent]})
    fork.last, fork.second = fork.records[-1]["uuid"], 500
    fork.records[-1] |= {"timestamp": moment(500)}  # as the last record gets the time of the fork
    fork.turn("Another way?", "There is one.")
    imported(home, "claude-code", write(tmp_path / "fork.jsonl", fork.records), capsys=capsys)
    imported(home, "claude-code", write(tmp_path / "first.jsonl", first.records), capsys=capsys)
    assert sessions_of(home) == {"Make s-1 faster.": "s-1", "And s-1 smaller?": "s-1", "Another way?": "s-2"}
    minutes = {row["prompt"]: row["recorded_at"].minute for row in landed(home, Interactions)}
    assert minutes == {"Make s-1 faster.": 0, "And s-1 smaller?": 0, "Another way?": 8}
    assert len({row["interaction_id"] for row in landed(home, Interactions)}) == 3


def test_a_fork_of_pi_lands_no_second_interaction(tmp_path: Path, capsys: Capture) -> None:
    name = "0190aaaa-0000-7000-8000-000000000001"
    first = PiSession(name)
    first.turn("First.", "Done.")
    fork = PiSession("0190bbbb-0000-7000-8000-000000000002", begun=600, parentSession=f"/x/2026-05-03_{name}.jsonl")
    fork.records += first.records[1:]
    fork.last = first.last
    fork.turn("Another way.", "Done.")
    for order in ("fork first", "first fork"):
        home = tmp_path / order
        for which in order.split():
            records = {"first": first, "fork": fork}[which].records
            imported(home, "pi", write(tmp_path / f"{which}.jsonl", records), capsys=capsys)
        assert sessions_of(home) == {"First.": name, "Another way.": "0190bbbb-0000-7000-8000-000000000002"}
        assert len({row["interaction_id"] for row in landed(home, Interactions)}) == 2


# ------------------------------------------------------------------------------------------------- what never lands


def test_no_secret_reaches_the_inbox_the_lake_or_the_quarantine(tmp_path: Path, capsys: Capture) -> None:
    session = Session()
    session.user(f"use {KEY} for it")
    session.call("c-1", command=f"curl -H 'x-api-key: {KEY}' https://ann:hunter22@example.org")
    session.result("c-1", f"Exit code 22\n{KEY}", is_error=True)
    session.say(f"{KEY} does not work, password=hunter22", stop="end_turn")
    session.add("user", message={"role": "user", "content": f"without a time {KEY}"}, timestamp=KEY)
    session.raw(type="user", **{KEY: KEY})
    home = tmp_path / "home"
    path = write(tmp_path / "s-1.jsonl", session.records, more=f'{{"uuid": "{KEY}", "text": "{KEY}\n')
    said = imported(home, "claude-code", path, capsys=capsys)
    assert said["landing"]["totals"] == said["landing"]["totals"] | {"accepted": 1, "quarantined": 3}
    assert said["import"]["secrets"]["anthropic"] >= 4
    assert KEY not in json.dumps(said)
    for file in (one for one in home.rglob("*") if one.is_file()):
        raw = file.read_bytes()
        if file.suffix == ".zst":
            raw += zstandard.ZstdDecompressor().stream_reader(raw).read()
        assert KEY.encode() not in raw, file
    kept = json.dumps([*landed(home, Interactions), *landed(home, Outcomes)], default=str)
    assert KEY not in kept
    assert "hunter22" not in kept
    done = imported(home, "claude-code", path, capsys=capsys)
    assert done["exit"] == 0


def test_results_of_tools_thoughts_and_pictures_never_land(tmp_path: Path, capsys: Capture) -> None:
    session = Session()
    session.user([{"type": "text", "text": "Look."}, {"type": "image", "source": {"data": "PICTURE" * 1000}}])
    session.say({"type": "thinking", "thinking": "THOUGHT", "signature": "x"}, "I look.")
    session.call("c-1", "Read", file_path="/home/ann/shop/a.py")
    session.result("c-1", "RESULT", result={"file": {"content": "RESULT"}})
    session.say("Looked.", stop="end_turn")
    home = tmp_path / "home"
    imported(home, "claude-code", write(tmp_path / "s-1.jsonl", session.records), capsys=capsys)
    kept = json.dumps([*landed(home, Interactions), *landed(home, Outcomes)], default=str)
    assert "Looked." in kept
    assert not [word for word in ("PICTURE", "THOUGHT", "RESULT", "/home/ann", str(tmp_path)) if word in kept]


# -------------------------------------------------------------------------------------------------- what is beside


def test_a_subagents_own_file_is_told_by_what_stands_beside_it(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "projects" / "-work-shop"
    agent = Session("s-1", isSidechain=True, agentId="a1")
    agent.turn("Find the queue.", "In queue.py.")
    write(folder / "s-1" / "subagents" / "agent-a1.jsonl", agent.records)
    (folder / "s-1" / "subagents" / "agent-a1.meta.json").write_text('{"agentType": "Explore", "description": "x"}')
    main = Session("s-1-main")
    main.shared["sessionId"] = "s-1"
    main.turn("Where is the queue?", "In queue.py.")
    write(folder / "s-1.jsonl", main.records)
    home = tmp_path / "home"
    imported(home, "claude-code", folder, capsys=capsys)
    found = {row["prompt"]: (row["agent"], row["session_id"]) for row in landed(home, Interactions)}
    assert found == {"Find the queue.": ("Explore", "s-1"), "Where is the queue?": ("claude-code", "s-1")}


def test_files_of_other_programs_are_named_and_left_and_the_rest_is_imported(tmp_path: Path, capsys: Capture) -> None:
    folder, home = tmp_path / "logs", tmp_path / "home"
    write(folder / "a.jsonl", [{"note": "a list of somebody's"}])
    write(folder / "b.jsonl", asked().records)
    write(folder / "c.jsonl", PiSession("s-9").records)
    write(folder / "empty.jsonl", [])
    (folder / "noise.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"noise" * 20)
    (folder / "notes.md").write_text("# Notes\n")
    said = imported(home, "claude-code", folder, capsys=capsys)
    assert said["exit"] == 1
    assert [one.partition(" ")[0] for one in said["import"]["not_imported"]] == [str(folder / "noise.jsonl.zst")]
    assert said["import"]["rows"] == {"interaction": 2, "outcome": 1}
    why = {Path(one["name"]).name: one["why"] for one in said["import"]["other_files"]}
    assert why.keys() == {"a.jsonl", "c.jsonl", "empty.jsonl"}
    assert why["a.jsonl"] == "is none of the transcripts of Claude Code"
    assert why["c.jsonl"] == "was written by pi or OpenClaw (format 3)"
    named = imported(home, "claude-code", folder / "c.jsonl", capsys=capsys)
    assert named["exit"] == 1
    assert "was written by pi or OpenClaw" in named["said"]


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE x; --", "\x00 \x1b[31m", "<script>alert(1)</script>", "../../etc/passwd"]
)
def test_hostile_text_lands_as_text(text: str, tmp_path: Path, capsys: Capture) -> None:
    session = Session(cwd=f"/srv/{text}", version=text)
    session.turn(f"say {text} now", f"said {text}")
    session.records[0] |= {"gitBranch": text, "promptId": text, text: text}
    home = tmp_path / "home"
    said = imported(home, "claude-code", write(tmp_path / "s-1.jsonl", session.records), capsys=capsys)
    assert said["exit"] == 0
    (row,) = landed(home, Interactions)
    assert text.strip("\x00") in row["prompt"].replace("\ufffd", "\x00") or "\x00" in text
    assert not list(tmp_path.glob("**/passwd*"))


def test_a_packed_transcript_that_ends_early_is_imported_up_to_there_and_said(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path / "s-1.jsonl.gz", [*asked().records, *asked("s-2").records])
    path.write_bytes(path.read_bytes()[:-40])
    aged(path)
    home = tmp_path / "home"
    said = imported(home, "claude-code", path, capsys=capsys)
    assert said["exit"] == 1
    assert "up to where it breaks off" in said["said"]
    assert said["import"]["rows"].get("interaction", 0) >= 1
    assert imported(home, "claude-code", path, capsys=capsys)["import"]["unchanged"] == 0


def test_lines_that_are_no_json_as_they_stand_are_read_where_they_can_be(tmp_path, capsys):
    session = Session()
    session.turn("Say hello \ud83d.", "Hello \\ud83d, with \U0001f600.")
    lines = [json.dumps(record) for record in session.records]
    path = tmp_path / "s-1.jsonl"
    spliced = lines[-1][:120] + json.dumps(session.records[-1] | {"uuid": "other", "type": "user", "message": "?"})
    path.write_bytes(b"\0" * 40 + "\n".join([*lines[:-1], lines[-1] + lines[-1], spliced]).encode())
    found = imported(tmp_path / "home", "claude-code", aged(path), capsys=capsys)
    (row,) = landed(tmp_path / "home", Interactions)
    assert (row["prompt"], row["response"]) == ("Say hello \ufffd.", "Hello \\ud83d, with \U0001f600.")
    assert found["import"]["repaired"] == {
        "half a character (of a surrogate pair) became U+FFFD": 1,
        "a run of NUL bytes was left out": 1,
        "records on one line were read one by one": 2,
    }
    assert found["import"]["refused"] == {"the record is cut off, and another one follows": 1}


@each("cut", range(1, 200, 7))
def test_of_a_record_that_is_cut_off_nothing_is_read(cut):
    session = Session()
    session.say({"type": "text", "text": "a"}, {"type": "tool_use", "id": "c", "input": {"a": {"b": 1}}})
    line = json.dumps(session.records[-1]).encode()
    assert repair_line(line[:-cut]).records == []


def test_what_a_later_version_reads_wins_also_where_a_turn_ends_sooner(tmp_path, capsys, monkeypatch):
    session = Session()
    session.user("Add the endpoint.")
    session.say("Done.")
    session.say("And this is of another turn.", stop="end_turn")
    path = tmp_path / "s-1.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in session.records))
    imported(tmp_path / "home", "claude-code", aged(path), capsys=capsys)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in session.records[:-1]))
    monkeypatch.setattr(ClaudeCode, "version", ClaudeCode.version + 1)
    for accepted in (1, 0):
        found = imported(tmp_path / "home", "claude-code", aged(path), capsys=capsys)
        assert found["landing"]["totals"]["accepted"] == accepted
    before, after = landed(tmp_path / "home", Interactions)
    assert before["response"].endswith("another turn.")
    assert after["response"] == "Done."
    assert after["recorded_at"] - before["recorded_at"] == timedelta(microseconds=1)
