"""The rows that OTLP traces and logs make: interactions, outcomes and changes of memories, trace by trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from slowwave.transforms.imports.adapter import (
    KEEP_DAYS,
    Context,
    LeftOut,
    Located,
    Made,
    Record,
    check_names,
    names_stated,
)
from slowwave.transforms.imports.otlp.client_turns import TWICE, add_client_turns
from slowwave.transforms.imports.otlp.evaluations import evaluations_of, outcomes_of
from slowwave.transforms.imports.otlp.interactions import interactions_made, project_of_span
from slowwave.transforms.imports.otlp.kinds import stated_kind
from slowwave.transforms.imports.otlp.memory_spans import changes_made
from slowwave.transforms.imports.otlp.parts import Part, items, parts, why_not_otlp
from slowwave.transforms.imports.otlp.sdk_json import form_of
from slowwave.transforms.imports.otlp.spans import Event, Span, Trace, span_or_event, trace_of
from slowwave.transforms.imports.otlp.turns import Read, understood
from slowwave.transforms.imports.otlp.values import attributes, event_name, plain, text
from slowwave.transforms.imports.trace_values import EvaluationRule, parse_rules

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

    def detected(self, first: Sequence[Record]) -> str | None:
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
            return f"span ({stated_kind(held, text(item.get('name')))})"
        return f"log record ({event_name(item, held, plain(item.get('body'))) or 'unnamed'})"

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """The rows of these documents; the spans of a trace may be in any of them, in any order, and more than once.

        Raises OptionsError where an option cannot be used.
        """
        check_names(context.options, ("evaluations", "memory_stores", KEEP_DAYS))
        rules = parse_rules(context.options.get("evaluations", {}))
        stores = names_stated(context.options, "memory_stores")
        spans: dict[str, list[Span]] = {}
        events: dict[str, list[Event]] = {}
        for one in chain.from_iterable(map(parts, records)):
            if not isinstance(one, Part):
                yield one
                continue
            read = span_or_event(one.number, one.document)
            if isinstance(read, Span):
                spans.setdefault(one.trace_id, []).append(read)
            else:
                events.setdefault("" if one.is_judging else one.trace_id, []).append(read)
        traces: list[Trace] = []
        for id_ in sorted({*spans, *events}):
            parted = add_client_turns(id_, spans.get(id_, []), events.get(id_, []))
            traces.append(trace_of(id_, parted.spans, parted.events))
            if parted.twice:
                yield LeftOut(TWICE, parted.twice)
        ended = max((trace.ended for trace in traces), default=0)
        reads: dict[str, Read] = {}
        for trace in traces:
            if _is_over(trace, ended, context):
                reads[trace.trace_id] = understood(trace, stores)
            else:
                yield LeftOut(OPEN, is_settled=True)
        yield from _rows(reads, rules, context)


def _is_over(trace: Trace, ended: int, context: Context) -> bool:
    return context.is_idle or trace.has_root or trace.ended < ended - _QUIET


def _rows(reads: Mapping[str, Read], rules: Mapping[str, EvaluationRule], context: Context) -> Iterator[Made]:
    for read in reads.values():
        yield from interactions_made(read, context.project_of)
        for node in read.trace.nodes:
            if read.kinds[node] == "change":
                yield from changes_made(node, project_of_span(node, context.project_of))
    yield from outcomes_of(chain.from_iterable(map(evaluations_of, reads.values())), reads, rules)
