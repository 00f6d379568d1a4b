"""`slowwave doctor` on real small homes, each with one thing wrong."""

from __future__ import annotations

import fcntl
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path

import pytest
from shared_homes import plain_home
from small_home import SmallHome, interaction

from slowwave.flows.care import doctor
from slowwave.flows.care.surroundings import clock_line, prefect_server_line
from slowwave.flows.cli.main import main
from slowwave.flows.kernel import store
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.files import LAKE_FORMAT
from slowwave.flows.lake.lake import Lake

SECOND_HOMES = "other homes"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    for name in ("SLOWWAVE_LAKE", "PREFECT_API_URL", "PREFECT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return SmallHome(tmp_path / "home")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return plain_home(tmp_path_factory.mktemp("doctor") / "home")


@pytest.fixture
def published(home: SmallHome, template: SmallHome) -> SmallHome:
    """A copy of it."""
    shutil.copytree(template.folder, home.folder, symlinks=True)
    return home


def lines_of(home: SmallHome) -> dict[str, CheckLine]:
    return {line.name: line for line in doctor.doctor_lines(home.settings)}


def not_ok(home: SmallHome) -> dict[str, str]:
    """The checks that found something, with their state."""
    return {name: line.state for name, line in lines_of(home).items() if line.state != "ok"}


def exit_code(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as done:
        main(["doctor"])
    return int(done.value.code or 0), capsys.readouterr().out


def test_a_sound_home_is_well_and_keeps_no_trace(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    before = published.contents()
    code, text = exit_code(capsys)
    assert code == 0
    assert text.startswith("all is well")
    assert max(map(len, text.splitlines())) <= 100
    assert published.contents() == before
    assert list(lines_of(published)) == [
        "home", "doors", SECOND_HOMES, "params", "settings", "notify", "engine", "lake", "lock", "inbox", "leftovers",
        "disk", "current", "evidence", "last night", "clock", "prefect home", "prefect server", "versions",
    ]  # fmt: skip


def test_no_home_is_well_and_stays_absent(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = exit_code(capsys)
    assert code == 0
    assert "not there yet" in text
    assert not home.folder.exists()


@pytest.mark.parametrize(
    ("stated", "called"),
    [
        ("[retention]\ntexts_days = 'many'", "texts_days"),
        ("[retention]\ntext_days = 30", "text_days"),
        ("[landing]\nunknown = 'drop'", "unknown"),
        ("[publish_to]\nschema = 'team'", "publish_to"),
        ("[imports.nobody]", "nobody"),
    ],
)
def test_settings_that_cannot_be_used(home: SmallHome, stated: str, called: str) -> None:
    home.folder.mkdir(mode=0o700)
    (home.folder / "settings.toml").write_text(stated)
    line = lines_of(home)["settings"]
    assert (line.state, called in line.says, "settings.toml" in line.todo) == ("error", True, True)


def test_an_empty_home_and_a_half_made_lake(home: SmallHome) -> None:
    home.folder.mkdir()
    assert not_ok(home) == {}
    (home.folder / "lake").mkdir()
    assert not_ok(home) == {"lake": "warn"}


def test_a_home_that_cannot_be_written(published: SmallHome) -> None:
    before = published.contents()
    done = published.run_unable_to_write("doctor")
    assert (done.returncode, done.stderr) == (1, "")
    words = "".join(done.stdout.split())  # a long path is broken anywhere
    assert "homecannotbewritten:Permissiondenied" in words
    assert "set SLOWWAVE_HOME" in done.stdout
    assert "opens read-only" in done.stdout
    assert published.contents() == before


def test_a_home_that_is_a_file(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.folder.write_text("a file")
    code, _ = exit_code(capsys)
    assert (code, not_ok(home)["home"]) == (1, "error")


def test_a_file_system_without_locks_is_found_out(published: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a file system cannot be had here, so the call that would tell is made to succeed, as it does there."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    assert store.missing_abilities(published.folder) == [
        "keep a second writer out with a lock (two had the lock at once)"
    ]
    assert not list(published.folder.glob(".doctor-*"))


def test_another_home_in_the_working_folder(published: SmallHome, tmp_path: Path) -> None:
    (tmp_path / "data" / "inbox").mkdir(parents=True)
    line = lines_of(published)[SECOND_HOMES]
    assert line.state == "warn"
    assert str(tmp_path / "data") in line.says
    (tmp_path / "data" / "inbox").rmdir()
    assert lines_of(published)[SECOND_HOMES].state == "ok"


def test_the_home_in_the_working_folder_is_not_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = SmallHome(tmp_path / "data")
    home.land(interaction("i1"))
    (tmp_path / "same").symlink_to("data")
    assert lines_of(home)[SECOND_HOMES].state == "ok"
    assert lines_of(SmallHome(tmp_path / "same"))[SECOND_HOMES].state == "ok"


def test_a_second_lake(published: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(published.folder / "lake", tmp_path / "elsewhere")
    monkeypatch.setenv("SLOWWAVE_LAKE", str(tmp_path / "elsewhere"))
    lines = lines_of(published)
    assert (lines[SECOND_HOMES].state, lines["lake folder"].state, lines["lake"].state) == ("warn", "ok", "ok")


def test_params_that_cannot_be_used(published: SmallHome) -> None:
    published.settings.params_file.write_text("reinforcement_dleta = 0.1\n")
    line = lines_of(published)["params"]
    assert (line.state, "reinforcement_dleta" in line.says) == ("error", True)


def test_params_that_only_an_earlier_release_read(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    published.settings.params_file.write_text(
        '[heuristics]\ntrend_method = "strategy_trend/1"\n[scorecard]\nmethod = "scorecard/1"\n'
        "[forecast]\nunforeseen = 0\n"
    )
    line = lines_of(published)["params"]
    names = ("heuristics.trend_method has", "scorecard.method has", "forecast has")
    assert (line.state, [name in line.says for name in names]) == ("warn", [True] * 3)

    with pytest.raises(SystemExit) as done:
        main(["nightly", "--plan"])
    err = capsys.readouterr().err
    assert (done.value.code, [name in err for name in names]) == (0, [True] * 3)


def test_a_lake_of_a_newer_version(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    (published.folder / "lake" / "FORMAT").write_text(f"{LAKE_FORMAT + 1}\n")
    code, text = exit_code(capsys)
    assert code == 1
    assert "upgrade slowwave" in " ".join(text.split())
    assert "evidence" not in lines_of(published)


def test_an_inbox_that_is_a_file(published: SmallHome) -> None:
    published.settings.inbox.write_text("a file")
    assert not_ok(published) == {"inbox": "error"}


def test_only_old_half_written_files_are_leftovers(published: SmallHome) -> None:
    published.settings.inbox.mkdir()
    places = [
        published.settings.inbox / "log.jsonl.tmp",
        published.folder / "lake" / "interactions" / ".x.tmp",
        published.settings.serving / "runs" / ".run.duckdb.tmp.wal",
    ]
    for path in places:
        path.write_text("half")
    assert not_ok(published) == {}
    for path in places:
        os.utime(path, (time.time() - 3700, time.time() - 3700))
    line = lines_of(published)["leftovers"]
    assert line.state == "warn"
    assert line.says.startswith("3 files ")
    assert str(places[0]) in line.todo
    assert "the next run" in line.todo


def test_little_free_space(published: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_LEAST_FREE_BYTES", 10**18)
    line = lines_of(published)["disk"]
    assert (line.state, "slowwave lake prune" in line.todo) == ("warn", True)


def test_a_current_that_is_broken(published: SmallHome) -> None:
    current = published.settings.current.resolve()
    whole = current.read_bytes()
    current.write_bytes(whole[: len(whole) // 2])
    assert "is cut short" in lines_of(published)["current"].says
    current.write_bytes(b"no database")
    assert "cannot be opened" in lines_of(published)["current"].says
    assert not_ok(published) == {"current": "error"}
    current.unlink()
    assert lines_of(published)["current"].says == "current.duckdb points to a file that is gone"
    published.settings.current.unlink()
    published.settings.current.write_bytes(whole)
    assert "where a link should be" in lines_of(published)["current"].says


def test_a_current_the_ledger_lacks(published: SmallHome) -> None:
    for entry in (published.folder / "lake" / "runs").glob("*/*.parquet"):
        entry.unlink()
    line = lines_of(published)["current"]
    assert (line.state, "not in the ledger" in line.says) == ("warn", True)


def test_a_partition_that_is_gone_and_what_to_do_about_it(published: SmallHome) -> None:
    (partition,) = (published.folder / "lake" / "evidence" / "memory_days").glob("*/*.parquet")
    partition.unlink()
    line = lines_of(published)["evidence"]
    assert (line.state, "memory_days of 2026-03-02" in line.says) == ("error", True)
    assert "slowwave nightly --full" in line.todo
    published.nightly(full=True)
    assert not_ok(published) == {}


def test_partitions_of_a_table_that_the_publishing_version_did_not_have(
    published: SmallHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    (partition,) = (published.folder / "lake" / "evidence" / "use_probabilities").glob("*/*.parquet")
    partition.unlink()
    monkeypatch.setattr("slowwave.flows.care.doctor.code_hash", lambda: "of a later version")
    line = lines_of(published)["evidence"]
    assert (line.state, line.todo) == ("warn", "run `slowwave nightly`, which builds them")
    assert "no partitions of use_probabilities: another version wrote it" in line.says


def test_what_to_do_about_a_broken_current_works(published: SmallHome) -> None:
    published.settings.current.resolve().write_bytes(b"broken")
    assert "slowwave nightly --full" in lines_of(published)["current"].todo
    published.nightly(full=True)
    assert not_ok(published) == {}


def test_a_clock_that_went_back(published: SmallHome) -> None:
    lake = Lake(Path(published.settings.lake))
    now = utc_now()
    assert clock_line(lake, now).state == "ok"
    assert clock_line(lake, now - timedelta(seconds=50)).state == "ok"
    assert clock_line(lake, now - timedelta(hours=3)).state == "error"  # long before the run, on a slow machine too


def test_rows_of_the_future(published: SmallHome) -> None:
    published.land(interaction("i9", created_at="2999-01-01"))
    assert not_ok(published) == {"clock": "warn"}


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A server that has a /api/health and nothing else; its address, and the paths asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200 if self.path == "/api/health" else 404)
            self.end_headers()

        def log_message(self, format, *args):  # noqa: A002 - its name where it is declared
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"127.0.0.1:{serving.server_address[1]}", asked
        serving.shutdown()
        thread.join()


def test_the_prefect_server_is_asked(
    home: SmallHome, monkeypatch: pytest.MonkeyPatch, server: tuple[str, list[str]]
) -> None:
    address, asked = server
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # a proxy for the way out is not asked for this machine
    monkeypatch.setenv("PREFECT_API_URL", f"http://{address}/api")
    assert lines_of(home)["prefect server"].state == "ok"
    assert asked == ["/api/health"]
    monkeypatch.setenv("PREFECT_API_URL", f"http://{address}/")
    assert lines_of(home)["prefect server"].state == "warn"


@pytest.mark.parametrize(
    "address", ["http://user:secret@127.0.0.1:9/api", "file:///etc/passwd", "http://[::1", "127.0.0.1:4200/api"]
)
def test_a_prefect_server_that_does_not_answer(
    home: SmallHome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", address)
    code, text = exit_code(capsys)
    assert (code, not_ok(home)) == (1, {"prefect server": "error"})
    assert "secret" not in text


def test_a_prefect_server_that_hangs_costs_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{listening.getsockname()[1]}/api")
        line = prefect_server_line()
    assert (line.state, "timed out" in line.says) == ("error", True)


def test_versions_are_held_against_what_the_project_asks_for(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = metadata.requires("slowwave") or []
    assert any(text.startswith("polars") for text in asked)
    line = lines_of(home)["versions"]
    assert (line.state, f"polars {metadata.version('polars')}" in line.says) == ("ok", True)
    wanted = ["polars<1", "no-such-package>=3", "pytest>=1; python_version < '3'"]
    monkeypatch.setattr(metadata, "requires", lambda _: wanted)
    line = lines_of(home)["versions"]
    assert line.state == "error"
    assert line.says == (
        f"polars is {metadata.version('polars')} (wanted <1); no-such-package is not installed (wanted >=3)"
    )


def test_the_lock_is_told(published: SmallHome) -> None:
    assert lines_of(published)["lock"].says == "free"
    code = (
        "import fcntl, sys; lock = open(sys.argv[1], 'r+'); fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(published.settings.lock_file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert "held by `slowwave nightly`" in lines_of(published)["lock"].says


def test_everything_wrong_at_once_is_still_a_report(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    (published.folder / "lake" / "interactions" / "day=2026-99-99").mkdir()
    for entry in (published.folder / "lake" / "runs").glob("*/*.parquet"):
        entry.write_bytes(b"broken")
    published.settings.params_file.write_bytes(b"\xff")
    code, text = exit_code(capsys)
    assert code == 1
    assert "versions" in text


def test_as_of_a_day_not_begun(published: SmallHome) -> None:
    """A publish that sees nothing names no partitions, and lacks none."""
    published.nightly(datetime(2026, 1, 1))  # noqa: DTZ001 - naive times hold UTC
    assert lines_of(published)["evidence"].says.endswith("(0 days)")


@pytest.mark.parametrize("stated", [b"[[[", b"\xff\xfe"])
def test_connections_and_params_that_cannot_be_read_are_named(home: SmallHome, stated: bytes) -> None:
    home.folder.mkdir()
    for name in ("connections.toml", "params.toml"):
        (home.folder / name).write_bytes(stated)
    lines = lines_of(home)
    assert [lines[name].state for name in ("connections", "params")] == ["error", "error"]
    for arguments in (["doctor"], ["nightly", "--plan"]):
        done = home.ask(*arguments)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
