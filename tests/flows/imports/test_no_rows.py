"""An import that makes no row: it says what it read, why nothing came of it, and what to do; and it fails."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from claude_code_records import Session
from codex_rollouts import legacy_turn, meta
from imports_run import aged, imported
from otlp_documents import chat, span, traces

from slowwave.flows.imports.connected_sources import import_connected
from slowwave.flows.imports.connections import Connection, connect
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.imports.codex import CodexAdapter
from slowwave.transforms.imports.delivery_lines import OTHER_KINDS, Tally, kinds_of_records

ROLLOUT = [meta(0, "019fa149-0000-7000-8000-000000000001", "0.153.1"), *legacy_turn(1, "", "Which port?", "5432.")]


def write_lines(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in records))
    return aged(path)


@pytest.fixture
def silent(tmp_path: Path) -> Path:
    """A transcript in which nobody asked anything."""
    session = Session()
    session.raw(type="file-history-snapshot", messageId="m-1", snapshot={})
    session.raw(type="summary", summary="Of another session", leafUuid="u-9", sessionId="s-1", version="2.1.38")
    return write_lines(tmp_path / "logs" / "s-1.jsonl", *session.records)


def test_an_import_without_rows_fails_and_says_why_each_time(
    tmp_path: Path, silent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        told = imported(tmp_path / "home", "claude-code", silent, capsys=capsys)
        assert told["exit"] == 1
        assert told["import"]["records"] == {"file-history-snapshot": 1, "summary": 1}
        assert (
            "no row came of 2 records of transcripts of Claude Code: 1 × a record of the client's own" in told["said"]
        )
        assert "`slowwave import claude-code ~/.claude/projects`" in told["said"]


def test_calls_without_text_say_what_to_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.jsonl", traces(span(1, chat())))
    told = imported(tmp_path / "home", "otlp", path, dry_run=True, capsys=capsys)
    assert told["exit"] == 1
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in told["said"]
    assert "`slowwave import otlp FOLDER`" in told["said"]


def test_what_was_asked_for_or_has_landed_is_no_failure(
    tmp_path: Path, silent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session()
    session.turn("Make it faster.", "It is faster.")
    path = write_lines(tmp_path / "other" / "s-2.jsonl", *session.records)
    home = tmp_path / "home"
    assert imported(home, "claude-code", path, since="2030-01-01", capsys=capsys)["exit"] == 0
    assert imported(home, "claude-code", path, capsys=capsys)["exit"] == 0
    both = imported(home, "claude-code", path, silent, capsys=capsys)
    assert (both["exit"], both["import"]["unchanged"], both["import"]["rows"]) == (0, 1, {})


def test_files_of_another_program_are_named_with_the_command_that_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_lines(tmp_path / "rollouts" / "rollout-1.jsonl", *ROLLOUT)
    for named in (path, path.parent):
        told = imported(tmp_path / "home", "claude-code", named, capsys=capsys)
        assert told["exit"] == 1
        assert f"`slowwave import codex {named}`" in told["said"]
    row = write_lines(tmp_path / "rows.jsonl", {"prompt": "Which port?", "created_at": "2026-01-01"})
    assert f"`slowwave land {row}`" in imported(tmp_path / "home", "claude-code", row, capsys=capsys)["said"]


def test_a_dry_run_keeps_no_bytes_and_says_so_of_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.jsonl", traces(span(1, chat("Which port?", "5432."), trace="no id")))
    said = {dry: imported(tmp_path / "home", "otlp", path, dry_run=dry, capsys=capsys)["said"] for dry in (True, False)}
    assert all("traceId" in one for one in said.values())
    assert "kept" not in said[True]


def test_a_connected_source_without_rows_is_a_warning_every_night(tmp_path: Path, silent: Path) -> None:
    settings = Settings(tmp_path / "home")
    connect(settings, [Connection("claude-code", str(silent.parent))])
    for _ in range(2):
        night = import_connected(settings, Lake(settings.lake_folder), lambda *_: None, lambda: None)
        (warning,) = night.warnings
        assert "no row came of 2 records" in warning


def test_every_record_is_counted_by_its_kind_and_kinds_without_end_together() -> None:
    tally = Tally()
    for record in ROLLOUT:
        tally.count_record(kinds_of_records(CodexAdapter())(record))
    assert tally.records["event_msg user_message"] == 1
    assert tally.records.total() == len(ROLLOUT)
    for number in range(1_000):
        tally.count_record(str(number))
    assert len(tally.records) <= 101
    assert tally.records[OTHER_KINDS] > 800
    twice = Tally()
    twice.add(tally)
    twice.add(tally)
    assert twice.records.total() == 2 * tally.records.total()
