"""Mappings: which fields they may name, what they make of a row, and which rows are refused without one."""

from __future__ import annotations

import tomllib
from datetime import datetime
from typing import Any

import orjson
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import LandedRows, landed_rows
from slowwave.transforms.landing.mapping.mapped_rows import mapped_record
from slowwave.transforms.landing.mapping.resemblance import likenesses, suggested_mapping
from slowwave.transforms.landing.mapping.rules import (
    FieldMapping,
    MappingError,
    ReadingOptions,
    declared_mapping,
    rules_of_options,
)
from slowwave.transforms.landing.mapping.unknown_fields import UnknownFields

FOREIGN = {
    "id": "a1", "ts": 1772900000, "question": "Where is the port?", "completion": "It is 8443.",
    "retrieved": [{"id": "m1", "score": 0.9}], "ok": 1, "latency_ms": 120, "tool": "grep",
}  # fmt: skip
MAPS = (
    "prompt=question", "response=completion", "created_at=ts", "memories_used=retrieved", "success=ok",
    "interaction_id=id", "duration_ms=latency_ms",
)  # fmt: skip


def delivered(*records: dict[str, Any]) -> RecordRows:
    return RecordRows(list(records), list(range(1, len(records) + 1)), [orjson.dumps(one) for one in records])


def mapping(*options: str, **stated: Any) -> FieldMapping:
    return FieldMapping(rules_of_options(options), **stated)


def landed(*records: dict[str, Any], options: tuple[str, ...] = (), keeps_unknown: bool = False) -> LandedRows:
    chosen = mapping(*options) if options else None
    return landed_rows(delivered(*records), None, ReadingOptions(chosen, keeps_unknown))


# ------------------------------------------------------------------------------------------------------------- mapped


def test_a_foreign_row_lands_as_its_mapping_says():
    rows = landed(FOREIGN, options=MAPS)
    ((interaction,), (outcome,)) = rows.interactions.to_dicts(), rows.outcomes.to_dicts()
    assert rows.quarantine.is_empty()
    assert (interaction["interaction_id"], interaction["prompt"], interaction["response"]) == (
        "a1", "Where is the port?", "It is 8443.",
    )  # fmt: skip
    assert interaction["created_at"] == datetime(2026, 3, 7, 16, 13, 20)  # noqa: DTZ001 - naive times hold UTC
    assert interaction["memories_used"] == ["m1"]
    # scores are in no field of the contract: the list stays, its ids are taken
    assert orjson.loads(interaction["extra"]) == {"retrieved": FOREIGN["retrieved"], "tool": "grep"}
    assert (outcome["success"], outcome["duration_ms"]) == (True, 120.0)


def test_a_mapped_row_is_the_row_that_has_the_contracts_names():
    own = {"interaction_id": "a1", "created_at": "2026-03-07T16:13:20Z", "prompt": "Where?", "success": True}
    foreign = {"id": "a1", "meta": {"at": 1772900000000}, "input": {"text": "Where?"}, "state": "passed"}
    options = ("interaction_id=id", "created_at=meta.at", "prompt=input.text", "success=state")
    mapped = landed(foreign, options=options)
    for table in ("interactions", "outcomes"):
        assert getattr(mapped, table).equals(getattr(landed(own), table))


@each(
    ("options", "record", "field", "value"),
    [
        (("created_at=t",), {"t": 1772900000}, "created_at", 1772900000),
        (("success=s",), {"s": "Failed"}, "success", False),
        (("success=s",), {"s": "ok"}, "success", True),
        (("success=s",), {"s": "perhaps"}, "success", "perhaps"),
        (("memories_used=m",), {"m": '[{"id": "a"}, {"memory_id": 7}]'}, "memories_used", ["a", 7]),
        (("memories_used=m.id",), {"m": [{"id": "a"}, {"id": "b"}]}, "memories_used", ["a", "b"]),
        (("response=o.0.text",), {"o": [{"text": "yes"}]}, "response", "yes"),
        (("response=o.text",), {"o": '{"text": "yes"}'}, "response", "yes"),
        (("response=a.b",), {"a.b": "yes", "a": {"b": "no"}}, "response", "yes"),
        (("project==shop",), {}, "project", "shop"),
        (("project==shop",), {"project": "depot"}, "project", "depot"),
        (("response=prompt.text",), {"prompt": {"text": "hm"}}, "response", "hm"),
    ],
)
def test_what_a_rule_finds(options, record, field, value):
    assert mapped_record(record, mapping(*options)).record[field] == value


