"""What a landing says of fields that the contract does not know: rows, an example, and how each can be mapped."""

from __future__ import annotations

from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from slowwave.flows.kernel import checks as check_lines
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe
from slowwave.flows.land.report import LandingReport
from slowwave.transforms.landing.mapping.named_otherwise import map_options
from slowwave.transforms.landing.mapping.resemblance import Likeness, likenesses
from slowwave.transforms.landing.mapping.suggestion import example
from slowwave.transforms.landing.mapping.unknown_fields import UnknownField

_SHOWN_FIELDS = 20
_SHOWN_NAME = 40
_NAMES_IN_A_NIGHT = 3


def _rank_fields(report: LandingReport, alike: dict[str, Likeness]) -> list[UnknownField]:
    """Unknown fields: those that are like one of the contract first, then by rows."""
    return sorted(report.unknown.fields, key=lambda one: (one.name not in alike, -one.rows, one.name))


def print_unknown(report: LandingReport) -> None:
    """Print a table of the unknown fields, and the command that lands those that are like one of the contract."""
    if not report.unknown.by_name:
        return
    alike = likenesses(report.unknown)
    fields = _rank_fields(report, alike)
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("unknown field", overflow="fold")
    grid.add_column("rows", justify="right", no_wrap=True)
    grid.add_column("example", overflow="fold")
    grid.add_column("taken as", overflow="fold")
    for one in fields[:_SHOWN_FIELDS]:
        like = alike.get(one.name)
        grid.add_row(
            Text(terminal_safe(shorten_to_width(one.name, _SHOWN_NAME))),
            f"{one.rows:,}",
            Text(terminal_safe(example(one.samples[0]))),
            Text(terminal_safe(map_options([(like.field, like.path)]) if like else "extra")),
        )
    more = len(fields) - _SHOWN_FIELDS
    if more > 0 or not report.unknown.are_all:
        grid.add_row(f"{more:,} more" if report.unknown.are_all else "many more")
    check_lines.screen().print(grid)
    if alike:
        print_lines(
            "",
            [("", "unknown fields of rows that land go to extra; the options above take them for what they are")],
        )


def retry_command(report: LandingReport) -> str:
    """What lands the refused rows with the fields that unknown ones are like; '' where none is."""
    options = map_options((like.field, like.path) for like in likenesses(report.unknown).values())
    return f"{this_command()} land --retry-quarantine {options}" if options else ""


def unknown_lines(report: LandingReport) -> Lines:
    """Of a night: the fields that are like one of the contract and are not mapped to it."""
    alike = likenesses(report.unknown)
    if not alike:
        return []
    fields = [one for one in _rank_fields(report, alike) if one.name in alike]
    said = [
        f"{shorten_to_width(one.name, _SHOWN_NAME)} ({format_count(one.rows, 'row')}, like {alike[one.name].field})"
        for one in fields[:_NAMES_IN_A_NIGHT]
    ]
    said += [f"{len(fields) - _NAMES_IN_A_NIGHT:,} more"] if len(fields) > _NAMES_IN_A_NIGHT else []
    of = format_count(len(fields), "field")
    return [("unknown", f"{of} under other names: {', '.join(said)}; `slowwave mapping suggest FILE` maps them")]


def unknown_json(report: LandingReport) -> list[dict[str, Any]]:
    """Per unknown field its rows, an example, and the field and the option that would take it."""
    alike = likenesses(report.unknown)
    found = []
    for one in _rank_fields(report, alike):
        like = alike.get(one.name)
        found.append(
            {
                "name": one.name,
                "rows": one.rows,
                "example": example(one.samples[0]),
                "like": like and like.field,
                "map": like and f"{like.field}={like.path}",
            }
        )
    return found


def print_shown(report: LandingReport) -> None:
    """Print the first rows of a rehearsal before and after their mapping."""
    for row in report.shown:
        print_lines("", [(f"row {row.row_number}", row.before), ("  lands as", row.after)])
