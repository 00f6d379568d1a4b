"""What an adapter makes of records, and which versions of rows win."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from slowwave.transforms.imports.adapter import Adapter, Context, LeftOut, Located, Made, Refused, Row
from slowwave.transforms.imports.delivery_lines import Tally, delivery_lines

Fields = dict[str, Any]


def located(records: Sequence[Mapping[str, Any]]) -> list[Located]:
    """Records as they come out of a file."""
    return [Located(number, dict(record)) for number, record in enumerate(records, start=1)]


def made(adapter: Adapter, records: Sequence[Mapping[str, Any]], context: Context | None = None) -> list[Made]:
    """What an adapter makes of records."""
    return list(adapter.make_rows(located(records), context or Context()))


def rows(adapter: Adapter, records: Sequence[Mapping[str, Any]], context: Context | None = None) -> list[Fields]:
    """The rows of them, of each field that says something."""
    return [said(one.fields) for one in made(adapter, records, context) if isinstance(one, Row)]


def said(fields: Mapping[str, Any]) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}


def interactions(
    adapter: Adapter, records: Sequence[Mapping[str, Any]], context: Context | None = None
) -> list[Fields]:
    return [row for row in rows(adapter, records, context) if "prompt" in row]


def outcomes(adapter: Adapter, records: Sequence[Mapping[str, Any]], context: Context | None = None) -> list[Fields]:
    return [row for row in rows(adapter, records, context) if "outcome_id" in row]


def left_out(adapter: Adapter, records: Sequence[Mapping[str, Any]], context: Context | None = None) -> Counter[str]:
    """How many records make no row on purpose, by sort."""
    counts: Counter[str] = Counter()
    for one in made(adapter, records, context):
        if isinstance(one, LeftOut):
            counts[one.sort] += one.count
    return counts


def refused(adapter: Adapter, records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why records were refused."""
    return [one.reason for one in made(adapter, records) if isinstance(one, Refused)]


def delivered(adapter: Adapter, records: Sequence[Mapping[str, Any]], context: Context | None = None) -> list[Fields]:
    """The rows as they are delivered: stamped, and without secrets."""
    lines = delivery_lines(made(adapter, records, context), adapter, Tally())
    return [orjson.loads(line.text) for line in lines if not line.is_refused]


def winners(versions: Iterable[Fields]) -> dict[tuple[str, str], Fields]:
    """The version of each row that wins: the last recorded, as landing has it."""
    found: dict[tuple[str, str], Fields] = {}
    for row in versions:
        key = ("interaction", row["interaction_id"]) if "prompt" in row else ("outcome", row["outcome_id"])
        order = (row["recorded_at"], orjson.dumps(row, option=orjson.OPT_SORT_KEYS))
        if key not in found or order > (
            found[key]["recorded_at"],
            orjson.dumps(found[key], option=orjson.OPT_SORT_KEYS),
        ):
            found[key] = row
    return found
