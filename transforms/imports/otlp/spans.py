"""Spans of a trace as a tree, what each of them is, and the turns that clients tell only in their logs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.otlp.conventions import (
    DETAILS,
    FIRST_CALLS,
    FIRST_KINDS,
    HIDDEN,
    KINDS,
    LATER_TURNS,
    NAMED,
    ClientConventions,
    Kind,
    attributes,
    client_of,
    client_of_scope,
    digest_of,
    event_name,
    is_talk,
    nanoseconds,
    number_value,
    plain_value,
    session_of,
    text_value,
    whole_value,
)
from slowwave.transforms.imports.otlp.trace_documents import SENDERS_PROJECT

_ERROR = 2


@dataclass(frozen=True)
class SpanOrigin:
    """What a resource and a scope say: the service, the project, and the instrumentation with its version.

    `senders_project`: of whose token it was taken in by, whatever else is said; None where it was not.
    """

    service: str
    project: str
    scope: str
    scope_version: str
    senders_project: str | None = None


@dataclass(frozen=True)
class SpanEvent:
    """An event of a span, or a log record. `at`: nanoseconds; `body`: whatever the record's body holds."""

    name: str
    at: int
    attributes: dict[str, Any]
    body: Any
    trace_id: str
    span_id: str
    origin: SpanOrigin


