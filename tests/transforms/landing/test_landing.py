"""Delivered rows to landed rows: the kind of each, defaults, ids, inline outcomes, and every reason to refuse one."""

import orjson
import polars as pl
import pytest
from delivered import as_frame, as_jsonl, land, tables, utc
from each import each
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave.transforms.core.schema import polars_schema, producer_columns
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import QUARANTINE_SCHEMA, landed_rows
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes

ASKED = {"prompt": "Which port?", "created_at": "2026-03-10T08:00:00Z"}
CHANGE = {"memory_id": "m1", "changed_at": "2026-03-10T08:00:00Z"}
ENDED = {"success": True, "created_at": "2026-03-10T08:00:00Z"}


def only(landed, table):
    """The single row of a table, all else empty."""
    assert landed.quarantine.is_empty()
    assert {name: frame.height for name, frame in tables(landed).items()} == {
        name: int(name == table) for name in tables(landed)
    }
    return tables(landed)[table].row(0, named=True)


def refused(landed):
    """(field, reason) of the single row, refused whole."""
    assert [frame.height for frame in tables(landed).values()] == [0, 0, 0]
    (row,) = landed.quarantine.to_dicts()
    return row["field"], row["reason"]


# ---------------------------------------------------------------------------------------------------------------- kinds

signs = st.fixed_dictionaries(
    {},
    optional={
        "prompt": st.sampled_from([None, "", " \u00a0\t", "Which port?"]),
        "memory_id": st.sampled_from([None, "", "m1"]),
        "success": st.sampled_from([None, "", True, False]),
        "outcome_id": st.sampled_from([None, " ", "o1"]),
    },
)


def kinds_by_contract(record):
    """Tables a row goes to, by the landing contract; () is quarantine."""
    has = {name for name, value in record.items() if value is not None and str(value).strip()}
    if "prompt" in has:
        return ("interactions", "outcomes") if "success" in has else ("interactions",)
    if "memory_id" in has:
        return ("memories",)
    if has & {"success", "outcome_id"}:
        return ("outcomes",) if "success" in has else ()  # an outcome that does not say how it ended
    return ()


@given(st.lists(signs, max_size=6))
def test_kind_is_told_per_row(rows):
    times = {"created_at": "2026-03-10", "changed_at": "2026-03-10"}
    landed = land(*[{**row, **times} for row in rows])
    found = {name: frame["row_number"].to_list() for name, frame in tables(landed).items()}
    expected = {name: [i for i, row in enumerate(rows, 1) if name in kinds_by_contract(row)] for name in found}
    assert found == expected
    assert landed.delivered == len(rows)
    assert landed.quarantine["row_number"].to_list() == [i for i, r in enumerate(rows, 1) if not kinds_by_contract(r)]


def test_a_given_kind_is_not_told_from_the_fields():
    assert only(land({**CHANGE, "prompt": "no prompt here"}, kind="memories"), "memories")["memory_id"] == "m1"
    assert refused(land(CHANGE, kind="interactions"))[0] == "created_at"
    both = land({**ASKED, **ENDED}, kind="outcomes")
    assert orjson.loads(only(both, "outcomes")["extra"]) == {"prompt": "Which port?"}


@pytest.mark.parametrize("prompt", [None, "", " ", "\n\t\u2003\u00a0"])
def test_a_blank_prompt_is_named_as_such(prompt):
    assert refused(land({"prompt": prompt, "created_at": "2026-03-10"})) == ("prompt", "prompt is blank")


def test_a_null_prompt_beside_a_memory_is_a_memory():
    assert only(land({**CHANGE, "prompt": None}), "memories")["extra"] is None


def test_a_row_of_no_kind_is_refused_with_all_it_could_have_had():
    field, reason = refused(land({"created_at": "2026-03-10", "text": "hi"}))
    assert field == ""
    for name in ("prompt", "memory_id", "success", "outcome_id"):
        assert name in reason


# ----------------------------------------------------------------------------------------------------------- quarantine


