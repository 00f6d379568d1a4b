"""The dashboard as its own process over a published home, as a person starts it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from hostile_rows import hostile_rows
from small_home import SmallHome

from slowwave.data.sample import write_sample

AS_OF = datetime(2026, 3, 12)  # noqa: DTZ001 - UTC without a zone, as everywhere
_SECONDS_TO_START = 300


@dataclass
class Dashboard:
    """A dashboard that runs, and the home it shows."""

    home: SmallHome
    address: str
    process: subprocess.Popen[str]


def published_home(folder: Path) -> SmallHome:
    """Ten days of the sample logs and a hostile project, published."""
    home = SmallHome(folder)
    write_sample(home.settings.inbox, days=10, interactions_per_day=40)
    home.land(*hostile_rows())
    home.nightly(AS_OF)
    return home


def started(home: SmallHome, folder: Path) -> Dashboard:
    """`slowwave dashboard` on a free port, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "user").mkdir(exist_ok=True)
    environment = {**os.environ, "SLOWWAVE_HOME": str(home.folder), "HOME": str(folder / "user")}
    slowwave = Path(sys.executable).parent / "slowwave"
    process = subprocess.Popen(
        [slowwave, "dashboard", "--port", str(port)],
        env=environment,
        cwd=folder,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=2):  # noqa: S310 - our own server
                return Dashboard(home, address, process)
        except (URLError, OSError):
            time.sleep(0.2)
    process.kill()
    message = f"the dashboard did not start: exit code {process.wait()}"
    raise RuntimeError(message)


def stopped(dashboard: Dashboard) -> int:
    """End it as a terminal would, and return its exit code."""
    dashboard.process.terminate()
    return dashboard.process.wait(timeout=300)
