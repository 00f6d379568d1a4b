"""Two commands at once on one home: one waits or says who is at work; the lock dies with its holder."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import crash_home
import pytest
from crash_cases import Driver

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import holder, serve_lock, writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import RunFiles, Runs

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

COMMAND = [sys.executable, "-m", "slowwave.flows.cli.main"]


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Driver, Driver]]:
    both = Driver(tmp_path_factory.mktemp("one")), Driver(tmp_path_factory.mktemp("other"), 1)
    yield both
    for driver in both:
        driver.close()


def _deliver(home: Path) -> None:
    rows = [crash_home.interaction(number, number % 3) for number in range(6)]
    crash_home.drop(home, "a.jsonl", crash_home.lines(*crash_home.memories(), *rows[:3], "{broken"))
    crash_home.drop(home, "b.jsonl", crash_home.lines(*rows[3:]))


def _at_once(drivers: tuple[Driver, Driver], step: str, home: Path) -> list[dict[str, Any]]:
    pids = [driver.start(step, home, is_held=True) for driver in drivers]
    for driver in drivers:
        driver.go()
    outcomes = [driver.answer() for driver in drivers]
    return [{**outcome, "other": str(pid)} for outcome, pid in zip(outcomes, reversed(pids), strict=True)]


def _assert_as_undisturbed(driver: Driver, home: Path, expected: dict[str, Any]) -> None:
    found = driver.run("finish", home)["after"]
    names = ("current", "rows", "quarantine", "files", "inbox", "unaccounted", "leftovers")
    assert {name: found[name] for name in names} == {name: expected[name] for name in names}
    assert Lake(home / "lake").ledger(RunFiles).height == 2, "a file was landed twice"


@pytest.fixture(scope="module")
def undisturbed(drivers: tuple[Driver, Driver], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("undisturbed")
    _deliver(home)
    return drivers[0].run("finish", home)["after"]


@pytest.mark.parametrize("step", ["land", "publish"])
@pytest.mark.parametrize(
    "rounds", [pytest.param(6, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.thorough)]
)
def test_two_at_once_on_one_new_home(
    drivers: tuple[Driver, Driver], undisturbed: dict[str, Any], tmp_path: Path, step: str, rounds: int
):
    for number in range(rounds):
        home = tmp_path / str(number)
        _deliver(home)
        outcomes = _at_once(drivers, step, home)
        errors = [outcome for outcome in outcomes if "value" not in outcome]
        assert len(errors) < 2, outcomes  # whether they met is up to the machine
        for outcome in errors:
            assert outcome["error"].count("\n") == 0, outcome
            # a holder that has not yet said who it is has no number
            assert f"(process {outcome['other']} on " in outcome["error"] or "another" in outcome["error"], outcome
        _assert_as_undisturbed(drivers[0], home, undisturbed)


@pytest.mark.parametrize("step", ["land", "publish"])
def test_who_comes_in_the_midst_of_a_step_is_refused(
    drivers: tuple[Driver, Driver], undisturbed: dict[str, Any], tmp_path: Path, step: str
):
    one, other = drivers
    _deliver(tmp_path)
    first = one.start(f"{step}_in_the_midst", tmp_path, is_held=False)
    _wait_for(tmp_path / "held")
    try:
        refused = other.outcome(step, tmp_path)
    finally:
        (tmp_path / "go").touch()
    done = one.answer()
    assert f"(process {first} on " in refused["error"]
    assert "\n" not in refused["error"]
    assert "value" in done, done
    _assert_as_undisturbed(other, tmp_path, undisturbed)


def test_two_land_commands_on_a_home_that_is_not_there(tmp_path: Path):
    delivered = tmp_path / "delivered.jsonl"
    delivered.write_bytes(crash_home.lines(*crash_home.memories(), crash_home.interaction(1, 0)))
    home = tmp_path / "new" / "home"
    environment = {**os.environ, "SLOWWAVE_HOME": str(home)}
    both = [
        subprocess.Popen([*COMMAND, "land", str(delivered)], env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    files = Lake(home / "lake").ledger(RunFiles)
    assert sorted(files["accepted"]) == [0, 4]
    assert sorted(files["duplicate"]) == [0, 4]


@pytest.mark.slow
def test_two_nightly_commands_on_a_new_home(tmp_path: Path):
    home = tmp_path / "home"
    _deliver(home)
    environment = {**os.environ, "SLOWWAVE_HOME": str(home)}
    both = [
        subprocess.Popen(
            [*COMMAND, "nightly"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    errors = [process.communicate(timeout=300)[1] for process in both]
    codes = [process.returncode for process in both]
    assert codes.count(0) >= 1, errors
    for code, error in zip(codes, errors, strict=True):
        assert code in {0, 1}, error
        assert code == 0 or "(process " in error
        assert "Traceback" not in error
    assert Lake(home / "lake").ledger(RunFiles).height == 2
    assert Lake(home / "lake").ledger(Runs)["status"].to_list().count("published") == 1
    assert crash_home.look(home)["current"]


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 600
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _hold(driver: Driver, home: Path) -> tuple[int, int]:
    """A process that holds the lock, and a child of it that lives on."""
    holding = driver.start("hold", home, is_held=False)
    _wait_for(home / "held")
    return holding, int((home / "held").read_text())


def test_lock_is_free_at_once_when_its_holder_is_killed(drivers: tuple[Driver, Driver], tmp_path: Path):
    one, other = drivers
    _deliver(tmp_path)
    holding, child = _hold(one, tmp_path)
    try:
        refused = other.outcome("land", tmp_path)["error"]
        assert f"`slowwave hold` (process {holding} on {socket.gethostname()}, since " in refused
        assert holder(Settings(tmp_path)) is not None
        os.kill(holding, signal.SIGKILL)
        assert one.answer()["signal"] == signal.SIGKILL
        os.kill(child, 0)  # lives on, and has inherited no lock
        assert holder(Settings(tmp_path)) is None
        other.run("land", tmp_path)
    finally:
        os.kill(child, signal.SIGKILL)
    assert Lake(tmp_path / "lake").ledger(RunFiles).height == 2


@pytest.mark.parametrize("name", ["lock_file", "home_lock_file"])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff", b'{"command": "land", "pid": 1, "since": "2020"}', b"[]", b"x" * 10_000]
)
def test_what_a_lock_file_says_locks_nothing(tmp_path: Path, content: bytes, name: str):
    settings = Settings(tmp_path)
    path: Path = getattr(settings, name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    assert holder(settings) is None
    with writer_lock(settings, "land"):
        assert str(os.getpid()) in path.read_text()
    assert holder(settings) is None


def test_two_homes_over_one_lake_exclude_each_other(
    drivers: tuple[Driver, Driver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """And the second is told from which home, and where, the first writes."""
    one, other = tmp_path / "one", tmp_path / "other"
    other.mkdir()
    (one / "lake").mkdir(parents=True)
    holding, child = _hold(drivers[0], one)
    try:
        monkeypatch.setenv("SLOWWAVE_LAKE", str(one / "lake"))
        who = f"`slowwave hold` \\(process {holding} on {socket.gethostname()}, since .*, from {one}\\)"
        said = f"{who} is writing to {one}"
        with pytest.raises(UserError, match=said), writer_lock(Settings(other), "land"):
            pass
        assert holder(Settings(other)) is not None
    finally:
        os.kill(holding, signal.SIGKILL)
        assert drivers[0].answer()["signal"] == signal.SIGKILL
        os.kill(child, signal.SIGKILL)
    with writer_lock(Settings(other), "land"):
        pass


def test_a_release_that_locks_the_home_alone_is_waited_for(tmp_path: Path):
    """As the one before did, whose commands may still run while others are upgraded; and it waits for us."""
    settings = Settings(tmp_path)
    with settings.home_lock_file.open("w") as old:
        old.write('{"command": "nightly", "pid": 1, "since": "2026-03-01 02:00:00Z"}')
        old.flush()
        fcntl.flock(old, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="`slowwave nightly` \\(process 1, since"), writer_lock(settings, "land"):
            pass
        assert "`slowwave nightly`" in str(holder(settings))
    with writer_lock(settings, "land"), settings.home_lock_file.open() as old, pytest.raises(BlockingIOError):
        fcntl.flock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_one_alone_runs_the_schedules_of_a_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    one, other = Settings(tmp_path / "one"), Settings(tmp_path / "other")
    with serve_lock(one):
        who = f"`slowwave serve` \\(process {os.getpid()} on .*\\) runs the schedules"
        with pytest.raises(UserError, match=who), serve_lock(one):
            pass
        with serve_lock(other):
            pass
        with writer_lock(one, "land"):  # which it does not keep from writing
            pass
        monkeypatch.setenv("SLOWWAVE_LAKE", str(tmp_path / "one" / "lake"))
        with pytest.raises(UserError, match=f", from {one.home}\\) runs the schedules"), serve_lock(other):
            pass
    with serve_lock(other):
        pass


def test_waiting_for_a_holder(drivers: tuple[Driver, Driver], tmp_path: Path):
    holding, child = _hold(drivers[0], tmp_path)
    settings, told = Settings(tmp_path), []

    def waiting(text: str) -> None:
        told.append(text)
        os.kill(holding, signal.SIGKILL)

    try:
        with pytest.raises(UserError, match=f"process {holding}"), writer_lock(settings, "land", wait_seconds=0.3):
            pass
        with writer_lock(settings, "land", wait_seconds=600, waiting=waiting):
            assert told == [f"waiting for `slowwave hold` (process {holding}" + told[0].split(str(holding), 1)[1]]
        assert drivers[0].answer()["signal"] == signal.SIGKILL
    finally:
        os.kill(child, signal.SIGKILL)
    assert len(told) == 1
