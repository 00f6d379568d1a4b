"""The morning report: one page of one publish that needs no network, no server and no script.

It is made from the serving file alone, no clock is read, and every order is the cookbook's: the same run gives the same
bytes. Content of logs is text in it, wherever it stands. Its first screen is also Markdown, a message for Slack, or a
picture.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib import resources
from typing import Any, Literal

import duckdb
import polars as pl
from markupsafe import Markup, escape

from slowwave.dashboards.charts.theme import BLUE, skip_chart_checks, writable
from slowwave.dashboards.cookbook.answers import Answers, query_frame
from slowwave.dashboards.overview.six_answers import Scope, six_answers
from slowwave.dashboards.overview.tiles import Named, Tile
from slowwave.dashboards.overview.window import DEFAULT_DAYS, window_of
from slowwave.dashboards.report import details
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report.details import ReportSection
from slowwave.dashboards.templates import render_template
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.transforms.core.schema import columns
from slowwave.transforms.landing.ledger_tables import Runs

Parts = Mapping[str, tuple[str, Callable[[Answers], ReportSection]]]


@dataclass(frozen=True)
class SectionGroup:
    """Sections that belong together."""

    anchor: str
    title: str
    sections: list[ReportSection]


_LONGEST_WARNING = 400
# By address and title of a group, each section's address, title (for when it is not known) and what makes it.
_GROUPS: Mapping[tuple[str, str], Parts] = {
    ("night", "What changed"): {
        "changed": ("What changed", details.changes_section),
        "worse": ("What got worse this week", details.worse),
        "use": ("Use over time", details.uses),
        "success": ("Success by week", details.success),
    },
    ("act", "What to act on"): {
        "harmful": ("Harmful memories", details.harmful),
        "failing": ("Strategies that keep failing", details.failing),
        "alarms": ("Alarms", details.alarms),
        "review": ("Review", details.review),
        "forget": ("Forget", details.forget),
    },
    ("data", "The data"): {
        "refused": ("Refused rows", details.quarantine_section),
        "landed": ("What landed", details.landed_rows_section),
    },
}
_NOT_TOLD = "This publish does not hold what this section needs; another version of Slowwave made it."


def report_html(connection: duckdb.DuckDBPyConnection, run_id: str, about: str = "") -> str:
    """The report of the run whose serving file `connection` has open; `about`: whose memories it sees, '' is all.

    A section whose tables the file lacks says so.

    Raises ValueError when the file does not hold the run, duckdb.Error when it cannot be read at all.
    """
    answers = Answers(connection)
    run = run_row(connection, run_id)
    warnings, count = story.warnings(run["message"])
    with skip_chart_checks():
        groups = [
            SectionGroup(*named, [_section(answers, anchor, *part) for anchor, part in parts.items()])
            for named, parts in _GROUPS.items()
        ]
    newest = _newest(answers)
    page = render_template(
        "report.html.jinja",
        styles=Markup(_styles()),  # noqa: S704 - our own files
        day=f"{run['as_of']:%Y-%m-%d}",
        quiet_log=("", "") if newest is None else story.quiet_log(run["as_of"], newest),
        tiles=_tiles(answers, run["as_of"], newest),
        not_told=_NOT_TOLD,
        about=story.describe_scope(about),
        freshness=story.freshness(run, newest),
        published=story.describe_run(run),
        warnings=[shorten_to_width(terminal_safe(warning), _LONGEST_WARNING) for warning in warnings],
        warnings_said=story.describe_warnings(count, len(warnings)),
        groups=groups,
        facts=_facts(run),
    )
    return f"{page}\n"


def first_screen(connection: duckdb.DuckDBPyConnection, run_id: str) -> tuple[date, list[Tile]]:
    """Return the day of a run and its six answers; no answer where another release made the publish.

    Raises ValueError when the file does not hold the run.
    """
    run, answers = run_row(connection, run_id), Answers(connection)
    return run["as_of"].date(), _tiles(answers, run["as_of"], _newest(answers))


def _tiles(answers: Answers, as_of: datetime, newest: pl.DataFrame | None) -> list[Tile]:
    """The first screen; nothing where another release made the publish."""
    if newest is None:
        return []
    window, scope = window_of(newest, as_of, DEFAULT_DAYS), Scope()
    try:
        return six_answers(answers, window, scope, other=None if window.before is None else (window.before, scope))
    except (duckdb.CatalogException, duckdb.BinderException):
        return []


def _facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the numbers of a run depend on: name and value."""
    return [
        ("run", run["run_id"]),
        ("version", run["version"]),
        ("methods", ", ".join(run["methods"])),
        ("input", run["input_hash"] or "none"),
        ("params", run["params_hash"]),
        ("code", run["code_hash"]),
    ]


