"""What `status` and `doctor` say of who takes rows in over the network."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from capture_process import receiving
from small_home import SmallHome

from slowwave.flows.care.doctor import doctor_lines
from slowwave.flows.care.setup_lines import receiver_lines
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.lock import capture_lock
from slowwave.flows.kernel.times import utc_iso, utc_now
from slowwave.flows.land.received_files import Noted, note

NOW = datetime(2026, 3, 10, 8)  # noqa: DTZ001 - naive UTC, as every time here
WELL = Noted("http://127.0.0.1:4318", 40, 2, utc_iso(NOW - timedelta(minutes=3)))


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


def line(home: SmallHome) -> CheckLine:
    (only,) = receiver_lines(home.settings, NOW)
    return only


def test_a_home_that_never_had_one_is_told_nothing(home: SmallHome):
    assert receiver_lines(home.settings, NOW) == []


def test_one_that_runs_says_where_since_when_and_what_came(home: SmallHome):
    with capture_lock(home.settings):
        note(home.settings, WELL)
        home.settings.inbox.mkdir()
        (home.settings.inbox / f"capture-{7:017d}-{9:017d}.jsonl").touch()
        found = line(home)
        assert found.state == "ok"
        assert "takes rows at http://127.0.0.1:4318 (process " in found.says
        assert found.says.endswith("last row 3 minutes ago; 40 taken, 2 refused; 1 file of its own waiting")
        assert (found.facts["running"], found.facts["rows_refused"], found.facts["waiting_files"]) == (True, 2, 1)
        assert [one.name for one in doctor_lines(home.settings)].count("receiver") == 1


@pytest.mark.parametrize(
    ("noted", "state", "says"),
    [
        (Noted("http://127.0.0.1:1"), "ok", "no row yet; 0 taken, 0 refused"),
        (Noted("http://127.0.0.1:1", 4, 5), "warn", "4 taken, 5 refused"),
        (Noted("http://127.0.0.1:1", 4, 0, "", "No space left on device"), "error", "No space left on device"),
    ],
)
def test_what_is_wrong_with_one_that_runs(noted: Noted, state: str, says: str, home: SmallHome):
    with capture_lock(home.settings):
        note(home.settings, noted)
        assert line(home).state == state
        assert says in line(home).says


def test_one_that_was_stopped_is_well_and_one_that_died_is_not(home: SmallHome):
    with capture_lock(home.settings):
        note(home.settings, WELL)
    died = line(home)
    assert (died.state, died.facts["running"]) == ("warn", False)
    assert "has ended without being told to; last row 3 minutes ago" in died.says
    with capture_lock(home.settings):
        note(home.settings, Noted(stopped_at=utc_iso(NOW - timedelta(hours=2))))
    assert (line(home).state, line(home).says.partition(";")[2]) == (
        "ok",
        " stopped 2 hours ago; no row yet; 0 taken, 0 refused; 0 files of its own waiting",
    )


@pytest.mark.parametrize("left", ['{"pid": 7}', "", "{", '{"since": "x", "noted": {"taken": "many"}}', "[]"])
def test_what_an_earlier_release_or_a_cut_left_is_no_fault(left: str, home: SmallHome):
    home.folder.mkdir()
    home.settings.capture_lock_file.write_text(left)
    assert line(home).state in {"ok", "warn"}
    assert not line(home).facts["running"]


@pytest.mark.slow
def test_a_real_one_is_known_while_it_runs_and_when_it_was_killed(home: SmallHome):
    with receiving(home.folder) as receiver:
        assert receiver.post("/interactions", [{"prompt": "a"}, {"response": "b"}, {"prompt": "c"}])[0] == 200
        until = time.monotonic() + 60
        while (found := _told(home))["rows_taken"] != 2:
            assert time.monotonic() < until
        assert (found["state"], found["running"], found["process"]) == ("ok", True, receiver.process.pid)
        assert (found["address"], found["rows_refused"], found["waiting_files"]) == (receiver.url, 1, 1)
        assert found["received_at"] <= utc_iso(utc_now())
        receiver.kill()
    assert (_told(home)["state"], _told(home)["running"]) == ("warn", False)


def _told(home: SmallHome) -> dict[str, Any]:
    lines = json.loads(home.run("status", "--format", "json").stdout)["lines"]
    (found,) = (one for one in lines if one["name"] == "receiver")
    return found
