"""Deliveries that an import wrote: what was refused there is refused here, and their unknown fields are no news."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from small_home import SmallHome

from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.quarantine import refused_rows

ASKED = {"interaction_id": "i-1", "created_at": "2026-05-01T09:00:00Z", "prompt": "Go.", "provenance": {"v": 1}}
REFUSED = {"_refused": "a prompt without a time", "_raw": "{'uuid': 'u-1'}"}


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    (made.folder / "inbox").mkdir(parents=True)
    return made


def text(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def named(rows: list[dict[str, Any]]) -> str:
    return f"import-claude-code-{hashlib.sha256(text(rows)).hexdigest()}.jsonl.zst"


def landed(home: SmallHome, rows: list[dict[str, Any]], name: str = "", *, beside: bool = False) -> dict[str, Any]:
    """What landing says of a delivery, in the inbox or `beside` it."""
    folder = home.folder.parent if beside else home.folder / "inbox"
    path = folder / (name or named(rows))
    path.write_bytes(zstandard.ZstdCompressor().compress(text(rows)) if path.suffix == ".zst" else text(rows))
    done = home.ask("land", *([str(path)] if beside else []), "--format", "json")
    return json.loads(done.stdout) | {"said": done.stderr}


def quarantined(home: SmallHome) -> pl.DataFrame:
    return refused_rows(Lake(Path(home.settings.lake)))[0]


def test_what_an_import_refused_is_in_the_quarantine_with_its_reason(home: SmallHome) -> None:
    said = landed(home, [ASKED, REFUSED, ASKED | {"interaction_id": "i-2", "prompt": " "}])
    assert (said["totals"]["accepted"], said["totals"]["quarantined"]) == (1, 2)
    assert quarantined(home)["reason"].sort().to_list()[0] == "a prompt without a time"
    again = landed(home, [REFUSED])
    assert again["totals"]["quarantined"] == 1


def test_its_unknown_fields_are_kept_without_a_word(home: SmallHome) -> None:
    said = landed(home, [ASKED | {"git_branch": "main", "model": "m"}] * 30)
    assert "git_branch" not in said["said"] + json.dumps(said["totals"])
    assert said.get("unknown_fields", []) in ([], {})
    done = home.ask("sql", "SELECT extra FROM interactions_log", "--format", "json")
    (row,) = json.loads(done.stdout)
    assert json.loads(row["extra"]) == {"git_branch": "main", "model": "m", "provenance": {"v": 1}}


@pytest.mark.parametrize(
    ("name", "beside"),
    [("log.jsonl", False), ("import-x-0.jsonl.zst", False), ("", True)],
)
def test_anywhere_else_such_a_line_is_as_any_other(home: SmallHome, name: str, beside: bool) -> None:
    said = landed(home, [REFUSED, ASKED], name, beside=beside)
    assert said["totals"]["quarantined"] == 1
    assert "a prompt without a time" not in quarantined(home)["reason"].to_list()


@pytest.mark.parametrize("reason", ["x" * 5000, None, 7, {"a": [1]}, ["x"], "'; DROP TABLE quarantine; --", "\x1b[2J"])
def test_whatever_such_a_line_says_it_is_no_more_than_a_reason(home: SmallHome, reason: object) -> None:
    said = landed(home, [{"_refused": reason, "prompt": "Go.", "created_at": "2026-05-01"}, ASKED])
    assert (said["totals"]["accepted"], said["totals"]["quarantined"]) == (1, 1)
    (held,) = quarantined(home)["reason"].to_list()
    assert len(held) <= 500


def test_tried_again_it_is_refused_again(home: SmallHome) -> None:
    landed(home, [ASKED, REFUSED])
    done = home.ask("land", "--retry-quarantine", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert quarantined(home)["reason"].to_list() == ["a prompt without a time"]


def test_a_declared_mapping_is_not_for_it(home: SmallHome) -> None:
    (home.folder / "mappings").mkdir()
    (home.folder / "mappings" / "all.toml").write_text(
        'version = 2\nmatch = "*.zst"\n\n[fields]\nprompt = "question"\ncreated_at = "created_at"\n'
    )
    assert landed(home, [ASKED])["totals"]["accepted"] == 1
