"""Spans and log records with plain values, and the spans of one trace as the tree they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slowwave.transforms.imports.otlp.parts import SENDERS_PROJECT
from slowwave.transforms.imports.otlp.values import attributes, event_name, nanoseconds, plain, text, whole

_ERROR = 2


@dataclass(frozen=True)
class Origin:
    """What a resource and a scope say: the service, the project, and the instrumentation with its version.

    `senders_project`: of whose token it was taken in by, whatever else is said; None where it was not.
    """

    service: str
    project: str
    scope: str
    scope_version: str
    senders_project: str | None = None


@dataclass(frozen=True)
class Event:
    """An event of a span, or a log record. `at`: nanoseconds; `body`: whatever the record's body holds."""

    name: str
    at: int
    attributes: dict[str, Any]
    body: Any
    trace_id: str
    span_id: str
    origin: Origin


@dataclass(frozen=True)
class Span:
    """A span; of one that is of no model its place only. Times are nanoseconds, `error` is '' where it did not fail."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    started: int
    ended: int
    attributes: dict[str, Any]
    events: tuple[Event, ...]
    links: tuple[tuple[str, str], ...]
    error: str
    origin: Origin
    number: int
    # only log records tell of it: its span is not here
    is_told_by_logs: bool = False


@dataclass(eq=False)
class Node:
    """A span among its spans: those above and below, and all events of it, in their order."""

    span: Span
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def id(self) -> str:
        """`traceId:spanId`."""
        return f"{self.span.trace_id}:{self.span.span_id}"

    @property
    def written(self) -> int:
        """When the last of it was written, its events included, in nanoseconds."""
        return max(self.span.ended, *(event.at for event in self.events), 0)

    def below(self) -> Iterator[Node]:
        """The spans below it and itself, in the order of their start."""
        found = [self]
        for node in found:
            found += node.children
        yield from sorted(found, key=_order)


@dataclass(frozen=True)
class Trace:
    """The spans of one trace, each after its parent, and the events that name no span of it."""

    trace_id: str
    nodes: Sequence[Node]
    loose: Sequence[Event]

    @property
    def ended(self) -> int:
        """When the last of it ended, in nanoseconds."""
        return max((node.span.ended for node in self.nodes), default=0)

    @property
    def has_root(self) -> bool:
        """Whether the span that all others are below is here, which ends last."""
        return any(not node.span.parent_id and not node.span.is_told_by_logs for node in self.nodes)


def span_or_event(number: int, document: Mapping[str, Any]) -> Span | Event:
    """The one span or log record of a part."""
    is_span = "resourceSpans" in document
    held = document["resourceSpans" if is_span else "resourceLogs"][0]
    scoped = held["scopeSpans" if is_span else "scopeLogs"][0]
    of_resource, scope = attributes(held["resource"].get("attributes")), scoped.get("scope", {})
    service = text(of_resource.get("service.name"))
    origin = Origin(
        "" if service.startswith("unknown_service") else service,
        text(of_resource.get("openinference.project.name")),
        text(scope.get("name")),
        text(scope.get("version")),
        senders if isinstance(senders := of_resource.get(SENDERS_PROJECT), str) else None,
    )
    return _span(number, scoped["spans"][0], origin) if is_span else _log_record(scoped["logRecords"][0], origin)


def trace_of(trace_id: str, spans: Iterable[Span], events: Iterable[Event]) -> Trace:
    """The tree of a trace, the same in whatever order its spans and log records came, and however often."""
    nodes: dict[str, Node] = {}
    for span in spans:
        there = nodes.get(span.span_id)
        if there is None or _fullness(span) > _fullness(there.span):
            nodes[span.span_id] = Node(span)
    loose: list[Event] = []
    for _, event in sorted({(event.at, repr(event)): event for event in events}.items(), key=lambda item: item[0]):
        if event.span_id and event.span_id not in nodes and tells_content(event):
            nodes[event.span_id] = Node(_told_by_logs(event))
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
    return Trace(trace_id, _from_the_top(nodes.values()), loose)


def tells_content(event: Event) -> bool:
    """Whether an event holds what was asked or answered."""
    return event.name == "gen_ai.client.inference.operation.details" or event.name in _CONTENT


_CONTENT = frozenset(f"gen_ai.{what}" for what in ("user.message", "system.message", "choice"))


def _from_the_top(nodes: Iterable[Node]) -> list[Node]:
    """Each after its parent. Of a circle, which no honest program writes, the first is taken for the top."""
    ordered = sorted(nodes, key=_order)
    placed: set[Node] = set()
    found: list[Node] = []
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


def _order(node: Node) -> tuple[int, str]:
    return node.span.started, node.span.span_id


def _fullness(span: Span) -> tuple[int, int, str]:
    """Of two that say they are one span, the one that ended later counts, then the one that says more."""
    return span.ended, len(span.attributes), repr(span)


def _span(number: int, span: Mapping[str, Any], origin: Origin) -> Span:
    started = nanoseconds(span.get("startTimeUnixNano")) or 0
    ended = max(nanoseconds(span.get("endTimeUnixNano")) or started, started)
    trace_id, span_id = span["traceId"], span["spanId"]
    held = attributes(span.get("attributes"))
    events = span.get("events")
    links = span.get("links")
    return Span(
        trace_id,
        span_id,
        span["parentSpanId"],
        text(span.get("name")),
        started,
        ended,
        held,
        tuple(
            Event(
                text(event.get("name")),
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
            (text(link.get("traceId")).lower(), text(link.get("spanId")).lower())
            for link in (links if isinstance(links, list) else ())
            if isinstance(link, dict)
        ),
        _error(span.get("status"), held),
        origin,
        number,
    )


def _error(status: Any, held: Mapping[str, Any]) -> str:  # noqa: ANN401
    """What failed, where the status says that something did."""
    if not isinstance(status, dict) or whole(status.get("code")) != _ERROR:
        return ""
    kind, message = text(held.get("error.type")), text(status.get("message"))
    if kind and message and not message.startswith(kind):
        return f"{kind}: {message}"
    return message or kind or "the span's status is ERROR, without a message"


def _log_record(log: Mapping[str, Any], origin: Origin) -> Event:
    held = attributes(log.get("attributes"))
    return Event(
        event_name(log, held, plain(log.get("body"))),
        nanoseconds(log.get("timeUnixNano")) or nanoseconds(log.get("observedTimeUnixNano")) or 0,
        held,
        plain(log.get("body")),
        log["traceId"],
        log["spanId"],
        origin,
    )


def _told_by_logs(event: Event) -> Span:
    """The span that a log record tells of and that is not here."""
    held = {key: value for key, value in event.attributes.items() if key.startswith(("gen_ai.", "error."))}
    return Span(
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
