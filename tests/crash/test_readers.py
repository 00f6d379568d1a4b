"""Readers in other processes, that hold a connection or open current anew, while publish follows publish."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import crash_home
import crash_publishes
import pytest
from thorough import examples


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, crash_publishes.__file__, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, errors = process.communicate(timeout=3000)
    assert process.returncode == 0, errors
    return json.loads(out)


def _watch(home: Path, publishes: int, every: int = 1) -> None:
    crash_home.prepare_plain(home)
    readers = {role: _start(role, home) for role in crash_publishes.READERS}
    writer = _start("write", home, publishes, every)
    try:
        written = _result(writer)
    finally:
        (home / "stop").touch()
        results = {role: _result(reader) for role, reader in readers.items()}
    assert written["runs"] == publishes + 1, "prune removed what ceased to be current a moment ago"
    for role, seen in results.items():
        assert seen["reads"] > publishes // every, role
        instants = [as_of for _, as_of in seen["shown"]]
        assert instants == sorted(instants), f"{role} went back to an older run"
        least = 1 if role in crash_publishes.HOLDING else publishes // every + 1
        assert least <= len(instants) <= (least if every == 1 or least == 1 else publishes + 1), role
    shutil.rmtree(home / "serving")


@pytest.mark.thorough  # as below, of which continuous integration does more; tests/laws/test_audits.py has a reader too
def test_readers_see_one_run_each_time(tmp_path: Path):
    _watch(tmp_path, 4)


@pytest.mark.slow
def test_readers_see_one_run_each_time_through_many_publishes(tmp_path: Path):
    _watch(tmp_path, examples(8, 100))


@pytest.mark.thorough
def test_a_thousand_publishes_beside_readers(tmp_path: Path):
    _watch(tmp_path, 1_000, every=20)