@dataclass(frozen=True)
class OtlpSpan:
    """A span; of one that is of no model its place only. Times are nanoseconds, `error` is '' where it did not fail."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    started: int
    ended: int
    attributes: dict[str, Any]
    events: tuple[SpanEvent, ...]
    links: tuple[tuple[str, str], ...]
    error: str
    origin: SpanOrigin
    number: int
    # only log records tell of it: its span is not here
    is_told_by_logs: bool = False


@dataclass(eq=False)
class SpanNode:
    """A span among its spans: those above and below, and all events of it, in their order."""

    span: OtlpSpan
    parent: SpanNode | None = None
    children: list[SpanNode] = field(default_factory=list)
    events: list[SpanEvent] = field(default_factory=list)

    @property
    def id(self) -> str:
        """`traceId:spanId`."""
        return f"{self.span.trace_id}:{self.span.span_id}"

    @property
    def written(self) -> int:
        """When the last of it was written, its events included, in nanoseconds."""
        return max(self.span.ended, *(event.at for event in self.events), 0)

    def below(self) -> Iterator[SpanNode]:
        """The spans below it and itself, in the order of their start."""
        found = [self]
        for node in found:
            found += node.children
        yield from sorted(found, key=_order)


@dataclass(frozen=True)
class OtlpTrace:
    """The spans of one trace, each after its parent, and the events that name no span of it."""

    trace_id: str
    nodes: Sequence[SpanNode]
    loose: Sequence[SpanEvent]

    @property
    def ended(self) -> int:
        """When the last of it ended, in nanoseconds."""
        return max((node.span.ended for node in self.nodes), default=0)

    @property
    def has_root(self) -> bool:
        """Whether the span that all others are below is here, which ends last."""
        return any(not node.span.parent_id and not node.span.is_told_by_logs for node in self.nodes)


def span_or_event(number: int, document: Mapping[str, Any]) -> OtlpSpan | SpanEvent:
    """The one span or log record of a part."""
    is_span = "resourceSpans" in document
    held = document["resourceSpans" if is_span else "resourceLogs"][0]
    scoped = held["scopeSpans" if is_span else "scopeLogs"][0]
    of_resource, scope = attributes(held["resource"].get("attributes")), scoped.get("scope", {})
    service = text_value(of_resource.get("service.name"))
    origin = SpanOrigin(
        "" if service.startswith("unknown_service") else service,
        text_value(of_resource.get("openinference.project.name")),
        text_value(scope.get("name")),
        text_value(scope.get("version")),
        senders if isinstance(senders := of_resource.get(SENDERS_PROJECT), str) else None,
    )
    return _span(number, scoped["spans"][0], origin) if is_span else _log_record(scoped["logRecords"][0], origin)


def trace_of(trace_id: str, spans: Iterable[OtlpSpan], events: Iterable[SpanEvent]) -> OtlpTrace:
    """The tree of a trace, the same in whatever order its spans and log records came, and however often."""
    nodes: dict[str, SpanNode] = {}
    for span in spans:
        there = nodes.get(span.span_id)
        if there is None or _fullness(span) > _fullness(there.span):
            nodes[span.span_id] = SpanNode(span)
    loose: list[SpanEvent] = []
    for _, event in sorted({(event.at, repr(event)): event for event in events}.items(), key=lambda item: item[0]):
        if event.span_id and event.span_id not in nodes and tells_content(event):
            nodes[event.span_id] = SpanNode(_told_by_logs(event))
        if event.span_id in nodes:
            nodes[event.span_id].events.append(event)
        else:
            loose.append(event)
    for node in nodes.values():
        node.events[:0] = node.span.events
        parent = nodes.get(node.span.parent_id)
        if parent is not None and parent is not node:
            node.parent = parent
            parent.children.append(node)
    return OtlpTrace(trace_id, _from_the_top(nodes.values()), loose)


def tells_content(event: SpanEvent) -> bool:
    """Whether an event holds what was asked or answered."""
    return event.name == "gen_ai.client.inference.operation.details" or event.name in _CONTENT


_CONTENT = frozenset(f"gen_ai.{what}" for what in ("user.message", "system.message", "choice"))


def _from_the_top(nodes: Iterable[SpanNode]) -> list[SpanNode]:
    """Each after its parent. Of a circle, which no honest program writes, the first is taken for the top."""
    ordered = sorted(nodes, key=_order)
    placed: set[SpanNode] = set()
    found: list[SpanNode] = []
    for is_top in (lambda node: node.parent is None, lambda node: node not in placed):
        for top in ordered:
            if top in placed or not is_top(top):
                continue
            if top.parent is not None:
                top.parent.children.remove(top)
                top.parent = None
            reached = [top]
            for node in reached:
                reached += sorted(node.children, key=_order)
            placed.update(reached)
            found += reached
    return found


def _order(node: SpanNode) -> tuple[int, str]:
    return node.span.started, node.span.span_id


def _fullness(span: OtlpSpan) -> tuple[int, int, str]:
    """Of two that say they are one span, the one that ended later counts, then the one that says more."""
    return span.ended, len(span.attributes), repr(span)


def _span(number: int, span: Mapping[str, Any], origin: SpanOrigin) -> OtlpSpan:
    started = nanoseconds(span.get("startTimeUnixNano")) or 0
    ended = max(nanoseconds(span.get("endTimeUnixNano")) or started, started)
    trace_id, span_id = span["traceId"], span["spanId"]
    held = attributes(span.get("attributes"))
    events = span.get("events")
    links = span.get("links")
    return OtlpSpan(
        trace_id,
        span_id,
        span["parentSpanId"],
        text_value(span.get("name")),
        started,
        ended,
        held,
        tuple(
            SpanEvent(
                text_value(event.get("name")),
                nanoseconds(event.get("timeUnixNano")) or ended,
                attributes(event.get("attributes")),
                None,
                trace_id,
                span_id,
                origin,
            )
            for event in (events if isinstance(events, list) else ())
            if isinstance(event, dict)
        ),
        tuple(
            (text_value(link.get("traceId")).lower(), text_value(link.get("spanId")).lower())
            for link in (links if isinstance(links, list) else ())
            if isinstance(link, dict)
        ),
        _error(span.get("status"), held),
        origin,
        number,
    )


def _error(status: Any, held: Mapping[str, Any]) -> str:  # noqa: ANN401
    """What failed, where the status says that something did."""
    if not isinstance(status, dict) or whole_value(status.get("code")) != _ERROR:
        return ""
    kind, message = text_value(held.get("error.type")), text_value(status.get("message"))
    if kind and message and not message.startswith(kind):
        return f"{kind}: {message}"
    return message or kind or "the span's status is ERROR, without a message"


def _log_record(log: Mapping[str, Any], origin: SpanOrigin) -> SpanEvent:
    held = attributes(log.get("attributes"))
    return SpanEvent(
        event_name(log, held, plain_value(log.get("body"))),
        nanoseconds(log.get("timeUnixNano")) or nanoseconds(log.get("observedTimeUnixNano")) or 0,
        held,
        plain_value(log.get("body")),
        log["traceId"],
        log["spanId"],
        origin,
    )


def _told_by_logs(event: SpanEvent) -> OtlpSpan:
    """The span that a log record tells of and that is not here."""
    held = {key: value for key, value in event.attributes.items() if key.startswith(("gen_ai.", "error."))}
    return OtlpSpan(
        event.trace_id,
        event.span_id,
        "",
        "",
        event.at,
        event.at,
        held,
        (),
        (),
        "",
        event.origin,
        0,
        is_told_by_logs=True,
    )


# ------------------------------------------------------------------------------------------
# What a span is: a turn of an agent, a call of a model, a search, a judge; by whichever convention.


def kind_of(node: SpanNode, memory_stores: Collection[str]) -> Kind:
    """The kind of a span. A retrieval from one of the `memory_stores` (by data source or span name) is a search."""
    held = node.span.attributes
    if not held and not node.events:
        return "other"
    kind = stated_kind(held, node.span.name)
    operation = text_value(held.get("gen_ai.operation.name"))
    if kind == "other" and not operation and _is_untitled_call(node):
        return "call"  # from before operations had names
    if kind == "retrieval" and not {text_value(held.get("gen_ai.data_source.id")), node.span.name}.isdisjoint(
        memory_stores
    ):
        return "search"
    return kind


def is_first_call(node: SpanNode) -> bool:
    """Whether a span is a call that version 1 of the adapter knew for one."""
    stated = [text_value(node.span.attributes.get(name)) for name in FIRST_KINDS]
    return not FIRST_CALLS.isdisjoint(stated) or (not stated[0] and _is_untitled_call(node))


def _is_untitled_call(node: SpanNode) -> bool:
    return _is_of_a_prompt(node) or any(map(tells_content, node.events))


def is_first_frame(node: SpanNode) -> bool:
    """Whether a span around calls is one that version 1 of the adapter knew for one."""
    return (
        any(text_value(node.span.attributes.get(name)) in kinds for name, kinds in KINDS if name in FIRST_KINDS)
        and text_value(node.span.attributes.get(FIRST_KINDS[0])) not in LATER_TURNS
    )


def stated_kind(held: Mapping[str, Any], name: str) -> Kind:
    """The kind that a span states, by the first of its attributes whose value is known, else by its name."""
    for attribute, kinds in KINDS:
        if (value := held.get(attribute)) is not None:
            kind = kinds.get(text_value(parse_json_value(value)))  # MLflow writes each value as JSON
            if kind is not None:
                return kind
    return NAMED.get(name, "other")


def _is_of_a_prompt(node: SpanNode) -> bool:
    return any(key.startswith("gen_ai.prompt.") for key in node.span.attributes)


# ------------------------------------------------------------------------------------------
# Turns that coding agents tell in events of their own: the log records of Claude Code and Gemini CLI.
# Each event tells a part: the prompt, an answer, what a request took. Those of one turn become one span with the
# attributes of `conventions`; where the agent wrote a span of the turn too, they fill in what that does not say.

TWICE = "details of a call that events of its turn tell too"
_TOP = frozenset({"claude_code.interaction", "user_prompt"})
_DEEPEST = 100


@dataclass(frozen=True)
class ClientTurns:
    """Spans and events of a trace with the turns of clients as spans; `twice` events said what these say."""

    spans: Sequence[OtlpSpan]
    events: Sequence[SpanEvent]
    twice: int = 0


def add_client_turns(trace_id: str, spans: Sequence[OtlpSpan], events: Sequence[SpanEvent]) -> ClientTurns:
    """Return the spans of a trace with those that clients tell by events, and its other events."""
    own = {(one.at, one.name + repr(one.attributes)): one for one in events if client_of(one.name)}
    if not own:
        return ClientTurns(spans, events)
    by_id = {span.span_id: span for span in spans}
    details: list[SpanEvent] = []
    others: list[SpanEvent] = []
    for event in events:
        if not client_of(event.name):
            is_detail = event.name == DETAILS and event.span_id not in by_id and client_of_scope(event.origin.scope)
            (details if is_detail else others).append(event)
    turns = _turns(own[key] for key in sorted(own))
    first_calls = _first_calls([*turns.values()], details)
    texts: dict[str, dict[str, Any]] = {}
    made: list[OtlpSpan] = []
    for place, ((client, key), group) in enumerate(turns.items()):
        attributes, top = _turn_attributes(client, group), _top(group, by_id)
        if top is not None:
            texts[top.span_id] = attributes
            continue
        # as version 1 called the turn, by the first of its calls
        own_id = (first_calls.get(place) if group[0].span_id else None) or digest_of(f"{client.called} {key}", 8)
        name, began, ended = f"{client.prefix}interaction", group[0].at, group[-1].at
        made.append(
            OtlpSpan(trace_id, own_id, "", name, began, ended, attributes, tuple(group), (), "", group[0].origin, 0,
                 is_told_by_logs=True)
        )  # fmt: skip
    filled = [_with(span, texts[span.span_id]) if span.span_id in texts else span for span in spans]
    if not made:
        return ClientTurns(filled, [*others, *details])
    return ClientTurns([*filled, *made], others, len(details))


def _first_calls(turns: Sequence[Sequence[SpanEvent]], details: Iterable[SpanEvent]) -> dict[int, str]:
    """The span of the first call in each turn, by its place: those from its first event to that of the next turn."""
    begins = [group[0].at for group in turns]
    found: dict[int, str] = {}
    for event in sorted(details, key=lambda event: (event.at, event.span_id)):
        place = bisect_right(begins, event.at) - 1
        if place >= 0:
            found.setdefault(place, event.span_id)
    return found


def _turns(events: Iterable[SpanEvent]) -> dict[tuple[ClientConventions, str], list[SpanEvent]]:
    """The events of each turn; one that names none is of the turn that was asked last in its session."""
    found: dict[tuple[ClientConventions, str], list[SpanEvent]] = {}
    latest: dict[str, str] = {}
    for event in events:
        client = client_of(event.name)
        if client is None:
            continue
        session = session_of(event.attributes)
        key = text_value(event.attributes.get(client.turn))
        if not key:
            if event.name == client.prefix + client.asked[0]:
                latest[session] = f"{session} {event.at}"
            key = latest.get(session, session)
        found.setdefault((client, key), []).append(event)
    return found


def _top(group: Iterable[SpanEvent], by_id: Mapping[str, OtlpSpan]) -> OtlpSpan | None:
    """The span of a turn, if there is one: that of an event, or the topmost above that is a turn of a client's."""
    for event in group:
        span, found = by_id.get(event.span_id), None
        for _ in range(_DEEPEST):
            if span is None:
                break
            found = span if span.name in _TOP else found
            span = by_id.get(span.parent_id)
        if found is not None:
            return found
    return None


