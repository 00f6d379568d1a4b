"""Rollouts of Codex in forms that came and went: without wrappers, and forks that go on from another's total."""

from __future__ import annotations

from typing import Any

import pytest
from codex_rollouts import drawn_id, event, given, legacy_turn, meta
from hypothesis import given as drawn
from hypothesis import strategies as st

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Refused, Row, last_folder
from slowwave.transforms.imports.codex import NO_TIME, CodexAdapter

Record = dict[str, Any]
THREAD, PARENT = drawn_id(100), drawn_id(0)
HEADER: Record = {"id": "c3c4b301-27c8-4c70-b6e4-46b99fdf0236", "timestamp": "2025-08-18T01:16:13.522Z",
                  "instructions": None, "git": {"branch": "totals"}}  # fmt: skip
CONTEXT = "<environment_context>\n  <cwd>/home/ann/work/ledger</cwd>\n</environment_context>"


def message(role: str, *texts: str, **more: Any) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts], **more}


def read_rollout(records: list[Record]) -> tuple[list[Record], list[LeftOut | Refused]]:
    located = [Located(number, record) for number, record in enumerate(records, 1)]
    found = [*CodexAdapter().make_rows(located, Context(project_of=last_folder))]
    rows = [one.fields for one in found if isinstance(one, Row) and "prompt" in one.fields]
    return rows, [one for one in found if isinstance(one, (LeftOut, Refused))]


BARE: list[Record] = [
    HEADER,
    {"record_type": "state"},
    message("user", CONTEXT),
    message("user", "Which port?"),
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "call_id": "c-1", "name": "shell", "arguments": '{"command": ["bash", "-lc", "pytest"]}'},
    {"type": "function_call_output", "call_id": "c-1",
     "output": '{"output": "3 passed in 0.1s", "metadata": {"exit_code": 0}}'},
    message("assistant", "It is 5432."),
    message("user", "And the host?"),
    message("assistant", "The same."),
]  # fmt: skip


def test_a_rollout_without_wrappers_has_its_turns_in_their_order() -> None:
    assert CodexAdapter().detect_producer(BARE) == "Codex of 2025, without wrappers"
    rows, _ = read_rollout(BARE)
    assert [(row["prompt"], row["response"]) for row in rows] == [
        ("Which port?", "It is 5432."),
        ("And the host?", "The same."),
    ]
    assert {row["project"] for row in rows} == {"ledger"}
    assert [row["interaction_id"] for row in rows] == [f"codex:{HEADER['id']}:1", f"codex:{HEADER['id']}:2"]
    times = [row["created_at"] for row in rows]
    assert times == sorted(times)
    assert all(time.startswith("2025-08-18T01:16:13.522") for time in times)
    assert rows[0]["git_branch"] == "totals"


def test_its_runs_of_tests_are_outcomes() -> None:
    located = [Located(number, record) for number, record in enumerate(BARE, 1)]
    found = [one.fields for one in CodexAdapter().make_rows(located, Context()) if isinstance(one, Row)]
    assert [row["success"] for row in found if "success" in row] == [True]


def test_an_older_context_names_the_directory_in_words() -> None:
    older = "<environment_context>\nCurrent working directory: /srv/till\n</environment_context>"
    rows, _ = read_rollout([HEADER, message("user", older), *BARE[3:]])
    assert {row["project"] for row in rows} == {"till"}


def test_items_without_a_header_are_refused_with_the_reason() -> None:
    rows, others = read_rollout(BARE[3:])
    assert rows == []
    assert [one.reason for one in others if isinstance(one, Refused)] == [NO_TIME, NO_TIME]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "message", "message": {"role": "user", "content": "Hello"}},
        {"id": "1", "timestamp": "2025-08-18T01:16:13Z"},
        {"type": "message", "role": "user", "content": "Hello"},
    ],
)
def test_records_of_other_programs_are_not_taken_for_it(record: Record) -> None:
    assert CodexAdapter().detect_producer([record]) is None


def count(seconds: float, total: int, last: int | None) -> Record:
    info: Record = {"total_token_usage": {"input_tokens": total - 1, "output_tokens": 1}}
    if last is not None:
        info["last_token_usage"] = {"input_tokens": max(last - 1, 0), "output_tokens": min(last, 1)}
    return event(seconds, "token_count", info=info)


def fork(*counts: Record, **more: Any) -> list[Record]:
    turn = legacy_turn(200, "", "Which port?", "5432.")
    return [meta(100, THREAD, "0.153.1", **({"forked_from_id": PARENT} | more)), *turn[:-1], *counts, turn[-1]]


@pytest.mark.parametrize(
    ("counts", "tokens"),
    [
        ([count(228, 1_020_000, 20_000)], 20_000),
        ([count(227, 1_020_000, 20_000), count(228, 1_025_000, 5_000)], 25_000),
        ([count(227, 1_000_000, 0), count(228, 1_020_000, 20_000)], 20_000),
        ([count(228, 1_020_000, None)], None),
    ],
)
def test_a_fork_that_goes_on_from_a_total_counts_its_own_tokens(counts: list[Record], tokens: int | None) -> None:
    rows, _ = read_rollout(fork(*counts))
    assert [row.get("tokens") for row in rows] == [tokens]


def test_a_thread_of_its_own_counts_from_nothing() -> None:
    rows, _ = read_rollout(fork(count(228, 20_000, None), forked_from_id=None))
    assert [row.get("tokens") for row in rows] == [20_000]


@drawn(st.integers(0, 10**9), st.lists(st.integers(1, 10**6), min_size=1, max_size=5))
def test_what_a_thread_had_spent_before_its_fork_changes_nothing(before: int, spent: list[int]) -> None:
    totals = [before + sum(spent[: place + 1]) for place in range(len(spent))]
    said = enumerate(zip(totals, spent, strict=True))
    counts = [count(227 + place / 10, total, last) for place, (total, last) in said]
    rows, _ = read_rollout(fork(*counts))
    assert [row["tokens"] for row in rows] == [sum(spent)]


def test_records_of_no_turn_are_counted_by_kind() -> None:
    compacted = {"timestamp": "x", "type": "compacted", "payload": {}}
    _, others = read_rollout([*fork(count(228, 9, 9)), compacted, given(300, "user", CONTEXT)])
    counts = {one.sort: one.count for one in others if isinstance(one, LeftOut)}
    assert counts["records of no turn: compacted"] == 1


def test_response_items_alone_are_turns_of_a_thread_that_the_first_of_them_names() -> None:
    wrapped = [{"timestamp": f"2025-09-0{day}T10:00:00Z", "type": "response_item", "payload": item}
               for day, item in enumerate(BARE[2:], 1)]  # fmt: skip
    bare = [{**record["payload"], "timestamp": record["timestamp"]} for record in wrapped]
    for records in (wrapped, bare):
        rows, _ = read_rollout(records)
        assert [(row["prompt"], row["response"]) for row in rows] == [
            ("Which port?", "It is 5432."),
            ("And the host?", "The same."),
        ]
        assert len({row["session_id"] for row in rows}) == 1
        assert rows[0] == read_rollout(records[:7])[0][0]
    assert read_rollout(wrapped[1:])[0][0]["session_id"] != read_rollout(wrapped)[0][0]["session_id"]


def test_what_was_said_before_any_turn_is_counted() -> None:
    _, others = read_rollout([HEADER, message("assistant", "Hello."), *BARE[3:]])
    assert {one.sort: one.count for one in others if isinstance(one, LeftOut)} == {"records of no turn: message": 1}