@each(
    ("row", "field", "reason"),
    [
        ({**ASKED, "prompt": 7}, "prompt", "prompt must be text, not a number"),
        ({**ASKED, "prompt": True}, "prompt", "prompt must be text, not a boolean"),
        ({**ASKED, "prompt": {"role": "user"}}, "prompt", "prompt must be text, not a JSON object"),
        ({"prompt": "hi"}, "created_at", "created_at is missing"),
        ({"prompt": "hi", "created_at": None}, "created_at", "created_at is missing"),
        ({"prompt": "hi", "created_at": "2026-02-30"}, "created_at", "created_at is not a time: '2026-02-30'"),
        ({"prompt": "hi", "created_at": ""}, "created_at", "created_at is missing"),
        ({**ASKED, "created_at": 0}, "created_at", "created_at is 1970-01-01 at midnight, which programs write for"),
        ({**CHANGE, "changed_at": "0001-01-01T00:00:00Z"}, "changed_at", "changed_at is 0001-01-01 at midnight"),
        ({**ASKED, "recorded_at": "soon"}, "recorded_at", "recorded_at is not a time: 'soon'"),
        ({**ASKED, "response": ["a"]}, "response", "response must be text, not a JSON list"),
        ({**ASKED, "project": {}}, "project", "project must be text, not a JSON object"),
        ({**ASKED, "memories_used": "m1"}, "memories_used", "memories_used must be a list"),
        ({**ASKED, "injection_probability": 1.5}, "injection_probability", "injection_probability must lie between"),
        ({**ASKED, "tokens": -1}, "tokens", "tokens must not be below 0"),
        ({"memory_id": "m1"}, "changed_at", "changed_at is missing"),
        ({**CHANGE, "changed_at": "0000-01-01"}, "changed_at", "changed_at is not a time"),
        ({**CHANGE, "memory_id": {}}, "memory_id", "memory_id must be text, not a JSON object"),
        ({**CHANGE, "content": {"a": 1}}, "content", "content must be text, not a JSON object"),
        ({**CHANGE, "status": "retired"}, "status", "status must be one of candidate, active, superseded"),
        ({**CHANGE, "confidence": 1.01}, "confidence", "confidence must lie between 0 and 1, not 1.01"),
        ({**CHANGE, "confidence": -0.01}, "confidence", "confidence must lie between 0 and 1, not -0.01"),
        ({**CHANGE, "confidence": "high"}, "confidence", "confidence must be a number, not 'high'"),
        ({**CHANGE, "importance": 2}, "importance", "importance must lie between 0 and 1, not 2"),
        ({**CHANGE, "pinned": "perhaps"}, "pinned", "pinned must be true or false, not 'perhaps'"),
        ({"success": True}, "created_at", "created_at is missing"),
        ({**ENDED, "success": "partly"}, "success", "success must be true or false, not 'partly'"),
        ({**ENDED, "duration_ms": -1}, "duration_ms", "duration_ms must not be below 0"),
        ({**ENDED, "strategy": {"name": "x"}}, "strategy", "strategy must be text, not a JSON object"),
        ({"outcome_id": "o1", "created_at": "2026-03-10"}, "success", "success is missing"),
        ({**ASKED, "success": "partly"}, "success", "success must be true or false"),
        ({**ASKED, "success": True, "duration_ms": "long"}, "duration_ms", "duration_ms must be a number, not 'long'"),
        ({**ASKED, "success": True, "outcome_id": []}, "outcome_id", "outcome_id must be text, not a JSON list"),
        ({**ASKED, "success": False, "error_message": {"c": 1}}, "error_message", "error_message must be text"),
        ({**ENDED, "created_at": "soon", "duration_ms": 1e308}, "created_at", "created_at is not a time: 'soon'"),
        ({**ASKED, "created_at": None, "success": True, "duration_ms": 1e18}, "created_at", "created_at is missing"),
    ],
)  # fmt: skip
def test_a_row_is_refused_whole_with_its_reason(row, field, reason):
    good = {**ASKED, "interaction_id": "good"}
    landed = land(good, row)
    assert landed.interactions["interaction_id"].to_list() == ["good"]
    assert [frame.height for frame in tables(landed).values()] == [1, 0, 0]
    (bad,) = landed.quarantine.to_dicts()
    assert (bad["row_number"], bad["field"]) == (2, field)
    assert bad["reason"].startswith(reason)
    assert orjson.loads(bad["raw_text"]) == row


