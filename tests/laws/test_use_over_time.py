"""Laws 1 and 3 for strength, trend and verdicts: history is what was published then, however the nights went."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import cycle, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rebuilds import rebuilt_hashes
from thorough import IS_THOROUGH, examples
from use_logs import (
    ALWAYS,
    DAYS,
    FITTED_PARAMS,
    QUICK_PARAMS,
    START,
    at,
    change,
    event_time,
    landed,
    use_logs,
    used,
)

from slowwave.flows.publish import publish as publishing
from tests.laws.deliveries import jsonl
from tests.laws.home import Home, Row

COUNTS = ("eligible_count", "injected_count", "echoed_count", "reference_count")
TOLD = ("memory_id", "status", *COUNTS, "reinforced_confidence", "strength", "strength_state", "trend", "verdict")
NEEDED_FROM = 0.05
END = at(DAYS + 1)
UNSHRUNK = (Phase.explicit, Phase.generate)  # an example takes seconds: shrinking one would take many minutes


def home_with(folder: Path, params: str, rows: list[Row]) -> Home:
    folder.mkdir(parents=True)
    home = Home(folder)
    home.settings.params_file.write_text(params)
    home.drop("log.jsonl", jsonl(rows))
    return home


def history(home: Home, until: datetime, path: Path | None = None) -> list[Row]:
    """The rows of memory_health_history of the days that are over at a midnight."""
    return [row for row in home.table("memory_health_history", path) if row["day"] < until.date()]


def assert_told_as_then(home: Home, midnight: datetime) -> int:
    """The history of now, up to a midnight, is that of then, and its last day what memory_health said then."""
    then = home.as_of(midnight)
    past = history(home, midnight)
    assert past == history(home, midnight, then)
    last_day = [row for row in past if row["day"] == (midnight - timedelta(days=1)).date()]
    health = {row["memory_id"]: row for row in home.table("memory_health", then)}
    for row in last_day:
        published = health[row["memory_id"]]
        needs = [published[name] for name in ("need_30d", "need_if_active") if published[name] is not None]
        if row["verdict"] == "forget" and max(needs, default=0) >= NEEDED_FROM:
            row["verdict"] = "review"  # use alone would let it go, the forecast does not
        assert {name: row[name] for name in TOLD} == {name: published[name] for name in TOLD}
    return len(last_day)


# a memory of everything that can change, one injected before it landed, one in a project nobody else is of any more
STORY: list[Row] = [
    *ALWAYS,
    landed("m0", 0),
    *[used(day, hour, "m0") for day in range(8) for hour in (9, 15)],
    used(1, 10, memories_used=["m1"]),
    landed("m1", 3, 12, memory_type="project"),
    used(4, 10, "m1", memories_used=["m1"]),
    landed("m2", 0, project="closed", memory_type="project", importance=0.0),
    change("m2", 2, 12, project="shop", memory_type="preference", importance=1.0),
    used(3, 10, "m2"),
    change("m2", 4, 12, project="", pinned=True),
    used(6, 10, "m2", project="lab"),
    landed("m3", 0, project="closed"),
    change("m3", 6, importance=1.0),
    change("m3", 7, project="shop"),
    change("m2", 7, 12, pinned=False, status="superseded"),
    change("m2", 9, 12, status="active", memory_type="knowledge", project="shop"),
    *[used(day, 9) for day in range(8, DAYS)],
    change("m1", 11, 12, importance=0.4),
]


@pytest.mark.slow
def test_the_history_of_every_day_is_what_was_published_then(tmp_path):
    home = home_with(tmp_path / "home", QUICK_PARAMS, STORY)
    home.nightly(END)
    days = sorted({row["day"] for row in home.table("memory_health_history")})
    asked = days if IS_THOROUGH else days[1::4]
    told = [assert_told_as_then(home, datetime.combine(day, datetime.min.time()) + timedelta(days=1)) for day in asked]
    assert sum(told) == sum(row["day"] in asked for row in home.table("memory_health_history"))
    assert len(days) > 10
    found = home.rows("SELECT DISTINCT strength_state, trend, verdict FROM memory_health_history")
    assert {row["strength_state"] for row in found} == {None, "strong", "normal", "weak", "forgettable"}
    assert {row["trend"] for row in found} > {"new", "unproven", "stable", "stale"}
    assert {row["verdict"] for row in found} > {"keep", "review", "unproven"}


@pytest.mark.slow  # of a story that has everything above
@given(log=use_logs(), midnights=st.lists(st.integers(2, DAYS), min_size=3, max_size=3, unique=True))
@settings(max_examples=examples(1, 4), phases=UNSHRUNK)
def test_history_is_what_was_published_then(log, midnights):
    with TemporaryDirectory() as folder:
        home = home_with(Path(folder) / "home", QUICK_PARAMS, log)
        home.nightly(END)
        for day in midnights:
            assert_told_as_then(home, at(day))


def test_a_lake_whose_memories_never_landed_is_published(home):
    home.drop("log.jsonl", jsonl([used(0, 9, memories_used=["m0"])]))
    home.nightly(at(1))
    assert home.rows("SELECT memory_id, project, status, verdict FROM memory_health") == [
        {"memory_id": "m0", "project": None, "status": None, "verdict": "unproven"}
    ]


# ---------------------------------------------------------------------------------------------------- night after night


def night_of(row: Row) -> int:
    """The first midnight after what a row tells."""
    return (event_time(row) - START).days + 1


@pytest.mark.slow
def test_each_night_publishes_what_a_rebuild_would_while_half_lives_change(tmp_path):
    home = home_with(tmp_path / "home", FITTED_PARAMS, [])
    late = {
        5: [change("m0", 1, 12, pinned=True)],  # pinned in the past, with strengths told since
        8: [change("m0", 6, 12, pinned=False), used(2, 20, "m1"), used(2, 9, "m0")],  # the last one is a redelivery
        10: [landed("m1", 0, 12), used(4, 15, "m2", project="lab")],  # it was there before anyone knew
        12: [change("m2", 1, 12, importance=1.0, memory_type="knowledge")],
    }
    nights = range(2, DAYS + 2) if IS_THOROUGH else (2, 4, 5, 7, 8, 10, 12, DAYS + 1)
    compared = {*late, DAYS + 1} if IS_THOROUGH else {8, DAYS + 1}
    fits, last = [], 0
    bases: list[object] = []
    right = publishing.base_of
    with patch.object(publishing, "base_of", lambda *given: bases.append(right(*given)) or bases[-1]):
        for night in nights:
            home.drop("day.jsonl", jsonl([row for row in STORY if last < max(night_of(row), 1) <= night]))
            last = night
            home.drop("late.jsonl", jsonl(late.get(night, [])))
            home.nightly(at(night))
            fits.append(home.rows("SELECT memory_type, half_life_days FROM strength_fits ORDER BY ALL"))
            if night in compared or (IS_THOROUGH and fits[-1] != fits[-2:][0]):
                assert home.hashes() == rebuilt_hashes(home, at(night)), night
        assert sum(base is not None for base in bases) >= 4
    assert sum(before != after for before, after in pairwise(fits)) >= 2
    was = home.hashes()
    assert home.nightly(at(DAYS + 1), full=True).status == "published"
    assert home.hashes() == was


@pytest.mark.slow
@given(log=use_logs(), delays=st.lists(st.sampled_from([0, 0, 0, 2, 5]), min_size=7, max_size=7))
@settings(max_examples=examples(1, 2), phases=UNSHRUNK)
def test_late_rows_and_redeliveries_leave_no_trace(log, delays):
    late = zip(log[len(ALWAYS) :], cycle(delays), strict=False)
    arrivals = [(0, row) for row in ALWAYS] + [(night_of(row) + delay, row) for row, delay in late]
    with TemporaryDirectory() as folder:
        home = home_with(Path(folder) / "home", FITTED_PARAMS, [])
        seen = -DAYS
        for night in (4, 7, 10, 13):
            home.drop("new.jsonl", jsonl([row for arrival, row in arrivals if seen < arrival <= night]))
            home.drop("again.jsonl", jsonl([row for arrival, row in arrivals if arrival <= night][::3]))
            home.nightly(at(night))
            seen = night
        was = home.hashes()
        assert was == rebuilt_hashes(home, at(seen))
        home.nightly(at(seen), full=True)
        assert home.hashes() == was
