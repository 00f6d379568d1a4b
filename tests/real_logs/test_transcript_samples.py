"""Transcripts that Claude Code and pi wrote, imported, and again: the rows are what the files say."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from imports_run import aged, imported, landed

from slowwave.transforms.landing.tables import Interactions, Outcomes

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "client_logs"
FOLDERS = {"claude-code": "claude_code", "pi": "pi_openclaw"}
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SAMPLES.exists(), reason=f"{SAMPLES} is not there"),
]
Record = dict[str, Any]
Capture = pytest.CaptureFixture[str]


def records(name: str) -> list[list[Record]]:
    """The records of each file of a sample, in order."""
    return [
        [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        for path in sorted((SAMPLES / FOLDERS[name]).glob("*.jsonl"))
    ]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """A copy of the samples, long quiet: the last turn of a file that was written an hour ago may still be going on."""
    copied = Path(shutil.copytree(SAMPLES, tmp_path / "samples", copy_function=shutil.copyfile))
    for path in copied.rglob("*.jsonl"):
        aged(path)
    return copied


@pytest.fixture
def home(tmp_path: Path, samples: Path, capsys: Capture) -> Path:
    counts = {"claude-code": {"interaction": 11, "outcome": 4}, "pi": {"interaction": 2, "outcome": 1}}
    for name, expected in counts.items():
        told = imported(tmp_path / "home", name, samples / FOLDERS[name], capsys=capsys)
        assert told["import"]["rows"] == expected
        assert told["import"]["refused"] == {}
        assert told["landing"]["totals"]["accepted"] == sum(expected.values())
    return tmp_path / "home"


def test_copied_and_imported_again_nothing_is_new(home: Path, tmp_path: Path, capsys: Capture) -> None:
    for name, folder in FOLDERS.items():
        shutil.copytree(SAMPLES / folder, tmp_path / "copied" / folder)
        told = imported(home, name, tmp_path / "copied", capsys=capsys)
        assert told["landing"]["totals"]["accepted"] == 0
    assert (len(landed(home, Interactions)), len(landed(home, Outcomes))) == (13, 5)


def test_what_is_no_transcript_is_named_and_left(tmp_path: Path, capsys: Capture) -> None:
    told = imported(tmp_path / "home", "claude-code", SAMPLES / FOLDERS["claude-code"], capsys=capsys)
    assert [Path(one["name"]).name for one in told["import"]["other_files"]] == ["sample_hook_logs.jsonl"]


def test_turns_of_claude_code_are_what_the_files_say(home: Path) -> None:
    rows = {row["interaction_id"]: row for row in landed(home, Interactions)}
    checked = 0
    for file in records("claude-code"):
        main = [one for one in file if one.get("type") in ("user", "assistant") and not one.get("isSidechain")]
        begins = [at for at, one in enumerate(main) if f"claude-code:{one['uuid']}" in rows]
        for begin, end in zip(begins, [*begins[1:], len(main)], strict=False):
            row, turn = rows[f"claude-code:{main[begin]['uuid']}"], main[begin:end]
            asked = main[begin]["message"]["content"]
            assert row["prompt"] in (asked if isinstance(asked, str) else asked[0]["text"])
            answers = [one["message"] for one in turn if one["type"] == "assistant"]
            spent = {one["id"]: one["usage"] for one in answers}
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            assert row["tokens"] == sum(usage[name] for usage in spent.values() for name in names)
            said = [block["text"] for one in answers for block in one["content"] if block["type"] == "text"]
            assert "\n\n".join(text.strip("\n") for text in said if text.strip()) == (row["response"] or "")
            results = [block for one in turn if one["type"] == "user" for block in one["message"]["content"]]
            printed = [block["content"] for block in results if isinstance(block, dict) and "content" in block]
            assert not [text for text in printed if isinstance(text, str) and len(text) > 80 and text in str(row)]
            assert row["session_id"] == main[begin]["sessionId"]
            checked += 1
    assert checked == 10


def test_turns_of_pi_are_what_the_file_says(home: Path) -> None:
    ((header, *entries),) = records("pi")
    rows = [row for row in landed(home, Interactions) if row["interaction_id"].startswith("pi:")]
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    asked = [message for message in messages if message["role"] == "user"]
    assert {row["session_id"] for row in rows} == {header["id"]}
    assert sorted(row["prompt"] for row in rows) == sorted(message["content"][0]["text"].strip() for message in asked)
    usage = [message.get("usage", {}) for message in messages if message["role"] == "assistant"]
    spent = sum(one.get(name, 0) for one in usage for name in ("input", "output", "cacheRead", "cacheWrite"))
    assert sum(row["tokens"] or 0 for row in rows) == spent