def test_all_reasons_of_a_row_are_told_in_one():
    row = {**CHANGE, "status": "retired", "confidence": 2, "changed_at": None}
    field, reason = refused(land(row))
    assert field == "changed_at"
    assert all(f"{name} " in reason for name in ("changed_at", "status", "confidence"))


def test_a_row_that_is_not_utf8_is_shown_escaped():
    rows = RecordRows([{"x": 1}], [7], [b'{"x": "\xff"}'])
    (bad,) = landed_rows(rows).quarantine.to_dicts()
    assert (bad["row_number"], bad["raw_text"]) == (7, '{"x": "\\xff"}')


# ----------------------------------------------------------------------------------------------- what is taken and kept


@pytest.mark.parametrize("blank", ["", " ", "\u00a0\t\u200b"])
@pytest.mark.parametrize("of", [{**ASKED, "interaction_id": "i"}, {**ENDED, "outcome_id": "o"}])
def test_a_blank_text_is_the_same_as_no_field(of, blank):
    table = Interactions if "prompt" in of else Outcomes
    optional = [c.name for c in producer_columns(table) if not c.required and c.name not in {*of, "extra"}]
    landed = land(of, {**of, **dict.fromkeys(optional, blank)})
    assert landed.quarantine.is_empty()
    absent, stated = landed.table(table).drop("row_number", "extra").to_dicts()
    kept_as_text = {"project", "agent"} if table is Interactions else set()  # '' is no project; any other text is one
    differing = {name for name in absent if absent[name] != stated[name]} - kept_as_text
    assert differing <= {"row_hash", "former_hash"}


def test_a_blank_prompt_beside_an_outcome_is_an_outcome():
    for blank in ("", " ", None):
        row = only(land({"outcome_id": "o", "prompt": blank, "created_at": "2026-03-10", "success": False}), "outcomes")
        assert (row["outcome_id"], row["success"]) == ("o", False)


def test_an_interaction_whose_success_is_blank_has_no_outcome():
    assert only(land({**ASKED, "success": ""}), "interactions")["prompt"] == "Which port?"


def test_numbers_and_booleans_are_taken_as_their_text_except_in_prompt():
    row = {**ASKED, "project": 7, "agent": True, "session_id": 1.5, "response": False, "interaction_id": 12}
    found = only(land(row), "interactions")
    assert [found[n] for n in ("project", "agent", "session_id", "response", "interaction_id")] == [
        "7", "true", "1.5", "false", "12",
    ]  # fmt: skip


def test_an_interaction_says_only_its_prompt_and_time():
    found = only(land(ASKED), "interactions")
    said = {"created_at": utc(2026, 3, 10, 8), "prompt": "Which port?", "project": "", "agent": "", "reinforce": True}
    made = {name: found.pop(name) for name in ("row_number", "interaction_id", "row_hash", "key_hash")}
    assert made["interaction_id"].startswith("i-")
    assert found == dict.fromkeys(found) | said | {"recorded_at": utc(2026, 3, 10, 8)}


def test_a_change_says_only_its_memory_and_time():
    found = only(land(CHANGE), "memories")
    said = {"memory_id": "m1", "changed_at": utc(2026, 3, 10, 8), "recorded_at": utc(2026, 3, 10, 8)}
    for name in ("row_number", "row_hash", "key_hash"):
        found.pop(name)
    assert found == dict.fromkeys(found) | said


def test_recorded_at_of_a_producer_is_kept():
    later = {"recorded_at": "2026-03-11"}
    assert only(land({**ASKED, **later}), "interactions")["recorded_at"] == utc(2026, 3, 11)
    assert only(land({**CHANGE, **later}), "memories")["recorded_at"] == utc(2026, 3, 11)
    assert only(land({**ENDED, **later, "duration_ms": 5}), "outcomes")["recorded_at"] == utc(2026, 3, 11)
    inline = land({**ASKED, **later, "success": True, "duration_ms": 5})
    assert inline.outcomes["recorded_at"].to_list() == [utc(2026, 3, 11)]


