"""Injected, echoed and used against a loop over memories and interactions."""

from datetime import timedelta

import memory_model as model
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replayed import START, changes, interactions, pool_of, references_of, used_by
from thorough import examples

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.tables import MemoryReferences

FACT = "The port is 8443 in production"


def asked(response=None, hours=1.0, **fields):
    row = {"interaction_id": "i1", "occurred_at": START + timedelta(hours=hours), "project": "atlas", "agent": "coder"}
    rest = {
        "session_id": None,
        "prompt": "?",
        "response_summary": None,
        "memories_used": None,
        "memories_cited": None,
        "reinforce": True,
    }
    return {**row, **rest, "response": response, **fields}


def change(hours=0, memory_id="m1", **fields):
    said = {"status": "active", "project": "atlas", "content": FACT} if hours == 0 else {}
    return {"memory_id": memory_id, "changed_at": START + timedelta(hours=hours), **said, **fields}


@given(interactions, changes)
@settings(max_examples=examples(8, 60))
def test_references_are_those_of_a_loop(rows, change_rows):
    found = references_of(rows, pool_of(change_rows), used_by)
    assert found.to_dicts() == model.references(rows, change_rows)
    assert found.schema == polars_schema(MemoryReferences)


@given(interactions, changes, st.randoms(use_true_random=False))
def test_neither_order_nor_company_of_interactions_matters(rows, change_rows, random):
    pool = pool_of(change_rows)
    at_once = references_of(rows, pool, used_by)
    assert references_of(random.sample(rows, len(rows)), pool, used_by).equals(at_once)
    one_by_one = [row for single in rows for row in references_of([single], pool, used_by).to_dicts()]
    assert sorted(one_by_one, key=lambda row: (row["memory_id"], row["interaction_id"])) == at_once.to_dicts()


def echoes(row, *change_rows):
    return [
        (r["memory_id"], r["echoed_in"], r["in_prompt"]) for r in references_of([row], pool_of(change_rows)).to_dicts()
    ]


def test_response_and_summary_are_searched_apart():
    assert echoes(asked(f"Note: {FACT}."), change()) == [("m1", "response", False)]
    assert echoes(asked("no", response_summary=FACT), change()) == [("m1", "summary", False)]
    assert echoes(asked(FACT, response_summary=FACT), change()) == [("m1", "both", False)]
    half, rest = FACT[:15], FACT[15:]
    assert echoes(asked(half, response_summary=rest), change()) == []


def test_parroting_is_told():
    assert echoes(asked(FACT, prompt=f"Is it so that {FACT.upper()}?"), change()) == [("m1", "response", True)]


def test_identical_contents_are_all_echoed_where_they_are_eligible():
    log = [
        change(), change(memory_id="m2"), change(memory_id="other project", project="b"),
        change(memory_id="global", project="", memory_type="identity"), change(memory_id="archived", status="archived"),
    ]  # fmt: skip
    assert [m for m, *_ in echoes(asked(FACT), *log)] == ["global", "m1", "m2"]


def test_patterns_inside_and_across_one_another_are_all_found():
    contents = ["the port is 8443", "port is 8443 in prod", "8443 in production", "the port is 8443 in production now"]
    log = [change(memory_id=f"m{n}", content=content) for n, content in enumerate(contents)]
    assert [m for m, *_ in echoes(asked(FACT), *log)] == ["m0", "m1", "m2"]


def test_an_edit_takes_effect_at_its_instant():
    log = [change(), change(2, content="The port is 9000 from now on")]
    found = {
        (hours, answer): len(echoes(asked(answer, hours), *log))
        for hours in (1.999, 2)
        for answer in (FACT, "the port is 9000 from now on!")
    }
    assert list(found.values()) == [1, 0, 0, 1]


def test_reinforce_false_silences_echoes_but_not_injections():
    row = asked(FACT, memories_used=["m1", "m1", "unknown"], reinforce=False)
    found = references_of([row], pool_of([change()])).to_dicts()
    assert [(r["memory_id"], r["is_injected"], r["is_echoed"], r["methods"]) for r in found] == [
        ("m1", True, False, ["injected/1"]), ("unknown", True, False, ["injected/1"]),
    ]  # fmt: skip


def test_injected_and_echoed_is_one_row_with_both_methods():
    (row,) = references_of([asked(FACT, memories_used=["m1"])], pool_of([change()])).to_dicts()
    assert (row["is_injected"], row["is_echoed"], row["methods"]) == (True, True, ["injected/1", "echo/1"])


def test_what_an_answer_names_itself_is_told_apart_from_what_is_found_in_it():
    row = asked("as m1 says", memories_cited=["m1", "m1", "unknown"], memories_used=["m1"], reinforce=False)
    found = references_of([row], pool_of([change(status="archived")])).to_dicts()
    assert [(r["memory_id"], r["is_cited"], r["is_injected"], r["is_used"], r["methods"]) for r in found] == [
        ("m1", True, True, False, ["injected/1", "cited/1"]), ("unknown", True, False, False, ["cited/1"]),
    ]  # fmt: skip


@pytest.mark.parametrize("length", [11, 12])
def test_fewer_than_twelve_code_points_are_not_looked_for(length):
    content = "ünïcode txt!"[:length]
    assert len(echoes(asked(f"so: {content}"), change(content=f" {content}\n"))) == (length == 12)


def test_only_the_first_eighty_code_points_count_and_their_last_space_too():
    head = "ä" * 79
    log = [change(content=f"{head} tail")]
    assert len(echoes(asked(f"{head} other"), *log)) == 1
    assert len(echoes(asked(f"{head}\u2003other"), *log)) == 1
    assert echoes(asked(f"{head}other"), *log) == []
    assert echoes(asked(head), *log) == []  # the 80th is a space, which trimming takes from the response