def test_a_mapping_wins_over_what_a_row_has_and_extra_keeps_it():
    record = {"prompt": "Why?", "created_at": "2026-03-01", "success": True, "task_type": "suite", "task": "t1", "x": 1}
    rows = landed(record, {**record, "task": ""}, options=("task_type=task",))
    first, second = rows.outcomes.sort("row_number").to_dicts()
    assert (first["task_type"], first["task"]) == ("t1", None)
    assert (second["task_type"], second["task"]) == ("suite", None)
    extras = [orjson.loads(text) for text in rows.interactions.sort("row_number")["extra"]]
    assert extras == [{"task_type": "suite", "x": 1}, {"x": 1}]


def test_a_mapping_that_fills_leaves_what_a_row_has():
    fills = declared_mapping("app", tomllib.loads("version = 1\nfill = true\n[fields]\nresponse = 'answer'"))
    assert mapped_record({"response": "a", "answer": "b"}, fills).record["response"] == "a"
    assert mapped_record({"response": " ", "answer": "b"}, fills).record["response"] == "b"


def test_what_a_mapping_did_is_counted_by_field():
    records = ({"q": "Why?", "prompt": "own", "at": "2026-03-01"}, {"prompt": "own", "at": "2026-03-01"})
    rows = landed(*records, options=("prompt=q", "created_at=at", "project==shop"))
    found = UnknownFields()
    found.add(rows.parts)
    assert found.mapped == 2
    assert found.took == {"prompt": 1, "created_at": 2, "project": 2}
    assert found.lacked == {"prompt": 1}


def test_a_receiver_keeps_what_a_mapping_replaced():
    made = mapped_record({"q": "Why?", "prompt": "own"}, mapping("prompt=q")).to_deliver()
    assert made == {"prompt": "Why?", "provenance": {"delivered": {"prompt": "own"}}}


def test_a_declared_mapping_stands_in_the_provenance_of_its_rows():
    made = mapped_record({"q": "Why?", "provenance": {"unit": 7}}, mapping("prompt=q", name="app", version=3))
    assert made.record == {"prompt": "Why?", "provenance": {"unit": 7, "mapping": "app", "version": 3}}
    assert mapped_record({"q": "Why?"}, mapping("prompt=q")).record == {"prompt": "Why?"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("promt=q",), "no field 'promt' (is it prompt?)"),
        (("prompt",), "no mapping: write FIELD=NAME"),
        (("prompt=",), "no mapping: write FIELD=NAME"),
        (("prompt=a", "prompt=b"), "prompt is mapped twice"),
        (("extra=a",), "no field 'extra'"),
        (("prompt=" + "a." * 40 + "a",), "more than 32 names"),
    ],
)
def test_an_option_that_cannot_be_meant(options, said):
    with pytest.raises(MappingError) as raised:
        mapping(*options)
    assert said in str(raised.value)


@each(
    ("text", "said"),
    [
        ("[fields]\nprompt = 'q'", "version must be a whole number"),
        ("version = true\n[fields]\nprompt = 'q'", "version must be a whole number"),
        ("version = 1", "fields must be a table"),
        ("version = 1\n[fields]", "fields must be a table"),
        ("version = 1\n[fields]\nprompt = 3", "prompt must be a name or a path"),
        ("version = 1\n[fields]\nprompt = { constant = 'x', path = 'y' }", "prompt must be a name or a path"),
        ("version = 1\nmatch = ''\n[fields]\nprompt = 'q'", "match must be a pattern"),
        ("version = 1\nmatch = '../x'\n[fields]\nprompt = 'q'", "match must be a pattern"),
        ("version = 1\nunknown = 'drop'\n[fields]\nprompt = 'q'", 'unknown must be "keep" or "refuse"'),
        ("version = 1\nfill = 'yes'\n[fields]\nprompt = 'q'", "fill must be true"),
        ("version = 1\nfield = 1\n[fields]\nprompt = 'q'", "nothing is called 'field'"),
    ],
)
def test_a_declaration_that_cannot_be_understood(text, said):
    with pytest.raises(MappingError) as raised:
        declared_mapping("app", tomllib.loads(text))
    assert said in str(raised.value)