unknown = st.dictionaries(
    st.sampled_from(["Prompt", "x", "extra", "row_hash", "clears", "memory id", ""]),
    st.none() | st.integers(-5, 5) | st.text(max_size=3) | st.lists(st.booleans(), max_size=2),
)


@given(st.sampled_from([ASKED, CHANGE, ENDED]), unknown)
def test_unknown_fields_are_kept_in_extra(row, fields):
    landed = land({**row, **fields})
    (frame,) = [frame for frame in tables(landed).values() if frame.height]
    kept = {name: value for name, value in fields.items() if value is not None}
    extra = frame["extra"].item()
    assert (orjson.loads(extra) if extra is not None else {}) == kept
    assert landed.quarantine.is_empty()


def test_an_unknown_field_nested_past_what_can_be_kept_is_refused_alone():
    nested = orjson.loads(b"[" * 1000 + b"]" * 1000)
    records = [ASKED, {**ASKED, "prompt": "b", "x": nested}, {**ASKED, "prompt": "c", "x": 1}]
    landed = landed_rows(RecordRows(records, [1, 2, 3], [b"1", b"2", b"3"]))
    assert landed.interactions["prompt"].to_list() == ["Which port?", "c"]
    assert landed.quarantine["row_number"].to_list() == [2]
    assert "an unknown field cannot be kept" in landed.quarantine["reason"].item()


@pytest.mark.parametrize("of", [as_frame, None])
def test_empty_clears_and_null_carries(of):
    cleared = {**CHANGE, "content": "", "project": "", "status": "", "confidence": "", "pinned": "", "source_ids": ""}
    found = only(landed_rows(of([cleared])) if of else land(cleared), "memories")
    assert (found["content"], found["project"], found["status"]) == ("", "", "")
    assert (found["confidence"], found["pinned"], found["source_ids"]) == (None, None, None)
    assert found["clears"] == ["confidence", "pinned", "source_ids"]
    carried = {**CHANGE, "content": None, "status": None, "confidence": None, "pinned": None}
    found = only(landed_rows(of([carried])) if of else land(carried), "memories")
    assert [found[n] for n in ("content", "status", "confidence", "pinned", "clears")] == [None] * 5


ABOUT = {
    "scope": "agent",
    "user_id": "ada",
    "category": "style",
    "domain": "auth",
    "source": "user",
    "tags": ["a", "b"],
}


def test_what_a_memory_is_about_is_landed_in_its_columns():
    found = only(land({**CHANGE, **ABOUT}), "memories")
    assert {name: found[name] for name in ABOUT} == ABOUT
    assert found["extra"] is None


@each("of", [as_frame, None])
@each(
    ("name", "value"),
    [
        ("scope", "everywhere"), ("scope", 7), ("scope", "Agent"), ("tags", "urgent"), ("tags", {"a": 1}), ("tags", 3),
        ("tags", [{"a": 1}]), ("user_id", ["ada"]), ("user_id", {"id": 1}), ("category", [1]), ("source", {"of": "x"}),
    ],
)  # fmt: skip
def test_a_value_that_fits_no_column_of_what_a_memory_is_about_stays_in_extra(name, value, of):
    given = {**CHANGE, "domain": "auth", name: value, "x": 1}
    found = only(landed_rows(of([given])) if of else land(given), "memories")
    assert (found[name], found["domain"], found["clears"]) == (None, "auth", None)
    assert orjson.loads(found["extra"]) == {name: value, "x": 1}


@pytest.mark.parametrize("value", ["\x00", "\u202eada", "'; DROP TABLE memories; --", "../../etc", " ", "ä" * 10_000])
def test_any_text_is_a_user(value):
    assert only(land({**CHANGE, "user_id": value}), "memories")["user_id"] == value


def test_ten_thousand_tags_are_kept():
    tags = [f"tag {n}" for n in range(10_000)]
    assert only(land({**CHANGE, "tags": tags}), "memories")["tags"] == tags


