"""A night that stops half-way is seen: in the ledger, by `status` and `doctor`, until one ends well."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from shared_homes import plain_home
from small_home import SmallHome, interaction, memory

from slowwave.flows.care import doctor
from slowwave.flows.care.status import Clock, status_lines
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.land.inbox import Delivery
from slowwave.flows.nightly.nightly import land_paths, start_run
from slowwave.flows.nightly.nights import ledger, stopped_night

# A night, landing or backfill of a home, which at the stage that is named is killed, or says so and waits for ever.
_DRIVE = """
import os, signal, sys, time
from datetime import date
from pathlib import Path
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.nightly.nightly import backfill, land_paths, nightly, start_run
from slowwave.flows.kernel.settings import Settings

settings, kind, stage, end = Settings(Path(sys.argv[1])), *sys.argv[2:]

def call(name, function, *arguments):
    if name.startswith(stage):
        if end == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        print("there", flush=True)
        time.sleep(600)
    return function(*arguments)

with writer_lock(settings, kind):
    run = start_run(settings, kind, call=call)
    if kind == "nightly":
        nightly(run)
    elif kind == "backfill":
        backfill(run, date(2026, 3, 1), date(2026, 3, 31))
    else:
        from slowwave.flows.nightly import nightly as module
        module.land = lambda run, deliveries: call("land", lambda: None)
        land_paths(run, inbox_deliveries(settings.inbox))
