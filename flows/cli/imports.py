"""`slowwave import`: logs and stores of other programs become deliveries, which land as any others do."""

from __future__ import annotations

import glob
import json
import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from slowwave.flows.cli.run import WAIT_SECONDS, landing_json
from slowwave.flows.imports.connections import received_deliveries
from slowwave.flows.imports.import_state import Cursors, has_been_seen
from slowwave.flows.imports.importer import ImportOptions, ImportReport, found_by, importer, source_settings, utc_moment
from slowwave.flows.imports.importer import project_map as projects_of
from slowwave.flows.imports.recognition import recognise_files, why_no_rows
from slowwave.flows.imports.sources import SOURCES, Source, is_store, source_named
from slowwave.flows.imports.units import NotImported
from slowwave.flows.kernel import checks as check_lines
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import Lines, Screen, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, shorten_to_width
from slowwave.flows.kernel.times import parse_as_of
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.inbox import Delivery
from slowwave.flows.land.land import Landing
from slowwave.flows.land.readings import Readings, home_readings
from slowwave.flows.land.report import MAX_REFUSED, LandingReport
from slowwave.flows.nightly.learned_lines import imported_lines
from slowwave.flows.nightly.nightly import land_paths
from slowwave.flows.nightly.screen import landed_lines, quarantine_command
from slowwave.flows.publish.run import Run, start_run

_SHOWN = 8
_SHOWN_EXAMPLE = 120
_SHOWN_LEFT = 60
_SHOWN_SORT = 300
_MOST_SORTS = 30
_NOTHING = "nothing of it was found there"
# Whose memories the rows of a source name by their ids.
_MEMORIES_OF = {"claude-code": "claude-memory"}


def run_import(
    settings: Settings,
    named: Sequence[str],
    *,
    since: str | None,
    dry_run: bool,
    project_map: str | None,
    infers: bool,
    output: str,
    accepts_vanished: bool = False,
) -> None:
    """Import what a source has under some paths, land it, and print what became of it.

    `named`: the source and the paths, or paths alone, whose source is recognised by what is there.

    Raises WrongUsageError for an unknown source or a map of projects that cannot be read, and typer.Exit with code 1
    when a path is missing, a unit could not be read, a file that was named is none of the source's, or landing says so.
    """
    source, there, missing = _choose_source(settings, named)
    if is_store(source) and since:
        message = f"--since is for logs: {source.described} are read whole, for what is gone shows from what is there"
        raise WrongUsageError(message)
    if accepts_vanished and not is_store(source):
        message = f"--accept-vanished is for stores: nothing is ever gone from {source.described}"
        raise WrongUsageError(message)
    options = ImportOptions(
        since=utc_moment(parse_as_of(since)) if since else None,
        projects=projects_of(project_map),
        infers=infers,
        settings=source_settings(settings, source.name),
    )
    with Screen() as screen:
        found = found_by(settings, source, there, options, is_kept=not dry_run)
        found.others.extend(missing)
        how: dict[str, Any] = {"accepts_vanished": accepts_vanished, "progress": _progress(screen)}
        if dry_run:
            with tempfile.TemporaryDirectory(prefix="slowwave-import-") as aside:
                lake = Lake(settings.lake_folder)
                report = importer(settings, lake, source, options, rehearsed_in=Path(aside), **how).run(found)
                why = why_no_rows(source, report, there)
                landed, run_id, answers = _rehearse_landing(settings, report, screen), "", []
        else:
            with writer_lock(settings, "import", wait_seconds=WAIT_SECONDS, waiting=screen.note):
                run = start_run(settings, "land", screen.progress)
                at_work = importer(settings, run.lake, source, options, **how)
                report = at_work.run(found)
                why = why_no_rows(source, report, there)
                landed, run_id = _land_deliveries(run, report, None if why else at_work.cursors), run.run_id
                answers = imported_lines(report.tally.holds, run.params) if landed.total("accepted") else []
        screen.close()
        todo = [f"{this_command()} {one}" for one in _todo(settings, source, landed)]
        _print(source, report, landed, run_id, answers, todo, dry_run=dry_run, output=output)
        wrong = report.faults + landed.unreadable + landed.alarms(MAX_REFUSED, is_rehearsal=dry_run)
        wrong += [why] if why else []
        if there and not report.units and not report.unchanged:
            wrong += [said for said in _elsewhere(settings, source, there) if said not in wrong]
        _exit_if_any(wrong, screen)


def _choose_source(settings: Settings, named: Sequence[str]) -> tuple[Source, list[Path], list[NotImported]]:
    """The source, the paths that are there, and what is missing or none of it."""
    first, *paths = named
    names = ", ".join(each.name for each in SOURCES)
    source = source_named(first)
    if source is not None:
        if not paths:
            message = f"name a file or folder: slowwave import {source.name} PATH"
            raise WrongUsageError(message)
        return source, *_existing(paths)
    there, missing = _existing(named)
    if missing and missing[0].name == first:
        message = f"there is no importer {quote_shortened(first)}: there are {names}"
        if not paths:
            message += "; and no file or folder of that name"
        raise WrongUsageError(message)
    return _recognised_source(settings, there, missing)


