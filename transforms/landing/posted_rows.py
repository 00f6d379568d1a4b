"""Posted rows judged as landing would: those that land, as lines of a delivery, and why the others are refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.schema import Column, producer_columns
from slowwave.transforms.core.times import EPOCH_MILLISECONDS_FROM
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.delivered_rows import RecordRows, is_value
from slowwave.transforms.landing.landed_rows import ROW_NUMBER, readable_rows
from slowwave.transforms.landing.mapping.mapped_rows import mapped_record
from slowwave.transforms.landing.mapping.named_otherwise import SURE_NAMES, WANTED, plain
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.posted_records import ID_OF, Receipt, stamp_record
from slowwave.transforms.landing.tables import LANDED, Interactions, Outcomes

# Posted rows of which a look at each value tells that they land, and which therefore need not be judged in columns.
# What is plain is judged to land by landing's own rules too (a property of the tests); the reverse is not asked: what
# may be taken in another way, such as a number that is written as text, is left to them.

_Check = Callable[[Any], bool]

_INT64 = 2**63
# The years 1000 to 9998: no offset takes them out of what a time may be.
_TIME = re.compile(
    r"([1-9][0-9]{3}-[0-9]{2}-[0-9]{2}[T ][0-2][0-9]:[0-5][0-9]:[0-5][0-9])(?:\.[0-9]{1,9})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?"
)
# 1970 begins with the zero value of clocks, in some zone.
_UNSURE_YEARS = ("9999", "1969", "1970")
_SECONDS_FROM, _SECONDS_BELOW, _MILLISECONDS_BELOW = 1, 10**10, 10**14


@dataclass(frozen=True)
class _Rules:
    """How the fields of a kind of row are looked at, and which it must have."""

    checks: Mapping[str, _Check]
    required: tuple[str, ...]


def is_plain(row: Mapping[str, Any], kind: LandedTable, *, keeps_unknown: bool) -> bool:
    """Whether a stamped row surely lands, under the id that it states."""
    rules = _rules(kind, kind == "interactions" and row.get("success") is not None)
    unknown: list[str] = []
    for name, value in row.items():
        check = rules.checks.get(name)
        if value is None:
            continue
        if check is None:
            unknown.append(name)
        elif not check(value):
            return False
    if any(row.get(name) is None for name in rules.required):
        return False
    return keeps_unknown or not _may_be_meant(row, kind, unknown)


def _may_be_meant(row: Mapping[str, Any], kind: LandedTable, unknown: list[str]) -> bool:
    """Whether a field that is not known may be meant for one that the row lacks."""
    if not unknown:
        return False
    names = {plain(name) for name in unknown}
    return any(not is_value(row.get(field)) and not names.isdisjoint(SURE_NAMES[field]) for field in WANTED[kind])


@cache
def _rules(kind: LandedTable, with_outcome: bool) -> _Rules:
    (table,) = (table for table in LANDED if table.name == kind)
    given = list(producer_columns(table))
    if with_outcome:
        own = {c.name for c in given}
        given += [c for c in producer_columns(Outcomes) if c.name not in own]
    says = {ID_OF[kind], "prompt"} if table is Interactions else {ID_OF[kind]}
    checks = {c.name: _says_something if c.name in says else _check(c) for c in given if c.name != "extra"}
    return _Rules(checks, tuple({*says, *(c.name for c in given if c.required)}))


def _says_something(value: object) -> bool:
    return isinstance(value, str) and not says_nothing(value)


def _check(column: Column) -> _Check:
    """Whether a value is one of the column, as it stands."""
    if column.choices:
        choices = frozenset({*column.choices, ""})
        return lambda value: isinstance(value, str) and value in choices
    match column.kind:
        case "text":
            return _is_text
        case "boolean":
            return _is_boolean
        case "time":
            return _is_time
        case "texts":
            return _are_texts
        case "structs":
            return _are_offers
        case "json":
            return _is_json
        case "number":
            return _between(_is_number, column.low, column.high)
        case "integer":
            return _between(_is_integer, column.low, column.high)
        case _:
            return _never


def _never(_value: object) -> bool:
    return False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_json(value: object) -> bool:
    """Not a text, which may hold JSON itself."""
    return not isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64


def _between(is_one: _Check, low: float | None, high: float | None) -> _Check:
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    return lambda value: is_one(value) and least <= value <= most


def _is_time(value: object) -> bool:
    if isinstance(value, str):
        stated = _TIME.fullmatch(value)
        if stated is None or value.startswith(_UNSURE_YEARS):
            return False
        try:
            datetime.fromisoformat(stated[1])
        except ValueError:
            return False
        return True
    if not _is_number(value):
        return False
    epoch: Any = value
    is_milliseconds = isinstance(value, int) and EPOCH_MILLISECONDS_FROM <= value < _MILLISECONDS_BELOW
    return _SECONDS_FROM <= epoch < _SECONDS_BELOW or is_milliseconds


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_offers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_offer, value))


def _is_offer(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return False
    rank, score = value.get("rank"), value.get("score")
    return (rank is None or _is_integer(rank)) and (score is None or _is_number(score))


_IDS: tuple[tuple[LandedTable, str], ...] = (
    ("memories", "memory_id"),
    ("outcomes", "outcome_id"),
    ("interactions", "interaction_id"),  # last: one with an outcome is known by its own id
)


@dataclass
class TakenRows:
    """By the place of each row: its id and line where it was taken, else the reason."""

    ids: dict[int, str] = field(default_factory=dict)
    lines: dict[int, bytes] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


def taken_rows(rows: Sequence[tuple[dict[str, Any] | str, Receipt]], reading: ReadingOptions) -> TakenRows:
    """What becomes of rows (or of what is none, and why) that are read alike; lines are under the contract's names."""
    taken = TakenRows()
    odd: list[dict[str, Any]] = []
    places: list[int] = []
    for place, (record, receipt) in enumerate(rows):
        made = record if isinstance(record, str) else _map_and_stamp(record, receipt, reading)
        if isinstance(made, str):
            taken.refused[place] = made
            continue
        try:
            taken.lines[place] = orjson.dumps(made)
        except orjson.JSONEncodeError:
            taken.refused[place] = "it cannot be written as JSON"
            continue
        if is_plain(made, receipt.kind, keeps_unknown=reading.keeps_unknown):
            taken.ids[place] = made[ID_OF[receipt.kind]]
        else:
            odd.append(made)
            places.append(place)
    if odd:  # some ten milliseconds, however few they are
        _judge(taken, RecordRows(odd, places, [b""] * len(odd)), ReadingOptions(keeps_unknown=reading.keeps_unknown))
    return taken


def _map_and_stamp(record: dict[str, Any], receipt: Receipt, reading: ReadingOptions) -> dict[str, Any] | str:
    mapped = record if reading.mapping is None else mapped_record(record, reading.mapping).to_deliver()
    return stamp_record(mapped, receipt)


def _judge(taken: TakenRows, rows: RecordRows, reading: ReadingOptions) -> None:
    """Note the ids of the rows that land, and why others would not."""
    landed = readable_rows(rows, None, reading)
    for place, reason in landed.quarantine.select(ROW_NUMBER, "reason").iter_rows():
        taken.refused[place] = reason
        del taken.lines[place]
    for table, name in _IDS:
        frame: pl.DataFrame = getattr(landed, table)
        taken.ids.update(frame.select(ROW_NUMBER, name).iter_rows())
