"""Flow runs that are stopped, killed or late, as Prefect's pages show them, and what is left of them in the home."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from slowwave.flows.kernel.lock import holder, writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import Runs

pytestmark = [pytest.mark.slow, pytest.mark.prefect]  # each starts Prefect's server more than once

PATIENCE = 600  # seconds for what comes by itself, however busy the machine is
MEMORY = {"memory_id": "m1", "changed_at": "2026-03-01", "status": "active", "content": "Use tabs in every Makefile"}
INTERACTION = {"created_at": "2026-03-05", "prompt": "How?", "response": "use tabs in every makefile"}
# A night that waits for ever before it publishes, and one that was made long ago.
_WAITING = "nightly.room_to_publish = lambda *_: (print('here', flush=True), time.sleep(3600))"
_LONG_AGO = "run.utc_now = lambda: datetime(2026, 3, 6)"


def command(home: Path, *arguments: str, patch: str = "") -> subprocess.Popen[str]:
    """A command in a process of its own, which has changed our modules first."""
    code = (
        "import sys, time; from datetime import datetime; from slowwave.flows.nightly import nightly;"
        f"from slowwave.flows.publish import run; {patch or 'pass'}\n"
        "from slowwave.flows.cli.main import main; main(sys.argv[1:])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment | {"SLOWWAVE_HOME": str(home)},
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def reach_publishing(night: subprocess.Popen[str]) -> None:
    assert night.stdout
    assert night.stdout.readline() == "here\n"


def run_night(home: Path) -> None:
    night = command(home, "nightly")
    _, err = night.communicate(timeout=PATIENCE)
    assert night.returncode == 0, err


def deliver(home: Path, name: str, *rows: dict[str, Any]) -> None:
    (home / "inbox").mkdir(exist_ok=True)
    (home / "inbox" / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def ask_prefect(home: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home / "prefect" / "prefect.db")) as database:
        return database.execute(query).fetchall()


def nights(home: Path) -> list[tuple[str, str]]:
    """Status and message of the nights in the ledger."""
    rows = Lake(home / "lake").ledger(Runs).sort("run_id").to_dicts()
    return [(row["status"], row["message"] or "") for row in rows if row["kind"] == "nightly"]


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.2)


def test_a_night_stopped_by_sigterm_is_cancelled_and_the_next_one_publishes(tmp_path: Path) -> None:
    deliver(tmp_path, "a.jsonl", MEMORY, INTERACTION)
    night = command(tmp_path, "nightly", patch=_WAITING)
    reach_publishing(night)
    night.send_signal(signal.SIGTERM)
    _, err = night.communicate(timeout=PATIENCE)
    assert night.returncode == 143
    assert err.splitlines()[-1].startswith("slowwave: stopped by a signal: the next run does")
    assert "Traceback" not in err
    assert "Crash" not in err
    assert ask_prefect(tmp_path, "SELECT state_name FROM flow_run") == [("Cancelled",)]
    ((status, message),) = nights(tmp_path)
    assert (status, message.partition(":")[0]) == ("failed", "stopped by a signal")
    assert holder(Settings(tmp_path)) is None
    assert not list((tmp_path / "serving").rglob("*.duckdb*"))
    run_night(tmp_path)
    assert [status for status, _ in nights(tmp_path)] == ["failed", "published"]


def test_a_night_stopped_before_prefect_has_started_leaves_a_note(tmp_path: Path) -> None:
    deliver(tmp_path, "a.jsonl", MEMORY, INTERACTION)
    night = command(tmp_path, "nightly")
    assert night.stderr
    assert night.stderr.readline() == "slowwave: starting Prefect\n"
    night.send_signal(signal.SIGTERM)
    _, err = night.communicate(timeout=PATIENCE)
    assert (night.returncode, "Traceback" in err) == (143, False)
    assert [status for status, _ in nights(tmp_path)] == ["failed"]
    assert holder(Settings(tmp_path)) is None
    assert list((tmp_path / "inbox").iterdir())


def test_a_server_that_still_starts_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.fileno()
        server = subprocess.Popen(
            [sys.executable, "-m", "slowwave.flows.schedule.child", str(number)],
            env=os.environ | {"PREFECT_HOME": str(tmp_path)},
            stdin=subprocess.PIPE,
            pass_fds=[number],
        )
    server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert not (tmp_path / "prefect.db").exists()  # it had not come so far


def test_a_killed_night_does_not_stay_running(tmp_path: Path) -> None:
    deliver(tmp_path, "a.jsonl", MEMORY, INTERACTION)
    night = command(tmp_path, "nightly", patch=_WAITING)
    reach_publishing(night)
    night.kill()
    night.communicate(timeout=PATIENCE)
    assert ask_prefect(tmp_path, "SELECT state_name FROM flow_run") == [("Running",)]
    run_night(tmp_path)
    states = ask_prefect(tmp_path, "SELECT state_name FROM flow_run ORDER BY start_time")
    assert states == [("Crashed",), ("Completed",)]
    assert not ask_prefect(tmp_path, "SELECT name FROM task_run WHERE state_type IN ('RUNNING', 'PENDING')")
    assert len(list((tmp_path / "prefect" / "running").iterdir())) == 1  # of the last run


def test_serve_makes_one_night_for_all_it_has_missed_and_cancels_the_one_it_is_stopped_in(tmp_path: Path) -> None:
    deliver(tmp_path, "a.jsonl", MEMORY, INTERACTION)
    night = command(tmp_path, "nightly", patch=_LONG_AGO)
    _, err = night.communicate(timeout=PATIENCE)
    assert night.returncode == 0, err
    deliver(tmp_path, "b.jsonl", {**INTERACTION, "prompt": "How else?"})
    serve = command(tmp_path, "serve", "--land-minutes", "1000")
    assert serve.stderr
    said: list[str] = []
    for line in serve.stderr:
        said.append(line)
        if "nightly: published as of" in line:
            break
    (missed,) = [line for line in said if line.startswith("slowwave: missed   the night of ")]
    due = missed.split()[5]
    scheduled = "SELECT name, state_name FROM flow_run WHERE deployment_id IS NOT NULL AND run_count > 0"
    wait_until(lambda: ask_prefect(tmp_path, scheduled) == [(f"nightly {due} 02:00 UTC", "Completed")])
    assert len(nights(tmp_path)) == 2
    lines = ask_prefect(tmp_path, "SELECT message FROM log WHERE message LIKE 'publish: % of CPU time'")
    assert len(lines) == 2  # of each night one
    _stop_while_a_night_waits(tmp_path, serve)
    _, err = serve.communicate(timeout=PATIENCE)
    assert serve.returncode == 0
    assert "Traceback" not in err
    assert [state for _, state in ask_prefect(tmp_path, f"{scheduled} ORDER BY start_time")] == [
        "Completed",
        "Cancelled",
    ]


def _stop_while_a_night_waits(home: Path, serve: subprocess.Popen[str]) -> None:
    """Stop the schedules in a night, which waits for us to write."""
    url = (home / "prefect" / "serve.url").read_text()
    trigger = "from prefect.deployments import run_deployment; run_deployment('nightly/schedule', timeout=0)"
    with writer_lock(Settings(home), "land"):
        subprocess.run([sys.executable, "-c", trigger], env={**os.environ, "PREFECT_API_URL": url}, check=True)
        assert serve.stderr
        for line in serve.stderr:
            if "nightly: waiting for `slowwave land`" in line:
                break
        serve.send_signal(signal.SIGTERM)
        serve.wait(PATIENCE)
