"""Log lines as JSON: what a real command writes to standard error, and what stays as it was."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_home import SmallHome, interaction

from slowwave.flows.kernel.log_lines import JsonLines


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    monkeypatch.setenv("SLOWWAVE_LOG", "json")
    return SmallHome(tmp_path / "home")


def test_a_command_writes_objects_to_standard_error_and_its_result_as_ever(home: SmallHome, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(interaction("i1")) + "\n")
    done = home.run("land", "log.jsonl", "missing.jsonl", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["totals"]["accepted"] == 1
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert told[-1]["message"] == "missing.jsonl: no such file, folder or match"
    assert {(one["command"], one["level"]) for one in told} == {("land", "info")}
    assert all(one["at"].endswith("Z") and one["pid"] > 0 for one in told)


def test_why_a_command_failed_is_an_error(home: SmallHome) -> None:
    for code, *arguments in ((1, "alerts", "test"), (2, "status", "--warn-hours", "9", "--error-hours", "1")):
        done = home.run(*map(str, arguments))
        told = [json.loads(line) for line in done.stderr.splitlines()]
        assert (done.returncode, {one["level"] for one in told}) == (code, {"error"})


def test_text_is_cut_into_lines_however_it_is_written() -> None:
    written = io.StringIO()
    lines = JsonLines(written, "nightly")
    for text in ("slowwave: o", "ne\ntwo\n\n", 'three "quoted" \x1b', ""):
        lines.write(text)
    assert len(written.getvalue().splitlines()) == 2
    lines.end_line()
    lines.end_line()
    told = [json.loads(line)["message"] for line in written.getvalue().splitlines()]
    assert told == ["one", "two", 'three "quoted" \x1b']


def test_a_stack_trace_is_objects_too() -> None:
    code = (
        "from slowwave.flows.kernel.log_lines import log_form\nwith log_form('nightly'):\n    raise ValueError('odd')"
    )
    env = {**os.environ, "SLOWWAVE_LOG": "json"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert (told[-1]["message"], {one["level"] for one in told}) == ("ValueError: odd", {"error"})
