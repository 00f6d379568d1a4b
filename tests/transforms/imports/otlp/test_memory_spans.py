"""Memories in traces: offered by searches, put before the model, and changed in their store."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_documents import agent, chat, left_out, made, messages, refused, rows, search, span, traces

PORT = ("m-1", "The port of the  database is 5432.", 0.9)
LINT = ("m-2", "Run the linter before pushing.", 0.4)


def only(*spans: dict[str, Any], options: dict[str, Any] | None = None) -> dict[str, Any]:
    (one,) = rows(made(traces(*spans), options=options), "interaction_id")
    return one


def asked_with(memory: str) -> dict[str, Any]:
    read = messages(("system", f"You know: {memory}"), ("user", "Which port?"))
    return chat(answered="5432.") | {"gen_ai.input.messages": read}


def test_what_a_search_found_is_offered_and_what_a_later_call_read_was_used() -> None:
    found = only(
        span(1, agent("Which port?", "5432."), seconds=9),
        span(2, search(PORT, LINT), parent=1, start=1),
        span(3, asked_with("THE PORT of the database\nis 5432."), parent=1, start=3),
    )
    assert found["memories_offered"] == [{"id": "m-1", "rank": 1, "score": 0.9}, {"id": "m-2", "rank": 2, "score": 0.4}]
    assert found["memories_used"] == ["m-1"]
    assert found["injection"] == "observed"


def test_what_no_later_call_read_was_offered_only() -> None:
    found = only(
        span(1, agent("Which port?", "5432."), seconds=9),
        span(2, asked_with("The port of the database is 5432."), parent=1, start=1),
        span(3, search(PORT), parent=1, start=3),
        span(4, asked_with("nothing"), parent=1, start=5),
    )
    assert found["memories_used"] == []
    assert found["injection"] == "observed"


def test_where_it_cannot_be_seen_a_search_of_the_agent_itself_is_assumed_to_be_used() -> None:
    found = only(span(1, agent("Which port?", "5432.")), span(2, search(PORT), parent=1, start=0.1, seconds=0.1))
    assert (found["memories_used"], found["injection"]) == (["m-1"], "assumed")
    tool = {"gen_ai.operation.name": "execute_tool"}
    found = only(span(1, agent("Which port?")), span(2, tool, parent=1), span(3, search(PORT), parent=2))
    assert "memories_used" not in found
    assert "injection" not in found
    assert [one["id"] for one in found["memories_offered"]] == ["m-1"]


def test_a_search_beside_the_calls_belongs_to_the_next_one() -> None:
    found = rows(
        made(
            traces(
                span(1, {}, seconds=20),
                span(2, chat("Hello", "Hi"), parent=1, start=1),
                span(3, search(PORT), parent=1, start=3),
                span(4, chat("Which port?", "5432."), parent=1, start=5),
            )
        ),
        "interaction_id",
    )
    assert [one.get("memories_offered", []) for one in found] == [[], [{"id": "m-1", "rank": 1, "score": 0.9}]]


def test_a_search_that_no_answer_came_after_is_counted() -> None:
    assert left_out(made(traces(span(1, search(PORT))))) == {"memory searches that no answer came after": 1}


def test_a_search_whose_records_were_not_captured_is_counted() -> None:
    bare = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.record.count": 3}
    found = made(traces(span(1, agent("Go", "Gone")), span(2, bare, parent=1)))
    assert "memories_offered" not in rows(found, "interaction_id")[0]
    assert "gen_ai.memory.records" in "".join(left_out(found))


def test_a_failed_search_offered_nothing() -> None:
    failed = span(2, search(PORT), parent=1, status={"code": 2})
    assert "memories_offered" not in only(span(1, agent("Go", "Gone")), failed)


@pytest.mark.parametrize("by", ["data source", "span"])
def test_a_retrieval_is_of_memories_where_its_source_is_declared_one(by: str) -> None:
    documents = {
        "retrieval.documents.0.document.id": "m-1",
        "retrieval.documents.0.document.score": 0.7,
        "retrieval.documents.1.document.id": 2,
    }
    held = {"openinference.span.kind": "RETRIEVER", **documents}
    if by == "data source":
        held["gen_ai.data_source.id"] = "notes"
    spans = [span(1, agent("Go", "Gone")), span(2, held, parent=1)]
    assert only(*spans)["chunks_used"] == ["m-1", "2"]
    declared = {"memory_stores": ["notes" if by == "data source" else "span 2"]}
    found = only(*spans, options=declared)
    assert "chunks_used" not in found
    assert found["memories_offered"] == [{"id": "m-1", "rank": 1, "score": 0.7}, {"id": "2", "rank": 2, "score": None}]


def change(operation: str, **held: Any) -> dict[str, Any]:
    return {"gen_ai.operation.name": operation} | {f"gen_ai.memory.{key}": value for key, value in held.items()}


def test_changes_of_memories_are_their_log() -> None:
    found = rows(
        made(
            traces(
                span(1, change("create_memory", **{"record.id": "m-1", "records": '[{"content": "Port is 5432"}]'})),
                span(2, change("update_memory", records='[{"id": "m-2", "content": {"text": "Lint first"}}]'), start=2),
                span(3, change("delete_memory", **{"record.id": "m-1", "store.id": "notes"}), start=4),
            )
        ),
        "memory_id",
    )
    assert [(one["memory_id"], one["status"], one.get("content"), one.get("reason")) for one in found] == [
        ("m-1", "active", "Port is 5432", None),
        ("m-2", "active", "Lint first", None),
        ("m-1", "archived", None, "deleted"),
    ]
    assert found[0]["changed_at"] == "2026-02-02T02:40:01Z"
    assert found[0]["project"] == "shop"
    assert found[2]["store"] == "notes"


@pytest.mark.parametrize("operation", ["delete_memory", "delete_memory_store"])
def test_a_store_deleted_whole_is_refused(operation: str) -> None:
    (reason,) = refused(made(traces(span(1, change(operation, **{"store.id": "notes"})))))
    assert "whole store" in reason


def test_a_change_without_a_record_is_refused_and_a_failed_one_left_out() -> None:
    assert "names no record" in refused(made(traces(span(1, change("create_memory")))))[0]
    failed = span(1, change("create_memory", **{"record.id": "m-1"}), status={"code": 2, "message": "full"})
    found = made(traces(failed))
    assert rows(found, "memory_id") == []
    assert left_out(found) == {"changes of a memory that failed": 1}


def test_what_is_remembered_as_an_object_lands_as_its_json() -> None:
    held = [{"id": "m-1", "content": {"preference": "vegetarian meals", "confidence": 0.9}}]
    found = made(traces(span(1, {"gen_ai.operation.name": "create_memory", "gen_ai.memory.records": held})))
    (one,) = rows(found, "memory_id")
    assert one["content"] == '{"preference":"vegetarian meals","confidence":0.9}'
