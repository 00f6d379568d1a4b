"""Which spans are an interaction, and what it holds, whichever convention and place its texts are in."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from otlp_documents import (
    OTHER_TRACE,
    TRACE,
    agent,
    chat,
    left_out,
    log,
    logs,
    made,
    messages,
    refused,
    rows,
    search,
    span,
    span_id,
    traces,
)


def interactions(*documents: dict[str, Any], **told: Any) -> list[dict[str, Any]]:
    return rows(made(*documents, **told), "interaction_id")


def only(*documents: dict[str, Any], **told: Any) -> dict[str, Any]:
    (one,) = interactions(*documents, **told)
    return one


def test_a_call_is_an_interaction_named_by_its_ids() -> None:
    held = chat("Which port?", "5432.") | {
        "gen_ai.conversation.id": "c-1",
        "enduser.id": "ann",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.response.model": "model-x-2",
    }
    assert only(traces(span(1, held, start=1.5, seconds=2))) == {
        "interaction_id": f"otlp:{TRACE}:{span_id(1)}",
        "created_at": "2026-02-02T02:40:01.500000Z",
        "recorded_at": "2026-02-02T02:40:03.500001Z",
        "project": "shop",
        "client": "tests.instrumentation",
        "session_id": "c-1",
        "user_id": "ann",
        "prompt": "Which port?",
        "response": "5432.",
        "tokens": 15,
        "model": "model-x-2",
    }


def test_the_topmost_turn_of_an_agent_is_the_interaction() -> None:
    found = only(
        traces(
            span(1, agent("Deploy it", "Deployed.")),
            span(2, agent("Run the checks", "They pass."), parent=1),
            span(3, chat("Deploy it", "Let me see."), parent=1),
            span(4, chat("Run the checks", "Checking."), parent=2),
        )
    )
    assert found["prompt"] == "Deploy it"
    assert found["response"] == "Deployed."
    assert found["agent"] == "dev"


def test_a_turn_without_its_own_text_has_that_of_its_first_and_last_call() -> None:
    tools = messages(("user", "Which port?"), ("assistant", "Let me look."), ("tool", "5432"))
    found = only(
        traces(
            span(1, agent(), seconds=9),
            span(2, chat("Which port?", "Let me look."), parent=1, start=1),
            span(3, chat("", "It is 5432.", further={"gen_ai.input.messages": tools}), parent=1, start=3),
        )
    )
    assert found["interaction_id"].endswith(span_id(1))
    assert found["prompt"] == "Which port?"
    assert found["response"] == "It is 5432."


def test_a_workflow_without_text_leaves_it_to_the_agents_that_have_it() -> None:
    workflow = {"gen_ai.operation.name": "invoke_workflow"}
    spans = [span(1, workflow, seconds=9), span(2, agent("One?", "1"), parent=1), span(3, agent("Two?", "2"), parent=1)]
    spans.append(span(4, chat("One?", "1"), parent=2))
    assert [one["prompt"] for one in interactions(traces(*spans))] == ["One?", "Two?"]


def test_of_a_history_repeated_in_each_call_the_last_message_of_the_user_counts() -> None:
    history = messages(("system", "Be brief."), ("user", "Hello"), ("assistant", "Hi"), ("user", "Which port?"))
    assert (
        only(traces(span(1, chat(answered="5432", further={"gen_ai.input.messages": history}))))["prompt"]
        == "Which port?"
    )


def test_calls_of_one_turn_without_an_agent_are_one_interaction() -> None:
    after_tool = messages(("user", "Which port?"), ("assistant", ""), ("tool", "port=5432"))
    found = only(
        traces(
            span(1, chat("Which port?", further={"gen_ai.usage.input_tokens": 5})),
            span(
                2,
                chat(answered="5432.", further={"gen_ai.input.messages": after_tool, "gen_ai.usage.input_tokens": 7}),
                start=2,
            ),
        )
    )
    assert found["response"] == "5432."
    assert found["tokens"] == 12


def test_a_retry_after_an_error_is_no_interaction_of_its_own() -> None:
    failed = span(1, chat("Which port?"), status={"code": 2, "message": "timeout"})
    found = made(traces(failed, span(2, chat("Which port?", "5432."), start=2)))
    assert [one["response"] for one in rows(found, "interaction_id")] == ["5432."]


def test_the_same_question_asked_twice_is_two_interactions() -> None:
    asked_twice = traces(span(1, chat("Which port?", "5432.")), span(2, chat("Which port?", "5433."), start=2))
    assert [one["response"] for one in interactions(asked_twice)] == ["5432.", "5433."]


def test_a_call_told_of_by_two_instrumentations_counts_once() -> None:
    answer = {"gen_ai.response.id": "r-1", "gen_ai.usage.input_tokens": 10}
    openinference = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Which port?",
        "llm.token_count.total": 10,
        "output.mime_type": "application/json",
        "output.value": '{"id": "r-1"}',
    }
    for twice in (
        traces(span(1, chat("Which port?", "5432.", further=answer)), span(2, openinference, start=0.1)),
        traces(span(1, openinference), span(2, chat("Which port?", "5432.", further=answer), parent=1)),
        traces(
            span(1, agent("Which port?")), span(2, openinference, parent=1), span(3, chat(further=answer), parent=1)
        ),
        traces(span(1, openinference), span(2, chat(further=answer), start=0.1)),
    ):
        found = made(twice)
        (one,) = rows(found, "interaction_id")
        assert one["tokens"] == 10
        assert left_out(found) == {}


def test_tokens_are_of_the_calls_that_none_is_below() -> None:
    spent = {"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": 20}
    within = traces(
        span(1, agent("Go", "Done", further={"gen_ai.usage.input_tokens": 999})),
        span(2, chat("Go", further=spent), parent=1),
        span(3, chat("Go", further={"gen_ai.usage.input_tokens": 7}), parent=2),
    )
    assert only(within)["tokens"] == 7
    alone = traces(span(1, agent("Go", "Done", further=spent)))
    assert only(alone)["tokens"] == 120


def test_content_may_stand_on_the_span_in_its_events_or_in_log_records() -> None:
    details = {
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Which port?"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "5432."}]}],
    }
    event = "gen_ai.client.inference.operation.details"
    on_event = span(1, chat(), events=[{"name": event, "timeUnixNano": "1770000000500000000", "attributes": []}])
    on_event["events"][0]["attributes"] = logs(log(event, details))["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0][
        "attributes"
    ]
    on_span = traces(span(1, chat("Which port?", "5432.")))
    in_logs = logs(log(event, details, of=1))
    for documents in ([on_span], [traces(on_event)], [traces(span(1, chat())), in_logs], [on_span, in_logs]):
        found = only(*documents)
        assert (found["prompt"], found["response"]) == ("Which port?", "5432.")
    assert only(in_logs)["interaction_id"] == f"otlp:{TRACE}:{span_id(1)}"


def test_messages_as_one_event_each_are_read() -> None:
    records = logs(
        log("gen_ai.system.message", {}, of=1, at=0.1, body={"content": "Be brief."}),
        log("gen_ai.user.message", {}, of=1, at=0.2, body={"content": "Which port?"}),
        log("gen_ai.choice", {}, of=1, at=0.3, body={"index": 0, "message": {"role": "assistant", "content": "5432."}}),
    )
    found = only(traces(span(1, chat())), records)
    assert (found["prompt"], found["response"]) == ("Which port?", "5432.")


def test_attributes_with_a_number_each_are_read() -> None:
    held = {
        "gen_ai.system": "x",
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "Be brief.",
        "gen_ai.prompt.10.role": "user",
        "gen_ai.prompt.10.content": "Which port?",
        "gen_ai.prompt.2.role": "user",
        "gen_ai.prompt.2.content": "Hello",
        "gen_ai.completion.0.content": "5432.",
    }
    found = only(traces(span(1, held)))
    assert (found["prompt"], found["response"]) == ("Which port?", "5432.")


@pytest.mark.parametrize(
    ("value", "mime_type", "prompt", "form"),
    [
        ("Which port?", "text/plain", "Which port?", None),
        ('{"input": "Which port?"}', "application/json", "Which port?", None),
        ('{"messages": [["human", "Which port?"]]}', "application/json", "Which port?", None),
        ('{"messages": [{"role": "user", "content": [{"type": "text", "text": "Which port?"}]}]}', "application/json",
         "Which port?", None),
        ('{"x":1}', "application/json", '{"x":1}', "json"),
        ('{"x":1}', "text/plain", '{"x":1}', None),
    ],
)  # fmt: skip
def test_openinference_has_its_input_as_a_value(value: str, mime_type: str, prompt: str, form: str | None) -> None:
    held = {
        "openinference.span.kind": "CHAIN",
        "input.value": value,
        "input.mime_type": mime_type,
        "output.value": "5432.",
        "session.id": "s-1",
        "user.id": "ann",
    }
    call = {"openinference.span.kind": "LLM", "llm.token_count.total": 9, "llm.cost.total": 0.5}
    found = only(traces(span(1, held), span(2, call, parent=1), span(3, call, parent=1)))
    assert found["prompt"] == prompt
    assert found.get("prompt_form") == form
    assert (found["response"], found["tokens"], found["cost"]) == ("5432.", 18, 1.0)
    assert (found["session_id"], found["user_id"]) == ("s-1", "ann")


def test_a_request_without_a_word_of_the_users_is_no_question() -> None:
    held = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Sum up.",
        "input.value": '{"messages": [{"role": "system", "content": "Sum up."}]}',
        "input.mime_type": "application/json",
    }
    assert interactions(traces(span(1, held))) == []
    assert interactions(traces(span(1, {**held, "input.value": "plain", "input.mime_type": "text/plain"}))) == []


def test_of_a_span_that_is_told_of_twice_the_later_and_fuller_counts() -> None:
    early, late = span(1, chat("Which port?"), seconds=1), span(1, chat("Which port?", "5432."), seconds=2)
    bare = span(1, {"gen_ai.operation.name": "chat"}, seconds=2)
    for order in ([early, late, bare], [bare, late, early]):
        assert only(*map(traces, order))["response"] == "5432."


def test_results_of_tools_and_thoughts_are_neither_prompt_nor_response() -> None:
    parts = [{"type": "tool_call_response", "response": "TOOL RESULT"}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Which port?"}]}, {"role": "user", "parts": parts}]
    answer = [
        {
            "role": "assistant",
            "parts": [{"type": "reasoning", "content": "THOUGHT"}, {"type": "text", "content": "5432."}],
        }
    ]
    held = chat() | {
        "gen_ai.input.messages": orjson.dumps(asked).decode(),
        "gen_ai.output.messages": orjson.dumps(answer).decode(),
    }
    found = only(traces(span(1, held)))
    assert (found["prompt"], found["response"]) == ("Which port?", "5432.")


def test_without_capture_there_is_no_interaction_and_the_variable_to_set_is_named() -> None:
    found = made(traces(span(1, agent()), span(2, chat(), parent=1), span(3, chat(), trace=OTHER_TRACE)))
    assert rows(found, "interaction_id") == []
    ((sort, count),) = left_out(found).items()
    assert count == 2
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in sort


def test_calls_of_evaluators_are_no_interactions() -> None:
    judge = {"openinference.span.kind": "EVALUATOR"}
    found = made(traces(span(1, judge), span(2, chat("Is this right?", "Yes"), parent=1)))
    assert rows(found, "interaction_id") == []
    assert left_out(found) == {"calls of a model that judge or guard an answer": 1}


def test_an_error_makes_an_outcome_that_leaves_open_whether_it_was_tried() -> None:
    failed = span(
        1, chat("Which port?", further={"error.type": "TimeoutError"}), status={"code": 2, "message": "no answer"}
    )
    (outcome,) = rows(made(traces(failed)), "outcome_id")
    assert outcome["interaction_id"] == f"otlp:{TRACE}:{span_id(1)}"
    assert outcome["error_message"] == "TimeoutError: no answer"
    assert outcome["success"] is False
    assert "attempted" not in outcome
    assert outcome["basis"] == "reported"


def test_an_unknown_service_is_no_project() -> None:
    assert only(traces(span(1, chat("Which port?")), service="unknown_service:python")).get("project") is None


def test_a_late_span_makes_a_later_version_of_the_same_interaction() -> None:
    first = traces(span(1, agent("Go", "Done"), seconds=9))
    late = traces(span(2, chat("Go", further={"gen_ai.usage.input_tokens": 7}), parent=1, start=1))
    before, after = only(first), only(first, late)
    assert before["interaction_id"] == after["interaction_id"]
    assert before["recorded_at"] < after["recorded_at"]
    assert after["tokens"] == 7


def test_a_trace_without_its_top_waits_until_nothing_more_comes() -> None:
    half = traces(span(2, chat("Go", "Gone"), parent=1))
    assert interactions(half, is_idle=False) == []
    assert "still being written" in "".join(left_out(made(half, is_idle=False)))
    assert only(half)["prompt"] == "Go"
    much_later = traces(span(3, chat("Stop", "Stopped"), start=7200, trace=OTHER_TRACE))
    assert [one["prompt"] for one in interactions(half, much_later, is_idle=False)] == ["Go", "Stop"]


def _trace() -> list[dict[str, Any]]:
    return [
        span(1, agent(), seconds=20),
        span(2, search(("m-1", "The port of the database is 5432.", 0.9)), parent=1, start=1),
        span(3, chat(further={"gen_ai.response.id": "r-1"}), parent=1, start=3),
        span(4, chat("Which port?", "It is 5432."), parent=1, start=5),
        span(5, {}, parent=1, start=7),
        span(6, chat("Another?", "Yes."), start=30),
        span(7, chat("Another?", "No."), start=31),
    ]


_RECORDS = [
    log("gen_ai.user.message", {}, of=3, at=3.2, body={"content": "Which port?"}),
    log("gen_ai.choice", {}, of=3, at=3.4, body={"message": {"content": "Let me see."}}),
    log(
        "gen_ai.evaluation.result", {"gen_ai.evaluation.name": "x", "gen_ai.evaluation.score.label": "pass"}, of=4, at=6
    ),
]


@given(st.randoms(use_true_random=False), st.integers(1, 5))
def test_order_split_and_repetition_change_nothing(random_: random.Random, pieces: int) -> None:
    whole = made(traces(*_trace()), logs(*_RECORDS))
    items = [traces(one) for one in _trace()] + [logs(one) for one in _RECORDS]
    items += random_.choices(items, k=pieces)
    random_.shuffle(items)
    assert made(*items) == whole


@each(
    ("broken", "why"),
    [
        ({"traceId": "pjcMdykVb5oXHylyyPBdlg=="}, "base64"),
        ({"spanId": "QKWW8LGoYAk="}, "base64"),
        ({"traceId": "abc"}, "no hexadecimal id of 32 digits"),
        ({"spanId": "0af7651916cd43dd8448eb211c80319c"}, "no hexadecimal id of 16 digits"),
        ({"spanId": 7}, "no hexadecimal id of 16 digits"),
        ({"traceId": "0" * 32}, "all zeros"),
        ({"parentSpanId": "xyz"}, "no hexadecimal id of 16 digits"),
        ({"startTimeUnixNano": "yesterday"}, "no time"),
        ({"startTimeUnixNano": "9" * 22}, "no time"),
    ],
)
def test_what_cannot_be_told_is_refused_with_its_reason(broken: dict[str, Any], why: str) -> None:
    (reason,) = refused(made(traces(span(1, chat("Which port?")) | broken)))
    assert why in reason


def test_ids_are_told_in_either_case() -> None:
    shouted = span(1, chat("Which port?")) | {"traceId": TRACE.upper(), "spanId": span_id(171).upper()}
    assert only(traces(shouted))["interaction_id"] == f"otlp:{TRACE}:{span_id(171)}"


def test_a_document_of_something_else_is_refused_and_metrics_are_left_out() -> None:
    assert "no OTLP JSON" in refused(made({"prompt": "hello"}))[0]
    assert "MessageToJson" in refused(made({"resource_spans": []}))[0]
    assert refused(made({"resourceMetrics": []})) == []


def _deep(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"stringValue": "end"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return value


def test_hostile_values_break_nothing() -> None:
    odd = span(1, chat("Which port?"))
    odd["attributes"] += [
        {"key": "gen_ai.output.messages", "value": _deep(900)},
        {"key": "gen_ai.usage.input_tokens", "value": {"doubleValue": "NaN"}},
        {"key": "gen_ai.usage.output_tokens", "value": {"intValue": [1]}},
        {"key": 3, "value": {}},
        "no pair",
        {"key": "gen_ai.response.id", "value": "bare"},
        {"key": "gen_ai.conversation.id", "value": {"stringValue": ["list"]}},
    ]
    odd |= {"events": "none", "links": [3], "status": [], "name": {"a": 1}}
    assert only(traces(odd))["prompt"] == "Which port?"
    assert made({"resourceSpans": [None, {"scopeSpans": {"spans": 1}}, {"scopeSpans": [{"spans": [1, None]}]}]}) == []


def test_spans_that_are_each_others_parents_are_read_once() -> None:
    circle = traces(span(1, chat("A", "a"), parent=2), span(2, chat("B", "b"), parent=1), span(3, {}, parent=3))
    assert [one["prompt"] for one in interactions(circle)] == ["A", "B"]


def test_a_trace_may_be_deep() -> None:
    deep = [span(number, {}, parent=number - 1) for number in range(1, 3000)]
    assert only(traces(*deep, span(3000, chat("Go", "Gone"), parent=2999)))["prompt"] == "Go"


def test_spans_as_the_sdk_writes_them_are_read() -> None:
    written = {
        "name": "ChatCompletion",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{span_id(1)}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None,
        "start_time": "2026-02-02T02:40:00.000001Z",
        "end_time": "2026-02-02T02:40:01.000000Z",
        "status": {"status_code": "ERROR", "description": "it broke"},
        "attributes": {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Which port?",
            "llm.token_count.total": 17,
        },
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "shop"}},
    }
    found = made(written)
    (one,) = rows(found, "interaction_id")
    assert one["created_at"] == "2026-02-02T02:40:00.000001Z"
    assert (one["prompt"], one["tokens"], one["project"]) == ("Which port?", 17, "shop")
    assert rows(found, "outcome_id")[0]["error_message"] == "it broke"
