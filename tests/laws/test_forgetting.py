"""Laws of forgetting: nothing is lost, all of it can be undone, and nothing counts before its time."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from forgetting_acts import applied, held, released, restored
from rebuilds import rebuilt_hashes
from thorough import IS_THOROUGH, some
from use_logs import ALWAYS, QUICK_PARAMS, at, change, event_time, landed, text_of, used

from slowwave.flows.lake.views import LandedViews
from tests.laws.deliveries import jsonl
from tests.laws.home import Home, Row

NIGHT = at(10)
NOW = at(10, 5)  # when the owner looks at the plan of that night
NEXT_NIGHT = at(11)

# One superseded, one no longer used, one that lost its chance, and four in daily use where three may stay.
LOG: list[Row] = [
    *ALWAYS,
    *[landed(f"m{number}", 0, memory_type="project" if number == 2 else "knowledge") for number in range(7)],
    change("m0", 2, status="superseded", superseded_by="m3"),
    used(0, 9, "m1", memories_used=["m1", "m2"]),
    *[used(day, 12, "m3", "m4", memories_used=["m2"] if day < 5 else []) for day in range(9)],
    *[used(day, 15, "m5", "m6") for day in range(0, 8, 2)],
]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("forgetting") / "home")
    home.folder.mkdir()
    home.settings.params_file.write_text(QUICK_PARAMS)
    home.drop("log.jsonl", jsonl(LOG))
    home.nightly(NIGHT)
    return home


@pytest.fixture
def home(published: Home, copy_of: Callable[[Home], Home]) -> Home:
    return copy_of(published)


def told_anew(home: Home, as_of: datetime) -> Path:
    """The serving file as of an instant, built again."""
    shutil.rmtree(home.settings.serving / "as_of", ignore_errors=True)
    return home.as_of(as_of)


def planned(home: Home, path: Path | None = None) -> dict[str, str]:
    """The rule by which each memory of the plan may go."""
    rows = home.rows("SELECT memory_id, rule FROM forgetting_plan", path)
    return {row["memory_id"]: row["rule"] for row in rows}


def status(home: Home, path: Path | None = None) -> dict[str, str]:
    rows = home.rows("SELECT memory_id, status FROM memory_health", path)
    return {row["memory_id"]: row["status"] for row in rows}


def landed_rows(home: Home, view: str, as_of: datetime) -> pl.DataFrame:
    """What `sql` shows of a landed table."""
    frame = LandedViews(home.settings.lake_folder, as_of).frames[view].collect()
    return frame.sort("row_hash")


def test_the_plan_holds_what_may_go_by_different_rules(home):
    assert planned(home) == {"m0": "superseded", "m1": "project_quota", "m2": "faded", "m5": "project_quota"}


# ------------------------------------------------------------------------------------------------- applying, restoring


@pytest.mark.slow
def test_forgetting_never_shrinks_interactions(home):
    before = [landed_rows(home, view, at(12)) for view in ("interactions", "interactions_log")]
    applied(home, NOW)
    home.nightly(NEXT_NIGHT)
    home.nightly(NEXT_NIGHT, full=True)
    home.prune(1)
    for _ in range(2):
        assert [
            landed_rows(home, view, at(12)).equals(was)
            for view, was in zip(("interactions", "interactions_log"), before, strict=True)
        ] == [True, True]
        restored(home, at(11, 5))
        home.nightly(at(12))
    assert before[0].height == sum("prompt" in row for row in LOG)


def test_after_applying_there_is_nothing_to_plan_and_nothing_more_to_apply(home):
    wanted = planned(home)
    assert sorted(applied(home, NOW).changed) == sorted(wanted)
    rows = landed_rows(home, "memories_log", at(12)).height
    again = applied(home, at(10, 6))
    assert (again.changed, again.already) == ([], len(wanted))
    home.nightly(NEXT_NIGHT)
    assert planned(home) == {}
    assert applied(home, at(11, 5)).changed == []
    assert landed_rows(home, "memories_log", at(12)).height == rows
    assert {name for name, said in status(home).items() if said == "archived"} == set(wanted)


@pytest.mark.slow
def test_restoring_gives_back_what_was(home, published):
    wanted = planned(home)
    applied(home, NOW)
    assert sorted(restored(home, at(10, 6)).changed) == sorted(wanted)
    assert restored(home, at(10, 7)).changed == []
    assert home.nightly(NEXT_NIGHT).status == "published"
    untouched = told_anew(published, NEXT_NIGHT)
    for table in ("memory_health", "project_health", "memory_references", "strength_fits", "need_fits"):
        assert home.table(table) == published.table(table, untouched), table
    # what was brought back is left alone for a while
    assert not planned(home).keys() & wanted.keys()


@pytest.mark.slow
def test_decisions_night_after_night_publish_what_a_rebuild_would(home):
    acts: list[tuple[Callable[[datetime], object], list[Row]]] = [
        (lambda now: applied(home, now), [used(10, 9, "m1", "m3")]),
        (lambda now: held(home, now, "m5"), [change("m4", 3, pinned=True), used(1, 18, "m6")]),
        (lambda now: restored(home, now), [change("m5", 12, 9, status="superseded")]),
        (lambda now: applied(home, now), [landed("m6", 4, importance=1.0), *LOG[::4]]),
    ]
    for day, (act, rows) in enumerate(acts, start=10):
        act(at(day, 5))
        home.drop("news.jsonl", jsonl(rows))
        home.nightly(at(day + 1))
        if IS_THOROUGH or day in (11, 13):
            assert home.hashes() == rebuilt_hashes(home, at(day + 1))
    was = home.hashes()
    home.nightly(at(14), full=True)
    assert home.hashes() == was
    did = home.rows("SELECT action, count(*) AS n FROM forgetting_audit GROUP BY action ORDER BY action")
    assert {row["action"]: row["n"] for row in did} == {"archived": 6, "held": 1, "restored": 4}


@pytest.mark.slow
def test_as_of_before_the_command_nothing_has_happened(home):
    before = home.hashes(told_anew(home, NOW))
    history = home.table("memory_health_history")
    applied(home, NOW)
    held(home, NOW, "m3")
    home.nightly(NEXT_NIGHT)
    assert status(home, told_anew(home, at(10, 6)))["m1"] == "archived"
    assert home.hashes(told_anew(home, NOW)) == before
    assert status(home, told_anew(home, NOW))["m1"] == "active"
    past = [row for row in home.table("memory_health_history") if row["day"] < NIGHT.date()]
    assert past == history


@pytest.mark.slow
def test_a_hold_counts_from_its_time_on(home):
    held(home, NOW, "m1")
    is_held = "SELECT memory_id FROM memory_health WHERE is_held"
    at_that_time = told_anew(home, NOW)
    assert home.rows(is_held, at_that_time) == []
    assert "m1" in planned(home, at_that_time)
    later = told_anew(home, at(10, 5.5))
    assert home.rows(is_held, later) == [{"memory_id": "m1"}]
    assert "m1" not in planned(home, later)
    assert ("m1", "held since the publish") in applied(home, at(10, 6)).skipped
    released(home, at(10, 7), "m1")
    assert home.rows(is_held, told_anew(home, at(10, 6.5))) == [{"memory_id": "m1"}]
    assert home.rows(is_held, told_anew(home, at(10, 8))) == []


# A producer exports all its memories each night. What it says of an archived one, and what holds then.
EXPORTS: dict[str, tuple[Row, str]] = {
    "the rows of before": (landed("m1", 0), "archived"),
    "a new version of a change before": (landed("m1", 0, recorded_at=at(10, 8), importance=0.5), "archived"),
    "tonight's, without a status": (change("m1", 10, 20, content=text_of("m1"), project="shop"), "archived"),
    "tonight's, said to be active": (landed("m1", 10, 20), "active"),
}


@pytest.mark.parametrize("export", some(EXPORTS, 2))
def test_only_a_later_change_that_states_a_status_brings_a_memory_back(home, export):
    row, wanted = EXPORTS[export]
    applied(home, NOW)
    home.drop("export.jsonl", jsonl([row]))
    home.nightly(NEXT_NIGHT)
    assert status(home)["m1"] == wanted
    # nothing hides that it came back: the audit still says archived, the history says when, and the plan asks again
    assert home.rows("SELECT count(*) AS n FROM forgetting_audit WHERE target = 'm1' AND action = 'archived'") == [
        {"n": 1}
    ]
    said = home.rows("SELECT status FROM memory_health_history WHERE memory_id = 'm1' ORDER BY day")
    assert said[-1]["status"] == wanted
    assert ("m1" in planned(home)) == (wanted == "active")
    back = restored(home, at(11, 5))
    skipped = [("m1", "its status was set to active by nobody named after it was archived")]
    assert [pair for pair in back.skipped if pair[0] == "m1"] == (skipped if wanted == "active" else [])


# -------------------------------------------------------------------------------------------------------- the future

FUTURE: dict[str, Row] = {
    "a change to come": change("m3", 10, 12, status="archived", pinned=True),
    "a memory to come": landed("m9", 10, 0),
    "a use to come": used(10, 9, "m1", memories_used=["m2"]),
    "a use written down later": used(9, 9, "m1", recorded_at=at(10, 1)),
    "a pin written down later": change("m1", 5, pinned=True, recorded_at=at(10)),
    "another version of a use": used(8, 12, "m1", "m2", recorded_at=at(10, 12)),
}


def test_what_is_to_come_counts_for_nothing_until_then(home):
    before = home.hashes()
    home.drop("future.jsonl", jsonl(list(FUTURE.values())))
    home.nightly(NIGHT, full=True)
    assert home.hashes() == before


@pytest.mark.slow
@pytest.mark.parametrize("news", some(FUTURE, 2))
def test_it_counts_when_it_comes(home, published, news):
    row = FUTURE[news]
    known_at = max(event_time(row), row.get("recorded_at", event_time(row)))
    home.drop("future.jsonl", jsonl([row]))
    untouched = published.as_of(known_at)
    home.nightly(known_at)
    assert home.hashes() == published.hashes(untouched)
    home.nightly(known_at + timedelta(microseconds=1))
    assert home.table("memory_health") != published.table("memory_health", untouched)


@pytest.mark.slow  # as before a command above
def test_the_plan_of_a_night_stays_what_it_was_whatever_came_later(home):
    before, plan = home.hashes(), home.table("forgetting_plan")
    assert plan
    applied(home, NOW)
    home.drop("later.jsonl", jsonl(list(FUTURE.values())))
    home.nightly(NEXT_NIGHT)
    held(home, at(11, 1), "m0")
    restored(home, at(11, 2))
    home.nightly(at(13))
    path = told_anew(home, NIGHT)
    assert home.table("forgetting_plan", path) == plan
    assert home.hashes(path) == before


# ------------------------------------------------------------------------------------------------------------- fading


_WATCHED = ("episodic", "knowledge", "identity")


@pytest.mark.slow
def test_memories_fade_when_it_was_said(new_home):
    """Fading with the half-lives of the product, across a leap day and years in which nothing happens.

    Of each type one memory was watched for years: it is told no further ahead.
    """
    home = new_home()
    log = [
        *[landed(name, -14_000, memory_type=name) for name in _WATCHED],
        used(-14_000, 9),
        landed("once", 9, 23, memory_type="episodic"),  # on the leap day
        landed("often", 0, memory_type="knowledge", importance=0.3),
        landed("long", 0, memory_type="identity", importance=1.0),
        landed("pinned", 0, pinned=True),
        *[used(day, 9, "often", "long") for day in (1, 2, 3, 8, 9, 10)],
    ]
    home.drop("log.jsonl", jsonl(log))
    home.nightly(at(11))
    said = {row["memory_id"]: row["fades_at"] for row in home.rows("SELECT memory_id, fades_at FROM memory_health")}
    assert said.pop("pinned") is None
    assert all(said.pop(name) < at(0) for name in _WATCHED)
    assert said["once"] < at(366) < said["often"] < said["long"]
    assert said["long"] > at(4 * 365)
    for memory_id, fades_at in said.items():
        if memory_id == "often" and not IS_THOROUGH:
            continue
        assert fades_at == fades_at.replace(hour=0, minute=0, second=0, microsecond=0)
        for night, is_faded in ((fades_at - timedelta(days=1), False), (fades_at, True)):
            rows = home.rows(
                "SELECT memory_id, fades_at, strength, strength_state FROM memory_health", home.as_of(night)
            )
            told = {row["memory_id"]: row for row in rows}
            assert (told[memory_id]["strength"] < 0.1) == is_faded
            assert (told[memory_id]["strength_state"] == "forgettable") == is_faded
            assert {name: told[name]["fades_at"] for name in said} == said
            assert told["pinned"]["strength"] == 1
    home.nightly(at(365 * 30))
    rows = home.rows("SELECT memory_id, fades_at FROM memory_health WHERE fades_at IS NOT NULL")
    assert {row["memory_id"]: row["fades_at"] for row in rows if row["memory_id"] not in _WATCHED} == said
