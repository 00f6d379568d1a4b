"""Fault points: the write-like system calls a step makes in its home, found with strace, and one fault at one of them.

strace counts `when=N` per thread and system call, over the calls its filters let through. A point is therefore named by
its path (`-P`) besides its number: what other threads do meanwhile, such as waking each other, then counts for nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import crash_driver

Fault = Literal["SIGKILL", "EIO", "ENOSPC"]
FAULTS: tuple[Fault, ...] = ("SIGKILL", "EIO", "ENOSPC")
OPENS = ("open", "openat", "openat2", "creat")
WRITES = ("write", "writev", "pwrite64", "pwritev", "pwritev2", "copy_file_range", "sendfile")
SYNCS = ("fsync", "fdatasync", "sync_file_range", "syncfs")
LINKS = ("rename", "renameat", "renameat2", "symlink", "symlinkat", "link", "linkat")
REMOVES = ("unlink", "unlinkat", "rmdir")
OTHERS = ("truncate", "ftruncate", "fallocate", "mkdir", "mkdirat", "utimensat")
CALLS = (*OPENS, *WRITES, *SYNCS, *LINKS, *REMOVES, *OTHERS)

_LINE = re.compile(r"^(\d+)\s+(.*)$")
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)(.*)$")
_OPEN_FOR_WRITING = re.compile(r"O_CREAT|O_WRONLY|O_RDWR|O_TRUNC")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HANDLE = re.compile(r"^\d+<([^>]*)>")


@dataclass(frozen=True)
class Call:
    """One write-like system call in the home that succeeded: its paths are relative to the home."""

    thread: int
    name: str
    paths: tuple[str, ...]

    @property
    def path(self) -> str:
        """What the point is named by: of a rename, what is renamed; of a link, the link."""
        return self.paths[-1] if self.name.startswith("symlink") else self.paths[0]


@dataclass(frozen=True)
class Point:
    """The `number`-th call `name` on `path` by one thread."""

    name: str
    path: str
    number: int

    def __str__(self) -> str:
        return f"{self.name} #{self.number} of {self.path}"


def calls(log: str, home: Path) -> list[Call]:
    """The write-like calls of a trace that touch the home and succeeded, in the order they ended."""
    found = []
    begun: dict[str, str] = {}
    for line in log.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        thread, text = match.groups()
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<... "):
            text = begun.pop(thread) + text.split("resumed>", 1)[1]
        call = _CALL.match(text)
        if call is None or call[1] not in CALLS or int(call[3]) < 0:
            continue
        name, arguments = call[1], call[2]
        if name in OPENS and not _OPEN_FOR_WRITING.search(arguments):
            continue
        handle = _HANDLE.match(arguments)
        paths = [handle[1]] if handle else _STRING.findall(arguments)
        inside = [str(Path(path).relative_to(home)) for path in paths if Path(path).is_relative_to(home)]
        if inside:
            found.append(Call(int(thread), name, tuple(inside)))
    return found


def points(found: Sequence[Call]) -> list[Point]:
    """The calls as points, in order of time, each once."""
    numbers: dict[tuple[int, str, str], int] = defaultdict(int)
    listed = {}
    for call in found:
        numbers[call.thread, call.name, call.path] += 1
        listed[Point(call.name, call.path, numbers[call.thread, call.name, call.path])] = None
    return list(listed)


class Driver:
    """A driver process, and steps it does on homes under a folder, with or without a fault."""

    def __init__(self, folder: Path, number: int = 0) -> None:
        self.folder = folder
        cpu = sorted(os.sched_getaffinity(0))
        worker = number + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        # one CPU: one thread in each pool, so that the same step makes the same calls
        self.process = subprocess.Popen(
            [sys.executable, crash_driver.__file__, str(cpu[worker % len(cpu)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "POLARS_MAX_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def close(self) -> None:
        """End the driver."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(timeout=300)
        self.process.stdout.close()

    def run(self, step: str, home: Path, clock: str = "", **arguments: Any) -> Any:
        """Do a step undisturbed, by a clock that stands still if given; what it found."""
        outcome = self.outcome(step, home, clock, **arguments)
        assert "value" in outcome, outcome
        return outcome["value"]

    def outcome(self, step: str, home: Path, clock: str = "", **arguments: Any) -> dict[str, Any]:
        """Do a step; its value, its error or how it ended."""
        self.start(step, home, is_held=False, clock=clock, **arguments)
        return self.answer()

    def start(self, step: str, home: Path, *, is_held: bool, clock: str = "", **arguments: Any) -> int:
        """Begin a step, or with `is_held` make all ready for it; the pid that does it."""
        request = {"step": step, "home": str(home), "is_held": is_held, "clock": clock, "arguments": arguments}
        self._say(json.dumps(request) + "\n")
        return self.answer()["pid"]

    def go(self) -> None:
        """Let a held step go."""
        self._say("!")

    def traced(
        self, step: str, home: Path, *options: str, clock: str = "", **arguments: Any
    ) -> tuple[dict[str, Any], str]:
        """Do a step under strace; its outcome and the trace."""
        pid = self.start(step, home, is_held=True, clock=clock, **arguments)
        log = self.folder / "strace.log"
        said = self.folder / "strace.said"
        with said.open("wb") as says:
            tracer = subprocess.Popen(["strace", "-f", "-y", "-o", log, *options, "-p", str(pid)], stderr=says)
        wait_for_tracer(tracer, said)
        self.go()
        outcome = self.answer()
        tracer.wait(timeout=300)
        return outcome, log.read_text(errors="replace")

    def trace(self, step: str, home: Path) -> list[Call]:
        """The write-like calls of an undisturbed step; `?`: not every machine has all of them."""
        outcome, log = self.traced(step, home, "-e", f"trace={','.join(f'?{name}' for name in CALLS)}")
        assert "value" in outcome, outcome
        return calls(log, home)

    def disturbed(self, step: str, home: Path, point: Point, fault: Fault) -> dict[str, Any]:
        """Do a step with one fault at a point; the outcome, with `is_hit`."""
        what = "signal=SIGKILL" if fault == "SIGKILL" else f"error={fault}"
        outcome, log = self.traced(
            step, home, "-e", f"inject={point.name}:{what}:when={point.number}", "-P", str(home / point.path)
        )
        is_hit = outcome.get("signal") == 9 if fault == "SIGKILL" else "(INJECTED)" in log
        return {**outcome, "is_hit": is_hit}

    def copy(self, template: Path) -> Path:
        """A copy of a home, always at the same path."""
        home = self.folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        return shutil.copytree(template, home, symlinks=True)

    def _say(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next answer of the driver."""
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())


def wait_for_tracer(tracer: subprocess.Popen[bytes], said: Path) -> None:
    """Wait until the tracer says that it has the process: before, what the process does first may pass unseen.

    Raises RuntimeError when the tracer gives up.
    """
    while " attached" not in said.read_text():
        if tracer.poll() is not None:
            message = f"strace could not attach: {said.read_text().strip()}"
            raise RuntimeError(message)
        time.sleep(0.002)


def why_not() -> str:
    """Why no faults can be injected here; '' when they can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(
        ["strace", "-qq", "-e", "inject=getpid:error=EIO", "true"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"strace cannot trace here: {tried.stderr.strip()[:200]}"
