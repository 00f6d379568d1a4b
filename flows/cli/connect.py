"""`slowwave connect`: lists what can be imported here, and connects, on a person's word, what every nightly reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from slowwave.flows.imports.connected_sources import DetectedSource, detect_source_at, detect_sources
from slowwave.flows.imports.connections import Connection, LastRead, connect, connections, last_reads
from slowwave.flows.imports.importer import project_map as projects_of
from slowwave.flows.imports.sources import SOURCES, source_named
from slowwave.flows.imports.units import home_shortened
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, size_shown, terminal_safe
from slowwave.flows.kernel.times import utc_iso


def run_connect(
    settings: Settings, name: str | None, paths: Sequence[str], *, project_map: str | None, yes: bool, output: str
) -> None:
    """List what is connected and what is found, and connect of it what a person says yes to.

    Nothing of what is found is read. Raises WrongUsageError for an unknown source, or a map of projects that cannot be
    used; UserError where `connections.toml` cannot be, or a path has nothing of the source.
    """
    projects_of(project_map)
    there = connections(settings)
    known = {(one.source, one.place.resolve()) for one in there}
    found = detect_sources() if name is None else _find_named_sources(name, paths)
    new = [one for one in found if (one.source.name, one.path.resolve()) not in known]
    if output == "json":
        wanted = new if yes else []
    else:
        print_lines("", _connected_lines(there, last_reads(settings.lake_folder)))
        wanted = [one for one in new if yes or _is_wanted(one)]
    if wanted:
        stated = str(Path(project_map).absolute()) if project_map else None
        connect(settings, [Connection(one.source.name, home_shortened(one.path), stated) for one in wanted])
    if output == "json":
        typer.echo(json.dumps(_as_json(settings, new, wanted), indent=2))
        return
    _print_done(settings, new, wanted, is_empty=not there and not found)


def _find_named_sources(name: str, paths: Sequence[str]) -> list[DetectedSource]:
    source = source_named(name)
    if source is None:
        message = f"there is no importer {quote_shortened(name)}: there are {', '.join(each.name for each in SOURCES)}"
        raise WrongUsageError(message)
    if not paths:
        return [one for one in detect_sources() if one.source.name == name]
    found = []
    for path in paths:
        one = detect_source_at(source, Connection(name, path).place)
        if one is None:
            message = f"{terminal_safe(path)} has none of the {source.described}: nothing was connected"
            raise UserError(message)
        found.append(one)
    return found


def _is_wanted(one: DetectedSource) -> bool:
    """One line, one answer. Where nobody is there to answer, it is only listed."""
    if not sys.stdin.isatty():
        print_lines("", [("found", _describe_source(one))])
        return False
    return typer.confirm(f"Read {terminal_safe(_describe_source(one))} every night?", default=False, err=True)


def _describe_source(one: DetectedSource) -> str:
    files = format_count(one.files_count, "file")
    return (
        f"{one.source.described} in {home_shortened(one.path)} ({files}, {size_shown(one.bytes_count)}, "
        f"written {_days(one)})"
    )


def _days(one: DetectedSource) -> str:
    """The days on which its files were last written, not those of what they tell: nothing of them is read yet."""
    oldest, newest = f"{one.oldest:%Y-%m-%d}", f"{one.newest:%Y-%m-%d}"
    return oldest if oldest == newest else f"{oldest} to {newest}"


def _connected_lines(there: Sequence[Connection], reads: dict[str, LastRead]) -> Lines:
    lines: Lines = []
    for one in there:
        last = reads.get(one.key, LastRead())
        when = f"last read {last.read_at}" if last.read_at else "not read yet: the next nightly does"
        lines.append(("connected" if not lines else "", f"{one.source} {one.path}; {when}"))
        lines += [("", f"not imported: {said}") for said in last.warnings]
    return lines


def _print_done(
    settings: Settings, new: Sequence[DetectedSource], wanted: Sequence[DetectedSource], *, is_empty: bool
) -> None:
    if wanted:
        lines = [("connected" if not at else "", _describe_source(one)) for at, one in enumerate(wanted)]
        print_lines("", [*lines, ("", f"written to {settings.connections_file}")], [f"{this_command()} nightly"])
    elif is_empty:
        typer.echo("nothing is connected, and nothing was found where programs usually keep it; name it yourself:")
        print_lines("", [], [f"{this_command()} connect SOURCE PATH"])
    elif new and not sys.stdin.isatty():
        sys.stderr.write("slowwave: nothing was connected: there is nobody to ask, so add --yes\n")


def _as_json(settings: Settings, new: Sequence[DetectedSource], wanted: Sequence[DetectedSource]) -> dict[str, Any]:
    reads = last_reads(settings.lake_folder)
    return {
        "connected": [
            {
                "source": one.source,
                "path": one.path,
                "read_at": reads.get(one.key, LastRead()).read_at,
                "warnings": reads.get(one.key, LastRead()).warnings,
            }
            for one in connections(settings)
        ],
        "found": [
            {
                "source": one.source.name,
                "path": home_shortened(one.path),
                "files": one.files_count,
                "bytes": one.bytes_count,
                "oldest": utc_iso(one.oldest),
                "newest": utc_iso(one.newest),
            }
            for one in new
            if one not in wanted
        ],
    }