def run_row(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, Any]:
    """Return the row of a run in `runs`; raises ValueError when the file does not hold it."""
    # by name: of a file that another version made, DuckDB then says what is missing
    names = ", ".join(column.name for column in columns(Runs))
    rows = query_frame(connection, f"SELECT {names} FROM runs WHERE run_id = $run_id", {"run_id": run_id})  # noqa: S608 - declared names
    if rows.is_empty():
        message = f"the file does not hold run {run_id}"
        raise ValueError(message)
    return rows.row(0, named=True)


def _section(answers: Answers, anchor: str, title: str, made: Callable[[Answers], ReportSection]) -> ReportSection:
    try:
        return made(answers)
    except (duckdb.CatalogException, duckdb.BinderException):
        return ReportSection(anchor, title, [_NOT_TOLD])


def _newest(answers: Answers) -> pl.DataFrame | None:
    try:
        return answers.rows("freshness", 100_000)
    except (duckdb.CatalogException, duckdb.BinderException):
        return None


def _styles() -> str:
    folder = resources.files("slowwave.dashboards").joinpath("templates")
    return "\n".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("table.css", "first_screen.css", "report.css")
    )


Form = Literal["md", "slack", "png"]

# what Markdown takes for markup anywhere, and at the beginning of a line for a list
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#|~!&]|^[+-](?=\s))|^(\d{1,9})(?=\.\s)")
_COLUMNS, _WIDTH, _HEIGHT, _GAP = 3, 380, 270, 14
_LETTERS = 44  # of 14 pixels that fit into a tile
_LINE = 20
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first one is part of vl-convert


def brief(connection: duckdb.DuckDBPyConnection, run_id: str, form: Form) -> bytes:
    """Return the six answers of a run in a form; PNG is 1196 by 622 points, at twice as many pixels.

    Raises ValueError when the file does not hold the run or another release made it, duckdb.Error when it cannot be
    read at all.
    """
    day, tiles = first_screen(connection, run_id)
    if not tiles:
        message = f"run {run_id} was published by another version of Slowwave: publish anew with `slowwave nightly`"
        raise ValueError(message)
    title = f"Memory health on {day}"
    if form == "md":
        return f"# {title}\n\n{''.join(map(_markdown, tiles))}".encode()
    if form == "slack":
        return f"{json.dumps(_slack(title, tiles), ensure_ascii=False, indent=1)}\n".encode()
    import vl_convert

    return vl_convert.svg_to_png(writable(_svg(day, tiles)), scale=2)


def _figure(tile: Tile) -> str:
    """The figure, its unit and its change in a line; what to record where there is no figure."""
    if tile.lacks:
        return tile.lacks
    change = f" ({tile.change} since the days before)" if tile.change else ""
    return f"{tile.figure} {tile.unit}".strip() + change


def _item(named: Named, tile: Tile) -> tuple[str, str]:
    """A thing by name with its figure, and the command to show where it is something to do."""
    words = f"{named.text}: {named.figure}" if named.figure else named.text
    command = named.command if tile.has_commands and "`" not in named.command else ""
    return words, command


# --------------------------------------------------------------------------------------------------------- Markdown


def _markdown(tile: Tile) -> str:
    lines = [f"## {tile.question}\n"]
    lines += [f"{_plain(text)}\n" for text in (_figure(tile), tile.says) if text]
    items = [_item(named, tile) for named in tile.named]
    lines += [f"- {_plain(words)}{f' – `{command}`' if command else ''}" for words, command in items]
    return "\n".join(lines).rstrip("\n") + "\n\n"


