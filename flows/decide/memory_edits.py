"""`slowwave memory`: what one memory says, and changes of it that a person asks for, landed as decisions are.

A decision holds what it changes and what was there before, and is durable before the memory log is added to (see
`flows/decide/decisions.py`); another decision takes it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.flows.decide.decisions import EVER, Expectation, decision, expectation, land_decisions, landed_decisions
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.kernel.times import utc_now, utc_text
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import landed_lake
from slowwave.flows.lake.sql import near_landed
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.run import Run
from slowwave.transforms.decisions.effects import flag_holds, values_json
from slowwave.transforms.decisions.memory_edits import (
    ARCHIVE,
    MEMORY_EDITS,
    UNDO,
    Fields,
    State,
    Undoable,
    change_of,
    differences,
    last_to_undo,
    state_after,
    states_of,
)
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.landing.versions import winning_versions

_NOTHING = "(nothing was changed)"


@dataclass(frozen=True)
class EditRequest:
    """What a person asks for: the command, and the fields it gives a memory that is in this state."""

    command: str
    fields: Callable[[State], Fields] = lambda _: {}


@dataclass(frozen=True)
class KnownMemory:
    """One memory as the log knows it at `now`: its winning changes and the states they made, oldest first."""

    memory_id: str
    now: datetime
    changes: pl.DataFrame
    states: list[dict[str, Any]]
    decided: pl.DataFrame
    is_held: bool

    @property
    def state(self) -> dict[str, Any]:
        """What it says."""
        return self.states[-1]

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """What was decided of it, oldest first."""
        return self.decided.to_dicts()

    @property
    def undoable(self) -> Undoable | None:
        """What `slowwave memory undo` would take back."""
        return last_to_undo([row for row in self.decisions if row["command"] in MEMORY_EDITS])

    def last_said(self, names: list[str]) -> dict[str, Any]:
        """The last change that states one of these fields; else the first there is."""
        stated = [
            pl.col(name).is_not_null() | pl.col("clears").list.contains(pl.lit(name)).fill_null(value=False)
            for name in names
        ]
        rows = self.changes.filter(pl.any_horizontal(stated))
        return (rows if rows.height else self.changes.head(1)).row(-1, named=True)


@dataclass(frozen=True)
class MemoryEdit:
    """A change of one memory: the fields it alters, each as it is now and as it will be; none: it is so already."""

    known: KnownMemory
    command: str
    altered: dict[str, tuple[Any, Any]]
    asked: Fields
    undoes: Mapping[str, Any] | None
    landed_id: str | None = None

    @property
    def expectation(self) -> Expectation:
        """What was decided of the memory before, and what it alters."""
        return expectation(self.known.decided.lazy(), [self.known.memory_id], [self.command, values_json(self.altered)])

    @property
    def expect(self) -> str:
        """What to expect next: of a change that has landed, that none comes after it."""
        return self.landed_id or self.expectation.token

    @property
    def said(self) -> Mapping[str, Any]:
        """The change of the log that said what was asked for, where it is so already."""
        return self.known.last_said(list(self.asked))


def known_memory(settings: Settings, memory_id: str) -> KnownMemory:
    """One memory as it is now, by the log alone: nothing has to be published.

    Raises UserError when nothing was landed, or no memory is called so; then it names those that are called alike.
    """
    lake, now = landed_lake(settings), utc_now()
    log = LogAsOf(lake, now, settings.params())
    files = [file for of_day in lake.files(Memories.name).values() for file in of_day]
    rows = log.drop_set_aside(
        Memories, lake.scan_rows(Memories, files).filter(pl.col("memory_id") == pl.lit(memory_id))
    )
    changes = winning_versions(Memories, rows, now).sort("changed_at").collect()
    if changes.is_empty():
        raise UserError(_unknown(memory_id, rows, near_landed([file.path for file in files], memory_id)))
    states = states_of(changes)
    decided = landed_decisions(lake)
    of_memory = decided.filter(pl.col("target_kind") == "memory", pl.col("target") == pl.lit(memory_id))
    return KnownMemory(
        memory_id,
        now,
        changes,
        states,
        of_memory.sort("decided_at", "decision_id").collect(),
        flag_holds(decided, pl.LazyFrame({name: [states[-1][name]] for name in ("memory_id", "project")}), EVER)
        .collect()["is_held"]
        .item(),
    )


def _unknown(memory_id: str, rows: pl.LazyFrame, near: list[str]) -> str:
    to_come = rows.select(pl.max_horizontal("changed_at", "recorded_at").min()).collect().item()
    if to_come is not None:
        return (
            f"{quote_shortened(memory_id)} is landed, and its first change counts from {utc_text(to_come)} "
            f"on {_NOTHING}"
        )
    begin = [each for each in near if each.casefold().startswith(memory_id.casefold())]
    if len(begin) > 1 and memory_id:
        are = ", ".join(map(quote_shortened, begin))
        return f"{quote_shortened(memory_id)} is no memory's whole id, and several begin so, such as {are} {_NOTHING}"
    hint = (
        f": did you mean {' or '.join(map(quote_shortened, near))}?"
        if near
        else ": `slowwave sql memory_explorer` lists them"
    )
    return f"no memory is called {quote_shortened(memory_id)}{hint} {_NOTHING}"


def planned_edit(known: KnownMemory, wish: EditRequest, expect: str | None = None) -> MemoryEdit:
    """What a wish alters of a memory.

    Raises UserError when it may not be: the memory is on hold, there is nothing to take back or something else was said
    since, it is not as it is expected to be (`expect`), or the clock is before the last decision on the memory.
    """
    _check_clock(known)
    if expect is not None:  # who decided meanwhile says more than what then cannot be done
        expectation(known.decided.lazy(), [known.memory_id], ()).check(expect.partition(".")[0])
    named = quote_shortened(known.memory_id)
    if wish.command == ARCHIVE and known.is_held and known.state["status"] != "archived":
        release = "release it with `slowwave forget release` first"
        message = f"{named} is on hold, and what is held is never archived: {release} {_NOTHING}"
        raise UserError(message)
    undone = known.undoable if wish.command == UNDO else None
    fields = _undoing(known, undone) if wish.command == UNDO else wish.fields(known.state)
    altered = differences(known.state, state_after(known.changes, fields)) if fields else {}
    edit = MemoryEdit(known, wish.command, altered, fields, undone.decision if undone else None)
    edit.expectation.check(expect, [f"it was changed {_change_words(known.changes.row(-1, named=True))}"])
    return edit


def _check_clock(known: KnownMemory) -> None:
    last = max((row["decided_at"] for row in known.decisions), default=None)
    if last is not None and last >= known.now:
        message = (
            f"the last decision on {quote_shortened(known.memory_id)} is of {utc_text(last)}, and this "
            "machine's clock says "
            f"{utc_text(known.now)}: set the clock and run this again {_NOTHING}"
        )
        raise UserError(message)


def _undoing(known: KnownMemory, undone: Undoable | None) -> Fields:
    """The fields as they were before a decision, which must still say what it made of them."""
    named = quote_shortened(known.memory_id)
    if undone is None:
        message = f"no change of {named} by `slowwave memory` is left, so there is nothing to take back {_NOTHING}"
        raise UserError(message)
    decided_at = undone.decision["decided_at"]
    made = next((state for state in known.states if state["valid_from"] == decided_at), None)
    others = [name for name in undone.before if made is None or made[name] != known.state[name]]
    if others:
        message = (
            f"the {others[0].replace('_', ' ')} of {named} was changed {_change_words(known.last_said(others))}, after "
            f"the `{undone.decision['command']}` of {utc_text(decided_at)}: taking that back would undo this too "
            f"{_NOTHING}"
        )
        raise UserError(message)
    return undone.before


def _change_words(change: Mapping[str, Any]) -> str:
    by = f" by {change['changed_by']}" if change["changed_by"] else ""
    return f"at {utc_text(change['changed_at'])}{by}"


def land_edit(
    run: Run, memory_id: str, wish: EditRequest, *, by: str, reason: str | None, expect: str | None
) -> MemoryEdit:
    """Land what a wish alters of a memory, as it is now. The caller holds the lock.

    Raises UserError as `planned_edit` does.
    """
    edit = planned_edit(known_memory(run.settings, memory_id), wish, expect)
    if not edit.altered:
        return edit
    row = _decision(run, edit, by=by, reason=reason)
    land_decisions(run.lake, [row])
    return replace(edit, landed_id=row["decision_id"])


def _decision(run: Run, edit: MemoryEdit, *, by: str, reason: str | None) -> dict[str, Any]:
    known, current = edit.known, current_run(run.settings)
    before = {name: was for name, (was, _) in edit.altered.items()}
    said = {name: edit.asked[name] for name in edit.altered}
    # the decision before it: archived, taken back and archived again on one publish are three decisions
    values = {
        "after": known.decisions[-1]["decision_id"] if known.decisions else None,
        "changes": [{**change_of(known.memory_id, said), "before": before}],
        "undoes": edit.undoes["decision_id"] if edit.undoes else None,
    }
    return decision(
        edit.command,
        "memory",
        known.memory_id,
        values,
        {},
        reason=reason,
        changed_by=by,
        decided_at=known.now,
        on_run_id=current.stem if current else None,
    )
