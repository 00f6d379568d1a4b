"""What a person sees of a run when it is done: one screen of lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Any

import polars as pl
from rich.table import Table as Grid
from rich.text import Text

from slowwave.flows.imports.connections import Imported
from slowwave.flows.kernel import checks as check_lines
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.report import LandingReport
from slowwave.flows.nightly.landing_lines import (
    mapping_lines,
    print_shown,
    print_unknown,
    set_aside_lines,
    unknown_lines,
    unmatched_ids,
    unmatched_lines,
)
from slowwave.flows.nightly.learned_lines import (
    answer_lines,
    has_strategies,
    learned_lines,
    memory_lines,
    quiet_lines,
    waits_for_review,
)
from slowwave.flows.nightly.nightly import NightlyResult
from slowwave.flows.publish.plan import DayPlan
from slowwave.transforms.core.vocabularies import ROW_FATES
from slowwave.transforms.landing.ledger_tables import Runs
from slowwave.transforms.landing.mapping.rules import FieldMapping

_SHOWN_FILES = 12
_SHOWN_REASONS = 5
_SHOWN_FINDINGS = 5
_REASON_WIDTH = 90
_FINDING_WIDTH = 300


# ----------------------------------------------------------------------------------------------------------- landing


def landed_lines(report: LandingReport) -> Lines:
    """What became of the delivered rows."""
    if not report.files:
        lines = [("landed", "nothing new: no file waited in the inbox")]
    else:
        counts = [f"{report.total(name):,} {name}" for name in ("accepted", "duplicate", "quarantined")]
        delivered = f"{format_count(report.total('delivered'), 'row')} delivered"
        lines = [("landed", f"{format_count(len(report.files), 'file')}: {delivered} = {' + '.join(counts)}")]
        lines += span_lines(report)
    lines += [("", f"{count:,} × {shorten_to_width(reason, _REASON_WIDTH)}") for reason, count in _top_reasons(report)]
    lines += unknown_lines(report)
    lines += reading_lines(report)
    lines += [("not read", fault) for fault in report.unreadable]
    return lines + [("passed over", said) for said in report.passed_over]


def reading_lines(report: LandingReport) -> Lines:
    """Return what was taken in one of several ways: which one, and of how many files, rows or values."""
    return [
        ("reading", f"{format_count(count, unit)}: {text}") for (unit, text), count in sorted(report.readings.items())
    ]


def span_lines(report: LandingReport) -> Lines:
    """From which day to which the accepted rows of each table are."""
    days = {table: found for table, found in sorted(report.days.items()) if found}
    spans = [
        f"{table} {min(found)} to {max(found)}" if len(found) > 1 else f"{table} {min(found)}"
        for table, found in days.items()
    ]
    return [("span", "; ".join(spans))] if spans else []


def _top_reasons(report: LandingReport) -> list[tuple[str, int]]:
    ranked = sorted(report.reasons.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in ranked[_SHOWN_REASONS:])
    return ranked[:_SHOWN_REASONS] + ([("other reasons", rest)] if rest else [])


def print_landing(report: LandingReport, mapping: FieldMapping | None, *, dry_run: bool) -> None:
    """Print a table of the landed files: all of a few; of many those with quarantined rows, and the totals."""
    files = report.files
    if len(files) > _SHOWN_FILES:
        refused = sorted((file for file in files if file.quarantined), key=lambda file: -file.quarantined)
        files = refused[:_SHOWN_FILES]
    if report.files:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        grid.add_column("file", overflow="fold")
        for name in ROW_FATES:
            grid.add_column(name, justify="right", no_wrap=True)
        for file in files:
            grid.add_row(Text(terminal_safe(file.source)), *(f"{getattr(file, name):,}" for name in ROW_FATES))
        hidden = len(report.files) - len(files)
        if hidden:
            others = [f"{report.total(name) - sum(getattr(file, name) for file in files):,}" for name in ROW_FATES]
            grid.add_row(Text(format_count(hidden, "file") if not files else f"{hidden:,} more"), *others)
        if len(report.files) > 1:
            grid.add_row("total", *(f"{report.total(name):,}" for name in ROW_FATES), style="bold")
        check_lines.screen().print(grid)
    print_lines("", span_lines(report))
    lines = [line for line in landed_lines(report)[1:] if line[0] == ""]
    if lines:
        print_lines("", [("quarantined" if not at else "", text) for at, (_, text) in enumerate(lines)])
    print_lines("", [*reading_lines(report), *mapping_lines(report, mapping)])
    print_unknown(report)
    print_shown(report)
    if dry_run:
        check_lines.screen().print("nothing was written (--dry-run)")


def print_retry(report: LandingReport, mapping: FieldMapping | None, *, dry_run: bool) -> None:
    """Print what came of trying the quarantine again."""
    tried = report.total("retried")
    if not tried:
        check_lines.screen().print("nothing is in quarantine")
        return
    of_files = f"{format_count(tried, 'row')} of {format_count(len(report.files), 'file')} tried again"
    counts = (f"{report.total(name):,} {name}" for name in ("accepted", "duplicate"))
    left = tried + report.total("quarantined")
    lines = [("quarantine", f"{of_files}: {', '.join(counts)}; {left:,} still refused")]
    print_lines("", [*lines, *mapping_lines(report, mapping)])
    print_unknown(report)
    print_shown(report)
    if dry_run:
        check_lines.screen().print("nothing was written (--dry-run)")


def imported_lines(imported: Imported) -> Lines:
    """What came of the connected sources, and what kept one from being read."""
    read = f"{format_count(imported.read, 'source')} read, {imported.unchanged:,} unchanged" if imported.read else ""
    kinds = (("interaction", "interactions"), ("outcome", "outcomes"), ("memory", "memories"))
    rows = [format_count(imported.rows[one], one, many) for one, many in kinds if imported.rows[one]]
    lines = [("imported", read + (f": {', '.join(rows)}" if rows else ""))] if read else []
    return lines + [("not imported", shorten_to_width(said, _FINDING_WIDTH)) for said in imported.warnings]


# -------------------------------------------------------------------------------------------------------------- runs


def day_lines(days: Sequence[DayPlan], label: str, of: int) -> Lines:
    """Days to build and why, a line per reason."""
    if not days:
        return [(label, f"none of {format_count(of, 'day')}: all are there" if of else "no day with interactions")]
    found: defaultdict[str, list[date]] = defaultdict(list)
    for day in days:
        found[day.reason].append(day.day)
    lines = [(label, f"{len(days):,} of {format_count(of, 'day')}")]
    return lines + [("", f"{reason}: {_days(of_reason)}") for reason, of_reason in found.items()]


def _days(days: Sequence[date]) -> str:
    first, last = min(days), max(days)
    if len(days) == 1:
        return first.isoformat()
    if len(days) == (last - first).days + 1:
        return f"{len(days):,} days, {first} to {last}"
    if len(days) <= _SHOWN_FILES:
        return ", ".join(day.isoformat() for day in sorted(days))
    return f"{len(days):,} days between {first} and {last}"


def result_title(result: NightlyResult) -> str:
    """How a run ended, in a line."""
    if result.status == "built":
        return f"built the evidence as of {utc_text(result.as_of)}; what is published stays"
    status = "published, but incomplete:" if result.is_incomplete else result.status
    return f"{status} as of {utc_text(result.as_of)}" + (f": {result.message}" if result.message else "")


def result_lines(settings: Settings, result: NightlyResult) -> Lines:
    """What a run did: landed, built, published, what the audits warn of, where to look next."""
    entry = _ledger_entry(settings, result.run_id)
    seconds = (entry["finished_at"] - entry["started_at"]).total_seconds()
    lines = quiet_lines(result.serving, result.as_of) if result.is_published and result.serving is not None else []
    lines.append(("run", f"{result.run_id}, {seconds:,.1f} s"))
    if result.imported is not None:
        lines += imported_lines(result.imported)
    if result.status != "built":
        lines += landed_lines(result.landed)
        lines += unmatched_lines(unmatched_ids(Lake(settings.lake_folder), result.landed.days))
        lines += [("asked", result.asked)] if result.asked else []
    if result.status != "skipped":
        lines += day_lines(result.built, "built" if result.status == "built" else "rebuilt", len(result.plan.days))
        lines += [("", f"by workers of {result.engine}")] if result.built and result.engine != "local" else []
    if result.is_published:
        lines.append(("published", _describe_tables(entry["table_hashes"])))
        if result.serving is not None:
            lines += [*set_aside_lines(result.serving), *answer_lines(result.serving)]
            lines += [*memory_lines(result.serving), *learned_lines(result.serving)]
        lines += _finding_lines(result)
    lines += erased_lines(result)
    lines += [("expired", result.expired)] if result.expired else []
    lines += [("report", result.report)] if result.report else []
    return lines


def erased_lines(result: NightlyResult) -> Lines:
    """That an erasure, killed before, is ended, and where it still stands."""
    if result.erased is None:
        return []
    asked = ", ".join(f"{kind} {quote_shortened(name)}" for kind, name in result.erased.erasure.targets)
    return [("erased", f"{asked}, as had begun"), *(("still in", one) for one in result.erased.home.remaining)]


def _ledger_entry(settings: Settings, run_id: str) -> dict[str, Any]:
    return Lake(settings.lake_folder).ledger(Runs).row(by_predicate=pl.col("run_id") == run_id, named=True)


def _describe_tables(table_hashes: Sequence[str]) -> str:
    """The tables that have rows, and how many have none."""
    hashes = (text.partition("=") for text in table_hashes)
    rows = {name: int(digest.partition("-")[0]) for name, _, digest in hashes}
    said = [f"{name} {format_count(count, 'row')}" for name, count in rows.items() if count]
    empty = len(rows) - len(said)
    return ", ".join(said + ([f"{empty:,} empty tables"] if empty else []))


def _finding_lines(result: NightlyResult) -> Lines:
    if not result.findings:
        return [("audits", "all passed")]
    lines = [("audits", f"{format_count(len(result.findings), 'warning')}; none stopped the publish")]
    shown = [("", shorten_to_width(str(finding), _FINDING_WIDTH)) for finding in result.findings[:_SHOWN_FINDINGS]]
    return lines + shown


def next_commands(result: NightlyResult, landed_by: str = "") -> list[str]:
    """Commands worth running next; `landed_by` is the run that landed what `result` tells of, where it is another."""
    asks = "best_strategies"
    if result.serving is not None and not has_strategies(result.serving):
        asks = "answerable_questions"
    commands = [f"{this_command()} dashboard", f"{this_command()} sql {asks}"]
    if result.serving is not None and waits_for_review(result.serving):
        commands.insert(0, f"{this_command()} review list")
    if result.landed.total("quarantined"):
        commands.append(quarantine_command(landed_by or result.run_id))
    return [*commands, f"{this_command()} status"]


def quarantine_command(run_id: str) -> str:
    """The command that shows the rows a run refused, once they are published."""
    wanted = f"SELECT source, row_number, reason, raw_text FROM quarantine WHERE run_id = '{run_id}'"  # noqa: S608 - shown
    return f'{this_command()} sql "{wanted}"'
