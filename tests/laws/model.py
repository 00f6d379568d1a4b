"""The laws in plain Python, obvious and slow: what a publish must show, and what becomes of every delivered row.

Rows are dictionaries as a producer writes them, except that times are naive datetimes holding UTC; a line that is no
JSON object at all is `bytes`. What is eligible and what is an echo stands in `memory_model`. Asked of the project
itself are only the hash that breaks a tie between two versions, and what `used/3` says of one interaction alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
from memory_model import echoed_in, is_eligible, is_global, normalised, pattern, reinforced

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.memories import STEPS, used_memories
from slowwave.transforms.evidence.used.params import UsedParams

Row = dict[str, Any]
_ASKED: dict[str, Any] = dict.fromkeys(
    ("interaction_id", "project", "prompt", "response", "response_summary"), pl.String
)
_POOL = {
    "memory_id": pl.String, "is_global": pl.Boolean, "project": pl.String, "content": pl.String,
    "valid_from": pl.Datetime("us"), "valid_until": pl.Datetime("us"),
}  # fmt: skip
_USED = ("memory_id", "used_score", "passage", "passage_at", "used_method")
STATUSES = {"candidate", "active", "superseded", "invalid", "archived", "graduated"}
DEFAULTS = {"memory_type": "knowledge", "project": "", "agent": "", "status": "candidate", "pinned": False}
ABOUT = ("scope", "user_id", "expires_at")
SCOPES = ("agent", "project", "global")
STATE = (*DEFAULTS, "content", "confidence", "importance", "source_ids", "superseded_by", *ABOUT)
BASES = ("reported", "evaluated", "inferred")
INLINE = "o-"  # begins the id of an outcome without one; the rest is a hash there, the interaction's id here
CANCELLED = "Cancelled by the user"


@dataclass
class Counts:
    """What became of one file."""

    delivered: int = 0
    accepted: int = 0
    duplicate: int = 0
    quarantined: int = 0


@dataclass(frozen=True)
class Version:
    """One landed row: its key, its two times, and every field it states."""

    table: str
    key: tuple[Any, ...]
    event: datetime
    recorded: datetime
    fields: tuple[tuple[str, Any], ...]

    def __getitem__(self, name: str) -> Any:
        return dict(self.fields).get(name)


@dataclass(frozen=True)
class State:
    """A memory from one change to the next."""

    start: datetime
    end: datetime | None
    values: Row

    def holds_at(self, time: datetime) -> bool:
        return self.start <= time and (self.end is None or time < self.end)


@dataclass
class Published:
    """The published tables: rows by key."""

    health: dict[str, Row]
    history: dict[tuple[str, date], Row]
    references: dict[tuple[str, str], Row]
    outcomes: dict[str, Row]
    strategies: dict[tuple[str, str, str], Row]


def is_bad(row: Row | bytes) -> bool:
    """Whether the landing contract refuses the row."""
    if isinstance(row, bytes):
        return True
    if _has_prompt(row):
        return row.get("created_at") is None or row.get("success") not in {None, True, False}
    if row.get("memory_id") is not None:
        status, confidence = row.get("status") or "candidate", row.get("confidence") or 0
        return row.get("changed_at") is None or status not in STATUSES or not 0 <= confidence <= 1
    return row.get("success") is None or row.get("created_at") is None


def versions_of(row: Row) -> list[Version]:
    """The rows of the lake that one good delivered row makes."""
    if _has_prompt(row):
        given = {"project": "", "agent": "", "reinforce": True} | _said(row)
        success = given.pop("success", None)
        found = [_version("interactions", given, ("interaction_id",), "created_at")]
        if success is not None:
            shared = ("interaction_id", "created_at", "recorded_at", "project", "agent", "session_id")
            inline = {name: given[name] for name in shared if name in given} | {"success": success}
            # what does not fit stays in the interaction alone
            inline |= {"basis": given["basis"]} if given.get("basis") in BASES else {}
            inline["outcome_id"] = f"{INLINE}{given['interaction_id']}"
            found.append(_version("outcomes", inline, ("outcome_id",), "created_at"))
        return found
    if row.get("memory_id") is not None:
        return [_version("memories", _stated(row), ("memory_id", "changed_at"), "changed_at")]
    return [_version("outcomes", _said(row), ("outcome_id",), "created_at")]


def _has_prompt(row: Row) -> bool:
    return bool(str(row.get("prompt") or "").strip())


def _said(row: Row) -> Row:
    """What a row that is no memory's change states: a blank text is the same as no field."""
    return {name: value for name, value in _stated(row).items() if not isinstance(value, str) or value.strip()}


