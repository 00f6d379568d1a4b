"""Raw values to declared dtypes: what is taken, what is refused with which reason, and by columns as value by value."""

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest
from each import each
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave.transforms.core.schema import producer_columns
from slowwave.transforms.landing.coerce import Unfit, coerce_column, json_text
from slowwave.transforms.landing.tables import LANDED

COLUMNS = {f"{table.name}.{c.name}": c for table in LANDED for c in producer_columns(table)}
PROJECT, PROMPT = COLUMNS["interactions.project"], COLUMNS["interactions.prompt"]
TOKENS, COST = COLUMNS["interactions.tokens"], COLUMNS["interactions.cost"]
REINFORCE, CREATED_AT = COLUMNS["interactions.reinforce"], COLUMNS["interactions.created_at"]
USED, OFFERED = COLUMNS["interactions.memories_used"], COLUMNS["interactions.memories_offered"]
CONTEXT, STATUS = COLUMNS["interactions.context_pack"], COLUMNS["memories.status"]
CONFIDENCE = COLUMNS["memories.confidence"]
STATUSES = "status must be one of candidate, active, superseded, invalid, archived, graduated, not "


def utc(*parts):
    return datetime(*parts)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def one(column, value):
    """The coerced value, or its reason as an Unfit."""
    series, reasons = coerce_column(column, [value])
    assert series.dtype == column.dtype
    if reasons:
        assert series.to_list() == [None]
        return Unfit(reasons[0])
    return series.to_list()[0]


@each(
    ("column", "given_value", "taken"),
    [
        (PROJECT, "", ""),
        (PROJECT, " a ", " a "),
        (PROJECT, 7, "7"),
        (PROJECT, 0.5, "0.5"),
        (PROJECT, True, "true"),
        (PROJECT, False, "false"),
        (PROJECT, 2**64, "18446744073709551616"),
        (PROJECT, Decimal("1.50"), "1.50"),
        (PROJECT, b"bytes", "bytes"),
        (PROJECT, "NUL\x00inside", "NUL\x00inside"),
        (PROMPT, "NaN", "NaN"),
        (TOKENS, 5, 5),
        (TOKENS, 5.0, 5),
        (TOKENS, "5", 5),
        (TOKENS, " +5 ", 5),
        (TOKENS, "5.0", 5),
        (TOKENS, "", None),
        (TOKENS, 2**63 - 1, 2**63 - 1),
        (TOKENS, str(2**63 - 1), 2**63 - 1),
        (COST, 1, 1.0),
        (COST, "0.25", 0.25),
        (COST, " ", None),
        (COST, math.nan, None),
        (COST, "NaN", None),
        (COST, Decimal("0.1"), 0.1),
        (REINFORCE, 0, False),
        (REINFORCE, 1.0, True),
        (REINFORCE, "Yes", True),
        (REINFORCE, "f", False),
        (REINFORCE, "", None),
        (USED, ["a", 1, True, 1.5], ["a", "1", "true", "1.5"]),
        (USED, '["a", 1]', ["a", "1"]),
        (USED, [], []),
        (USED, "", None),
        (OFFERED, ["m1"], [{"id": "m1", "rank": None, "score": None}]),
        (OFFERED, [None, {"id": "m1"}], [{"id": "m1", "rank": None, "score": None}]),
        (USED, [None, "m1"], ["m1"]),
        (USED, [1000.0, float("nan"), 1.5], ["1000", "1.5"]),
        (USED, "[340282366920938463463374607431768210001]", ["340282366920938463463374607431768210001"]),
        (OFFERED, [{"id": 1000.0, "score": 1.0}], [{"id": "1000", "rank": None, "score": 1.0}]),
        (COLUMNS["outcomes.interaction_id"], 1000.0, "1000"),
        (COLUMNS["outcomes.interaction_id"], float("nan"), None),
        (COLUMNS["outcomes.interaction_id"], 1e300, "1e+300"),
        (PROJECT, 1.0, "1.0"),
        (OFFERED, [["m1", 2, 0.5]], [{"id": "m1", "rank": 2, "score": 0.5}]),
        (OFFERED, [{"memory_id": 9, "score": "0.5"}], [{"id": "9", "rank": None, "score": 0.5}]),
        (OFFERED, '[{"id": "m1", "rank": 1}]', [{"id": "m1", "rank": 1, "score": None}]),
        (CONTEXT, {"b": 1, "a": [None]}, '{"a":[null],"b":1}'),
        (CONTEXT, '{"b": 1, "a": 2}', '{"a":2,"b":1}'),
        (CONTEXT, "no JSON", '"no JSON"'),
        (CONTEXT, "", None),
        (CONTEXT, False, "false"),
        (CONTEXT, deep(250), "[" * 251 + "]" * 251),
        (STATUS, "active", "active"),
        (STATUS, "", ""),
        (CONFIDENCE, 0, 0.0),
        (CONFIDENCE, 1, 1.0),
        (CREATED_AT, 1_700_000_000, utc(2023, 11, 14, 22, 13, 20)),
        (CREATED_AT, 1_700_000_000_000, utc(2023, 11, 14, 22, 13, 20)),
        (CREATED_AT, 1_700_000_000.25, utc(2023, 11, 14, 22, 13, 20, 250_000)),
        (CREATED_AT, date(2026, 3, 10), utc(2026, 3, 10)),
        (CREATED_AT, datetime(2026, 3, 10, 8, tzinfo=UTC), utc(2026, 3, 10, 8)),
        (CREATED_AT, math.nan, None),
    ],
)
def test_taken(column, given_value, taken):
    assert one(column, given_value) == taken


