"""The outcomes that scores make: what a person or an evaluator said of a trace, where it is a success or a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slowwave.transforms.imports.adapter import LeftOut, Made, Refused, Row
from slowwave.transforms.imports.langfuse.cells import moment, number, text, written
from slowwave.transforms.imports.langfuse.interactions import interaction_id
from slowwave.transforms.imports.langfuse.traces import Observed, raw
from slowwave.transforms.imports.trace_values import EvaluationRule, is_success

_UNJUDGED = "scores {} that no rule judges: say in settings.toml, [imports.langfuse.evaluations], what passes"
_LONGEST_NAME = 60


def outcomes_made(rows: Iterable[Observed], rules: Mapping[str, EvaluationRule]) -> Iterator[Made]:
    """An outcome for each score that passed or failed; the others are counted with their names.

    Langfuse may write the score of one run of an evaluator twice, with two ids: the first id counts.
    """
    latest: dict[tuple[str, str], Observed] = {}
    for one in rows:
        key = text(one.row.get("project_id")), one.id
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


def _run(one: Observed) -> tuple[str, ...]:
    """What tells the run of an evaluator that a score is of, and what it scores; empty where no run is named."""
    names = ("project_id", "name", "execution_trace_id", "trace_id", "observation_id", "session_id")
    return tuple(text(one.row.get(name)) for name in names) if text(one.row.get("execution_trace_id")) else ()


def _outcome(one: Observed, rules: Mapping[str, EvaluationRule]) -> Made:
    row = one.row
    name, source, kind = text(row.get("name")), text(row.get("source")).upper(), text(row.get("data_type")).upper()
    trace_id, session_id = text(row.get("trace_id")), text(row.get("session_id"))
    at = moment(row.get("timestamp"))
    if not one.id or at is None:
        return Refused(one.number, "a score has no id, or no timestamp that is a time", raw(row))
    if not trace_id and not session_id:
        return LeftOut("scores of runs over a data set, which are of no trace and no session", example=name[:200])
    label, value = text(row.get("string_value")), number(row.get("value"))
    success = is_success(rules, name, label, value)
    if success is None and kind == "BOOLEAN" and name.strip().lower() not in rules and value is not None:
        success = value == 1
    if success is None:
        shown = label or ("" if value is None else f"{value:g}")
        return LeftOut(_UNJUDGED.format(repr(name[:_LONGEST_NAME])), example=shown[:200])
    updated = max(moment(row.get("updated_at")) or at, at)
    evaluation: dict[str, Any] = {"name": name, "label": label or None, "score": value}
    fields = {
        "outcome_id": f"langfuse:{one.id}",
        "interaction_id": interaction_id(text(row.get("project_id")), trace_id) if trace_id else None,
        "session_id": session_id or None,
        "created_at": written(at),
        "recorded_at": written(updated),
        "success": success,
        "feedback": text(row.get("comment")) or None,
        "basis": "reported" if source == "ANNOTATION" else "evaluated",
        "basis_method": f"langfuse:{name}",
        "evaluation": {key: held for key, held in evaluation.items() if held is not None},
        "score_source": source or None,
        "observation_id": text(row.get("observation_id")) or None,
    }
    return Row({key: held for key, held in fields.items() if held is not None}, (one.id, one.id))
