"""`slowwave verify`: what is wrong with the files of a home, and whether a night or the backup mends it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import typer

from slowwave.flows.ask.connection import error_lines
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import holder, writer_lock
from slowwave.flows.kernel.progress import this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import Folder, make_durable_folder
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import format_count, terminal_safe
from slowwave.flows.kernel.times import is_run_id
from slowwave.flows.lake.current import linked_run
from slowwave.flows.lake.damage import Damage, find_lake_damage
from slowwave.flows.lake.digests import digest_file, read_notes
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.serving import table_hashes
from slowwave.transforms.graph import PUBLISHED
from slowwave.transforms.landing.ledger_tables import Runs

_MENDS = {
    "night": "`{command} nightly --full` makes it again",
    "backup": "put it back from a backup: `{command} restore TARGET --to FOLDER` brings all of it",
    "owner": "move it out of the home",
}
_ASIDE = "damaged"


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
    found = list(find_damage(settings, lake))
    moved = _move_derived(settings, lake, found) if repair else 0
    report = {"home": str(settings.home), "lake": str(settings.lake), "writing": holder(settings), "moved": moved}
    return {**report, "findings": [vars(one) for one in found]}


def find_damage(settings: Settings, lake: Lake) -> Iterator[Damage]:
    """Yield what is wrong with the lake and the serving files of a home; nothing is changed."""
    for one in find_lake_damage(lake):
        yield Damage(f"lake/{one.path}", one.problem, one.says, one.mend)
    yield from _find_serving_damage(settings, lake)


def _find_serving_damage(settings: Settings, lake: Lake) -> Iterator[Damage]:
    try:
        rows = lake.ledger(Runs).select("run_id", "status", "table_hashes").rows()
        published = {run_id: hashes for run_id, _, hashes in rows if hashes}
    except Exception as error:  # noqa: BLE001 - a damaged ledger was found in the lake already
        yield Damage("serving", "damaged", f"the ledger of runs cannot be read: {error_lines(error)}", "backup")
        return
    try:
        notes = read_notes(settings.serving)
    except ValueError as error:
        notes = None
        yield Damage("serving/.digests", "damaged", str(error), "night")
    noted = {name: one.digest for name, one in notes.files.items()} if notes else {}
    named = {digest: name for name, digest in noted.items()}
    for path in sorted((settings.serving / "runs").glob("*")):
        name = path.relative_to(settings.serving).as_posix()
        shown = f"serving/{name}"
        if path.suffix != ".duckdb" or not is_run_id(path.stem) or path.stem not in published:
            if not path.name.startswith("."):
                yield Damage(shown, "foreign", "no run published it", "owner")
            continue
        digest = digest_file(path)
        if digest == noted.get(name):
            continue
        if named.get(digest, name) != name:
            yield Damage(shown, "swapped", f"it holds what serving/{named[digest]} should", "night")
        elif name in noted:
            yield Damage(shown, "damaged", "its bytes are not those that were published", "night")
        elif says := _check_published(path, published[path.stem]):
            yield Damage(shown, "damaged", says, "night")
    is_link = settings.current.is_symlink()
    if published and linked_run(settings) is None and (is_link or not settings.current.exists()):
        says = "what it links is gone" if is_link else "nothing is linked as current, and runs have published"
        yield Damage("serving/current.duckdb", "missing", says, "night")
    elif settings.current.exists() and not is_link:
        yield Damage("serving/current.duckdb", "foreign", "it is no link: a copy that followed links made it", "night")


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
    with writer_lock(settings, "verify"):
        for one in goes:
            first, _, rest = one.path.partition("/")
            path = (lake.root if first == "lake" else settings.serving) / rest
            if first == "lake" and not isinstance(storage_of(path), Folder):
                storage_of(path).remove([path])
                continue
            to = settings.home / _ASIDE / one.path
            make_durable_folder(to.parent)
            os.replace(path, to)
    return len(goes)


def _print_report(report: dict[str, Any]) -> None:
    if report["writing"]:
        typer.echo(terminal_safe(f"{report['writing']} is writing: what it has begun may be told as wrong"), err=True)
    found = report["findings"]
    if not found:
        typer.echo(terminal_safe(f"{report['home']}: nothing is wrong"))
        return
    typer.echo(terminal_safe(f"{report['home']}: {format_count(len(found), 'file is', 'files are')} not as they were"))
    for mend, says in _MENDS.items():
        of = [one for one in found if one["mend"] == mend]
        for one in of:
            typer.echo(terminal_safe(f"  {one['problem']:<9}  {one['path']}: {one['says']}"))
        if of:
            typer.echo(terminal_safe(f"  → {says.format(command=this_command())}"))
    if report["moved"]:
        moved = format_count(report["moved"], "file was", "files were")
        typer.echo(terminal_safe(f"{moved} moved to {report['home']}/{_ASIDE}"))
