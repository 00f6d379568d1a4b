"""Delivered rows before they are understood: a handful of JSON objects, CSV records, or a Parquet frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import polars as pl

from slowwave.transforms.coerce import json_text


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

    def extra(self, known: set[str]) -> list[str | None]:
        """Per row, its fields outside `known` that are not NULL, as one JSON object, or None."""
        ...

    def raw(self, position: int) -> str:
        """The row as text."""
        ...


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
        return [record.get(field) for record in self.records]

    def take(self, positions: Sequence[int]) -> RecordRows:
        if len(positions) == len(self):
            return self
        return RecordRows(
            [self.records[i] for i in positions],
            [self.row_numbers[i] for i in positions],
            [self.raws[i] for i in positions],
        )

    def extra(self, known: set[str]) -> list[str | None]:
        if self.fields <= known:
            return [None] * len(self)
        return [
            json_text(unknown) if unknown else None
            for unknown in (
                {k: v for k, v in record.items() if k not in known and v is not None} for record in self.records
            )
        ]

    def raw(self, position: int) -> str:
        return self.raws[position].decode("utf-8", "backslashreplace")


class FrameRows:
    """Rows of a Parquet file."""

    def __init__(self, frame: pl.DataFrame, row_numbers: Sequence[int]) -> None:
        self.frame = frame
        self.row_numbers = row_numbers
        self.fields = set(frame.columns)

    def __len__(self) -> int:
        return self.frame.height

    def values(self, field: str) -> pl.Series | list[None]:
        return self.frame[field] if field in self.fields else [None] * len(self)

    def take(self, positions: Sequence[int]) -> FrameRows:
        if len(positions) == len(self):
            return self
        return FrameRows(self.frame[list(positions)], [self.row_numbers[i] for i in positions])

    def extra(self, known: set[str]) -> list[str | None]:
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
        row = self.frame.row(position, named=True)
        return json_text({k: v for k, v in row.items() if v is not None})