def test_what_a_memory_is_about_is_cleared_by_an_empty_text():
    found = only(land({**CHANGE, **dict.fromkeys(ABOUT, "")}), "memories")
    assert [found[name] for name in ("scope", "user_id", "source", "tags", "clears")] == ["", "", "", None, ["tags"]]


def test_what_an_answer_cites_and_how_an_outcome_is_known_land_in_their_columns():
    asked = only(land({**ASKED, "memories_cited": ["m1", 7]}), "interactions")
    assert (asked["memories_cited"], asked["extra"]) == (["m1", "7"], None)
    ended = only(land({**ENDED, "basis": "inferred", "basis_method": "transcript_tests/1"}), "outcomes")
    assert (ended["basis"], ended["basis_method"], ended["extra"]) == ("inferred", "transcript_tests/1", None)


@each("of", [as_jsonl, as_frame])
@each("value", ["m1", {"m1": 1}, 3, [["m1"]]])
def test_citations_that_are_no_list_of_texts_stay_in_extra(value, of):
    found = only(landed_rows(of([{**ASKED, "memories_cited": value}])), "interactions")
    assert (found["memories_cited"], orjson.loads(found["extra"])) == (None, {"memories_cited": value})


@pytest.mark.parametrize("value", ["guessed", "Inferred", 1, ["inferred"]])
def test_a_basis_of_another_name_stays_in_extra(value):
    found = only(land({**ENDED, "basis": value}), "outcomes")
    assert (found["basis"], orjson.loads(found["extra"])) == (None, {"basis": value})
    row = land({**ASKED, "success": True, "basis": value, "basis_method": "m/1"})
    assert orjson.loads(row.interactions["extra"].item()) == {"basis": value, "basis_method": "m/1"}
    assert row.outcomes.select("basis", "basis_method", "extra").row(0) == (None, "m/1", None)


def test_a_value_that_can_neither_be_read_nor_kept_is_refused():
    nested = orjson.loads(b"[" * 1000 + b"]" * 1000)
    field, reason = refused(landed_rows(RecordRows([{**CHANGE, "tags": nested}], [1], [b"1"])))
    assert field == "extra"
    assert "an unknown field cannot be kept" in reason


# ----------------------------------------------------------------------------------------------------- ids and outcomes

IDENTIFYING = ("project", "agent", "client", "session_id", "created_at", "prompt", "response")


@given(
    st.fixed_dictionaries({name: st.sampled_from(["2026-03-10", "2026-03-11"]) for name in IDENTIFYING}),
    st.sampled_from([*IDENTIFYING, "tokens", "recorded_at", "user_id", "unknown"]),
)
def test_a_missing_interaction_id_hashes_what_identifies_it(row, changed):
    values = (1, 2) if changed == "tokens" else ("2026-03-12", "2026-03-13")
    ids = [land({**row, changed: value}).interactions["interaction_id"].item() for value in values]
    assert (ids[0] != ids[1]) == (changed in IDENTIFYING)


def test_a_missing_id_may_be_absent_null_or_empty():
    rows = (ASKED, {**ASKED, "interaction_id": None}, {**ASKED, "interaction_id": ""})
    ids = {land(row).interactions["interaction_id"].item() for row in rows}
    assert len(ids) == 1


def test_a_missing_outcome_id_hashes_the_content():
    ids = {
        land({**ENDED, **given}).outcomes["outcome_id"].item()
        for given in ({}, {"success": False}, {"task": "a"}, {"tokens": 1}, {"interaction_id": "i"}, {"x": 1})
    }
    assert len(ids) == 6
    assert land(ENDED).outcomes["outcome_id"].item() in ids


