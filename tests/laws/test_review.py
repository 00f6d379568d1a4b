"""Laws of review: the queue is a function of log, decisions and as_of, and nothing is decided by itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from rebuilds import rebuilt_hashes
from review_acts import STATED, item, reviewable_rows, said
from small_home import interaction, memory
from taught_rows import taught_rows

from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.report.details import review
from slowwave.flows.ask.connection import locked_connection
from slowwave.flows.decide.listed import listed_items
from tests.laws.deliveries import jsonl
from tests.laws.home import Home, Row

AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
TABLES = ("review_queue", "review_statements", "review_decisions", "observations")
LATE: list[Row] = [
    {
        "interaction_id": "late",
        "created_at": "2026-04-30T09:00:00Z",
        "project": "shop",
        "prompt": "?",
        "response": STATED,
    },
    {"memory_id": "d1", "changed_at": "2026-05-30T09:00:00Z", "importance": 0.5},
]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home(tmp_path_factory.mktemp("review") / "home")
    made.folder.mkdir()
    made.settings.params_file.write_text("reinforcement_delta = 0.02\n")
    made.drop("log.jsonl", jsonl(reviewable_rows()))
    made.nightly(AS_OF)
    return made


def tables(home: Home) -> dict[str, list[dict[str, Any]]]:
    return {name: home.table(name) for name in TABLES}


@pytest.mark.parametrize(
    "seed", [pytest.param(0, marks=pytest.mark.thorough), 1, pytest.param(2, marks=pytest.mark.thorough)]
)
def test_any_delivery_publishes_the_same_queue(published: Home, new_home: Callable[[], Home], seed: int) -> None:
    random, rows = Random(seed), reviewable_rows()
    random.shuffle(rows)
    cut = random.randint(1, len(rows) - 1)
    home = new_home()
    home.drop("first.jsonl", jsonl(rows[:cut]))
    if seed:
        home.nightly(AS_OF)
    home.drop("second.jsonl", jsonl([*rows[cut:], *rows[: cut // 2]]))
    home.nightly(AS_OF)
    assert tables(home) == tables(published)


@pytest.mark.slow
def test_after_decisions_and_late_rows_a_rebuild_tells_the_same(
    published: Home, copy_of: Callable[[Home], Home]
) -> None:
    home, now = copy_of(published), AS_OF + timedelta(hours=5)
    said(home, "promote", item(home, text=STATED)["item_id"], now=now)
    said(home, "reject", item(home, about="wait")["item_id"], now=now + timedelta(seconds=1))
    said(home, "merge", item(home, kind="merge")["item_id"], now=now + timedelta(seconds=2))
    home.nightly(AS_OF + timedelta(days=1))
    home.drop("late.jsonl", jsonl(LATE))
    home.nightly(AS_OF + timedelta(days=1))
    assert len(home.table("review_decisions")) == 3
    assert rebuilt_hashes(home, AS_OF + timedelta(days=1)) == home.hashes()


@pytest.mark.slow
def test_a_decision_counts_from_when_it_was_made(published: Home, copy_of: Callable[[Home], Home]) -> None:
    home, now = copy_of(published), AS_OF + timedelta(hours=5)
    item_id = item(home, text=STATED)["item_id"]
    said(home, "promote", item_id, now=now)

    def told(as_of: datetime) -> tuple[bool, int]:
        shutil.rmtree(home.settings.serving / "as_of", ignore_errors=True)
        path = home.as_of(as_of)
        waits = home.rows("SELECT item_id FROM review_queue", path)
        return {"item_id": item_id} in waits, len(home.rows("SELECT decision_id FROM review_decisions", path))

    assert told(now) == (True, 0)
    assert told(now + timedelta(microseconds=1)) == (False, 1)


def test_nightly_decides_nothing(published: Home, copy_of: Callable[[Home], Home]) -> None:
    home = copy_of(published)
    before = home.rows("SELECT memory_id, status FROM memory_health ORDER BY memory_id")
    home.nightly(AS_OF + timedelta(days=1))
    assert home.rows("SELECT memory_id, status FROM memory_health ORDER BY memory_id") == before
    assert home.table("review_decisions") == []
    assert not home.lake.files("decisions")


def test_the_terminal_the_recipe_and_the_report_list_the_queue_in_one_order(new_home: Callable[[], Home]) -> None:
    home, days = new_home(), range(1, 22)
    given = {"memories_used": ["ignored"], "response": "Done!"}
    ignored = [interaction(f"k{day}", created_at=f"2026-03-{day:02}", **given) for day in days]
    instruction = memory("ignored", memory_type="instruction", content="Avoid exclamation marks.")
    home.drop("log.jsonl", jsonl([*reviewable_rows(), *taught_rows(), instruction, *ignored]))
    home.nightly(AS_OF)
    queue = home.rows("SELECT item_id, kind, memory_ids, rank_score FROM review_queue ORDER BY rank")
    first = [(row["kind"], row["memory_ids"]) for row in queue[:3]]
    assert first == [("harmful", ["bad advice"]), ("ignored", ["ignored"]), ("unused", ["unused"])]
    assert queue[0]["rank_score"] < queue[1]["rank_score"] < queue[2]["rank_score"]  # by evidence alone: the reverse
    ids = [row["item_id"] for row in queue]
    listed = listed_items(home.settings, None, None)
    assert [row[listed.names.index("item_id")] for row in listed.rows] == ids
    with locked_connection(home.current) as connection:
        answers = Answers(connection)
        assert answers.rows("review_queue", int(ALL))["item_id"].to_list() == ids
        shown = [item.command.rpartition(" ")[2] for item in review(answers).lists[0].items]
    assert len(shown) > 2
    assert shown == ids[: len(shown)]
