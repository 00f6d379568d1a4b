"""A process that does one step per request, each in a fork of its own, so that a case costs no imports.

Speaks JSON lines with `crash_cases`: a request {"step", "home", "is_held", "clock", "arguments"}; the child's pid;
where the child is held (until a tracer has it), one byte that lets it go; then the outcome. Forking is safe here
because nothing has run in the parent: neither Polars nor DuckDB has started a thread pool.

Clock, run ids, names of half-written files and pid are fixed, so that the same step on a copy of the same home makes
the same system calls on the same paths.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import secrets
import subprocess
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import crash_home
import duckdb
import machine_steps

from slowwave.flows.kernel import times
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.publish import word_vectors
from slowwave.transforms.graph import NODES


def set_clock(now: datetime) -> None:
    """Stop the clock at an instant."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = UTC) -> datetime:
            return now.astimezone(tz)

    times.datetime = Clock
    time.time = now.timestamp


def fix_what_differs_between_runs(day: int) -> None:
    """The same names in every run of a step."""
    numbers = itertools.count(1)
    set_clock(datetime(2026, 3, day, 2, tzinfo=UTC))
    uuid.uuid4 = lambda: uuid.UUID(int=next(numbers) << 96)
    secrets.token_hex = lambda nbytes=None: f"{next(numbers):0{2 * (nbytes or 8)}x}"
    os.getpid = lambda: 4242
    connect = duckdb.connect
    duckdb.connect = lambda path, **options: connect(
        path, **options | {"config": options.get("config", {}) | {"threads": 1}}
    )


def repeatable(step: Callable[[Path], None], day: int) -> Callable[[Path], None]:
    """The step with everything fixed that would differ from run to run."""

    def fixed(home: Path) -> None:
        fix_what_differs_between_runs(day)
        step(home)

    return fixed


def finish(home: Path) -> dict[str, Any]:
    """Look at what is there, run both steps undisturbed, and look again."""
    before = crash_home.look(home)
    crash_home.land(home)
    crash_home.publish(home)
    return {"before": before, "after": crash_home.look(home)}


def publish_now(home: Path) -> None:
    """What the scheduled nightly does: as of its start."""
    crash_home.publish(home, None)


def hold(home: Path) -> None:
    """Hold the lock until killed, with a child that lives on; then the file `held` is there, with the child's pid."""
    with writer_lock(Settings(home), "hold"):
        child = subprocess.Popen(["sleep", "3600"], close_fds=False)
        (home / "held.tmp").write_text(str(child.pid))
        (home / "held.tmp").rename(home / "held")
        child.wait()


def in_the_midst(step: Callable[[Path], None]) -> Callable[[Path], None]:
    """The step, which has the lock and waits before it begins: from the file `held` on, until the file `go`."""

    def waiting(home: Path) -> None:
        start_run = crash_home.start_run

        def started(*arguments: Any) -> Any:
            (home / "held").touch()
            while not (home / "go").exists():
                time.sleep(0.01)
            return start_run(*arguments)

        crash_home.start_run = started  # this process is a fork that does one step
        step(home)

    return waiting


STEPS: dict[str, Callable[..., Any]] = {
    "prepare_landing": repeatable(crash_home.prepare_landing, 19),
    "prepare_nightly": repeatable(crash_home.prepare_nightly, 19),
    "prepare_plain": crash_home.prepare_plain,
    "landing": repeatable(crash_home.land, 20),
    "nightly": repeatable(crash_home.publish, 20),
    "land": crash_home.land,
    "publish": crash_home.publish,
    "publish_now": publish_now,
    "land_in_the_midst": in_the_midst(crash_home.land),
    "publish_in_the_midst": in_the_midst(crash_home.publish),
    "hold": hold,
    "look": crash_home.look,
    "finish": finish,
    **machine_steps.STEPS,
}


def outcome(step: Callable[..., Any], home: Path, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the command line would make of it: a value, an error it shows as a sentence, or one it does not expect."""
    try:
        return {"value": step(home, **arguments)}
    except (UserError, OSError) as error:
        return {"error": str(error)}
    except BaseException:  # noqa: BLE001 - reported to the test, whatever it is
        return {"crash": traceback.format_exc()}


# What a step imports only when it comes to it, and each fork would import anew.
_LATE_IMPORTS = (
    "pyarrow.parquet",
    "scipy.special",
    "slowwave.flows.nightly.prune",
    "slowwave.flows.publish.publish",
    "slowwave.flows.publish.replay",
)


def load() -> None:
    """Load what every step would load by itself, as far as that starts no thread."""
    for name in (*_LATE_IMPORTS, *(node.function.partition(":")[0] for node in NODES if node.function)):
        importlib.import_module(name)
    word_vectors._tokenizer()
    word_vectors._embedding()
    code_hash()  # read once: a file of the project saved meanwhile must not make one step another than the next


def serve() -> None:
    """Answer requests until there are no more."""
    load()
    while line := os.read(0, 2**16):
        request = json.loads(line)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            if request["clock"]:
                set_clock(datetime.fromisoformat(request["clock"]))
            if request["is_held"]:
                os.read(0, 1)
            found = outcome(STEPS[request["step"]], Path(request["home"]), request["arguments"])
            with os.fdopen(writing, "w") as answer:
                json.dump(found, answer)
            os._exit(0)
        os.close(writing)
        print(json.dumps({"pid": pid}), flush=True)
        with os.fdopen(reading) as answer:
            text = answer.read()
        _, status = os.waitpid(pid, 0)
        ended = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {}
        print(json.dumps({**(json.loads(text) if text else {}), **ended}), flush=True)


if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[1])})
    serve()
