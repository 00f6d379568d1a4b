"""curation_decisions: what was active just before decides, and what comes later changes nothing."""

from __future__ import annotations

from each import each
from hypothesis import given, settings
from observation_rows import DARK, LOGS, PARAMS, change, decisions_in, states_of, toy_vectors
from thorough import examples

from slowwave.transforms.observations.curation_decisions import curation_decisions

BEFORE = [change("dark", DARK[0]), change("port", "The API port is 8080"), change("tea", "The user likes tea")]


@each(
    ("text", "action", "target"),
    [
        (DARK[0], "skip", "dark"),
        (DARK[1], "skip", "dark"),
        ("The API port is 9090", "update", "port"),
        ("The API port is now 9090", "update", "port"),
        ("Forget that the user likes tea", "delete", "tea"),
        ("The user no longer likes tea", "delete", "tea"),
        ("Forget that the user likes coffee", "add", None),
        ("The gateway runs in Frankfurt", "add", None),
        ("The user does not prefer light mode", "add", None),
    ],
)
def test_what_should_become_of_it(text, action, target):
    found = decisions_in([*BEFORE, change("new", text, day=1)])[-1]
    assert (found["memory_id"], found["action"], found["target_memory_id"]) == ("new", action, target)
    assert found["reason"]
    assert (found["method"], found["is_pending"]) == ("curate/4", False)
    assert (found["target_content"] is None) == (target is None)


def test_more_words_are_a_merger():
    long = (
        "The nightly backup of the billing database runs in the Frankfurt region and reports to the infrastructure team"
    )
    found = decisions_in([change("short", long), change("long", f"{long} weekly", day=1)])[-1]
    assert (found["action"], found["target_memory_id"]) in {("merge", "short"), ("add", None)}
    found = decisions_in([change("short", long), change("long", f"{long} quickly", day=1)])[-1]
    assert (found["action"], found["target_memory_id"]) == ("merge", "short")
    assert "quickly" in found["reason"]


PORTS = [change("c1", "The API port is 8080", day=1), change("c2", "The API port is 9090", day=2)]


def _said(rows, text, day):
    row = decisions_in([*rows, change("new", text, day=day)])[-1]
    return row["action"], row["target_memory_id"], row["reason"]


def test_what_is_said_again_is_an_update_of_what_had_replaced_it():
    again = ("update", "c2", "said before, and again; The API port is: 9090, then 8080")
    assert _said(PORTS, "The API port is 8080", 3) == again
    assert _said(PORTS, "the api port is 8080!", 3)[:2] == again[:2]
    assert _said(PORTS, "The API port is 9090", 3)[:2] == ("skip", "c2")
    back = [*PORTS, change("c3", "The API port is 8080", day=3)]
    assert _said(back, "The API port is 8080", 4)[0] == "skip"
    assert _said(back, "The API port is 9090", 4)[0] == "update"
    later = [*PORTS, change("c3", "The API port is 7070", day=3)]
    assert _said(later, "The API port is 8080", 4)[:2] == ("update", "c3")


def test_a_new_source_says_it_again():
    cited = [*PORTS, change("c1", day=3, source_ids=["ticket"])]
    assert _said(cited, "The API port is 8080", 4)[0] == "skip"
    assert _said(cited, "The API port is 9090", 4)[:2] == ("update", "c1")
    assert _said([*PORTS, change("c1", day=3, confidence=0.9)], "The API port is 8080", 4)[:2] == ("update", "c2")


def test_what_was_taken_back_or_is_at_odds_is_added():
    tea = [change("tea", "The user likes tea"), change("forget", "Forget that the user likes tea", day=1)]
    assert _said(tea, "The user likes tea", 2) == ("add", None, "said before, and taken back since")
    moved = [change("m", "User lives in Munich"), change("b", "User moved from Munich to Berlin", day=1)]
    assert _said(moved, "User lives in Munich", 2)[0] == "add"


