"""Doing what was planned: it is written down first, then written to the store and read back, then noted as done.

Killed in between, the next push finds in the store what was written and notes it; the rest it plans anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from slowwave.flows.decide.decisions import decision, land_decisions
from slowwave.flows.kernel.run_ids import utc_now
from slowwave.flows.publish.run import Run
from slowwave.flows.push.door import Door, StoreChangedError
from slowwave.flows.push.push_plan import Change, PushPlan
from slowwave.transforms.decisions.push.wanted import is_same
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_BEGIN, PUSH_UNDO, PushDecision

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
