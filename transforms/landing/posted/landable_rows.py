"""Posted rows judged as landing would: those that land, as lines of a delivery, and why the others are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import ROW_NUMBER, readable_rows
from slowwave.transforms.landing.mapping.mapped_rows import mapped_record
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.posted.plain import is_plain
from slowwave.transforms.landing.posted.row_stamps import ID_OF, Receipt, stamp_record

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
