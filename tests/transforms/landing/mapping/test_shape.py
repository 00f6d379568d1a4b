"""What `explode` makes of a row, which rows `where` leaves out, and that every delivered row is accounted for."""

from __future__ import annotations

import tomllib
from typing import Any

import orjson
import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.landing.delivered_rows import FrameRows, RecordRows
from slowwave.transforms.landing.landed_rows import LandedRows, readable_rows
from slowwave.transforms.landing.mapping.resemblance import likenesses, suggested_mapping
from slowwave.transforms.landing.mapping.rules import (
    MappingError,
    ReadingOptions,
    declared_mapping,
    mapping_of_options,
)
from slowwave.transforms.landing.mapping.shape import LEFT_OUT
from slowwave.transforms.landing.mapping.unknown_fields import UnknownFields

TALK = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Where is the port?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "grep"}}]},
    {"role": "tool", "content": "port: 8443"},
    {"role": "assistant", "content": [{"type": "text", "text": "It is"}, {"type": "text", "text": "8443."}]},
    {"role": "user", "content": "And the host?"},
    {"role": "assistant", "content": "db.example."},
]
MAPS = ("explode=messages", "prompt=messages.last(user)", "response=messages.last(assistant)", "created_at==2026-03-01")
ROW = {"interaction_id": "c1", "messages": TALK, "success": True}
PAIRS = [("Where is the port?", "It is\n8443."), ("And the host?", "db.example.")]


def landed(*records: dict[str, Any], options: tuple[str, ...] = MAPS) -> LandedRows:
    rows = RecordRows(list(records), list(range(1, len(records) + 1)), [orjson.dumps(one) for one in records])
    return readable_rows(rows, None, ReadingOptions(mapping_of_options(options)))


def pairs(rows: LandedRows) -> list[tuple[Any, ...]]:
    return rows.interactions.sort("interaction_id").select("prompt", "response").rows()


def test_each_turn_is_an_interaction_with_the_answer_behind_it():
    rows = landed(ROW)
    assert pairs(rows) == PAIRS
    assert rows.interactions["interaction_id"].sort().to_list() == ["c1#1", "c1#2"]
    assert rows.interactions["row_number"].to_list() == [1, 1]
    assert rows.delivered == 1


@pytest.mark.parametrize(
    "talk",
    [
        orjson.dumps(TALK).decode(),
        [{"from": {"tool": "observation", "user": "human", "assistant": "gpt", "system": "system"}[m["role"]],
          "value": m["content"]} for m in TALK],
        [*TALK[:5], {"role": "user", "content": [{"type": "tool_result", "content": "8443 it is"}]}, *TALK[5:]],
        [*TALK, {"role": "narrator", "content": "They part."}],
        [*TALK, "no message", None, 3],
    ],
)  # fmt: skip
def test_conversations_are_read_whatever_their_form(talk):
    assert pairs(landed({**ROW, "messages": talk})) == PAIRS


def test_a_question_without_an_answer_has_none():
    assert pairs(landed({**ROW, "messages": [*TALK, {"role": "user", "content": "And then?"}]}))[2] == (
        "And then?", None,
    )  # fmt: skip


def test_what_a_row_says_once_counts_once():
    rows = landed({**ROW, "tokens": 10, "cost": 0.5})
    assert rows.outcomes["interaction_id"].to_list() == ["c1#2"]
    assert rows.interactions.sort("interaction_id")["tokens"].to_list() == [None, 10]


def test_what_stands_in_the_list_belongs_to_its_element():
    record = {"runs": [{"id": "a", "q": "Why?", "ok": True}, {"id": "b", "q": "How?", "ok": False}], "at": "2026-03-01"}
    options = ("explode=runs", "prompt=runs.q", "interaction_id=runs.id", "success=runs.ok", "created_at=at")
    rows = landed(record, options=options)
    assert rows.interactions["interaction_id"].sort().to_list() == ["a", "b"]
    assert rows.outcomes.sort("interaction_id")["success"].to_list() == [True, False]


def test_a_row_of_which_one_turn_cannot_land_is_refused_whole_and_once():
    options = ("explode=runs", "prompt=runs.q", "created_at=runs.at")
    rows = landed({"runs": [{"q": "Why?", "at": "2026-03-01"}, {"q": "x", "at": "no"}, {"q": "y"}]}, options=options)
    assert rows.interactions.is_empty()
    assert rows.quarantine["row_number"].to_list() == [1]
    assert orjson.loads(rows.quarantine["raw_text"][0])["runs"][0]["q"] == "Why?"


@each(
    ("value", "said"),
    [
        (None, "messages is no list"),
        ("just a text", "messages is no list"),
        ({"role": "user"}, "messages is no list"),
        ([], "messages has not an element"),
        ([None], "messages has not an element"),
        ([TALK[0], TALK[-1]], "messages has not a message of a user"),
        ([{"role": "user", "content": ""}], "messages has not a message of a user"),
        ([1] * 10_001, "10,001 elements"),
        ("[" * 5_000, "messages is no list"),
    ],
)
def test_what_cannot_be_exploded_is_refused_with_what_to_do(value, said):
    rows = landed({**ROW, "messages": value}, ROW)
    ((number, reason),) = rows.quarantine.select("row_number", "reason").rows()
    assert number == 1
    assert said in reason
    assert "leave such rows out" in reason or "deliver it in several rows" in reason
    assert rows.interactions.height == 2


def test_a_list_whose_rows_would_carry_too_much_is_refused():
    rows = landed({**ROW, "messages": [1] * 9_000, "text": "x" * 10_000})
    assert "deliver it in several rows" in rows.quarantine["reason"][0]


