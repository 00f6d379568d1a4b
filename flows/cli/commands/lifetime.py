"""`slowwave lake erase`: what would go, and then its going."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

import typer

from slowwave.flows.ask.report import ensure_current_report
from slowwave.flows.cli.shared import ask
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import Lines, Screen, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, size_shown, terminal_safe
from slowwave.flows.lake.lake import landed_lake
from slowwave.flows.land.inbox import inbox_deliveries, inbox_otlp
from slowwave.flows.lifetime.erasure import Erasure, RepeatedRows
from slowwave.flows.lifetime.erasure_steps import CompletedErasure, ErasurePreview, describe_targets, preview_erasure
from slowwave.flows.lifetime.home_erasure import describe_outside
from slowwave.flows.lifetime.retention import ExpiredCounts, apply_retention, read_retention_rules
from slowwave.flows.nightly.other_nights import erase
from slowwave.transforms.core.blank import says_nothing

_WAIT_SECONDS = 600
_SHOWN = 20
# How places are called that are not called by their names.
_PLACES = {
    "quarantine/files": "kept bytes of files that could not be read",
    "quarantine": "refused rows, which stay as counts",
    "quarantine_resolved": "rows that passed later, which stay as counts",
    "moved_keys": "notes of keys that moved",
    "imports": "notes of imports",
    "run_files": "names of delivered files",
    "runs": "messages of runs",
}


def run_erase(settings: Settings, named: Sequence[tuple[str, str]], *, yes: bool, output: str) -> None:
    """Print what would go, or with `yes` erase it and print what went.

    Raises typer.BadParameter where nothing is named, UserError where nothing of it was ever here, typer.Exit with code
    1 where it still stands in a file.
    """
    if not named or any(says_nothing(name) for _, name in named):
        message = "name what to erase: --user, --session, --interaction or --memory, each as often as wanted"
        raise typer.BadParameter(message)
    targets = tuple(dict.fromkeys(named))
    lake = landed_lake(settings)
    if not yes:
        _print_preview(settings, preview_erasure(settings, lake, targets), output)
        return
    with Screen() as screen, writer_lock(settings, "erase", wait_seconds=_WAIT_SECONDS, waiting=screen.note):
        done = erase(settings, targets, screen.progress, screen.note)
        if isinstance(done, ErasurePreview):
            screen.close()
            _print_preview(settings, done, output)
            return
        ensure_current_report(settings)
    erased = done.night.erased
    if erased is None:
        message = "the erasure has not ended: run this again"
        raise UserError(message)
    lies_outside = describe_outside(settings, lake, erased.erasure.pushed)
    if output == "json":
        report = _as_json(erased.erasure, erased.removed + erased.home.removed, done.repeated, lies_outside, erased)
        typer.echo(json.dumps(report, indent=2))
    else:
        lines = _lines(erased.erasure, erased.removed + erased.home.removed, done.repeated)
        lines += [("published", f"run {done.night.run_id}, without it")]
        where = "it stands in these" if erased.home.remaining else "it stands in none of them"
        lines += [("searched for", f"in {format_count(erased.home.searched, 'other file')}: {where}")]
        lines += _labelled_lines("still in", erased.home.remaining)
        print_lines(f"erased {describe_targets(targets)}", lines + _labelled_lines("not searched", lies_outside))
    if erased.home.remaining:
        raise typer.Exit(1)


def _print_preview(settings: Settings, found: ErasurePreview, output: str) -> None:
    targets = found.erasure.targets
    lies_outside = describe_outside(settings, landed_lake(settings), found.erasure.pushed)
    if output == "json":
        report = _as_json(found.erasure, found.removed, found.repeated, lies_outside, None)
        typer.echo(json.dumps(report, indent=2))
        return
    if found.erased_at is not None:
        typer.echo(
            terminal_safe(
                f"{describe_targets(targets)} was erased on {found.erased_at:%Y-%m-%d}: nothing of it is here"
            )
        )
        return
    waiting = len(inbox_deliveries(settings.inbox)) + len(inbox_otlp(settings.inbox))
    lines = _lines(found.erasure, found.removed, found.repeated)
    lines += [("inbox", f"{format_count(waiting, 'file')} would land first, and then be searched")] if waiting else []
    lines += [("then", "what is current is published anew, and every file of the home searched, with exports")]
    options = " ".join(f"--{kind} {shlex.quote(name)}" for kind, name in targets)
    commands = [f"{this_command()} lake erase {options} --yes"]
    print_lines(
        f"would erase {describe_targets(targets)}", lines + _labelled_lines("not searched", lies_outside), commands
    )


def _lines(erasure: Erasure, removed: Counter[str], repeated: RepeatedRows) -> Lines:
    rows = [(table, count) for table, count in erasure.rows.items() if count]
    lines = _labelled_lines("rows", [_versions(count, table) for table, count in rows])
    lines += _labelled_lines("no row", [f"of {describe_targets([one])}" for one in erasure.without_rows])
    also = [(place, count) for place, count in sorted(removed.items()) if place not in erasure.keys]
    lines += _labelled_lines("also", [f"{_PLACES.get(place, place)}: {count:,}" for place, count in also])
    for of, kind, label in ((repeated.naming, "naming", "name it"), (repeated.repeating, "repeating", "repeat it")):
        if of:
            tables = ", ".join(_versions(count, table) for table, count in sorted(of.items()))
            examples = ", ".join(map(quote_shortened, repeated.examples[kind]))
            lines.append((label, f"rows of others, which stay as they are: {tables}, such as {examples}"))
    return lines


def _versions(count: int, table: str) -> str:
    return format_count(count, f"version of {table}", f"versions of {table}")


def _labelled_lines(label: str, texts: Sequence[str]) -> Lines:
    lines = [(label if not at else "", one) for at, one in enumerate(texts[:_SHOWN])]
    return lines + ([("", f"and {len(texts) - _SHOWN:,} more")] if len(texts) > _SHOWN else [])


def _as_json(
    erasure: Erasure,
    removed: Counter[str],
    repeated: RepeatedRows,
    lies_outside: list[str],
    erased: CompletedErasure | None,
) -> dict[str, Any]:
    return {
        "asked": [{"kind": kind, "id": name} for kind, name in erasure.targets],
        "is_erased": erased is not None,
        "rows": {table: len(ids) for table, ids in erasure.keys.items()},
        "versions": dict(erasure.rows),
        "without_rows": [{"kind": kind, "id": name} for kind, name in erasure.without_rows],
        "gone": dict(removed),
        "named_by_others": dict(repeated.naming),
        "repeated_by_others": dict(repeated.repeating),
        "examples": repeated.examples,
        "left": erased.home.remaining if erased else [],
        "outside": lies_outside,
    }


# `slowwave lake retain`: deletes by age what `settings.toml` says.

_NAMES = "texts_days, evidence_days, runs_days and quarantine_days"


def run_retain(settings: Settings, *, dry_run: bool, yes: bool) -> None:
    """Print what each rule would delete, and unless `dry_run` delete it.

    Raises UserError where the settings cannot be used, typer.Abort where the answer is no.
    """
    lake, rules = landed_lake(settings), read_retention_rules(settings)
    if not rules.is_any:
        says = f"nothing is deleted by age: [retention] in {settings.settings_file} may state {_NAMES}"
        typer.echo(terminal_safe(says))
        return
    if dry_run or not yes:
        would = apply_retention(settings, lake, rules, rehearses=True)
        goes = any(one.things for one in would.values())
        print_lines(
            "would delete", _expired_lines(would), [f"{this_command()} lake retain --yes"] if dry_run and goes else []
        )
        if dry_run or not goes:
            return
        ask("delete it?")
    with Screen() as screen, writer_lock(settings, "retain", wait_seconds=_WAIT_SECONDS, waiting=screen.note):
        expired = apply_retention(settings, lake, rules)
    print_lines("deleted", _expired_lines(expired))


def _expired_lines(expired: dict[str, ExpiredCounts]) -> Lines:
    return [(rule, _line(one)) for rule, one in expired.items()]


def _line(one: ExpiredCounts) -> str:
    things = ", ".join(f"{count:,} × {thing}" for thing, count in one.things.items())
    line = f"{things}: {size_shown(one.bytes)}" if things else ""
    if one.waiting_days:
        days = format_count(one.waiting_days, "day waits", "days wait")
        line += f"{'; ' if line else ''}{days} for a nightly that publishes what has landed since"
    return line or "nothing is that old"
