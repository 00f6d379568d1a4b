"""Which evidence `slowwave why` shows first: by the rule of each kind, the newest first among equals."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.ask.why.strongest import (
    EvidenceEvent,
    interaction_memories,
    memory_evidence,
    observation_evidence,
    outcome_evidence,
    refused_files,
    strongest,
)

START = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
PIECES = st.builds(
    EvidenceEvent,
    st.sampled_from("abcdef"),
    st.integers(0, 5).map(lambda day: START + timedelta(days=day)),
    st.sampled_from(["quoted", "used"]),
)


def at(day: int, **row):
    return {"interaction_id": f"i{day}", "occurred_at": START + timedelta(days=day), **row}


def ids(evidence):
    return [piece.id for piece in evidence]


def memory_rows(**rows):
    names = ("confirmed", "contradicted", "failed_with", "stale", "not_followed", "echoed", "used", "cited", "injected")
    return {"memory": {"is_harmful": False}, **{name: [] for name in names}} | rows


def test_of_a_memory_outcomes_come_before_corrections_before_quotes():
    found = memory_rows(
        confirmed=[at(1, basis="reported"), at(2, basis="inferred", basis_method="tests/1")],
        contradicted=[at(3, basis="evaluated", basis_method="judge/1")],
        stale=[at(4, status="superseded")],
        echoed=[at(1, in_prompt=False), at(5, in_prompt=False), at(7, in_prompt=True)],
        used=[at(6)],
        cited=[at(8)],
        injected=[at(9), at(4)],
    )
    evidence = memory_evidence(found)
    assert ids(evidence) == ["i3", "i1", "i2", "i4", "i5", "i6", "i7", "i8", "i9"]
    assert [piece.says for piece in evidence[:4]] == [
        "the attempt failed (evaluated by judge/1)",
        "the attempt succeeded (reported); quoted",
        "the attempt succeeded (inferred by tests/1)",
        "injected while superseded; injected",
    ]


def test_of_a_harmful_memory_failures_with_it_come_first_whether_it_was_used_or_not():
    found = memory_rows(
        confirmed=[at(9, basis="reported")],
        contradicted=[at(2, basis="reported")],
        failed_with=[at(2, basis="reported"), at(1, basis="reported")],
        injected=[at(9), at(2), at(1)],
    )
    assert ids(memory_evidence(found)) == ["i9", "i2", "i1"]
    evidence = memory_evidence(found | {"memory": {"is_harmful": True}})
    assert [(piece.id, piece.says) for piece in evidence] == [
        ("i2", "the attempt failed (reported); injected"),
        ("i1", "the attempt failed (reported); injected"),
        ("i9", "the attempt succeeded (reported); injected"),
    ]


def test_of_attempts_those_that_were_not_inferred_come_first_and_one_without_interaction_has_its_own_id():
    rows = [
        {"outcome_id": f"o{day}", "interaction_id": None if day == 1 else f"i{day}", "success": day != 2,
         "created_at": START + timedelta(days=day), "basis": basis, "error": "disk\nfull"}
        for day, basis in ((1, "reported"), (2, "evaluated"), (3, "inferred"))
    ]  # fmt: skip
    evidence = outcome_evidence(rows)
    assert ids(evidence) == ["i2", "o1", "i3"]
    assert [piece.says for piece in evidence] == [
        "failed (evaluated): disk full",
        "succeeded (reported)",
        "succeeded (inferred)",
    ]


def test_of_an_observation_quotes_come_before_uses_before_sources():
    found = {
        "references": [at(1, memory_id="m", methods=["echo/1"]), at(2, memory_id="m", methods=["used/3"])],
        "sources": [{"source_id": "note", "cited_at": START + timedelta(days=3)}],
    }
    assert ids(observation_evidence(found)) == ["i1", "i2", "note"]


def test_of_an_interaction_quoted_memories_come_first():
    uses = {"cited": (False, False), "a": (False, False), "used": (False, True), "quoted": (True, False)}
    rows = [{"memory_id": name, "is_quoted": quoted, "is_used": used} for name, (quoted, used) in uses.items()]
    found = {"memories": rows, "cited": [{"memory_id": "cited"}]}
    assert [row["memory_id"] for row in interaction_memories(found)] == ["quoted", "used", "cited", "a"]


def test_of_a_run_the_file_with_most_refused_rows_comes_first():
    files = [
        {"file_number": number, "quarantined": count} for number, count in ((1, 0), (2, 1), (3, 4), (4, 1), (5, -1))
    ]
    assert [row["file_number"] for row in refused_files({"files": files})] == [3, 2, 4]


@given(st.lists(st.lists(PIECES, max_size=6), max_size=4))
def test_each_id_stands_once_where_its_strongest_kind_does(kinds):
    evidence = strongest(kinds)
    first = {}
    for rank, kind in enumerate(kinds):
        for piece in kind:
            first.setdefault(piece.id, (rank, piece.at))
    assert sorted(ids(evidence)) == sorted(first)
    places = [(first[piece.id][0], -(first[piece.id][1] - START).days, piece.id) for piece in evidence]
    assert places == sorted(places)
