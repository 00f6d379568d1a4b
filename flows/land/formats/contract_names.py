"""Delivered rows under the contract's names where only the letter case differs, and with what their folder says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import polars as pl

from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.kind import FIELDS
from slowwave.transforms.landing.delivered_rows import DeliveredRows, FrameRows, RecordRows, is_value

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def partition_values(source: str) -> dict[str, str]:
    """Return the fields of the contract that the folders of a path state as `name=value`, as Hive does."""
    folders = PurePosixPath(source.replace("\\", "/")).parts[:-1]
    stated = (folder.partition("=") for folder in folders)
    found = {name: unquote(value) for name, equals, value in stated if equals and name in FIELDS}
    return {name: value for name, value in found.items() if value not in ("", _NO_VALUE)}


def with_contract_names(chunk: Chunk, stated: Mapping[str, str], others: Collection[str]) -> Chunk:
    """Return a chunk in which `Prompt` is `prompt`, and rows that lack a field of `stated` have it.

    A name is the field's that it is in lower case where the row has neither that field nor another such name. Names in
    `others` are left: a mapping reads them.
    """
    rows, readings = chunk.rows, Counter(chunk.readings)
    fields = {name: name.strip().lower().replace(" ", "_") for name in rows.fields if name not in others}
    alike = {name: field for name, field in fields.items() if field != name and field in FIELDS}
    if alike:
        rows, renamed = _rename_fields(rows, alike)
        readings.update({("row", f"read {name} as {alike[name]}"): count for name, count in renamed.items()})
    if stated and len(rows):
        rows, filled = _fill_missing_fields(rows, stated)
        told = {("row", f"took {name} {stated[name]} from its folder"): count for name, count in filled.items()}
        readings.update(told)
    return chunk if rows is chunk.rows else replace(chunk, rows=rows, readings=readings)


def _rename_fields(rows: DeliveredRows, alike: Mapping[str, str]) -> tuple[DeliveredRows, Counter[str]]:
    if isinstance(rows, FrameRows):
        names = _unambiguous(dict.fromkeys(rows.frame.columns, True), alike)
        renamed = FrameRows(rows.frame.rename(names), rows.row_numbers)
        return renamed, Counter(dict.fromkeys(names, len(rows)))
    counts: Counter[str] = Counter()
    records = []
    for record in rows.as_records():
        names = _unambiguous(record, alike)
        counts.update(names.keys())
        records.append({names.get(name, name): value for name, value in record.items()} if names else record)
    return (_with_records(rows, records) if counts else rows), counts


def _unambiguous(record: Mapping[str, Any], alike: Mapping[str, str]) -> dict[str, str]:
    """By name, the field that a row means by it."""
    found = {name: alike[name] for name in alike.keys() & record.keys()}
    often = Counter(found.values())
    return {name: field for name, field in found.items() if often[field] == 1 and field not in record}


def _fill_missing_fields(rows: DeliveredRows, stated: Mapping[str, str]) -> tuple[DeliveredRows, Counter[str]]:
    if isinstance(rows, FrameRows):
        lacking = {name: pl.lit(value).alias(name) for name, value in stated.items() if name not in rows.fields}
        filled = FrameRows(rows.frame.with_columns(lacking.values()), rows.row_numbers) if lacking else rows
        return filled, Counter(dict.fromkeys(lacking, len(rows)))
    counts: Counter[str] = Counter()
    records = []
    for record in rows.as_records():
        lacking = {name: value for name, value in stated.items() if not is_value(record.get(name))}
        counts.update(lacking.keys())
        records.append(record | lacking)
    return (_with_records(rows, records) if counts else rows), counts


def _with_records(rows: DeliveredRows, records: list[dict[str, Any]]) -> RecordRows:
    raws = rows.raws if isinstance(rows, RecordRows) else []
    return RecordRows(records, rows.row_numbers, raws)
