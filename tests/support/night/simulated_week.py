"""A week that nobody watches, on a clock that is told what time it is: nights and looks are processes of the command.

    simulated_week.py [FOLDER]

prints what each morning finds. By Berlin's clock, a night at 02:30 and a look (`slowwave status --alert`) at 08:00:

    Thu 26 March  the disk is full, and has room again at 09:00
    Sat 28 March  the night is killed
    Sun 29 March  summer time begins: there is no 02:30
    Mon 30 March  the machine is off until Tuesday 20:00, when it looks and makes up for the night it missed

An agent, scribe, is silent from 25 to 29 March. The small disk is mounted, which root may, or anybody behind
`unshare --map-root-user --mount`. Prefect's server goes by the real clock, which its own times are of.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
from alert_servers import Taken, http_server

from slowwave.flows.care.status import Clock, status_lines
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.nightly.nightly import nightly
from slowwave.flows.nightly.nights import ledger
from slowwave.flows.publish.run import start_run
from slowwave.flows.publish.serving import table_hashes
from slowwave.flows.schedule.server import prefect_api
from slowwave.transforms.core.vocabularies import ROW_FATES
from slowwave.transforms.graph import PUBLISHED
from slowwave.transforms.landing.ledger_tables import RunFiles

ZONE = ZoneInfo("Europe/Berlin")
NIGHT, LOOK = "30 2 * * *", "0 8 * * *"
FIRST, DAYS = date(2026, 3, 26), 7
FULL_DISK, KILLED = date(2026, 3, 26), date(2026, 3, 28)
SILENT = (date(2026, 3, 25), date(2026, 3, 29))  # both included
HISTORY = 14  # days before, from which the producers' rhythm follows
_ROOM_AGAIN = datetime(2026, 3, 26, 9, tzinfo=ZONE)
_OFF, _ON = datetime(2026, 3, 30, tzinfo=ZONE), datetime(2026, 3, 31, 20, tzinfo=ZONE)
_DISK = "160m"
# As slowwave's own clock and that of the machine, ahead of the real one or behind it by as much all the time.
_COMMAND = """
import sys, time
from datetime import UTC, datetime
from slowwave.flows.kernel import times
ahead = datetime.fromisoformat(sys.argv.pop(1)) - datetime.now(UTC)
class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + ahead
times.datetime, real = Clock, time.time
time.time = lambda: real() + ahead.total_seconds()
from slowwave.flows.cli.main import main
main(sys.argv[1:])
"""
# What a run is, of which two weeks are never equal.
_BY_RUN = ("runs", "run_files", "run_steps", "quarantine")


@dataclass(frozen=True)
class Morning:
    """What happened since the morning before, and how the home is then."""

    at: datetime
    commands: list[str]
    runs: list[str]
    prefect: list[str]
    alerts: list[tuple[str, str]]
    pings: list[str]
    status: dict[str, str]
    published_as_of: str
    rows: int


@dataclass(frozen=True)
class Week:
    """What was sent and became of it, and what was published at the end, here and where nothing went wrong."""

    sent: int
    fates: dict[str, int]
    tables: dict[str, str]
    undisturbed: dict[str, str]
    verified: subprocess.CompletedProcess[str]

    @property
    def differing(self) -> list[str]:
        """Tables that are not as where nothing went wrong."""
        return [name for name in self.tables if self.tables[name] != self.undisturbed[name]]


def simulate_week(folder: Path) -> Iterator[Morning | Week]:
    """Give each morning as it comes, and then the week. Raises PermissionError where no disk can be mounted."""
    os.environ |= {"TZ": ZONE.key, "PREFECT_HOME": str(folder / "prefect")}
    with _mount_disk(folder / "disk") as disk, http_server() as server:
        machine = _Machine(Settings(disk / "home"), server)
        with prefect_api(machine.home):
            yield from _live(machine)
            yield machine.look_back(Settings(folder / "undisturbed"))


def _live(machine: _Machine) -> Iterator[Morning]:
    """Do what the clock says, and give each morning of the week."""
    before = datetime.combine(FIRST - timedelta(days=1), time(2, 30), ZONE).astimezone(UTC)
    events = [(at, "night") for at in _due_times(NIGHT)] + [(at, "look") for at in _due_times(LOOK)]
    events += [(_ROOM_AGAIN.astimezone(UTC), "room"), (_ON.astimezone(UTC), "on")]
    machine.deliver_until(before.date())
    machine.run(before, "nightly")
    machine.report(before)
    for at, what in sorted(events):
        local = at.astimezone(ZONE)
        if _OFF <= local < _ON:
            if what == "look":
                yield machine.report(at)
            continue
        machine.deliver_until(local.date())
        if what == "room":
            machine.ballast.unlink()
        if what == "night" and local.date() == FULL_DISK:
            machine.fill_disk()
        if what in {"look", "on"}:
            machine.run(at, "status", "--alert")
        if what == "look":
            yield machine.report(at)
        if what in {"night", "on"}:
            machine.run(at + timedelta(minutes=1), "nightly", is_killed=local.date() == KILLED)


def _due_times(cron: str) -> list[datetime]:
    from prefect.server.schemas.schedules import CronSchedule

    start = datetime.combine(FIRST, time(), ZONE)
    dates = asyncio.run(CronSchedule(cron=cron, timezone=ZONE.key).get_dates(DAYS, start=start))
    return [datetime.fromisoformat(at.isoformat()).astimezone(UTC) for at in dates]


@contextmanager
def _mount_disk(disk: Path) -> Iterator[Path]:
    disk.mkdir(parents=True)
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(disk)]
    done = subprocess.run(mounted, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"no disk can be mounted here ({done.stderr.strip()}): unshare --map-root-user --mount lets you"
        raise PermissionError(message)
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


class _Machine:
    """A home on a small disk, the processes that its timers start, and what was seen of them."""

    def __init__(self, home: Settings, server: Taken) -> None:
        self.home = home
        self.ballast = home.home.parent / "ballast"
        self._server = server
        self._delivered: list[tuple[date, str]] = []
        self._commands: list[str] = []
        self._seen: dict[str, Any] = {"runs": set(), "prefect": set(), "requests": 0}
        home.inbox.mkdir(parents=True)
        home.settings_file.write_text(
            f'[alerts]\ntargets = ["{server.url()}"]\nping = "{server.url("/ping")}"\ntimezone = "{ZONE.key}"\n'
        )

    def deliver_until(self, day: date) -> None:
        """Put what producers wrote before a day, and have not delivered, into the inbox."""
        last = self._delivered[-1][0] if self._delivered else None
        for each, text in _logs():
            if each < day and (last is None or each > last):
                (self.home.inbox / f"{each}.jsonl").write_text(text)
                self._delivered.append((each, text))

    def fill_disk(self) -> None:
        """Leave not a byte free."""
        with suppress(OSError), self.ballast.open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(2**12))

    def run(self, at: datetime, *arguments: str, is_killed: bool = False) -> None:
        """Run a command that starts then; one that is killed has planned already."""
        said: list[str] = []
        with subprocess.Popen(
            [sys.executable, "-c", _COMMAND, at.isoformat(), *arguments],
            env={**os.environ, "SLOWWAVE_HOME": str(self.home.home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            for line in process.stderr or ():
                said += [line.strip()] if line.startswith("slowwave: ") else []
                if is_killed and "planning" in line:
                    process.kill()
        command = f"{at.astimezone(ZONE):%a %H:%M %Z} {' '.join(arguments)}"
        last = [line.removeprefix("slowwave: ") for line in said[-1:]]
        self._commands.append(": ".join([command, f"exit {process.returncode}", *last]))
        self._set_times(at)

    def _set_times(self, at: datetime) -> None:
        """Date files that were written just now as that clock does."""
        for path in self.home.home.rglob("*"):
            with suppress(FileNotFoundError):
                if path.lstat().st_mtime > at.timestamp() + 86_400:
                    os.utime(path, (at.timestamp(), at.timestamp()), follow_symlinks=False)

    def report(self, at: datetime) -> Morning:
        """Return what is new since the report before, and how the home is."""
        from prefect.client.orchestration import get_client

        with get_client(sync_client=True) as client:
            flow_runs = sorted(client.read_flow_runs(), key=lambda each: str(each.start_time))
        runs = {row["run_id"]: f"{row['kind']} {row['status']}" for row in ledger(self.home.lake_folder)}
        states = [(each.id, f"{each.name}: {each.state_name}") for each in flow_runs]
        requests = self._server.requests[self._seen["requests"] :]
        told = [json.loads(content) for _, path, content in requests if path == "/hook"]
        morning = Morning(
            at.astimezone(ZONE),
            self._commands,
            [text for run, text in runs.items() if run not in self._seen["runs"]],
            [state[1] for state in states if state not in self._seen["prefect"]],
            [(one["state"], one["cause"]) for one in told],
            [path for _, path, _ in requests if path.startswith("/ping")],
            *_look(self.home, at),
        )
        self._commands = []
        self._seen = {"runs": {*runs}, "prefect": {*states}, "requests": len(self._server.requests)}
        return morning

    def look_back(self, undisturbed: Settings) -> Week:
        """Return what the week came to, beside one in which each night is made and nothing goes wrong."""
        files = Lake(self.home.lake_folder).ledger(RunFiles)
        as_of = next(row["as_of"] for row in ledger(self.home.lake_folder) if row["run_id"] == _current(self.home).stem)
        undisturbed.inbox.mkdir(parents=True)
        for day, text in self._delivered:
            (undisturbed.inbox / f"{day}.jsonl").write_text(text)
            if day >= FIRST - timedelta(days=2):
                due = datetime.combine(day + timedelta(days=1), time(2))
                with writer_lock(undisturbed, "nightly"):
                    is_last = day == self._delivered[-1][0]
                    nightly(start_run(undisturbed, "nightly"), as_of=as_of if is_last else due)
        verify = [sys.executable, "-m", "slowwave.flows.cli.main", "verify", str(self.home.home)]
        return Week(
            sum(text.count("\n") for _, text in self._delivered),
            {name: int(files[name].sum()) for name in ROW_FATES},
            _table_hashes(self.home),
            _table_hashes(undisturbed),
            subprocess.run(verify, capture_output=True, text=True, check=False),
        )


def _look(home: Settings, at: datetime) -> tuple[dict[str, str], str, int]:
    """States of the lines of status that are not ok, as of when current is, and how many rows it is of."""
    now = at.astimezone(UTC).replace(tzinfo=None)
    lines = status_lines(home, Clock(now, 26, 50))
    with duckdb.connect(_current(home), read_only=True) as connection:
        as_of, rows = connection.sql("SELECT max(as_of), sum(rows_count) FROM landed_days").fetchall()[0]
    return {line.name: line.state for line in lines if line.state != "ok"}, f"{as_of:%a %H:%M}Z", int(rows)


def _current(home: Settings) -> Path:
    current = current_run(home)
    assert current is not None
    return current


def _table_hashes(home: Settings) -> dict[str, str]:
    tables = [table.name for table in PUBLISHED if table.name not in _BY_RUN]
    with duckdb.connect(_current(home), read_only=True) as connection:
        return table_hashes(connection, tables)


def _logs() -> Iterator[tuple[date, str]]:
    """Each day's log: memories first, interactions with their outcome, a row twice, a row that is refused."""
    for number in range(-HISTORY, DAYS):
        day = FIRST + timedelta(days=number)
        rows = [_memory(which) for which in range(6)] if number == -HISTORY else []
        agents = ["builder"] * 24 + ([] if SILENT[0] <= day <= SILENT[1] else ["scribe"] * 8)
        rows += [_interaction(day, which, agent) for which, agent in enumerate(agents)]
        rows += [rows[-1], {"prompt": " ", "created_at": f"{day}T23:00:00Z"}]
        yield day, "".join(f"{json.dumps(row)}\n" for row in rows)


