"""`slowwave push`: shows what would change in a store, and does it by a person's word."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import typer

from slowwave.flows.cli.shared import writing
from slowwave.flows.kernel.checks import screen as plain_screen
from slowwave.flows.kernel.errors import WrongUsageError
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.lake.lake import Lake, landed_lake
from slowwave.flows.push.door import Door
from slowwave.flows.push.places import Place, open_store, places
from slowwave.flows.push.push import Change, PushPlan, PushResult, carry_out, planned_push, planned_undo

_SHOWN = 10
_SHOWN_TEXT = 300
_LABELS = {"is_archived": "archived", "listed": "in the index"}


def run_push(
    settings: Settings,
    store: str,
    paths: Sequence[str],
    *,
    users: Sequence[str],
    undo: str | None,
    yes: bool,
    output: str,
) -> None:
    """Show, for each store, what would change in it; with `yes` do it, read it back, and note it.

    Raises WrongUsageError, UserError, and typer.Exit with code 1 where something was refused or reads otherwise.
    """
    chosen = places(settings, store, paths)
    if undo is not None and len(chosen) > 1:
        message = f"several stores are connected: name the one to take a push back from, `push {store} PATH --undo RUN`"
        raise WrongUsageError(message)

    def plan_store_changes(lake: Lake, place: Place, door: Door) -> PushPlan:
        if undo is not None:
            return planned_undo(settings, lake, place, door, users, undo)
        return planned_push(settings, lake, place, door, users)

    told: list[tuple[PushPlan, PushResult | None]] = []
    for place in chosen:
        if yes:
            with writing("push") as (run, _), closing(open_store(place, writes=True)) as door:
                plan = plan_store_changes(run.lake, place, door)
                told.append((plan, carry_out(run, plan, door)))
        else:
            with closing(open_store(place, writes=False)) as door:
                told.append((plan_store_changes(landed_lake(settings), place, door), None))
    if output == "json":
        typer.echo(json.dumps([_as_json(plan, did) for plan, did in told], indent=2, ensure_ascii=False))
    else:
        for plan, did in told:
            _print(plan, did, undo)
    if any(plan.refused or (did and (did.refused or did.failed)) for plan, did in told):
        raise typer.Exit(1)


# ------------------------------------------------------------------------------------------------- what is printed


def _print(plan: PushPlan, did: PushResult | None, undo: str | None) -> None:
    changes = plan.changes if did is None else did.done
    count = format_count(len(changes), "memory", "memories")
    verb = "to write" if did is None else "written"
    lines: Lines = [(verb, f"{count} in {plan.place.name}")]
    shown = changes[:_SHOWN] if did else changes
    for change in shown:
        lines += [("", change.memory_id), *(("", f"    {said}") for said in _differences(change))]
    lines += [("", f"and {len(changes) - len(shown):,} more")] if len(changes) > len(shown) else []
    if plan.finished:
        before = "was written by a push that was killed before it noted it"
        lines.append(
            ("finished" if did else "to finish", f"{format_count(len(plan.finished), 'memory', 'memories')} {before}")
        )
    if plan.already:
        lines.append(("already so", format_count(plan.already, "memory", "memories")))
    refused = [*plan.refused, *(did.refused if did else [])]
    for label, kept in (("not touched", plan.kept), ("refused", refused), ("failed", did.failed if did else [])):
        lines += [(label if not at else "", f"{one}: {why}") for at, (one, why) in enumerate(kept[:_SHOWN])]
        lines += [("", f"and {len(kept) - _SHOWN:,} more")] if len(kept) > _SHOWN else []
    if len(lines) == 1 and not changes and not plan.patches:
        lines.append(("", "no memory that was imported from it has a place of its own there"))
    print_lines("", lines, _next(plan, did, undo))
    for patch in plan.patches:
        typer.echo(f"\nyours to apply, for nobody else writes to this file:\n{patch}")
    if did is None:
        add = ": add --yes" if plan.changes or plan.finished else ""
        plain_screen().print(f"nothing was written{add}")


def _next(plan: PushPlan, did: PushResult | None, undo: str | None) -> list[str]:
    if did is None or not did.done or undo is not None:
        return []
    where = shlex.quote(str(plan.place.path))
    return [f"{this_command()} push {plan.place.source.name} {where} --undo {did.run_id}"]


def _differences(change: Change) -> list[str]:
    return [
        f"{_LABELS.get(name, name)}: {_value(name, was)} -> {_value(name, will_be)}"
        for name, (was, will_be) in change.altered.items()
    ]


def _value(name: str, value: Any) -> str:  # noqa: ANN401 - whatever a store holds
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "listed":
        value = value[1].strip()
    if isinstance(value, dict):
        return ", ".join(f"{each} {said}" for each, said in sorted(value.items()))
    return shorten_to_width(json.dumps(value, ensure_ascii=False), _SHOWN_TEXT)


def _as_json(plan: PushPlan, did: PushResult | None) -> dict[str, Any]:
    changes = plan.changes if did is None else did.done
    return {
        "store": plan.place.source.name,
        "place": plan.place.name,
        "is_done": did is not None,
        "run": did.run_id if did else None,
        "changes": [
            {"memory_id": one.memory_id, "fields": {name: [*pair] for name, pair in one.altered.items()}}
            for one in changes
        ],
        "finished": [one.memory_id for one in plan.finished],
        "already": plan.already,
        "not_touched": [[*one] for one in plan.kept],
        "refused": [[*one] for one in [*plan.refused, *(did.refused if did else [])]],
        "failed": [[*one] for one in (did.failed if did else [])],
        "patches": plan.patches,
    }
