"""Logs of single requests: each question with the answer that ended its turn."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_rows import delivered, interactions, left_out
from odd_values import spoiled

from slowwave.flows.imports.sources import SOURCES
from slowwave.transforms.imports.chats.chat_log import ChatLog
from slowwave.transforms.imports.chats.model_calls import LANGFUSE_UI, LANGSMITH, LITELLM, LLM_REQUESTS

Record = dict[str, Any]
QUESTION, ANSWER = "Which port does it use?", "It listens on 4173."
AT, ENDED = "2026-03-07T16:13:20Z", "2026-03-07T16:13:22Z"
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": QUESTION},
]
CHOICES = [{"finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}]
TOOLS = [{"finish_reason": "tool_calls", "message": {"content": None, "tool_calls": [{"id": "c-1"}]}}]
OPENAI = {
    "timestamp": AT,
    "user": "ada",
    "request": {"model": "model-1", "messages": MESSAGES},
    "response": {"id": "r-1", "model": "model-1", "choices": CHOICES, "usage": {"total_tokens": 30}},
}
ANTHROPIC = {
    "created_at": AT,
    "body": {"model": "model-1", "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]},
    "response": {
        "id": "r-1",
        "content": [{"type": "text", "text": ANSWER}],
        "role": "assistant",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 20, "output_tokens": 10},
    },
}
RESPONSES = {
    "id": "r-1",
    "created_at": 1_772_900_000,
    "request": {"model": "model-1", "input": QUESTION},
    "response": {
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}],
        "usage": {"input_tokens": 20, "output_tokens": 10, "total_tokens": 30},
    },
}
RUN = {"id": "r-1", "trace_id": "r-1", "run_type": "llm", "start_time": AT, "inputs": {"messages": MESSAGES}}
RUN_ENDED = {"id": "r-1", "end_time": ENDED, "outputs": {"choices": CHOICES, "usage": {"total_tokens": 30}}}
EXPORTED = RUN | RUN_ENDED | {"session_name": "shop", "extra": {"metadata": {"thread_id": "t-1"}}}
SPEND = {
    "request_id": "r-1",
    "call_type": "acompletion",
    "startTime": "2026-03-07 16:13:20.5",
    "endTime": "2026-03-07 16:13:22.5",
    "spend": 0.01,
    "total_tokens": 30,
    "messages": json.dumps(MESSAGES),
    "response": json.dumps({"choices": CHOICES}),
}
TRACE = {"id": "r-1", "timestamp": AT, "input": {"messages": MESSAGES}, "output": ANSWER, "sessionId": None}
OBSERVATION = {"id": "o-1", "traceId": "r-1", "type": "GENERATION", "startTime": AT, "input": MESSAGES}
CALLS: list[tuple[ChatLog, Record]] = [
    (LLM_REQUESTS, OPENAI),
    (LLM_REQUESTS, ANTHROPIC),
    (LLM_REQUESTS, RESPONSES),
    (LANGSMITH, {"post": [RUN], "patch": [RUN_ENDED]}),
    (LANGSMITH, EXPORTED),
    (LITELLM, SPEND),
    (LANGFUSE_UI, TRACE),
    (LANGFUSE_UI, {"trace": TRACE, "observations": [OBSERVATION]}),
    (LANGFUSE_UI, OBSERVATION | {"output": {"role": "assistant", "content": ANSWER}}),
]
of_each = pytest.mark.parametrize(("calls", "record"), CALLS)


@of_each
def test_the_last_question_has_its_answer(calls: ChatLog, record: Record) -> None:
    (row,) = interactions(calls, [record])
    assert (row["prompt"], row["response"]) == (QUESTION, ANSWER)
    assert row["interaction_id"].endswith(":r-1")
    assert row["created_at"].startswith("2026-03-07T16:13:20")


@of_each
def test_one_importer_takes_it(calls: ChatLog, record: Record) -> None:
    assert [source.name for source in SOURCES if source.adapter.detect_producer([record])] == [calls.name]


def test_a_request_that_was_answered_by_calls_is_part_of_a_turn() -> None:
    first = OPENAI | {"response": {"id": "r-0", "choices": TOOLS}}
    assert [row["interaction_id"] for row in interactions(LLM_REQUESTS, [first, OPENAI])] == ["llm-requests:r-1:r-1"]
    assert left_out(LLM_REQUESTS, [first])[
        "a request that was answered by calls of tools: its turn ends with a later one"
    ]


def test_of_a_session_each_request_is_a_turn() -> None:
    later = OPENAI | {"response": OPENAI["response"] | {"id": "r-2"}}
    rows = interactions(LLM_REQUESTS, [one | {"session_id": "s-1"} for one in (OPENAI, later)])
    assert [row["interaction_id"] for row in rows] == ["llm-requests:s-1:r-1", "llm-requests:s-1:r-2"]
    assert {row["session_id"] for row in rows} == {"s-1"}
    assert {row["user_id"] for row in rows} == {"ada"}


def test_requests_without_ids_are_told_apart_by_what_was_said_and_when() -> None:
    bare = OPENAI | {"response": {"choices": CHOICES}, "session_id": "A"}
    other = bare | {"session_id": "B"}
    later = bare | {"timestamp": ENDED}
    forwards = {row["interaction_id"]: row["created_at"] for row in interactions(LLM_REQUESTS, [bare, other, later])}
    assert len(forwards) == 3
    assert {row["interaction_id"]: row["created_at"] for row in interactions(LLM_REQUESTS, [later, other, bare])} == (
        forwards
    )


def test_roots_of_one_trace_are_turns_of_their_own() -> None:
    first = OBSERVATION | {"output": ANSWER}
    second = first | {"id": "o-2", "startTime": ENDED, "input": "And then?"}
    assert [row["prompt"] for row in interactions(LANGFUSE_UI, [first, second])] == [QUESTION, "And then?"]


def test_what_a_client_says_beside_results_of_tools_is_no_question() -> None:
    result = {"type": "tool_result", "tool_use_id": "c-1", "content": "ok"}
    reminder = {"role": "user", "content": [result, {"type": "text", "text": "Remember the list."}]}
    asked = OPENAI["request"] | {"messages": [*MESSAGES, {"role": "assistant", "content": "I look."}, reminder]}
    (row,) = interactions(LLM_REQUESTS, [OPENAI | {"request": asked}])
    assert row["prompt"] == QUESTION


def test_a_run_that_ends_in_a_later_record_has_its_answer() -> None:
    inner = {"id": "r-9", "parent_run_id": "r-1", "outputs": {"output": "Inner."}}
    other = {"id": "r-8", "end_time": ENDED, "outputs": {"output": "To another."}}
    batches = [{"post": [RUN], "patch": []}, {"patch": [inner]}, {"patch": [other]}, {"patch": [RUN_ENDED]}]
    (row,) = interactions(LANGSMITH, batches)
    assert (row["prompt"], row["response"]) == (QUESTION, ANSWER)
    assert left_out(LANGSMITH, batches) == {"a run within another": 1, "an answer without its prompt": 1}


def test_several_inputs_at_once_are_read_as_the_first() -> None:
    message = {"type": "ai", "content": ANSWER}
    run = EXPORTED | {"inputs": {"messages": [MESSAGES]}, "outputs": {"generations": [[{"message": message}]]}}
    (row,) = interactions(LANGSMITH, [run])
    assert (row["prompt"], row["response"]) == (QUESTION, ANSWER)


def test_a_call_whose_messages_stand_in_the_request_of_the_proxy() -> None:
    request = json.dumps({"model": "model-1", "messages": MESSAGES})
    (row,) = interactions(LITELLM, [SPEND | {"messages": "{}", "proxy_server_request": request}])
    assert (row["prompt"], row["response"]) == (QUESTION, ANSWER)


def test_a_request_without_a_response_failed() -> None:
    (row,) = interactions(LLM_REQUESTS, [OPENAI | {"id": "r-1", "response": None, "error": "timed out"}])
    assert (row["ended"], "response" in row) == ("api_error", False)


def test_what_failed_is_no_answer() -> None:
    failed = OPENAI | {"response": {"id": "r-1", "error": {"message": "overloaded"}}, "status_code": 529}
    (row,) = interactions(LLM_REQUESTS, [failed])
    assert row["ended"] == "api_error"
    assert "response" not in row


def test_runs_within_others_and_calls_without_texts_are_left_out() -> None:
    assert left_out(LANGSMITH, [EXPORTED | {"parent_run_id": "r-0"}]) == {"a run within another": 1}
    (sort,) = left_out(LITELLM, [SPEND | {"messages": "{}"}])
    assert "store_prompts_in_spend_logs" in sort


@of_each
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.02, 0.1, 0.3]))
def test_odd_values_anywhere_end_no_import(calls: ChatLog, record: Record, seed: int, share: float) -> None:
    odd = spoiled(record, random.Random(seed), share)
    for row in delivered(calls, [odd] if isinstance(odd, dict) else []):
        assert row["provenance"]["adapter"] == calls.name
