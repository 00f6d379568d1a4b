"""What landed of each day: counted by project, with what was late."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.landing.landed_days import landed_days

START = datetime(2026, 3, 1, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_TIME = pl.Datetime("us")
_SCHEMA = {
    "landed_table": pl.String, "project": pl.String, "agent": pl.String, "occurred_at": _TIME, "recorded_at": _TIME,
    "basis": pl.String,
    "tokens": pl.Int64, "cost": pl.Float64,
}  # fmt: skip
_DAY = timedelta(hours=24)
_tables = st.sampled_from(["interactions", "outcomes", "memories"])
_times = st.integers(0, 40).map(lambda hours: START + timedelta(hours=hours))
_delays = st.sampled_from([-3.0, 0.0, 23.5, 24.0, 24.5, 48.25, 1000.125]).map(lambda hours: timedelta(hours=hours))
_bases = st.sampled_from([None, "", "reported", "evaluated", "inferred"])
_rows = st.lists(
    st.tuples(_tables, st.sampled_from([None, "", "shop", "../etc"]), _times, _delays, _bases), max_size=30
)


def _told(rows):
    frame = pl.DataFrame(
        [
            (table, project, None, at, at + delay, *more, *[None] * (3 - len(more)))
            for table, project, at, delay, *more in rows
        ],
        schema=_SCHEMA,
        orient="row",
    )
    return landed_days(frame.lazy()).drop("agent").collect().rows()


def test_a_day_is_told_by_its_rows():
    hour = timedelta(hours=1)
    rows = [
        ("outcomes", "shop", START, _DAY, "inferred", 1000, 0.5),
        ("outcomes", "shop", START + hour, _DAY + timedelta(microseconds=1), None, 200, 0.25),
        ("outcomes", "shop", START - hour, 36 * hour, "inferred"),
        ("outcomes", "shop", START + 4 * hour, timedelta(), "evaluated", None, 0.0),
        ("interactions", None, START, timedelta(), None),
        ("interactions", "", START + hour, -hour, None),
    ]
    assert _told(rows) == [
        ("interactions", "", START.date(), 2, 0, 0, None, None, None, START + hour, START),
        ("outcomes", "shop", START.date(), 3, 2, 2, 36.0, 1200, 0.75, START + hour, START + 35 * hour),
        ("outcomes", "shop", (START + _DAY).date(), 1, 0, 0, None, None, 0.0, START + 4 * hour, START + 4 * hour),
    ]


def test_agents_are_counted_apart_and_none_is_one_of_them():
    times = [START + timedelta(minutes=n) for n in range(3)]
    rows = [
        ("interactions", "shop", agent, at, at, None, None, None)
        for agent, at in zip(["coder", None, "coder"], times, strict=True)
    ]
    found = landed_days(pl.DataFrame(rows, schema=_SCHEMA, orient="row").lazy()).collect()
    assert found.select("agent", "rows_count").rows() == [("", 1), ("coder", 2)]


@given(rows=_rows)
def test_every_row_is_counted_once_and_late_by_its_own_delay(rows):
    groups = defaultdict(list)
    for table, project, at, delay, basis in rows:
        groups[table, project or "", at.date()].append((at, delay, basis))
    expected = []
    for key in sorted(groups):
        of_day = groups[key]
        late = [delay / timedelta(hours=1) for _, delay, _ in of_day if delay > _DAY]
        newest = max(at for at, *_ in of_day), max(at + delay for at, delay, _ in of_day)
        inferred = sum(basis == "inferred" for *_, basis in of_day)
        expected.append((*key, len(of_day), inferred, len(late), max(late, default=None), None, None, *newest))
    assert _told(rows) == expected


def test_a_day_alone_is_as_late_to_the_bit_as_among_many():
    rows = [
        ("outcomes", "shop", START + n * _DAY, _DAY + timedelta(hours=1, seconds=7919 * n, microseconds=n), None)
        for n in range(200)
    ]
    assert _told(rows) == [day for row in rows for day in _told([row])]


@given(costs=st.lists(st.floats(0, 1e6).map(lambda cost: round(cost, 6)), min_size=1, max_size=30))
def test_costs_add_up_to_the_bit_in_every_order(costs):
    rows = [("interactions", "shop", START, timedelta(), None, None, cost) for cost in costs]
    (there,), (back,) = _told(rows), _told(rows[::-1])
    assert there == back
    assert there[8] == pytest.approx(sum(costs))