"""


def drive(home: SmallHome, kind: str, stage: str, end: str = "kill") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _DRIVE, str(home.folder), kind, stage, end], stdout=subprocess.PIPE, text=True
    )


def killed(home: SmallHome, kind: str, stage: str) -> None:
    process = drive(home, kind, stage)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = plain_home(tmp_path_factory.mktemp("nights") / "home")
    made.settings.inbox.mkdir()
    drop(made)
    return made


@pytest.fixture
def home(published: SmallHome, tmp_path: Path) -> SmallHome:
    """Published, and with something new in the inbox."""
    return SmallHome(Path(shutil.copytree(published.folder, tmp_path / "home", symlinks=True)))


def drop(home: SmallHome, asked: str = "New?") -> None:
    row = interaction(
        "new", prompt=asked, created_at="2026-03-05T09:00:00Z", recorded_at=f"2026-03-06T0{len(asked)}:00:00Z"
    )
    (home.settings.inbox / "new.jsonl").write_text(f"{json.dumps(row)}\n")


def status(home: SmallHome) -> dict[str, CheckLine]:
    return {line.name: line for line in status_lines(home.settings, Clock(utc_now(), 26.0, 50.0))}


def examined(home: SmallHome) -> CheckLine:
    return {line.name: line for line in doctor.doctor_lines(home.settings)}["last night"]


@pytest.mark.parametrize(
    "stage",
    [
        "swap",
        *(pytest.param(stage, marks=pytest.mark.slow) for stage in ("land", "plan", "replay 2026-03-05", "publish")),
    ],
)
def test_a_killed_night_is_an_error_until_one_ends_well(home: SmallHome, stage: str) -> None:
    before = home.settings.current.readlink()
    killed(home, "nightly", stage)
    assert home.settings.current.readlink() == before
    night = status(home)["last night"]
    assert (night.state, night.facts["status"], night.facts["finished_at"]) == ("error", "started", None)
    assert f"did not end: it had come to {stage}, since 20" in night.says
    assert (examined(home).state, stage in examined(home).says) == ("error", True)

    runs, aside = home.settings.serving / "runs", home.settings.serving / "aside"
    runs.rename(aside)
    runs.write_text("in the way")
    with pytest.raises(OSError, match="runs"):
        home.nightly()
    assert status(home)["last night"].state == "error"
    runs.unlink()
    aside.rename(runs)

    assert home.nightly().status == "published"
    assert (status(home)["last night"].state, examined(home).state) == ("ok", "ok")
    told = [row["status"] for row in ledger(home.folder / "lake") if row["kind"] == "nightly"]
    assert told == ["published", "started", "failed", "published"]


@pytest.mark.slow
def test_a_night_killed_after_its_swap_has_published(home: SmallHome) -> None:
    killed(home, "nightly", "prune")
    assert status(home)["last night"].facts["status"] == "published"


@pytest.mark.slow
def test_the_published_ledger_holds_a_run_once_and_a_running_night_is_no_error(home: SmallHome) -> None:
    killed(home, "nightly", "publish")
    home.nightly()
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        told = connection.sql("SELECT status, count(*) FROM runs WHERE kind = 'nightly' GROUP BY ALL ORDER BY ALL")
        assert told.fetchall() == [("published", 2), ("started", 1)]
    drop(home, "Newer?")
    process = drive(home, "nightly", "publish", "wait")
    try:
        assert process.stdout
        assert process.stdout.readline() == "there\n"
        night = status(home)["last night"]
        assert (night.state, "; one is running since 20" in night.says) == ("ok", True)
        assert examined(home).says.startswith("nightly is running since 20")
    finally:
        process.kill()
        process.communicate()
    assert status(home)["last night"].state == "error"


@pytest.mark.slow
def test_a_killed_night_stays_one_while_something_else_runs(home: SmallHome) -> None:
    killed(home, "nightly", "publish")
    process = drive(home, "land", "land", "wait")
    try:
        drop(home)
        assert process.stdout
        process.stdout.readline()
        assert status(home)["last night"].state == "error"
        assert "stopped runs" not in status(home)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", ["land", pytest.param("backfill", marks=pytest.mark.slow)])
def test_what_else_stops_half_way_is_warned_of(home: SmallHome, kind: str) -> None:
    killed(home, kind, "land" if kind == "land" else "plan")
    assert stopped_night(home.settings, ledger(home.folder / "lake")) is None
    line = status(home)["stopped runs"]
    assert (line.state, line.says.startswith(f"{kind}: run 20")) == ("warn", True)
    home.nightly()
    assert "stopped runs" not in status(home)


def test_nothing_to_land_leaves_no_run(home: SmallHome) -> None:
    before = len(ledger(home.folder / "lake"))
    (home.settings.inbox / "new.jsonl").unlink()
    missing = Delivery("gone.jsonl", home.folder / "gone.jsonl")
    with writer_lock(home.settings, "land"):
        land_paths(start_run(home.settings, "land"), [])
        assert land_paths(start_run(home.settings, "land"), [missing]).unreadable
    assert len(ledger(home.folder / "lake")) == before


def test_a_landing_that_fails_says_why(home: SmallHome) -> None:
    (home.folder / "lake" / "interactions" / "day=2026-03-05").write_text("in the way")
    with pytest.raises(OSError, match="2026-03-05"), writer_lock(home.settings, "land"):
        land_paths(start_run(home.settings, "land"), [Delivery("new.jsonl", home.settings.inbox / "new.jsonl")])
    last = ledger(home.folder / "lake")[-1]
    assert (last["kind"], last["status"], "2026-03-05" in last["message"]) == ("land", "failed", True)


def test_the_thresholds_of_status_do_not_hide_it(home: SmallHome) -> None:
    killed(home, "nightly", "plan")
    lines = status_lines(home.settings, Clock(utc_now() + timedelta(days=400), 1e6, 1e6))
    assert next(line.state for line in lines if line.name == "last night") == "error"
    assert isinstance(ledger(home.folder / "lake")[-1]["started_at"], datetime)
    assert os.path.exists(home.settings.current)  # noqa: PTH110


@pytest.mark.slow
def test_a_night_killed_while_prefect_starts_is_seen(home: SmallHome) -> None:
    home.nightly()
    drop(home, "Newer?")
    process = subprocess.Popen(
        [sys.executable, "-m", "slowwave.flows.cli.main", "nightly"],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    while "starting Prefect" not in process.stderr.readline():
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=60)
    with writer_lock(home.settings, "land", wait_seconds=60):
        pass  # until exec closes it, a server it was just starting has the lock too
    night = status(home)["last night"]
    assert (night.state, "it had come to starting Prefect" in night.says) == ("error", True)
    home.nightly()
    assert status(home)["last night"].state == "ok"


def test_rows_that_were_refused_are_news_though_no_number_changes(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home")
    home.land({"interaction_id": "bad", "prompt": "When?", "created_at": "soon"})
    assert [home.nightly().status for _ in range(2)] == ["published", "skipped"]
    shown = home.ask("sql", "SELECT count(*) AS refused FROM quarantine", "--format", "json").stdout
    assert json.loads(shown) == [{"refused": 1}]


@pytest.mark.slow
def test_what_is_new_is_what_current_lacks_and_no_earlier_publish(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1"), interaction("i1"))
    first, second = datetime(2026, 3, 4), datetime(2026, 3, 5)  # noqa: DTZ001 - times are naive and hold UTC everywhere
    assert [home.nightly(as_of).status for as_of in (first, second)] == ["published", "published"]
    assert home.nightly(second).status == "skipped"
    assert home.nightly(first).status == "published"
