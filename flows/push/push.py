"""What a push would change in a store, and doing it: written down first, then written to the store and read back.

Killed in between, the next push finds in the store what was written and notes it; the rest it plans anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from slowwave.flows.decide.decisions import decision, land_decisions, landed_decisions, published_frames
from slowwave.flows.imports.import_state import SeenFile
from slowwave.flows.imports.importer import ImportOptions, found_by, project_map, source_settings
from slowwave.flows.imports.units import Unit, UnreadableUnitError
from slowwave.flows.kernel.declared_columns import OF_CHANGE
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened, terminal_safe
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.run import Run
from slowwave.flows.push.door import Door, StoreChangedError
from slowwave.flows.push.places import Place
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.decisions.effects import flag_holds
from slowwave.transforms.decisions.push import (
    Altered,
    PushTarget,
    State,
    changed_fields,
    is_same,
    of_other_user,
    push_targets,
    state_after,
)
from slowwave.transforms.imports.adapter import Context, Located, Row, projects_by
from slowwave.transforms.imports.stores.change_log import Store
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_BEGIN, PUSH_UNDO, PushDecision, push_decisions
from slowwave.transforms.landing.tables import Memories

# What was imported from a store, beside what it says now: what changed in it since is not written over.

# What a row says of itself; and the project, which is not the store's word but that of a map that may be another now.
_BESIDE = frozenset({"memory_id", "project", *OF_CHANGE})


@dataclass(frozen=True)
class ImportedMemories:
    """The memories that were imported from a store, and those of them, or new ones, that it says otherwise now."""

    memory_ids: frozenset[str]
    changed: frozenset[str]


def seen_store(settings: Settings, lake: Lake, place: Place) -> ImportedMemories:
    """What an import would land of a store now; nothing lands.

    Raises UserError where the store cannot be read, or nothing was ever imported from it.
    """
    source = place.source
    mapped = project_map(place.connection.project_map if place.connection else None)
    options = ImportOptions(projects=mapped, settings=source_settings(settings, source.name))
    found = found_by(settings, source, [place.path], options, is_kept=False)
    if len(found.units) != 1:
        faults = [f"{one.name} {one.why}" for one in found.others if one.is_fault or not found.units]
        several = f"{terminal_safe(place.name)} has {len(found.units)} stores: name one of them"
        raise UserError("\n".join(map(terminal_safe, faults)) if faults else several)
    unit, adapter = found.units[0], source.adapter
    seen_file = SeenFile(lake, settings.inbox, adapter.name, adapter.version, is_kept=False)
    # what was erased here is named, so that it is taken out of the store: an import leaves it out
    before = replace(seen_file.before(unit), is_erased=lambda _: False)
    known = frozenset(one for one, memory in before.seen.memories.items() if before.store in memory.stores)
    if not known:
        message = (
            f"nothing was imported from {terminal_safe(place.name)} yet: "
            f"`slowwave import {source.name} PATH` first, then `slowwave nightly`"
        )
        raise UserError(message)
    context = Context(projects_by(options.projects), options=options.settings, before=before)
    changed = set()
    for made in _adapter(place).make_rows(_records(unit), context):
        if isinstance(made, Row) and "memory_id" in made.fields and made.fields.keys() - _BESIDE:
            changed.add(made.fields["memory_id"])
    return ImportedMemories(known, frozenset(changed))


def _adapter(place: Place) -> Store:
    adapter = place.source.adapter
    if not isinstance(adapter, Store):
        message = f"{place.source.name} is no store"
        raise UserError(message)
    return adapter


def _records(unit: Unit) -> list[Located]:
    try:
        return [one for one in unit.read() if isinstance(one, Located)]
    except (UnreadableUnitError, OSError) as error:
        message = f"{unit.name} {error}"
        raise UserError(terminal_safe(message)) from error


_CHANGED = "it changed in the store since it was imported: `slowwave nightly` reads it, then push again"
_NEW = "it is new in the store: `slowwave nightly` reads it, then push again"
_ERASED = "it was erased here: take it out of the store yourself"
_NOT_PUBLISHED = "it is in no publish yet: `slowwave nightly` first"


@dataclass(frozen=True)
class Change:
    """One memory that is to be written: the whole state that was seen, and the one that is to be."""

    memory_id: str
    before: State
    after: State
    undoes: PushDecision | None = None

    @property
    def altered(self) -> Altered:
        """The fields that differ."""
        return changed_fields(self.before, self.after)


@dataclass
class PushPlan:
    """What is to be done to a store, and why not to the rest.

    `finished`: what a push that was killed did write. `kept`: not to be touched. `refused`: what is in the store is
    not what was imported. `patches`: what only a person may do.
    """

    place: Place
    run_id: str | None
    users: Sequence[str] = ()
    changes: list[Change] = field(default_factory=list)
    already: int = 0
    finished: list[PushDecision] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    patches: list[str] = field(default_factory=list)
    last: dict[str, PushDecision] = field(default_factory=dict)


def pushed_to(lake: Lake, place: Place) -> list[PushDecision]:
    """The decisions of pushes to a store, oldest first."""
    decided = push_decisions(landed_decisions(lake).collect())
    return [one for one in decided if (one.store, one.place) == (place.source.name, place.name)]


def find_unfinished_pushes(decided: Sequence[PushDecision], states: dict[str, State]) -> list[PushDecision]:
    """Of what was begun and not noted as done, what the store has by now: it was killed in between."""
    last = {one.memory_id: one for one in decided}
    found = []
    for one in last.values():
        state = states.get(one.memory_id)
        if one.command != PUSH_BEGIN or state is None:
            continue
        done = frozenset(name for name in one.after if name not in changed_fields(state, {**state, **one.after}))
        if done:
            found.append(one.only(done))
    return found


def planned_push(settings: Settings, lake: Lake, place: Place, door: Door, users: Sequence[str]) -> PushPlan:
    """What is to be written to a store by what is published and decided. Nothing is written.

    Raises UserError where nothing is published, nothing was imported from the store, or it cannot be read.
    """
    seen = seen_store(settings, lake, place)
    decided = pushed_to(lake, place)
    ids = sorted(seen.memory_ids | {one.memory_id for one in decided})
    run_id, asked = _read_wanted_values(settings, lake, ids, users)
    states = door.states(ids)
    plan = PushPlan(place, run_id, users, last={one.memory_id: one for one in decided})
    plan.finished = find_unfinished_pushes(decided, states)
    by_hand = [(one, asked[one]) for one in ids if one in asked and one not in states]
    plan.patches = door.patches([(one, said.content) for one, said in by_hand if _is_by_hand(said)])
    keys = read_tombstones(lake.root)
    erased = {one for one in {*ids, *seen.changed} if keys is not None and keys.is_erased(Memories.name, one)}
    plan.kept = [(one, _ERASED) for one in sorted(erased & {*states, *seen.changed})]
    plan.refused = [(one, _NEW) for one in sorted(seen.changed - seen.memory_ids - erased)]
    history = defaultdict[str, list[PushDecision]](list)
    for one in (*decided, *(each.mark_done() for each in plan.finished)):
        history[one.memory_id].append(one)
    for memory_id, state in states.items():
        said = history[memory_id]
        if memory_id not in erased:
            _plan(plan, memory_id, state, asked.get(memory_id), said, is_changed=memory_id in seen.changed)
    return plan


def _is_by_hand(said: PushTarget) -> bool:
    return said.kept is None and (said.content is not None or said.status not in (None, "candidate", "active"))


def _plan(
    plan: PushPlan,
    memory_id: str,
    state: State,
    asked: PushTarget | None,
    history: Sequence[PushDecision],
    *,
    is_changed: bool,
) -> None:
    if asked is None:
        plan.kept.append((memory_id, _NOT_PUBLISHED))
        return
    after = {**state_after(state, asked, history)}
    for name, said in state.get("fixed", {}).items():
        if not is_same(name, state[name], after[name]):
            plan.kept.append((memory_id, said))
            after[name] = state[name]
    change = Change(memory_id, state, after)
    why = asked.kept or state.get("closed") or of_other_user(state.get("user"), plan.users)
    if not change.altered:
        plan.already += 1
    elif why:
        plan.kept.append((memory_id, why))
    elif is_changed:
        plan.refused.append((memory_id, _CHANGED))
    else:
        plan.changes.append(change)


def planned_undo(
    settings: Settings, lake: Lake, place: Place, door: Door, users: Sequence[str], undone_run: str
) -> PushPlan:
    """What is to be written to take back what one push wrote, in the order of what stood in an index.

    Raises UserError where no such push to this store is left to be taken back.
    """
    decided = pushed_to(lake, place)
    ids = sorted({one.memory_id for one in decided})
    run_id, asked = _read_wanted_values(settings, lake, ids, users)
    states = door.states(ids)
    plan = PushPlan(place, run_id, users, last={one.memory_id: one for one in decided})
    plan.finished = find_unfinished_pushes(decided, states)
    taken_back = {one.undoes for one in decided if one.command == PUSH_UNDO}
    done = [one for one in decided if one.command == PUSH]
    done += [one.mark_done() for one in plan.finished if one.undoes is None]
    left = [one for one in done if one.run == undone_run and one.decision_id not in taken_back]
    if not left:
        runs = list(dict.fromkeys(one.run for one in reversed(done) if one.decision_id not in taken_back))
        others = f": there are {', '.join(runs[:3])}" if runs else ""
        message = (
            f"no push {quote_shortened(undone_run)} to {terminal_safe(place.name)} is left to be taken back{others}"
        )
        raise UserError(message)
    for one in sorted(left, key=lambda each: (each.before.get("listed") or [0])[0]):
        _plan_undo(plan, one, states.get(one.memory_id), asked.get(one.memory_id))
    return plan


def _plan_undo(plan: PushPlan, one: PushDecision, state: State | None, asked: PushTarget | None) -> None:
    if state is None:
        plan.refused.append((one.memory_id, "it is no longer in the store"))
        return
    change = Change(one.memory_id, state, {**state, **one.before}, undoes=one)
    why = (asked.kept if asked else None) or state.get("closed") or of_other_user(state.get("user"), plan.users)
    if not change.altered:
        plan.already += 1
    elif why:
        plan.kept.append((one.memory_id, why))
    elif changed_fields(state, {**state, **one.after}):
        plan.refused.append((one.memory_id, "it changed in the store since it was pushed"))
    else:
        plan.changes.append(change)


_READ = choose_columns(Memories, "status", "content", "expires_at", "clears", "extra")


def _read_wanted_values(
    settings: Settings, lake: Lake, ids: Sequence[str], users: Sequence[str]
) -> tuple[str, dict[str, PushTarget]]:
    """The publish, and what it and the decisions say; whose a memory is, pins and holds as the log says now."""
    run_id, _, frames = published_frames(settings, "published no verdicts", health="FROM memory_health")
    health = frames["health"]
    now = utc_now()
    log = LogAsOf(lake, now, settings.params())
    chosen = pl.DataFrame({"memory_id": ids}, schema={"memory_id": pl.String})
    decisions = landed_decisions(lake).collect()
    changes = (
        log.winners(Memories, log.files(Memories), _READ)
        .join(chosen.lazy(), on="memory_id", how="semi")
        .with_columns(pl.col("extra").str.json_path_match("$.decision_id").alias("decision_id"))
        .collect()
        .with_columns(
            pl.col("decision_id").is_in(decisions["decision_id"].implode()).fill_null(False).alias("is_decided")
        )
    )
    states = log.states.filter(pl.col("valid_until").is_null()).join(chosen, on="memory_id", how="semi")
    holds = flag_holds(decisions.lazy(), states.lazy(), now).collect()
    now_kept = states.select("memory_id", "user_id", "pinned").join(holds, on="memory_id", how="left")
    rows = health.select("memory_id", "confidence", "verdict").join(now_kept, on="memory_id", how="inner")
    return run_id, push_targets(rows, changes, users, now)


CHANGED_BY = "slowwave push"


@dataclass
class PushResult:
    """What became of a plan: what was written and reads back so, what the store had changed, what reads otherwise."""

    run_id: str
    done: list[Change] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)


def carry_out(run: Run, plan: PushPlan, door: Door) -> PushResult:
    """Write what is planned. The caller holds the writer lock.

    Raises UserError where the store cannot be written any more; what was done until then is noted.
    """
    did = PushResult(run.run_id)
    killed = [
        _make_done_decision(plan, one.decision_id, one.memory_id, one.run, _written_values(one))
        for one in plan.finished
    ]
    land_decisions(run.lake, killed)
    begun = [_make_begin_decision(plan, change, run.run_id) for change in plan.changes]
    land_decisions(run.lake, begun)
    noted: list[dict[str, Any]] = []
    try:
        for change, row in zip(plan.changes, begun, strict=True):
            if _is_written(change, door, did):
                noted.append(
                    _make_done_decision(plan, row["decision_id"], change.memory_id, run.run_id, _to_write(change))
                )
    finally:
        land_decisions(run.lake, noted)
    return did


def _is_written(change: Change, door: Door, did: PushResult) -> bool:
    try:
        read = door.write(change.memory_id, change.before, change.after)
    except StoreChangedError as error:
        did.refused.append((change.memory_id, str(error)))
        return False
    wrong = [name for name in change.altered if not is_same(name, read.get(name), change.after.get(name))]
    if wrong:
        why = f"its {wrong[0].removeprefix('is_')} reads otherwise after it was written"
        did.failed.append((change.memory_id, why))
        return False
    did.done.append(change)
    return True


def _to_write(change: Change) -> dict[str, Any]:
    """What is written, as decisions keep it."""
    return {
        "before": {name: was for name, (was, _) in change.altered.items()},
        "after": {name: will_be for name, (_, will_be) in change.altered.items()},
        "undoes": change.undoes.decision_id if change.undoes else None,
    }


def _written_values(one: PushDecision) -> dict[str, Any]:
    return {"before": dict(one.before), "after": dict(one.after), "undoes": one.undoes}


def _make_begin_decision(plan: PushPlan, change: Change, run_id: str) -> dict[str, Any]:
    last = plan.last.get(change.memory_id)
    # the one before it: pushed, taken back and pushed again on one publish are three decisions
    values = {**_to_write(change), "previous": last.decision_id if last else None}
    return _decision(plan, PUSH_BEGIN, change.memory_id, run_id, values)


def _make_done_decision(
    plan: PushPlan, begun: str, memory_id: str, run_id: str, values: dict[str, Any]
) -> dict[str, Any]:
    command = PUSH_UNDO if values["undoes"] else PUSH
    return _decision(plan, command, memory_id, run_id, {**values, "begun": begun})


def _decision(plan: PushPlan, command: str, memory_id: str, run_id: str, values: dict[str, Any]) -> dict[str, Any]:
    return decision(
        command,
        "memory",
        memory_id,
        {**values, "store": plan.place.source.name, "place": plan.place.name},
        {"run": run_id},
        reason=None,
        changed_by=CHANGED_BY,
        decided_at=utc_now(),
        on_run_id=plan.run_id,
    )
