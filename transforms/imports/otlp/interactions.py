"""The rows of a trace's interactions, and of those that ended in an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.adapter import LeftOut, Made, Refused, Row
from slowwave.transforms.imports.otlp.clients import client_of, client_of_scope
from slowwave.transforms.imports.otlp.conventions import (
    AGENTS,
    COSTS,
    MODELS,
    SESSIONS,
    TOKEN_OBJECTS,
    TOKENS,
    USERS,
)
from slowwave.transforms.imports.otlp.evaluations import is_evaluated
from slowwave.transforms.imports.otlp.memory_spans import memories_of, records_of, searches_of
from slowwave.transforms.imports.otlp.spans import Node
from slowwave.transforms.imports.otlp.turns import Asked, Read, response_id
from slowwave.transforms.imports.otlp.values import instant, number, text, whole
from slowwave.transforms.imports.trace_values import TracedText

_MUTE = (
    "calls of a model without their text: where they run, set"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY and"
    " OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental; if it is in log records, import these with them"
)
_HIDDEN = "calls of a model whose text is hidden: where they run, set OPENINFERENCE_HIDE_INPUTS=false"
_SPARE = {"turn": "a turn", "chain": "a chain", "call": "a call of a model", "tool": "a tool", "judge": "an evaluator"}
_NO_RECORDS = "memory searches without what they found: set gen_ai.memory.records on their spans, each with an id"


def interactions_made(read: Read, project_of: Callable[[str], str]) -> Iterator[Made]:
    """A row for each interaction, and an outcome where its span ended in an error."""
    searches, before_none = searches_of(read, "search")
    retrievals, _ = searches_of(read, "retrieval")
    if before_none:
        yield LeftOut("memory searches that no answer came after", before_none)
    if read.judging:
        yield LeftOut("calls of a model that judge or guard an answer", len(read.judging))
    for node in read.mute:
        yield LeftOut(_why_mute(node), example=node.span.name[:200])
    spare = [node for node in read.spare if not is_evaluated(node)]
    yield from (LeftOut(sort, count) for sort, count in Counter(map(partial(_sort, read), spare)).items() if sort)
    for asked in read.interactions:
        if asked.node.span.started == 0:
            yield Refused(asked.node.span.number, "a log record of a call has no time", asked.prompt.text[:2000])
            continue
        own = searches.get(asked, [])
        nameless = sum(not any(record.id for record in records_of(node)) for node in own)
        if nameless:
            yield LeftOut(_NO_RECORDS, nameless)
        yield _interaction(asked, read, own, retrievals.get(asked, []), project_of)
        if asked.node.span.error:
            yield _error(asked)


def _sort(read: Read, node: Node) -> str:
    """What a span is that belongs to no interaction; '' where it is counted as something else."""
    kind = read.kinds[node]
    if kind in {"search", "retrieval", "change"}:
        return ""
    if not node.span.attributes and not node.events:
        return "spans of no model, agent or memory"
    return f"spans of {_SPARE.get(kind, 'something else')}, in no interaction"


def _why_mute(node: Node) -> str:
    """Why a span has no text, and what to set where it was written."""
    client = client_of(node.span.name) or client_of_scope(node.span.origin.scope)
    if client is not None:
        return f"turns of {client.called} without their text: {client.instead}"
    return _HIDDEN if "openinference.span.kind" in node.span.attributes else _MUTE


def project_of_span(node: Node, project_of: Callable[[str], str]) -> str:
    """The project of a span: its sender's, else OpenInference's, else the service, as the map of projects has it."""
    if node.span.origin.senders_project is not None:
        return node.span.origin.senders_project
    named = node.span.origin.project or node.span.origin.service
    return project_of(named) if named else ""


def _interaction(
    asked: Asked, read: Read, searches: list[Node], retrievals: list[Node], project_of: Callable[[str], str]
) -> Row:
    node = asked.node
    memories = memories_of(asked, read, searches)
    answer = _response(asked, read)
    calls = _leaf_calls(asked, read)
    last = max({*asked.nodes, *searches, *retrievals}, key=lambda one: (one.written, one.id))
    chunks = dict.fromkeys(one.id for retrieval in retrievals for one in records_of(retrieval) if one.id)
    known = len({*asked.nodes, *searches, *retrievals}) + sum(len(one.events) for one in asked.nodes)
    model = (text(one.span.attributes.get(name)) for one in reversed(calls or [node]) for name in MODELS)
    fields: dict[str, Any] = {
        "interaction_id": f"otlp:{node.id}",
        "created_at": instant(node.span.started),
        # some microseconds later with each span known of it: of two readings the one that knows more wins
        "recorded_at": instant(last.written, known),
        "project": project_of_span(node, project_of),
        "agent": _first(asked, *AGENTS),
        "client": node.span.origin.scope,
        "session_id": _first(asked, *SESSIONS),
        "user_id": _first(asked, *USERS),
        "prompt": asked.prompt.text,
        "response": answer.text if answer else None,
        "memories_offered": memories.offered,
        "memories_used": memories.used if memories.injection else None,
        "chunks_used": [*chunks],
        "tokens": _tokens(calls, node),
        "cost": _cost(calls, node),
        "model": next(filter(None, model), None),
        "injection": memories.injection,
        "prompt_form": "json" if asked.prompt.is_json else None,
        "response_form": "json" if answer and answer.is_json else None,
        "error": node.span.error,
    }
    scope = "/".join(filter(None, (node.span.origin.scope, node.span.origin.scope_version)))
    return Row(
        {k: v for k, v in fields.items() if v not in (None, "", []) or (k == "memories_used" and v is not None)},
        (node.id, last.id),
        scope,
    )


def _error(asked: Asked) -> Row:
    node = asked.node
    fields = {
        "outcome_id": f"otlp:{node.id}:status",
        "interaction_id": f"otlp:{node.id}",
        "created_at": instant(node.span.started),
        "recorded_at": instant(node.span.ended),
        "success": False,
        "error_message": node.span.error,
        "duration_ms": (node.span.ended - node.span.started) / 10**6,
        "basis": "reported",
        "basis_method": "span_status",
    }
    return Row(fields, (node.id, node.id))


def _response(asked: Asked, read: Read) -> TracedText | None:
    """The answer of the span itself; that of the last call of it that answered, where it has none or it is a call."""
    own = read.contents[asked.node].response
    if own is not None and read.kinds[asked.node] != "call":
        return own
    answers = (read.contents[one].response for one in reversed(asked.nodes) if read.kinds[one] == "call")
    return next((one for one in answers if one is not None), own)


def _leaf_calls(asked: Asked, read: Read) -> list[Node]:
    """The calls of a model that no other call lies below, each answer once: what tokens were spent in."""
    calls = [one for one in asked.nodes if read.kinds[one] == "call"]
    above: set[Node] = set()
    for call in calls:
        parent = call.parent
        while parent is not None and parent not in above:
            above.add(parent)
            parent = parent.parent
    by_answer: dict[str, Node] = {}
    for call in calls:
        if call not in above:
            answer = response_id(call) or call.id
            if answer not in by_answer or _tokens_of(by_answer[answer]) is None:
                by_answer[answer] = call
    return [*by_answer.values()]


def _tokens(calls: Iterable[Node], node: Node) -> int | None:
    spent = [found for call in calls if (found := _tokens_of(call)) is not None]
    return sum(spent) if spent else _tokens_of(node)


def _tokens_of(node: Node) -> int | None:
    held = node.span.attributes
    objects = [parse_json_value(held.get(name)) for name in TOKEN_OBJECTS]
    for counts in [*(one for one in objects if isinstance(one, dict)), held]:
        for names in TOKENS:
            parts = [found for name in names if (found := whole(counts.get(name))) is not None]
            if parts:
                return max(sum(parts), 0)
    return None


def _cost(calls: Iterable[Node], node: Node) -> float | None:
    for spans in (calls, [node]):
        spent = [found for one in spans if (found := _cost_of(one)) is not None]
        if spent:
            return max(sum(spent), 0.0)
    return None


def _cost_of(node: Node) -> float | None:
    held = node.span.attributes
    return next((found for name in COSTS if (found := number(held.get(name))) is not None), None)


def _first(asked: Asked, *names: str) -> str:
    """What the span itself says, else the first span of it that does."""
    for node in (asked.node, *asked.nodes):
        held: Mapping[str, Any] = node.span.attributes
        if found := next((said for name in names if (said := text(held.get(name)))), ""):
            return found
    return ""
