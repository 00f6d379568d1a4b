"""`slowwave report` and the report at the end of a night: where it lies, and what a fault of it harms."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from small_home import SmallHome, interaction, memory

from slowwave.dashboards.report import page as made
from slowwave.flows.ask.report import ensure_current_report
from slowwave.flows.cli import main as cli
from slowwave.flows.lake.current import report_file, reports_folder
from slowwave.flows.nightly.prune import _KEEP_REPORTS
from slowwave.flows.nightly.screen import result_lines

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    folder = tmp_path / "a 'home'; DROP [it]"
    monkeypatch.setenv("SLOWWAVE_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(made, "report_html", lambda _, run_id, __: f"<p>report of {run_id} é</p>\n")
    return SmallHome(folder)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home with two publishes, and their run ids."""
    home = SmallHome(tmp_path_factory.mktemp("report") / "home")
    home.land(memory("m1"), interaction("i1", memories_used=["m1"]))
    days = [datetime(2026, 3, day) for day in (3, 4)]  # noqa: DTZ001 - naive times hold UTC
    return home.folder, [home.nightly(day).run_id for day in days]


@pytest.fixture
def twice(home: SmallHome, published: tuple[Path, list[str]]) -> list[str]:
    """Two publishes in the home, by run id."""
    shutil.copytree(published[0], home.folder, symlinks=True)
    return published[1]


@pytest.fixture
def command(home: SmallHome, capfdbinary: pytest.CaptureFixture[bytes]) -> Command:  # noqa: ARG001 - sets the environment
    """Runs a command; returns its exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = cli._exit_code(list(arguments))
        said = capfdbinary.readouterr()
        return code, said.out.decode(), said.err.decode()

    return run


def names(home: SmallHome) -> list[str]:
    return sorted(path.name for path in reports_folder(home.settings).glob("*"))


def test_the_report_of_current_is_written_and_latest_leads_to_it(
    home: SmallHome, twice: list[str], command: Command
) -> None:
    path = report_file(home.settings, twice[1])
    assert command("report") == (0, f"{path}\n", "")
    assert path.read_text() == f"<p>report of {twice[1]} é</p>\n"
    assert (reports_folder(home.settings) / "latest.html").readlink() == Path(path.name)
    assert names(home) == [path.name, "latest.html"]


def test_an_earlier_report_does_not_become_the_latest(home: SmallHome, twice: list[str], command: Command) -> None:
    command("report")
    assert command("report", "--run", "previous")[0] == 0
    assert (reports_folder(home.settings) / "latest.html").readlink() == Path(f"{twice[1]}.html")
    assert names(home) == [f"{twice[0]}.html", f"{twice[1]}.html", "latest.html"]
    assert command("report", "--run", twice[0])[1] == f"{report_file(home.settings, twice[0])}\n"


def test_it_goes_to_standard_output_or_another_file_instead(
    home: SmallHome, twice: list[str], command: Command, tmp_path: Path
) -> None:
    html = f"<p>report of {twice[1]} é</p>\n"
    assert command("report", "--to", "-") == (0, html, "")
    assert command("report", "--to", "new/mine.html") == (0, "new/mine.html\n", "")
    assert (tmp_path / "new" / "mine.html").read_text() == html
    assert names(home) == []


def test_what_cannot_be_reported_is_said_in_a_line(home: SmallHome, command: Command) -> None:
    code, out, err = command("report")
    assert (code, out) == (1, "")
    assert "nothing is published yet" in err
    home.land(memory("m1"))
    run_id = home.nightly().run_id
    assert "no serving file of a run 'nobody'" in command("report", "--run", "nobody")[2]
    reports_folder(home.settings).write_text("in the way")
    assert command("report")[0] == 1
    reports_folder(home.settings).unlink()
    home.settings.current.resolve().write_bytes(b"no database" * 1000)
    code, out, err = command("report")
    assert (code, out) == (1, "")
    assert f"{run_id}.duckdb cannot be reported on" in err
    assert err.count("\n") <= 2
    assert not reports_folder(home.settings).exists()


@pytest.mark.slow
def test_a_night_writes_what_is_missing_and_keeps_what_is_there(home: SmallHome, twice: list[str]) -> None:
    path = report_file(home.settings, twice[1])
    assert ensure_current_report(home.settings) == str(path)
    path.write_text("as it was")
    assert ensure_current_report(home.settings) == str(path)
    assert path.read_text() == "as it was"


def test_nothing_is_reported_before_any_publish(home: SmallHome) -> None:
    assert ensure_current_report(home.settings) == ""
    assert not home.folder.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("twice")
def test_a_fault_of_the_report_is_told_and_harms_nothing(home: SmallHome) -> None:
    before = home.settings.current.readlink()
    reports_folder(home.settings).write_text("in the way")
    told = ensure_current_report(home.settings)
    assert told.startswith("not written: ")
    assert told.endswith("; `slowwave report` tries again")
    assert home.settings.current.readlink() == before


@pytest.mark.usefixtures("twice")
@pytest.mark.parametrize(("ends", "told"), [("kill -ABRT $$", "exit code -6"), ("sleep 60", "timed out")])
def test_a_report_that_aborts_or_hangs_is_told_and_harms_nothing(
    home: SmallHome, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: str, told: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{ends}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr("slowwave.flows.ask.report._MOST_SECONDS", 1)
    assert told in ensure_current_report(home.settings)
    assert names(home) == []


@pytest.mark.usefixtures("twice")
def test_only_a_file_is_replaced(command: Command, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert command("report", "--to", "folder")[::2] == (1, "slowwave: folder is a folder: name a file in it\n")
    (tmp_path / "there.html").write_text("before")
    (tmp_path / "link.html").symlink_to("there.html")
    assert command("report", "--to", "link.html")[0] == 0
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "there.html").read_text().startswith("<p>report of")
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_text)
        assert command("report", "--to", "pipe")[0] == 0
        assert read.result(10).startswith("<p>report of")
    assert (tmp_path / "pipe").is_fifo()


def test_the_screen_says_where_it_is(home: SmallHome) -> None:
    home.land(memory("m1"))
    result = home.nightly()
    assert "report" not in dict(result_lines(home.settings, result))
    shown = result_lines(home.settings, replace(result, report="reports/x.html"))
    assert shown[-1] == ("report", "reports/x.html")


def test_status_says_whether_it_is_there(twice: list[str], command: Command) -> None:
    def line() -> dict[str, str]:
        found = json.loads(command("status", "--format", "json")[1])["lines"]
        return next(each for each in found if each["name"] == "report")

    assert (line()["state"], line()["todo"]) == ("warn", "run `slowwave report`, which writes it")
    command("report")
    assert line()["state"] == "ok"
    assert line()["says"].endswith(f"{twice[1]}.html")


def test_prune_keeps_the_newest_reports_and_what_is_not_ours(
    home: SmallHome, twice: list[str], command: Command
) -> None:
    command("report")
    folder = reports_folder(home.settings)
    old = [f"20200101T{n:012}-beef.html" for n in range(_KEEP_REPORTS + 5)]
    then = time.time() - 30 * 3600
    for name in [*old, "notes.html", ".x.html.0123.tmp", ".young.html.0123.tmp"]:
        (folder / name).write_text("x")
        if "young" not in name:
            os.utime(folder / name, (then, then))
    assert command("lake", "prune")[0] == 0
    left = names(home)
    assert {"notes.html", "latest.html", f"{twice[1]}.html", ".young.html.0123.tmp"} <= set(left)
    assert ".x.html.0123.tmp" not in left
    assert [name for name in left if name.endswith("-beef.html")] == old[6:]