@each(
    ("condition", "taken"),
    [
        ("where=status==done", [1]),
        ("where=status!=done", [2, 3, 4]),
        ("where=status!=", [1, 2]),
        ("where=status==", [3, 4]),
        ("where=n==2", [2]),
        ("where=meta.level==a", [1]),
        ("where=meta.tags==x", [2]),
        ("where=is_open==true", [1]),
    ],
)
def test_conditions(condition, taken):
    own = {"prompt": "Why?", "created_at": "2026-03-01"}
    records = (
        {**own, "status": "done", "n": 1, "meta": {"level": "a"}, "is_open": True},
        {**own, "status": "failed", "n": 2, "meta": {"tags": ["w", "x"]}},
        {**own, "status": None, "n": "two"},
        {**own, "n": {"deep": 2}},
    )
    rows = landed(*records, options=(condition,))
    assert rows.interactions["row_number"].sort().to_list() == taken
    assert rows.quarantine["row_number"].sort().to_list() == [n for n in range(1, 5) if n not in taken]
    assert all(reason.startswith(LEFT_OUT) for reason in rows.quarantine["reason"])


def test_a_declaration_has_lists_numbers_and_their_opposite():
    stated = """
        version = 1
        explode = "messages"
        [where]
        n = [1, 2]
        open = { not = false }
        [fields]
        prompt = "messages.last(user)"
        created_at = { constant = "2026-03-01" }
    """
    mapping = declared_mapping("app", tomllib.loads(stated))
    records = [
        {"messages": TALK, "n": n, "open": is_open} for n, is_open in ((1, True), (2.0, None), (3, True), (2, False))
    ]
    rows = readable_rows(RecordRows(records, [1, 2, 3, 4], [b""] * 4), None, ReadingOptions(mapping))
    assert rows.interactions["row_number"].unique().sort().to_list() == [1, 2]
    assert rows.delivered == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("explode = 3", "explode must name a field"),
        ("explode = 'a..b'", "explode must name a field"),
        ("where = 'x'", "where must be a table"),
        ("where = { a = [] }", "where a must be a text"),
        ("where = { a = { is = 1 } }", "where a must be a text"),
        ("where = { a = [[1]] }", "where a must be a text"),
    ],
)
def test_a_shape_that_cannot_be_understood(text, said):
    with pytest.raises(MappingError) as raised:
        declared_mapping("app", tomllib.loads(f"version = 1\n{text}\n[fields]\nprompt = 'q'"))
    assert said in str(raised.value)


@pytest.mark.parametrize("option", ["explode=", "where=", "where=a", "where===b"])
def test_an_option_of_a_shape_that_cannot_be_meant(option):
    with pytest.raises(MappingError):
        mapping_of_options([option, "prompt=q"])


def test_a_frame_is_read_as_its_records_are():
    records = [{**ROW, "messages": [{"role": m["role"], "content": str(m["content"])} for m in TALK]}] * 2
    frame = readable_rows(FrameRows(pl.DataFrame(records), [1, 2]), None, ReadingOptions(mapping_of_options(MAPS)))
    assert frame.interactions["row_hash"].to_list() == landed(*records).interactions["row_hash"].to_list()


SPOKEN = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "system", "tool", "narrator", 3, None])},
            optional={"content": st.sampled_from(["Why?", "So.", "", None, 7, [], [{"type": "text", "text": "Hm."}]])},
        ),
        st.sampled_from([None, "x", 1, []]),
    ),
    max_size=6,
)


@given(st.lists(SPOKEN | st.sampled_from([None, "x", 3, {}]), max_size=5), st.integers(0, 5))
def test_every_row_lands_or_is_refused_once_however_a_log_is_cut(talks, at):
    records = [{"interaction_id": f"c{i}", "messages": talk} for i, talk in enumerate(talks)]
    rows = landed(*records)
    taken, refused = set(rows.interactions["row_number"]), rows.quarantine["row_number"].to_list()
    assert sorted([*taken, *refused]) == list(range(1, len(records) + 1))
    cut = [landed(*part) for part in (records[:at], records[at:]) if part]
    assert sorted(rows.interactions["row_hash"]) == sorted(h for part in cut for h in part.interactions["row_hash"])


def test_a_list_with_several_questions_is_proposed_to_be_exploded_and_settings_are_no_memory():
    unknown = UnknownFields()
    unknown.add(landed({**ROW, "config": {"text": "a long text of settings"}}, options=("user_id==u",)).parts)
    text = suggested_mapping(unknown, likenesses(unknown), "")
    assert '# explode = "messages"' in text
    assert tomllib.loads(text)["fields"] == {
        "prompt": "messages.last(user)", "response": "messages.last(assistant)",
    }  # fmt: skip
    one = UnknownFields()
    one.add(landed({**ROW, "messages": TALK[:5]}, options=("user_id==u",)).parts)
    assert "explode" not in suggested_mapping(one, likenesses(one), "")


def test_a_response_is_proposed_where_only_earlier_questions_were_answered():
    unknown = UnknownFields()
    talk = [*TALK, {"role": "user", "content": "Thank you, good bye."}]
    unknown.add(landed({**ROW, "messages": talk}, options=("user_id==u",)).parts)
    text = suggested_mapping(unknown, likenesses(unknown), "")
    assert 'prompt = "messages.last(user)"  # "Thank you, good bye."' in text
    assert 'response = "messages.last(assistant)"  # "db.example."' in text