# ------------------------------------------------------------------------------------------------------------ refused


def test_a_row_that_has_what_it_lacks_under_another_name_is_refused_with_the_command_that_lands_it():
    rows = landed({"prompt": "Why?", "created_at": "2026-03-01", "completion": "So."})
    ((field, reason),) = rows.quarantine.select("field", "reason").rows()
    assert field == "response"
    assert "lacks response, and has completion" in reason
    assert "`slowwave land --retry-quarantine --map response=completion` lands it so" in reason
    assert "--as-is" in reason


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": "Why?", "created_at": "2026-03-01", "response": "So.", "completion": "So."},
        {"prompt": "Why?", "created_at": "2026-03-01", "completion": None},
        {"prompt": "Why?", "created_at": "2026-03-01", "completion": "   "},
        {"prompt": "Why?", "created_at": "2026-03-01", "text": "an ordinary field"},
        {"prompt": "Why?", "created_at": "2026-03-01", "ok": "perhaps"},
        {"memory_id": "m", "changed_at": "2026-03-01", "content": "A.", "answer": "B."},
        {"outcome_id": "o", "created_at": "2026-03-01", "success": False, "ok": True, "answer": "So."},
    ],
)
def test_what_is_only_unknown_lands(record):
    assert landed(record).quarantine.is_empty()


def test_it_lands_as_before_where_that_is_meant():
    record = {"prompt": "Why?", "created_at": "2026-03-01", "completion": "So."}
    rows = landed(record, keeps_unknown=True)
    assert rows.quarantine.is_empty()
    assert orjson.loads(rows.interactions["extra"][0]) == {"completion": "So."}


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"created_at": st.just("2026-03-01")},
        optional={
            "prompt": st.sampled_from(["Why?", " ", None]),
            "response": st.sampled_from(["So.", None]),
            "completion": st.sampled_from(["So.", "", None, 3]),
            "question": st.sampled_from(["Why?", None]),
            "ok": st.sampled_from([1, 0, "passed", "perhaps", None]),
            "success": st.sampled_from([True, None]),
            "retrieved": st.sampled_from([[], [{"id": "m"}], ["m"], "m", None]),
            "memory_id": st.just("m"),
            "ts": st.sampled_from([1772900000, "soon"]),
        },
    ),
    max_size=8,
)


@given(RECORDS, st.integers(0, 8), st.booleans())
def test_how_a_log_is_cut_makes_no_difference(records, at, is_mapped):
    options = MAPS[:5] if is_mapped else ()
    whole = landed(*records, options=options)
    cut = [landed(*part, options=options) for part in (records[:at], records[at:]) if part]
    for table in ("interactions", "outcomes", "memories"):
        hashes = [row for part in cut for row in getattr(part, table)["row_hash"]]
        assert sorted(getattr(whole, table)["row_hash"]) == sorted(hashes)
    told = [row for part in cut for row in part.quarantine.select("field", "reason").rows()]
    assert sorted(whole.quarantine.select("field", "reason").rows()) == sorted(told)


# ---------------------------------------------------------------------------------------------------------- suggested


def unknown_of(*records: dict[str, Any]) -> UnknownFields:
    found = UnknownFields()
    found.add(landed(*records).parts)
    return found


def test_unknown_fields_are_told_with_rows_and_what_they_are_like():
    unknown = unknown_of(FOREIGN, {**FOREIGN, "tool": None})
    assert {one.name: one.rows for one in unknown.by_name.values()} == {**dict.fromkeys(FOREIGN, 2), "tool": 1}
    assert {f"{like.field}={like.path}" for like in likenesses(unknown).values()} == set(MAPS)


