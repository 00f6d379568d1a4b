"""`slowwave verify`: what is wrong with the files of a home, and whether a night or the backup mends it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import typer

from slowwave.flows.ask.connection import error_lines
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import holder, writer_lock
from slowwave.flows.kernel.progress import this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import Folder, make_durable_folder
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import format_count, terminal_safe
from slowwave.flows.lake.current import GRACE_SECONDS, linked_run
from slowwave.flows.lake.damage import Damage, find_lake_damage
from slowwave.flows.lake.digests import NAME as DIGESTS
from slowwave.flows.lake.digests import FileNotes, digest_file, read_notes
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.serving import table_hashes
from slowwave.transforms.graph import PUBLISHED
from slowwave.transforms.landing.ledger_tables import Runs

_MENDS = {
    "night": "`{command} nightly --full` makes it again",
    "backup": "copy it back from a backup, which `{command} restore TARGET --to FOLDER` brings",
    "owner": "move it out of the home",
}


def run_verify(homes: Sequence[Path], settings: Settings, *, repair: bool, output: str) -> None:
    """Print what is wrong with homes (none: that of the environment), as text or JSON.

    With `repair`, what a night makes again is moved into `damaged/` of the home. Raises typer.Exit with code 1 where
    anything is wrong, UserError where there is no home.
    """
    chosen = [Settings(home.absolute()) for home in homes] or [settings]
    reports = [_verify_home(one, repair=repair) for one in chosen]
    if output == "json":
        typer.echo(json.dumps(reports, indent=2))
    else:
        for report in reports:
            _print_report(report)
    if any(report["findings"] for report in reports):
        raise typer.Exit(1)


def _verify_home(settings: Settings, *, repair: bool) -> dict[str, Any]:
    lake = Lake(settings.lake_folder)
    if not lake.is_there():
        message = f"there is no home in {settings.home}: name one, or set SLOWWAVE_HOME"
        raise UserError(message)
    with writer_lock(settings, "verify") if repair else nullcontext():  # what a night has begun is not moved
        found = list(find_damage(settings, lake))
        moved = _move_derived(settings, lake, found) if repair else 0
    report = {"home": str(settings.home), "lake": str(settings.lake), "writing": holder(settings), "moved": moved}
    return {**report, "findings": [vars(one) for one in found]}


def find_damage(settings: Settings, lake: Lake) -> Iterator[Damage]:
    """Yield what is wrong with the lake and the serving files of a home; nothing is changed."""
    kept = {path.stem for path in (settings.serving / "runs").glob("*.duckdb")}
    in_lake = list(find_lake_damage(lake, kept))
    for one in in_lake:
        yield Damage(f"lake/{one.path}", one.problem, one.says, one.mend)
    is_ledger_whole = not any(one.path.startswith(f"{Runs.name}/") for one in in_lake)
    yield from _find_serving_damage(settings, lake, is_ledger_whole=is_ledger_whole)


def _find_serving_damage(settings: Settings, lake: Lake, *, is_ledger_whole: bool) -> Iterator[Damage]:
    try:
        rows = lake.ledger(Runs).select("run_id", "table_hashes").rows()
        notes = read_notes(settings.serving) or FileNotes()
    except (pl.exceptions.PolarsError, OSError):  # said of the file itself
        return
    except ValueError as error:
        yield Damage(f"serving/{DIGESTS}", "damaged", str(error), "night")
        return
    published = {run_id: hashes for run_id, hashes in rows if hashes}
    for path in sorted((settings.serving / "runs").glob("*")):
        is_told = is_ledger_whole or path.stem in published or path.suffix != ".duckdb"
        if is_told and not path.name.startswith("."):
            yield from _judge_published(settings, path, published.get(path.stem), notes)
    young = time.time() - GRACE_SECONDS  # an older one may have been pruned
    gone = {
        name
        for name, was in notes.files.items()
        if name.startswith("runs/") and was.changed_ns / 10**9 > young and not (settings.serving / name).exists()
    }
    for name in sorted(gone):
        yield Damage(f"serving/{name}", "missing", "it was there after the last night", "night")
    is_link = settings.current.is_symlink()
    if settings.current.exists() and not is_link:
        yield Damage("serving/current.duckdb", "foreign", "it is no link: a copy that followed links made it", "night")
    elif published and linked_run(settings) is None and not (is_link and str(settings.current.readlink()) in gone):
        says = "what it links is gone" if is_link else "nothing is linked as current, and runs have published"
        yield Damage("serving/current.duckdb", "missing", says, "night")


def _judge_published(
    settings: Settings, path: Path, hashes: Sequence[str] | None, notes: FileNotes
) -> Iterator[Damage]:
    """Yield what is wrong with a serving file: held against what was noted of it, else what its run published."""
    name = path.relative_to(settings.serving).as_posix()
    if path.suffix != ".duckdb" or hashes is None:
        yield Damage(f"serving/{name}", "foreign", "no run published it", "owner")
        return
    digest, size = digest_file(path), path.stat().st_size
    was = notes.files.get(name)
    other = next((one for one, of in notes.files.items() if of.digest == digest and one != name), None)
    if was is not None and digest == was.digest:
        return
    if other is not None:
        yield Damage(f"serving/{name}", "swapped", f"it holds what serving/{other} should", "night")
    elif was is not None and size < was.size:
        yield Damage(f"serving/{name}", "truncated", f"it has {size:,} of {was.size:,} bytes", "night")
    elif was is not None:
        yield Damage(f"serving/{name}", "damaged", "its bytes are not those that were published", "night")
    elif says := _check_published(path, hashes):
        yield Damage(f"serving/{name}", "damaged", says, "night")


def _check_published(path: Path, hashes: Sequence[str]) -> str:
    """Return why a serving file is not what its run published; '' where it is."""
    said = dict(one.split("=", 1) for one in hashes)
    try:
        with duckdb.connect(path, read_only=True) as connection:
            now = table_hashes(connection, [table.name for table in PUBLISHED if table.name in said])
    except duckdb.Error as error:
        return error_lines(error)
    wrong = [name for name, told in now.items() if said[name] != told]
    return f"{', '.join(wrong)}: the values are not those that were published" if wrong else ""


def _move_derived(settings: Settings, lake: Lake, found: Sequence[Damage]) -> int:
    """Move what a night makes again out of its way; return how many files went. In a bucket it is removed."""
    goes = [one for one in found if one.mend == "night" and one.problem != "missing"]
    for one in goes:
        first, _, rest = one.path.partition("/")
        path = (lake.root if first == "lake" else settings.serving) / rest
        if first == "lake" and not isinstance(storage_of(path), Folder):
            storage_of(path).remove([path])
            continue
        to = settings.damaged / one.path
        make_durable_folder(to.parent)
        shutil.move(path, to)  # the lake may lie on another disk
    return len(goes)


def _print_report(report: dict[str, Any]) -> None:
    if report["writing"]:
        typer.echo(terminal_safe(f"{report['writing']} is writing: what it has begun may be told as wrong"), err=True)
    found = report["findings"]
    if not found:
        typer.echo(terminal_safe(f"{report['home']}: nothing is wrong"))
        return
    typer.echo(
        terminal_safe(
            f"{report['home']}: {format_count(len(found), 'file is not as it was', 'files are not as they were')}"
        )
    )
    for mend, says in _MENDS.items():
        of = [one for one in found if one["mend"] == mend]
        for one in of:
            typer.echo(terminal_safe(f"  {one['problem']:<9}  {one['path']}: {one['says']}"))
        if of:
            typer.echo(terminal_safe(f"  → {says.format(command=this_command())}"))
    if report["moved"]:
        moved = format_count(report["moved"], "file was", "files were")
        typer.echo(terminal_safe(f"{moved} moved to {report['home']}/damaged"))
