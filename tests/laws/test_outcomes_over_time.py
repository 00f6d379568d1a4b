"""Laws 2 and 3 for outcomes: what comes late changes what it should and no more; nothing counts before it is known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from tests.laws.deliveries import START, jsonl
from tests.laws.home import DECIDED, PUBLISHED, Home
from tests.laws.model import Row

HOUR = timedelta(hours=1)
AS_OF = START + timedelta(days=18)
SAYS = "Run the narrowest test first"


def tried(number: int, strategy: str, **fields: object) -> Row:
    """An attempt every eight hours, in turn with others; each fifth is reported two days later."""
    at = START + 8 * HOUR * number
    late = {"recorded_at": at + timedelta(days=2)} if number % 5 == 0 else {}
    fails = strategy == "skip the tests" and number % 6 > 0
    error = {"error_message": f"{number} tests failed"} if fails else {}
    about = {"outcome_id": f"{strategy} {number}", "created_at": at, "agent": "coder", "task_type": "build"}
    return {**about, "strategy": strategy, "success": not fails, **error, **late, **fields}


TURNED = tried(9, "run the tests", outcome_id="turned")
ECHO = {
    "interaction_id": "i1", "created_at": START + HOUR, "project": "", "prompt": "?", "response": f"{SAYS}.",
    "chunks_used": ["handbook#1"],
}  # fmt: skip
LOG: list[Row] = [
    {"memory_id": "rule", "changed_at": START, "content": SAYS, "status": "active", "confidence": 0.5},
    ECHO,
    {"outcome_id": "of i1", "interaction_id": "i1", "created_at": START + HOUR, "success": True},
    *[tried(number, strategy) for number in range(48) for strategy in ("run the tests", "skip the tests")],
    tried(5, "ask first", outcome_id="asked", task_type="release", success=True),
    TURNED,
    TURNED | {"success": False, "recorded_at": TURNED["created_at"] + timedelta(days=4)},  # wins from then on
]  # fmt: skip


def known_at(row: Row) -> datetime:
    """When a row of the log above is known."""
    event = row.get("created_at") or row["changed_at"]
    return max(event, row.get("recorded_at", event))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("outcomes") / "home")
    home.drop("log.jsonl", jsonl(LOG))
    home.nightly(AS_OF)
    assert all(
        home.table(name)
        for name in PUBLISHED
        if name not in {*DECIDED, "stale_injections", "scope_leaks", "instruction_checks"}
    )
    return home


@pytest.fixture
def copied(published: Home, copy_of: Callable[[Home], Home]) -> Home:
    return copy_of(published)


def counts(home: Home) -> dict[str, tuple[int, int]]:
    """Attempts and successes by strategy; of `rule` the uses in successes and failures."""
    found = home.rows("SELECT project || strategy, attempts, successes FROM heuristics")
    ends = home.rows("SELECT memory_id, confirmed_count, contradicted_count FROM memory_health")
    return {name: (first, second) for name, first, second in (tuple(row.values()) for row in [*found, *ends])}


RUN, SKIP = "run the tests", "skip the tests"
BEFORE = {RUN: (49, 48), SKIP: (48, 8), "ask first": (1, 1), "rule": (1, 0)}
# What comes after the publish, and what it makes of the counts: nothing where it is not seen
NEWS: dict[str, tuple[list[Row], dict[str, tuple[int, int]]]] = {
    "the same rows, shuffled": (LOG[::-2], {}),
    "an older version": ([TURNED | {"recorded_at": TURNED["created_at"] + HOUR, "attempted": False}], {}),
    "a version not yet written": ([TURNED | {"recorded_at": AS_OF}], {}),
    "an outcome reported later": ([tried(3, RUN, outcome_id="told later", recorded_at=AS_OF)], {}),
    "an outcome that took until then": ([tried(3, RUN, outcome_id="long", duration_ms=1e3 * 86_400 * 17)], {}),
    "an outcome of as_of": ([tried(3, RUN, outcome_id="to come", created_at=AS_OF)], {}),
    "a late outcome": ([tried(3, RUN, outcome_id="new")], {RUN: (50, 49)}),
    "a late failure": ([tried(3, RUN, outcome_id="new", success=False)], {RUN: (50, 48)}),
    "another wording": ([tried(3, "Running the tests!", outcome_id="new")], {RUN: (50, 49)}),
    "a new strategy": ([tried(3, "sleep on it", outcome_id="new")], {"sleep on it": (1, 1)}),
    "a version that succeeded": ([TURNED | {"recorded_at": AS_OF - HOUR}], {RUN: (49, 49)}),
    "a version that was no attempt": ([TURNED | {"recorded_at": AS_OF - HOUR, "attempted": False}], {RUN: (48, 48)}),
    "a version of another strategy": (
        [TURNED | {"recorded_at": AS_OF - HOUR, "strategy": SKIP}],
        {RUN: (48, 48), SKIP: (49, 9)},
    ),
    "a version on another day": (
        [TURNED | {"recorded_at": AS_OF - HOUR, "created_at": START + 60 * HOUR}],
        {RUN: (49, 49)},
    ),
    "a version of another project": (
        [TURNED | {"recorded_at": AS_OF - HOUR, "project": "lab: "}],
        {RUN: (48, 48), f"lab: {RUN}": (1, 1)},
    ),
    "a later attempt at the interaction, which failed": (
        [{"outcome_id": "of i1 too", "interaction_id": "i1", "created_at": START + 2 * HOUR, "success": False}],
        {"rule": (0, 1)},
    ),
    "an earlier attempt at it": (
        [{"outcome_id": "of i1 too", "interaction_id": "i1", "created_at": START, "success": False}],
        {},
    ),
}  # fmt: skip
NOT_SEEN = {name for name, (_, changed) in NEWS.items() if not changed} - {"an earlier attempt at it"}
NEWS["all that is not seen"] = ([row for name in NEWS if name in NOT_SEEN for row in NEWS[name][0]], {})
NOT_SEEN.add("all that is not seen")

# what is seen costs a publish: the rest differ from these by what they change
TOLD_APART = {
    "all that is not seen",
    "a version that was no attempt",
    "a version of another project",
    "a later attempt at the interaction, which failed",
    "an earlier attempt at it",
}


@pytest.mark.parametrize(
    "news",
    [news if news in TOLD_APART else pytest.param(news, marks=pytest.mark.thorough) for news in NEWS],
)
def test_an_outcome_changes_exactly_what_it_should(copied, news):
    rows, changed = NEWS[news]
    assert counts(copied) == BEFORE
    copied.drop("news.jsonl", jsonl(rows))
    result = copied.nightly(AS_OF)
    assert counts(copied) == BEFORE | changed
    before, after = copied.ledger()
    is_seen = news not in NOT_SEEN
    assert result.status == ("published" if is_seen else "skipped")
    assert (before["input_hash"] != after["input_hash"]) == is_seen
    assert result.built == []  # outcomes join at publish


@pytest.mark.slow
def test_an_outcome_without_a_project_follows_its_interaction(copied):
    told = {"outcome_id": "new", "interaction_id": "i1", "created_at": START, "strategy": RUN, "success": True}
    copied.drop("news.jsonl", jsonl([told]))
    copied.nightly(AS_OF)
    agent = "SELECT project, agent FROM counted_outcomes WHERE outcome_id = 'new'"
    assert copied.rows(agent) == [{"project": "", "agent": ""}]
    copied.drop("moved.jsonl", jsonl([ECHO | {"project": "lab", "agent": "planner", "recorded_at": AS_OF - HOUR}]))
    copied.nightly(AS_OF)
    assert copied.rows(agent) == [{"project": "lab", "agent": "planner"}]


# midnights, the moment TURNED is told and told anew (then it is not known yet), and one microsecond later
INSTANTS = [
    pytest.param(START + timedelta(days=1), marks=pytest.mark.thorough),
    pytest.param(TURNED["created_at"], marks=pytest.mark.thorough),
    TURNED["created_at"] + timedelta(days=4),
    TURNED["created_at"] + timedelta(days=4, microseconds=1),
    pytest.param(START + timedelta(days=11, hours=13), marks=pytest.mark.thorough),
]


@pytest.mark.slow
@pytest.mark.parametrize("instant", INSTANTS, ids=str)
def test_a_publish_as_of_then_is_the_publish_made_then(published, copied, new_home, instant):
    then = new_home()
    known = [row for row in LOG if known_at(row) < instant]
    then.drop("log.jsonl", jsonl(known))
    then.nightly(instant)
    told = {row["outcome_id"]: row["success"] for row in known if "outcome_id" in row}  # the latest version comes last
    query = "SELECT outcome_id, success FROM counted_outcomes"
    assert {row["outcome_id"]: row["success"] for row in then.rows(query)} == told
    assert copied.hashes(copied.as_of(instant)) == then.hashes()
    assert copied.hashes() == published.hashes()
    copied.nightly(instant)
    assert copied.hashes() == then.hashes()
    assert copied.rows("SELECT max(known_at) < any_value(as_of) AS ok FROM counted_outcomes") == [{"ok": True}]
