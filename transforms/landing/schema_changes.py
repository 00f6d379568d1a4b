"""Rows written under an earlier declaration, read under today's.

What may change between two releases: a column is added (with `since`; in what was written before it is NULL, or its
default where it is never NULL, as 0 is true of a count of what nobody could do), a column goes (of a derived table: one
of a landed table never does), a type widens. A producer's column that is new stood in `extra` before: rows of old files
are read as if it had always been declared, and rows are hashed as if it never had been, so that a row delivered again
is a duplicate. What stood in the `extra` of an interaction and became a column of its inline outcome stays there, too;
the outcome is hashed with it, for else two that differ in nothing else would be one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.core.schema import Column, Landed, Table, columns, polars_schema
from slowwave.transforms.landing.coerce import coerce_column, json_text

# What `extra` was before the columns that are new since format 1 were taken out of it: as the row is hashed.
EXTRA_BEFORE = "extra_before"
_HELD = "held_in_extra"


@cache
def from_extra(table: type[Table]) -> tuple[Column, ...]:
    """The producer's columns of `table` that stood in `extra` before they were declared."""
    declared = columns(table)
    if all(c.name != "extra" for c in declared):
        return ()
    return tuple(c for c in declared if c.since > 1 and not c.internal)


# ---------------------------------------------------------------------------------------------------------- what fits


def is_as_wide(declared: pl.DataType, written: pl.DataType) -> bool:
    """Whether every value of the written type is one of the declared type; a struct may have other fields."""
    if declared == written or isinstance(written, pl.Null):
        return True
    if isinstance(declared, pl.List) and isinstance(written, pl.List):
        return is_as_wide(_dtype(declared.inner), _dtype(written.inner))
    if isinstance(declared, pl.Struct) and isinstance(written, pl.Struct):
        before = {field.name: _dtype(field.dtype) for field in written.fields}
        return all(is_as_wide(_dtype(f.dtype), before.get(f.name, pl.Null())) for f in declared.fields)
    if declared.is_float():
        return written.is_integer() or written == pl.Float32()
    return declared == pl.Int64() and written.is_integer() and written not in (pl.UInt64(), pl.Int128(), pl.UInt128())


def misfit(table: type[Table], written: Mapping[str, pl.DataType]) -> str:
    """The first column of a file that cannot be read as declared, with both types; '' when all can."""
    for name, declared in polars_schema(table).items():
        if name in written and not is_as_wide(declared, written[name]):
            return f"column {name} holds {written[name]}, which is not read as {declared}"
    return ""


def lacks_only_new_columns(table: type[Table], written: Mapping[str, pl.DataType]) -> bool:
    """Whether a partition written with these columns needs not be built again: the same, but for columns since added.

    One that is never NULL must have a default.
    """
    declared = polars_schema(table)
    if any(name not in declared or not _lacks_only_fields(declared[name], dtype) for name, dtype in written.items()):
        return False
    return all(c.nullable or (c.since > 1 and c.default is not None) for c in columns(table) if c.name not in written)


def _lacks_only_fields(declared: pl.DataType, written: pl.DataType) -> bool:
    if isinstance(declared, pl.List) and isinstance(written, pl.List):
        return _lacks_only_fields(_dtype(declared.inner), _dtype(written.inner))
    if isinstance(declared, pl.Struct) and isinstance(written, pl.Struct):
        now = {field.name: _dtype(field.dtype) for field in declared.fields}
        return all(f.name in now and _lacks_only_fields(now[f.name], _dtype(f.dtype)) for f in written.fields)
    return declared == written


def _dtype(dtype: Any) -> pl.DataType:  # noqa: ANN401 - a dtype or its class
    return dtype() if isinstance(dtype, type) else dtype


# ------------------------------------------------------------------------------------------------------ how it is read


def as_declared(table: type[Table], rows: pl.LazyFrame) -> pl.LazyFrame:
    """`rows`, which have all declared columns, with what old files lack: defaults, and what stood in `extra`."""
    stood = from_extra(table)
    of_extra = {c.name for c in stood}
    filled = [
        pl.col(c.name).fill_null(pl.lit(c.default, dtype=c.dtype))
        for c in columns(table)
        if c.since > 1 and not c.nullable and c.name not in of_extra
    ]
    if stood:
        cleared = [c.name for c in stood if c.name in getattr(table, "state", ()) and c.kind != "text"]
        names = [*(c.name for c in stood), "extra", *(["clears"] if cleared else [])]
        dtype = pl.Struct({name: polars_schema(table)[name] for name in names})
        read = partial(_read_from_extra, stood, cleared)
        held = pl.struct(names).map_batches(read, return_dtype=dtype, is_elementwise=True).alias(_HELD)
        rows = rows.with_columns(held)
        filled += [pl.col(_HELD).struct.field(name) for name in names]
    rows = rows.with_columns(filled) if filled else rows
    return rows.drop(_HELD) if stood else rows


