"""Whom to tell of a bad night: the command that `settings.toml` names, with the reason as JSON on its standard input.

```toml
[notify]
command = ["/usr/local/bin/page-me", "--team", "memory"]
timeout_seconds = 60
```

It runs after a night that failed, or that left rows out. It is no part of the night: what becomes of it is said, and
changes nothing.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import shorten_to_width
from slowwave.flows.kernel.times import utc_now

_SECONDS = 60.0
_MOST_SECONDS = 3600.0
_MESSAGE = 4_000  # so that the whole reason fits into the pipe, whether it is read or not


@dataclass(frozen=True)
class Notify:
    """A command, and for how long it may run."""

    command: list[str]
    seconds: float


def notify_settings(settings: Settings) -> Notify | None:
    """Whom `settings.toml` says to tell; None: nobody. Raises UserError when it cannot be understood."""
    path = settings.settings_file
    table = settings.read_section("notify", {"command", "timeout_seconds"})
    if not table:
        return None
    command, seconds = table.get("command"), table.get("timeout_seconds", _SECONDS)
    if not isinstance(command, list) or not command or not all(isinstance(word, str) and word for word in command):
        message = f'{path} cannot be used: [notify] command is a list of words, such as ["mail-me", "--now"]'
        raise UserError(message)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= _MOST_SECONDS:
        message = f"{path} cannot be used: [notify] timeout_seconds is a number of seconds up to {_MOST_SECONDS:,.0f}"
        raise UserError(message)
    return Notify(command, float(seconds))


def notify(settings: Settings, status: str, message: str, **known: Any) -> str:  # noqa: ANN401 - JSON
    """Tell of a night that ended with this status; what went wrong in telling, '' for nothing."""
    try:
        whom = notify_settings(settings)
    except UserError as error:
        return f"nobody was notified of this night: {error}"
    if whom is None:
        return ""
    reason = {
        "status": status,
        "message": shorten_to_width(message, _MESSAGE),
        "home": str(settings.home),
        "lake": settings.lake,
        "host": socket.gethostname(),
        "at": f"{utc_now():%Y-%m-%dT%H:%M:%S}Z",
        **known,
    }
    said = _run(whom, json.dumps(reason).encode() + b"\n", settings)
    return f"the notify command {whom.command[0]} {said}" if said else ""


def _run(whom: Notify, reason: bytes, settings: Settings) -> str:
    try:
        process = subprocess.Popen(  # noqa: S603 - the owner's own command
            whom.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=settings.home,
            start_new_session=True,  # so that it can be ended with all it has started
        )
    except (OSError, ValueError) as error:
        return f"cannot be run: {error}"
    try:
        process.communicate(reason, whom.seconds)
    except subprocess.TimeoutExpired:
        return f"took more than {whom.seconds:g} s and was ended"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return "" if process.returncode == 0 else f"ended with exit code {process.returncode}"
