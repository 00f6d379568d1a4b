"""The interaction of a trace, and its outcome where its topmost observation is an error."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.adapter import Context, LeftOut, Made, Refused, Row
from slowwave.transforms.imports.langfuse.cells import mapping, number, text, written
from slowwave.transforms.imports.langfuse.traces import Observed, Trace, is_root, raw
from slowwave.transforms.imports.trace_values import (
    MemoryRecord,
    TracedText,
    answer_in,
    ids_in_text,
    memory_record,
    question_in,
)

_OWN = "langfuse-"  # how Langfuse calls the environments of what it runs itself
_LISTS = ("results", "memories", "records", "documents", "data", "items", "output")


def interaction_made(trace: Trace, searches: Collection[str], context: Context) -> Iterator[Made]:
    """The row of a trace, with the memories that its `searches` (names of observations) offered.

    Of the trace's own row, else of its topmost observation; what neither says, the first and the last call of a model.
    """
    first = trace.own or trace.root
    if first is None or first.started is None:
        yield Refused(
            first.number if first else 0,
            "it has no timestamp or start_time that is a time",
            raw(first.row) if first else "",
        )
        return
    environment = text(first.row.get("environment"))
    if environment.startswith(_OWN):
        yield LeftOut("traces of what Langfuse runs itself, such as its evaluators", example=environment)
        return
    calls = [one for one in trace.observations if one.type == "GENERATION"]
    sources = [one for one in (trace.own, trace.root) if one is not None]
    prompt = _first(question_in(parse_json_value(one.row.get("input"))) for one in [*sources, *calls[:1]])
    if prompt is None:
        yield LeftOut(
            "traces without an input: record it, or switch its group of columns on in the export",
            example=trace.trace_id,
        )
        return
    answer = _first(answer_in(parse_json_value(one.row.get("output"))) for one in [*sources, *reversed(calls)])
    rows = [one for one in (trace.own, *trace.observations) if one is not None]
    updated = (
        max(one.updated for one in rows if one.updated is not None)
        if any(one.updated for one in rows)
        else first.started
    )
    metadata = mapping(first.row.get("metadata"))
    offered, used = _memories(trace, searches, calls)
    leaves = _leaves(trace, calls)
    fields: dict[str, Any] = {
        "interaction_id": interaction_id(trace.project_id, trace.trace_id),
        "created_at": written(first.started),
        # some microseconds later with each row known of it: of two readings the one that knows more wins
        "recorded_at": written(max(updated, first.started), len(rows)),
        "project": context.project_of(text(metadata.get("project")) or trace.project_id),
        "agent": _said(sources, "trace_name") or _said(sources, "name"),
        "session_id": _said(rows, "session_id"),
        "user_id": _said(rows, "user_id"),
        "prompt": prompt.text,
        "response": answer.text if answer else None,
        "memories_offered": offered,
        "memories_used": used,
        "injection": "observed" if used is not None else None,
        "tokens": _tokens(leaves),
        "cost": _cost(leaves),
        "model": next((model for one in reversed(calls) if (model := text(one.row.get("provided_model_name")))), ""),
        "environment": environment,
        "release": _said(sources, "release"),
        "trace_tags": parse_json_value(first.row.get("tags")),
        "prompt_form": "json" if prompt.is_json else None,
        "response_form": "json" if answer and answer.is_json else None,
    }
    yield Row(
        {
            name: value
            for name, value in fields.items()
            if value not in (None, "", []) or (name == "memories_used" and value is not None)
        },
        (first.id, max(rows, key=lambda one: (one.updated or first.started, one.id)).id),
    )
    root = trace.root
    if (
        root is not None
        and is_root(root)
        and text(root.row.get("level")).upper() == "ERROR"
        and root.started is not None
    ):
        yield _error(trace, root, root.started)


def interaction_id(project_id: str, trace_id: str) -> str:
    """The id of the interaction that a trace is."""
    return f"langfuse:{project_id}:{trace_id}"


def _error(trace: Trace, root: Observed, started: datetime) -> Row:
    own = interaction_id(trace.project_id, trace.trace_id)
    ended = max(root.ended or started, started)
    fields = {
        "outcome_id": f"{own}:level",
        "interaction_id": own,
        "created_at": written(started),
        "recorded_at": written(max(root.updated or ended, ended)),
        "success": False,
        "error_message": text(root.row.get("status_message")) or "the observation's level is ERROR, without a message",
        # not `latency`, whose unit differs from export to export
        "duration_ms": (ended - started).total_seconds() * 1000,
        "basis": "reported",
        "basis_method": "observation_level",
    }
    return Row(fields, (root.id, root.id))


def _memories(
    trace: Trace, searches: Collection[str], calls: list[Observed]
) -> tuple[list[dict[str, Any]], list[str] | None]:
    """What the searches found, and which of it a later call of a model read word for word; None where none can tell."""
    offered: dict[str, dict[str, Any]] = {}
    used: dict[str, None] | None = None
    for search in trace.observations:
        if text(search.row.get("name")) not in searches:
            continue
        records = [one for one in _records(parse_json_value(search.row.get("output"))) if one.id]
        for place, one in enumerate(records, 1):
            offered.setdefault(one.id, {"id": one.id, "rank": place, "score": one.score})
        later = [call for call in calls if call.started and search.ended and call.started >= search.ended]
        seen = ids_in_text(
            records,
            "\n".join(_all_text(parse_json_value(call.row.get("input"))) for call in later),
        )
        if seen is not None:
            used = (used or {}) | dict.fromkeys(seen)
    return [*offered.values()], None if used is None else [*used]


def _records(output: Any) -> list[MemoryRecord]:  # noqa: ANN401 - whatever a tool returned
    if isinstance(output, dict):
        output = next(
            (found for name in _LISTS if isinstance(found := parse_json_value(output.get(name)), list)),
            [output],
        )
    return [memory_record(one) for one in output if isinstance(one, dict)] if isinstance(output, list) else []


def _leaves(trace: Trace, calls: list[Observed]) -> list[Observed]:
    """The calls that no other call lies below: what tokens were spent in."""
    parents = {one.id: one.parent_id for one in trace.observations}
    above: set[str] = set()
    for call in calls:
        parent = call.parent_id
        while parent and parent not in above:
            above.add(parent)
            parent = parents.get(parent, "")
    return [call for call in calls if call.id not in above]


def _tokens(calls: list[Observed]) -> int | None:
    spent: list[float] = []
    for call in calls:
        usage = {
            name: found
            for name, value in mapping(call.row.get("usage_details")).items()
            if (found := number(value)) is not None
        }
        if "total" in usage:
            spent.append(usage["total"])
        elif parts := [usage[name] for name in ("input", "output") if name in usage]:
            spent.append(sum(parts))
    return max(round(sum(spent)), 0) if spent else None


def _cost(calls: list[Observed]) -> float | None:
    costs = ((number(call.row.get("total_cost")), mapping(call.row.get("cost_details")).get("total")) for call in calls)
    spent = [cost for total, detail in costs if (cost := total if total is not None else number(detail)) is not None]
    return max(sum(spent), 0.0) if spent else None


def _first(said: Iterator[TracedText | None]) -> TracedText | None:
    return next((one for one in said if one is not None and not says_nothing(one.text)), None)


def _said(rows: list[Observed], name: str) -> str:
    return next((said for one in rows if (said := text(one.row.get(name)))), "")


def _all_text(value: Any, depth: int = 0) -> str:  # noqa: ANN401
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [*value.values()]
    if not isinstance(value, list) or depth > 8:  # noqa: PLR2004
        return ""
    return "\n".join(said for one in value if (said := _all_text(one, depth + 1)))