def _stated(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _version(table: str, given: Row, key: tuple[str, ...], event: str) -> Version:
    took = timedelta(milliseconds=given.get("duration_ms", 0)) if table == "outcomes" else timedelta()
    given = {"recorded_at": given[event] + took} | given
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    key_values = tuple(given[name] for name in key)
    return Version(table, key_values, given[event], given["recorded_at"], tuple(sorted(fields.items())))


@dataclass
class Laws:
    """The log, and everything that follows from it. `row_hash` names a version when two were recorded at once."""

    row_hash: Callable[[Version], str]
    log: set[Version] = field(default_factory=set)
    files: dict[bytes, int] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------ landing

    def deliver(self, content: bytes, rows: Iterable[Row | bytes]) -> Counts:
        """Land one file; law 4 for it. `content` is the file's bytes: the same bytes are not landed twice."""
        if content in self.files:
            return Counts(self.files[content], duplicate=self.files[content])
        counts = Counts()
        for row in rows:
            counts.delivered += 1
            if isinstance(row, bytes) or is_bad(row):
                counts.quarantined += 1
            elif new := set(versions_of(row)) - self.log:
                counts.accepted += 1
                self.log |= new
            else:
                counts.duplicate += 1
        self.files[content] = counts.delivered
        return counts

    # ------------------------------------------------------------------------------------------------ publishing

    def winners(self, table: str, as_of: datetime) -> list[Version]:
        """Law 3: of the versions that happened and were written before `as_of`, the latest of each key."""
        best: dict[tuple[Any, ...], Version] = {}
        for version in self.log:
            if version.table == table and version.event < as_of and version.recorded < as_of:
                other = best.get(version.key)
                if other is None or self._beats(version, other):
                    best[version.key] = version
        return list(best.values())

    def _beats(self, one: Version, other: Version) -> bool:
        if one.recorded != other.recorded:
            return one.recorded > other.recorded
        return self.row_hash(one) > self.row_hash(other)

    def states(self, as_of: datetime) -> dict[str, list[State]]:
        """Each memory's states over time: what a change does not state carries over, '' clears."""
        changes: dict[str, list[Version]] = defaultdict(list)
        for version in self.winners("memories", as_of):
            changes[version["memory_id"]].append(version)
        found = {}
        for memory_id, of_memory in changes.items():
            of_memory.sort(key=lambda change: change.event)
            ends = [*(change.event for change in of_memory[1:]), None]
            values: Row = dict.fromkeys(STATE) | DEFAULTS
            found[memory_id] = []
            for change, end in zip(of_memory, ends, strict=True):
                stated = {name: change[name] for name in STATE if change[name] is not None}
                stated = {name: value for name, value in stated.items() if _fits(name, value)}
                for name in ("memory_type", "status", "confidence", "superseded_by", *ABOUT):
                    if stated.get(name) == "":
                        stated[name] = DEFAULTS.get(name)
                values = values | stated
                found[memory_id] += _expiring(State(change.event, end, values), as_of)
        return found

    def publish(self, as_of: datetime) -> Published:
        """The published tables as of an instant."""
        states = self.states(as_of)
        eligible: list[tuple[str, datetime]] = []
        references: dict[tuple[str, str], Row] = {}
        for interaction in self.winners("interactions", as_of):
            for memory_id in interaction["memories_used"] or ():
                _reference(references, memory_id, interaction)["is_injected"] = True
            for memory_id in interaction["memories_cited"] or ():
                _reference(references, memory_id, interaction)["is_cited"] = True
            for memory_id, of_memory in states.items():
                state = next((state for state in of_memory if state.holds_at(interaction.event)), None)
                if state is None or not is_eligible(state.values, _row(interaction)):
                    continue
                eligible.append((memory_id, interaction.event))
                found = _echo(state.values["content"] or "", interaction)
                if found:
                    _reference(references, memory_id, interaction).update(found)
        for interaction, used in _used(self.winners("interactions", as_of), states):
            for memory, score, passage, passage_at, method in used:
                _reference(references, memory, interaction).update(
                    is_used=True, used_score=score / STEPS, passage=passage, passage_at=passage_at, used_method=method
                )
        for row in references.values():
            found_by = {"is_injected": "injected/1", "is_echoed": "echo/1", "is_used": row.pop("used_method", "")}
            found_by["is_cited"] = "cited/1"
            row["methods"] = [method for name, method in found_by.items() if row[name]]
        outcomes = _outcomes(self.winners("outcomes", as_of), self.winners("interactions", as_of))
        memory_ids = {*states, *(memory_id for memory_id, _ in references)}
        health = {
            m: _health(m, states.get(m, []), _counts(m, eligible, references)) | _ends(m, references, outcomes)
            for m in memory_ids
        }
        history = _history(states, eligible, references)
        return Published(health, history, references, outcomes, _strategies(outcomes))


def _outcomes(winners: list[Version], interactions: list[Version]) -> dict[str, Row]:
    """As what each outcome counts; what it does not say of itself is its interaction's."""
    of_interactions = {interaction["interaction_id"]: interaction for interaction in interactions}
    found: dict[str, Row] = {}
    for outcome in winners:
        theirs = of_interactions.get(outcome["interaction_id"])
        given = {
            name: theirs[name] if outcome[name] is None and theirs is not None else outcome[name]
            for name in ("project", "agent", "session_id")
        }
        is_cancelled = not outcome["success"] and outcome["error_message"] == CANCELLED
        is_attempt = not is_cancelled if outcome["attempted"] is None else outcome["attempted"]
        found[outcome["outcome_id"]] = {
            "interaction_id": outcome["interaction_id"],
            "created_at": outcome.event,
            "known_at": max(outcome.event, outcome.recorded),
            "project": given["project"] or "",
            "agent": given["agent"] or "",
            "block": given["session_id"] or outcome["interaction_id"] or outcome["outcome_id"],
            "strategy": outcome["strategy"],
            "success": outcome["success"],
            "basis": outcome["basis"] if outcome["basis"] in BASES else "reported",
            "is_attempt": is_attempt,
            "is_counted": is_attempt and outcome["basis"] != "inferred",
            "is_learned": is_attempt and outcome["basis"] != "inferred" and outcome["strategy"] is not None,
        }
    latest = {
        row["interaction_id"]: outcome_id
        for outcome_id, row in sorted(found.items(), key=lambda item: (item[1]["created_at"], item[0]))
        if row["is_counted"] and row["interaction_id"] is not None
    }
    for outcome_id, row in found.items():
        row["is_deciding"] = latest.get(row["interaction_id"]) == outcome_id
    return found


def _strategies(outcomes: dict[str, Row]) -> dict[tuple[str, str, str], Row]:
    """The counts of `heuristics`, by project, agent and what the wordings say."""
    learned: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in outcomes.values():
        if row["is_learned"]:
            learned[row["project"], row["agent"], row["strategy"].lower().strip("!")].append(row)
    return {
        key: {
            "attempts": len(rows),
            "successes": sum(row["success"] for row in rows),
            "sessions": len({row["block"] for row in rows}),
            "first_seen_at": min(row["created_at"] for row in rows),
            "last_validated_at": max(row["created_at"] for row in rows),
            "variants": sorted({row["strategy"] for row in rows}),
        }
        for key, rows in learned.items()
    }


def _ends(memory_id: str, references: dict[tuple[str, str], Row], outcomes: dict[str, Row]) -> Row:
    """How the interactions that echo or use a memory ended, by the latest attempt of each."""
    deciding = {row["interaction_id"]: row["success"] for row in outcomes.values() if row["is_deciding"]}
    ends = [
        deciding.get(row["interaction_id"])
        for row in references.values()
        if row["memory_id"] == memory_id and (row["is_echoed"] or row["is_used"])
    ]
    return {"confirmed_count": ends.count(True), "contradicted_count": ends.count(False)}


def _fits(name: str, value: Any) -> bool:
    """Whether what a change says of this is read: else it stays among the fields that nobody knows."""
    return name != "scope" or value in {*SCOPES, ""}


def _echo(content: str, interaction: Version) -> Row | None:
    wanted, read = pattern(content), _row(interaction)
    where = echoed_in(read, wanted)
    if wanted is None or where is None:
        return None
    return {"is_echoed": True, "echoed_in": where, "in_prompt": wanted in normalised(read["prompt"])}


def _row(interaction: Version) -> Row:
    return defaultdict(lambda: None, interaction.fields)


def _used(
    interactions: list[Version], states: dict[str, list[State]]
) -> Iterator[tuple[Version, list[tuple[Any, ...]]]]:
    """What `used/3` finds for each interaction alone, judged by the memories that were eligible on its day."""
    of_days: dict[date, list[Version]] = defaultdict(list)
    for interaction in interactions:
        of_days[interaction.event.date()].append(interaction)
    for of_day in of_days.values():
        pool = [
            (
                memory_id,
                is_global(state.values),
                state.values["project"],
                state.values["content"],
                state.start,
                state.end,
            )
            for memory_id, of_memory in states.items()
            for state in of_memory
            if any(state.holds_at(i.event) and is_eligible(state.values, _row(i)) for i in of_day)
        ]
        known = pl.DataFrame(pool, schema=_POOL, orient="row")
        for interaction in of_day:
            if interaction["reinforce"]:
                asked = pl.DataFrame([[interaction[name] for name in _ASKED]], schema=_ASKED, orient="row")
                asked = asked.with_columns(pl.lit(interaction.event, pl.Datetime("us")).alias("occurred_at"))
                found = used_memories(asked, known, word_vectors, UsedParams())
                theirs = {
                    memory_id
                    for memory_id, of_memory in states.items()
                    if any(
                        state.holds_at(interaction.event) and is_eligible(state.values, _row(interaction))
                        for state in of_memory
                    )
                }
                yield (
                    interaction,
                    [row for row in found.drop_nulls("used_method").select(*_USED).iter_rows() if row[0] in theirs],
                )


def _reference(references: dict[tuple[str, str], Row], memory_id: str, interaction: Version) -> Row:
    names = ("interaction_id", "project", "agent", "session_id")
    about = {name: interaction[name] for name in names}
    evidence = {"is_injected": False, "is_echoed": False, "echoed_in": None, "in_prompt": None}
    evidence |= {"is_used": False, "used_score": None, "passage": None, "passage_at": None}
    evidence |= {"is_cited": False}
    row = {"memory_id": memory_id, **about, "occurred_at": interaction.event, **evidence}
    return references.setdefault((memory_id, interaction["interaction_id"]), row)


def _counts(
    memory_id: str, eligible: list[tuple[str, datetime]], references: dict[tuple[str, str], Row], until: date = date.max
) -> Row:
    """The counts of one memory up to the end of a day."""
    of_memory = [row for row in references.values() if row["memory_id"] == memory_id]
    of_memory = [row for row in of_memory if row["occurred_at"].date() <= until]
    referring = [row["occurred_at"] for row in of_memory if row["is_echoed"] or row["is_used"]]
    return {
        "eligible_count": sum(m == memory_id and at.date() <= until for m, at in eligible),
        "injected_count": sum(row["is_injected"] for row in of_memory),
        "echoed_count": sum(row["is_echoed"] for row in of_memory),
        "used_count": sum(row["is_used"] for row in of_memory),
        "cited_count": sum(row["is_cited"] for row in of_memory),
        "reference_count": len(referring),
        "first_referenced_at": min(referring, default=None),
        "last_referenced_at": max(referring, default=None),
    }


def _expiring(state: State, as_of: datetime) -> list[State]:
    """The state until it expires, and the expired one from then on; one of them where there is no other."""
    at = state.values["expires_at"]
    if state.values["status"] not in {"candidate", "active"} or at is None or at >= as_of:
        return [state]
    expired = state.values | {"status": "expired"}
    if at <= state.start:
        return [State(state.start, state.end, expired)]
    if state.end is not None and state.end <= at:
        return [state]
    return [State(state.start, at, state.values), State(at, state.end, expired)]


def _health(memory_id: str, states: list[State], counts: Row) -> Row:
    names = ("project", "agent", "user_id", "scope", "memory_type", "status", "expires_at", "content")
    values = states[-1].values if states else {}
    return {
        "memory_id": memory_id,
        **{name: values.get(name) for name in names},
        "created_at": states[0].start if states else None,
        **counts,
        "reinforced_confidence": reinforced(values.get("confidence"), counts["echoed_count"]),
    }


def _history(
    states: dict[str, list[State]], eligible: list[tuple[str, datetime]], references: dict[tuple[str, str], Row]
) -> dict[tuple[str, date], Row]:
    """One row per memory and day on which its counts or its state changed."""
    days = {
        (memory_id, state.start.date())
        for memory_id, of_memory in states.items()
        for state, before in zip(of_memory, [None, *of_memory], strict=False)
        if before is None or state.values != before.values
    }
    days |= {(memory_id, at.date()) for memory_id, at in eligible}
    days |= {(memory_id, row["occurred_at"].date()) for (memory_id, _), row in references.items()}
    rows = {}
    for memory_id, day in days:
        counts = _counts(memory_id, eligible, references, day)
        before = [state.values for state in states.get(memory_id, []) if state.start.date() <= day]
        values = before[-1] if before else {}
        rows[memory_id, day] = {
            "memory_id": memory_id,
            "day": day,
            "status": values.get("status"),
            **{name: count for name, count in counts.items() if name.endswith("_count")},
            "reinforced_confidence": reinforced(values.get("confidence"), counts["echoed_count"]),
        }
    return rows
