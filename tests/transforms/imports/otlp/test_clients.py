"""Log records of Claude Code and Gemini CLI: the events of a turn are one interaction, with or without its spans."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_documents import TRACE, chat, left_out, log, logs, made, rows, span, span_id, traces

from slowwave.transforms.imports.otlp.conventions import DETAILS

LLM = "claude_code.llm_request"
SESSION = {"session.id": "s-1", "user.id": "ann"}


def claude(name: str, at: float, prompt_id: str = "p-1", **held: Any) -> dict[str, Any]:
    """An event of Claude Code: its name is the body, the end of it an attribute."""
    named = {"event.name": name, **SESSION, **({"prompt.id": prompt_id} if prompt_id else {})}
    record = log("", named | held, at=at, body=f"claude_code.{name}")
    del record["eventName"]
    return record


def turn(
    at: float = 0, prompt_id: str = "p-1", prompt: str = "Fix it.", answer: str = "Fixed."
) -> list[dict[str, Any]]:
    spent = {"model": "m", "cost_usd": "0.5", "input_tokens": "1", "output_tokens": "2", "cache_read_tokens": "4"}
    return [
        claude("user_prompt", at, prompt_id, prompt=prompt, prompt_length=str(len(prompt))),
        claude("api_request", at + 1, prompt_id, **spent),
        claude("tool_result", at + 2, prompt_id, tool_name="Bash", success="true"),
        claude("api_request", at + 3, prompt_id, **spent),
        claude("assistant_response", at + 4, prompt_id, response=answer),
    ]


def test_the_events_of_a_turn_are_one_interaction() -> None:
    found = made(logs(*turn(), *turn(10, "p-2", "And commit.", "Committed.")))
    first, second = rows(found, "interaction_id")
    assert (first["prompt"], first["response"], first["tokens"], first["cost"]) == ("Fix it.", "Fixed.", 14, 1.0)
    assert (first["session_id"], first["user_id"], first["model"]) == ("s-1", "ann", "m")
    assert (second["prompt"], second["response"]) == ("And commit.", "Committed.")
    assert first["created_at"] < second["created_at"]
    assert first["interaction_id"] != second["interaction_id"]
    assert left_out(found) == {"events of Claude Code that tell neither prompt nor answer: claude_code.tool_result": 2}


def test_events_that_name_no_turn_are_of_the_last_one_that_was_asked() -> None:
    found = made(logs(*turn(0, ""), *turn(10, "", "And commit.", "Committed.")))
    assert [(one["prompt"], one["response"]) for one in rows(found, "interaction_id")] == [
        ("Fix it.", "Fixed."),
        ("And commit.", "Committed."),
    ]


@given(st.randoms(use_true_random=False), st.integers(1, 9))
def test_order_copies_and_deliveries_change_nothing(shuffled: random.Random, cuts: int) -> None:
    events = [*turn(), *turn(10, "p-2", "And commit.", "Committed.")]
    expected = rows(made(logs(*events)), "interaction_id")
    mixed = [*events, *events[:cuts]]
    shuffled.shuffle(mixed)
    assert rows(made(logs(*mixed[:cuts]), logs(*mixed[cuts:])), "interaction_id") == expected


def test_what_is_known_later_is_a_later_version_of_the_same_interaction() -> None:
    events = turn()
    (begun,), (whole,) = (rows(made(logs(*part)), "interaction_id") for part in (events[:2], events))
    assert begun["interaction_id"] == whole["interaction_id"]
    assert begun["recorded_at"] < whole["recorded_at"]


def test_where_there_are_spans_events_give_them_their_texts() -> None:
    spans = [
        span(1, {"user_prompt": "<REDACTED>", **SESSION}, name="claude_code.interaction", seconds=9),
        span(2, {"model": "m", "input_tokens": 3, "output_tokens": 4}, parent=1, name="claude_code.llm_request"),
    ]
    context = {"traceId": spans[0]["traceId"], "spanId": spans[1]["spanId"]}
    found = made(traces(*spans), logs(*({**event, **context} for event in turn())))
    (one,) = rows(found, "interaction_id")
    assert (one["prompt"], one["response"], one["tokens"]) == ("Fix it.", "Fixed.", 7)
    assert one["interaction_id"].endswith(spans[0]["spanId"])


def test_prompts_that_were_left_out_say_what_to_set() -> None:
    found = made(logs(*turn(prompt="<REDACTED>")))
    assert rows(found, "interaction_id") == []
    assert any("OTEL_LOG_USER_PROMPTS=1" in sort for sort in left_out(found))


def test_what_the_client_asks_for_itself_is_no_answer() -> None:
    title = claude("assistant_response", 3, response="A title", query_source="generate_session_title")
    (one,) = rows(made(logs(*turn(), title)), "interaction_id")
    assert one["response"] == "Fixed."
    spans = [
        span(1, {"user_prompt": "Fix it."}, name="claude_code.interaction", seconds=9),
        span(2, {"response.model_output": "Fixed.", "query_source": "repl_main_thread"}, parent=1, name=LLM),
        span(3, {"response.model_output": "A title", "query_source": "quota"}, parent=1, start=2, name=LLM),
    ]
    assert rows(made(traces(*spans)), "interaction_id")[0]["response"] == "Fixed."


def test_the_scope_tells_whose_an_event_is_that_has_the_end_of_its_name_alone() -> None:
    bare = [{**event, "body": {"stringValue": ""}} for event in turn()]
    document = logs(*bare)
    assert rows(made(document), "interaction_id") == []
    document["resourceLogs"][0]["scopeLogs"][0]["scope"]["name"] = "com.anthropic.claude_code.events"
    assert [one["prompt"] for one in rows(made(document), "interaction_id")] == ["Fix it."]


def gemini(name: str, at: float, **held: Any) -> dict[str, Any]:
    own = {"event.name": f"gemini_cli.{name}", "session.id": "g-1", "prompt_id": "g-1########0"}
    record = log("", own | held, at=at, body="A sentence.")
    del record["eventName"]
    return record


PIECE = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Let me think.", "thought": True}]}}]}
WHOLE = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Fixed."}]}}], "responseId": "r-1"}


@pytest.mark.parametrize("said", [WHOLE, [PIECE, WHOLE], "Fixed."])
def test_gemini_cli_tells_a_turn_likewise(said: Any) -> None:
    response = said if isinstance(said, str) else orjson.dumps(said).decode()
    spent = {"input_token_count": 10, "output_token_count": 5, "total_token_count": 15, "model": "gemini-3"}
    found = made(
        logs(
            gemini("config", 0),
            gemini("user_prompt", 1, prompt="Fix it.", prompt_length=7),
            gemini("api_request", 2, request_text="[]"),
            gemini("api_response", 3, response_text=response, **spent),
        )
    )
    (one,) = rows(found, "interaction_id")
    assert (one["prompt"], one["response"], one["tokens"], one["model"]) == ("Fix it.", "Fixed.", 15, "gemini-3")
    assert sum(left_out(found).values()) == 2


def test_details_of_what_gemini_cli_tells_itself_count_once() -> None:
    details = log("gen_ai.client.inference.operation.details", {**chat("Fix it.", "Fixed."), "session.id": "g-1"})
    document = logs(gemini("user_prompt", 1, prompt="Fix it."), details, service="gemini-cli")
    document["resourceLogs"][0]["scopeLogs"][0]["scope"]["name"] = "gemini-cli"
    found = made(document)
    assert [one["prompt"] for one in rows(found, "interaction_id")] == ["Fix it."]
    assert left_out(found) == {"details of a call that events of its turn tell too": 1}


def test_turns_of_one_trace_keep_the_ids_of_the_calls_that_details_told_of() -> None:
    def in_context(record: dict[str, Any], number: int) -> dict[str, Any]:
        return record | {"traceId": TRACE, "spanId": span_id(number)}

    records = []
    for turn_number, at in ((1, 1.0), (2, 10.0)):
        prompt = f"Prompt {turn_number}."
        asked = gemini("user_prompt", at, prompt=prompt, prompt_id=f"g-1########{turn_number}")
        details = log(DETAILS, {**chat(prompt, "Done."), "session.id": "g-1"}, at=at + 1)
        records += [in_context(asked, 90 + turn_number), in_context(details, turn_number)]
    document = logs(*records, service="gemini-cli")
    document["resourceLogs"][0]["scopeLogs"][0]["scope"]["name"] = "gemini-cli"
    found = rows(made(document), "interaction_id")
    assert [(one["interaction_id"], one["prompt"]) for one in found] == [
        (f"otlp:{TRACE}:{span_id(1)}", "Prompt 1."),
        (f"otlp:{TRACE}:{span_id(2)}", "Prompt 2."),
    ]


def test_log_records_of_other_programs_are_no_turns() -> None:
    found = made(logs(log("claude_codex.user_prompt", {"prompt": "Fix it.", **SESSION})))
    assert rows(found, "interaction_id") == []
    assert left_out(found) == {"log records of something else than a model": 1}


def test_codex_tells_prompts_and_tokens_and_no_answers() -> None:
    own = {"conversation.id": "c-1", "model": "gpt-6"}
    events = [
        log("event session_telemetry.rs:1", own | {"event.name": f"codex.{name}", **held}, at=at)
        for at, (name, held) in enumerate(
            [
                ("conversation_starts", {}),
                ("user_prompt", {"prompt": "Fix it.", "prompt_length": "7"}),
                ("sse_event", {"event.kind": "response.created"}),
                (
                    "sse_event",
                    {"event.kind": "response.completed", "input_token_count": "9", "output_token_count": "1"},
                ),
                ("user_prompt", {"prompt": "[REDACTED]"}),
            ]
        )
    ]
    found = made(logs(*events))
    (one,) = rows(found, "interaction_id")
    assert (one["prompt"], one["tokens"], one["session_id"], one["model"]) == ("Fix it.", 10, "c-1", "gpt-6")
    assert "response" not in one
    assert any("`slowwave import codex ~/.codex/sessions`" in sort for sort in left_out(found))
