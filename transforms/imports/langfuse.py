"""Exports of Langfuse: an interaction for each trace, and an outcome for each score that judges.

Cells are plain values: '' is no value, and objects may be JSON texts or the maps of Parquet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.exact_json import parse_json_value
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
from slowwave.transforms.imports.record_values import add_microseconds
from slowwave.transforms.imports.trace_values import (
    EvaluationRule,
    MemoryRecord,
    TracedText,
    answer_in,
    every_text,
    ids_in_text,
    is_success,
    memory_record,
    parse_rules,
    question_in,
    shown_row,
)

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def text_cell(value: Any) -> str:  # noqa: ANN401 - whatever a cell holds
    """A text without white space around it; '' for none."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def object_cell(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """An object, also as pairs of names and values; {} for anything else."""
    value = parse_json_value(value)
    if isinstance(value, dict):
        return {str(name): parse_json_value(one) for name, one in value.items()}
    if isinstance(value, list) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value):  # noqa: PLR2004
        return {str(name): parse_json_value(one) for name, one in value}
    if isinstance(value, list) and all(isinstance(pair, dict) and pair.keys() >= {"key", "value"} for pair in value):
        return {str(pair["key"]): parse_json_value(pair["value"]) for pair in value}
    return {}


def number_cell(value: Any) -> float | None:  # noqa: ANN401
    """A finite number, which may be a text."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        value = float(value) if _DECIMAL.fullmatch(value.strip()) else None
    if not isinstance(value, (int, float, Decimal)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def is_true(value: Any) -> bool:  # noqa: ANN401
    """Whether a cell says yes."""
    return value is True or text_cell(value).lower() in {"true", "1"}


def time_cell(value: Any) -> datetime | None:  # noqa: ANN401
    """A time, naive and UTC; a text without a zone is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    try:
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    except OverflowError:
        return None


def landing_time(at: datetime, microseconds: int = 0) -> str:
    """A time as landing reads it, some microseconds later."""
    return f"{add_microseconds(at, microseconds).isoformat()}Z"


Table = Literal["traces", "observations", "scores"]
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
_FIRST = datetime.min  # noqa: DTZ901 - times are naive and hold UTC everywhere


@dataclass(frozen=True)
class LangfuseRow:
    """A row of traces or observations. `number`: where it stands in its unit."""

    number: int
    row: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its own id."""
        return text_cell(self.row.get("id"))

    @property
    def parent_id(self) -> str:
        """The observation above it; '' at the top."""
        return text_cell(self.row.get("parent_observation_id"))

    @property
    def started(self) -> datetime | None:
        """When it began."""
        return time_cell(self.row.get("start_time")) or time_cell(self.row.get("timestamp"))

    @property
    def ended(self) -> datetime | None:
        """When it ended; when it began, where that is not known."""
        return time_cell(self.row.get("end_time")) or self.started

    @property
    def updated(self) -> datetime | None:
        """When it was written last; releases that did not say so wrote it when it ended."""
        return time_cell(self.row.get("updated_at")) or self.ended

    @property
    def type(self) -> str:
        """Its kind, such as GENERATION, SPAN or RETRIEVER."""
        return text_cell(self.row.get("type")).upper()

    def version(self) -> tuple[datetime, int, str]:
        """Of two rows with one id the one with the greater version counts, the fuller of two written at one time."""
        filled = sum(value not in (None, "") for value in self.row.values())
        return self.updated or _FIRST, filled, repr(sorted(self.row.items(), key=lambda item: item[0]))


@dataclass
class LangfuseTrace:
    """A trace: its own row, where that table was exported, and its observations in the order of their start."""

    project_id: str
    trace_id: str
    own: LangfuseRow | None = None
    observations: list[LangfuseRow] = field(default_factory=list)

    @property
    def root(self) -> LangfuseRow | None:
        """The topmost observation: one that has none above it, else one above which none is known."""
        known = {one.id for one in self.observations}
        tops = [one for one in self.observations if is_root(one)]
        tops = tops or [one for one in self.observations if one.parent_id not in known]
        return (tops or self.observations or [None])[0]


def table_of(row: Mapping[str, Any]) -> Table | None:
    """The table that a row is of, by its columns; None where it is of none that is known."""
    if "data_type" in row and "source" in row and "name" in row:
        return "scores"
    if "start_time" in row and "type" in row and "trace_id" in row:
        return "observations"
    return "traces" if "timestamp" in row and "id" in row and "trace_id" not in row else None


def written_seconds(row: Mapping[str, Any]) -> int:
    """When a row was written, in seconds since 1970; 0 where it does not say."""
    updated = LangfuseRow(0, row).updated
    return (updated - _EPOCH) // timedelta(seconds=1) if updated is not None else 0


def is_root(one: LangfuseRow) -> bool:
    """Whether an observation is the topmost of its trace."""
    return not one.parent_id or is_true(one.row.get("is_root_observation"))


def traces_of(rows: Iterable[LangfuseRow]) -> Iterator[LangfuseTrace]:
    """The traces of these rows, in the order of their ids; the same in whatever order, and however often, they came."""
    own: dict[tuple[str, str], LangfuseRow] = {}
    observations: dict[tuple[str, str], dict[str, LangfuseRow]] = {}
    for one in rows:
        project_id = text_cell(one.row.get("project_id"))
        if table_of(one.row) == "traces":
            key = project_id, one.id
            if key not in own or one.version() > own[key].version():
                own[key] = one
        else:
            there = observations.setdefault((project_id, text_cell(one.row.get("trace_id"))), {})
            if one.id not in there or one.version() > there[one.id].version():
                there[one.id] = one
    for key in sorted({*own, *observations}):
        below = sorted(observations.get(key, {}).values(), key=lambda one: (one.started or _FIRST, one.id))
        yield LangfuseTrace(*key, own.get(key), below)


_OWN_ENVIRONMENT = "langfuse-"  # how Langfuse calls the environments of what it runs itself
_DEEPEST = 8  # of texts within texts
_LISTS = ("results", "memories", "records", "documents", "data", "items", "output")


def interaction_rows(trace: LangfuseTrace, searches: Collection[str], context: Context) -> Iterator[Made]:
    """The row of a trace, with the memories that its `searches` (names of observations) offered.

    Of the trace's own row, else of its topmost observation; what neither says, the first and the last call of a model.
    """
    first = trace.own or trace.root
    if first is None or first.started is None:
        raw = shown_row(first.row) if first else ""
        yield Refused(first.number if first else 0, "it has no timestamp or start_time that is a time", raw)
        return
    environment = text_cell(first.row.get("environment"))
    if environment.startswith(_OWN_ENVIRONMENT):
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
    updated = max((one.updated for one in rows if one.updated is not None), default=first.started)
    metadata = object_cell(first.row.get("metadata"))
    offered, used = _memories(trace, searches, calls)
    leaves = _leaves(trace, calls)
    fields: dict[str, Any] = {
        "interaction_id": interaction_id(trace.project_id, trace.trace_id),
        "created_at": landing_time(first.started),
        # some microseconds later with each row known of it: of two readings the one that knows more wins
        "recorded_at": landing_time(max(updated, first.started), len(rows)),
        "project": context.project_of(text_cell(metadata.get("project")) or trace.project_id),
        "agent": _first_text(sources, "trace_name") or _first_text(sources, "name"),
        "session_id": _first_text(rows, "session_id"),
        "user_id": _first_text(rows, "user_id"),
        "prompt": prompt.text,
        "response": answer.text if answer else None,
        "memories_offered": offered,
        "memories_used": used,
        "injection": "observed" if used is not None else None,
        "tokens": _tokens(leaves),
        "cost": _cost(leaves),
        "model": next(
            (model for one in reversed(calls) if (model := text_cell(one.row.get("provided_model_name")))), ""
        ),
        "environment": environment,
        "release": _first_text(sources, "release"),
        "trace_tags": parse_json_value(first.row.get("tags")),
        "prompt_form": "json" if prompt.is_json else None,
        "response_form": "json" if answer and answer.is_json else None,
    }
    no_value = (None, "", [])
    kept = {name: one for name, one in fields.items() if one not in no_value or (name, one) == ("memories_used", [])}
    yield Row(kept, (first.id, max(rows, key=lambda one: (one.updated or first.started, one.id)).id))
    root = trace.root
    is_error = root is not None and is_root(root) and text_cell(root.row.get("level")).upper() == "ERROR"
    if root is not None and is_error and root.started is not None:
        yield _error(trace, root, root.started)


def interaction_id(project_id: str, trace_id: str) -> str:
    """The id of the interaction that a trace is."""
    return f"langfuse:{project_id}:{trace_id}"


def _error(trace: LangfuseTrace, root: LangfuseRow, started: datetime) -> Row:
    own = interaction_id(trace.project_id, trace.trace_id)
    ended = max(root.ended or started, started)
    fields = {
        "outcome_id": f"{own}:level",
        "interaction_id": own,
        "created_at": landing_time(started),
        "recorded_at": landing_time(max(root.updated or ended, ended)),
        "success": False,
        "error_message": text_cell(root.row.get("status_message"))
        or "the observation's level is ERROR, without a message",
        # not `latency`, whose unit differs from export to export
        "duration_ms": (ended - started).total_seconds() * 1000,
        "basis": "reported",
        "basis_method": "observation_level",
    }
    return Row(fields, (root.id, root.id))


def _memories(
    trace: LangfuseTrace, searches: Collection[str], calls: list[LangfuseRow]
) -> tuple[list[dict[str, Any]], list[str] | None]:
    """What the searches found, and which of it a later call of a model read word for word; None where none can tell."""
    offered: dict[str, dict[str, Any]] = {}
    used: dict[str, None] | None = None
    for search in trace.observations:
        if text_cell(search.row.get("name")) not in searches:
            continue
        records = [one for one in _records(parse_json_value(search.row.get("output"))) if one.id]
        for place, one in enumerate(records, 1):
            offered.setdefault(one.id, {"id": one.id, "rank": place, "score": one.score})
        later = [call for call in calls if call.started and search.ended and call.started >= search.ended]
        seen = ids_in_text(
            records, "\n".join(every_text(parse_json_value(call.row.get("input")), _DEEPEST) for call in later)
        )
        if seen is not None:
            used = (used or {}) | dict.fromkeys(seen)
    return [*offered.values()], None if used is None else [*used]


def _records(output: Any) -> list[MemoryRecord]:  # noqa: ANN401 - whatever a tool returned
    if isinstance(output, dict):
        output = next(
            (found for name in _LISTS if isinstance(found := parse_json_value(output.get(name)), list)), [output]
        )
    return [memory_record(one) for one in output if isinstance(one, dict)] if isinstance(output, list) else []


def _leaves(trace: LangfuseTrace, calls: list[LangfuseRow]) -> list[LangfuseRow]:
    """The calls that no other call lies below: what tokens were spent in."""
    parents = {one.id: one.parent_id for one in trace.observations}
    above: set[str] = set()
    for call in calls:
        parent = call.parent_id
        while parent and parent not in above:
            above.add(parent)
            parent = parents.get(parent, "")
    return [call for call in calls if call.id not in above]


def _tokens(calls: list[LangfuseRow]) -> int | None:
    spent: list[float] = []
    for call in calls:
        usage = {
            name: found
            for name, value in object_cell(call.row.get("usage_details")).items()
            if (found := number_cell(value)) is not None
        }
        if "total" in usage:
            spent.append(usage["total"])
        elif parts := [usage[name] for name in ("input", "output") if name in usage]:
            spent.append(sum(parts))
    return max(round(sum(spent)), 0) if spent else None


def _cost(calls: list[LangfuseRow]) -> float | None:
    costs = (
        (number_cell(call.row.get("total_cost")), object_cell(call.row.get("cost_details")).get("total"))
        for call in calls
    )
    spent = [
        cost for total, detail in costs if (cost := total if total is not None else number_cell(detail)) is not None
    ]
    return max(sum(spent), 0.0) if spent else None


def _first(said: Iterator[TracedText | None]) -> TracedText | None:
    return next((one for one in said if one is not None and not says_nothing(one.text)), None)


def _first_text(rows: list[LangfuseRow], name: str) -> str:
    return next((said for one in rows if (said := text_cell(one.row.get(name)))), "")


_UNJUDGED = "scores {} that no rule judges: say in settings.toml, [imports.langfuse.evaluations], what passes"
_LONGEST_NAME = 60


def outcome_rows(rows: Iterable[LangfuseRow], rules: Mapping[str, EvaluationRule]) -> Iterator[Made]:
    """An outcome for each score that passed or failed; the others are counted with their names.

    Langfuse may write the score of one run of an evaluator twice, with two ids: the first id counts.
    """
    latest: dict[tuple[str, str], LangfuseRow] = {}
    for one in rows:
        key = text_cell(one.row.get("project_id")), one.id
        if key not in latest or one.version() > latest[key].version():
            latest[key] = one
    runs: set[tuple[str, ...]] = set()
    for key in sorted(latest):
        run = _run(latest[key])
        if run in runs:
            yield LeftOut("scores that one run of an evaluator wrote twice", example=run[1][:200])
            continue
        runs |= {run} if run else set()
        yield _outcome(latest[key], rules)


def _run(one: LangfuseRow) -> tuple[str, ...]:
    """What tells the run of an evaluator that a score is of, and what it scores; empty where no run is named."""
    names = ("project_id", "name", "execution_trace_id", "trace_id", "observation_id", "session_id")
    return tuple(text_cell(one.row.get(name)) for name in names) if text_cell(one.row.get("execution_trace_id")) else ()


def _outcome(one: LangfuseRow, rules: Mapping[str, EvaluationRule]) -> Made:
    row = one.row
    name, source, kind = (
        text_cell(row.get("name")),
        text_cell(row.get("source")).upper(),
        text_cell(row.get("data_type")).upper(),
    )
    trace_id, session_id = text_cell(row.get("trace_id")), text_cell(row.get("session_id"))
    at = time_cell(row.get("timestamp"))
    if not one.id or at is None:
        return Refused(one.number, "a score has no id, or no timestamp that is a time", shown_row(row))
    if not trace_id and not session_id:
        return LeftOut("scores of runs over a data set, which are of no trace and no session", example=name[:200])
    label, value = text_cell(row.get("string_value")), number_cell(row.get("value"))
    success = is_success(rules, name, label, value)
    if success is None and kind == "BOOLEAN" and name.strip().lower() not in rules and value is not None:
        success = value == 1
    if success is None:
        shown = label or ("" if value is None else f"{value:g}")
        return LeftOut(_UNJUDGED.format(repr(name[:_LONGEST_NAME])), example=shown[:200])
    updated = max(time_cell(row.get("updated_at")) or at, at)
    evaluation: dict[str, Any] = {"name": name, "label": label or None, "score": value}
    fields = {
        "outcome_id": f"langfuse:{one.id}",
        "interaction_id": interaction_id(text_cell(row.get("project_id")), trace_id) if trace_id else None,
        "session_id": session_id or None,
        "created_at": landing_time(at),
        "recorded_at": landing_time(updated),
        "success": success,
        "feedback": text_cell(row.get("comment")) or None,
        "basis": "reported" if source == "ANNOTATION" else "evaluated",
        "basis_method": f"langfuse:{name}",
        "evaluation": {key: held for key, held in evaluation.items() if held is not None},
        "score_source": source or None,
        "observation_id": text_cell(row.get("observation_id")) or None,
    }
    return Row({key: held for key, held in fields.items() if held is not None}, (one.id, one.id))


# Columns that an export always has, besides those of its table.
_ALWAYS = frozenset({"id", "project_id"})


class Langfuse:
    """Rows of the tables traces, observations, observations_v2 and scores.

    Options: `evaluations`, rules by name (`rules_stated`); `memory_searches`, names of the observations whose output
    are memories found.
    """

    name = "langfuse"
    version = 3

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """The table of the first row, if that is one of Langfuse's."""
        if not first or not first[0].keys() >= _ALWAYS:
            return None
        table = table_of(first[0])
        return f"Langfuse {table}" if table else None

    def kind_of_record(self, record: Record) -> str:
        """Return the table that a row is of."""
        return f"row of {table_of(record) or 'no table of Langfuse'}"

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """The rows of these traces and scores, which may be in any order and more than once.

        Raises OptionsError where an option cannot be used.
        """
        check_names(context.options, ("evaluations", "memory_searches", KEEP_DAYS))
        rules = parse_rules(context.options.get("evaluations", {}))
        searches = names_stated(context.options, "memory_searches")
        traces: list[LangfuseRow] = []
        scores: list[LangfuseRow] = []
        for one in records:
            row, table = LangfuseRow(one.number, one.record), table_of(one.record)
            if table is None:
                yield Refused(one.number, "it is a row of no table that Langfuse exports", shown_row(one.record))
            elif table == "scores":
                scores.append(row)
            elif not row.id or (table == "observations" and not text_cell(one.record.get("trace_id"))):
                yield Refused(one.number, f"a row of {table} has no id, or names no trace", shown_row(one.record))
            else:
                traces.append(row)
        for trace in traces_of(traces):
            yield from interaction_rows(trace, searches, context)
        yield from outcome_rows(scores, rules)
