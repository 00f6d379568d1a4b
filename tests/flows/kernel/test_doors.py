"""Who may look into a home: what commands and producers make is closed to others, and old homes are mended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.ask.report import ensure_current_report
from slowwave.flows.care import doctor
from slowwave.flows.kernel.doors import home_doors, home_umask, left_ajar
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.writer import Writer

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

_RECORD = "from slowwave import record_interaction\nrecord_interaction('How?', project='shop')"


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    """A home that nothing has made yet."""
    (tmp_path / "above").mkdir()
    (tmp_path / "above").chmod(0o755)
    return SmallHome(tmp_path / "above" / "home")


def run(home: SmallHome, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command by a user who, as most do, lets everybody read what they write."""
    return subprocess.run(
        command,
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder), **environment},
        cwd=home.folder.parent.parent,
        umask=0o022,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def slowwave(home: SmallHome, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(home, sys.executable, "-m", "slowwave.flows.cli.main", *arguments, **environment)


def modes(folder: Path) -> dict[str, int]:
    """The permissions of a folder and all below it; links have none of their own."""
    found = [folder, *(path for path in folder.rglob("*") if not path.is_symlink())]
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in found}


def log(home: SmallHome) -> str:
    path = home.folder.parent.parent / "log.jsonl"
    path.write_text('{"prompt": "How?", "created_at": "2026-03-02", "project": "shop"}\n')
    return str(path)


def assert_closed(home: SmallHome, *made: str) -> None:
    found = modes(home.folder)
    assert set(made) <= set(found)
    assert {path: f"{mode:o}" for path, mode in found.items() if mode & 0o077} == {}
    assert home.folder.parent.stat().st_mode & 0o777 == 0o755


@pytest.mark.slow  # Prefect makes its home
def test_a_home_is_its_owners_alone(home: SmallHome) -> None:
    assert run(home, sys.executable, "-c", _RECORD).returncode == 0
    assert slowwave(home, "land", log(home)).returncode == 0
    assert slowwave(home, "nightly").returncode == 0
    assert_closed(home, "inbox", "lake/.lock", "serving/runs", "reports", "prefect")


def test_what_commands_make_in_a_home_is_its_owners_alone(home: SmallHome) -> None:
    assert run(home, sys.executable, "-c", _RECORD).returncode == 0
    assert slowwave(home, "land", log(home)).returncode == 0
    before = os.umask(0o022)
    try:
        with home_doors():
            home.nightly()
            ensure_current_report(home.settings)
    finally:
        os.umask(before)
    assert_closed(home, "inbox", "lake/.lock", "serving/runs", "reports")


def test_an_umask_shares_a_home(home: SmallHome) -> None:
    assert slowwave(home, "land", log(home), SLOWWAVE_UMASK="027").returncode == 0
    assert set(modes(home.folder).values()) == {0o750, 0o640}


@pytest.mark.parametrize("umask", ["0x1f", "rwx", "700", "-1", "0777", "8"])
def test_what_is_no_umask_is_said_to_be_none(home: SmallHome, monkeypatch: pytest.MonkeyPatch, umask: str) -> None:
    monkeypatch.setenv("SLOWWAVE_UMASK", umask)
    with pytest.raises(UserError, match="SLOWWAVE_UMASK is "):
        home_umask()
    with Writer(home.folder) as writer:  # a producer is never stopped by it
        writer.record({"prompt": "How?"})
        assert writer.flush()
    assert (home.folder / "inbox").stat().st_mode & 0o777 == 0o700


def test_an_inbox_that_is_there_keeps_its_mode_and_takes_files_its_users_can_land(home: SmallHome) -> None:
    inbox = home.folder / "inbox"
    inbox.mkdir(parents=True)
    inbox.chmod(0o733)
    assert run(home, sys.executable, "-c", _RECORD).returncode == 0
    assert inbox.stat().st_mode & 0o777 == 0o733
    assert [path.stat().st_mode & 0o777 for path in inbox.iterdir()] == [0o644]
    assert slowwave(home, "land").returncode == 0
    assert (list(inbox.iterdir()), inbox.stat().st_mode & 0o777) == ([], 0o733)


@pytest.mark.slow
def test_what_is_written_for_others_is_as_the_user_wants_it(home: SmallHome) -> None:
    home.land(memory("m1"), interaction("i1"))
    home.nightly()
    to = home.folder.parent.parent / "to"
    assert slowwave(home, "export", "memory_health", "--to", str(to)).returncode == 0
    assert slowwave(home, "report", "--to", str(to / "report.html")).returncode == 0
    assert set(modes(to).values()) == {0o755, 0o644}


def opened(home: SmallHome) -> None:
    """As a release before this one has left it, with a file of somebody else's, and an inbox for all."""
    home.land(memory("m1"), interaction("i1"))
    home.nightly()
    home.settings.inbox.mkdir()
    (home.folder / "notes.txt").write_text("mine")
    (home.settings.serving / "elsewhere").symlink_to(home.folder / "notes.txt")
    for path in [home.folder, *home.folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o777 if path == home.settings.inbox else 0o755 if path.is_dir() else 0o644)


def test_doctor_tells_of_an_open_home_and_mends_it(home: SmallHome) -> None:
    opened(home)
    line = {line.name: line for line in doctor.doctor_lines(home.settings)}["doors"]
    assert (line.state, "doctor --fix" in line.todo) == ("warn", True)
    assert line.says.startswith(f"open to other users: {home.folder}, ")
    done = slowwave(home, "doctor", "--fix")
    assert (done.returncode, "closed to others as umask 077 says" in done.stdout) == (0, True), done
    assert "slowwave: closed " in done.stderr
    still = {path for path, mode in modes(home.folder).items() if mode & 0o077}
    assert still == {"inbox", "notes.txt"}
    assert left_ajar(home.settings).ours == []


def test_mending_leaves_to_the_group_what_is_shared(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(home)
    monkeypatch.setenv("SLOWWAVE_UMASK", "027")
    assert slowwave(home, "doctor", "--fix", SLOWWAVE_UMASK="027").returncode == 0
    assert home.folder.stat().st_mode & 0o777 == 0o750
    assert home.settings.current.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_is_another_users_is_named_and_left(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(home)
    os.chown(home.settings.current.resolve(), 4242, 4242)
    monkeypatch.setattr(os, "geteuid", lambda: 4243)
    found = left_ajar(Settings(home.folder))
    assert home.settings.current.resolve() in found.others