def taken_from_extra(table: type[Table], row: Mapping[str, Any]) -> dict[str, Any]:
    """The same of one row, given as a mapping: the columns that it has otherwise."""
    dtypes = polars_schema(table)
    frame = pl.DataFrame([row], schema={name: dtypes[name] for name in row if name in dtypes})
    whole = pl.concat([pl.DataFrame(schema=dtypes), frame], how="diagonal")
    read = as_declared(table, whole.lazy()).collect().row(0, named=True)
    return {name: value for name, value in read.items() if value is not None and value != row.get(name)}


def _read_from_extra(stood: tuple[Column, ...], cleared: list[str], held: pl.Series) -> pl.Series:
    """Structs of the columns `stood`, `extra` and, where some can be cleared, `clears`, as if all had been declared.

    A column that says something stays; a value that fits none stays in `extra`, as nothing is lost; a text that looks
    like a field is none.
    """
    frame = held.struct.unnest()
    extra = frame["extra"]
    names = [f'"{c.name}":' for c in stood]  # as orjson writes a key
    # most files hold nothing there: to search it takes longer than to read a small file
    mentions = None if extra.null_count() == len(extra) else extra.str.contains_any(names)
    if mentions is None or not mentions.any():
        unstated = [pl.col(c.name).fill_null(c.default) for c in stood if not c.nullable and frame[c.name].has_nulls()]
        return frame.with_columns(unstated).to_struct(held.name) if unstated else held
    at = mentions.fill_null(value=False).arg_true()
    told = [orjson.loads(text) for text in extra.gather(at)]
    place = pl.Series([None] * len(frame), dtype=pl.UInt32).scatter(at, pl.int_range(len(at), eager=True))
    read = {}
    if cleared:
        read["clears"] = _with_clears(frame["clears"], at, told, cleared)
    for c in stood:
        own = frame[c.name]
        values = [row.get(c.name) for row in told]
        if any(value is not None for value in values):
            found, reasons = coerce_column(c, values)
            own = pl.select(pl.coalesce(own, found.gather(place))).to_series()
            for i, row in enumerate(told):
                if i not in reasons:
                    row.pop(c.name, None)
        read[c.name] = own if c.nullable else own.fill_null(c.default)
    left = pl.Series([json_text(row) if row else None for row in told], dtype=pl.String)
    read["extra"] = pl.select(pl.when(place.is_null()).then(extra).otherwise(left.gather(place))).to_series()
    return frame.with_columns(**read).to_struct(held.name)


def _with_clears(clears: pl.Series, at: pl.Series, told: list[dict[str, Any]], names: list[str]) -> pl.Series:
    """`clears` with those of `names` that are '' in the extra fields `told` of the rows `at`."""
    more = {position: {name for name in names if row.get(name) == ""} for position, row in zip(at, told, strict=True)}
    if not any(more.values()):
        return clears
    lists = clears.to_list()
    for position, added in more.items():
        if added:
            lists[position] = sorted({*(lists[position] or ()), *added})
    return pl.Series("clears", lists, dtype=pl.List(pl.String))


# ---------------------------------------------------------------------------------------------------- how it is hashed


def as_before(table: type[Landed], frame: pl.DataFrame) -> pl.DataFrame:
    """Rows as the first format held them: what a row is hashed from.

    New columns are in `extra`: as delivered where `frame` has `extra_before`, else (the product's own rows) in the form
    they have now. Of a column that became a float, whole numbers are integers.
    """
    stood = from_extra(table)
    widened = [c for c in columns(table) if c.was is int and c.name in frame.columns]
    changed = [_whole_as_text(c.name) for c in widened]
    if stood:
        frame = frame if EXTRA_BEFORE in frame.columns else with_extra_before(table, frame)
        changed.append(pl.col(EXTRA_BEFORE).alias("extra"))
    if stood and "clears" in frame.columns:
        new = pl.element().is_in([c.name for c in stood])
        left = pl.col("clears").list.filter(~new)
        changed.append(pl.when(left.list.len() > 0).then(left).otherwise(pl.lit(None)).alias("clears"))
    return frame.with_columns(changed)


def hashed_schema(table: type[Landed], frame: pl.DataFrame) -> dict[str, pl.DataType]:
    """Names and dtypes of the columns a row of `as_before` is hashed from, in declared order."""
    stood = {c.name for c in from_extra(table)}
    names = [c.name for c in columns(table) if c.name not in {"row_hash", "key_hash"} | stood]
    return {name: frame.schema[name] for name in names}


def _whole_as_text(name: str) -> pl.Expr:
    value = pl.col(name)
    is_whole = (value == value.round()) & (value.abs() < 2**63)
    return pl.when(is_whole).then(value.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(value.cast(pl.String))


def with_extra_before(table: type[Landed], frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with `extra_before`: `extra` with what new columns say in it again, in the form they have now."""
    new = [c.name for c in from_extra(table)]
    at = frame.select(pl.any_horizontal(pl.col(new).is_not_null())).to_series().arg_true()
    said = frame[at].select("extra", *new).to_dicts()
    texts = [
        json_text(
            {**orjson.loads(row.pop("extra") or "{}"), **{name: row[name] for name in new if row[name] is not None}}
        )
        for row in said
    ]
    return frame.with_columns(frame["extra"].scatter(at, pl.Series(texts, dtype=pl.String)).alias(EXTRA_BEFORE))