def _plain(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return _MARKUP.sub(lambda found: f"{found[2]}\\" if found[2] else f"\\{found[1]}", text)


# ------------------------------------------------------------------------------------------------------------ Slack


def _slack(title: str, tiles: Sequence[Tile]) -> dict[str, object]:
    """A message of Slack's Block Kit. Its texts are rich text, which Slack shows as it stands.

    In `mrkdwn` `*`, `_`, `~` and a bare address would be taken for markup, and nothing escapes them.
    """
    sections = [
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(_slack_texts(tile))}]}
        for tile in tiles
    ]
    header = {"type": "header", "text": {"type": "plain_text", "text": title}}
    return {"text": title, "blocks": [header, *sections]}


def _slack_texts(tile: Tile) -> Iterator[dict[str, object]]:
    yield _slack_text(tile.question, "bold")
    yield from (_slack_text(f"\n{text}") for text in (_figure(tile), tile.says) if text)
    for words, command in (_item(named, tile) for named in tile.named):
        yield _slack_text(f"\n• {words}{' – ' if command else ''}")
        yield from [_slack_text(command, "code")] if command else []


def _slack_text(text: str, style: str = "") -> dict[str, object]:
    return {"type": "text", "text": text, **({"style": {style: True}} if style else {})}


# ---------------------------------------------------------------------------------------------------------- picture


def _svg(day: date, tiles: Sequence[Tile]) -> str:
    rows = -(-len(tiles) // _COLUMNS)
    width, height = _COLUMNS * (_WIDTH + _GAP) + _GAP, rows * (_HEIGHT + _GAP) + _GAP + 40
    drawn = Markup("").join(
        Markup('<g transform="translate({} {})">{}</g>').format(
            _GAP + number % _COLUMNS * (_WIDTH + _GAP),
            40 + _GAP + number // _COLUMNS * (_HEIGHT + _GAP),
            _render_tile(tile),
        )
        for number, tile in enumerate(tiles)
    )
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" font-family="{font}" font-size="14" '
        'fill="#1c2127"><rect width="{w}" height="{h}" fill="#ffffff"/>'
        '<text x="14" y="36" font-size="22" font-weight="bold">Memory health on {day}</text>{drawn}</svg>'
    ).format(w=width, h=height, day=day, drawn=drawn, font=_FONT)


def _render_tile(tile: Tile) -> Markup:
    parts = [
        Markup('<rect width="{}" height="{}" rx="8" fill="none" stroke="#b8bfc7"/>').format(_WIDTH, _HEIGHT),
        Markup('<text x="16" y="28" font-weight="bold">{}</text>').format(tile.question),
    ]
    y = 40
    if tile.figure and not tile.lacks:
        parts.append(
            Markup(
                '<text x="16" y="{}"><tspan font-size="28" font-weight="bold">{}</tspan> <tspan>{}</tspan></text>'
            ).format(y + 22, tile.figure, " · ".join(filter(None, (tile.unit, tile.change))))
        )
        y += 34
    if lines := tile.lines:
        parts += [
            Markup(
                '<path transform="translate(16 {}) scale(1.45 1.5)" d="{}" fill="none" stroke="{}" stroke-width="{}" '
                'opacity="{}"/>'
            ).format(y, line.path, BLUE, 0.75 * line.width, line.opacity)
            for line in lines
        ]
        y += 60
    words = textwrap.wrap(tile.lacks or tile.says, _LETTERS)
    for number, (text, command) in enumerate((_item(named, tile) for named in tile.named), start=1):
        words += [f"{number}. {text}", *([f"    {command}"] if command else [])]
    for line in [line for text in words if text for line in textwrap.wrap(text, _LETTERS, subsequent_indent="    ")]:
        y += _LINE
        if y < _HEIGHT:
            parts.append(Markup('<text x="16" y="{}" xml:space="preserve">{}</text>').format(y, escape(line)))
    return Markup("").join(parts)
