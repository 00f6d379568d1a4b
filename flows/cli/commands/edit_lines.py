"""What `slowwave memory` prints of a memory and of an edit, for people and for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from slowwave.dashboards.links import command_line
from slowwave.flows.ask.cells import json_bytes
from slowwave.flows.decide.memory_edits import KnownMemory, MemoryEdit
from slowwave.flows.kernel.declared_columns import LABELS
from slowwave.flows.kernel.progress import print_lines, this_command
from slowwave.flows.kernel.terminal import shorten_to_width
from slowwave.flows.kernel.times import utc_text
from slowwave.transforms.decisions.memory_edits import differences
from slowwave.transforms.landing.tables import Memories

_SHOWN_TEXT = 600
_OF_UNDONE = ("command", "changed_by", "decided_at")


def known_memory_fields(known: KnownMemory) -> dict[str, Any]:
    """A memory for programs: its state, and its changes, newest first, with what each altered: [from, to]."""
    befores = [dict.fromkeys(Memories.state), *known.states[:-1]]
    undoable = known.undoable
    changes = [
        {
            **{name: row[name] for name in Memories.of_change},
            "changed": differences(before, after),
        }
        for row, before, after in zip(known.changes.to_dicts(), befores, known.states, strict=True)
    ]
    return {
        "memory_id": known.memory_id,
        "state": {name: known.state[name] for name in Memories.state},
        "is_held": known.is_held,
        "changes": changes[::-1],
        "undo": None
        if undoable is None
        else {**{name: undoable.decision[name] for name in ("command", "decided_at")}, "before": undoable.before},
    }


def print_known_memory(known: KnownMemory, limit: int) -> None:
    """What a memory says now, its `limit` newest changes, and what may be done next."""
    told = known_memory_fields(known)
    state, changes = told["state"], told["changes"]
    lines = [("content", _value(state["content"]))]
    is_over = state["expires_at"] is not None and state["expires_at"] <= known.now
    expired = ", expired" if is_over and state["status"] in ("candidate", "active") else ""
    held = ", on hold: it is not archived" if known.is_held else ""
    lines.append(("status", f"{state['status']}{expired}{held}"))
    rest = {name: value for name, value in state.items() if name not in {"content", "status"}}
    lines += [(_label(name), _value(value)) for name, value in rest.items() if value not in (None, "")]
    lines += [("" if at else "changes", _change_line(change)) for at, change in enumerate(changes[:limit])]
    lines += [("", f"and {len(changes) - limit:,} more: --format json lists all")] if len(changes) > limit else []
    print_lines(shorten_to_width(known.memory_id, _SHOWN_TEXT), lines, _next_commands(known))


def _change_line(change: Mapping[str, Any]) -> str:
    altered = {name: pair for name, pair in change["changed"].items() if pair[0] not in (None, "") or pair[1]}
    said = ", ".join(
        _label(name) if name == "content" else _altered_line(name, *pair) for name, pair in altered.items()
    )
    by = f"  by {change['changed_by']}" if change["changed_by"] else ""
    why = f" ({change['reason']})" if change["reason"] else ""
    return shorten_to_width(f"{utc_text(change['changed_at'])}{by}  {said or 'changed nothing'}{why}", _SHOWN_TEXT)


def _altered_line(name: str, was: object, will_be: object) -> str:
    return (
        f"{_label(name)} {_value(will_be)}"
        if was in (None, "")
        else f"{_label(name)} {_value(was)} → {_value(will_be)}"
    )


def _label(name: str) -> str:
    return LABELS.get(name, name)


def _value(value: object) -> str:
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shorten_to_width(", ".join(value) if isinstance(value, list) else str(value), _SHOWN_TEXT)


def _next_commands(known: KnownMemory) -> list[str]:
    return _commands(["why"], *([["memory", "undo"]] if known.undoable else []), memory_id=known.memory_id)


def _commands(*wanted: list[str], memory_id: str) -> list[str]:
    """Commands about a memory, as far as its id can be copied from a terminal."""
    lines = [command_line(*words, memory_id) for words in wanted]
    return [this_command() + line.removeprefix("slowwave") for line in lines if line]


def edit_lines(edit: MemoryEdit) -> list[tuple[str, str]]:
    """What is now and what will be, a line for each field; a text has one for both."""
    lines: list[tuple[str, str]] = []
    for name, (was, will_be) in edit.altered.items():
        if name == "content":
            lines += [(_label(name), _value(was)), ("", f"→ {_value(will_be)}")]
        else:
            lines.append((_label(name), f"{_value(was)} → {_value(will_be)}"))
    return lines


def _already(edit: MemoryEdit) -> str:
    """Since when what was asked for is so, and who said it."""
    are = ", ".join(f"{_label(name)} {_value(edit.known.state[name])}" for name in edit.asked)
    by = f", by {edit.said['changed_by']}" if edit.said["changed_by"] else ""
    return f"{are} since {utc_text(edit.said['changed_at'])}{by}"


def print_edit(edit: MemoryEdit, *, dry_run: bool, as_json: bool) -> None:
    """What an edit changed, or would change, and how it is taken back."""
    named = edit.known.memory_id
    if as_json:
        told = {"memory_id": named, "command": edit.command, "dry_run": dry_run, "changed": edit.altered}
        told |= {"undoes": edit.undoes and {name: edit.undoes[name] for name in _OF_UNDONE}, "expect": edit.expect}
        sys.stdout.buffer.write(json_bytes(told) + b"\n")
        return
    lines = edit_lines(edit)
    if not edit.altered:
        lines = [("already so", f"{_already(edit)}; nothing was changed")]
    elif not dry_run:
        lines.append(("seen", "from the next nightly on"))
    title = shorten_to_width(named, _SHOWN_TEXT) + (", if it were done" if dry_run and edit.altered else "")
    can_undo = edit.altered and not dry_run and edit.command != "memory undo"
    print_lines(title, lines, _commands(["memory", "undo"], memory_id=named) if can_undo else [])
