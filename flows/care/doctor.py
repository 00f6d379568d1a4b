"""`slowwave doctor`: what could keep the nightly run from working, looked at one by one, with what to do about it.

Whether a folder can be written is found by writing, in a hidden folder that is removed at once. Nothing else is
changed; what is broken is a line of the report, never the end of it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import duckdb
import polars as pl
import typer

from slowwave.flows.care.setup_lines import connected_lines, receiver_lines
from slowwave.flows.care.surroundings import (
    bucket_lacks,
    clock_line,
    engine_line,
    prefect_server_line,
    settings_line,
    versions_line,
)
from slowwave.flows.kernel.checks import CheckLine, print_check_lines, run_check, worst
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.doors import close_doors, home_umask, left_ajar
from slowwave.flows.kernel.lock import holder, writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import PROBE_PREFIX, TEMPORARY, can_be_written, missing_abilities, nearest_folder
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_now, utc_text
from slowwave.flows.lake.current import ask_once, bucket_of, current_run
from slowwave.flows.lake.files import WHOLE_FORMAT
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.run_ledger import has_ended, partitions_of, read_run
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.nightly.nights import ledger, running, stopped_night
from slowwave.flows.nightly.notify import notify_settings
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, EXPIRING, SERVING

_LEFT_OVER_SECONDS = 3600.0
_LEAST_FREE_BYTES = 10**9
_SHOWN = 3
_START = "run `slowwave land PATH` for your own logs, or `slowwave demo`"
_PUBLISH_ANEW = "run `slowwave nightly --full`, which publishes anew from the lake"


def run_doctor(settings: Settings, *, fix: bool) -> None:
    """Print one line per check; with `fix`, first mend what an old release has left.

    Raises typer.Exit with code 1 when any of them is an error.
    """
    if fix:
        _mend(settings)
    lines = doctor_lines(settings)
    counts = {state: sum(line.state == state for line in lines) for state in ("error", "warn")}
    said = ", ".join(f"{count} × {state}" for state, count in counts.items() if count)
    print_check_lines(f"{said or 'all is well'} · {settings.home} · {utc_text(utc_now())}", lines)
    if worst(line.state for line in lines) == "error":
        raise typer.Exit(1)


def doctor_lines(settings: Settings) -> list[CheckLine]:
    """Every check that can be made of the home as it is."""
    ask_once(settings)
    lake = Lake(settings.lake_folder)
    lines = [
        run_check("home", lambda: _folder("home", settings.home, "SLOWWAVE_HOME")),
        run_check("doors", lambda: _doors(settings)),
        run_check("other homes", lambda: _other_homes(settings)),
        run_check("params", lambda: _params(settings)),
        run_check("settings", lambda: settings_line(settings)),
        run_check("notify", lambda: _notify(settings)),
        run_check("engine", lambda: engine_line(settings)),
        *(line for line in connected_lines(settings, utc_now()) if line.state == "error"),
    ]
    if bucket_of(settings) is not None:
        lines.append(run_check("bucket", lambda: _bucket(settings)))
    elif not lake.root.is_relative_to(settings.home):
        lines.append(run_check("lake folder", lambda: _folder("lake folder", lake.root, "SLOWWAVE_LAKE")))
    lines.append(run_check("lake", lambda: _lake(lake)))
    is_readable = lines[-1].state != "error"
    lines += [
        run_check("lock", lambda: _lock(settings)),
        run_check("inbox", lambda: _inbox(settings)),
        *receiver_lines(settings, utc_now()),
        run_check("leftovers", lambda: _leftovers(settings, lake)),
        run_check("disk", lambda: _disk(settings, lake)),
        run_check("current", lambda: _current(settings, lake if is_readable else None)),
    ]
    if is_readable:
        lines.append(run_check("evidence", lambda: _evidence(settings, lake)))
        lines.append(run_check("last night", lambda: _last_night(settings, lake)))
        lines.append(run_check("clock", lambda: clock_line(lake, utc_now())))
    lines += [
        run_check("prefect home", lambda: _folder("prefect home", settings.prefect_home, "PREFECT_HOME")),
        run_check("prefect server", prefect_server_line),
        run_check("versions", versions_line),
    ]
    return lines


# ---------------------------------------------------------------------------------------------------- folders and files


def _folder(name: str, folder: Path, variable: str) -> CheckLine:
    """Whether a folder can be written and its file system will do; of one that is not there, whether it can be made."""
    todo = f"set {variable} to a folder that you can write to, on a local disk"
    if not folder.is_dir():
        above = nearest_folder(folder)
        if above.is_dir() and can_be_written(above):
            return CheckLine(name, "ok", f"{folder} is not there yet; the first command that writes makes it")
        return CheckLine(name, "error", f"{folder} is no folder, and {above} does not let one be made", todo)
    try:
        missing = missing_abilities(folder)
    except OSError as error:
        return CheckLine(name, "error", f"{folder} cannot be written: {error.strerror}", todo)
    if missing:
        return CheckLine(name, "error", f"the file system of {folder} cannot {'; nor '.join(missing)}", todo)
    return CheckLine(name, "ok", f"{folder} can be written; its file system will do")


def _bucket(settings: Settings) -> CheckLine:
    """Whether a bucket can do what a lake needs of it, tried with an object that is deleted at once."""
    bucket = bucket_of(settings)
    missing = bucket_lacks(bucket.client) if bucket is not None else []
    if missing:
        todo = "give the credentials that right, or use a store that can: S3 and what speaks like it, with If-Match"
        return CheckLine("bucket", "error", f"{settings.lake} cannot {'; nor '.join(missing)}", todo)
    return CheckLine("bucket", "ok", f"{settings.lake} can be listed, read, written where unchanged, and deleted from")


def _doors(settings: Settings) -> CheckLine:
    """Whether others can look into the home, or change what is in it."""
    if not settings.home.is_dir():
        return CheckLine("doors", "ok", "nothing to close yet")
    found = left_ajar(settings)
    if found.others:
        todo = "run `slowwave doctor --fix` as that user, or change the owner of the whole home"
        return CheckLine("doors", "warn", f"another user's, and open to others: {_some(found.others)}", todo)
    if found.ours:
        says = f"open to other users: {_some([path for path, _ in found.ours])}"
        todo = "run `slowwave doctor --fix`, which closes them, or set SLOWWAVE_UMASK to share (027: the group reads)"
        return CheckLine("doors", "warn", says, todo)
    return CheckLine("doors", "ok", f"closed to others as umask {home_umask():03o} says")


def _mend(settings: Settings) -> None:
    """Close the doors of a home that an old release has left open."""
    with writer_lock(settings, "doctor --fix"):
        closed = close_doors(settings)
    sys.stderr.write(
        f"slowwave: closed {format_count(len(closed.ours), 'file or folder', 'files and folders')} to others\n"
    )


def _other_homes(settings: Settings) -> CheckLine:
    """Two homes are how rows go missing: producers write to one, the nightly run reads the other."""
    others = []
    default = Path("data").absolute()
    if not _same(default, settings.home) and ((default / "lake").is_dir() or (default / "inbox").is_dir()):
        others.append(f"{default} is a home too, used where SLOWWAVE_HOME is not set")
    inside = settings.home / "lake"
    if not _same(inside, settings.lake_folder) and inside.is_dir():
        others.append(f"{inside} is a lake too, used where SLOWWAVE_LAKE is not set")
    if others:
        todo = (
            "set the same in every producer and schedule, and land from the one you give up: slowwave land PATH/inbox"
        )
        return CheckLine("other homes", "warn", "; ".join(others), todo)
    return CheckLine("other homes", "ok", "no second home in sight")


def _same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _params(settings: Settings) -> CheckLine:
    unread = settings.params_without_effect()
    if unread:
        return CheckLine("params", "warn", "; ".join(unread), f"take it out of {settings.params_file}")
    there = settings.params_file.exists()
    return CheckLine("params", "ok", f"{settings.params_file} can be used" if there else "all at their defaults")


def _notify(settings: Settings) -> CheckLine:
    whom = notify_settings(settings)
    if whom is None:
        return CheckLine("notify", "ok", "nobody is notified of a bad night: [notify] in settings.toml names a command")
    if shutil.which(whom.command[0]) is None:
        return CheckLine("notify", "error", f"{whom.command[0]} cannot be run", f"mend {settings.settings_file}")
    return CheckLine("notify", "ok", f"{whom.command[0]} is notified of a bad night")


def _lake(lake: Lake) -> CheckLine:
    if not lake.is_there():
        return CheckLine("lake", "ok", f"nothing landed yet: {_START}")
    written = lake.check_format()
    if written is None:
        return CheckLine("lake", "warn", f"{lake.root} states no format: it is half-made, or no lake", _START)
    if lake.root.is_dir() and not can_be_written(lake.root):
        todo = "give yourself the right to write it, or run as the user who owns it"
        return CheckLine("lake", "error", f"{lake.root} cannot be written by you", todo)
    if written.number != written.since or written.number < WHOLE_FORMAT:
        brought = max(written.number, WHOLE_FORMAT)
        return CheckLine("lake", "ok", f"format {written.since}; the next night brings it to {brought}")
    return CheckLine("lake", "ok", f"format {written.number}, as this version writes it")


def _lock(settings: Settings) -> CheckLine:
    there = [path for path in (settings.lock_file, settings.home_lock_file) if path.exists()]
    if not there:
        return CheckLine("lock", "ok", "free; nobody has written yet")
    for path in there:
        if not can_be_written(path):
            todo = "run as the user who owns it, or change its owner (with the rest of the home)"
            return CheckLine("lock", "error", f"{path} cannot be written by you", todo)
    writer = holder(settings)
    return CheckLine("lock", "ok", f"held by {writer}; freed when it ends" if writer else "free")


def _inbox(settings: Settings) -> CheckLine:
    if not settings.inbox.exists():
        return CheckLine("inbox", "ok", "not there yet; the first producer makes it")
    if not settings.inbox.is_dir():
        return CheckLine("inbox", "error", f"{settings.inbox} is no folder", "move it away")
    waiting = inbox_deliveries(settings.inbox)
    sealed = [delivery.source for delivery in waiting if delivery.path and not os.access(delivery.path, os.R_OK)]
    if sealed:
        todo = "let the user of the nightly run read them"
        return CheckLine(
            "inbox",
            "error",
            f"of {format_count(len(waiting), 'file')} {len(sealed):,} cannot be read by you: {_some(sealed)}",
            todo,
        )
    if not can_be_written(settings.inbox):
        todo = "let the user of the nightly run write there: landed files are removed"
        return CheckLine("inbox", "error", f"{settings.inbox} cannot be written by you", todo)
    return CheckLine("inbox", "ok", f"{format_count(len(waiting), 'file')} waiting" if waiting else "nothing waits")


def _leftovers(settings: Settings, lake: Lake) -> CheckLine:
    """Files left half-written by what was killed, an hour ago or more."""
    home, serving = settings.home, settings.serving
    ours = [lake.root.glob(f"**/.*{TEMPORARY}"), serving.glob(f".*{TEMPORARY}*"), serving.glob(f"*/.*{TEMPORARY}*")]
    ours.append((home / "reports").glob(f".*{TEMPORARY}"))
    by_hand = [settings.inbox.glob(f"*{TEMPORARY}"), home.glob(".probe-*"), home.glob(f"{PROBE_PREFIX}*")]
    old, stuck = list(_old(chain(*ours))), list(_old(chain(*by_hand)))
    if not old and not stuck:
        return CheckLine("leftovers", "ok", "none")
    todo = ["the next run clears the lake, serving and reports folders"] if old else []
    if stuck:
        todo.append(
            f"remove {_some(stuck)}; a .tmp in the inbox is of a producer that died: without .tmp, its whole rows land"
        )
    names = [path.name for path in [*old, *stuck]]
    says = f"{format_count(len(names), 'file')} left half-written more than an hour ago: {_some(names)}"
    return CheckLine("leftovers", "warn", says, "; ".join(todo))


def _old(paths: Iterator[Path]) -> Iterator[Path]:
    for path in paths:
        try:
            if time.time() - path.lstat().st_mtime > _LEFT_OVER_SECONDS:
                yield path
        except FileNotFoundError:
            continue


def _disk(settings: Settings, lake: Lake) -> CheckLine:
    current = current_run(settings)
    needed = max(_LEAST_FREE_BYTES, 2 * current.stat().st_size if current else 0)
    folders = {nearest_folder(path) for path in (settings.home, lake.root)}
    free = {folder: shutil.disk_usage(folder).free for folder in folders}
    folder = min(free, key=free.__getitem__)
    says = f"{free[folder] / 1e9:,.1f} GB free"
    if free[folder] < needed:
        todo = "free some, or run `slowwave lake prune --keep 1`"
        return CheckLine("disk", "warn", f"{says} at {folder}; a run wants {needed / 1e9:,.1f} GB", todo)
    return CheckLine("disk", "ok", says)


def _some(names: list[Path] | list[str]) -> str:
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"


# ---------------------------------------------------------------------------------------------------- what is published


def _current(settings: Settings, lake: Lake | None) -> CheckLine:
    """Whether what is published can be read, and is what the ledger says."""
    if settings.current.exists() and not settings.current.is_symlink():
        todo = f"move it away, then {_PUBLISH_ANEW}"
        return CheckLine("current", "error", f"{settings.current} is a file where a link should be", todo)
    current = current_run(settings)
    if current is None and settings.current.is_symlink():
        return CheckLine("current", "error", "current.duckdb points to a file that is gone", "run `slowwave nightly`")
    if current is None:
        return CheckLine("current", "ok", "nothing published yet: run `slowwave nightly`")
    try:
        with duckdb.connect(current, read_only=True) as connection:
            there = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            # A file that was cut opens all the same.
            size = connection.execute("SELECT sum(total_blocks * block_size) FROM pragma_database_size()").fetchall()
    except duckdb.Error as error:
        if "enough bytes" in str(error):
            return CheckLine("current", "error", f"{current.name} is cut short", _PUBLISH_ANEW)
        return CheckLine("current", "error", f"{current.name} cannot be opened: {error}", _PUBLISH_ANEW)
    if current.stat().st_size < size[0][0]:
        return CheckLine("current", "error", f"{current.name} is cut short", _PUBLISH_ANEW)
    absent = [table.name for table in SERVING if table.name not in there]
    if absent:
        return CheckLine(
            "current", "warn", f"{current.name} has no {_some(absent)}: another version wrote it", _PUBLISH_ANEW
        )
    if lake is not None and not has_ended(lake, current.stem):
        todo = "the next run enters it: run `slowwave nightly`"
        return CheckLine("current", "warn", f"run {current.stem} opens, but is not in the ledger", todo)
    return CheckLine(
        "current", "ok", f"run {current.stem} opens read-only and is in the ledger" if lake else "opens read-only"
    )


def _evidence(settings: Settings, lake: Lake) -> CheckLine:
    """Whether the partitions that current was computed from are still there."""
    current = current_run(settings)
    if current is None:
        return CheckLine("evidence", "ok", "nothing published yet")
    used = lake.ledger(DayInputs).filter(pl.col("run_id") == current.stem, pl.col("fingerprint") != "")
    expired = read_horizon(lake.root, "evidence")
    published = read_run(lake, current)
    of_another_version = not published.is_empty() and published.row(0, named=True)["code_hash"] != code_hash()
    gone: list[str] = []
    newer: list[str] = []
    for table in EVIDENCE:
        named = partitions_of(used, table)
        absent = [
            f"{table.name} of {day}"
            for day, name in named.items()
            if not lake.has_evidence(table, day, name) and not (table in EXPIRING and expired and day < expired.before)
        ]
        # the release that published current may not have had the table: then all of its partitions are absent
        if of_another_version and absent and len(absent) == len(named):
            newer.append(table.name)
        else:
            gone += absent
    if gone:
        says = f"{format_count(len(gone), 'partition')} of current cannot be found: {_some(gone)}"
        return CheckLine("evidence", "error", says, _PUBLISH_ANEW)
    if newer:
        says = f"current has no partitions of {_some(newer)}: another version wrote it"
        return CheckLine("evidence", "warn", says, "run `slowwave nightly`, which builds them")
    return CheckLine("evidence", "ok", f"all partitions of current are there ({format_count(len(used), 'day')})")


def _last_night(settings: Settings, lake: Lake) -> CheckLine:
    """Whether the last night has ended, however it did."""
    rows = ledger(lake.root)
    stopped, now = stopped_night(settings, rows), running(settings, rows)
    if stopped is not None:
        todo = "look for what has killed it (memory, power), then run `slowwave nightly`, which does all again"
        return CheckLine("last night", "error", str(stopped), todo)
    if now is not None:
        return CheckLine("last night", "ok", f"{now['kind']} is running since {utc_text(now['started_at'])}")
    return CheckLine("last night", "ok", "ended" if rows else "none yet")
