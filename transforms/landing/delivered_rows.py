"""Delivered rows before they are understood: a handful of JSON objects, CSV records, or a Parquet frame."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

import polars as pl

from slowwave.transforms.core.blank import is_blank, says_nothing
from slowwave.transforms.landing.coerce import Unfit, json_text

# 0001-01-01 and 9999-12-31, in days since 1970
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_PER_DAY = {"us": 86_400_000_000, "ms": 86_400_000}


class DeliveredRows(Protocol):
    """Rows as they came: `fields` they have, raw values per field, and the text to show for a bad row."""

    row_numbers: Sequence[int]

    @property
    def fields(self) -> set[str]:
        """Names of all fields any row has."""
        ...

    def __len__(self) -> int: ...

    def values(self, field: str) -> pl.Series | Sequence[Any]:
        """Raw values of one field, None where a row lacks it."""
        ...

    def take(self, positions: Sequence[int]) -> DeliveredRows:
        """Only the rows at `positions`."""
        ...

    def as_records(self) -> Sequence[dict[str, Any]]:
        """The rows as mappings of their fields; raises where a row is `unreadable`."""
        ...

    def extra(self, known: set[str]) -> list[str | None]:
        """Per row, its fields outside `known` that are not NULL, as one JSON object, or None."""
        ...

    def raw(self, position: int) -> str:
        """The row as text."""
        ...

    def is_whole(self, position: int) -> bool:
        """Whether that text says all that was delivered."""
        ...

    def unreadable(self) -> dict[int, str]:
        """Positions of rows whose values cannot even be looked at, and why; nothing else may be asked of these."""
        ...


def has_value(rows: DeliveredRows, field: str) -> list[bool]:
    """Whether each row has the field: present, not NULL, and no blank text."""
    if field not in rows.fields:
        return [False] * len(rows)
    values = rows.values(field)
    if isinstance(values, pl.Series):
        if values.dtype != pl.String:
            return values.is_not_null().to_list()
        return values.to_frame("text").select(~is_blank(pl.col("text"))).to_series().to_list()
    return [is_value(value) for value in values]


def is_value(value: object) -> bool:
    """Whether a delivered value says something: it is neither NULL nor a blank text."""
    return value is not None and not (isinstance(value, str) and says_nothing(value))


class RecordRows:
    """Rows given as mappings: JSON lines and CSV records."""

    def __init__(self, records: Sequence[dict[str, Any]], row_numbers: Sequence[int], raws: Sequence[bytes]) -> None:
        self.records = records
        self.row_numbers = row_numbers
        self.raws = raws
        self.fields = set().union(*records) if records else set()

    def __len__(self) -> int:
        return len(self.records)

    def values(self, field: str) -> list[Any]:
        """As in DeliveredRows."""
        return [record.get(field) for record in self.records]

    def take(self, positions: Sequence[int]) -> RecordRows:
        """As in DeliveredRows."""
        if len(positions) == len(self):
            return self
        return RecordRows(
            [self.records[i] for i in positions],
            [self.row_numbers[i] for i in positions],
            [self.raws[i] for i in positions],
        )

    def as_records(self) -> Sequence[dict[str, Any]]:
        """As in DeliveredRows."""
        return self.records

    def extra(self, known: set[str]) -> list[str | None]:
        """As in DeliveredRows."""
        if self.fields <= known:
            return [None] * len(self)
        return [
            json_text(unknown) if unknown else None
            for unknown in (
                {k: v for k, v in record.items() if k not in known and v is not None} for record in self.records
            )
        ]

    def raw(self, position: int) -> str:
        """As in DeliveredRows."""
        return self.raws[position].decode("utf-8", "backslashreplace")

    def is_whole(self, position: int) -> bool:
        """As in DeliveredRows."""
        return bool(self.raws[position])

    def unreadable(self) -> dict[int, str]:
        """As in DeliveredRows."""
        return {}


class FrameRows:
    """Rows of a Parquet file."""

    def __init__(self, frame: pl.DataFrame, row_numbers: Sequence[int]) -> None:
        self.frame = _with_readable_times(frame)
        self.row_numbers = row_numbers
        self.fields = set(frame.columns)

    def __len__(self) -> int:
        return self.frame.height

    def values(self, field: str) -> pl.Series | list[None]:
        """As in DeliveredRows."""
        return self.frame[field] if field in self.fields else [None] * len(self)

    def take(self, positions: Sequence[int]) -> FrameRows:
        """As in DeliveredRows."""
        if len(positions) == len(self):
            return self
        return FrameRows(self.frame[list(positions)], [self.row_numbers[i] for i in positions])

    def as_records(self) -> Sequence[dict[str, Any]]:
        """As in DeliveredRows."""
        return self.frame.to_dicts()

    def extra(self, known: set[str]) -> list[str | None]:
        """As in DeliveredRows."""
        unknown = [name for name in self.frame.columns if name not in known]
        if not unknown:
            return [None] * len(self)
        return [
            json_text(kept) if kept else None
            for kept in (
                {k: v for k, v in row.items() if v is not None} for row in self.frame.select(unknown).to_dicts()
            )
        ]

    def raw(self, position: int) -> str:
        """As in DeliveredRows."""
        row = {k: v for k, v in self.frame.row(position, named=True).items() if v is not None}
        try:
            return json_text(row)
        except Unfit:
            return str(row)

    def is_whole(self, position: int) -> bool:
        """As in DeliveredRows: not where JSON has no such value, so that bytes and the like are said in other words."""
        return all(_is_said_by_json(value) for value in self.frame.row(position))

    def unreadable(self) -> dict[int, str]:
        """As in DeliveredRows."""
        found: dict[int, str] = {}
        for series in self.frame:
            if not _is_plain(series.dtype):
                found |= _unreadable(series, 0)
        return found


# What Polars and Python raise over values that Python's types cannot hold, such as the year 148108 in a list.
_UNREADABLE = (ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def _unreadable(series: pl.Series, offset: int) -> dict[int, str]:
    """The values are halved until those that cannot be read stand alone."""
    try:
        series.to_list()
    except _UNREADABLE as error:
        if len(series) == 1:
            said = str(error).strip()
            return {offset: f"the row cannot be read: {said.splitlines()[0] if said else 'bad values'}"}
        middle = len(series) // 2
        return _unreadable(series[:middle], offset) | _unreadable(series[middle:], offset + middle)
    return {}


def _is_plain(dtype: pl.DataType) -> bool:
    """Whether Python can hold every value of a type; of times on their own `_with_readable_times` has seen to it."""
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return True
    if isinstance(dtype, pl.List):
        return not dtype.inner.is_temporal() and _is_plain(dtype.inner)  # type: ignore[union-attr] - never a class here
    if isinstance(dtype, pl.Struct):
        return all(not of.dtype.is_temporal() and _is_plain(of.dtype) for of in dtype.fields)  # type: ignore[arg-type]
    return isinstance(dtype, (pl.String, pl.Boolean, pl.Binary, pl.Null)) or dtype.is_integer() or dtype.is_float()


def _is_said_by_json(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    if isinstance(value, list):
        return all(map(_is_said_by_json, value))
    if isinstance(value, dict):
        return all(map(_is_said_by_json, value.values()))
    return value is None or isinstance(value, (str, datetime, date))


def _with_readable_times(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns with times outside the years 1-9999, which neither Python nor JSON can say, as text."""
    changed = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Date):
            unit, per_day = "days", 1
        elif isinstance(dtype, pl.Datetime) and dtype.time_unit != "ns":
            unit, per_day = dtype.time_unit, _PER_DAY[dtype.time_unit]
        else:
            continue
        count = pl.col(name).to_physical().cast(pl.Int64)
        sayable = count.is_between(_FIRST_DAY * per_day, (_LAST_DAY + 1) * per_day - 1)
        if not frame.select(sayable.all()).item():
            text = pl.when(sayable).then(pl.col(name)).dt.to_string("iso:strict")
            changed.append(pl.coalesce(text, pl.format("{} {} from 1970 on", count, pl.lit(unit))).alias(name))
    return frame.with_columns(changed)


# Deliveries that an import writes: how they are named, and how a line says that a record was refused.

# No field of a row is called so, and it is looked for in deliveries of imports alone.
REFUSED, RAW = "_refused", "_raw"
_NAME = re.compile(r"import-[a-z0-9-]{1,40}-[0-9a-f]{64}\.jsonl\.zst")
_MOST_CHARACTERS = 500


def import_name(adapter: str, digest: str) -> str:
    """What the delivery of rows with this digest is called."""
    return f"import-{adapter}-{digest}.jsonl.zst"


def is_import(source: str) -> bool:
    """Whether a file of the inbox is a delivery that an import wrote."""
    return _NAME.fullmatch(source) is not None


def refused_line(reason: str, raw: str) -> Mapping[str, Any]:
    """The line of a delivery for a record that could not be made a row."""
    return {REFUSED: reason, RAW: raw}


def refused_by_import(rows: DeliveredRows) -> dict[int, str]:
    """Positions of the lines of a delivery that say so, and why these were refused."""
    if not isinstance(rows, RecordRows) or REFUSED not in rows.fields:
        return {}
    return {i: str(record[REFUSED])[:_MOST_CHARACTERS] for i, record in enumerate(rows.records) if REFUSED in record}
