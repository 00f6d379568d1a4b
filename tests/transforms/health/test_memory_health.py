"""Days, health and its history: folds that can be cut anywhere, and formulas with their properties."""

from collections import defaultdict
from datetime import date, datetime, time, timedelta

import memory_model as model
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from replayed import NO_OUTCOMES, NO_USE, NONE_HELD, PARAMS, changes, days_of, interactions, memories_frame, pool_of

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.evidence.tables import MemoryDays
from slowwave.transforms.health.history import memory_health_history
from slowwave.transforms.health.memory_health import COUNTS, memory_health, reinforced_confidence
from slowwave.transforms.params import Params

BREADTHS = ("broad_count", "bulk_count")
UNITS = ("m1", "m2", "m3", "never landed", "only cited")
STATED = ("project", "agent", "user_id", "scope", "category", "tags", "memory_type", "status", "content")


def health_of(change_rows, days):
    states = memory_states(memories_frame(change_rows))
    eligible = days.lazy().group_by("memory_id").agg(pl.col("eligible_count").sum())
    return memory_health(states, days.lazy(), eligible, NO_OUTCOMES, NO_USE, NONE_HELD, PARAMS).collect()


def history_of(change_rows, days, **cut):
    told = memory_health_history(memory_states(memories_frame(change_rows)), days.lazy(), PARAMS, **cut).collect()
    return told.drop(
        "project", "agent", "scope", "user_id", "memory_type", "importance", "pinned"
    )  # told on by memory_use_history


# ----------------------------------------------------------------------------------------------------------------- days


@given(interactions, changes)
def test_days_are_the_counts_of_a_loop(rows, change_rows):
    found = days_of(rows, pool_of(change_rows), part=lambda _: "all at once").drop("day")
    few = dict.fromkeys(BREADTHS, 0)  # no interaction here can reference ten memories
    expected = [{"memory_id": unit, **model.counts(rows, change_rows, unit), **few} for unit in UNITS]
    told = [row for row in expected if any(row[name] for name in COUNTS)]
    assert found.sort("memory_id").to_dicts() == told
    assert found.schema == polars_schema(MemoryDays)


def merged(days):
    """The fold of days: counts summed, first and last."""
    sums = [pl.col(name).sum() for name in (*COUNTS, *BREADTHS)]
    ends = [pl.col("first_referenced_at").min(), pl.col("last_referenced_at").max()]
    return days.group_by("memory_id").agg(*sums, *ends, pl.col("parroted").sum()).sort("memory_id")


@given(interactions, changes, st.integers(1, 4))
def test_days_may_be_cut_anywhere(rows, change_rows, parts):
    pool = pool_of(change_rows)
    whole = days_of(rows, pool, part=lambda _: 0).drop("day").sort("memory_id")
    cut = days_of(rows, pool, part=lambda row: int(row["interaction_id"][1:]) % parts)
    assert merged(cut).equals(whole)


# --------------------------------------------------------------------------------------------------------------- health


@given(interactions, changes)
def test_health_is_what_a_loop_finds(rows, change_rows):
    found = {row["memory_id"]: row for row in health_of(change_rows, days_of(rows, pool_of(change_rows))).to_dicts()}
    for unit in UNITS:
        counted = model.counts(rows, change_rows, unit)
        state = model.state_at(change_rows, unit, datetime.max)  # noqa: DTZ901 - naive times hold UTC
        if state is None and not any(counted[name] for name in COUNTS):
            assert unit not in found
            continue
        row = found.pop(unit)
        assert {name: row[name] for name in counted} == counted
        assert {name: row[name] for name in STATED} == {name: state and state[name] for name in STATED}
        times = [c["changed_at"] for c in change_rows if c["memory_id"] == unit]
        assert row["created_at"] == min(times, default=None)
        assert row["reinforced_confidence"] == (
            state and model.reinforced(state["confidence"], counted["echoed_count"])
        )
    assert not found


@given(interactions, changes)
def test_health_does_not_depend_on_how_days_are_stacked(rows, change_rows):
    days = days_of(rows, pool_of(change_rows))
    assert health_of(change_rows, days).equals(health_of(change_rows, days[::-1]))
    assert health_of(change_rows, merged(days)).equals(health_of(change_rows, days))


# -------------------------------------------------------------------------------------------------------------- history


def history_of_a_loop(rows, change_rows):
    """Per memory and day with a count or a change of state: the counts so far, and the state at the day's end."""
    told = []
    for unit in UNITS:
        days = defaultdict(list)
        state = None
        for change in sorted((c for c in change_rows if c["memory_id"] == unit), key=lambda c: c["changed_at"]):
            if (new := model.after(state, change)) != state:
                days[change["changed_at"].date()] = []
            state = new
        for row in rows:
            if any(value for name, value in model.counts([row], change_rows, unit).items() if name in COUNTS):
                days[row["occurred_at"].date()] = []
        for day in sorted(days):
            so_far = model.counts([row for row in rows if row["occurred_at"].date() <= day], change_rows, unit)
            state = model.state_at(change_rows, unit, datetime.combine(day, time.max))
            confidence = model.reinforced(state["confidence"], so_far["echoed_count"]) if state else None
            counted = {name: so_far[name] for name in COUNTS}
            told.append(
                {
                    "memory_id": unit, "day": day, "status": state and state["status"], **counted,
                    "reinforced_confidence": confidence,
                }
            )  # fmt: skip
    return told


