"""Traces and observations as Langfuse's pages download them, as JSON; not its export to a bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.imports.adapter import LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ChatLog, Part
from slowwave.transforms.imports.chats.model_call import ModelCall, call_parts
from slowwave.transforms.imports.record_values import number_in, object_in, text_in

NAME = "langfuse-ui"
_OF_TRACE = {"id", "timestamp", "input", "output", "sessionId"}
_OF_OBSERVATION = {"id", "traceId", "type", "startTime", "input", "output"}


def _producer(record: Record) -> str | None:
    trace = object_in(record, "trace") or record
    return "Langfuse's pages" if trace.keys() >= _OF_TRACE or record.keys() >= _OF_OBSERVATION else None


def _parts(record: Record) -> Iterator[Part]:
    trace = object_in(record, "trace") or record
    if trace.keys() >= _OF_TRACE:
        yield from call_parts(_call(trace, text_in(trace, "id"), trace.get("timestamp")))
    elif not record.keys() >= _OF_OBSERVATION:
        yield LeftOut("a record that is neither a trace nor an observation")
    elif text_in(record, "parentObservationId"):
        yield LeftOut("an observation within another")
    else:
        yield from call_parts(_call(record, text_in(record, "traceId"), record.get("startTime")))


def _call(one: Mapping[str, Any], name: str, at: object) -> ModelCall:
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


LANGFUSE_UI = ChatLog(NAME, 1, _producer, _parts)