@each(
    ("column", "given_value", "reason"),
    [
        (PROJECT, {"a": 1}, "project must be text, not a JSON object"),
        (PROJECT, ["a"], "project must be text, not a JSON list"),
        (PROJECT, b"\xff", "project is not valid UTF-8"),
        (PROMPT, 7, "prompt must be text, not a number"),
        (PROMPT, True, "prompt must be text, not a boolean"),
        (PROMPT, {"text": "hi"}, "prompt must be text, not a JSON object"),
        (TOKENS, 5.5, "tokens must be a whole number, not 5.5"),
        (TOKENS, "five", "tokens must be a number, not 'five'"),
        (TOKENS, "+-5", "tokens must be a number, not '+-5'"),
        (TOKENS, "9" * 5000, "tokens must be finite"),
        (TOKENS, 2**63, "tokens does not fit 64 bits"),
        (TOKENS, str(2**63), "tokens does not fit 64 bits"),
        (TOKENS, True, "tokens must be a number, not a boolean"),
        (TOKENS, -1, "tokens must not be below 0, not -1"),
        (COST, math.inf, "cost must be finite"),
        (COST, "-inf", "cost must be finite"),
        (COST, 10**400, "cost must be finite"),
        (COST, [1], "cost must be a number, not a JSON list"),
        (COST, -0.01, "cost must not be below 0, not -0.01"),
        (REINFORCE, 2, "reinforce must be true or false, not 2"),
        (REINFORCE, "maybe", "reinforce must be true or false, not 'maybe'"),
        (REINFORCE, deep(1000), "reinforce must be true or false, not a JSON list"),
        (USED, "m1", 'memories_used must be a list such as ["a", "b"]'),
        (USED, {"a": 1}, 'memories_used must be a list such as ["a", "b"]'),
        (USED, [["a"]], "memories_used must be text, not a JSON list"),
        (OFFERED, [{"rank": 1}], 'memories_offered must be a list of objects such as {"id": "m1", "rank": 1, '),
        (OFFERED, [{"id": "m", "rank": 1.5}], "memories_offered must be a whole number, not 1.5"),
        (CONTEXT, deep(300), "context_pack cannot be kept as JSON of at most 254 levels and 64-bit integers"),
        (STATUS, "actve", STATUSES + "'actve'"),
        (STATUS, " ", STATUSES + "' '"),
        (CONFIDENCE, 1.0000001, "confidence must lie between 0 and 1, not 1.0000001"),
        (CONFIDENCE, -0.1, "confidence must lie between 0 and 1, not -0.1"),
        (CREATED_AT, "yesterday", "created_at is not a time: 'yesterday'"),
        (CREATED_AT, True, "created_at is not a time: True"),
        (CREATED_AT, {"t": 1}, "created_at is not a time: a JSON object"),
        (CREATED_AT, deep(1000), "created_at is not a time: a JSON list"),
        (CREATED_AT, timedelta(1), "created_at is not a time: datetime.timedelta(days=1)"),
        (CREATED_AT, -(2**63), "created_at is not a time: -9223372036854775808"),
    ],
)  # fmt: skip
def test_refused(column, given_value, reason):
    found = one(column, given_value)
    assert isinstance(found, Unfit)
    assert str(found).startswith(reason)


def test_only_the_bad_value_of_a_column_is_lost():
    series, reasons = coerce_column(TOKENS, [1, "x", None, 3])
    assert series.to_list() == [1, None, None, 3]
    assert list(reasons) == [1]