def _memory(which: int) -> dict[str, Any]:
    return {
        "memory_id": f"m{which}",
        "changed_at": f"{FIRST - timedelta(days=HISTORY)}T00:00:00Z",
        "status": "active",
        "project": "shop",
        "content": f"Rule {which} of the shop: count in cents, round at the end",
    }


def _interaction(day: date, which: int, agent: str) -> dict[str, Any]:
    return {
        "interaction_id": f"{day}-{which}",
        "created_at": f"{day}T{which % 20:02}:{which:02}:00Z",
        "project": "shop",
        "agent": agent,
        "session_id": f"{day}-{which // 4}",
        "prompt": f"How is amount {which} rounded?",
        "response": f"Rule {which % 6} of the shop: count in cents, round at the end.",
        "memories_used": [f"m{which % 6}", f"m{(which + 1) % 6}"],
        "task_type": "rounding",
        "strategy": f"way {which % 3}",
        "success": (which + day.day) % 3 > 0,
    }


def _print_morning(morning: Morning) -> None:
    print(f"\n{morning.at:%a %d %B %H:%M %Z}")
    for name, said in (
        ("commands", morning.commands),
        ("ledger", morning.runs),
        ("Prefect", morning.prefect),
        ("alerts", [f"{state}: {cause}" for state, cause in morning.alerts]),
        ("pings", morning.pings),
        ("status", [f"{line}: {state}" for line, state in morning.status.items()] or ["ok"]),
        ("current", [f"as of {morning.published_as_of}, {morning.rows:,} rows landed"]),
    ):
        print("".join(f"  {name if number == 0 else '':9} {text}\n" for number, text in enumerate(said)), end="")


def main() -> None:
    """Print each morning, and at the end whether anything is lost."""
    with tempfile.TemporaryDirectory() as folder:
        for each in simulate_week(Path(sys.argv[1] if len(sys.argv) > 1 else folder)):
            if isinstance(each, Morning):
                _print_morning(each)
                continue
            delivered, fates = each.sent, ", ".join(f"{count:,} {name}" for name, count in each.fates.items())
            print(f"\n{delivered:,} rows were sent; {fates}")
            print(f"tables that differ from those of a quiet week: {', '.join(each.differing) or 'none'}")
            print(each.verified.stdout, end="")


if __name__ == "__main__":
    main()
