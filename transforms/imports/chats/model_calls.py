"""Requests to a model with their answers, as logs keep them: each is a turn of its own.

A request repeats the conversation before it: what was asked is the last message of the user's. While an agent works,
several requests ask the same; that which answers in words is the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ChatConversation, ChatLog, ChatMessage, ChatPart
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in
from slowwave.transforms.imports.trace_values import answer_in, question_in

# ------------------------------------------------------------------------------------------
# One request to a model with its answer, as logs of requests keep it: a turn of its own.
# A request repeats the conversation before it: what was asked is the last message of the user's. While an agent
# works, several requests ask the same; that which answers in words is the turn.

WITHOUT_TEXT = "a request without the text of its question"
FOR_TOOLS = "a request that was answered by calls of tools: its turn ends with a later one"
_INPUTS = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OUTPUTS = ("completion_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """A request as its log states it: `question` and `answer` in whatever form, `at` and `ended_at` as written."""

    call_id: str
    question: object
    answer: object
    at: object
    ended_at: object = None
    session: str = ""
    project: str = ""
    user_id: str = ""
    model: str = ""
    tokens: int = 0
    cost: float = 0.0
    is_failed: bool = False


def call_parts(call: ModelCall) -> Iterator[ChatPart]:
    """The parts of a chat log that a request is."""
    question = question_in(call.question)
    if question is None or question.is_json:
        yield LeftOut(WITHOUT_TEXT)
        return
    if _asks_for_tools(call.answer):
        yield LeftOut(FOR_TOOLS, example=question.text[:200])
        return
    name = call.call_id or digest([question.text, str(call.at)])
    yield ChatConversation(call.session or name, call.at, call.project, user_id=call.user_id)
    yield ChatMessage("user", question.text, call.at, name)
    yield from answer_parts(call)


def answer_parts(call: ModelCall, to: str = "") -> Iterator[ChatPart]:
    """The answer of a request, where it has one: to the question before it, or to that with an id."""
    answer = answer_in(call.answer)
    text = answer.text if answer is not None and not answer.is_json else ""
    end = "api_error" if call.is_failed else "ended"
    if text or call.is_failed:
        yield ChatMessage("agent", text, call.ended_at, "", call.model, call.tokens, call.cost, end=end, to=to)


def tokens_in(usage: Mapping[str, Any]) -> int:
    """Return the tokens of a request, by the names of OpenAI or Anthropic."""
    total = number_in(usage, "total_tokens")
    return int(total or sum(number_in(usage, name) for name in (*_INPUTS, *_OUTPUTS)))


def _asks_for_tools(answer: object) -> bool:
    """Whether an answer ends in calls of tools, as OpenAI, its Responses API or Anthropic writes it."""
    first = next(iter(objects_in(answer, "choices")), {})
    if text_in(first, "finish_reason") == "tool_calls" or text_in(answer, "stop_reason") == "tool_use":
        return True
    messages = [object_in(first, "message"), answer, *(objects_in(answer, "messages")[-1:])]
    if any(objects_in(message, "tool_calls") for message in messages):
        return True
    return any(text_in(one, "type") == "function_call" for one in objects_in(answer, "output"))


# ------------------------------------------------------------------------------------------
# Calls that LiteLLM logged: rows of its table of spend logs, or payloads of its logging callbacks.

LITELLM_NAME = "litellm"


def litellm_producer(record: Record) -> str | None:
    """Return who wrote a record that is a call which LiteLLM logged; None for any other."""
    is_one = {"call_type", "startTime"} <= record.keys() and not {"spend", "response_cost"}.isdisjoint(record)
    return "LiteLLM" if is_one else None


def _litellm_parts(record: Record) -> Iterator[ChatPart]:
    if litellm_producer(record) is None:
        yield LeftOut("a record that is no call")
        return
    request, response = parse_json_text(record.get("proxy_server_request")), parse_json_text(record.get("response"))
    messages = parse_json_text(record.get("messages")) or object_in({"": request}, "").get("messages")
    if not messages:
        yield LeftOut("a call without its texts (set `store_prompts_in_spend_logs: true`)")
        return
    metadata = object_in({"metadata": parse_json_text(record.get("metadata"))}, "metadata")
    yield from call_parts(
        ModelCall(
            call_id=text_in(record, "request_id") or text_in(record, "id"),
            question=messages,
            answer=response,
            at=record.get("startTime"),
            ended_at=record.get("endTime"),
            session=text_in(record, "session_id") or text_in(record, "trace_id"),
            project=text_in(metadata, "user_api_key_team_alias") or text_in(metadata, "user_api_key_alias"),
            user_id=text_in(record, "end_user") or text_in(metadata, "user_api_key_end_user_id"),
            model=text_in(record, "model"),
            tokens=int(number_in(record, "total_tokens")),
            cost=number_in(record, "response_cost") or number_in(record, "spend"),
            is_failed=text_in(record, "status") == "failure",
        )
    )


LITELLM = ChatLog(LITELLM_NAME, 1, litellm_producer, _litellm_parts)


# ------------------------------------------------------------------------------------------
# Logs of requests to OpenAI, Anthropic or what speaks as they do: a record with a request and its response.

LLM_REQUESTS_NAME = "llm-requests"
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


def _requests_producer(record: Record) -> str | None:
    is_one = _request(record) and _response(record) and litellm_producer(record) is None
    return "requests to a model" if is_one else None


def _requests_parts(record: Record) -> Iterator[ChatPart]:
    request, response = _request(record), _response(record)
    status = number_in(record, "status_code") or number_in(record, "status")
    is_failed = bool(response.get("error") or record.get("error")) or status >= _FAILED_FROM
    if not request or not (response or is_failed):
        yield LeftOut("a record that is no request with its response")
        return
    places = (record, object_in(record, "metadata"), object_in(request, "metadata"), request)
    at = _first_value(_TIMES, (record, response))
    yield from call_parts(
        ModelCall(
            call_id=_first_text(("id", "request_id", "requestId", "custom_id"), (response, record)),
            question=request.get("messages", request.get("input")),
            answer=response,
            at=at,
            ended_at=_first_value(_ENDS, (record,)) or at,
            session=_first_text(_SESSIONS, places),
            project=_first_text(_PROJECTS, places[:-1]),
            user_id=_first_text(_USERS, places),
            model=text_in(response, "model") or text_in(request, "model"),
            tokens=tokens_in(object_in(response, "usage")),
            is_failed=is_failed,
        )
    )


def _first_value(names: Sequence[str], places: Sequence[Mapping[str, Any]]) -> object:
    return next((place[name] for place in places for name in names if place.get(name) is not None), None)


def _first_text(names: Sequence[str], places: Sequence[Mapping[str, Any]]) -> str:
    return next((text_in(place, name) for place in places for name in names if text_in(place, name)), "")


LLM_REQUESTS = ChatLog(LLM_REQUESTS_NAME, 1, _requests_producer, _requests_parts)


# ------------------------------------------------------------------------------------------
# Runs of LangSmith: one a record as its export has them, or many as its client sends them (`post` and `patch`).

LANGSMITH_NAME = "langsmith"
_LANGSMITH_SESSIONS = ("session_id", "thread_id", "conversation_id")


def _langsmith_producer(record: Record) -> str | None:
    sent = [*objects_in(record, "post"), *objects_in(record, "patch")]
    return "LangSmith" if any({"run_type", "inputs"} <= run.keys() for run in (record, *sent)) else None


def _langsmith_parts(record: Record) -> Iterator[ChatPart]:
    runs: dict[str, dict[str, Any]] = {}
    sent = [*objects_in(record, "post"), *objects_in(record, "patch")]
    for run in sent or [record]:
        said = {name: value for name, value in run.items() if value not in (None, {}, [])}
        runs[text_in(run, "id")] = runs.get(text_in(run, "id"), {}) | said
    for name, run in runs.items():
        if text_in(run, "parent_run_id"):
            yield LeftOut("a run within another")
        elif "inputs" not in run:
            yield from answer_parts(_langsmith_call(name, run), to=name)
        else:
            yield from call_parts(_langsmith_call(name, run))


def _langsmith_call(name: str, run: Mapping[str, Any]) -> ModelCall:
    metadata, outputs = object_in(object_in(run, "extra"), "metadata"), parse_json_text(run.get("outputs"))
    usage = object_in(outputs, "usage_metadata") or object_in(outputs, "usage")
    return ModelCall(
        call_id=name,
        question=parse_json_text(run.get("inputs")),
        answer=outputs,
        at=run.get("start_time"),
        ended_at=run.get("end_time"),
        session=next((text_in(metadata, one) for one in _LANGSMITH_SESSIONS if text_in(metadata, one)), ""),
        project=text_in(run, "session_name"),
        user_id=text_in(metadata, "user_id"),
        model=text_in(metadata, "ls_model_name"),
        tokens=int(number_in(run, "total_tokens")) or tokens_in(usage),
        cost=number_in(run, "total_cost"),
        is_failed=bool(run.get("error")),
    )


LANGSMITH = ChatLog(LANGSMITH_NAME, 1, _langsmith_producer, _langsmith_parts)


# ------------------------------------------------------------------------------------------
# Traces and observations as Langfuse's pages download them, as JSON; not its export to a bucket.

LANGFUSE_UI_NAME = "langfuse-ui"
_OF_TRACE = {"id", "timestamp", "input", "output", "sessionId"}
_OF_OBSERVATION = {"id", "traceId", "type", "startTime", "input", "output"}


def _langfuse_producer(record: Record) -> str | None:
    trace = object_in(record, "trace") or record
    return "Langfuse's pages" if trace.keys() >= _OF_TRACE or record.keys() >= _OF_OBSERVATION else None


def _langfuse_parts(record: Record) -> Iterator[ChatPart]:
    trace = object_in(record, "trace") or record
    if trace.keys() >= _OF_TRACE:
        yield from call_parts(_langfuse_call(trace, text_in(trace, "id"), trace.get("timestamp")))
    elif not record.keys() >= _OF_OBSERVATION:
        yield LeftOut("a record that is neither a trace nor an observation")
    elif text_in(record, "parentObservationId"):
        yield LeftOut("an observation within another")
    else:
        yield from call_parts(_langfuse_call(record, text_in(record, "traceId"), record.get("startTime")))


def _langfuse_call(one: Mapping[str, Any], name: str, at: object) -> ModelCall:
    usage, costs = object_in(one, "usageDetails"), object_in(one, "costDetails")
    return ModelCall(
        call_id=name,
        question=parse_json_text(one.get("input")),
        answer=parse_json_text(one.get("output")),
        at=at,
        ended_at=one.get("endTime"),
        session=text_in(one, "sessionId"),
        project=text_in(one, "projectId"),
        user_id=text_in(one, "userId"),
        model=text_in(one, "model") or text_in(one, "providedModelName"),
        tokens=int(number_in(one, "totalTokens") or number_in(usage, "total")),
        cost=number_in(one, "totalCost") or number_in(costs, "total"),
        is_failed=text_in(one, "level") == "ERROR",
    )


LANGFUSE_UI = ChatLog(LANGFUSE_UI_NAME, 1, _langfuse_producer, _langfuse_parts)
