"""What the first screen says of given counts: how far success with and without a memory can be compared."""

from __future__ import annotations

import random
from datetime import date, datetime
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.dashboards.overview.six_answers import compared_success
from slowwave.dashboards.overview.tiles import sparkline
from slowwave.dashboards.overview.window import ALL_DAYS, Days, window_of
from slowwave.transforms.core.statistics import stratified_difference

_SCHEMA = {
    "project": pl.String, "agent": pl.String, "task_type": pl.String, "has_memory": pl.Boolean,
    "offered_count": pl.Int64, "probability": pl.Float64, "attempts": pl.Int64, "successes": pl.Int64,
}  # fmt: skip


def counts(*rows: tuple[str, bool, int, float, int, int]) -> pl.DataFrame:
    """Rows of `attempts_by_injection`: task type, has_memory, offered, probability, attempts, successes."""
    return pl.DataFrame([("shop", "coder", *row) for row in rows], schema=_SCHEMA, orient="row")


def test_chance_decides_before_task_types_and_these_before_nothing() -> None:
    drawn = [("test", True, 1, 0.5, 40, 30), ("test", False, 1, 0.5, 40, 20)]
    chosen = [("test", True, 0, 1.0, 100, 90), ("test", False, 0, 1.0, 100, 50)]
    found = compared_success(counts(*drawn, *chosen))
    assert found is not None
    assert found[1] == "randomised"
    assert found[0].value == pytest.approx(0.25)
    within = compared_success(counts(*chosen))
    assert within is not None
    assert within[1] == "not randomised"
    assert within[0].value == pytest.approx(0.4)
    apart = compared_success(counts(("test", True, 0, 1.0, 100, 90), ("docs", False, 0, 1.0, 100, 50)))
    assert apart is not None
    assert apart[1] == "not comparable"


def test_task_types_that_succeed_anyway_make_no_difference() -> None:
    """Memories go to easy tasks here: compared with all others they would seem to help."""
    rows = counts(
        ("easy", True, 0, 1.0, 90, 81), ("easy", False, 0, 1.0, 10, 9),
        ("hard", True, 0, 1.0, 10, 1), ("hard", False, 0, 1.0, 90, 9),
    )  # fmt: skip
    found = compared_success(rows)
    assert found is not None
    assert found[0].value == pytest.approx(0)
    assert found[0].low < 0 < found[0].high


@pytest.mark.parametrize("sides", [(19, 100), (100, 19), (0, 100), (100, 0)])
def test_few_attempts_on_one_side_say_nothing(sides: tuple[int, int]) -> None:
    with_it, without = sides
    rows = [("test", True, 0, 1.0, with_it, with_it // 2), ("test", False, 0, 1.0, without, without // 2)]
    assert compared_success(counts(*[row for row in rows if row[4]])) is None


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(1, 30), st.floats(0, 1)), max_size=12),
    st.randoms(use_true_random=False),
)
def test_a_difference_lies_in_its_interval_whatever_the_order(
    rows: list[tuple[int, bool, int, float]], order: random.Random
) -> None:
    strata = [(stratum, side, n, round(share * n)) for stratum, side, n, share in rows]
    names = {"stratum": pl.Int64, "is_treated": pl.Boolean, "attempts": pl.Int64, "successes": pl.Int64}
    found = stratified_difference(pl.DataFrame(strata, schema=names, orient="row"), 0.9)
    order.shuffle(strata)
    again = stratified_difference(pl.DataFrame(strata, schema=names, orient="row"), 0.9)
    if found is None or again is None:
        assert found is again
        return
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.value == found.with_share - found.without_share
    assert 0 <= min(found.with_share, found.without_share) <= max(found.with_share, found.without_share) <= 1 + 1e-9
    assert again.value == pytest.approx(found.value)
    assert again.low == pytest.approx(found.low)


@pytest.mark.parametrize(("strata", "size"), [(1, 200), (60, 3)])
def test_nine_of_ten_intervals_hold_the_difference(strata: int, size: int) -> None:
    """In one large stratum and in many small ones, of strata that differ in success."""
    draws, held, truth = random.Random(7), 0, 0.15
    for _ in range(400):
        rows = []
        for stratum in range(strata):
            usual = 0.2 + 0.6 * stratum / max(strata - 1, 1)
            for is_treated in (True, False):
                chance = usual + truth * is_treated
                rows.append((stratum, is_treated, size, sum(draws.random() < chance for _ in range(size))))
        names = ["stratum", "is_treated", "attempts", "successes"]
        found = stratified_difference(pl.DataFrame(rows, schema=names, orient="row"), 0.9)
        assert found is not None
        held += found.low <= truth <= found.high
    assert 0.86 <= held / 400 <= 0.94


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
    assert sparkline([None, 0.5, None], "success") == ""
    line = sparkline([0.1, None, 0.3, 0.4], 'a "label"')
    assert 'alt="a &#34;label&#34;"' in line
    assert line.count("data:image/svg+xml;base64,") == 1
