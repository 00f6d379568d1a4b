"""Law 2: what comes late rebuilds exactly the days it touches, and says why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from thorough import some

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.lake import lake as lake_module
from slowwave.flows.nightly.nightly import make_plan, start_run
from slowwave.transforms.landing.tables import LANDED
from tests.laws.deliveries import START, jsonl
from tests.laws.home import Home
from tests.laws.model import Row

AS_OF = START + timedelta(days=6)
LONG = "When a deployment fails twice in a row, stop and read the log before anything is tried a third time"
LATER = START + timedelta(days=20)  # recorded after AS_OF


def at(day: int, hour: int = 0) -> datetime:
    return START + timedelta(days=day, hours=hour)


def interaction(day: int, hour: int, project: str = "shop", **fields: object) -> Row:
    key = {"interaction_id": f"{project}-{day}-{hour}", "created_at": at(day, hour), "project": project}
    return {**key, "prompt": "What now?", "response": f"Well: {LONG}. Run the narrowest test.", **fields}


def change(memory_id: str, changed_at: datetime, **fields: object) -> Row:
    return {"memory_id": memory_id, "changed_at": changed_at, **fields}


ACTIVE = {"status": "active", "project": "shop"}
LOG: list[Row] = [
    *[interaction(day, hour) for day in range(5) for hour in (6, 11, 13, 18)],
    interaction(1, 12, project="lab"),
    change("rule", at(-1), content=LONG, confidence=0.5, **ACTIVE),
    change("test", at(-1), content="Run the narrowest test", **ACTIVE),
    change("test", at(1, 12), content="Run the broadest test"),
    change("test", at(3, 12), content="Run every single test"),
    change("elsewhere", at(-1), content="Nobody works here any more", status="active", project="closed"),
    change("in lab", at(-1), content="Label every single flask", status="active", project="lab"),
    change("global", at(-1), content="The owner likes short answers", status="active", memory_type="preference"),
    {"outcome_id": "o1", "created_at": at(2), "success": True},
]

ROWS, MEMORIES = "rows changed", "memories changed"
CASES: dict[str, tuple[list[Row], dict[int, str]]] = {
    "a late interaction": ([interaction(2, 9)], {2: ROWS}),
    "a late interaction of a new day": ([interaction(5, 9)], {5: "new day"}),
    "an interaction moves two days on": (
        [interaction(1, 6, created_at=at(3, 7), recorded_at=at(3, 8))],
        {1: ROWS, 3: ROWS},
    ),
    "the only one of a new day moves away from an old one": (
        [interaction(4, 6, created_at=at(5, 7), recorded_at=at(5, 8))],
        {4: ROWS, 5: "new day"},
    ),
    "a version that loses": ([interaction(1, 6, response="An older draft", recorded_at=at(0))], {}),
    "a version on another day that loses": (
        [interaction(1, 6, created_at=at(3, 7), recorded_at=at(0), response="An older draft")],
        {},
    ),
    "a version not yet written": ([interaction(1, 6, response="Later", recorded_at=LATER)], {}),
    "a row not yet happened": ([interaction(30, 6)], {}),
    "an outcome": ([{"outcome_id": "o2", "created_at": at(2), "success": False}], {}),
    "another content from noon": (
        [change("rule", at(2, 12), content="Read the log before trying a second time")],
        {2: MEMORIES, 3: MEMORIES, 4: MEMORIES},
    ),
    "another content after the last interaction of a day": (
        [change("rule", at(2, 23), content="Read the log before trying a second time")],
        {3: MEMORIES, 4: MEMORIES},
    ),
    "superseded from midnight": ([change("rule", at(3), status="superseded")], {3: MEMORIES, 4: MEMORIES}),
    "inactive for a night": (
        [change("rule", at(2, 19), status="archived"), change("rule", at(3, 5), status="active")],
        {},
    ),
    "between two changes": (
        [change("test", at(2, 12), content="Run no test at all, never")],
        {2: MEMORIES, 3: MEMORIES},
    ),
    "a newer version of a change": (
        [change("test", at(1, 12), content="Run no test at all, never", recorded_at=at(4))],
        {1: MEMORIES, 2: MEMORIES, 3: MEMORIES},
    ),
    "expired from noon": (
        [change("test", at(0, 12), expires_at=at(2, 12))],
        {2: MEMORIES, 3: MEMORIES, 4: MEMORIES},
    ),
    "expired after the last interaction": ([change("rule", at(0), expires_at=at(4, 19))], {}),
    "expired for a day and a half": (
        [change("rule", at(0), expires_at=at(2, 12)), change("rule", at(4), expires_at=at(9))],
        {2: MEMORIES, 3: MEMORIES},
    ),
    "an expiry that has not come": ([change("rule", at(0), expires_at=AS_OF)], {}),
    "a project with interactions on one day": ([change("in lab", at(0, 12), status="invalid")], {1: MEMORIES}),
    "a project without interactions": ([change("elsewhere", at(0, 12), content="Somebody does work here")], {}),
    "a global memory": ([change("global", at(3, 12), status="archived")], {3: MEMORIES, 4: MEMORIES}),
    "a global memory that becomes a project's": (
        [change("global", at(3, 12), project="closed")],
        {3: MEMORIES, 4: MEMORIES},
    ),
    "a new memory of before the log": (
        [change("new", at(-3), content="Somebody wrote this long ago", **ACTIVE)],
        dict.fromkeys(range(5), MEMORIES),
    ),
    "a candidate": ([change("new", at(-3), content="Somebody wrote this long ago", project="shop")], {}),
    "confidence alone": ([change("rule", at(2, 12), confidence=0.9)], {}),
    "importance, reason and author alone": (
        [change("rule", at(2, 12), importance=0.9, reason="matters", changed_by="someone")],
        {},
    ),
    "content beyond the first 80 code points": (
        [change("rule", at(2, 12), content=LONG[:80] + " I forgot")],
        {2: MEMORIES, 3: MEMORIES, 4: MEMORIES},
    ),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Five days, landed and published."""
    home = Home(tmp_path_factory.mktemp("repairs") / "home")
    home.drop("log.jsonl", jsonl(LOG))
    first = home.nightly(AS_OF)
    assert {day.day: day.reason for day in first.built} == {at(day).date(): "new day" for day in range(5)}
    return home


