"""Who is told of a bad night: one that failed and one that left rows out, and nothing that telling does is fatal."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from shared_homes import plain_home

from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.nightly.notify import Notify, notify, notify_settings

_WRITE = "import pathlib, sys; pathlib.Path('told').write_text(sys.stdin.read()); sys.exit({code})"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path)


def ask_for(settings: Settings, code: str, **more: Any) -> None:
    stated = "".join(f"{name} = {json.dumps(value)}\n" for name, value in more.items())
    settings.settings_file.write_text(f"[notify]\ncommand = {json.dumps([sys.executable, '-c', code])}\n{stated}")


def test_nobody_is_told_when_nobody_is_named(settings: Settings) -> None:
    assert notify(settings, "failed", "why") == ""
    settings.settings_file.write_text("")
    assert notify_settings(settings) is None
    settings.settings_file.write_text('[notify]\ncommand = ["mail-me"]\n')
    assert notify_settings(settings) == Notify(["mail-me"], 60.0)


def test_the_reason_comes_as_json(settings: Settings) -> None:
    ask_for(settings, _WRITE.format(code=0))
    assert notify(settings, "failed", 'a "quoted"\nreason \x1b[2J', run_id="r1") == ""
    told = json.loads((settings.home / "told").read_text())
    assert (told["status"], told["message"], told["run_id"]) == ("failed", 'a "quoted"\nreason \x1b[2J', "r1")
    assert {"home", "lake", "host", "at"} <= set(told)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (_WRITE.format(code=3), "ended with exit code 3"),
        ("import sys; sys.stdin.close()", ""),
        ("pass", ""),
        ("import time; time.sleep(600)", "took more than 2 s and was ended"),
    ],
)
def test_what_goes_wrong_in_telling_is_said(settings: Settings, code: str, said: str) -> None:
    ask_for(settings, code, timeout_seconds=2)
    found = notify(settings, "failed", "x" * 10**6)
    assert found == (f"the notify command {sys.executable} {said}" if said else "")


@pytest.mark.slow
def test_what_the_command_has_started_ends_with_it(settings: Settings) -> None:
    ask_for(
        settings,
        "import pathlib, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\npathlib.Path('child').write_text(str(child.pid))\ntime.sleep(600)",
        timeout_seconds=5,
    )
    assert "was ended" in notify(settings, "failed", "why")
    child = Path("/proc") / (settings.home / "child").read_text()
    deadline = time.monotonic() + 60
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    "text",
    ["[notify", "[notify]\ncommand = 'mail me'", "[notify]\ncommand = []", "[notify]\ncomand = ['x']", "[else]\na = 1",
     "[notify]\ncommand = ['x']\ntimeout_seconds = 0", "[notify]\ncommand = ['x']\ntimeout_seconds = 'long'",
     "notify = 3"],
)  # fmt: skip
def test_settings_that_cannot_be_understood_are_said_to_be_so(settings: Settings, text: str) -> None:
    settings.settings_file.write_text(text)
    with pytest.raises(UserError, match="cannot be used: "):
        notify_settings(settings)
    assert notify(settings, "failed", "why").startswith("nobody was notified of this night: ")


def test_a_command_that_is_not_there(settings: Settings) -> None:
    settings.settings_file.write_text('[notify]\ncommand = ["/no/such/command"]\n')
    assert "cannot be run" in notify(settings, "failed", "why")


@pytest.mark.slow
def test_a_night_that_fails_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also one that fails before it has begun, and however telling ends."""
    home = plain_home(tmp_path / "home")
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    ask_for(home.settings, _WRITE.format(code=7))
    assert cli._exit_code(["nightly"]) == 0
    assert not (home.folder / "told").exists()
    (home.folder / "lake" / "FORMAT").write_text("99\n")
    assert cli._exit_code(["nightly"]) == 1
    assert "upgrade slowwave" in json.loads((home.folder / "told").read_text())["message"]
    assert "slowwave: the notify command" in capfd.readouterr().err