def _recognised_source(
    settings: Settings, there: list[Path], missing: list[NotImported]
) -> tuple[Source, list[Path], list[NotImported]]:
    """The one source that reads what is there. Raises WrongUsageError where several do, UserError where none does."""
    try:
        found = recognise_files(there, settings.longest_row)
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(message) from error
    others = [*missing, *found.others]
    if not found.paths:
        raise UserError("\n".join(f"{one.name} {one.why}" for one in others))
    if len(found.paths) > 1:
        sources = [each for each in SOURCES if each.name in found.paths]
        said = " and ".join(f"{each.described} (such as {found.examples[each.name]})" for each in sources)
        commands = " or ".join(f"`slowwave import {each.name} {found.paths[each.name][0]}`" for each in sources)
        message = f"there are {said}: import one after the other, by {commands}"
        raise WrongUsageError(message)
    (name, paths), *_ = found.paths.items()
    return next(each for each in SOURCES if each.name == name), paths, others


def _progress(screen: Screen) -> Callable[[int, int], None]:
    return lambda done, total: screen.progress("import", done // 10**6, total // 10**6)


def _existing(paths: Sequence[str]) -> tuple[list[Path], list[NotImported]]:
    there: list[Path] = []
    missing: list[NotImported] = []
    for given in paths:
        expanded = os.path.expanduser(given)  # noqa: PTH111 - of an unknown user it stays as it is
        path = Path(expanded)
        if expanded and path.exists():
            there.append(path)
            continue
        matched = [Path(name) for name in sorted(glob.glob(expanded, recursive=True))]  # noqa: PTH207 - absolute globs too
        there += matched
        if not matched:
            missing.append(NotImported(given, "is not there: no such file, folder or match", is_fault=True))
    return there, missing


def _land_deliveries(run: Run, report: ImportReport, cursors: Cursors | None) -> LandingReport:
    """Land the inbox, then note what was imported: what did not land is read again."""
    waiting = received_deliveries(run.settings, run.landed.unreadable.append)
    landed = land_paths(run, waiting, readings=home_readings(run.settings))
    if cursors is not None and report.units and not any(path.exists() for path in report.deliveries):
        cursors.save()
    return landed


def _rehearse_landing(settings: Settings, report: ImportReport, screen: Screen) -> LandingReport:
    lake = Lake(settings.lake_folder)
    lake.check_format()
    landing = Landing(
        None, "", progress=screen.progress, known=lake, longest_row=settings.longest_row, readings=Readings()
    )
    return landing.land([Delivery(path.name, path, from_inbox=True) for path in report.deliveries])


# ------------------------------------------------------------------------------------------------- what is printed


def _print(
    source: Source,
    report: ImportReport,
    landed: LandingReport,
    run_id: str,
    answers: Lines,
    todo: list[str],
    *,
    dry_run: bool,
    output: str,
) -> None:
    if output == "json":
        typer.echo(
            json.dumps(
                {"import": {"source": source.name} | _as_json(report), "landing": landing_json(landed)}, indent=2
            )
        )
        return
    print_lines("", _import_lines(source, report))
    if dry_run:
        print_lines("", [*_example_lines(report), *_would_land(landed)])
        check_lines.screen().print("nothing was written (--dry-run)")
    elif landed.files:
        print_lines("", [*landed_lines(landed), *answers])
    if run_id and landed.total("quarantined"):
        print_lines("", [], [quarantine_command(run_id)])
    if run_id and landed.total("accepted"):
        print_lines("", [], todo)


def _todo(settings: Settings, source: Source, landed: LandingReport) -> list[str]:
    """The commands to go on with: memories that rows name are found in answers only once their texts have landed."""
    memories = _MEMORIES_OF.get(source.name)
    if memories is None or not landed.days.get("interactions") or has_been_seen(settings.lake_folder, memories):
        return ["nightly"]
    usual = next(each.roots[-1] for each in SOURCES if each.name == memories)
    return [f"import {memories} {usual}", "nightly"]


def _would_land(landed: LandingReport) -> Lines:
    """What a landing would make of the rows, in the words of one that was."""
    return [("would land" if label == "landed" else label, text) for label, text in landed_lines(landed)]


def _import_lines(source: Source, report: ImportReport) -> Lines:
    read = f"{report.units:,} read, {report.unchanged:,} unchanged since they were imported"
    lines = [("import", f"{source.described} ({source.name}): {read}")]
    lines += [("", f"{count:,} × {producer}") for producer, count in sorted(report.producers.items())[:_SHOWN]]
    tally = report.tally
    lines += _record_lines(tally.records) if report.units else []
    kinds = (("interaction", "interactions"), ("outcome", "outcomes"), ("memory", "memories"))
    lines.append(("rows", ", ".join(format_count(tally.kinds[one], one, many) for one, many in kinds)))
    lines += _ranked_count_lines("repaired", tally.repaired)
    lines += _ranked_count_lines("refused", tally.refused)
    lines += _ranked_count_lines("left out", tally.left_out, tally.left_examples)
    lines += _ranked_count_lines("secrets", tally.secrets)
    others = [one for one in report.others if not one.is_fault]
    by_reason = Counter(one.why for one in others)
    for at, (why, count) in enumerate(by_reason.most_common(_SHOWN)):
        example = next(one.name for one in others if one.why == why)
        said = f"{format_count(count, 'file')} left" if count > 1 else "1 file left"
        lines.append(("other files" if not at else "", f"{said}, such as {example}: {why}"))
    return lines


def _record_lines(records: Counter[str]) -> Lines:
    """How many records were read, of which kinds."""
    ranked = sorted(records.items(), key=lambda item: (-item[1], item[0]))
    kinds = [f"{count:,} {kind}" for kind, count in ranked[:_SHOWN]]
    kinds += [f"{len(ranked) - _SHOWN:,} more kinds"] if len(ranked) > _SHOWN else []
    return [("records", f"{records.total():,} read: {', '.join(kinds)}" if ranked else "0 read: it holds none")]


def _ranked_count_lines(label: str, counts: Counter[str], examples: Mapping[str, str] | None = None) -> Lines:
    lines = []
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for at, (sort, count) in enumerate(ranked[:_MOST_SORTS]):
        example = (examples or {}).get(sort, "")
        shown = f", such as {quote_shortened(shorten_to_width(example, _SHOWN_LEFT))}" if example else ""
        lines.append((label if not at else "", f"{count:,} × {shorten_to_width(sort, _SHOWN_SORT)}{shown}"))
    if len(ranked) > _MOST_SORTS:
        lines.append(("", f"and {len(ranked) - _MOST_SORTS:,} more sorts"))
    return lines


def _example_lines(report: ImportReport) -> Lines:
    lines = []
    for kind, rows in report.tally.examples.items():
        lines += [(kind if not at else "", _example(row)) for at, row in enumerate(rows)]
    return lines


def _example(row: dict[str, Any]) -> str:
    """What a row says, for people."""
    if "prompt" in row:
        said = [row["prompt"], row.get("response") or "nothing"]
        texts = " → ".join(
            quote_shortened(shorten_to_width(" ".join(str(text).split()), _SHOWN_EXAMPLE)) for text in said
        )
        return f"{row.get('created_at')} {row.get('project') or 'no project'}: {texts}"
    if "memory_id" in row:
        return f"{row['memory_id']}: {quote_shortened(shorten_to_width(str(row.get('content', '')), _SHOWN_EXAMPLE))}"
    how = "no attempt" if row.get("attempted") is False else "worked" if row.get("success") else "failed"
    why = shorten_to_width(str(row.get("evidence") or row.get("error_message") or ""), _SHOWN_EXAMPLE)
    return f"{row.get('outcome_id')}: {how}{f' ({why})' if why else ''}"


def _as_json(report: ImportReport) -> dict[str, Any]:
    tally = report.tally
    return {
        "units": report.units,
        "unchanged": report.unchanged,
        "bytes": report.bytes,
        "producers": report.producers,
        "records": dict(tally.records),
        "rows": dict(tally.kinds),
        "examples": tally.examples,
        "repaired": dict(tally.repaired),
        "refused": dict(tally.refused),
        "left_out": {
            sort: {"count": count, "example": tally.left_examples.get(sort, "")}
            for sort, count in tally.left_out.items()
        },
        "secrets": dict(tally.secrets),
        "other_files": [{"name": one.name, "why": one.why} for one in report.others if not one.is_fault],
        "not_imported": report.faults,
    }


def _elsewhere(settings: Settings, source: Source, there: Sequence[Path]) -> list[str]:
    """Say that a source has nothing there, and by which command what is there comes in."""
    try:
        found = recognise_files(there, settings.longest_row)
    except OSError:
        return [_NOTHING]
    elsewhere = {name: paths[0] for name, paths in found.paths.items() if name != source.name}
    commands = [f"`slowwave import {name} {shlex.quote(str(path))}`" for name, path in elsewhere.items()]
    if commands:
        others = " and ".join(each.described for each in SOURCES if each.name in elsewhere)
        return [f"{_NOTHING}: there are {others}, which {' or '.join(commands)} reads"]
    return [_NOTHING, *(f"{one.name} {one.why}" for one in found.others[:_SHOWN])]


def _exit_if_any(wrong: Sequence[str], screen: Screen) -> None:
    """Say what is wrong; raises typer.Exit with code 1 when something is."""
    for said in wrong:
        screen.note(said)
    if wrong:
        raise typer.Exit(1)
