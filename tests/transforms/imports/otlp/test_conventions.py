"""The same question and answer under the names of each convention: one interaction, whichever program wrote it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from each import each
from otlp_documents import agent, chat, left_out, log, logs, made, messages, pairs, rows, span, traces

ASKED, ANSWERED = "Which port?", "It is 5432."


def as_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def only(*spans: dict[str, Any]) -> dict[str, Any]:
    (one,) = rows(made(traces(*spans)), "interaction_id")
    return one


CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": ASKED}]}]
CONTENT = [{"role": "user", "parts": [{"text": ASKED}]}]
PIECES = [{"role": "model", "parts": [{"text": "It is "}]}, {"role": "model", "parts": [{"text": "5432."}]}]
COMPLETION = {"id": "c-1", "choices": [{"message": {"role": "assistant", "content": ANSWERED}}]}

CALLS: dict[str, dict[str, Any]] = {
    "role model": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": messages(("user", ASKED)),
        "gen_ai.output.messages": messages(("model", ANSWERED)),
    },
    "messages in the AI SDK's place": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": messages(("user", ASKED)),
        "ai.response.text": ANSWERED,
    },
    "structured values of v0.1.0": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}],
        "gen_ai.output.messages": [
            {"role": "assistant", "parts": [{"type": "text", "content": ANSWERED}], "finish_reason": "stop"}
        ],
    },
    "what was spoken": {
        "gen_ai.operation.name": "realtime_inference",
        "gen_ai.input.messages": [
            {"role": "user", "parts": [{"type": "blob", "modality": "audio", "transcript": ASKED}]}
        ],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "blob", "transcript": ANSWERED}]}],
    },
    "AI SDK 5, a call of the model": {
        "ai.operationId": "ai.streamText.doStream",
        "ai.prompt.messages": as_json(CHAT),
        "ai.response.text": ANSWERED,
        "gen_ai.system": "openai.chat",
    },
    "AI SDK 6, the whole call": {
        "ai.operationId": "ai.generateText",
        "ai.prompt": as_json({"system": "Be brief.", "messages": CHAT}),
        "ai.response.text": ANSWERED,
    },
    "AI SDK 4, a prompt": {
        "ai.operationId": "ai.generateText",
        "ai.prompt": as_json({"prompt": ASKED}),
        "ai.response.text": ANSWERED,
    },
    "OpenLLMetry, a function": {
        "traceloop.span.kind": "workflow",
        "traceloop.entity.input": as_json({"args": [ASKED], "kwargs": {}}),
        "traceloop.entity.output": as_json(ANSWERED),
    },
    "OpenLLMetry, a method": {
        "traceloop.span.kind": "agent",
        "traceloop.entity.input": as_json({"args": ["<app.Agent object at 0x7f3a>"], "kwargs": {"question": ASKED}}),
        "traceloop.entity.output": as_json({"answer": ANSWERED}),
    },
    "OpenLLMetry, LangChain": {
        "traceloop.span.kind": "workflow",
        "traceloop.entity.input": as_json({"inputs": {"input": ASKED}, "tags": [], "metadata": {}}),
        "traceloop.entity.output": as_json({"outputs": {"output": ANSWERED}, "kwargs": {}}),
    },
    "OpenLLMetry, a call of the model": {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": ASKED,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWERED,
    },
    "MLflow, a function": {
        "mlflow.spanType": '"AGENT"',
        "mlflow.spanInputs": as_json({"question": ASKED}),
        "mlflow.spanOutputs": as_json(ANSWERED),
    },
    "MLflow, a call of the model": {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanInputs": as_json({"model": "m", "messages": CHAT}),
        "mlflow.spanOutputs": as_json(COMPLETION),
    },
    "OpenInference, a function": {
        "openinference.span.kind": "CHAIN",
        "input.value": as_json({"args": [ASKED]}),
        "output.value": ANSWERED,
    },
    "OpenInference, a function as JSON": {
        "openinference.span.kind": "CHAIN",
        "input.value": as_json({"args": [ASKED], "kwargs": {}}),
        "input.mime_type": "application/json",
        "output.value": ANSWERED,
    },
    "Gemini CLI, a call of the model": {
        "gen_ai.operation.name": "llm_call",
        "gen_ai.input.messages": as_json(CONTENT),
        "gen_ai.output.messages": as_json(PIECES),
    },
    "Gemini CLI, in one piece": {
        "gen_ai.operation.name": "llm_call",
        "gen_ai.input.messages": as_json(CONTENT),
        "gen_ai.output.messages": as_json({"role": "model", "parts": [{"text": ANSWERED}]}),
    },
    "Strands, flat": {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content.0.text": ASKED,
        "gen_ai.completion.0.text": ANSWERED,
    },
    "Gemini's own client": {
        "openinference.span.kind": "LLM",
        "input.value": as_json({"contents": CONTENT}),
        "input.mime_type": "application/json",
        "output.value": as_json({"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWERED}]}}]}),
        "output.mime_type": "application/json",
    },
}


@each("attributes", CALLS.values())
def test_the_question_and_the_answer_are_read(attributes: dict[str, Any]) -> None:
    found = only(span(1, attributes))
    assert (found["prompt"], found.get("response")) == (ASKED, ANSWERED)
    assert not {"prompt_form", "response_form"} & found.keys()


def test_parts_of_a_message_may_be_json_in_an_event() -> None:
    def said(name: str, **attributes: str) -> dict[str, Any]:
        return {"name": name, "timeUnixNano": "1770000000000000000", "attributes": pairs(attributes)}

    events = [
        said("gen_ai.user.message", content=as_json([{"text": ASKED}])),
        said("gen_ai.choice", message=as_json([{"text": ANSWERED}]), finish_reason="end_turn"),
    ]
    found = only(span(1, {"gen_ai.operation.name": "chat"}, events=events))
    assert (found["prompt"], found["response"]) == (ASKED, ANSWERED)
    odd = [said("gen_ai.user.message", content='[{"no": "text"}]')]
    assert only(span(1, {"gen_ai.operation.name": "chat"}, events=odd))["prompt"] == '[{"no": "text"}]'


def test_spans_of_claude_code_are_read() -> None:
    found = only(
        span(1, {"user_prompt": ASKED, "session.id": "s-1"}, name="claude_code.interaction"),
        span(
            2,
            {"response.model_output": ANSWERED, "model": "m", "input_tokens": 1, "output_tokens": 2,
             "cache_read_tokens": 4},
            parent=1,
            name="claude_code.llm_request",
        ),
    )  # fmt: skip
    assert (found["prompt"], found["response"], found["tokens"], found["model"]) == (ASKED, ANSWERED, 7, "m")
    assert found["session_id"] == "s-1"


@pytest.mark.parametrize(
    ("spent", "tokens"),
    [
        ({"ai.usage.inputTokens": 10, "ai.usage.outputTokens": 3, "ai.usage.totalTokens": 13}, 13),
        ({"ai.usage.promptTokens": 10, "ai.usage.completionTokens": 3}, 13),
        ({"ai.usage.totalTokens": 13}, 13),
        ({"llm.usage.total_tokens": 13}, 13),
        ({"mlflow.chat.tokenUsage": '{"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}'}, 13),
        ({"mlflow.chat.tokenUsage": "nothing"}, None),
        ({"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 3, "gen_ai.usage.total_tokens": 99}, 13),
    ],
)
def test_tokens_are_read_under_every_name(spent: dict[str, Any], tokens: int | None) -> None:
    assert only(span(1, chat(ASKED, ANSWERED, further=spent))).get("tokens") == tokens


def test_whose_it_is_is_read_under_every_name() -> None:
    sdk = {
        "ai.telemetry.functionId": "till",
        "ai.telemetry.metadata.sessionId": "s",
        "ai.telemetry.metadata.userId": "u",
    }
    loop = {
        "traceloop.workflow.name": "till",
        "traceloop.association.properties.session_id": "s",
        "traceloop.association.properties.user_id": "u",
    }
    for named in (sdk, loop):
        found = only(span(1, chat(ASKED, ANSWERED, further=named)))
        assert (found["agent"], found["session_id"], found["user_id"]) == ("till", "s", "u")


@pytest.mark.parametrize("hidden", ["<REDACTED>", "__REDACTED__", "[REDACTED]"])
def test_what_is_hidden_is_no_text(hidden: str) -> None:
    found = made(traces(span(1, {"user_prompt": hidden}, name="claude_code.interaction")))
    assert rows(found, "interaction_id") == []
    (sort,) = left_out(found)
    assert "OTEL_LOG_USER_PROMPTS=1" in sort
    assert "`slowwave import claude-code ~/.claude/projects`" in sort


def test_a_call_that_was_written_down_without_a_text_leaves_it_to_the_model() -> None:
    empty = {"traceloop.span.kind": "workflow", "traceloop.entity.input": as_json({"args": [], "kwargs": {}})}
    found = only(span(1, empty, seconds=9), span(2, chat(ASKED, ANSWERED), parent=1, start=1))
    assert (found["prompt"], found["response"]) == (ASKED, ANSWERED)


def test_spans_of_no_interaction_are_counted_by_what_they_are() -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls"}
    found = made(
        traces(span(1, {"http.method": "GET"}), span(2, tool)),
        traces(span(3, {}, trace="c" * 32), span(4, agent(ASKED, ANSWERED), parent=3, trace="c" * 32)),
    )
    assert left_out(found) == {
        "spans of no model, agent or memory": 1,
        "spans of a tool, in no interaction": 1,
    }


def test_details_without_a_context_are_calls_of_their_session() -> None:
    held = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "c-1",
        "gen_ai.input.messages": messages(("user", ASKED)),
        "gen_ai.output.messages": messages(("assistant", ANSWERED)),
    }
    details = log("gen_ai.client.inference.operation.details", held)
    (one,) = rows(made(logs(details), logs(details)), "interaction_id")
    assert (one["prompt"], one["response"], one["session_id"]) == (ASKED, ANSWERED, "c-1")


def test_calls_that_version_1_knew_stay_the_interactions_that_they_were() -> None:
    workflow = {"traceloop.span.kind": "workflow", "traceloop.entity.input": as_json({"args": ["Anything?"]})}
    call = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASKED, "gen_ai.completion.0.content": ANSWERED}
    found = only(span(1, workflow, seconds=9), span(2, call, parent=1, start=1))
    assert (found["interaction_id"][-1], found["prompt"], found["response"]) == ("2", ASKED, ANSWERED)
    later = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": as_json(CHAT)}
    whole = {"ai.operationId": "ai.generateText", "ai.prompt": as_json({"prompt": ASKED}), "ai.response.text": ANSWERED}
    assert only(span(1, whole, seconds=9), span(2, later, parent=1, start=1))["interaction_id"].endswith("1")
