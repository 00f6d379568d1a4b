"""Traces and logs of OpenTelemetry: interactions of their turns, and outcomes of evaluations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from slowwave.transforms.imports.adapter import (
    KEEP_DAYS,
    Context,
    LeftOut,
    Located,
    Made,
    Record,
    Refused,
    Row,
    check_names,
    names_stated,
)
from slowwave.transforms.imports.otlp.conventions import (
    AGENTS,
    MODELS,
    SESSIONS,
    USERS,
    attributes,
    client_of,
    client_of_scope,
    event_name,
    instant,
    number_value,
    numbered_objects,
    plain_value,
    text_value,
)
from slowwave.transforms.imports.otlp.sdk_json import form_of
from slowwave.transforms.imports.otlp.spans import (
    TWICE,
    OtlpSpan,
    OtlpTrace,
    SpanEvent,
    SpanNode,
    add_client_turns,
    span_or_event,
    stated_kind,
    trace_of,
)
from slowwave.transforms.imports.otlp.trace_documents import (
    EVALUATION,
    JUDGES,
    TraceDocument,
    items,
    parts,
    why_not_otlp,
)
from slowwave.transforms.imports.otlp.turns import (
    PromptParts,
    TurnText,
    cost_of_span,
    interpret_trace,
    memories_of,
    memory_changes,
    records_of,
    response_id,
    searches_of,
    tokens_of_span,
)
from slowwave.transforms.imports.trace_values import EvaluationRule, TracedText, is_success, parse_rules

# ------------------------------------------------------------------------------------------
# Evaluations in traces: what was judged, by whom, with which label and score; and the outcomes that they make.

# OpenInference has one thing under two names, of a span, a trace or a session.
_FORMS = (("evaluations.", "evaluation."), ("annotations.", "annotation."))
_SCOPES = ("", "trace.", "session.")
_FEEDBACK = tuple(scope + prefix for scope in _SCOPES for prefix, _ in _FORMS)
_UNJUDGED = "evaluations {} that no rule judges: say in settings.toml, [imports.otlp.evaluations], what passes"
_LONGEST_NAME = 60


@dataclass(frozen=True)
class SpanEvaluation:
    """One result. `span_id` is '' for a whole trace, `trace_id` too for a session; times are nanoseconds."""

    name: str
    label: str
    score: float | None
    explanation: str
    evaluator: str
    is_of_a_person: bool
    at: int
    trace_id: str
    span_id: str
    session_id: str
    response_id: str
    error: str
    convention: str


def evaluations_of(read: TurnText) -> Iterator[SpanEvaluation]:
    """Every evaluation in a trace: by events of the spans, by log records, and by attributes."""
    for node in read.trace.nodes:
        for event in node.events:
            if event.name == EVALUATION:
                yield _of_event(event, *_target(node, event))
        if not any(key.startswith(_FEEDBACK) for key in node.span.attributes):
            continue
        for scope in _SCOPES:
            for prefix, field in _FORMS:
                for one in numbered_objects(node.span.attributes, scope + prefix):
                    yield _of_attributes({k.removeprefix(field): v for k, v in one.items()}, scope, node)
    for event in read.trace.loose:
        if event.name == EVALUATION:
            yield _of_event(event, event.trace_id, event.span_id)


def is_evaluated(node: SpanNode) -> bool:
    """Whether a span holds an evaluation, or held one of another trace."""
    if JUDGES in node.span.attributes:
        return True
    return any(event.name == EVALUATION for event in node.events) or any(
        key.startswith(_FEEDBACK) for key in node.span.attributes
    )


def outcomes_of(
    found: Iterator[SpanEvaluation], reads: Mapping[str, TurnText], rules: Mapping[str, EvaluationRule]
) -> Iterator[Made]:
    """The outcomes of evaluations that passed or failed; the others are counted with their names."""
    by_answer: dict[str, tuple[str, str]] = {}
    for read in reads.values():
        for node in read.owner:
            if answer := response_id(node):
                by_answer.setdefault(answer, (node.span.trace_id, node.span.span_id))
    for one in found:
        if one.error:
            yield LeftOut("evaluations that failed themselves", example=f"{one.name}: {one.error}"[:200])
            continue
        success = is_success(rules, one.name, one.label, one.score)
        if success is None:
            score = "" if one.score is None else f" {one.score:g}"
            yield LeftOut(_UNJUDGED.format(repr(one.name[:_LONGEST_NAME])), example=f"{one.label}{score}".strip()[:200])
            continue
        # the context may be that of who judges, the answer's id is the answer's
        trace_id, span_id = by_answer.get(one.response_id, (one.trace_id, one.span_id))
        yield from _outcome(one, trace_id, span_id, reads.get(trace_id), success=success)


def _outcome(
    one: SpanEvaluation, trace_id: str, span_id: str, read: TurnText | None, *, success: bool
) -> Iterator[Made]:
    context = f"{one.trace_id}:{one.span_id}" if one.trace_id else ""
    target = context or one.response_id or f"session:{one.session_id}"
    named = [target, one.name, one.evaluator, *([one.response_id] if context and one.response_id else [])]
    if not trace_id and not one.response_id and not one.session_id:
        yield LeftOut("evaluations that do not say what they are of", example=one.name[:200])
        return
    if one.at == 0:
        yield LeftOut("evaluations without a time", example=one.name[:200])
        return
    interaction, known = _evaluated_interaction(read, trace_id, span_id)
    feedback = {"name": one.name, "label": one.label or None, "score": one.score}
    fields = {
        "outcome_id": f"otlp:{':'.join(named)}",
        "interaction_id": interaction,
        "created_at": instant(one.at),
        "recorded_at": instant(one.at, known),
        "session_id": one.session_id or None,
        "success": success,
        "feedback": one.explanation or None,
        "basis": "reported" if one.is_of_a_person else "evaluated",
        "basis_method": f"{one.convention}:{one.name}",
        "evaluation": {name: value for name, value in feedback.items() if value is not None},
        "evaluator": one.evaluator or None,
        "response_id": one.response_id or None,
    }
    yield Row({name: value for name, value in fields.items() if value is not None}, (target, target))


def _evaluated_interaction(read: TurnText | None, trace_id: str, span_id: str) -> tuple[str | None, int]:
    """The interaction that was judged, and of how many spans it is known; a whole trace is its first interaction."""
    if not trace_id:
        return None, 0
    if read is not None:
        node = next((node for node in read.owner if node.span.span_id == span_id), None)
        asked = read.owner[node] if node else None
        if not span_id and read.interactions:
            asked = min(read.interactions, key=lambda one: (one.node.span.started, one.node.id))
        if asked is not None:
            return f"otlp:{asked.node.id}", len(asked.nodes)
    return (f"otlp:{trace_id}:{span_id}", 0) if span_id else (None, 0)


def _target(node: SpanNode, event: SpanEvent) -> tuple[str, str]:
    """What an event judges: the span that its span links to, after that one had ended; else its own span."""
    if node.span.links and event in node.span.events:
        return node.span.links[0]
    return node.span.trace_id, node.span.span_id


def _of_event(event: SpanEvent, trace_id: str, span_id: str) -> SpanEvaluation:
    held = {**event.attributes, **(event.body if isinstance(event.body, dict) else {})}
    evaluator = text_value(held.get("gen_ai.evaluator.id")) or text_value(held.get("gen_ai.evaluator.name"))
    kind = text_value(held.get("gen_ai.evaluator.type") or held.get("gen_ai.evaluator.kind"))
    return SpanEvaluation(
        text_value(held.get("gen_ai.evaluation.name")),
        text_value(held.get("gen_ai.evaluation.score.label")),
        number_value(held.get("gen_ai.evaluation.score.value")),
        text_value(held.get("gen_ai.evaluation.explanation")),
        evaluator,
        kind.upper() == "HUMAN",
        event.at,
        trace_id,
        span_id,
        "",
        text_value(held.get("gen_ai.response.id")),
        text_value(held.get("error.type")),
        EVALUATION,
    )


def _of_attributes(held: Mapping[str, Any], scope: str, node: SpanNode) -> SpanEvaluation:
    span = node.span
    trace_id, span_id = span.links[0] if span.links else (span.trace_id, span.span_id)
    if scope:
        span_id = ""
    if scope == "session.":
        trace_id = ""
    kind = text_value(held.get("annotator_kind"))
    return SpanEvaluation(
        text_value(held.get("name")),
        text_value(held.get("label")),
        number_value(held.get("score")),
        text_value(held.get("explanation")),
        text_value(held.get("identifier")),
        kind.upper() == "HUMAN",
        span.ended,
        trace_id,
        span_id,
        text_value(span.attributes.get("session.id")) if scope == "session." else "",
        "",
        "",
        "openinference",
    )


# ------------------------------------------------------------------------------------------
# The rows of a trace's interactions, and of those that ended in an error.

_MUTE = (
    "calls of a model without their text: where they run, set"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY and"
    " OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental; if it is in log records, import these with them"
)
_HIDDEN = "calls of a model whose text is hidden: where they run, set OPENINFERENCE_HIDE_INPUTS=false"
_SPARE = {"turn": "a turn", "chain": "a chain", "call": "a call of a model", "tool": "a tool", "judge": "an evaluator"}
_NO_RECORDS = "memory searches without what they found: set gen_ai.memory.records on their spans, each with an id"


def interaction_rows(read: TurnText, project_of: Callable[[str], str]) -> Iterator[Made]:
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


def _sort(read: TurnText, node: SpanNode) -> str:
    """What a span is that belongs to no interaction; '' where it is counted as something else."""
    kind = read.kinds[node]
    if kind in {"search", "retrieval", "change"}:
        return ""
    if not node.span.attributes and not node.events:
        return "spans of no model, agent or memory"
    return f"spans of {_SPARE.get(kind, 'something else')}, in no interaction"


def _why_mute(node: SpanNode) -> str:
    """Why a span has no text, and what to set where it was written."""
    client = client_of(node.span.name) or client_of_scope(node.span.origin.scope)
    if client is not None:
        return f"turns of {client.called} without their text: {client.instead}"
    return _HIDDEN if "openinference.span.kind" in node.span.attributes else _MUTE


def project_of_span(node: SpanNode, project_of: Callable[[str], str]) -> str:
    """The project of a span: its sender's, else OpenInference's, else the service, as the map of projects has it."""
    if node.span.origin.senders_project is not None:
        return node.span.origin.senders_project
    named = node.span.origin.project or node.span.origin.service
    return project_of(named) if named else ""


def _interaction(
    asked: PromptParts,
    read: TurnText,
    searches: list[SpanNode],
    retrievals: list[SpanNode],
    project_of: Callable[[str], str],
) -> Row:
    node = asked.node
    memories = memories_of(asked, read, searches)
    answer = _response(asked, read)
    calls = _leaf_calls(asked, read)
    last = max({*asked.nodes, *searches, *retrievals}, key=lambda one: (one.written, one.id))
    chunks = dict.fromkeys(one.id for retrieval in retrievals for one in records_of(retrieval) if one.id)
    known = len({*asked.nodes, *searches, *retrievals}) + sum(len(one.events) for one in asked.nodes)
    model = (text_value(one.span.attributes.get(name)) for one in reversed(calls or [node]) for name in MODELS)
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


def _error(asked: PromptParts) -> Row:
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


def _response(asked: PromptParts, read: TurnText) -> TracedText | None:
    """The answer of the span itself; that of the last call of it that answered, where it has none or it is a call."""
    own = read.contents[asked.node].response
    if own is not None and read.kinds[asked.node] != "call":
        return own
    answers = (read.contents[one].response for one in reversed(asked.nodes) if read.kinds[one] == "call")
    return next((one for one in answers if one is not None), own)


def _leaf_calls(asked: PromptParts, read: TurnText) -> list[SpanNode]:
    """The calls of a model that no other call lies below, each answer once: what tokens were spent in."""
    calls = [one for one in asked.nodes if read.kinds[one] == "call"]
    above: set[SpanNode] = set()
    for call in calls:
        parent = call.parent
        while parent is not None and parent not in above:
            above.add(parent)
            parent = parent.parent
    by_answer: dict[str, SpanNode] = {}
    for call in calls:
        if call not in above:
            answer = response_id(call) or call.id
            if answer not in by_answer or tokens_of_span(by_answer[answer]) is None:
                by_answer[answer] = call
    return [*by_answer.values()]


def _tokens(calls: Iterable[SpanNode], node: SpanNode) -> int | None:
    spent = [found for call in calls if (found := tokens_of_span(call)) is not None]
    return sum(spent) if spent else tokens_of_span(node)


def _cost(calls: Iterable[SpanNode], node: SpanNode) -> float | None:
    for spans in (calls, [node]):
        spent = [found for one in spans if (found := cost_of_span(one)) is not None]
        if spent:
            return max(sum(spent), 0.0)
    return None


def _first(asked: PromptParts, *names: str) -> str:
    """What the span itself says, else the first span of it that does."""
    for node in (asked.node, *asked.nodes):
        held: Mapping[str, Any] = node.span.attributes
        if found := next((said for name in names if (said := text_value(held.get(name)))), ""):
            return found
    return ""


# A trace that nothing was added to for so long is over, although its topmost span is not here.
_QUIET = 3600 * 10**9
OPEN = "traces that were still being written: they come with the next import"


class Otlp:
    """Traces and logs as OTLP JSON, by the GenAI conventions or OpenInference.

    Options: `evaluations`, rules by name (`rules_stated`); `memory_stores`, names of data sources whose retrievals
    offer memories.
    """

    name = "otlp"
    version = 2

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """OTLP JSON or spans of the SDK, if that is what the first record is; never what only looks like it."""
        if not first or why_not_otlp(first[0]):
            return None
        if (form := form_of(first[0])) is not None:
            return form.called
        signals = {"resourceSpans": "traces", "resourceLogs": "logs", "resourceMetrics": "metrics"}
        return next((f"OTLP JSON {what}" for key, what in signals.items() if isinstance(first[0].get(key), list)), None)

    def kind_of_record(self, record: Record) -> str:
        """Return what the span or the log record of a part is."""
        item = next(items(record), None)
        if item is None:
            return "of something else"
        held = attributes(item.get("attributes"))
        if "resourceSpans" in record:
            return f"span ({stated_kind(held, text_value(item.get('name')))})"
        return f"log record ({event_name(item, held, plain_value(item.get('body'))) or 'unnamed'})"

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """The rows of these documents; the spans of a trace may be in any of them, in any order, and more than once.

        Raises OptionsError where an option cannot be used.
        """
        check_names(context.options, ("evaluations", "memory_stores", KEEP_DAYS))
        rules = parse_rules(context.options.get("evaluations", {}))
        stores = names_stated(context.options, "memory_stores")
        spans: dict[str, list[OtlpSpan]] = {}
        events: dict[str, list[SpanEvent]] = {}
        for one in chain.from_iterable(map(parts, records)):
            if not isinstance(one, TraceDocument):
                yield one
                continue
            read = span_or_event(one.number, one.document)
            if isinstance(read, OtlpSpan):
                spans.setdefault(one.trace_id, []).append(read)
            else:
                events.setdefault("" if one.is_judging else one.trace_id, []).append(read)
        traces: list[OtlpTrace] = []
        for id_ in sorted({*spans, *events}):
            parted = add_client_turns(id_, spans.get(id_, []), events.get(id_, []))
            traces.append(trace_of(id_, parted.spans, parted.events))
            if parted.twice:
                yield LeftOut(TWICE, parted.twice)
        ended = max((trace.ended for trace in traces), default=0)
        reads: dict[str, TurnText] = {}
        for trace in traces:
            if _is_over(trace, ended, context):
                reads[trace.trace_id] = interpret_trace(trace, stores)
            else:
                yield LeftOut(OPEN, is_settled=True)
        yield from _rows(reads, rules, context)


def _is_over(trace: OtlpTrace, ended: int, context: Context) -> bool:
    return context.is_idle or trace.has_root or trace.ended < ended - _QUIET


def _rows(reads: Mapping[str, TurnText], rules: Mapping[str, EvaluationRule], context: Context) -> Iterator[Made]:
    for read in reads.values():
        yield from interaction_rows(read, context.project_of)
        for node in read.trace.nodes:
            if read.kinds[node] == "change":
                yield from memory_changes(node, project_of_span(node, context.project_of))
    yield from outcomes_of(chain.from_iterable(map(evaluations_of, reads.values())), reads, rules)