def test_reasons_of_what_is_added_say_what_was_met():
    assert _said([change("a", "Alice trains horses")], "The kernel was rebuilt", 1)[2] == "nothing alike was active"
    pipeline = "The integration pipeline runs on"
    assert _said([change("a", f"{pipeline} Jenkins")], f"{pipeline} Travis", 0.5) == (
        "add", None, "the nearest differs: may be at odds, unless it is both: Jenkins against Travis",
    )  # fmt: skip


@each(
    ("text", "memory_type", "kind"),
    [
        ("Always run the linter", "knowledge", "model"),
        ("The user likes tea", "preference", "model"),
        ("Alice visited Paris", "knowledge", "observation"),
        ("The demo is on Monday", "knowledge", "fact"),
        ("The demo is on 2026-03-02", "knowledge", "observation"),
        ("The backup runs daily", "knowledge", "fact"),
        ("The backup of yesterday is complete", "knowledge", "observation"),
        ("Don't deploy on Fridays", "knowledge", "model"),
        ("Do not deploy on Fridays", "knowledge", "model"),
        ("The tests don't pass", "knowledge", "fact"),
        ("The port is 8080", "event", "observation"),
        ("The port is 8080", "knowledge", "fact"),
    ],
)
def test_kinds(text, memory_type, kind):
    assert decisions_in([change("m", text, memory_type=memory_type)])[0]["kind"] == kind


def test_only_what_was_active_just_before_is_a_target():
    candidate = [change("dark", DARK[0], status="candidate")]
    archived = [change("dark", DARK[0]), change("dark", day=0.5, status="archived")]
    elsewhere = [change("dark", DARK[0], project="other")]
    at_once = [change("dark", DARK[0], day=1)]
    for before in (candidate, archived, elsewhere, at_once):
        found = decisions_in([*before, change("new", DARK[0], day=1)])
        assert {row["action"] for row in found} == {"add"}
        assert not any(row["considered_ids"] for row in found)


def test_a_promoted_candidate_is_a_target_from_then_on():
    rows = [change("dark", DARK[0], status="candidate"), change("dark", day=1, status="active")]
    assert decisions_in([*rows, change("new", DARK[0], day=2)])[-1]["target_memory_id"] == "dark"


def test_a_later_text_of_its_own_is_an_update_of_itself():
    rows = [change("m", "The API port is 8080"), change("m", "The gateway port is 1", day=1), change("m", day=2)]
    assert [(row["action"], row["target_memory_id"]) for row in decisions_in(rows)] == [("add", None), ("update", "m")]


def test_at_most_ten_are_considered_the_most_alike_first():
    rows = [
        change(f"m{n:02}", f"The gateway of region {'x' * n} listens on port {n}", day=n / 100) for n in range(1, 40)
    ]
    found = decisions_in([*rows, change("new", "The gateway of region xxx listens on port 3", day=1)])[-1]
    assert len(found["considered_ids"]) == PARAMS.neighbours
    assert found["considered_ids"][0] == found["target_memory_id"] == "m03"


@settings(max_examples=examples(6, 40), deadline=None)
@given(LOGS)
def test_what_comes_later_changes_no_decision(rows):
    decided = decisions_in(rows)
    for row in decided:
        known = [change for change in rows if change["changed_at"] <= row["changed_at"]]
        assert row in decisions_in(known)


@settings(max_examples=examples(6, 40), deadline=None)
@given(LOGS)
def test_one_row_per_text_with_a_target_that_was_considered(rows):
    states = states_of(rows)
    found = curation_decisions(states, toy_vectors, PARAMS)
    assert found.select("memory_id", "changed_at").is_unique().all()
    for row in found.to_dicts():
        assert (row["action"] == "add") == (row["target_memory_id"] is None)
        assert row["target_memory_id"] is None or row["target_memory_id"] in row["considered_ids"]
        assert len(row["considered_ids"]) == len(set(row["considered_ids"])) <= PARAMS.neighbours
        assert row["content"].strip()
