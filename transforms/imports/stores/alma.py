"""ALMA: heuristics, knowledge, preferences and anti-patterns are memories, its outcomes are outcomes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Row
from slowwave.transforms.imports.stores.cells import (
    Cells,
    json_cell,
    moment,
    others,
    plain,
    required_text,
    text,
)
from slowwave.transforms.imports.stores.change_log import (
    Fact,
    LostMemory,
    MemoryEnd,
    Store,
    StoredMemory,
    StoreTable,
    unreadable_fact,
)
from slowwave.transforms.landing.coerce import Unfit

_NAME = "alma"
# ALMA names a kind of memory after its table, or in the singular.
_TABLE_OF = {
    "heuristic": "heuristics",
    "heuristics": "heuristics",
    "domain_knowledge": "domain_knowledge",
    "preference": "preferences",
    "preferences": "preferences",
    "user_preference": "preferences",
    "anti_pattern": "anti_patterns",
    "anti_patterns": "anti_patterns",
    "outcome": "outcomes",
    "outcomes": "outcomes",
}
# What it keeps besides, of which no row is made.
_LEFT_OUT = {
    "workflow_outcomes": "a workflow's outcome, which is none of one strategy",
    "session_handoffs": "a session's handoff to the next, which is no memory",
}
_PLACEHOLDER = "[To be determined from successful outcomes]"
_USUAL_IMPORTANCE = 0.5  # what every memory has that nobody has weighed
_USUAL_TENANT = "default"
# What `slowwave push` writes where ALMA says how a memory was verified: no word of ALMA's.
_PUSHED = "slowwave: "
_VERIFICATION = ("verification_status", "verification_method", "verification_confidence", "verification_reason")


def _facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    """What ALMA's tables state; first those that say something of memories in others."""
    notes = _Notes()
    live: set[str] = set()
    archived: dict[str, StoredMemory] = {}
    let_go: list[LostMemory] = []
    for located in records:
        table, row = located.record["table"], located.record["row"]
        memory_id = None
        try:
            if table in _HELD:
                memory_id = _memory_id(table, required_text(row, "id"))
                live.add(memory_id)
                yield _HELD[table](memory_id, row, notes)
            elif table == "outcomes":
                live.add(_memory_id(table, required_text(row, "id")))
                yield _outcome(row)
            elif table == "memory_archive":
                yield from _of_archive(located, row, live, archived)
            elif table == "alma_forget_audit":
                let_go += _let_go(row, live)
            elif table in _LEFT_OUT:
                yield LeftOut(_LEFT_OUT[table], example=text(row, "id") or "")
            else:
                notes.add(table, row)
        except Unfit as unfit:
            yield unreadable_fact(located, unfit, memory_id)
    yield from archived.values()
    yield from let_go


def _memory_id(table: str, own: str) -> str:
    return f"{_NAME}:{table}:{own}"


class _Notes:
    """What ALMA keeps of memories outside of their tables: weights, and signals on what was retrieved, by count."""

    def __init__(self) -> None:
        self.importance: dict[str, float] = {}
        self.feedback: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, table: str, row: Cells) -> None:
        kind = _TABLE_OF.get(text(row, "memory_type") or "")
        if kind is None:
            return
        memory_id = _memory_id(kind, required_text(row, "memory_id"))
        if table == "retrieval_feedback":
            self.feedback[memory_id][required_text(row, "signal")] += 1
            return
        importance = plain(row, "explicit_importance")
        if isinstance(importance, (int, float)) and importance != _USUAL_IMPORTANCE:
            self.importance[memory_id] = importance


