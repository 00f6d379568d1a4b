"""Evaluations in traces: what was judged, by whom, with which label and score; and the outcomes that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.imports.adapter import LeftOut, Made, Row
from slowwave.transforms.imports.otlp.parts import EVALUATION, JUDGES
from slowwave.transforms.imports.otlp.spans import Event, Node
from slowwave.transforms.imports.otlp.turns import Read, response_id
from slowwave.transforms.imports.otlp.values import instant, number, numbered, text
from slowwave.transforms.imports.trace_values import EvaluationRule, is_success

# OpenInference has one thing under two names, of a span, a trace or a session.
_FORMS = (("evaluations.", "evaluation."), ("annotations.", "annotation."))
_SCOPES = ("", "trace.", "session.")
_FEEDBACK = tuple(scope + prefix for scope in _SCOPES for prefix, _ in _FORMS)
_UNJUDGED = "evaluations {} that no rule judges: say in settings.toml, [imports.otlp.evaluations], what passes"
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Evaluation:
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


def evaluations_of(read: Read) -> Iterator[Evaluation]:
    """Every evaluation in a trace: by events of the spans, by log records, and by attributes."""
    for node in read.trace.nodes:
        for event in node.events:
            if event.name == EVALUATION:
                yield _of_event(event, *_target(node, event))
        if not any(key.startswith(_FEEDBACK) for key in node.span.attributes):
            continue
        for scope in _SCOPES:
            for prefix, field in _FORMS:
                for one in numbered(node.span.attributes, scope + prefix):
                    yield _of_attributes({k.removeprefix(field): v for k, v in one.items()}, scope, node)
    for event in read.trace.loose:
        if event.name == EVALUATION:
            yield _of_event(event, event.trace_id, event.span_id)


def is_evaluated(node: Node) -> bool:
    """Whether a span holds an evaluation, or held one of another trace."""
    if JUDGES in node.span.attributes:
        return True
    return any(event.name == EVALUATION for event in node.events) or any(
        key.startswith(_FEEDBACK) for key in node.span.attributes
    )


def outcomes_of(
    found: Iterator[Evaluation], reads: Mapping[str, Read], rules: Mapping[str, EvaluationRule]
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


def _outcome(one: Evaluation, trace_id: str, span_id: str, read: Read | None, *, success: bool) -> Iterator[Made]:
    context = f"{one.trace_id}:{one.span_id}" if one.trace_id else ""
    target = context or one.response_id or f"session:{one.session_id}"
    named = [target, one.name, one.evaluator, *([one.response_id] if context and one.response_id else [])]
    if not trace_id and not one.response_id and not one.session_id:
        yield LeftOut("evaluations that do not say what they are of", example=one.name[:200])
        return
    if one.at == 0:
        yield LeftOut("evaluations without a time", example=one.name[:200])
        return
    interaction, known = _interaction(read, trace_id, span_id)
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


def _interaction(read: Read | None, trace_id: str, span_id: str) -> tuple[str | None, int]:
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


def _target(node: Node, event: Event) -> tuple[str, str]:
    """What an event judges: the span that its span links to, after that one had ended; else its own span."""
    if node.span.links and event in node.span.events:
        return node.span.links[0]
    return node.span.trace_id, node.span.span_id


def _of_event(event: Event, trace_id: str, span_id: str) -> Evaluation:
    held = {**event.attributes, **(event.body if isinstance(event.body, dict) else {})}
    evaluator = text(held.get("gen_ai.evaluator.id")) or text(held.get("gen_ai.evaluator.name"))
    kind = text(held.get("gen_ai.evaluator.type") or held.get("gen_ai.evaluator.kind"))
    return Evaluation(
        text(held.get("gen_ai.evaluation.name")),
        text(held.get("gen_ai.evaluation.score.label")),
        number(held.get("gen_ai.evaluation.score.value")),
        text(held.get("gen_ai.evaluation.explanation")),
        evaluator,
        kind.upper() == "HUMAN",
        event.at,
        trace_id,
        span_id,
        "",
        text(held.get("gen_ai.response.id")),
        text(held.get("error.type")),
        EVALUATION,
    )


def _of_attributes(held: Mapping[str, Any], scope: str, node: Node) -> Evaluation:
    span = node.span
    trace_id, span_id = span.links[0] if span.links else (span.trace_id, span.span_id)
    if scope:
        span_id = ""
    if scope == "session.":
        trace_id = ""
    kind = text(held.get("annotator_kind"))
    return Evaluation(
        text(held.get("name")),
        text(held.get("label")),
        number(held.get("score")),
        text(held.get("explanation")),
        text(held.get("identifier")),
        kind.upper() == "HUMAN",
        span.ended,
        trace_id,
        span_id,
        text(span.attributes.get("session.id")) if scope == "session." else "",
        "",
        "",
        "openinference",
    )
