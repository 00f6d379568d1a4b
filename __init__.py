"""Slowwave: the night shift that replays AI agents' interaction logs and says how well each memory holds up.

Here is the producers' side, which costs the standard library alone: say what happened, and forget about it. Rows are
buffered and reach `$SLOWWAVE_HOME/inbox/` in the background; no fault of the disk slows the caller or reaches it.

    from slowwave import record_interaction, record_outcome, record_memory
"""

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from slowwave.flows.kernel.declared_columns import LISTS
from slowwave.flows.land.writer import Writer, WriterStats, default_writer, flush

__version__ = "0.1.0"

__all__ = [
    "Writer",
    "WriterStats",
    "__version__",
    "flush",
    "record_interaction",
    "record_memory",
    "record_outcome",
]

Time = datetime | date | str | float
"""A time as landing takes it; a datetime without a zone is UTC, a number is seconds (from 10¹¹ on: ms) since 1970."""


def record_interaction(
    prompt: str,
    *,
    response: str | None = None,
    response_summary: str | None = None,
    project: str | None = "",
    agent: str | None = "",
    client: str | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    memories_used: Iterable[str] | None = None,
    memories_offered: Iterable[object] | None = None,
    injection_probability: float | None = None,
    memories_cited: Iterable[str] | None = None,
    chunks_used: Iterable[str] | None = None,
    context_pack: object = None,
    tokens: int | None = None,
    cost: float | None = None,
    reinforce: bool | None = None,
    created_at: Time | None = None,
    recorded_at: Time | None = None,
    interaction_id: str | None = None,
    success: bool | None = None,
    outcome_id: str | None = None,
    task_type: str | None = None,
    task: str | None = None,
    strategy: str | None = None,
    attempted: bool | None = None,
    error_message: str | None = None,
    duration_ms: float | None = None,
    feedback: str | None = None,
    basis: str | None = None,
    basis_method: str | None = None,
    **extra: object,
) -> str:
    """Record one exchange with a model; returns its interaction_id (made when absent). None leaves a field out.

    memories_used, chunks_used: ids put before the model. memories_offered: (id, rank, score) of those that could have
    been. memories_cited: ids that the answer names as what it relied on. injection_probability: 0–1, the logged
    propensity. context_pack: any JSON. tokens: count. cost: your currency. reinforce: False keeps the exchange from
    reinforcing memories. created_at: when it happened, now by default; recorded_at: when this version was written.
    success and the fields after it: the outcome, when known already (see `record_outcome`); duration_ms in
    milliseconds. Everything in extra is kept with the row.

    Raises TypeError for a prompt that is no str and ValueError for a blank one; never because of the disk.
    """
    fields = locals()
    if not isinstance(prompt, str):
        raise TypeError(f"prompt must be a str, not {type(prompt).__name__}: pass the text sent to the model")
    if not prompt.strip():
        raise ValueError("prompt is blank: pass the text sent to the model, or do not record this interaction")
    interaction_id = fields["interaction_id"] = uuid.uuid4().hex if interaction_id is None else interaction_id
    _send(fields, "created_at")
    return interaction_id


def record_outcome(
    success: bool | None,
    *,
    interaction_id: str | None = None,
    outcome_id: str | None = None,
    created_at: Time | None = None,
    recorded_at: Time | None = None,
    project: str | None = None,
    agent: str | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    task_type: str | None = None,
    task: str | None = None,
    strategy: str | None = None,
    attempted: bool | None = None,
    error_message: str | None = None,
    duration_ms: float | None = None,
    tokens: int | None = None,
    cost: float | None = None,
    feedback: str | None = None,
    basis: str | None = None,
    basis_method: str | None = None,
    **extra: object,
) -> str:
    """Record how a task ended; returns its outcome_id (made when absent), under which a correction can follow.

    success: whether it succeeded, None when unknown. interaction_id: the exchange it judges. attempted: False for a
    skip or a refusal, None lets the rules decide. created_at: when it happened, now by default; recorded_at: when this
    version was written. duration_ms: milliseconds. tokens: count. cost: your currency. basis: `reported` (None is the
    same), `evaluated` where it was graded, `inferred` where a rule read it out of something else: that is counted and
    not learned from. basis_method: which grader or rule, with its version. None leaves a field out; everything in extra
    is kept with the row.

    Raises TypeError for `prompt` or `memory_id` in extra, which would make it another kind of row; never because of
    the disk.
    """
    fields = locals()
    outcome_id = fields["outcome_id"] = uuid.uuid4().hex if outcome_id is None else outcome_id
    _refuse(extra, "prompt", "memory_id")
    _send(fields, "created_at")
    return outcome_id


def record_memory(
    memory_id: str,
    *,
    changed_at: Time | None = None,
    recorded_at: Time | None = None,
    memory_type: str | None = None,
    project: str | None = None,
    agent: str | None = None,
    content: str | None = None,
    status: str | None = None,
    confidence: float | None = None,
    importance: float | None = None,
    pinned: bool | None = None,
    source_ids: Iterable[str] | None = None,
    superseded_by: str | None = None,
    reason: str | None = None,
    changed_by: str | None = None,
    **extra: object,
) -> None:
    """Record a new memory or a change to one; a field left out or None keeps its value, '' clears it.

    changed_at: when it changed, now by default; recorded_at: when this version was written. project: '' is every
    project. status: candidate, active, superseded, invalid, archived or graduated. confidence: 0–1, as first believed.
    source_ids: what it was learned from. Everything in extra is kept with the row.

    Raises ValueError for a blank memory_id and TypeError for `prompt` in extra, which would make it another kind of
    row; never because of the disk.
    """
    fields = locals()
    if not str(memory_id or "").strip():
        raise ValueError("memory_id is blank: pass the id under which this memory is kept")
    _refuse(extra, "prompt")
    _send(fields, "changed_at")


def _send(fields: dict[str, Any], event_time: str) -> None:
    """Record the arguments of a `record_…` call as a row of the default writer."""
    row = {**fields.pop("extra"), **fields}
    for name in LISTS:
        value = row.get(name)
        if isinstance(value, str):
            row[name] = [value]
        elif isinstance(value, Iterable) and not isinstance(value, Mapping):
            row[name] = list(value)
    if row[event_time] is None:
        row[event_time] = datetime.now(UTC)
        # Landing would take an outcome as written duration_ms after the event: later than now, invisible till then.
        if row.get("duration_ms") is not None and row["recorded_at"] is None:
            row["recorded_at"] = row[event_time]
    default_writer().record({name: value for name, value in row.items() if value is not None})


def _refuse(extra: Mapping[str, object], *names: str) -> None:
    for name in names:
        if extra.get(name) is not None:
            raise TypeError(f"{name!r} would make this row another kind of record: pass it under another name")
