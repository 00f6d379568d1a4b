"""Real runs of the runners that are installed: where something is said of the tests, it is true."""

from __future__ import annotations

from pathlib import Path

import pytest
from inferred_tests import call_of, inferred_of, is_installed
from real_runs import RealRun, real_runs

RUNS = real_runs()
SILENT = {
    ("pytest", "pass, quiet twice"),
    ("pytest", "mixed, only its head is seen"),
    ("pytest", "killed by a signal"),
    ("pytest", "interrupted"),
    ("pytest", "the last of two passes"),
    ("pytest", "a wrong option"),
    ("unittest", "pass, only its last line is seen"),
    ("unittest", "aborted"),
    ("go", "mixed, failures filtered out"),
    ("cargo", "mixed, failures filtered out"),
    ("cargo", "pass, only the last part is seen"),
    ("rspec", "mixed, piped and masked"),
    ("rspec", "aborted"),
    ("rspec", "quits"),
    ("exunit", "halts"),
}


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS, ids=[f"{run.runner}, {run.name}" for run in RUNS])
def test_what_is_said_of_real_tests_is_true(run: RealRun, tmp_path: Path) -> None:
    if not is_installed(run.runner, None):
        pytest.skip(f"{run.runner} is not installed")
    folder = tmp_path / "project"
    folder.mkdir()
    said = inferred_of(call_of(run, folder, None))
    assert said is (None if (run.runner, run.name) in SILENT else run.truth)
