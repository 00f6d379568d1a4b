"""Rows written under an earlier declaration, read under today's.

What may change between two releases: a column is added (with `since`; in what was written before it is NULL, or its
default where it is never NULL, as 0 is true of a count of what nobody could do), a column goes (of a derived table: one
of a landed table never does), a type widens. A producer's column that is new stood in `extra` before: rows of old files
are read as if it had always been declared, and rows are hashed as if it never had been, so that a row delivered again
is a duplicate. What stood in the `extra` of an interaction and became a column of its inline outcome stays there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.coerce import coerced, json_text
from slowwave.transforms.schema import Column, Landed, Table, columns, polars_schema

# What `extra` was before the columns that are new since format 1 were taken out of it: as the row is hashed.
EXTRA_BEFORE = "extra_before"


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
    filled = [
        pl.col(c.name).fill_null(pl.lit(c.default, dtype=c.dtype))
        for c in columns(table)
        if c.since > 1 and not c.nullable
    ]
    stood = from_extra(table)
    if stood:
        filled = [expr for expr in filled if expr.meta.output_name() not in {c.name for c in stood}]
        filled += [_taken_out(c) for c in stood]
        filled.append(_rest_of_extra(stood))
        cleared = [c.name for c in stood if c.name in getattr(table, "state", ()) and c.kind != "text"]
        if cleared:
            filled.append(_with_clears(cleared))
    return rows.with_columns(filled) if filled else rows


def taken_from_extra(table: type[Table], row: Mapping[str, Any]) -> dict[str, Any]:
    """The same of one row, given as a mapping: the columns that it has otherwise."""
    dtypes = polars_schema(table)
    frame = pl.DataFrame([row], schema={name: dtypes[name] for name in row if name in dtypes})
    whole = pl.concat([pl.DataFrame(schema=dtypes), frame], how="diagonal")
    read = as_declared(table, whole.lazy()).collect().row(0, named=True)
    return {name: value for name, value in read.items() if value is not None and value != row.get(name)}


def _mentions(name: str) -> str:
    return f'"{name}":'  # as orjson writes a key


def _values(name: str, extra: pl.Series) -> tuple[pl.Series, list[Any]]:
    """Positions of the rows whose `extra` has the field, and its values; a text that looks like the field has None."""
    at = extra.str.contains(_mentions(name), literal=True).fill_null(value=False).arg_true()
    return at, [orjson.loads(text).get(name) for text in extra.gather(at)]


def _taken_out(column: Column) -> pl.Expr:
    def taken(both: pl.Series) -> pl.Series:
        own, extra = both.struct.field(column.name), both.struct.field("extra")
        at, values = _values(column.name, extra)
        if values:
            found = pl.DataFrame({"at": at, "found": coerced(column, values)[0]})
            rows = own.to_frame("own").with_columns(at=pl.int_range(pl.len(), dtype=pl.UInt32))
            own = rows.join(found, on="at", how="left", maintain_order="left").select(pl.coalesce("own", "found"))[
                "own"
            ]
        return own if column.nullable else own.fill_null(column.default)

    return (
        pl.struct(column.name, "extra")
        .map_batches(taken, return_dtype=column.dtype, is_elementwise=True)
        .alias(column.name)
    )


def _rest_of_extra(stood: tuple[Column, ...]) -> pl.Expr:
    """`extra` without what was taken out of it; a value that fits no column stays, as nothing is lost."""

    def rest(extra: pl.Series) -> pl.Series:
        gone: dict[int, set[str]] = {}
        for column in stood:
            at, values = _values(column.name, extra)
            _, reasons = coerced(column, values) if values else (None, {})
            for i, position in enumerate(at):
                if i not in reasons:
                    gone.setdefault(position, set()).add(column.name)
        if not gone:
            return extra
        texts = extra.to_list()
        for position, names in gone.items():
            left = {name: value for name, value in orjson.loads(texts[position]).items() if name not in names}
            texts[position] = json_text(left) if left else None
        return pl.Series(extra.name, texts, dtype=pl.String)

    return pl.col("extra").map_batches(rest, return_dtype=pl.String(), is_elementwise=True)


def _with_clears(names: list[str]) -> pl.Expr:
    """`clears` with those of `names` that are '' in `extra`."""

    def cleared(both: pl.Series) -> pl.Series:
        clears, extra = both.struct.field("clears"), both.struct.field("extra")
        more: dict[int, list[str]] = {}
        for name in names:
            at, values = _values(name, extra)
            for position, value in zip(at, values, strict=True):
                if value == "":
                    more.setdefault(position, []).append(name)
        if not more:
            return clears
        lists = clears.to_list()
        for position, added in more.items():
            lists[position] = sorted({*(lists[position] or ()), *added})
        return pl.Series("clears", lists, dtype=pl.List(pl.String))

    return (
        pl.struct("clears", "extra")
        .map_batches(cleared, return_dtype=pl.List(pl.String), is_elementwise=True)
        .alias("clears")
    )


# ---------------------------------------------------------------------------------------------------- how it is hashed


def as_before(table: type[Landed], frame: pl.DataFrame) -> pl.DataFrame:
    """Rows as the first format held them: what a row is hashed from.

    New columns are in `extra`: as delivered where `frame` has `extra_before`, else (the product's own rows) in the form
    they have now. Of a column that became a float, whole numbers are integers.
    """
    stood = from_extra(table)
    widened = [c for c in columns(table) if c.was is int and c.name in frame.columns]
    changed = [_whole_as_text(c.name) for c in widened]
    if EXTRA_BEFORE in frame.columns:
        changed.append(pl.col(EXTRA_BEFORE).alias("extra"))
    elif stood:
        changed.append(pl.lit(_put_back(stood, frame)).alias("extra"))
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


def _put_back(stood: tuple[Column, ...], frame: pl.DataFrame) -> pl.Series:
    texts = frame["extra"].to_list()
    given = frame.select(c.name for c in stood).to_dicts()
    for i, row in enumerate(given):
        held = {name: value for name, value in row.items() if value is not None}
        if held:
            texts[i] = json_text({**orjson.loads(texts[i] or "{}"), **held})
    return pl.Series("extra", texts, dtype=pl.String)
