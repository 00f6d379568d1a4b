"""The first screen of the report for mail and chat: as Markdown, as a message for Slack, or as a picture."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal

import duckdb
from markupsafe import Markup, escape

from slowwave.dashboards.charts.theme import BLUE, writable
from slowwave.dashboards.overview.tiles import Named, Tile
from slowwave.dashboards.report.page import first_screen

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
