"""The trend of a strategy changes its word only once two looks a week apart agree."""

from __future__ import annotations

import numpy as np
import polars as pl
from attempt_rows import START, tried
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.heuristics import strategy_trends
from slowwave.transforms.learning.params import HeuristicParams
from slowwave.transforms.learning.sessions import next_midnight

_PARAMS = HeuristicParams()
_TODAY = next_midnight(START)


def _sessions(days, successes=(), strategy="x"):
    """One session of one attempt on each of `days` after START; those numbered in `successes` succeed."""
    return [
        (strategy, number, _TODAY + day, int(successes == "all" or number in successes))
        for number, day in enumerate(days)
    ]


def _frame(rows):
    names = sorted({row[0] for row in rows})
    columns = {
        "cell": [names.index(row[0]) for row in rows],
        "block": [hash(row[:2]) % 2**31 for row in rows],
        "day": [row[2] for row in rows],
        "known_day": [row[2] for row in rows],
        "attempts": [1] * len(rows),
        "successes": [row[3] for row in rows],
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))


def _known(sessions):
    return CellHistory.of(sessions, ConfidenceParams(session_correlation=0.2))


def _trend(rows, age):
    return strategy_trends(_known(_frame(rows)), _TODAY + age, _PARAMS)["trend"].to_list()


@each(
    ("rows", "age", "trend"),
    [
        (_sessions([0, 1]), 60, "unproven"),
        (_sessions([50, 51, 52]), 59, "unproven"),
        (_sessions([50, 51, 52]), 60, "new"),
        (_sessions([0, 1, 2]), 29, "new"),
        (_sessions([0, 1, 2]), 31, "stale"),
        (_sessions([0, 1, 2]), 38, "stale"),
        (_sessions(range(400), "all"), 400, "stable"),
        (_sessions(range(90), range(40, 90)), 90, "strengthening"),
        (_sessions(range(90), range(60)), 90, "weakening"),
    ],
)
def test_words(rows, age, trend):
    assert _trend(rows, age) == [trend]


def test_one_bad_week_is_no_change_until_the_next():
    rows = _sessions(range(100), [*range(80), *range(96, 100)])
    raw = [_trend(rows, age) for age in range(80, 100)]
    first = raw.index(["weakening"])
    assert raw[0] == ["stable"]
    # the first look that says so is a week earlier
    soon = HeuristicParams(trend_agreement_days=1)
    said = [strategy_trends(_known(_frame(rows)), _TODAY + age, soon)["trend"].item() for age in range(80, 100)]
    assert said.index("weakening") <= first - 6


@settings(max_examples=examples(10, 100))
@given(st.lists(st.tuples(st.integers(0, 120), st.booleans()), min_size=1, max_size=60), st.integers(1, 150))
def test_a_word_changes_only_when_two_looks_a_week_apart_agree(rows, age):
    told = [("x", number, _TODAY + day, int(won)) for number, (day, won) in enumerate(rows)]
    before, now = _trend(told, age - 1), _trend(told, age)
    if before != now:
        assert _look(told, age) == _look(told, age - 7) == now[0]


def _look(rows, age):
    """What one look says: the rule itself."""
    recent = [row for row in rows if age - 28 <= row[2] - _TODAY < age]
    before = [row for row in rows if row[2] - _TODAY < age - 28]
    if len(recent) + len(before) < 3:
        return "unproven"
    if not recent:
        return "stale"
    if not before:
        return "new"
    if min(len(recent), len(before)) < 3:
        return "unproven"
    rates = [(sum(row[3] for row in side) + 1) / (len(side) + 2) for side in (recent, before)]
    variance = sum(r * (1 - r) / (len(side) + 3) for r, side in zip(rates, (recent, before), strict=True))
    z = (rates[0] - rates[1]) / np.sqrt(variance)
    return "strengthening" if z >= 1.6448536 else "weakening" if z <= -1.6448536 else "stable"


def test_outcomes_count_from_when_they_are_known():
    rows = [{"strategy": "x", "session_id": str(n), "success": True} for n in range(3)]
    sessions = tried(rows).sessions
    assert strategy_trends(_known(sessions), _TODAY, _PARAMS)["trend"].to_list() == ["unproven"]
    assert strategy_trends(_known(sessions), _TODAY + 8, _PARAMS)["trend"].to_list() == ["new"]