def _turn_attributes(client: ClientConventions, group: Sequence[SpanEvent]) -> dict[str, Any]:
    """What the events of a turn say, under the names of `conventions`."""

    def events_named(name: str) -> list[Mapping[str, Any]]:
        return [event.attributes for event in group if event.name == client.prefix + name]

    prompts = [said for one in events_named(client.asked[0]) if (said := _text(one.get(client.asked[1])))]
    talk = [one for one in events_named(client.answered[0]) if is_talk(one)]
    answers = [said for one in talk if (said := _text(one.get(client.answered[1])))]
    spent = events_named(client.spent)
    tokens = [found for one in spent for name in client.tokens if (found := whole_value(one.get(name))) is not None]
    costs = [found for one in spent if client.cost and (found := number_value(one.get(client.cost))) is not None]
    held: dict[str, Any] = {
        "user_prompt": "\n\n".join(dict.fromkeys(prompts)),
        "response.model_output": "\n\n".join(dict.fromkeys(answers)),
        "gen_ai.usage.total_tokens": sum(tokens) if tokens else None,
        "gen_ai.usage.cost": sum(costs) if costs else None,
    }
    held["session.id"] = next((said for event in group if (said := session_of(event.attributes))), None)
    for name in ("user.id", "model"):
        held[name] = next((said for event in group if (said := text_value(event.attributes.get(name)))), None)
    return {name: value for name, value in held.items() if value not in (None, "")}


def _text(value: Any) -> str:  # noqa: ANN401
    """A text that is to be seen; of Gemini's responses as JSON, in pieces or whole, the text in them."""
    if not isinstance(value, str) or value in HIDDEN:
        return ""
    held = parse_json_value(value)
    if isinstance(held, str):
        return held
    pieces = [one for one in (held if isinstance(held, list) else [held]) if isinstance(one, dict)]
    if not any("candidates" in one for one in pieces):
        return value
    return "".join(_candidate_text(one) for one in pieces)


def _candidate_text(response: Mapping[str, Any]) -> str:
    candidates = response.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    content = first.get("content") if isinstance(first, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    return "".join(
        part["text"]
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str) and not part.get("thought")
    )


def _with(span: OtlpSpan, stated: Mapping[str, Any]) -> OtlpSpan:
    """A span with the texts that events tell and it does not."""
    held = span.attributes
    texts = {name: stated[name] for name in ("user_prompt", "response.model_output") if name in stated}
    return replace(span, attributes=held | {name: said for name, said in texts.items() if _is_hidden(held.get(name))})


def _is_hidden(value: Any) -> bool:  # noqa: ANN401
    return value is None or (isinstance(value, str) and value in HIDDEN)