def test_a_field_that_only_rows_of_another_kind_have_is_not_mapped_to_itself():
    outcome = {"outcome_id": "o", "success": True, "created_at": "2026-03-01", "client": "web"}
    assert likenesses(unknown_of(outcome)) == {}
    assert likenesses(unknown_of({"memory_id": "m", "changed_at": "2026-03-01", "client": "web"})) == {}


def test_names_say_less_than_values_and_values_less_than_what_is_there():
    content = {"prompt": "Why?", "created_at": "2026-03-01", "zz": "It is kept in a column of integers."}
    assert {like.field for like in likenesses(unknown_of(content)).values()} == {"response"}
    assert likenesses(unknown_of({**content, "response": "So."})) == {}
    rare = {"prompt": "Why?", "created_at": "2026-03-01", "tool": "grep"}
    assert likenesses(unknown_of(content, rare, rare, rare)) == {}
    assert likenesses(unknown_of({**content, "response": "So.", "creatd_at": "never"})) == {}


@given(st.text(max_size=12).filter(lambda name: name not in {"version", "match", "fields"}), st.text(max_size=80))
def test_a_suggestion_is_a_mapping_whatever_fields_are_called(name, text):
    unknown = unknown_of({"prompt": "Why?", "created_at": "2026-03-01", "completion": "So.", name or "x": {name: text}})
    suggested = suggested_mapping(unknown, likenesses(unknown), "app-*.jsonl")
    mapping = declared_mapping("app", tomllib.loads(suggested))
    assert ("response", "completion") in {(rule.field, rule.path) for rule in mapping.rules}
    assert mapping.match == "app-*.jsonl"


# --------------------------------------------------------------------------------------------------------------- chats

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": [{"type": "text", "text": "Which port"}, {"type": "text", "text": "is it?"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
    {"role": "tool", "content": "5432"},
    {"role": "assistant", "content": "5432."},
]
SHAREGPT = [{"from": "human", "value": "Which port\nis it?"}, {"from": "gpt", "value": "5432."}]
CHATS = {
    "messages": OPENAI,
    "conversations": SHAREGPT,
    "conversation": orjson.dumps(OPENAI).decode(),
    "dialog": OPENAI[3:],
}


@pytest.mark.parametrize("name", CHATS)
def test_of_a_chat_the_last_question_and_its_answer_are_suggested_and_taken(name):
    record = {"timestamp": "2026-03-01", name: CHATS[name], "metadata": '{"model": "m", "temperature": 0.7, "top": 1}'}
    unknown = unknown_of(record)
    suggested = suggested_mapping(unknown, likenesses(unknown), "")
    mapping = declared_mapping("chat", tomllib.loads(suggested))
    found = {rule.field: rule.path for rule in mapping.rules}
    assert found == {
        "created_at": "timestamp",
        "prompt": f"{name}.last(user)",
        "response": f"{name}.last(assistant)",
    }
    made = mapped_record(record, mapping).record
    assert (made["prompt"], made["response"]) == ("Which port\nis it?", "5432.")
    assert made[name] == CHATS[name]


def test_of_a_chat_that_ends_in_a_question_there_is_no_answer():
    made = mapped_record({"m": OPENAI[:4]}, mapping("prompt=m.last(user)", "response=m.last(assistant)"))
    assert made.record["prompt"] == "Which port\nis it?"
    assert made.lacked == {"response"}


def test_a_conversation_written_out_is_no_prompt():
    text = "user: Hi, which port is it?\nassistant: It is 5432, as it was."
    assert likenesses(unknown_of({"created_at": "2026-03-01", "shown": text})) == {}


def test_parts_are_joined():
    record = {"output": [{"type": "text", "text": "It is"}, {"type": "image"}, {"type": "text", "text": "5432."}]}
    assert mapped_record(record, mapping("response=output.join()")).record["response"] == "It is\n5432."


@given(
    st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["role", "from", "content", "value", "parts", "text"]), inner, max_size=3)
        ),
    )
)
def test_whatever_stands_in_place_of_messages_ends_nothing(value):
    for path in ("m.last(user)", "m.last(assistant)", "m.join()", "m.last(user).x"):
        made = mapped_record({"m": value}, mapping(f"response={path}"))
        assert isinstance(made.record.get("response"), str | None)
