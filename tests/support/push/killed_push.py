"""Pushes that are killed for good, at a moment that is counted: the command, or whoever writes by a store's library.

A moment of the command is a file that it opens to write, makes, moves or removes, in a home or a store; one of a
library is a statement that it gives to SQLite and that writes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_WRITES = os.O_WRONLY | os.O_RDWR
_CHANGES = frozenset({"os.rename", "os.mkdir", "os.remove", "os.link", "os.chmod"})
# What runs in an interpreter that has nothing of ours: it counts, kills, and else is the helper that it is given.
_HELPER = """
import os, runpy, signal, sqlite3, sys
dying, at, counted, path, *sys.argv = sys.argv[1:]
real, done = sqlite3.connect, 0
def step(statement):
    global done
    if not statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "REPLACE", "COMMIT")):
        return
    done += 1
    if done > int(at) >= 0:
        if dying == "both":
            os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
def connect(*given, **named):
    made = real(*given, **named)
    made.set_trace_callback(step)
    return made
if path in sys.argv:
    sqlite3.connect = connect
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    if path in sys.argv:
        with open(counted, "w") as file:
            file.write(str(done))
"""


@dataclass(frozen=True)
class Killed:
    """How a push ended, and how many moments there were, or would have been, of whom it was to kill."""

    code: int
    moments: int


def killed_push(folder: Path, home: Path, roots: list[Path], who: str, at: int, *arguments: str) -> Killed:
    """Run `slowwave push` and kill `who` (command, helper or both) at a moment from 0; -1: never.

    `helper_python` is to be the interpreter of the store's connection.
    """
    counted = folder / "moments"
    counted.unlink(missing_ok=True)
    env = {**os.environ, "SLOWWAVE_HOME": str(home), "KILL_WHO": who, "KILL_AT": str(at), "KILL_COUNT": str(counted)}
    command = [sys.executable, __file__, os.pathsep.join(map(str, roots)), *arguments]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return Killed(done.returncode, int(counted.read_text()) if counted.exists() else 0)


def helper_python(folder: Path, python: str, store: Path) -> Path:
    """An interpreter that is `python`, and kills what `killed_push` says when it has opened the store itself."""
    script, made = folder / "killing_helper.py", folder / "python"
    script.write_text(_HELPER)
    said = '"${KILL_WHO:-none}" "${KILL_AT:--1}" "${KILL_COUNT:-/dev/null}"'
    made.write_text(
        f'#!/bin/sh\n[ "$KILL_WHO" = command ] && KILL_AT=-1 KILL_COUNT=/dev/null\n'
        f'exec "{python}" "{script}" {said} "{store}" "$@"\n'
    )
    made.chmod(0o755)
    return made


def _main(roots: list[str], arguments: list[str]) -> int:
    from slowwave.flows.cli import main as cli

    at, done = int(os.environ["KILL_AT"]) if os.environ["KILL_WHO"] == "command" else -1, 0

    def step(event: str, given: tuple[object, ...]) -> None:
        nonlocal done
        is_change = event in _CHANGES or (event == "open" and isinstance(given[2], int) and given[2] & _WRITES)
        if not is_change or not str(given[0]).startswith(tuple(roots)):
            return
        done += 1
        if done > at >= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
    code = cli._exit_code(arguments)
    if os.environ["KILL_WHO"] == "command":
        Path(os.environ["KILL_COUNT"]).write_text(str(done))
    return code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1].split(os.pathsep), sys.argv[2:]))
