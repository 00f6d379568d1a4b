"""Cells of a store's tables, in which SQLite lets any value stand in any column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.record_values import moment_of
from slowwave.transforms.landing.coerce import Unfit

Cells = Mapping[str, Any]


@dataclass(frozen=True)
class TooLong:
    """In place of a value that is longer than a row may be: how many characters or bytes it has."""

    length: int


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_MOST_SHOWN = 2_000


def text(cells: Cells, column: str) -> str | None:
    """A cell as text; None where it says nothing. Raises Unfit for bytes that are no text."""
    value = plain(cells, column)
    said = value if isinstance(value, str) or value is None else str(value)
    return None if said is None or says_nothing(said) else said


def plain(cells: Cells, column: str) -> str | float | int | None:
    """A cell as JSON can say it. Raises Unfit for bytes that are no text, and for what is too long."""
    value = cells.get(column)
    if isinstance(value, TooLong):
        message = f"the column {column} is {value.length:,} long, more than a row may be"
        raise Unfit(message)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            message = f"the column {column} has {len(value):,} bytes that are no text"
            raise Unfit(message) from error
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def required_text(cells: Cells, column: str) -> str:
    """A cell that must say something. Raises Unfit where it does not."""
    said = text(cells, column)
    if said is None:
        message = f"the column {column} says nothing"
        raise Unfit(message)
    return said


def json_cell(cells: Cells, column: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """What a cell of JSON holds; the text itself where it is none; None where it says nothing or holds nothing."""
    said = text(cells, column)
    if said is None:
        return None
    try:
        value = orjson.loads(said)
        orjson.dumps(value)  # nests no deeper than it can be written again
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return said
    return None if value in ({}, [], "") else value


def json_list(cells: Cells, column: str) -> list[str] | None:
    """Texts of a cell that holds a JSON list of them; None for anything else."""
    value = json_cell(cells, column)
    return [str(one) for one in value if one is not None] if isinstance(value, list) else None


def moment(cells: Cells, column: str) -> datetime | None:
    """A time, as text in whatever form or as an epoch in seconds or milliseconds; None where it is none."""
    value = cells.get(column)
    return moment_of(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)


def microseconds(cells: Cells, column: str) -> datetime | None:
    """A time counted in microseconds since 1970; None where it is none."""
    value = cells.get(column)
    try:
        return _EPOCH + timedelta(microseconds=value) if isinstance(value, int) else None
    except OverflowError:
        return None


def others(cells: Cells, known: tuple[str, ...]) -> dict[str, Any]:
    """What the columns that are not `known` hold, JSON taken apart; what is no text or too long is only counted."""
    found = {}
    for column in sorted(cells.keys() - set(known)):
        try:
            value = plain(cells, column)
            value = json_cell(cells, column) if isinstance(value, str) else value
        except Unfit:
            value = _size(cells[column])
        if value is not None:
            found[column] = value
    return found


def describe_row(cells: Cells) -> str:
    """A row for people to see why it was refused, long values cut."""
    said = {
        column: _size(value) if isinstance(value, bytes | TooLong) else str(value)[:_MOST_SHOWN]
        for column, value in cells.items()
        if value is not None
    }
    return orjson.dumps(said, option=orjson.OPT_NON_STR_KEYS).decode()


def _size(value: bytes | TooLong) -> str:
    return f"{value.length if isinstance(value, TooLong) else len(value):,} bytes or characters"
