"""Spans and log records as the collector's file exporter writes them, and what the adapter makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Refused, Row
from slowwave.transforms.imports.otlp.adapter import Otlp

TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER_TRACE = "1bf7651916cd43dd8448eb211c80319d"
_BASE = 1_770_000_000 * 10**9
_SECOND = 10**9


def span_id(number: int) -> str:
    """The id of a span, from a small number."""
    return f"{number:016x}"


def any_value(value: Any) -> dict[str, Any]:
    """A value as OTLP JSON has it, 64-bit integers as texts."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {} if value is None else {"stringValue": value}


def pairs(held: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP JSON has them."""
    return [{"key": key, "value": any_value(value)} for key, value in held.items()]


def span(
    number: int,
    attributes: Mapping[str, Any],
    *,
    parent: int = 0,
    start: float = 0.0,
    seconds: float = 1.0,
    trace: str = TRACE,
    **further: Any,
) -> dict[str, Any]:
    """A span that starts so many seconds after the tests' beginning of time."""
    begun = _BASE + round(start * _SECOND)
    return {
        "traceId": trace,
        "spanId": span_id(number),
        **({"parentSpanId": span_id(parent)} if parent else {}),
        "name": f"span {number}",
        "kind": 1,
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + round(seconds * _SECOND)),
        "attributes": pairs(attributes),
        "status": {},
        **further,
    }


def log(
    name: str, attributes: Mapping[str, Any], *, of: int = 0, at: float = 0.5, trace: str = TRACE, body: Any = None
) -> dict[str, Any]:
    """A log record of an event, in the context of a span."""
    context = {"traceId": trace, "spanId": span_id(of)} if of else {}
    return {
        "timeUnixNano": str(_BASE + round(at * _SECOND)),
        "eventName": name,
        "attributes": pairs(attributes),
        "body": any_value(body),
        **context,
    }


def traces(*spans: dict[str, Any], service: str = "shop", scope: str = "tests.instrumentation") -> dict[str, Any]:
    """Spans of one service as a document."""
    resource = {"attributes": pairs({"service.name": service})}
    scoped = {"scope": {"name": scope, "version": "2.0"}, "spans": [*spans]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scoped]}]}


def logs(*records: dict[str, Any], service: str = "shop") -> dict[str, Any]:
    """Log records of one service as a document."""
    resource = {"attributes": pairs({"service.name": service})}
    return {
        "resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {"name": "tests"}, "logRecords": [*records]}]}]
    }


def messages(*said: tuple[str, str]) -> str:
    """Messages as the conventions have them on spans: JSON as text."""
    return orjson.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said]).decode()


def chat(asked: str = "", answered: str = "", further: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The attributes of a call of a model."""
    held: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-x"}
    if asked:
        held["gen_ai.input.messages"] = messages(("user", asked))
    if answered:
        held["gen_ai.output.messages"] = messages(("assistant", answered))
    return {**held, **(further or {})}


def agent(asked: str = "", answered: str = "", further: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The attributes of a turn of an agent."""
    own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "dev"}
    return {**chat(asked, answered), **own, **(further or {})}


def search(*records: tuple[str, str, float]) -> dict[str, Any]:
    """The attributes of a memory search that found these records: id, content, score."""
    found = [{"id": id_, "content": content, "score": score} for id_, content, score in records]
    return {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": orjson.dumps(found).decode()}


def made(*documents: Mapping[str, Any], options: Mapping[str, Any] | None = None, is_idle: bool = True) -> list[Made]:
    """What the adapter makes of these documents."""
    located = [Located(number, document) for number, document in enumerate(documents, 1)]
    context = Context(is_idle=is_idle, options=options or {})
    return [*Otlp().make_rows(located, context)]


def rows(found: Iterable[Made], key: str) -> list[dict[str, Any]]:
    """The fields of the rows that have this key."""
    kinds = {"interaction_id": "prompt", "memory_id": "changed_at", "outcome_id": "success"}
    return [one.fields for one in found if isinstance(one, Row) and key in one.fields and kinds[key] in one.fields]


def refused(found: Iterable[Made]) -> list[str]:
    """Why records were refused."""
    return [one.reason for one in found if isinstance(one, Refused)]


def left_out(found: Iterable[Made]) -> dict[str, int]:
    """How many records were left out, by sort."""
    counts: dict[str, int] = {}
    for one in found:
        if isinstance(one, LeftOut):
            counts[one.sort] = counts.get(one.sort, 0) + one.count
    return counts
