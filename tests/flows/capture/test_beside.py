"""A receiver beside something else: begun again at its address when it dies, and never left behind."""

from __future__ import annotations

import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from small_home import SmallHome

from slowwave.flows.capture import beside
from slowwave.flows.land.received_files import Latest, latest_receiver

pytestmark = pytest.mark.slow


def posted(url: str, prompt: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port or 0, timeout=60)
    connection.request("POST", "/interactions", json.dumps({"prompt": prompt}))
    status = connection.getresponse().status
    connection.close()
    return status


def running(home: SmallHome) -> Latest:
    latest = latest_receiver(home.settings)
    assert latest is not None
    assert latest.is_running
    return latest


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_one_that_was_killed_begins_again_at_its_address_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(beside, "_AGAIN_SECONDS", 0.05)
    home, notes = SmallHome(tmp_path / "home"), queue.SimpleQueue[str]()
    with beside.capturing(home.settings, ["--port", "0"], notes.put) as url:
        for number in range(3):
            assert posted(url, f"before {number}") == 200
            os.kill(running(home).process, signal.SIGKILL)
            assert notes.get(timeout=60) == f"capture  had ended, and takes rows again at {url}"
            assert posted(url, f"after {number}") == 200
    latest = latest_receiver(home.settings)
    assert latest is not None
    assert not latest.is_running
    assert latest.noted.stopped_at
    assert home.ask("land").returncode == 0
    told = home.ask("sql", "SELECT prompt FROM interactions_log", "--format", "json").stdout
    expected = [f"{when} {number}" for when in ("after", "before") for number in range(3)]
    assert sorted(row["prompt"] for row in json.loads(told)) == expected


def test_it_ends_with_who_began_it_however_that_ends(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from slowwave.flows.capture.beside import capturing\n"
        "from slowwave.flows.kernel.settings import Settings\n"
        "with capturing(Settings(Path(sys.argv[1])), [], print) as url:\n"
        "    print(url, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(home.folder)], stdout=subprocess.PIPE, text=True) as began:
        assert began.stdout is not None
        url = began.stdout.readline().strip()
        assert posted(url, "a") == 200
        child = running(home).process
        began.kill()
    wait_until(lambda: not Path(f"/proc/{child}").exists())
    latest = latest_receiver(home.settings)
    assert latest is not None
    assert latest.noted.stopped_at
