"""Raw values of one delivered column to the declared dtype, with a reason for each value that does not fit."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.core.blank import is_blank, says_nothing
from slowwave.transforms.core.exact_json import exact_json
from slowwave.transforms.core.schema import Column
from slowwave.transforms.core.times import ZERO_TIMES, time_from_text

type_of = type
_INT64 = 2**63
_WHOLE_64_BITS = re.compile(r"[+-]?[0-9]{1,19}")
_IDS = re.compile(r"_ids?$|^(?:memories|chunks)_|^superseded_by$")
_EXACT_FLOAT = 2**53
_TRUE = {"true", "1", "yes", "t", "y"}
_FALSE = {"false", "0", "no", "f", "n"}


class Unfit(ValueError):  # noqa: N818 - a finding about a value, not a fault of the program
    """A value does not fit its column; the message is the reason a person reads."""


def coerce_column(column: Column, values: pl.Series | Sequence[Any]) -> tuple[pl.Series, dict[int, str]]:
    """`values` as `column.dtype`, and {position: reason} for those that do not fit (they are NULL in the result).

    Whole columns that already have the right type are taken as they are; everything else goes value by value.
    """
    series = _series_taken_as_is(column, values) if isinstance(values, pl.Series) else _list_taken_as_is(column, values)
    reasons: dict[int, str] = {}
    if series is None:
        listed = values.to_list() if isinstance(values, pl.Series) else values
        series, reasons = _value_by_value(column, listed)
    reasons |= _out_of_declared_range(column, series)
    if column.kind == "time" and column.is_lenient:
        unknown = series.is_in([*ZERO_TIMES]).arg_true().to_list()
        reasons |= dict.fromkeys(unknown, f"{column.name} is what programs write for a time that they do not know")
    if reasons:
        bad = pl.Series(list(reasons), dtype=pl.UInt32)
        keep = pl.Series([True] * len(series)).scatter(bad, values=False)
        series = pl.select(pl.when(keep).then(series)).to_series()
    return series.alias(column.name), reasons


def _series_taken_as_is(column: Column, values: pl.Series) -> pl.Series | None:
    if values.dtype == pl.Null:
        return pl.Series(column.name, [None] * len(values), dtype=column.dtype)
    if column.kind == "time":
        return _times(values)
    if column.kind == "texts" and values.dtype == column.dtype:
        return None if values.list.eval(pl.element().is_null()).list.any().any() else values
    if column.kind in {"text", "boolean"} and values.dtype == column.dtype:
        return values
    if column.kind == "structs" and values.dtype == column.dtype:
        return _offers_taken_as_they_are(values)
    if column.kind == "number" and values.dtype in {pl.Float64, pl.Float32, pl.Int64, pl.Int32}:
        return None if values.cast(pl.Float64).is_infinite().any() else values.cast(pl.Float64).fill_nan(None)
    if column.kind == "integer" and values.dtype in {pl.Int64, pl.Int32, pl.Int16, pl.UInt32}:
        return values.cast(pl.Int64)
    return None


def _offers_taken_as_they_are(values: pl.Series) -> pl.Series | None:
    """None when some offer has no id, or a score that is no finite number."""
    offers = values.explode(empty_as_null=False, keep_nulls=False)
    unfit = offers.struct.field("id").is_null() | ~offers.struct.field("score").is_finite().fill_null(value=True)
    return None if unfit.any() else values


def _list_taken_as_is(column: Column, values: Sequence[Any]) -> pl.Series | None:
    kinds = set(map(type_of, values)) - {type(None)}
    if column.kind == "text" and kinds <= {str}:
        return pl.Series(column.name, values, dtype=pl.String)
    if column.kind == "boolean" and kinds <= {bool}:
        return pl.Series(column.name, values, dtype=pl.Boolean)
    if column.kind == "time" and kinds <= {str}:
        return _times(pl.Series(column.name, values, dtype=pl.String))
    if not kinds:
        return pl.Series(column.name, values, dtype=column.dtype)
    return None


def _times(values: pl.Series) -> pl.Series | None:
    """None when some value is no instant, so that it gets its reason one by one; a blank text is no value."""
    if isinstance(values.dtype, pl.Datetime):
        zoned = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if values.dtype.time_zone else values
        return zoned.cast(pl.Datetime("us"))
    if values.dtype == pl.Date:
        return values.cast(pl.Datetime("us"))
    if values.dtype != pl.String:
        return None
    parsed = values.to_frame("text").select(time_from_text(pl.col("text"))).to_series()
    unread = values.filter(parsed.is_null() & values.is_not_null())
    return parsed if unread.to_frame("text").select(is_blank(pl.col("text")).all()).item() else None


def _value_by_value(column: Column, values: Sequence[Any]) -> tuple[pl.Series, dict[int, str]]:
    if column.kind == "time":
        return _times_one_by_one(column, values)
    convert = _CONVERTERS["strict" if column.strict else column.kind]
    if holds_ids(column):
        values = [_without_point(value) for value in values]
    out: list[Any] = []
    reasons: dict[int, str] = {}
    for position, value in enumerate(values):
        if value is None:
            out.append(None)
            continue
        try:
            out.append(convert(value))
        except Unfit as unfit:
            out.append(None)
            reasons[position] = f"{column.name} {unfit}"
    if isinstance(column.dtype, pl.List) and column.kind == "structs":
        return _lists_of(column.dtype, out).alias(column.name), reasons
    return pl.Series(column.name, out, dtype=column.dtype), reasons


def _lists_of(dtype: pl.List, values: Sequence[list[Any] | None]) -> pl.Series:
    """`pl.Series(values, dtype)`, which makes a column of every list on its own."""
    items = pl.DataFrame(
        {
            "at": pl.Series([i for i, value in enumerate(values) for _ in value or ()], dtype=pl.Int64),
            "item": pl.Series([item for value in values for item in value or ()], dtype=dtype.inner),
        }
    )
    is_list = pl.Series("is_list", [value is not None for value in values], dtype=pl.Boolean)
    lists = (
        is_list.to_frame()
        .with_columns(pl.int_range(pl.len()).alias("at"))
        .join(items.group_by("at", maintain_order=True).agg("item"), on="at", how="left", maintain_order="left")
    )
    item = pl.coalesce("item", pl.lit(pl.Series([[]], dtype=dtype)))
    return lists.select(pl.when("is_list").then(item)).to_series()


def _times_one_by_one(column: Column, values: Sequence[Any]) -> tuple[pl.Series, dict[int, str]]:
    texts: list[str | None] = []
    for value in values:
        if isinstance(value, (datetime, date)):
            texts.append(value.isoformat())
        elif isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            texts.append(None if value != value else str(value))  # noqa: PLR0124 - NaN is the only value unequal to itself
        elif isinstance(value, str):
            texts.append(None if says_nothing(value) else value)
        else:
            texts.append(None if value is None else "")
    given = pl.Series("text", texts, dtype=pl.String)
    parsed = given.to_frame().select(time_from_text(pl.col("text"))).to_series()
    bad = (parsed.is_null() & given.is_not_null()).arg_true().to_list()
    hint = "use ISO-8601 such as 2026-03-10T08:00:00Z, or an epoch"
    reasons = {i: f"{column.name} is not a time: {_describe_value(values[i])} ({hint})" for i in bad}
    return parsed, reasons


def _out_of_declared_range(column: Column, series: pl.Series) -> dict[int, str]:
    if column.low is None and column.high is None and not column.choices:
        return {}
    outside = pl.lit(value=False)
    value = pl.col(series.name)
    if column.low is not None:
        outside = outside | (value < column.low)
    if column.high is not None:
        outside = outside | (value > column.high)
    if column.choices:
        outside = outside | ~value.is_in([*column.choices, ""])
    found = series.to_frame().select(outside.fill_null(value=False).alias("outside")).to_series()
    wanted = (
        f"must be one of {', '.join(column.choices)}"
        if column.choices
        else f"must lie between {column.low} and {column.high}"
        if column.high is not None
        else f"must not be below {column.low}"
    )
    return {i: f"{column.name} {wanted}, not {_describe_value(series[i])}" for i in found.arg_true().to_list()}


def _describe_value(value: object) -> str:
    if isinstance(value, (dict, list)):  # whose repr may nest deeper than Python can go
        return _type_name(value)
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 - one line of a terminal


def _type_name(value: object) -> str:
    names = {dict: "a JSON object", list: "a JSON list", bool: "a boolean", str: "text", bytes: "bytes"}
    return names.get(type(value), "a number" if isinstance(value, (int, float, Decimal)) else type(value).__name__)


def json_text(value: object) -> str:
    """A value as JSON, keys sorted, so that equal values have equal text.

    Raises Unfit where it cannot be written, as when it nests deeper than 254 levels.
    """
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME
    try:
        return orjson.dumps(value, default=_json_default, option=options).decode()
    except orjson.JSONEncodeError as error:
        message = f"cannot be kept as JSON of at most 254 levels and 64-bit integers ({error})"
        raise Unfit(message) from error


def _json_default(value: object) -> object:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)


def holds_ids(column: Column) -> bool:
    """Whether a column holds ids, or lists of them."""
    return _IDS.search(column.name) is not None


def _without_point(value: Any) -> Any:  # noqa: ANN401
    """A value of an id field, or of a list of ids: whole floats, as pandas writes them, as whole numbers."""
    if isinstance(value, list):
        return [_plain_offer(item) if isinstance(item, dict) else _whole(item) for item in value]
    return _whole(value)


def _plain_offer(offer: dict[str, Any]) -> dict[str, Any]:
    return {name: _whole(value) if name in {"id", "memory_id"} else value for name, value in offer.items()}


def _whole(value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    return int(value) if abs(value) < _EXACT_FLOAT and value.is_integer() else value


def _text(value: Any) -> str:  # noqa: ANN401 - whatever was delivered
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal)):
        return str(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            message = "is not valid UTF-8"
            raise Unfit(message) from error
    message = f"must be text, not {_type_name(value)}"
    raise Unfit(message)


def _strict_text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, (str, bytes)):
        return _text(value)
    message = f"must be text, not {_type_name(value)}"
    raise Unfit(message)


def _number(value: Any) -> float | None:  # noqa: ANN401
    if isinstance(value, str):
        if says_nothing(value):
            return None
        try:
            value = float(value)
        except ValueError as error:
            message = f"must be a number, not {_describe_value(value)}"
            raise Unfit(message) from error
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        message = f"must be a number, not {_type_name(value)}"
        raise Unfit(message)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        message = "must be finite"
        raise Unfit(message)
    return None if math.isnan(number) else number


def _integer(value: Any) -> int | None:  # noqa: ANN401
    if isinstance(value, str) and _WHOLE_64_BITS.fullmatch(value.strip()):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        number = _number(value)
        if number is None:
            return None
        if not number.is_integer():
            message = f"must be a whole number, not {_describe_value(value)}"
            raise Unfit(message)
        value = int(number)
    if not -_INT64 <= value < _INT64:
        message = "does not fit 64 bits"
        raise Unfit(message)
    return value


def _boolean(value: Any) -> bool | None:  # noqa: ANN401
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and value in {0, 1}:
        return bool(value)
    if isinstance(value, str):
        if says_nothing(value):
            return None
        word = value.strip().lower()
        if word in _TRUE | _FALSE:
            return word in _TRUE
    message = f"must be true or false, not {_describe_value(value)}"
    raise Unfit(message)


def _json(value: Any) -> str | None:  # noqa: ANN401
    if isinstance(value, str):
        if says_nothing(value):
            return None
        try:
            return json_text(exact_json(value))
        except orjson.JSONDecodeError:
            return json_text(value)
    return json_text(value)


def _parse_list(value: Any) -> list[Any] | None:  # noqa: ANN401
    """A list, also written as JSON text (CSV has no other way)."""
    if isinstance(value, str):
        if says_nothing(value):
            return None
        try:
            value = exact_json(value)
        except orjson.JSONDecodeError:
            value = None
    if not isinstance(value, (list, tuple)):
        message = 'must be a list such as ["a", "b"]'
        raise Unfit(message)
    return list(value)


def _texts(value: Any) -> list[str] | None:  # noqa: ANN401
    items = _parse_list(value)
    if items is None:
        return None
    texts = (_text(item) for item in items if item is not None)
    return [text for text in texts if not says_nothing(text)]


def _offers(value: Any) -> list[dict[str, Any]] | None:  # noqa: ANN401
    items = _parse_list(value)
    return None if items is None else [_offer(item) for item in items if item is not None]


def _offer(item: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(item, str):
        item = {"id": item}
    elif isinstance(item, (list, tuple)):
        item = dict(zip(("id", "rank", "score"), item, strict=False))
    if not isinstance(item, dict) or item.get("id", item.get("memory_id")) is None:
        message = 'must be a list of objects such as {"id": "m1", "rank": 1, "score": 0.8}'
        raise Unfit(message)
    rank, score = item.get("rank"), item.get("score")
    return {
        "id": _text(item.get("id", item.get("memory_id"))),
        "rank": None if rank is None else _integer(rank),
        "score": None if score is None else _number(score),
    }


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "strict": _strict_text,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "json": _json,
    "texts": _texts,
    "structs": _offers,
}
