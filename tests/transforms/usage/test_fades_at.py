"""When a memory fades: exactly when strength itself says so, and found again by every later run."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal, assert_series_equal
from reference_log_rows import REFERENCE_LOGS, reference_logs

from slowwave.transforms.learning.params import ScorecardParams
from slowwave.transforms.learning.scorecard_rows import BASE_RATE
from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_fading import fades_at
from slowwave.transforms.usage.strength_fits import strength_fits
from slowwave.transforms.usage.strength_now import default_half_lives, strengths
from slowwave.transforms.usage.strength_scores import METRIC, strength_scores

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times here are UTC without zone
_SCHEMA = {
    "memory": pl.UInt32,
    "scope": pl.UInt32,
    "memory_type": pl.String,
    "status": pl.String,
    "importance": pl.Float64,
    "pinned": pl.Boolean,
    "created_day": pl.Int32,
}
_NO_FITS = pl.DataFrame(schema={"memory_type": pl.String, "half_life_days": pl.Float64})
_BORN = 20_000
_PARAMS = [StrengthParams(), StrengthParams(forgettable_below=0.25, bulk_weight=0.1)]

_memory = st.fixed_dictionaries(
    {
        "memory_type": st.sampled_from([None, "preference", "project", "episodic"]),
        "importance": st.sampled_from([None, 0.0, 0.4, 1.0]),
        "pinned": st.sampled_from([False, False, False, True]),
        "created_day": st.sampled_from([None, _BORN, _BORN + 300]),
    }
)
_days = st.dictionaries(st.integers(_BORN, _BORN + 600), st.booleans(), max_size=10)
_world = st.lists(st.tuples(_memory, _days), min_size=1, max_size=6)


def _frames(world):
    """Memories, and the days each was referenced (day: was it in bulk)."""
    memories = [{"memory": n, "scope": 0, "status": "active", **fields} for n, (fields, _) in enumerate(world)]
    days = [(n, day, 1, 0, int(bulk)) for n, (_, used) in enumerate(world) for day, bulk in sorted(used.items())]
    counts = dict.fromkeys(("reference_count", "broad_count", "bulk_count"), pl.Int64)
    schema = {"memory": pl.UInt32, "day": pl.Int32, **counts}
    return pl.DataFrame(memories, schema=_SCHEMA), pl.DataFrame(days, schema=schema, orient="row")


def _fades_at(memories, days, today, params):
    """fades_at with default half-lives, of types that were watched for ever."""
    types = memories.select(pl.col("memory_type").fill_null("")).unique()
    fits = default_half_lives(types, params).with_columns(pl.lit(10**6).alias("reach_days"))
    return fades_at(memories, days, fits, today, params)["fades_at"]


def _one(used=(), today=_BORN, params=_PARAMS[0], **fields):
    """fades_at of one memory, as days after it was made; never is infinite."""
    row = {"memory_type": "project", "importance": None, "pinned": False, "created_day": _BORN, **fields}
    memories, days = _frames([(row, {_BORN + day: False for day in used})])
    (at,) = _fades_at(memories, days, today, params)
    return math.inf if at is None else (at - _EPOCH) / timedelta(days=1) - _BORN


def _strength_at(memories, days, memory, day, params):
    asked = pl.DataFrame([(memory, day)], schema={"memory": pl.UInt32, "day": pl.Int32}, orient="row")
    return strengths(memories, days, _NO_FITS, asked, params)["strength"][0]


@pytest.mark.parametrize("params", _PARAMS)
@given(_world, st.integers(_BORN + 300, _BORN + 700))
def test_it_is_the_first_midnight_below_and_a_later_run_finds_it_again(params, world, today):
    memories, days = _frames(world)
    known = days.filter(pl.col("day") <= today)
    found = _fades_at(memories, days, today, params)
    for n, at in enumerate(found):
        evidence = [*known.filter(pl.col("memory") == n)["day"], *memories["created_day"][n : n + 1].drop_nulls()]
        if memories["pinned"][n] or not evidence:
            assert at is None
        elif at is None:
            assert _strength_at(memories, known, n, max(evidence) + 36_525, params) >= params.forgettable_below
        else:
            day = (at - _EPOCH).days
            assert at == _EPOCH + timedelta(days=day)
            assert day > max(evidence)
            assert _strength_at(memories, known, n, day, params) < params.forgettable_below
            before = _strength_at(memories, known, n, day - 1, params)
            assert before >= params.forgettable_below or day == max(evidence) + 1
    for later in (today + 1, today + 400, today + 20_000):
        assert_series_equal(_fades_at(memories, known, later, params), found, check_exact=True)


def test_a_reference_moves_it_and_many_move_it_further():
    unused, once, often = _one(), _one([50], _BORN + 60), _one(range(51), _BORN + 60)
    assert unused == 350
    assert once > 400
    assert often > once + 200


def test_it_may_lie_in_the_past():
    assert _one(today=_BORN + 5_000) == _one()


@pytest.mark.parametrize("params", _PARAMS)
def test_what_comes_later_is_not_known_yet(params):
    assert _one([10, 11, 12, 400], _BORN + 9, params) == _one(params=params) < 400
    assert _one([10, 11, 12, 400], _BORN + 400, params) > 400
    assert _one(today=_BORN - 1, params=params) == math.inf


def test_at_the_threshold_it_has_not_faded():
    memories, days = _frames([({"memory_type": "project", "pinned": False, "created_day": _BORN}, {})])
    threshold = _strength_at(memories, days, 0, _BORN + 200, _PARAMS[0])
    assert _one(params=StrengthParams(forgettable_below=threshold)) == 201


def test_never_is_null():
    assert _one(pinned=True) == math.inf
    assert _one(created_day=None) == math.inf
    assert _one(params=StrengthParams(forgettable_below=0)) == math.inf
    # half-life of the slowest count 800 years
    assert _one(params=StrengthParams(half_life_days={"project": 100_000})) == math.inf


def test_importance_and_type_move_it():
    assert _one(importance=0.0) < _one(importance=0.5) == _one() < _one(importance=1.0)
    assert _one(memory_type="episodic") == 175
    assert _one(memory_type="preference") > 2_000


def test_a_bulk_reference_on_a_faded_memory_is_over_at_the_next_midnight():
    row = {"memory_type": "project", "importance": None, "pinned": False, "created_day": _BORN}
    memories, days = _frames([(row, {_BORN + 5_000: True})])
    found = _fades_at(memories, days, _BORN + 5_000, StrengthParams(bulk_weight=0.05)).to_list()
    assert found == [_EPOCH + timedelta(days=_BORN + 5_001)]


def _reached(today, watched_days, **fields):
    """fades_at of one memory of 2 days, as days after it was made, in a log that watched another so long."""
    usual = {"scope": 0, "memory_type": "project", "importance": None, "pinned": False}
    rows = [
        ({**usual, "created_day": _BORN, **fields}, {}),
        ({**usual, "created_day": _BORN - 1_000}, {_BORN - 1_000: False, _BORN - 1_000 + watched_days: False}),
    ]
    memories, days = _frames(rows)
    active = [(0, _BORN - 1_000 + day) for day in range(watched_days + 1)]
    scope_days = pl.DataFrame(active, schema={"scope": pl.UInt32, "day": pl.Int32}, orient="row")
    params = StrengthParams()
    past = scope_days.filter(pl.col("day") < today)
    fits = strength_fits(memories, days, past, today, params)
    (at, _) = fades_at(memories, days, fits, today, params)["fades_at"]
    return None if at is None else (at - _EPOCH) / timedelta(days=1) - _BORN


def test_it_is_told_one_window_further_than_the_log_has_watched_a_memory_of_the_type():
    assert [_reached(_BORN + 2, days) for days in (319, 320)] == [None, 350]
    # what another type was watched for says nothing
    assert _reached(_BORN + 2, 350, memory_type="episodic") is None
    # that it has faded is no forecast
    assert [_reached(_BORN + day, 100) for day in (349, 350, 900)] == [None, 350, 350]


def test_what_was_before_the_log_was_not_watched():
    memories, days = _frames(
        [({"memory_type": "project", "pinned": False, "created_day": _BORN - 3_000}, {}), ({"created_day": _BORN}, {})]
    )
    memories = memories.with_columns(pl.lit("project").alias("memory_type"), pl.lit(value=False).alias("pinned"))
    active = pl.DataFrame({"day": [_BORN, _BORN + 40]}, schema={"day": pl.Int32}).with_columns(
        pl.lit(0, pl.UInt32).alias("scope")
    )
    fits = strength_fits(memories, days, active, _BORN + 500, StrengthParams())
    assert fits["reach_days"].to_list() == [40 + 30]
    assert strength_fits(memories, days, active, _BORN + 40, StrengthParams())["reach_days"].to_list() == [None]


def test_it_is_a_midnight_across_leap_days():
    born = (19_700, 19_800)
    before, after = (
        _fades_at(*_frames([({"pinned": False, "created_day": day}, {})]), day, _PARAMS[0])[0] for day in born
    )
    assert after - before == timedelta(days=100)  # 2024-02-29 lies between
    assert before.time() == after.time() == datetime.min.time()


# however short the log, so long is told
_GRADED = StrengthParams(fit_days=365)


def _scored_world():
    """Four scopes of memories made on a Monday and used once, later or never; scope 3 falls silent."""
    monday = 20_003
    rows = []
    for n in range(40):
        fields = {"scope": n % 4, "memory_type": "episodic", "importance": 0.5, "created_day": monday, "pinned": n == 5}
        fields["status"] = "archived" if n == 6 else "active"
        # one is used on a Monday, one on the day all fade
        used = {9: 168, 12: 175}.get(n, 160 + n)
        rows.append((fields, {monday + used: False} if n % 3 == 0 else {}))
    memories, days = _frames(rows)
    active = [(scope, monday + day) for scope in range(4) for day in range(260 if scope < 3 else 100)]
    scope_days = pl.DataFrame(active, schema={"scope": pl.UInt32, "day": pl.Int32}, orient="row")
    return monday, rows, memories, days, scope_days


def test_scores_are_the_shares_of_memories_left_alone_until_they_faded():
    monday, rows, memories, days, scope_days = _scored_world()
    card = strength_scores(memories, days, scope_days, monday + 260, _GRADED, ScorecardParams())
    cutoffs = [monday + 7 * n for n in range(1, 33)][-26:]
    single = card.filter(pl.col("metric") == METRIC)
    assert single["cutoff_at"].unique().sort().to_list() == [_EPOCH + timedelta(days=day) for day in cutoffs]
    said_in_all = kept_in_all = 0
    for cutoff in cutoffs:
        known = days.filter(pl.col("day") < cutoff)
        fades = _fades_at(memories, known, cutoff - 1, _GRADED)
        spans, fresh = [], []
        for n, (fields, used) in enumerate(rows):
            is_judged = fields["status"] == "active" and not fields["pinned"]
            is_active = fields["scope"] < 3 or cutoff < monday + 100
            ahead = [day for day in used if day >= cutoff]
            if is_judged and is_active and (fades[n] - _EPOCH).days > cutoff:
                fresh.append(min(ahead, default=10**6))
                if (fades[n] - _EPOCH).days <= cutoff + 30:
                    spans.append(((fades[n] - _EPOCH).days, min(ahead, default=10**6)))
        kept = sum(first >= day for day, first in spans)
        said_in_all, kept_in_all = said_in_all + len(spans), kept_in_all + kept
        at = single.filter(pl.col("cutoff_at") == _EPOCH + timedelta(days=cutoff))
        own, base = (at.filter(pl.col("method") == name).row(0, named=True) for name in ("strength/2", BASE_RATE))
        assert own["attempts"] == base["attempts"] == len(spans)
        assert own["horizon_days"] == 30
        if not spans:
            assert own["value"] is base["value"] is own["value_low"] is None
            continue
        expected = sum(sum(first >= day for first in fresh) / len(fresh) for day, _ in spans) / len(spans)
        assert own["value"] == kept / len(spans)
        assert base["value"] == pytest.approx(expected)
        assert own["value_low"] <= own["value"] <= own["value_high"]
    assert said_in_all > kept_in_all > 0
    last = card.filter(pl.col("metric") == f"{METRIC}_to_date", pl.col("method") == "strength/2").sort("cutoff_at")
    assert last.row(-1, named=True)["attempts"] == said_in_all
    assert last.row(-1, named=True)["value"] == kept_in_all / said_in_all
    assert last.row(-1, named=True)["cutoffs"] == 26


def test_scores_look_at_nothing_from_today_on():
    monday, _, memories, days, scope_days = _scored_world()
    card = strength_scores(memories, days, scope_days, monday + 190, _GRADED, ScorecardParams())
    days, scope_days = (frame.filter(pl.col("day") < monday + 190) for frame in (days, scope_days))
    again = strength_scores(memories, days, scope_days, monday + 190, _GRADED, ScorecardParams())
    assert_frame_equal(card, again, check_exact=True)
    assert card["attempts"].sum() > 0


def test_no_log_no_scores():
    memories, days = _frames([])
    no_days = pl.DataFrame(schema={"scope": pl.UInt32, "day": pl.Int32})
    assert strength_scores(memories, days, no_days, _BORN, _GRADED, ScorecardParams()).is_empty()


@pytest.mark.shared_data
@pytest.mark.skipif(not REFERENCE_LOGS.is_dir(), reason="the real logs are not here")
def test_on_real_logs_fewer_of_those_said_to_fade_come_back_than_of_others():
    for log in reference_logs():
        today = log.days["day"].sort().item(-1) + 1
        card = strength_scores(log.memories, log.days, log.scope_days, today, StrengthParams(), ScorecardParams())
        last = card.filter(pl.col("metric") == f"{METRIC}_to_date").sort("cutoff_at", "method").tail(2)
        base, own = last["value"]
        print(log.name, f"said {last['attempts'][0]}, faded as said {own:.3f}, base rate {base:.3f}")  # noqa: T201 - the figures of real logs are shown
        assert own > 0.95
        assert own > base + 0.02
