"""Whose memory it is: what is told of a user's or an agent's memory follows from their own interactions."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from typing import Any

import duckdb
import polars as pl
import pytest
from small_home import interaction, memory
from thorough import IS_THOROUGH

from slowwave.flows.ask.why.lookup import Publish
from slowwave.transforms.landing.schema_changes import as_before, from_extra
from slowwave.transforms.landing.tables import Memories
from tests.laws.home import Home, Row

START = datetime(2026, 3, 2)  # noqa: DTZ001 - times are naive and hold UTC everywhere
# Forty rounds of asking, each a day long in `make test-all`: a night takes as long as the days it builds are many.
ROUND = timedelta(days=1) if IS_THOROUGH else timedelta(hours=6)
ROUNDS = 40
AS_OF = START + ROUNDS * ROUND
HERS, OURS = "Prefer the narrow index over the wide one", "Deploy on Tuesdays after the backup"
OFFERED = [{"id": "hers", "rank": 1, "score": 0.9}]


def at(turn: float) -> str:
    return f"{(START + turn * ROUND).isoformat()}Z"


def asked(user: str | None, agent: str, turn: int) -> Row:
    """Once a round; ada's are given her memory by the toss of a coin, and fail with it."""
    is_given = user == "ada" and turn % 2 == 0
    return interaction(
        f"{user} {agent} {turn}",
        created_at=at(turn + (0.3 if user == "ada" else 0.6)),
        project="depot",
        agent=agent,
        user_id=user,
        session_id=f"{user} {turn}",
        memories_offered=OFFERED if user == "ada" else None,
        memories_used=["hers"] if is_given else [],
        injection_probability=0.5 if user == "ada" else None,
        response=f"{HERS}. {OURS}." if turn % 3 else "Done.",
        task_type="deploy",
        strategy="as always",
        success=turn % 8 == 0 if is_given else turn % 10 > 0,
    )


MEMORIES = [
    memory("hers", changed_at=at(-1), project="depot", content=HERS, user_id="ada", memory_type="preference"),
    memory("coder's", changed_at=at(-1), project="depot", content=HERS, scope="agent", agent="coder"),
    memory("all", changed_at=at(-1), project="depot", content=OURS),
    memory("passed on", changed_at=at(-1), project="depot", content=OURS, user_id="ada", tags=["a"]),
    {"memory_id": "passed on", "changed_at": at(20), "user_id": "bob"},
    {"memory_id": "passed on", "changed_at": at(30), "scope": "agent", "agent": "helper", "user_id": ""},
    memory("theirs everywhere", changed_at=at(-1), project="attic", scope="global", user_id="bob", content=OURS),
]
OF_ADA = [asked("ada", "coder", turn) for turn in range(ROUNDS)]
OF_OTHERS = [asked(user, agent, turn) for turn in range(ROUNDS) for user, agent in (("bob", "helper"), (None, "coder"))]


def published(home: Home, rows: list[Row], as_of: datetime = AS_OF) -> dict[str, Row]:
    home.drop("rows.jsonl", "\n".join(map(json.dumps, rows)).encode())
    home.nightly(as_of)
    return {row["memory_id"]: row for row in home.table("memory_health")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, dict[str, Row]]:
    home = Home(tmp_path_factory.mktemp("users") / "home")
    return home, published(home, [*MEMORIES, *OF_ADA, *OF_OTHERS])


def test_a_memory_counts_in_the_interactions_of_those_it_is_of(whole):
    _, health = whole
    counts = {memory_id: row["eligible_count"] for memory_id, row in health.items()}
    # ada's 20 rounds, bob's 10, and the helper's (who is bob's) 10
    assert counts == {"hers": 40, "coder's": 80, "all": 120, "passed on": 40, "theirs everywhere": 40}
    echoes = {memory_id: row["echoed_count"] for memory_id, row in health.items()}
    assert echoes == {"hers": 26, "coder's": 52, "all": 78, "passed on": 26, "theirs everywhere": 26}


def test_every_count_is_explained_by_as_many_interactions(whole):
    home, health = whole
    with duckdb.connect(home.current, read_only=True) as connection:
        publish = Publish(connection, home.lake.root, home.current.stem)
        for memory_id, row in health.items():
            told = publish.memory(memory_id)
            assert told is not None
            assert told["problem"] == ""
            assert len(told["eligible"]) == row["eligible_count"]
            assert len(told["references"]) == row["reference_count"]
            assert len(told["confirmed"]) == row["confirmed_count"]


