"""`slowwave status` on real small homes: what it says, when it turns red, and that it leaves no trace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from each import each
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.care.status import Clock, status_lines
from slowwave.flows.cli.main import main
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.times import in_words, utc_now
from slowwave.flows.lake.current import report_file

Lines = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return SmallHome(tmp_path / "home")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    home = SmallHome(tmp_path_factory.mktemp("status") / "home")
    home.land(memory("m1"), interaction("i1", memories_used=["m1"]), outcome("o1"))
    report = report_file(home.settings, home.nightly().run_id)
    report.parent.mkdir()
    report.touch()
    return home


@pytest.fixture
def published(home: SmallHome, template: SmallHome) -> SmallHome:
    """A copy of it."""
    shutil.copytree(template.folder, home.folder, symlinks=True)
    return home


def status(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Lines]:
    """Exit code and lines by name, of `status --format json`."""
    with pytest.raises(SystemExit) as done:
        main(["status", "--format", "json", *arguments])
    report = json.loads(capsys.readouterr().out)
    return int(done.value.code or 0), {"state": report["state"]} | {line["name"]: line for line in report["lines"]}


def lines_at(home: SmallHome, now: datetime) -> dict[str, CheckLine]:
    """The lines as they would be at another time, with the default thresholds."""
    return {line.name: line for line in status_lines(home.settings, Clock(now, 26.0, 50.0))}


def states(lines: Lines) -> dict[str, str]:
    return {name: line["state"] for name, line in lines.items() if name != "state"}


@pytest.mark.usefixtures("published")
def test_a_fresh_publish_is_ok(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = status(capsys)
    assert code == 0
    assert lines["state"] == "ok"
    assert set(states(lines).values()) == {"ok"}
    assert list(lines)[1:] == [
        "interactions", "outcomes", "memories", "landings", "inbox", "publish", "report", "last night", "audits",
        "producers", "memory states", "clock", "disk", "writer",
    ]  # fmt: skip


def test_a_source_tells_its_rows_days_and_newest_times(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.land(
        interaction("i1"),
        interaction("i2", created_at="2026-03-05T01:02:03.5Z"),
        interaction("i1", recorded_at="2026-03-09T00:00:00Z", response="Later."),
    )
    _, lines = status(capsys)
    source = lines["interactions"]
    assert (source["rows"], source["days"], source["future_rows"]) == (3, 2, 0)
    assert source["newest_event_at"] == "2026-03-05T01:02:03.500000Z"
    assert source["newest_recorded_at"] == "2026-03-09T00:00:00Z"
    assert 0 <= source["landed_hours"] < 0.1
    assert lines["outcomes"]["says"] == "nothing landed yet"


@pytest.mark.parametrize(
    "ahead", [{"created_at": "2999-01-01T00:00:00Z"}, {"recorded_at": "2999-01-01T00:00:00Z"}], ids=["event", "version"]
)
def test_a_row_of_the_future_is_counted_and_is_not_the_newest(
    home: SmallHome, capsys: pytest.CaptureFixture[str], ahead: dict[str, str]
) -> None:
    home.land(interaction("i1"), interaction("i2", **ahead))
    _, lines = status(capsys)
    source = lines["interactions"]
    assert source["future_rows"] == 1
    assert source["newest_event_at"] == "2026-03-02T09:00:00Z"
    assert source["newest_recorded_at"] == "2026-03-02T09:00:00Z"
    assert "1 row in the future" in source["says"]


def test_a_row_later_today_is_of_the_future_too(home: SmallHome) -> None:
    home.land(interaction("i1"), interaction("i2", created_at="2026-03-02T23:00:00Z"))
    source = lines_at(home, datetime(2026, 3, 2, 12))["interactions"]  # noqa: DTZ001 - naive times hold UTC
    assert source.facts["future_rows"] == 1
    assert source.facts["newest_event_at"] == datetime(2026, 3, 2, 9)  # noqa: DTZ001


def test_ages_turn_yellow_then_red(published: SmallHome) -> None:
    now = utc_now()
    judged = ("interactions", "landings", "publish")
    for hours, expected in ((25.9, "ok"), (26.1, "warn"), (49.9, "warn"), (50.1, "error")):
        lines = lines_at(published, now + timedelta(hours=hours))
        assert {lines[name].state for name in judged} == {expected}, hours
    assert lines_at(published, now + timedelta(hours=900))["memories"].state == "warn"
    assert lines_at(published, now + timedelta(hours=900))["outcomes"].state == "warn"


@pytest.mark.usefixtures("published")
def test_thresholds_decide_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(capsys, "--warn-hours", "0", "--error-hours", "1")[0] == 0
    assert status(capsys, "--warn-hours", "0", "--error-hours", "0")[0] == 1


@pytest.mark.usefixtures("published")
def test_thresholds_in_disorder_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["status", "--warn-hours", "5", "--error-hours", "2"])
    said = capsys.readouterr()
    assert (done.value.code, said.out) == (2, "")
    assert "--warn-hours" in said.err


def test_no_home_is_an_error_and_stays_absent(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = status(capsys)
    assert code == 1
    assert lines["lake"]["state"] == lines["publish"]["state"] == "error"
    assert "slowwave land" in lines["lake"]["todo"]
    assert not home.folder.exists()


def test_nothing_published_is_an_error(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.land(interaction("i1"))
    code, lines = status(capsys)
    assert code == 1
    assert (lines["publish"]["says"], lines["publish"]["todo"]) == (
        "nothing is published yet",
        "run `slowwave nightly`",
    )
    assert lines["last night"]["state"] == "warn"


def test_a_failed_night_is_an_error_until_one_succeeds(
    published: SmallHome, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, aside = published.settings.serving / "runs", published.settings.serving / "runs-aside"
    published.land(interaction("i2"))
    for _ in range(2):
        runs.rename(aside)
        runs.write_text("in the way")
        with pytest.raises(OSError, match="runs"):
            published.nightly()
        runs.unlink()
        aside.rename(runs)
    code, lines = status(capsys)
    night = lines["last night"]
    assert (code, night["state"], night["status"], night["failed_in_a_row"]) == (1, "error", "failed", 2)
    assert "runs" in night["message"]
    assert lines["publish"]["state"] == "ok"
    published.nightly()
    assert status(capsys)[0] == 0


def test_a_skipped_night_is_ok_and_says_why(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    assert published.nightly().status == "skipped"
    code, lines = status(capsys)
    assert (code, lines["last night"]["status"]) == (0, "skipped")
    assert "nothing new" in lines["last night"]["says"]


def test_an_earlier_as_of_is_pointed_out(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    published.nightly(datetime(2026, 3, 2))  # noqa: DTZ001 - naive times hold UTC
    code, lines = status(capsys)
    assert (code, lines["publish"]["state"], lines["publish"]["as_of"]) == (0, "warn", "2026-03-02T00:00:00Z")
    assert lines["publish"]["todo"] == "run `slowwave nightly` to publish what is known now"


def test_an_as_of_that_lies_ahead_is_pointed_out(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    published.nightly(utc_now() + timedelta(days=40, hours=1))
    publish = status(capsys)[1]["publish"]
    assert (publish["state"], publish["todo"]) == ("warn", "run `slowwave nightly` to publish what is known now")
    assert "; that is 40 days ahead: " in publish["says"]


def test_an_earlier_as_of_after_the_last_interaction_is_no_fault(
    published: SmallHome, capsys: pytest.CaptureFixture[str]
) -> None:
    published.nightly(datetime(2026, 3, 9))  # noqa: DTZ001 - naive times hold UTC
    publish = status(capsys)[1]["publish"]
    assert (publish["state"], publish["todo"]) == ("ok", "")
    assert publish["says"].endswith("as asked for; no interaction is newer")
    (published.folder / "demo.json").write_text('{"seed": 7, "days": 8}')
    assert status(capsys)[1]["publish"]["says"].endswith("the sample logs end here")
    later = lines_at(published, utc_now() + timedelta(hours=30))["publish"]
    assert (later.state, later.todo) == ("warn", "")


def test_warnings_of_the_audits_are_told_without_obeying_them(
    home: SmallHome, capsys: pytest.CaptureFixture[str]
) -> None:
    home.land(interaction("i1", memories_used=["[red]gone\x1b[2J\u202e"]))
    home.nightly()
    code, lines = status(capsys)
    assert (code, lines["audits"]["state"]) == (0, "warn")
    assert lines["audits"]["warnings"][0].startswith("never_landed_memories: 1 ")
    with pytest.raises(SystemExit):
        main(["status"])
    text = capsys.readouterr().out
    assert "[red]gone" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_inbox_tells_how_long_its_oldest_file_waits(
    published: SmallHome, capsys: pytest.CaptureFixture[str]
) -> None:
    published.settings.inbox.mkdir()
    for name, days in (("a.jsonl", 3), ("b.jsonl", 0), ("c.jsonl.tmp", 30)):
        path = published.settings.inbox / name
        path.write_text("{}\n")
        dropped = time.time() - days * 86_400
        os.utime(path, (dropped, dropped))
    code, lines = status(capsys)
    assert (code, lines["inbox"]["state"], lines["inbox"]["files"]) == (1, "error", 2)
    assert "3 days ago" in lines["inbox"]["says"]


@pytest.mark.parametrize(("bad", "good", "expected"), [(1, 19, "ok"), (2, 19, "warn"), (2, 1, "error")])
def test_the_share_of_refused_rows_is_judged(
    home: SmallHome, capsys: pytest.CaptureFixture[str], bad: int, good: int, expected: str
) -> None:
    home.land(*(interaction(f"i{n}") for n in range(good)), *(f'{{"prompt": " ", "n": {n}}}' for n in range(bad)))
    _, lines = status(capsys)
    landings = lines["landings"]
    assert (landings["state"], landings["quarantined"], landings["delivered"]) == (expected, bad, bad + good)
    assert landings["quarantined_share"] == pytest.approx(bad / (bad + good), abs=1e-6)
    assert ("quarantine" in landings["todo"]) is (expected != "ok")


@contextmanager
def writer_in_another_process(home: SmallHome) -> Iterator[subprocess.Popen[str]]:
    code = (
        "import sys; from pathlib import Path; from slowwave.flows.kernel.lock import writer_lock\n"
        "from slowwave.flows.kernel.settings import Settings\n"
        "with writer_lock(Settings(Path(sys.argv[1])), 'backfill'): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_the_writer_is_named(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    with writer_in_another_process(published) as process:
        code, lines = status(capsys)
    assert code == 0
    assert f"`slowwave backfill` (process {process.pid}" in lines["writer"]["holder"]
    assert status(capsys)[1]["writer"]["holder"] is None


def test_looking_never_keeps_a_writer_out(published: SmallHome) -> None:
    """`status` tries the lock for an instant; a writer that refuses to wait must not be refused because of it."""
    code = (
        "import sys; from pathlib import Path; from slowwave.flows.kernel.lock import holder\n"
        "from slowwave.flows.kernel.settings import Settings\n"
        "settings = Settings(Path(sys.argv[1])); print('on', flush=True)\n"
        "while True: holder(settings)"
    )
    looking = subprocess.Popen([sys.executable, "-c", code, str(published.folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert looking.stdout is not None
        assert looking.stdout.readline() == "on\n"
        for _ in range(300):
            with writer_lock(published.settings, "land"):
                pass
    finally:
        looking.kill()
        looking.communicate()


def test_a_lake_of_a_newer_version_is_named_and_the_rest_is_told(
    published: SmallHome, capsys: pytest.CaptureFixture[str]
) -> None:
    (published.folder / "lake" / "FORMAT").write_text("99\n")
    code, lines = status(capsys)
    assert (code, lines["lake"]["state"]) == (1, "error")
    assert "upgrade slowwave" in lines["lake"]["says"]
    assert lines["inbox"]["state"] == "ok"
    assert lines["publish"]["run_id"]


@pytest.mark.parametrize(
    "fault", ["empty lake", "no such day", "foreign name", "cut file", "binary format", "file for a folder"]
)
def test_a_broken_home_is_told_of(published: SmallHome, capsys: pytest.CaptureFixture[str], fault: str) -> None:
    lake = published.folder / "lake"
    day = lake / "interactions" / "day=2026-03-02"
    if fault == "empty lake":
        lake.rename(published.folder / "gone")
        lake.mkdir()
    elif fault == "no such day":
        (lake / "interactions" / "day=2026-99-99").mkdir()
    elif fault == "foreign name":
        (day / "mine.parquet").write_bytes(b"mine")
    elif fault == "cut file":
        (file,) = day.iterdir()
        file.write_bytes(file.read_bytes()[:-20])
    elif fault == "binary format":
        (lake / "FORMAT").write_bytes(b"\xff\xfe")
    else:
        (lake / "outcomes" / "day=2026-03-09").write_text("no folder")
    code, lines = status(capsys)
    assert code == 1
    assert "writer" in lines


def test_a_current_that_points_nowhere_is_an_error(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    published.settings.current.resolve().unlink()
    code, lines = status(capsys)
    assert (code, lines["publish"]["says"]) == (1, "current.duckdb points to a file that is gone")


def test_a_current_that_points_to_a_folder_is_an_error(
    published: SmallHome, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    published.settings.current.unlink()
    published.settings.current.symlink_to(tmp_path)
    code, lines = status(capsys)
    assert (code, lines["publish"]["says"]) == (1, "current.duckdb points to a folder")


def test_a_current_that_is_no_link_is_an_error(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    published.settings.current.unlink()
    published.settings.current.write_bytes(b"copied here")
    code, lines = status(capsys)
    assert (code, lines["publish"]["state"]) == (1, "error")


def test_a_publish_that_the_ledger_lacks_is_a_warning(published: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    for entry in (published.folder / "lake" / "runs").glob("*/*.parquet"):
        if entry.stem == published.settings.current.resolve().stem:
            entry.unlink()
    _, lines = status(capsys)
    assert lines["publish"]["state"] == "warn"
    assert "not in the ledger" in lines["publish"]["says"]


def test_text_fits_100_columns_and_takes_nothing_for_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = SmallHome(tmp_path / ("[bold]\x1b[31m\u202e" + "long-" * 30))
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    with pytest.raises(SystemExit):
        main(["status"])
    absent = capsys.readouterr().out
    home.land(interaction("i1", memories_used=[f"{'no-space-' * 40}{n}" for n in range(5)]))
    home.nightly()
    with pytest.raises(SystemExit):
        main(["status"])
    for text in (absent, capsys.readouterr().out):
        assert "[bold]" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert max(map(len, text.splitlines())) <= 100


def test_a_read_only_home_is_enough_and_nothing_is_written(published: SmallHome) -> None:
    before = published.contents()
    with writer_in_another_process(published):
        done = published.run_unable_to_write("status")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ok ")
    assert "`slowwave backfill`" in done.stdout
    locks = {name: published.contents()[name] for name in (".lock", "lake/.lock")}
    assert published.contents() == before | locks


@pytest.mark.slow
def test_prefect_is_not_loaded(published: SmallHome) -> None:
    code = (
        "import sys\nfrom slowwave.flows.cli.main import main\n"
        "for command in ('status', 'doctor', 'diff'):\n"
        "    try: main([command])\n"
        "    except SystemExit: print(command, 'prefect' in sys.modules, 'typer' in sys.modules, file=sys.stderr)"
    )
    published.nightly(datetime(2026, 3, 9))  # noqa: DTZ001 - so that there are two to compare
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines() == [f"{command} False True" for command in ("status", "doctor", "diff")]


@each(
    ("age", "said"),
    [
        ({"seconds": 0}, "just now"),
        ({"seconds": 59}, "just now"),
        ({"seconds": 60}, "1 minute ago"),
        ({"minutes": 119}, "119 minutes ago"),
        ({"hours": 2}, "2 hours ago"),
        ({"hours": 47}, "47 hours ago"),
        ({"hours": 48}, "2 days ago"),
        ({"days": -1200}, "in 1,200 days"),
    ],
)
def test_ages_in_words(age: dict[str, float], said: str) -> None:
    assert in_words(timedelta(**age)) == said


def silent(home: SmallHome) -> CheckLine:
    return lines_at(home, datetime(2026, 4, 1))["producers"]  # noqa: DTZ001 - naive times hold UTC


def delivered(agent: str, days: list[int]) -> list[dict[str, Any]]:
    return [interaction(f"{agent}{day}", agent=agent, created_at=f"2026-03-{day:02}T09:00:00Z") for day in days]


@pytest.mark.parametrize(
    ("days", "is_silent"),
    [
        (list(range(1, 24)), False),  # two days of silence: within twice its usual gap
        (list(range(1, 23)), True),
        ([2, 4, 6, 8, 10, 12, 14, 16, 18, 20], True),
        ([2, 4, 6, 8, 10, 12, 14, 16, 18, 21], False),
        ([1, 2, 3, 4, 5, 6, 7], False),  # too few days to have a rhythm
    ],
)
def test_a_producer_that_fell_silent_is_named(home: SmallHome, days: list[int], is_silent: bool) -> None:
    home.land(*delivered("steady", list(range(1, 26))), *delivered("other", days))
    line = silent(home)
    assert (line.state == "warn", "agent other" in line.says, "steady" in line.says) == (is_silent, is_silent, False)


def test_that_nobody_delivers_is_no_silence_of_one(home: SmallHome) -> None:
    home.land(*delivered("steady", list(range(1, 11))))
    assert silent(home).state == "ok"


def test_memories_that_never_state_a_status_are_told_of(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.land(memory("m1"), memory("m1", changed_at="2026-03-04T00:00:00Z", status=None), memory("m2", status=None))
    line = status(capsys)[1]["memory states"]
    assert (line["state"], line["without_status"]) == ("warn", 1)
    assert line["says"].startswith("1 of 2 memories never state a status, such as m2: ")


def test_a_clock_that_went_back_is_told_of(published: SmallHome) -> None:
    line = lines_at(published, utc_now() - timedelta(hours=3))["clock"]
    assert (line.state, "in 3 hours" in line.says or "in 2 hours" in line.says) == ("warn", True)


def test_for_how_long_the_disk_will_do(published: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    published.land(interaction("ahead", created_at="2999-01-01T00:00:00Z"))  # says nothing of these days
    line = lines_at(published, utc_now())["disk"]
    assert line.state == "ok"
    a_day, current = line.facts["bytes_a_day"], published.settings.current.stat().st_size
    for days, expected in ((30, "ok"), (29, "warn"), (1, "warn"), (0, "error")):
        usage = shutil.disk_usage(published.folder)._replace(free=2 * current + days * (a_day + 1))
        monkeypatch.setattr(shutil, "disk_usage", lambda _path, usage=usage: usage)
        line = lines_at(published, utc_now())["disk"]
        assert (line.state, line.facts["days_left"]) == (expected, days)