TYPED = {
    "integer": st.lists(st.none() | st.integers(-(2**31), 2**31 - 1)).map(lambda v: pl.Series(v, dtype=pl.Int64)),
    "unsigned": st.lists(st.none() | st.integers(0, 2**64 - 1)).map(lambda v: pl.Series(v, dtype=pl.UInt64)),
    "number": st.lists(st.none() | st.floats()).map(lambda v: pl.Series(v, dtype=pl.Float64)),
    "single": st.lists(st.none() | st.floats(width=32)).map(lambda v: pl.Series(v, dtype=pl.Float32)),
    "boolean": st.lists(st.none() | st.booleans()).map(lambda v: pl.Series(v, dtype=pl.Boolean)),
    "text": st.lists(st.none() | st.sampled_from(["", "1", "0.5", "true", "active", "x", "[1]", "2026-03-10"])).map(
        lambda v: pl.Series(v, dtype=pl.String)
    ),
    "time": st.lists(st.none() | st.datetimes()).map(lambda v: pl.Series(v, dtype=pl.Datetime("us"))),
    "day": st.lists(st.none() | st.dates()).map(lambda v: pl.Series(v, dtype=pl.Date)),
    "texts": st.lists(st.none() | st.lists(st.none() | st.text(max_size=2))).map(
        lambda v: pl.Series(v, dtype=pl.List(pl.String))
    ),
    "nothing": st.lists(st.none()).map(lambda v: pl.Series(v, dtype=pl.Null)),
}


@given(st.sampled_from(sorted(COLUMNS)), st.sampled_from(sorted(TYPED)).flatmap(TYPED.__getitem__))
@example("interactions.cost", pl.Series([math.nan, 0.0, None, -1.0]))
@example("interactions.cost", pl.Series([math.inf, 0.5]))
@example("memories.confidence", pl.Series([math.nan, 1.5], dtype=pl.Float32))
@example("interactions.tokens", pl.Series([5, -5], dtype=pl.Int16))
@example("interactions.memories_used", pl.Series([["a"], ["b", None], [], None]))
@example("interactions.prompt", pl.Series([1, 2]))
@example("memories.status", pl.Series(["active", "", "retired", None]))
def test_whole_columns_come_out_as_value_by_value(name, values):
    column = COLUMNS[name]
    by_column, reasons = coerce_column(column, values.alias("given"))
    listed = values.to_list()
    singly = [coerce_column(column, [value]) for value in listed]
    assert by_column.dtype == column.dtype
    assert by_column.name == column.name
    expected = pl.Series(column.name, [series.to_list()[0] for series, _ in singly], dtype=column.dtype)
    assert by_column.equals(expected, check_dtypes=True, null_equal=True)
    assert reasons == {i: found[0] for i, (_, found) in enumerate(singly) if found}


@pytest.mark.parametrize("unit", ["ns", "us", "ms"])
def test_zoned_columns_become_utc_and_finer_digits_are_cut_off(unit):
    zoned = pl.Series([utc(2026, 3, 10, 8)], dtype=pl.Datetime("us")).cast(pl.Datetime(unit))
    zoned = zoned.dt.replace_time_zone("Europe/Paris")
    series, reasons = coerce_column(CREATED_AT, zoned)
    assert (series.to_list(), reasons) == ([utc(2026, 3, 10, 7)], {})
    before_1970 = pl.Series([-100], dtype=pl.Datetime("ns"))
    assert coerce_column(CREATED_AT, before_1970)[0].to_list() == [utc(1969, 12, 31, 23, 59, 59, 999_999)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.sampled_from(sorted(COLUMNS)), st.lists(json_values, max_size=4))
def test_any_json_value_fits_or_has_a_reason(name, values):
    column = COLUMNS[name]
    series, reasons = coerce_column(column, values)
    assert (series.dtype, len(series)) == (column.dtype, len(values))
    for position, reason in reasons.items():
        assert reason.startswith(column.name)
        assert values[position] is not None
        assert series[position] is None


@given(json_values)
def test_json_text_depends_on_the_value_not_on_the_order_of_keys(value):
    def reversed_keys(item):
        if isinstance(item, dict):
            return {key: reversed_keys(item[key]) for key in reversed(list(item))}
        return [reversed_keys(inner) for inner in item] if isinstance(item, list) else item

    assert json_text(value) == json_text(reversed_keys(value))


def test_every_declared_bound_is_enforced():
    bounded = {name for name, column in COLUMNS.items() if column.low is not None}
    assert bounded == {
        "interactions.injection_probability", "interactions.tokens", "interactions.cost", "outcomes.duration_ms",
        "outcomes.tokens", "outcomes.cost", "memories.confidence", "memories.importance", "memories.stated_references",
    }  # fmt: skip
    for name in sorted(bounded):
        assert isinstance(one(COLUMNS[name], -1), Unfit)