@pytest.fixture
def copied(published: Home, copy_of: Callable[[Home], Home]) -> Home:
    return copy_of(published)


@pytest.mark.parametrize("case", CASES)
def test_exactly_the_days_touched_are_planned(copied, case):
    rows, expected = CASES[case]
    copied.drop("late.jsonl", jsonl(rows))
    copied.land_inbox()
    plan = make_plan(start_run(copied.settings, "nightly"), AS_OF)
    assert {(day.day - START.date()).days: day.reason for day in plan.to_build} == expected


@pytest.mark.slow
@pytest.mark.parametrize("case", some(CASES, 3))
def test_exactly_the_days_touched_are_rebuilt(copied, new_home, case):
    rows, expected = CASES[case]
    copied.drop("late.jsonl", jsonl(rows))
    result = copied.nightly(AS_OF)
    assert {(day.day - START.date()).days: day.reason for day in result.built} == expected
    rebuilt = new_home()
    rebuilt.drop("all.jsonl", jsonl([*reversed(LOG), *rows]))
    rebuilt.nightly(AS_OF)
    assert copied.hashes() == rebuilt.hashes()


def test_a_change_is_published_whatever_it_rebuilds(copied):
    rows = [change("rule", at(2, 12), confidence=0.9, content=LONG + "."), change("elsewhere", at(2), status="invalid")]
    copied.drop("late.jsonl", jsonl(rows))
    assert copied.nightly(AS_OF).status == "published"
    health = {row["memory_id"]: row for row in copied.table("memory_health")}
    assert health["rule"]["content"] == f"{LONG}."
    assert health["rule"]["reinforced_confidence"] == 1.0
    assert health["elsewhere"]["status"] == "invalid"


@pytest.mark.slow
def test_repeats_and_compaction_rebuild_nothing(copied):
    copied.drop("again.jsonl", jsonl(list(reversed(LOG))))
    assert copied.nightly(AS_OF).status == "skipped"
    for hour in (7, 8, 9):
        copied.drop("late.jsonl", jsonl([interaction(2, hour), *LOG[hour:]]))
        copied.nightly(AS_OF)
    with patch.object(lake_module, "COMPACT_FROM_FILES", 2):
        assert sum(copied.lake.compact(t, day) for t in LANDED for day in copied.lake.files(t.name)) == 4
    again = copied.nightly(AS_OF)
    assert (again.status, again.built) == ("skipped", [])


@pytest.mark.slow
def test_as_of_through_a_day_builds_that_day_alone(copied):
    copied.nightly(at(2, 12))
    result = copied.nightly(at(2, 15))
    assert [day.day for day in result.built] == [at(2).date()]
    assert copied.nightly(AS_OF).built == []


def test_another_way_of_echo_rebuilds_every_day(copied):
    copied.settings.params_file.write_text("[evidence]\necho_code_points = 40\n")
    result = copied.nightly(AS_OF)
    assert {day.day: day.reason for day in result.built} == {at(day).date(): "params changed" for day in range(5)}


def test_another_reinforcement_rebuilds_no_day(copied):
    copied.settings.params_file.write_text("reinforcement_delta = 0.01\n")
    result = copied.nightly(AS_OF)
    assert (result.status, result.built) == ("published", [])
    health = {row["memory_id"]: row["reinforced_confidence"] for row in copied.table("memory_health")}
    assert health["rule"] == 0.5 + 0.01 * 20


def test_a_lost_partition_is_built_again(copied):
    (lost,) = Path(copied.settings.lake).glob(f"evidence/memory_days/day={at(2).date()}/*.parquet")
    content = lost.read_bytes()
    lost.unlink()
    result = copied.nightly(AS_OF + timedelta(hours=1))
    assert [(day.day, day.reason) for day in result.built] == [(at(2).date(), "its partition is missing")]
    assert lost.read_bytes() == content


def test_a_damaged_partition_is_named_with_what_builds_it_again(copied):
    (damaged,) = Path(copied.settings.lake).glob(f"evidence/memory_references/day={at(2).date()}/*.parquet")
    content, current = damaged.read_bytes(), copied.current
    damaged.write_bytes(content[:40])
    with pytest.raises(UserError, match="is damaged: `slowwave nightly --full` builds it again"):
        copied.nightly(AS_OF + timedelta(hours=1))
    assert copied.current == current
    copied.nightly(AS_OF + timedelta(hours=1), full=True)
    assert damaged.read_bytes() == content
