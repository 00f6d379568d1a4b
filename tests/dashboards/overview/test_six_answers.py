"""What the first screen says of given counts: how far success with and without a memory can be compared."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.overview.actions import replace_failing, stop_alarm
from slowwave.dashboards.overview.tiles import spark_lines, sparkline
from slowwave.dashboards.overview.window import ALL_DAYS, Days, window_of

_SCHEMA = {
    "day": pl.Date, "project": pl.String, "agent": pl.String, "task_type": pl.String, "has_memory": pl.Boolean,
    "offered_count": pl.Int64, "probability": pl.Float64, "block": pl.String, "attempts": pl.Int64,
    "successes": pl.Int64,
}  # fmt: skip
_DAY = date(2026, 3, 2)
Row = tuple[str, bool, int, float, str, int, int]


def differences(*rows: Row, **params: str) -> pl.DataFrame:
    """Rows of `success_difference` on: task type, has_memory, offered, probability, session, attempts, successes."""
    return dated_differences(*((_DAY, row) for row in rows), **params)


def dated_differences(*rows: tuple[date, Row], **params: str) -> pl.DataFrame:
    """The same on rows of several days."""
    counted = pl.DataFrame([(day, "shop", "coder", *row) for day, row in rows], schema=_SCHEMA, orient="row")
    connection = duckdb.connect()
    connection.register("attempts_by_injection", counted.to_arrow())
    return Answers(connection).rows("success_difference", 100_000, **params)


def apart(task: str, has_memory: bool, offered: int, probability: float, attempts: int, successes: int) -> list[Row]:
    """Attempts that each have a session of their own."""
    return [
        (task, has_memory, offered, probability, f"{task} {has_memory} {number}", 1, int(number < successes))
        for number in range(attempts)
    ]


def first_enough(*rows: Row) -> dict[str, Any] | None:
    found = differences(*rows).filter("is_enough")
    return None if found.is_empty() else found.row(0, named=True)


def test_chance_decides_before_task_types_and_these_before_nothing() -> None:
    drawn = [*apart("test", True, 1, 0.5, 40, 30), *apart("test", False, 1, 0.5, 40, 20)]
    chosen = [*apart("docs", True, 0, 1.0, 100, 90), *apart("docs", False, 0, 1.0, 100, 50)]
    found = first_enough(*drawn, *chosen)
    assert found is not None
    assert found["basis"] == "randomised"
    assert found["difference"] == pytest.approx(0.25)
    within = first_enough(*chosen)
    assert within is not None
    assert within["basis"] == "not randomised"
    assert within["difference"] == pytest.approx(0.4)
    others = first_enough(*apart("test", True, 0, 1.0, 100, 90), *apart("docs", False, 0, 1.0, 100, 50))
    assert others is not None
    assert others["basis"] == "not comparable"


def test_task_types_that_succeed_anyway_make_no_difference() -> None:
    """Memories go to easy tasks here: compared with all others they would seem to help."""
    found = first_enough(
        *apart("easy", True, 0, 1.0, 90, 81), *apart("easy", False, 0, 1.0, 10, 9),
        *apart("hard", True, 0, 1.0, 10, 1), *apart("hard", False, 0, 1.0, 90, 9),
    )  # fmt: skip
    assert found is not None
    assert found["difference"] == pytest.approx(0)
    assert found["low"] < 0 < found["high"]


@pytest.mark.parametrize("sides", [(19, 100), (100, 19), (0, 100), (100, 0)])
def test_few_attempts_on_one_side_say_nothing(sides: tuple[int, int]) -> None:
    with_it, without = sides
    rows = [*apart("test", True, 0, 1.0, with_it, with_it // 2), *apart("test", False, 0, 1.0, without, without // 2)]
    assert first_enough(*rows) is None


def test_attempts_of_few_sessions_say_nothing() -> None:
    many: list[Row] = apart("test", False, 0, 1.0, 100, 50)
    assert first_enough(*many, *(("test", True, 0, 1.0, f"s{n}", 50, 25) for n in range(4))) is None
    assert first_enough(*many, *(("test", True, 0, 1.0, f"s{n}", 50, 25) for n in range(5))) is not None


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 5), st.integers(1, 30), st.floats(0, 1)),
        max_size=12,
        unique_by=lambda row: row[:3],
    ),
    st.randoms(use_true_random=False),
)
def test_a_difference_lies_in_its_interval_whatever_the_order(
    given_rows: list[tuple[str, bool, int, int, float]], order: random.Random
) -> None:
    rows: list[Row] = [(task, had, 0, 1.0, f"s{s}", n, round(share * n)) for task, had, s, n, share in given_rows]
    found = differences(*rows)
    order.shuffle(rows)
    assert differences(*rows).equals(found)  # to the last bit: a report of a run is the same whenever it is made
    for row in found.iter_rows(named=True):
        assert row["difference"] == row["with_share"] - row["without_share"]
        assert 0 <= min(row["with_share"], row["without_share"]) <= max(row["with_share"], row["without_share"]) <= 1
        assert row["low"] is None or -1 <= row["low"] <= row["difference"] + 1e-12
        assert row["high"] is None or row["difference"] - 1e-12 <= row["high"] <= 1


@pytest.mark.parametrize(("strata", "sessions", "length"), [(1, 200, 1), (60, 3, 1), (1, 40, 8), (4, 20, 6)], ids=str)
def test_nine_of_ten_intervals_hold_the_difference(strata: int, sessions: int, length: int) -> None:
    """In one large stratum and in many small ones; and where attempts of one session have or lack a memory together.

    Each simulated log is a week of one table: a share of .9, give or take three standard errors of 400.
    """
    draws, truth, rows = random.Random(7), 0.15, []
    for week in range(400):
        monday = _DAY + timedelta(weeks=week)
        for stratum in range(strata):
            usual = 0.35 + 0.15 * stratum / max(strata - 1, 1)
            for number in range(2 * sessions):
                had, mood = number % 2 == 0, (draws.random() - 0.5) * 0.6 * (length > 1)
                successes = sum(draws.random() < usual + truth * had + mood for _ in range(length))
                rows.append((monday, (f"t{stratum}", had, 0, 1.0, f"{stratum} {number}", length, successes)))
    found = dated_differences(*rows, per="week").filter(pl.col("basis") == "not randomised")
    assert found.height == 400
    held = found.filter((pl.col("low") <= truth) & (truth <= pl.col("high"))).height
    assert 0.855 <= held / 400 <= 0.945


@pytest.mark.parametrize(
    ("projects", "link"), [(["a"], "tab=Failing&project=a&task_type=t"), (["a", "b"], "tab=Failing&task_type=t")]
)
def test_replacing_a_strategy_leads_to_every_project_where_it_fails(projects: list[str], link: str) -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE anti_patterns AS SELECT unnest($projects) AS project, 'x' AS agent, 't' AS task_type,"
        " 'p' AS pattern, 'avoid' AS kind, 'open' AS state, 3 AS failures, 3 AS attempts, 0.1 AS baseline_rate,"
        " 1.0 AS cost, 'ms' AS cost_unit, NULL AS better_alternative, '' AS why_bad, 's' AS strategy_id,"
        " TIMESTAMP '2026-03-02' AS last_seen_at",
        {"projects": projects},
    )
    connection.execute(
        "CREATE TABLE counted_outcomes (project TEXT, agent TEXT, task_type TEXT, strategy_id TEXT, is_learned BOOL,"
        " basis TEXT)"
    )
    action = replace_failing(Answers(connection), {})
    assert action is not None
    assert (action.text, action.link) == ("Replace 1 failing strategy", f"strategies?{link}")


def test_an_alarm_leads_to_the_memories_it_is_about() -> None:
    connection = duckdb.connect()
    alarms = ["warning: 1 of its memories have the verdict harmful.", "warning: injected in the last 7 days though: m."]
    connection.execute(
        "CREATE TABLE project_health AS SELECT 'a' AS project, $alarms AS alarms, 1 AS active_count, 1 AS judged_count",
        {"alarms": alarms},
    )
    action = stop_alarm(Answers(connection), {}, "warning")
    assert action is not None
    assert (action.text, action.link) == ("Stop outdated memories", "sql?recipe=stale_injections")
    assert "harmful" not in action.whole
    assert stop_alarm(Answers(connection), {}, "critical") is None


# ---------------------------------------------------------------------------------------------------- days and lines


def newest(at: datetime | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"landed_table": ["interactions"], "newest_at": [at]}, schema_overrides={"newest_at": pl.Datetime}
    )


def test_a_window_ends_with_the_log_and_says_when_its_last_day_goes_on() -> None:
    as_of = datetime(2026, 3, 31, 12)  # noqa: DTZ001 - naive times hold UTC
    long_ago = window_of(newest(datetime(2026, 1, 10, 9)), as_of, 7)  # noqa: DTZ001
    assert (long_ago.shown.first, long_ago.shown.last) == (date(2026, 1, 4), date(2026, 1, 10))
    assert long_ago.before is not None
    assert long_ago.before.words() == "2025-12-28 to 2026-01-03"
    assert long_ago.is_last_whole
    today = window_of(newest(datetime(2026, 3, 31, 9)), as_of, 7)  # noqa: DTZ001
    assert not today.is_last_whole
    assert "the last day is not complete" in today.words()
    assert window_of(newest(None), as_of, ALL_DAYS).words().startswith("All days to 2026-03-31")


def test_chosen_days_are_compared_with_as_many_before() -> None:
    chosen = Days(date(2026, 3, 10), date(2026, 3, 12))
    window = window_of(newest(None), datetime(2026, 3, 31), chosen)  # noqa: DTZ001
    assert window.shown == chosen
    assert window.before == Days(date(2026, 3, 7), date(2026, 3, 9))
    assert window_of(newest(None), datetime(2026, 3, 31), Days(date(1970, 1, 1), date(2026, 3, 1))).before is None  # noqa: DTZ001


@given(st.integers(1, 400), st.integers(0, 500))
def test_bars_cover_the_window_once(days: int, ago: int) -> None:
    window = window_of(newest(None), datetime(2026, 3, 31), days)  # noqa: DTZ001
    since = date.fromordinal(window.shown.last.toordinal() - ago)
    bars = window.bars(since)
    assert len(bars) <= 30
    assert bars[0].first == max(since, window.shown.first)
    assert bars[-1].last == window.shown.last
    assert all(one.last.toordinal() + 1 == next_.first.toordinal() for one, next_ in pairwise(bars))


def test_a_line_is_broken_where_nothing_is_known() -> None:
    assert sparkline([*spark_lines([None, 0.5, None])], "success") == ""
    (line,) = spark_lines([0.1, None, 0.3, 0.4])
    assert line.path.count("M") == 2
    assert [each.width for each in spark_lines([0.1, None, 0.3])] == [5]  # dots alone
    picture = sparkline([line], 'a "label"')
    assert 'alt="a &#34;label&#34;"' in picture
    assert picture.count("data:image/svg+xml;base64,") == 1


def test_a_difference_stands_beside_nothing_and_in_its_interval() -> None:
    zero, intervals, line = spark_lines([0.1, None, 0.3], [(-0.1, 0.3), None, (0.2, 0.4)])
    assert zero.path == "M3 27.0 L237 27.0"
    assert intervals.path == "M3.0 33.0 L3.0 9.0 M237.0 15.0 L237.0 3.0"
    assert line.path == "M3.0 21.0 h0 M237.0 9.0 h0"
