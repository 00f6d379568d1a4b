"""`slowwave review`: what is said lands once, as a decision and what follows from it, and can be taken back."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from review_acts import HOSTILE, STATED, item, items, landed, reviewable_rows, rows_of, said, states
from shared_homes import read_only_home
from small_home import SmallHome, interaction, memory
from thorough import some

from slowwave.flows.decide import decisions as deciding
from slowwave.flows.decide.review import WrongUseError
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake

AS_OF = datetime(2026, 6, 1)


@pytest.fixture(scope="module")
def template() -> SmallHome:
    return read_only_home(*reviewable_rows(), as_of=AS_OF)


@pytest.fixture
def home(template: SmallHome, tmp_path: Path) -> SmallHome:
    """A copy of it."""
    shutil.copytree(template.folder, tmp_path / "home", symlinks=True)
    return SmallHome(tmp_path / "home")


def test_every_kind_but_harm_is_there(home: SmallHome) -> None:
    kinds = items(home)["kind"].to_list()
    assert sorted(kinds) == ["candidate", "candidate", "candidate", "contradiction", "merge", "unused"]


def test_a_promoted_statement_is_a_memory_with_its_sources_and_waits_no_more(home: SmallHome) -> None:
    row = item(home, text=STATED)
    outcome = said(home, "promote", row["item_id"], reason="agreed")
    assert outcome.decided == [row["item_id"]]
    made = states(home)[row["item_id"]]
    assert (made["status"], made["content"], made["memory_type"], made["project"]) == (
        "active",
        STATED,
        "project",
        "shop",
    )
    assert made["source_ids"] == ["j1", "j2", "j3", "j4"]


# A publish takes longest: all that is settled waits no more after one. What stays is the hostile statement.
def test_what_was_settled_waits_no_more(home: SmallHome) -> None:
    row, merging = item(home, text=STATED), item(home, kind="merge")
    said(home, "promote", row["item_id"], reason="agreed")
    said(home, "reject", item(home, about="wait")["item_id"])
    said(home, "promote", item(home, kind="contradiction")["item_id"])
    said(home, "promote", item(home, kind="unused")["item_id"])
    said(home, "merge", merging["item_id"])
    said(home, "reject", merging["item_id"])
    home.nightly()
    assert items(home)["text"].to_list() == [HOSTILE]
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        decided = connection.sql("SELECT action, changed_by, reason, changed_ids FROM review_decisions").fetchall()
    assert ("promote", "ada", "agreed", [row["item_id"]]) in decided
    assert sorted((action, reason or "") for action, _, reason, _ in decided) == [
        ("merge", ""),
        *[("promote", "")] * 2,
        ("promote", "agreed"),
        *[("reject", "")] * 2,
    ]


def test_what_was_rejected_never_returns_however_often_it_is_said(home: SmallHome) -> None:
    said(home, "reject", item(home, text=STATED)["item_id"])
    said(home, "promote", item(home, about="wait")["item_id"])
    said(home, "reject", item(home, kind="contradiction")["item_id"], memory_id="c50")
    said(home, "reject", item(home, kind="merge")["item_id"])
    home.land(*[interaction(f"again{n}", created_at="2026-05-20T09:00:00Z", response=STATED) for n in range(9)])
    home.nightly()
    assert sorted(items(home).select("kind", "text").rows()) == [
        ("candidate", HOSTILE),
        ("unused", "The cellar has another door behind green shelves near the loading ramp."),
    ]


@pytest.mark.parametrize(("command", "status"), [("promote", "active"), ("reject", "invalid")])
def test_a_landed_candidate_is_settled_by_its_status(home: SmallHome, command: str, status: str) -> None:
    before = states(home)
    said(home, command, item(home, about="wait")["item_id"])
    assert states(home) == {**before, "wait": {**before["wait"], "status": status}}


def test_rejecting_a_contradiction_says_which_side_is_wrong(home: SmallHome) -> None:
    row, before = item(home, kind="contradiction"), states(home)
    wrong: list[dict[str, Any]] = [{}, {"memory_id": "d1"}]
    for options in wrong:
        with pytest.raises(WrongUseError, match="c50 or c60"):
            said(home, "reject", row["item_id"], **options)
    said(home, "reject", row["item_id"], memory_id="c50")
    assert states(home) == {**before, "c50": {**before["c50"], "status": "invalid"}}


def test_a_merge_supersedes_the_others_and_gathers_sources_and_the_highest_confidence(home: SmallHome) -> None:
    row, before = item(home, kind="merge"), states(home)
    assert row["target_memory_id"] == "d1"
    said(home, "merge", row["item_id"])
    assert states(home) == {
        **before,
        "d1": {**before["d1"], "source_ids": ["i1", "i2", "i3"], "confidence": 0.75},
        "d2": {**before["d2"], "status": "superseded", "superseded_by": "d1"},
    }
    said(home, "reject", row["item_id"])
    assert states(home) == before, "reject takes the merge back"


def test_a_merge_into_another_than_proposed(home: SmallHome) -> None:
    said(home, "merge", item(home, kind="merge")["item_id"], into="d2")
    now = states(home)
    assert (now["d1"]["status"], now["d1"]["superseded_by"]) == ("superseded", "d2")
    assert (now["d2"]["confidence"], now["d2"]["source_ids"]) == (0.75, ["i1", "i2", "i3"])


def test_a_candidate_merges_into_a_memory_that_says_it(home: SmallHome) -> None:
    row = item(home, text=STATED)
    said(home, "merge", row["item_id"], into="c60")
    now = states(home)
    assert (now[row["item_id"]]["status"], now[row["item_id"]]["superseded_by"]) == ("superseded", "c60")
    assert now["c60"]["source_ids"] == ["c60", "j1", "j2", "j3", "j4"], "without sources it is its own"


SETTLED = (("reject", "invalid"), ("promote", "active"))


@pytest.mark.parametrize(
    ("command", "status", "is_landed"),
    some([(*said, is_landed) for is_landed in (True, False) for said in SETTLED], 1),
)
def test_whatever_is_said_next_of_a_merged_candidate_its_target_loses_its_sources(
    home: SmallHome, command: str, status: str, *, is_landed: bool
) -> None:
    row, before = item(home, **({"about": "wait"} if is_landed else {"text": STATED})), states(home)
    said(home, "merge", row["item_id"], into="d2")
    merged = states(home)
    assert len(merged["d2"]["source_ids"]) > len(before["d2"]["source_ids"])
    home.nightly()
    assert said(home, command, row["item_id"]).decided == [row["item_id"]]
    candidate = "wait" if is_landed else row["item_id"]
    settled = {**merged[candidate], "status": status, "superseded_by": None}
    assert states(home) == {**before, candidate: settled}
    assert said(home, command, row["item_id"]).already == 1


def test_a_merged_candidate_merges_into_another_instead(home: SmallHome) -> None:
    row, before = item(home, text=STATED), states(home)
    said(home, "merge", row["item_id"], into="d1")
    said(home, "merge", row["item_id"], into="c60")
    now = states(home)
    assert (now["d1"], now[row["item_id"]]["superseded_by"]) == (before["d1"], "c60")
    assert now["c60"]["source_ids"] == ["c60", "j1", "j2", "j3", "j4"]


def test_a_merge_that_somebody_changed_since_is_not_taken_back(home: SmallHome) -> None:
    row = item(home, text=STATED)
    said(home, "merge", row["item_id"], into="d1")
    home.land({"memory_id": "d1", "changed_at": (utc_now() + timedelta(microseconds=1)).isoformat(), "pinned": True})
    assert said(home, "reject", row["item_id"]).skipped == [(row["item_id"], "d1 was changed since it was decided")]


def test_a_merge_is_taken_back_after_its_memories_expired(home: SmallHome) -> None:
    now, row, before = utc_now(), item(home, kind="merge"), states(home)

    def expiring(hours: int, expires_at: str) -> None:
        change = {"changed_at": f"{now + timedelta(hours=hours)}", "expires_at": expires_at}
        home.land(*({"memory_id": memory_id, **change} for memory_id in ("d1", "d2")))

    expiring(0, f"{now + timedelta(hours=1)}")
    said(home, "merge", row["item_id"])
    assert said(home, "reject", row["item_id"], now=now + timedelta(hours=2)).decided == [row["item_id"]]
    assert {states(home)[memory_id]["status"] for memory_id in ("d1", "d2")} == {"expired"}
    expiring(3, "")
    assert states(home) == before


def test_both_sides_of_a_pair_stay_after_a_merge_was_taken_back(home: SmallHome) -> None:
    row, before = item(home, kind="contradiction"), states(home)
    for commands in (("merge", "promote"), ("merge", "reject", "promote")):
        for command in commands:
            said(home, command, row["item_id"], into="c60" if command == "merge" else None)
        assert states(home) == before, commands


@pytest.fixture(scope="module")
def outdated_template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("outdated") / "home")
    later = "The API limit is 60 requests per minute for every client."
    made.land(
        memory("old", content=later.replace("60", "50"), source_ids=["i1"], changed_at="2026-05-20T08:00:00Z"),
        memory("new", content=later, source_ids=["i2"], changed_at="2026-05-25T08:00:00Z"),
        interaction("i1"),
    )
    made.nightly(AS_OF)
    return made


@pytest.fixture
def outdated(outdated_template: SmallHome, tmp_path: Path) -> SmallHome:
    """A home with two numbers of one limit, both in use."""
    shutil.copytree(outdated_template.folder, tmp_path / "home", symlinks=True)
    return SmallHome(tmp_path / "home")


def test_what_is_outdated_and_still_in_use_waits(outdated: SmallHome) -> None:
    (row,) = items(outdated).to_dicts()
    assert (row["kind"], row["memory_ids"], row["target_memory_id"]) == ("outdated", ["old", "new"], "new")
    assert row["reason"].startswith("The later one replaces the earlier, and both are in use (")
    assert row["method"] == "curate/4"


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        pytest.param("promote", {}, marks=pytest.mark.thorough),
        ("merge", {"old": {"status": "superseded", "superseded_by": "new"}}),
        pytest.param("reject", {"new": {"status": "invalid"}}, marks=pytest.mark.thorough),
    ],
)
def test_what_is_outdated_is_settled_by_each_command(
    outdated: SmallHome, command: str, changed: dict[str, dict[str, Any]]
) -> None:
    before = states(outdated)
    item_id = item(outdated, kind="outdated")["item_id"]
    said(outdated, command, item_id)
    assert states(outdated) == {name: {**state, **changed.get(name, {})} for name, state in before.items()}
    outdated.nightly()
    assert items(outdated).is_empty()
    said(outdated, "reject" if command == "merge" else "promote", item_id)
    assert states(outdated) == before


def test_only_the_later_one_can_stay_for_what_is_outdated(outdated: SmallHome) -> None:
    with pytest.raises(WrongUseError, match="new is the newer one: say `reject`"):
        said(outdated, "merge", item(outdated, kind="outdated")["item_id"], into="old")


def test_the_queues_reason_is_kept_apart_from_what_a_person_gives(home: SmallHome) -> None:
    row = item(home, kind="merge")
    said(home, "reject", row["item_id"])
    (kept,) = deciding.landed_decisions(Lake(Path(home.settings.lake))).collect()["values"]
    assert json.loads(kept)["queue_reason"] == row["reason"]


@pytest.mark.parametrize("kind", ["contradiction", "unused"])
def test_what_is_kept_changes_nothing(home: SmallHome, kind: str) -> None:
    before = states(home)
    assert said(home, "promote", item(home, kind=kind)["item_id"]).changes == []
    assert states(home) == before


def test_what_is_kept_is_asked_again_when_its_text_changes(home: SmallHome) -> None:
    row = item(home, kind="unused")
    said(home, "promote", row["item_id"])
    text = "The cellar has a third door behind green shelves near the loading ramp."
    home.land({"memory_id": "unused", "changed_at": "2026-05-31T00:00:00Z", "content": text})
    home.nightly(AS_OF)
    assert item(home, kind="unused")["item_id"] == row["item_id"]


def test_what_was_rejected_is_not_proposed_when_another_memory_lands_with_it(home: SmallHome) -> None:
    said(home, "reject", item(home, text=STATED)["item_id"])
    home.land(memory("again", status="candidate", content=STATED.upper(), changed_at="2026-05-27T08:00:00Z"))
    home.nightly()
    assert states(home)["again"]["status"] == "candidate"
    assert "again" not in [memory_id for ids in items(home)["memory_ids"] for memory_id in ids]


def test_a_confidence_said_later_is_another_decision(home: SmallHome) -> None:
    row = item(home, text=STATED)
    said(home, "promote", row["item_id"])
    outcome = said(home, "promote", row["item_id"], confidence=0.75)
    assert outcome.decided == [row["item_id"]]
    assert states(home)[row["item_id"]]["confidence"] == 0.75


def test_a_rejected_memory_is_brought_back_by_promote(home: SmallHome) -> None:
    before, row = states(home), item(home, kind="unused")
    said(home, "reject", row["item_id"])
    assert states(home)["unused"]["status"] == "invalid"
    home.nightly()
    assert said(home, "promote", row["item_id"]).decided == [row["item_id"]]
    assert states(home) == before


@pytest.mark.parametrize("commands", [("promote", "reject", "promote", "reject")])
def test_one_may_change_ones_mind_on_one_publish(home: SmallHome, commands: tuple[str, ...]) -> None:
    row = item(home, text=STATED)
    for number, command in enumerate(commands, start=1):
        said(home, command, row["item_id"])
        assert rows_of(home, "decisions") == number
        assert states(home)[row["item_id"]]["status"] == {"promote": "active", "reject": "invalid"}[command]


CASES = {
    "promote": ({"text": STATED}, {}),
    "reject": ({"kind": "contradiction"}, {"memory_id": "c60"}),
    "merge": ({"kind": "merge"}, {}),
}


@pytest.mark.parametrize("command", some(CASES, 1))
def test_saying_it_twice_lands_nothing_more(home: SmallHome, command: str) -> None:
    wanted, options = CASES[command]
    item_id = item(home, **wanted)["item_id"]
    said(home, command, item_id, item_id, **options)
    before = landed(home)
    assert before[0] == 1
    again = said(home, command, item_id, **options)
    assert (again.decided, again.already, landed(home)) == ([], 1, before)
    home.nightly()
    again = said(home, command, item_id, **options)
    assert (again.decided, again.already, landed(home)) == ([], 1, before)


def test_keeping_twice_lands_nothing_more(home: SmallHome) -> None:
    item_id = item(home, kind="unused")["item_id"]
    assert [said(home, "promote", item_id).already for _ in range(2)] == [0, 1]
    assert rows_of(home, "decisions") == 1


def test_a_dry_run_lands_nothing(home: SmallHome) -> None:
    before = landed(home)
    assert said(home, "promote", *items(home).filter(kind="candidate")["item_id"], dry_run=True).changes
    assert landed(home) == before


def test_killed_between_decision_and_change_nothing_was_said(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    before, row = states(home), item(home, text=STATED)

    def killed() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(deciding, "status_changes", lambda _: killed())
        with pytest.raises(KeyboardInterrupt):
            said(home, "promote", row["item_id"])
    assert rows_of(home, "decisions") == 1
    assert states(home) == before
    home.nightly()
    assert item(home, text=STATED)["item_id"] == row["item_id"]
    assert said(home, "promote", row["item_id"]).decided == [row["item_id"]]
    assert states(home)[row["item_id"]]["status"] == "active"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": "archived"}, "the status of wait changed since the publish"),
        ({"content": "Exports are not streamed."}, "the content of wait changed since the publish"),
        ({"project": "other"}, "the project of wait changed since the publish"),
    ],
)
def test_what_changed_since_the_publish_is_skipped(home: SmallHome, change: dict[str, str], why: str) -> None:
    row = item(home, about="wait")
    home.land({"memory_id": "wait", "changed_at": "2026-06-02T00:00:00Z", **change})
    before = landed(home)
    assert said(home, "promote", row["item_id"]).skipped == [(row["item_id"], why)]
    assert landed(home) == before


def test_what_somebody_changed_after_it_was_decided_is_not_taken_back(home: SmallHome) -> None:
    row = item(home, kind="unused")
    said(home, "reject", row["item_id"])
    home.land(
        {"memory_id": "unused", "changed_at": (utc_now() + timedelta(microseconds=1)).isoformat(), "pinned": True}
    )
    assert said(home, "promote", row["item_id"]).skipped == [
        (row["item_id"], "unused was changed since it was decided")
    ]


def test_a_statement_landed_meanwhile_is_skipped(home: SmallHome) -> None:
    home.land(memory("other", content=f" {STATED.upper()} "))
    row = item(home, text=STATED)
    assert said(home, "promote", row["item_id"]).skipped == [(row["item_id"], "other says it since the publish")]


def test_two_items_about_one_memory_are_not_decided_at_one_instant(home: SmallHome) -> None:
    ids = [item(home, text=STATED)["item_id"], item(home, about="wait")["item_id"]]
    outcome = said(home, "merge", *ids, into="d1")
    assert (outcome.decided, [skipped for skipped, _ in outcome.skipped]) == (ids[:1], ids[1:])
    assert said(home, "merge", *ids, into="d1").decided == ids[1:]
    assert states(home)["d1"]["source_ids"] == ["i1", "i2", "j1", "j2", "j3", "j4"]


def test_what_cannot_be_said_changes_nothing(home: SmallHome) -> None:
    before, statement = landed(home), item(home, text=STATED)["item_id"]
    merging, unused = item(home, kind="merge")["item_id"], item(home, kind="unused")["item_id"]
    wrong: list[tuple[str, str, dict[str, Any], str]] = [
        ("promote", merging, {}, "say `merge`"),
        ("merge", unused, {}, "say `promote`"),
        ("merge", statement, {}, "--into"),
        ("merge", statement, {"into": "nobody"}, "not another memory in use"),
        ("merge", statement, {"into": "wait"}, "not another memory in use"),
        ("merge", merging, {"into": "c50"}, "--into has to be one of d1, d2"),
        ("reject", merging, {"memory_id": "d1"}, "--memory"),
    ]
    for command, item_id, options, why in wrong:
        with pytest.raises(WrongUseError, match=why):
            said(home, command, item_id, **options)
    for unknown in ("0123456789abcdef", "zz", HOSTILE):  # a short one that begins no id needs no more letters
        with pytest.raises(UserError, match="no item of the queue"):
            said(home, "promote", statement, unknown)
    for short in (statement[:5], ""):
        with pytest.raises(UserError, match="write 6 characters or more"):
            said(home, "promote", statement, short)
    assert landed(home) == before


def test_the_start_of_an_id_will_do(home: SmallHome) -> None:
    item_id = item(home, text=STATED)["item_id"]
    assert said(home, "promote", item_id[:8]).decided == [item_id]


def test_a_clock_that_is_behind_is_refused(home: SmallHome) -> None:
    item_id, before = item(home, text=STATED)["item_id"], landed(home)
    with pytest.raises(UserError, match="set the clock"):
        said(home, "promote", item_id, now=AS_OF - timedelta(seconds=1))
    assert landed(home) == before
    said(home, "promote", item_id, now=AS_OF + timedelta(days=9))
    (refused,) = said(home, "reject", item_id, now=AS_OF + timedelta(days=9)).refused
    assert refused[0] == item_id
    assert "set the clock" in refused[1]
    assert states(home)[item_id]["status"] == "active"


def test_undoing_a_merge_by_a_clock_that_is_behind_blames_the_clock(home: SmallHome) -> None:
    item_id = item(home, kind="merge")["item_id"]
    said(home, "merge", item_id, now=AS_OF + timedelta(days=9))
    undone = said(home, "reject", item_id, now=AS_OF + timedelta(days=1))
    assert not undone.skipped
    ((_, why),) = undone.refused
    assert "set the clock" in why
