"""The rows of a trace's interactions, and of those that ended in an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.asked import Said
from slowwave.transforms.imports.made import LeftOut, Made, Refused, Row
from slowwave.transforms.imports.otlp.memory_spans import memories_of, records_of, searches_of
from slowwave.transforms.imports.otlp.spans import Node
from slowwave.transforms.imports.otlp.turns import Asked, Read, response_id
from slowwave.transforms.imports.otlp.values import instant, number, text, whole

_MUTE = (
    "calls of a model without their text: where they run, set"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY and"
    " OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental; if it is in log records, import these with them"
)
_HIDDEN = "calls of a model whose text is hidden: where they run, set OPENINFERENCE_HIDE_INPUTS=false"
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
        hidden = "openinference.span.kind" in node.span.attributes
        yield LeftOut(_HIDDEN if hidden else _MUTE, example=node.span.name[:200])
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
    model = (text(one.span.attributes.get(name)) for one in reversed(calls or [node]) for name in _MODELS)
    fields: dict[str, Any] = {
        "interaction_id": f"otlp:{node.id}",
        "created_at": instant(node.span.started),
        # some microseconds later with each span known of it: of two readings the one that knows more wins
        "recorded_at": instant(last.written, known),
        "project": project_of_span(node, project_of),
        "agent": _first(asked, "gen_ai.agent.name", "agent.name"),
        "client": node.span.origin.scope,
        "session_id": _first(asked, "gen_ai.conversation.id", "session.id"),
        "user_id": _first(asked, "user.id", "enduser.id"),
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


def _response(asked: Asked, read: Read) -> Said | None:
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
    if (total := whole(held.get("llm.token_count.total"))) is not None:
        return max(total, 0)
    for names in _TOKENS:
        parts = [found for name in names if (found := whole(held.get(name))) is not None]
        if parts:
            return max(sum(parts), 0)
    return None


def _cost(calls: Iterable[Node], node: Node) -> float | None:
    for spans in (calls, [node]):
        spent = [found for one in spans if (found := number(one.span.attributes.get("llm.cost.total"))) is not None]
        if spent:
            return max(sum(spent), 0.0)
    return None


def _first(asked: Asked, *names: str) -> str:
    """What the span itself says, else the first span of it that does."""
    for node in (asked.node, *asked.nodes):
        held: Mapping[str, Any] = node.span.attributes
        if found := next((said for name in names if (said := text(held.get(name)))), ""):
            return found
    return ""


_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_TOKENS = (
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("llm.token_count.prompt", "llm.token_count.completion"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
)
