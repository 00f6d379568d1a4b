"""Logs of requests to OpenAI, Anthropic or what speaks as they do: a record with a request and its response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.imports.adapter import LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ChatLog, Part
from slowwave.transforms.imports.chats.litellm import producer
from slowwave.transforms.imports.chats.model_call import ModelCall, call_parts, tokens_in
from slowwave.transforms.imports.record_values import number_in, object_in, text_in

NAME = "llm-requests"
# The names that loggers and proxies give to the same, in the order in which they are tried.
_REQUESTS = ("request", "request_body", "requestBody", "body", "kwargs", "input")
_RESPONSES = ("response", "response_body", "responseBody", "output", "completion", "result")
_ANSWERS = frozenset({"choices", "content", "output", "error"})
_TIMES = ("created_at", "timestamp", "start_time", "startTime", "started_at", "time", "ts", "date", "created")
_ENDS = ("end_time", "endTime", "ended_at", "completed_at", "finished_at")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "thread_id")
_USERS = ("user_id", "userId", "user")
_PROJECTS = ("project", "app", "service")
_FAILED_FROM = 400


def _request(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request, which may be the record itself; an empty object where there is none."""
    for one in (*(parse_json_text(record.get(name)) for name in _REQUESTS), record):
        if isinstance(one, dict) and isinstance(one.get("model"), str) and ("messages" in one or "input" in one):
            return one
    return {}


def _response(record: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in _RESPONSES:
        one = parse_json_text(record.get(name))
        one = one.get("body", one) if isinstance(one, dict) else one
        if isinstance(one, dict) and not _ANSWERS.isdisjoint(one):
            return one
    return {}


def _producer(record: Record) -> str | None:
    is_one = _request(record) and _response(record) and producer(record) is None
    return "requests to a model" if is_one else None


def _parts(record: Record) -> Iterator[Part]:
    request, response = _request(record), _response(record)
    status = number_in(record, "status_code") or number_in(record, "status")
    is_failed = bool(response.get("error") or record.get("error")) or status >= _FAILED_FROM
    if not request or not (response or is_failed):
        yield LeftOut("a record that is no request with its response")
        return
    places = (record, object_in(record, "metadata"), object_in(request, "metadata"), request)
    at = _stated(_TIMES, (record, response))
    yield from call_parts(
        ModelCall(
            call_id=_text(("id", "request_id", "requestId", "custom_id"), (response, record)),
            question=request.get("messages", request.get("input")),
            answer=response,
            at=at,
            ended_at=_stated(_ENDS, (record,)) or at,
            session=_text(_SESSIONS, places),
            project=_text(_PROJECTS, places[:-1]),
            user_id=_text(_USERS, places),
            model=text_in(response, "model") or text_in(request, "model"),
            tokens=tokens_in(object_in(response, "usage")),
            is_failed=is_failed,
        )
    )


def _stated(names: Sequence[str], places: Sequence[Mapping[str, Any]]) -> object:
    return next((place[name] for place in places for name in names if place.get(name) is not None), None)


def _text(names: Sequence[str], places: Sequence[Mapping[str, Any]]) -> str:
    return next((text_in(place, name) for place in places for name in names if text_in(place, name)), "")


LLM_REQUESTS = ChatLog(NAME, 1, _producer, _parts)
