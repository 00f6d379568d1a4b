"""The first rows of a rehearsal as delivered and as they would land, so that a mapping can be judged by eye."""

from __future__ import annotations

import orjson

from slowwave.flows.land.report import ShownRow
from slowwave.transforms.landing.coerce import json_text
from slowwave.transforms.landing.landed_rows import ROW_NUMBER, LandedRows
from slowwave.transforms.landing.tables import LANDED

MOST_SHOWN = 3
_INTERNAL = frozenset({ROW_NUMBER, "row_hash", "key_hash", "clears"})


def shown_rows(landed: LandedRows, most: int) -> list[ShownRow]:
    """The first rows of a chunk, `most` at most, by their numbers."""
    if most <= 0:
        return []
    texts: dict[int, str] = {}
    for part in landed.parts:
        texts |= {number: part.rows.raw(i) for i, number in enumerate(part.rows.row_numbers[:most])}
    return [ShownRow(number, texts[number], _after(landed, number)) for number in sorted(texts)[:most]]


def _after(landed: LandedRows, number: int) -> str:
    said = [
        f"{table.name} {json_text(_non_null_fields(row))}"
        for table in LANDED
        for row in landed.table(table).filter(landed.table(table)[ROW_NUMBER] == number).to_dicts()
    ]
    refused = landed.quarantine.filter(landed.quarantine[ROW_NUMBER] == number)["reason"]
    return " and ".join([*said, *(f"refused: {reason}" for reason in refused)])


def _non_null_fields(row: dict[str, object]) -> dict[str, object]:
    stated = {name: value for name, value in row.items() if value is not None and name not in _INTERNAL}
    return stated | ({"extra": orjson.loads(str(stated["extra"]))} if "extra" in stated else {})