def test_an_inline_outcome_has_the_fields_of_both():
    row = {
        **ASKED, "interaction_id": "i1", "project": "p", "agent": "a", "session_id": "s", "user_id": "u", "tokens": 5,
        "cost": 0.5, "success": False, "task_type": "t", "task": "k", "strategy": "y", "attempted": True,
        "error_message": "e", "duration_ms": 1500, "feedback": "f", "unknown": 1,
    }  # fmt: skip
    landed = land(row)
    assert landed.delivered == 1
    assert orjson.loads(landed.interactions["extra"].item()) == {"unknown": 1}
    found = landed.outcomes.row(0, named=True)
    shared = {n: row[n] for n in row if n in polars_schema(Outcomes) and n != "created_at"}
    assert {n: found[n] for n in shared} == shared
    assert found["created_at"] == utc(2026, 3, 10, 8)
    assert found["recorded_at"] == utc(2026, 3, 10, 8, 0, 1, 500_000)
    assert landed.interactions["recorded_at"].item() == utc(2026, 3, 10, 8)
    assert found["extra"] is None


def test_the_id_of_an_inline_outcome_derives_from_its_interaction_alone():
    ids = [
        land({**ASKED, **row}).outcomes["outcome_id"].item()
        for row in (
            {"interaction_id": "i1", "success": True},
            {"interaction_id": "i1", "success": False, "task": "x", "created_at": "2026-04-01"},
            {"interaction_id": "i2", "success": True},
            {"interaction_id": "i1", "success": True, "outcome_id": "o1"},
        )
    ]
    assert ids[0] == ids[1] != ids[2]
    assert ids[3] == "o1"


SAID = {"basis": "inferred", "basis_method": "transcript_tests/1"}


def test_an_inline_outcome_says_how_it_is_known_and_is_another_row_without_that():
    row = {**ASKED, "interaction_id": "i1", "success": True}
    plain, said = land(row), land({**row, **SAID})
    assert said.outcomes.select(*SAID).row(0) == tuple(SAID.values())
    assert orjson.loads(said.interactions["extra"].item()) == SAID  # where releases that knew neither left them
    assert said.outcomes["outcome_id"].equals(plain.outcomes["outcome_id"])
    assert said.outcomes["row_hash"].item() != plain.outcomes["row_hash"].item()
    assert said.outcomes["former_hash"].to_list() == plain.outcomes["row_hash"].to_list()
    together = land(row, {**row, **SAID}, {**row, "interaction_id": "i2", "basis": "a guess"})
    assert together.outcomes["former_hash"].to_list() == [None, *plain.outcomes["row_hash"], None]
    assert "former_hash" not in plain.outcomes.columns


@given(
    st.lists(st.sampled_from([{}, {"success": True}, SAID, {**SAID, "success": True}, {"success": False}]), max_size=6)
)
def test_an_interaction_has_the_same_extra_wherever_it_has_the_same_hash(more):
    rows = land(*({**ASKED, "interaction_id": "i1", **each} for each in more)).interactions
    assert rows.select("row_hash", "extra").unique().height == rows["row_hash"].n_unique()


def test_outcome_fields_without_success_make_no_outcome():
    landed = land({**ASKED, "strategy": "retry", "outcome_id": "o1"})
    assert orjson.loads(only(landed, "interactions")["extra"]) == {"strategy": "retry", "outcome_id": "o1"}


LAST = utc(9999, 12, 31, 23, 59, 59)


@given(st.floats(0, 1e18) | st.floats(0, 1e300))
@example(9.2e15)
@example(9.223372036854775e15)
@example(9.223372036854776e15)
@example(1e300)
def test_an_outcome_is_known_when_the_task_ended_and_never_before_it_began(duration_ms):
    for row in ({}, {"prompt": "hi"}):
        found = land({**ENDED, **row, "duration_ms": duration_ms}).outcomes.row(0, named=True)
        expected_us = 1_773_129_600_000_000 + round(duration_ms * 1000)
        latest_us = 253_402_300_799_000_000
        known = pl.Series([min(expected_us, latest_us)]).cast(pl.Datetime("us")).item()
        assert abs((found["recorded_at"] - known).total_seconds()) <= 1e-6


def test_frames_have_the_declared_columns_even_when_empty():
    for landed in (land(), land(ASKED, CHANGE, ENDED, {"x": 1})):
        for table in (Interactions, Outcomes, Memories):
            assert landed.table(table).schema == {"row_number": pl.Int64(), **polars_schema(table)}
        assert landed.quarantine.schema == QUARANTINE_SCHEMA