OF_USE = ("lift", "lift_low", "lift_high", "lift_basis", "lift_note", "is_harmful", "lost_successes", "trend",
          "need_30d", "need_if_active", "strength", "verdict", "eligible_count", "reference_count")  # fmt: skip


@pytest.mark.slow
def test_what_other_users_do_changes_nothing_of_a_users_memory(whole, new_home):
    _, health = whole
    alone = published(new_home(), [*MEMORIES[:1], *OF_ADA])["hers"]
    users = range(3) if IS_THOROUGH else ()
    crowd = [asked(f"user {n}", "coder", turn) for turn in range(ROUNDS) for n in users]
    crowded = published(new_home(), [*MEMORIES[:1], *OF_ADA, *OF_OTHERS, *crowd])["hers"]
    assert alone["lift_basis"] == "randomised"
    assert alone["lift_high"] < 0
    for name in OF_USE:
        assert crowded[name] == alone[name], name
    assert health["hers"]["lift_basis"] == "randomised"


@pytest.mark.slow
def test_replay_is_exact_with_late_changes_of_user_and_scope(whole, new_home):
    at_once, _ = whole
    rows: list[dict[str, Any]] = [*MEMORIES, *OF_ADA, *OF_OTHERS]
    shuffled = random.Random(3).sample(rows, len(rows))
    home = new_home()
    nights = [START + turn * ROUND for turn in ((25, 33) if IS_THOROUGH else (12,))]
    for number, as_of in enumerate((*nights, AS_OF)):
        home.drop(f"{number}.jsonl", "\n".join(map(json.dumps, shuffled[number :: len(nights) + 1])).encode())
        home.nightly(as_of)
    assert home.hashes() == at_once.hashes()
    home.nightly(AS_OF, full=True)
    assert home.hashes() == at_once.hashes()


@pytest.mark.slow
def test_a_change_of_user_rebuilds_the_days_it_touches_alone(whole, copy_of):
    home = copy_of(whole[0])
    home.drop("late.jsonl", json.dumps({"memory_id": "hers", "changed_at": at(35), "user_id": "bob"}).encode())
    night = home.nightly(AS_OF)
    assert [day.day for day in night.built] == sorted({(START + turn * ROUND).date() for turn in range(35, ROUNDS)})
    assert len(night.built) > 1
    (row,) = [row for row in home.table("memory_health") if row["memory_id"] == "hers"]
    assert row["eligible_count"] == 40
    tagged = {"memory_id": "hers", "changed_at": at(39), "tags": ["x"], "category": "style", "source": "explicit"}
    home.drop("tagged.jsonl", json.dumps(tagged).encode())
    assert home.nightly(AS_OF).built == []
    (row,) = [row for row in home.table("memory_health") if row["memory_id"] == "hers"]
    assert (row["tags"], row["category"], row["stated_confidence"]) == (["x"], "style", 1.0)


def test_the_released_method_still_counts_in_everybodys(new_home):
    home = new_home()
    home.folder.mkdir(parents=True)
    home.settings.params_file.write_text('[evidence]\neligible_method = "eligible/1"\n')
    health = published(home, [*MEMORIES, *OF_ADA[:5], *OF_OTHERS[:10]])
    counts = {memory_id: row["eligible_count"] for memory_id, row in health.items()}
    assert counts == {"hers": 15, "coder's": 15, "all": 15, "passed on": 15, "theirs everywhere": 0}
    (run,) = [row for row in home.table("runs") if row["status"] == "published"]
    assert "eligible/1" in run["methods"]


@pytest.mark.slow
def test_a_home_whose_fields_stood_in_extra_publishes_the_same(new_home):
    """As release 0.1.0 wrote memories: without these columns, and what they say in `extra`."""
    home = new_home()
    published(home, [*MEMORIES, *OF_ADA[:3], *OF_ADA[20:22], *OF_ADA[30:32], *OF_OTHERS[60:62]])
    before = home.hashes()
    for path in (home.lake.root / "memories").rglob("*.parquet"):
        rows = as_before(Memories, pl.read_parquet(path)).drop(c.name for c in from_extra(Memories))
        rows.write_parquet(path)
    (home.lake.root / "FORMAT").write_text("1\n")
    home.nightly(AS_OF, full=True)  # a partition that differs would stop it
    assert home.hashes() == before
    again = [*MEMORIES, *OF_ADA[:3]]
    home.drop("again.jsonl", "\n".join(map(json.dumps, again)).encode())
    assert [file.duplicate for file in home.land_inbox().files] == [len(again)]