def _memory_fields(memory_id: str, row: Cells, notes: _Notes, known: tuple[str, ...], **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """The fields of a memory: what all kinds have in common, and what only ALMA knows under its name."""
    own = others(row, ("id", "agent", "project_id", *known))
    if own.get("tenant_id") == _USUAL_TENANT:
        del own["tenant_id"]
    if str(own.get("verification_reason")).startswith(_PUSHED):
        own = {name: value for name, value in own.items() if name not in _VERIFICATION}
    if memory_id in notes.feedback:
        own["retrieval_feedback"] = dict(sorted(notes.feedback[memory_id].items()))
    return {
        "status": "active",
        "project": text(row, "project_id"),
        "agent": text(row, "agent"),
        "confidence": plain(row, "confidence"),
        "importance": notes.importance.get(memory_id),
        **fields,
        _NAME: own or None,
    }


def _heuristic(memory_id: str, row: Cells, notes: _Notes) -> StoredMemory:
    condition, strategy = text(row, "condition"), required_text(row, "strategy")
    fields = _memory_fields(
        memory_id,
        row,
        notes,
        ("condition", "strategy", "confidence", "last_validated", "created_at"),
        memory_type="heuristic",
        content=f"When: {condition}\nDo: {strategy}" if condition else strategy,
    )
    return StoredMemory(memory_id, fields, moment(row, "created_at"), _last(row, "last_validated"))


def _knowledge(memory_id: str, row: Cells, notes: _Notes) -> StoredMemory:
    fields = _memory_fields(
        memory_id,
        row,
        notes,
        ("domain", "fact", "source", "confidence", "last_verified"),
        memory_type="knowledge",
        content=required_text(row, "fact"),
        domain=text(row, "domain"),
        source=text(row, "source"),
    )
    return StoredMemory(memory_id, fields, None, _last(row, "last_verified"))


def _preference(memory_id: str, row: Cells, notes: _Notes) -> StoredMemory:
    fields = _memory_fields(
        memory_id,
        row,
        notes,
        ("user_id", "category", "preference", "source", "confidence", "timestamp"),
        memory_type="preference",
        content=required_text(row, "preference"),
        user_id=text(row, "user_id"),
        category=text(row, "category"),
        source=text(row, "source"),
    )
    return StoredMemory(memory_id, fields, None, _last(row, "timestamp"))


def _anti_pattern(memory_id: str, row: Cells, notes: _Notes) -> StoredMemory:
    """ALMA keeps no confidence of these; its placeholder for a better way is no text of the memory."""
    pattern, why, better = required_text(row, "pattern"), text(row, "why_bad"), text(row, "better_alternative")
    lines = [f"Don't: {pattern}", f"Why: {why}" if why else ""]
    lines.append(f"Instead: {better}" if better and better != _PLACEHOLDER else "")
    fields = _memory_fields(
        memory_id,
        row,
        notes,
        ("pattern", "why_bad", "better_alternative", "last_seen", "created_at"),
        memory_type="anti_pattern",
        content="\n".join(line for line in lines if line),
    )
    return StoredMemory(memory_id, fields, moment(row, "created_at"), _last(row, "last_seen"))


def _last(row: Cells, column: str) -> Any:  # noqa: ANN401 - a time or None
    times = [time for time in (moment(row, column), moment(row, "verified_at")) if time is not None]
    return max(times, default=None)


_HELD: dict[str, Callable[[str, Cells, _Notes], StoredMemory]] = {
    "heuristics": _heuristic,
    "domain_knowledge": _knowledge,
    "preferences": _preference,
    "anti_patterns": _anti_pattern,
}


def _outcome(row: Cells) -> Row:
    success = plain(row, "success")
    if success is None:
        message = "the column success says nothing"
        raise Unfit(message)
    known = ("id", "agent", "project_id", "task_type", "task_description", "success", "strategy_used", "duration_ms")
    own = others(row, (*known, "error_message", "user_feedback", "timestamp"))
    if own.get("tenant_id") == _USUAL_TENANT:
        del own["tenant_id"]
    return Row(
        {
            "outcome_id": f"{_NAME}:{required_text(row, 'id')}",
            "created_at": text(row, "timestamp"),
            # ALMA writes an outcome when the task is over
            "recorded_at": text(row, "timestamp"),
            "project": text(row, "project_id"),
            "agent": text(row, "agent"),
            "task_type": text(row, "task_type"),
            "task": text(row, "task_description"),
            "strategy": text(row, "strategy_used"),
            "success": bool(success) if success in (0, 1) else success,
            "error_message": text(row, "error_message"),
            "duration_ms": plain(row, "duration_ms"),
            "feedback": text(row, "user_feedback"),
            "basis": "reported",
            _NAME: own or None,
        }
    )


def _of_archive(located: Located, row: Cells, live: set[str], archived: dict[str, StoredMemory]) -> Iterator[Fact]:
    """What has left its table goes to `archived`: of several entries of one memory the last, in the order they come."""
    kind = _TABLE_OF.get(text(row, "memory_type") or "")
    if kind is None:
        yield unreadable_fact(located, f"{text(row, 'memory_type')!r} is no kind of memory")
        return
    memory_id = _memory_id(kind, required_text(row, "original_id"))
    if memory_id in live:
        yield LeftOut("archived by ALMA and still in its table, so in use", example=memory_id)
        return
    content = json_cell(row, "content")
    if not isinstance(content, dict):
        yield unreadable_fact(located, "the column content is no JSON object")
        return
    snapshot = {
        **content,
        "id": required_text(row, "original_id"),
        "agent": row.get("agent"),
        "project_id": row.get("project_id"),
        "metadata": row.get("metadata"),
    }
    if kind == "outcomes":
        yield _outcome({**snapshot, "timestamp": row.get("original_created_at")})
        return
    if kind == "preferences":  # whose user stands where others have their project
        snapshot |= {"user_id": row.get("project_id"), "project_id": None, "agent": None}
    told = _HELD[kind](memory_id, snapshot, _Notes())
    at = moment(row, "archived_at")
    reason = f"archived by ALMA: {text(row, 'archive_reason') or 'no reason given'}"
    archived[memory_id] = StoredMemory(
        memory_id, told.fields, moment(row, "original_created_at"), None, MemoryEnd(at, reason)
    )


def _let_go(row: Cells, live: set[str]) -> Iterator[LostMemory]:
    kind = _TABLE_OF.get(text(row, "memory_type") or "")
    memory_id = _memory_id(kind, required_text(row, "memory_id")) if kind and kind != "outcomes" else ""
    if memory_id and memory_id not in live:
        yield LostMemory(
            memory_id, moment(row, "pruned_at"), f"pruned by ALMA: {text(row, 'reason') or 'no reason given'}"
        )


ALMA_STORE = Store(
    name=_NAME,
    version=1,
    called="ALMA (alma-memory 0.7 to 0.11)",
    facts=_facts,
    tables=(
        StoreTable("memory_strength", ("memory_id", "memory_type", "explicit_importance"), is_required=False),
        StoreTable("retrieval_feedback", ("memory_id", "memory_type", "signal"), is_required=False),
        StoreTable("heuristics", ("id", "agent", "project_id", "condition", "strategy")),
        StoreTable("domain_knowledge", ("id", "agent", "project_id", "fact")),
        StoreTable("preferences", ("id", "user_id", "preference")),
        StoreTable("anti_patterns", ("id", "agent", "project_id", "pattern")),
        StoreTable("outcomes", ("id", "agent", "project_id", "success", "timestamp")),
        StoreTable(
            "memory_archive",
            ("original_id", "memory_type", "content", "archived_at"),
            is_required=False,
            left_out=("embedding",),
            order=("archived_at", "id"),
        ),
        StoreTable("alma_forget_audit", ("memory_type", "memory_id", "pruned_at"), is_required=False),
        *(StoreTable(name, (), is_required=False) for name in _LEFT_OUT),
    ),
)
