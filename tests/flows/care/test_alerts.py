"""Alerts on real small homes, to real servers on loopback: what is sent, once, and to whom."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alert_servers import Taken, http_server, mail_server
from each import each
from shared_homes import plain_home, taught_home
from small_home import SmallHome, interaction, memory

from slowwave.flows.care.alert_causes import CAUSES, make_inert
from slowwave.flows.care.alert_targets import AlertRules, Target
from slowwave.flows.care.alerts import Checked, check_home, read_rules, watch_night
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lifetime.tombstones import intent_path

SECRET = "s3cr3t-token"  # noqa: S105 - of no server
# apprise asks for a module that Python deprecates, when it is loaded
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

LATE = timedelta(hours=27)


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return plain_home(tmp_path / "home")


@pytest.fixture
def server() -> Iterator[Taken]:
    with http_server() as taken:
        yield taken


def state_rules(home: SmallHome, *targets: str, **more: Any) -> AlertRules:
    stated = {"targets": list(targets), "timeout_seconds": 5, **more}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in stated.items())
    home.settings.settings_file.write_text(f"[alerts]\n{lines}")
    return read_rules(home.settings)


def check(home: SmallHome, rules: AlertRules, after: timedelta = timedelta(0), **options: Any) -> Checked:
    return check_home(home.settings, rules, utc_now() + after, **options)


def names(checked: Checked) -> set[str]:
    return {cause.name for cause, _ in checked.found}


def sent(server: Taken, path: str = "/hook") -> list[tuple[str, str]]:
    """State and cause of each message that came there."""
    told = [json.loads(content) for _, at, content in server.requests if at == path]
    return [(one["state"], one["cause"]) for one in told]


# --------------------------------------------------------------------------------------------------------- once, each


def test_a_cause_is_told_when_it_begins_and_when_it_is_over_and_not_between(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url())
    assert check(home, rules).is_well
    for hours in (0, 1, 30):
        checked = check(home, rules, LATE + timedelta(hours=hours))
        assert (names(checked), checked.faults, checked.is_well) == ({"late_night"}, [], False)
    assert sent(server) == [("open", "late_night")]
    assert check(home, rules).is_well
    assert check(home, rules).is_well
    assert sent(server) == [("open", "late_night"), ("over", "late_night")]
    told = json.loads(server.requests[0][2])
    assert told["says"][0].startswith("the last night started 27 hours ago")
    assert (told["home"], told["todo"]) == (str(home.folder), "see what starts it, then slowwave nightly")
    assert told["text"].startswith("Slowwave: no night has started in time\n")


def test_each_target_is_told_of_what_it_did_not_take_and_nothing_twice(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url("/good"), server.url("/bad"))
    server.refused.add("/bad")
    faults = check(home, rules, LATE, is_night=True).faults
    assert [fault.split(": ")[1] for fault in faults] == ["answered 500; the next night tries again"]
    server.refused.clear()
    assert check(home, rules, LATE).faults == ["http://127.0.0.1/… failed before: the next night tries again"]
    assert sorted(server.paths()) == ["/bad", "/good"]
    assert check(home, rules, LATE, is_night=True).faults == []
    assert check(home, rules, LATE, is_night=True).faults == []
    assert sorted(server.paths()) == ["/bad", "/bad", "/good"]


def test_who_was_not_told_of_the_beginning_is_not_told_of_the_end(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url())
    server.refused.add("/hook")
    check(home, rules, LATE, is_night=True)
    server.refused.clear()
    check(home, rules, is_night=True)
    assert len(server.requests) == 1
    assert json.loads(home.settings.alerts_file.read_text())["alerts"] == []


def test_what_comes_back_is_told_anew(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url())
    for after in (LATE, timedelta(0), LATE):
        check(home, rules, after)
    assert sent(server) == [("open", "late_night"), ("over", "late_night"), ("open", "late_night")]


def test_who_knew_that_it_was_over_is_told_that_it_is_back_and_who_did_not_is_not(
    home: SmallHome, server: Taken
) -> None:
    rules = state_rules(home, server.url("/good"), server.url("/bad"))
    check(home, rules, LATE)
    server.refused.add("/bad")
    check(home, rules, is_night=True)
    server.refused.clear()
    check(home, rules, LATE, is_night=True)
    late = ("open", "late_night")
    assert sent(server, "/good") == [late, ("over", "late_night"), late]
    assert sent(server, "/bad") == [late, ("over", "late_night")]


@pytest.mark.parametrize(
    "noted",
    [
        "[]",
        "[" * 100_000,
        '{"alerts": [{"cause": "failed_night", "subject": "", "began_at": "yesterday"}], "failed": {}}',
        '{"alerts": [{"cause": "late_night", "subject": "", "began_at": 5}], "failed": {}}',
        '{"alerts": [{"cause": [], "subject": "", "began_at": "2026-03-01T00:00:00Z"}], "failed": {}}',
        '{"alerts": [{"cause": "late_night", "subject": "", "began_at": "2026-03-01", "told": [[1]]}], "failed": {}}',
        '{"alerts": [{"cause": "late_night", "subject": "", "began_at": "2026-03-01", "told": null}], "failed": {}}',
        '{"alerts": [], "failed": {"x": "soon"}}',
    ],
)
def test_what_was_noted_and_is_damaged_is_noted_anew(home: SmallHome, server: Taken, noted: str) -> None:
    home.settings.alerts_file.write_text(noted)
    rules = state_rules(home, server.url())
    assert check(home, rules, LATE).faults == []
    assert sent(server) == [("open", "late_night")]
    assert check(home, rules, LATE, is_night=True).faults == []
    assert len(server.requests) == 1


def test_no_redirect_is_followed(home: SmallHome, server: Taken) -> None:
    (fault,) = check(home, state_rules(home, server.url("/moved")), LATE).faults
    assert "answered 302" in fault
    assert server.paths() == ["/moved"]


def test_a_target_that_never_answers_is_left_and_the_others_are_told(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url("/hang"), server.url("/hook"), timeout_seconds=1)
    (fault,) = check(home, rules, LATE, is_night=True).faults
    assert "no answer within 1 s" in fault or "timed out" in fault
    assert sent(server) == [("open", "late_night")]


def test_nothing_is_sent_in_quiet_hours_and_what_still_holds_comes_after(home: SmallHome, server: Taken) -> None:
    night = utc_now() + LATE
    quiet = f"{night:%H}:00-{night + timedelta(hours=2):%H}:00"
    rules = state_rules(home, server.url(), quiet=quiet)
    assert names(check_home(home.settings, rules, night)) == {"late_night"}
    assert server.requests == []
    check_home(home.settings, rules, night + timedelta(hours=3))
    assert sent(server) == [("open", "late_night")]


@each(
    ("at", "is_quiet"),
    [
        ("2026-03-28T20:59", False),  # 21:59 in Berlin
        ("2026-03-28T21:00", True),
        ("2026-03-29T04:59", True),  # clocks went forward: 06:59
        ("2026-03-29T05:00", False),
        ("2026-10-25T05:59", True),  # back again: 06:59
        ("2026-10-25T06:00", False),
    ],
)
def test_quiet_hours_follow_the_clock_of_their_zone(at: str, is_quiet: bool, tmp_path: Path) -> None:
    home = SmallHome(tmp_path)
    rules = state_rules(home, "json://localhost", quiet="22:00-07:00", timezone="Europe/Berlin")
    assert rules.is_quiet(datetime.fromisoformat(at)) == is_quiet


# -------------------------------------------------------------------------------------------------------- every cause


def _fail(home: SmallHome) -> None:
    runs = home.settings.serving / "runs"
    runs.rename(home.folder / "aside")
    runs.write_text("in the way")
    home.land(interaction("i2"))
    with pytest.raises(OSError, match="runs"):
        home.nightly()


def _mend(home: SmallHome) -> None:
    runs = home.settings.serving / "runs"
    runs.unlink()
    (home.folder / "aside").rename(runs)
    home.nightly()


def _fall_silent(home: SmallHome) -> None:
    last = {"steady": 25, "other": 12}
    rows = [
        interaction(f"{agent}{day}", agent=agent, created_at=f"2026-03-{day:02}T09:00:00Z")
        for agent, until in last.items()
        for day in range(1, until)
    ]
    home.land(*rows)


def _speak(home: SmallHome) -> None:
    home.land(interaction("again", agent="other", created_at="2026-03-24T09:00:00Z"))


def _refuse_rows(home: SmallHome) -> None:
    home.land(*(interaction(f"r{at}") for at in range(9)), interaction("bad", prompt=" "))


def _land_many(home: SmallHome) -> None:
    home.land(*(interaction(f"more{at}") for at in range(40)))


def _refuse_a_file(home: SmallHome) -> None:
    home.land("{", interaction("bad", prompt=" "))


def _begin_an_erasure(home: SmallHome) -> None:
    path = intent_path(home.settings.lake_folder)
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")


def _end_the_erasure(home: SmallHome) -> None:
    intent_path(home.settings.lake_folder).unlink()


def _upgrade_the_lake(home: SmallHome) -> None:
    path = home.folder / "lake" / "FORMAT"
    path.rename(path.with_name("aside"))
    path.write_text("99\n")


def _downgrade_the_lake(home: SmallHome) -> None:
    path = home.folder / "lake" / "FORMAT"
    path.with_name("aside").rename(path)


@pytest.mark.parametrize(
    ("cause", "begin", "end"),
    [
        ("failed_night", _fail, _mend),
        ("silent_producer", _fall_silent, _speak),
        ("refused_rows", _refuse_rows, _land_many),
        ("pending_erasure", _begin_an_erasure, _end_the_erasure),
        ("unreadable_lake", _upgrade_the_lake, _downgrade_the_lake),
    ],
)
def test_a_cause_begins_and_ends(
    home: SmallHome, cause: str, begin: Callable[[SmallHome], None], end: Callable[[SmallHome], None], server: Taken
) -> None:
    rules = state_rules(home, server.url())
    assert cause not in names(check(home, rules))
    begin(home)
    assert cause in names(check(home, rules))
    end(home)
    assert cause not in names(check(home, rules))
    assert [told for told in sent(server) if told[1] == cause] == [("open", cause), ("over", cause)]


def test_a_file_that_was_refused_whole_is_told_of(home: SmallHome) -> None:
    rules = state_rules(home)
    _refuse_a_file(home)
    (found,) = [found for cause, found in check(home, rules).found if cause.name == "incomplete_night"]
    assert found[0].says.startswith("refused whole: ")


def test_the_disk_is_told_of_days_before_it_is_full(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = state_rules(home, disk_days=7)
    current = home.settings.current.stat().st_size
    for free, expected in ((10**12, set()), (2 * current, {"full_disk"})):
        usage = shutil.disk_usage(home.folder)._replace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _path, usage=usage: usage)
        assert names(check(home, rules)) == expected


def test_what_was_learned_is_told_once_and_is_no_fault(tmp_path: Path, server: Taken) -> None:
    home = SmallHome(tmp_path / "home")
    shutil.copytree(taught_home().folder, home.folder, symlinks=True)
    rules = state_rules(home, server.url(), without=["late_night", "refused_rows", "silent_producer"])
    for _ in range(2):
        checked = check(home, rules)
        assert (names(checked), checked.is_well) == ({"failing_strategy", "harmful_memory"}, True)
    assert sorted(sent(server)) == [("open", "failing_strategy"), ("open", "harmful_memory")]


def test_a_night_that_failed_before_the_ledger_knew_is_open_until_one_goes_well(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url())
    check(home, rules, failure="params.toml cannot be used", is_night=True)
    assert names(check(home, rules)) == {"failed_night"}
    assert home.nightly().status == "skipped"
    assert check(home, rules).is_well
    assert sent(server) == [("open", "failed_night"), ("over", "failed_night")]
    assert json.loads(server.requests[0][2])["says"] == ["params.toml cannot be used"]
    assert names(check(home, rules, LATE, failure="no room", is_night=True)) == {"failed_night"}  # it is not late too


def test_what_cannot_be_looked_at_is_not_over(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url())
    check(home, rules, LATE)
    _upgrade_the_lake(home)
    check(home, rules)
    assert sent(server) == [("open", "late_night"), ("open", "unreadable_lake")]


def test_a_home_where_no_night_ever_started_is_late(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(interaction("i1"))
    rules = state_rules(home)
    assert names(check(home, rules)) == set()
    assert names(check(home, rules, LATE)) == {"late_night"}


# ------------------------------------------------------------------------------------------------ what a message holds


def test_a_message_from_a_log_is_one_inert_line_and_the_home_keeps_none_of_it(home: SmallHome, server: Taken) -> None:
    evil = "@everyone <!channel>\n[x](https://evil.example)\x1b[2J`*" + "a" * 500
    rows = [
        interaction(f"{agent}{day}", agent=agent, created_at=f"2026-03-{day:02}T09:00:00Z")
        for agent, until in ((evil, 12), ("steady", 25))
        for day in range(1, until)
    ]
    home.land(*rows)
    check(home, state_rules(home, server.url()))
    (says,) = json.loads(server.requests[0][2])["says"]
    assert not set("@<>`*[]|\n\x1b") & set(says)
    assert "://" not in says
    assert len(says) <= 240
    assert "everyone" in says
    assert "everyone" not in home.settings.alerts_file.read_text()
    assert make_inert("plain text") == "plain text"


def test_many_findings_are_one_short_message(home: SmallHome, server: Taken) -> None:
    for at in range(8):
        home.land(f"{{{at}", interaction(f"bad{at}", prompt=" "))
    check(home, state_rules(home, server.url(), without=["refused_rows"]))
    (told,) = [json.loads(content) for _, _, content in server.requests]
    assert told["title"] == "Slowwave: rows or files were left out (8)"
    assert (len(told["says"]), told["says"][-1]) == (6, "and 3 more")


def test_mail_and_what_else_apprise_knows_is_sent_to(home: SmallHome, server: Taken) -> None:
    with mail_server() as (port, mails):
        mail = f"mailto://127.0.0.1:{port}?from=night@example.org&to=us@example.org&mode=insecure"
        assert check(home, state_rules(home, mail, server.url("/x", "json")), LATE).faults == []
    assert "Subject: Slowwave: no night has started in time" in mails[0]
    assert json.loads(server.requests[0][2])["title"] == "Slowwave: no night has started in time"


# ------------------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    "text",
    [
        f'targets = "https://x.example/{SECRET}"',
        f'targets = ["{SECRET}"]',
        f'targets = ["http://[::1/{SECRET}"]',
        f'targets = ["https:///{SECRET}"]',
        f'ping = "ftp://x.example/{SECRET}"',
        'quiet = "10pm"',
        'timezone = "Mars/Base"',
        "late_hours = 0",
        "timeout_seconds = true",
        'without = ["everything"]',
        "target = []",
    ],
)
def test_settings_that_cannot_be_understood_say_so_and_no_secret(tmp_path: Path, text: str) -> None:
    Settings(tmp_path).settings_file.write_text(f"[alerts]\n{text}\n")
    with pytest.raises(UserError, match="cannot be used: ") as found:
        read_rules(Settings(tmp_path))
    assert SECRET not in str(found.value)
    said: list[str] = []
    with watch_night(Settings(tmp_path), said.append):
        pass
    assert said[0].startswith("nobody is alerted: ")


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 5_000])
def test_settings_that_no_reader_takes_say_so(home: SmallHome, value: str) -> None:
    home.settings.settings_file.write_text(f"[alerts]\ntargets = {value}\n")
    done = home.ask("alerts")
    assert (done.returncode, "settings.toml cannot be used" in done.stderr) == (1, True)


def test_what_a_target_says_of_itself_is_shown_without_its_secrets() -> None:
    target = Target(f"json://me:{SECRET}%21@host.example/path-{SECRET}?token=abcd1234")
    said = target.hide_secrets(f"json of host.example: me:{SECRET}! and path-{SECRET} with abcd1234 failed")
    assert said == "json of …: me:… and … with … failed"
    assert (target.label, SECRET in repr(target)) == ("json://…", False)


def test_no_two_causes_have_a_name_or_a_title() -> None:
    assert len({cause.name for cause in CAUSES}) == len({cause.title for cause in CAUSES}) == len(CAUSES)


# ------------------------------------------------------------------------------------------------------------- a night


class _StoppedError(BaseException):
    pass


def _watched(settings: Settings, error: BaseException | None = None) -> list[str]:
    said: list[str] = []

    def end() -> None:
        if error is not None:
            raise error

    with nullcontext() if error is None else pytest.raises(type(error)), watch_night(settings, said.append):
        end()
    return said


def test_a_night_pings_at_its_start_and_at_its_end(home: SmallHome, server: Taken) -> None:
    state_rules(home, server.url(), ping=server.url("/id?rid=1"))
    assert _watched(home.settings) == []
    assert _watched(home.settings, OSError("no room in <the> disk")) == []
    assert _watched(home.settings, _StoppedError()) == []
    told = server.requests
    assert [path for _, path, _ in told if path != "/hook"] == [
        "/id/start?rid=1", "/id?rid=1", "/id/start?rid=1", "/id/fail?rid=1", "/id/start?rid=1",
    ]  # fmt: skip
    assert [content for _, path, content in told if path.startswith("/id/fail")] == [b"no room in (the) disk"]
    assert home.settings.alerts_file.stat().st_mode & 0o077 == 0
    assert sent(server) == [("open", "failed_night")]


def test_nothing_that_telling_does_changes_how_a_night_ends(home: SmallHome, server: Taken) -> None:
    state_rules(home, server.url("/hang"), "nosuch://x/secret-part", ping=server.url("/hang"), timeout_seconds=1)
    said = _watched(home.settings, OSError("no room"))
    assert sum("ping" in one for one in said) == 2
    assert any("apprise knows no such target" in one for one in said)
    assert "secret-part" not in "".join(said)


def test_a_night_tells_of_it_where_the_home_cannot_be_written(home: SmallHome, server: Taken) -> None:
    rules = state_rules(home, server.url())
    home.settings.alerts_file.mkdir()  # nothing can be put there
    assert len(check(home, rules, LATE, is_night=True).faults) == 1
    assert sent(server) == [("open", "late_night")]
    (fault,) = check(home, rules, LATE).faults
    assert "cannot be written" in fault
    assert len(server.requests) == 1


# ------------------------------------------------------------------------------------------------------------ commands


def test_a_test_goes_to_each_target_and_says_what_each_answered(home: SmallHome, server: Taken) -> None:
    server.refused.add(f"/{SECRET}")
    state_rules(home, server.url(), quiet="00:00-23:59")
    done = home.ask("alerts", "test")
    assert (done.returncode, "took the message" in done.stdout, sent(server)) == (0, True, [("test", "test")])
    state_rules(home, server.url(), server.url(f"/{SECRET}"), f"nosuch://{SECRET}")
    done = home.ask("alerts", "test", "--format", "json")
    assert done.returncode == 1
    assert [(one["name"], one["says"]) for one in json.loads(done.stdout)] == [
        ("http://127.0.0.1/…", "took the message"),
        ("http://127.0.0.1/…", "answered 500"),
        ("nosuch://…", "apprise knows no such target"),
    ]
    for command in (("alerts", "test"), ("alerts",), ("doctor",), ("status", "--alert")):
        done = home.ask(*command)
        assert SECRET not in done.stdout + done.stderr


def test_a_test_without_targets_says_what_to_do(home: SmallHome) -> None:
    done = home.ask("alerts", "test")
    assert (done.returncode, done.stdout) == (1, "")
    assert "targets" in done.stderr


def test_what_is_open_is_shown_and_nothing_is_sent(home: SmallHome, server: Taken) -> None:
    state_rules(home, server.url())
    _begin_an_erasure(home)
    shown = json.loads(home.ask("alerts", "--format", "json").stdout)
    assert [one["cause"] for one in shown["open"]] == ["pending_erasure"]
    assert shown["targets"] == ["http://127.0.0.1/…"]
    assert "an erasure did not end" in home.ask("alerts").stdout
    assert server.requests == []
    assert not home.settings.alerts_file.exists()


def test_status_alerts_and_ends_with_1_where_something_is_wrong(home: SmallHome, server: Taken) -> None:
    state_rules(home, server.url())
    assert home.ask("status", "--alert").returncode == 0
    home.land(memory("m2"), interaction("bad", prompt=" "))
    done = home.ask("status", "--alert")
    assert done.returncode == 1
    assert "many rows are refused: 1 of 4 rows (25.0%) in the last day of landings" in done.stderr
    assert sent(server) == [("open", "refused_rows")]
    assert home.ask("status").returncode == 0


@pytest.mark.slow
def test_a_night_by_its_command_pings_and_alerts(home: SmallHome, server: Taken) -> None:
    state_rules(home, server.url(), ping=server.url("/id"))
    assert home.ask("nightly").returncode == 0
    assert server.paths() == ["/id/start", "/id"]
    _upgrade_the_lake(home)
    assert home.ask("nightly").returncode == 1
    assert server.paths()[2:4] == ["/id/start", "/id/fail"]
    assert sorted(sent(server)) == [("open", "failed_night"), ("open", "unreadable_lake")]