@given(interactions, changes)
def test_history_is_what_a_loop_finds(rows, change_rows):
    found = history_of(change_rows, days_of(rows, pool_of(change_rows)))
    assert found.sort("memory_id", "day").to_dicts() == history_of_a_loop(rows, change_rows)


@given(interactions, changes)
def test_the_last_day_of_each_memory_is_its_health(rows, change_rows):
    days = days_of(rows, pool_of(change_rows))
    last = history_of(change_rows, days).sort("memory_id", "day").unique("memory_id", keep="last", maintain_order=True)
    health = health_of(change_rows, days)
    names = ["memory_id", "status", *COUNTS, "reinforced_confidence"]
    assert last.select(names).equals(health.select(names))


@given(interactions, changes, st.integers(0, 3).map(lambda n: date(2026, 3, 10) + timedelta(n)))
def test_history_from_a_day_on_continues_the_counts_before_it(rows, change_rows, first_day):
    days = days_of(rows, pool_of(change_rows))
    before = merged(days.filter(pl.col("day") < first_day)).select("memory_id", *COUNTS)
    tail = history_of(change_rows, days.filter(pl.col("day") >= first_day), before=before.lazy(), first_day=first_day)
    whole = history_of(change_rows, days)
    assert tail.equals(whole.filter(pl.col("day") >= first_day))


def test_a_change_that_says_what_held_already_is_no_day_of_history():
    said = {"memory_id": "m1", "status": "active", "content": "c", "confidence": 0.5, "source_ids": ["s"]}
    log = [{**said, "changed_at": datetime(2026, 3, day)} for day in (1, 2, 3)]  # noqa: DTZ001
    log[2]["source_ids"] = ["s", "t"]
    assert history_of(log, days_of([], pool_of(log)))["day"].to_list() == [date(2026, 3, 1), date(2026, 3, 3)]


def test_the_first_day_of_the_calendar_is_told():
    first = {"memory_id": "m1", "changed_at": datetime(1, 1, 1), "status": "active"}  # noqa: DTZ001
    assert history_of([first], days_of([], pool_of([first])))["day"].to_list() == [date(1, 1, 1)]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_memory_known_by_its_id_alone_holds_no_text_of_another(engine):
    """NULLs that a join makes stand on the text of some row, which every function of Polars would read for each."""
    at = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC
    log = [
        {"memory_id": "m", "status": "active", "content": "a long text " * 99, "project": "p" * 99, "changed_at": at}
    ]
    days = pl.DataFrame({"memory_id": ["n1", "n2"]})
    days = days.with_columns(
        *[pl.lit(1, dtype).alias(name) for name, dtype in polars_schema(MemoryDays).items() if dtype == pl.Int64],
        *[pl.lit(at, dtype).alias(name) for name, dtype in polars_schema(MemoryDays).items() if dtype == pl.Datetime],
    )
    with pl.Config() as config:
        config.set_engine_affinity(engine)
        health = health_of(log, days)
    assert health["memory_id"].to_list() == ["m", "n1", "n2"]
    for name in ("content", "project"):
        views = health[name].rechunk().to_arrow(compat_level=pl.CompatLevel.newest()).buffers()[1]
        lengths = np.frombuffer(views, np.int32)[::4].tolist()
        assert lengths == [len(log[0][name]), 0, 0], name


# ------------------------------------------------------------------------------------------------ reinforced confidence

shares = st.floats(0, 1)
counts = st.integers(0, 10**6)


def confidence(initial, count, params=PARAMS):
    frame = pl.DataFrame({"initial": [initial], "count": [count]}, schema={"initial": pl.Float64, "count": pl.Int64})
    return frame.select(reinforced_confidence(pl.col("initial"), pl.col("count"), params)).item()


@pytest.mark.parametrize(
    ("initial", "count", "expected"),
    [(0.5, 0, 0.5), (0.5, 1, 0.52), (0.5, 25, 1.0), (0.5, 26, 1.0), (0.97, 2, 1.0), (0, 3, 0.06)],
)
def test_two_hundredths_per_echo_up_to_one(initial, count, expected):
    assert confidence(initial, count) == expected


@given(shares, counts, counts, st.floats(0, 1), shares)
def test_never_falls_with_more_echoes_nor_below_the_initial_one(initial, count, more, delta, cap):
    params = Params(reinforcement_delta=delta, reinforcement_cap=cap)
    now, later = confidence(initial, count, params), confidence(initial, count + more, params)
    assert initial <= now <= later <= max(initial, cap)
    assert confidence(initial, 0, params) == initial


@given(shares, counts)
def test_without_a_delta_it_is_the_initial_one(initial, count):
    assert confidence(initial, count, Params(reinforcement_delta=0)) == initial


@given(counts)
def test_unknown_stays_unknown(count):
    assert confidence(None, count) is None
