"""The dashboard as its own process over a published home, as a person starts it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hostile_rows import hostile_rows
from small_home import SmallHome

from slowwave.data.sample import write_sample

AS_OF = datetime(2026, 3, 12)  # noqa: DTZ001 - UTC without a zone, as everywhere


@dataclass
class Dashboard:
    """A dashboard that runs, and the home it shows."""

    home: SmallHome
    address: str  # without its token, which `entrance` adds
    process: subprocess.Popen[str]


_printed: dict[str, str] = {}


def entrance(address: str) -> str:
    """An address of a running dashboard, with the token that lets a browser in for the first time."""
    bare = "/".join(address.split("/")[:3])
    return f"{address}{'&' if '?' in address else '/?' if address == bare else '?'}{_printed[bare].partition('?')[2]}"


def published_home(folder: Path) -> SmallHome:
    """Ten days of the sample logs and a hostile project, published."""
    home = SmallHome(folder)
    write_sample(home.settings.inbox, days=10, interactions_per_day=40)
    home.land(*hostile_rows())
    home.nightly(AS_OF)
    return home


def started(home: SmallHome, folder: Path, *options: str) -> Dashboard:
    """`slowwave dashboard` with these options on a free port, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "user").mkdir(exist_ok=True)
    environment = {**os.environ, "SLOWWAVE_HOME": str(home.folder), "HOME": str(folder / "user")}
    slowwave = Path(sys.executable).parent / "slowwave"
    process = subprocess.Popen(
        [slowwave, "dashboard", "--port", str(port), *options],
        env=environment,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with process.stdout:
        address = process.stdout.readline().strip()  # once it answers
    if not address:
        message = f"the dashboard did not start: exit code {process.wait()}"
        raise RuntimeError(message)
    bare = f"http://127.0.0.1:{port}"
    _printed[bare] = address
    return Dashboard(home, bare, process)


def stopped(dashboard: Dashboard) -> int:
    """End it as a terminal would, and return its exit code."""
    dashboard.process.terminate()
    return dashboard.process.wait(timeout=300)
