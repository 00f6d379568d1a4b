"""`slowwave memory`: show, edit, archive, invalidate, pin, tag, undo."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.flows.command_groups import examples, first_examples
from slowwave.flows.command_lines import ask, writing
from slowwave.flows.settings import settings_from_environment

if TYPE_CHECKING:
    from slowwave.flows.memory_edits import Edit, Known, Wish

EXAMPLES: dict[str, tuple[str, ...]] = {
    "show": ("slowwave memory show MEMORY_ID", "slowwave memory show MEMORY_ID --format json"),
    "edit": (
        "slowwave memory edit MEMORY_ID --content 'Deploys run from main.' --reason 'the branch was renamed'",
        "slowwave memory edit MEMORY_ID --confidence 0.8 --project '' --dry-run",
        "slowwave memory edit MEMORY_ID --user ada --clear scope --yes",
    ),
    "archive": (
        "slowwave memory archive MEMORY_ID --reason 'the project is over' --dry-run",
        "slowwave memory archive MEMORY_ID --reason 'the project is over'",
    ),
    "invalidate": ("slowwave memory invalidate MEMORY_ID --reason 'it was never so' --by ada",),
    "pin": ("slowwave memory pin MEMORY_ID --yes", "slowwave memory pin MEMORY_ID --off"),
    "tag": ("slowwave memory tag MEMORY_ID deploy urgent --yes", "slowwave memory tag MEMORY_ID --remove urgent"),
    "undo": ("slowwave memory undo MEMORY_ID --yes", "slowwave memory undo MEMORY_ID --dry-run"),
}
_SHOWN_TEXT = 600
_LABELS = {"memory_type": "type", "source_ids": "sources", "superseded_by": "replaced by", "user_id": "user"}

memory = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=first_examples(EXAMPLES),
)


class TextFormat(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"


class Status(StrEnum):
    """States of a memory that no other command gives."""

    candidate = "candidate"
    active = "active"
    graduated = "graduated"


class Scope(StrEnum):
    """Where a memory is eligible."""

    agent = "agent"
    project = "project"
    everywhere = "global"


class Clearable(StrEnum):
    """What a memory may be without."""

    agent = "agent"
    confidence = "confidence"
    importance = "importance"
    source_ids = "source_ids"
    scope = "scope"
    user_id = "user_id"
    category = "category"
    domain = "domain"
    source = "source"
    tags = "tags"


Id = Annotated[str, typer.Argument(help="The memory's whole id.", metavar="MEMORY_ID")]
By = Annotated[str, typer.Option(help="Who says so; kept with the change.", metavar="NAME")]
Reason = Annotated[str | None, typer.Option(help="Why; kept with the change.", metavar="TEXT")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; land nothing.")]
Output = Annotated[TextFormat, typer.Option("--format", help="How the answer is printed.")]


@memory.command("show", epilog=examples(EXAMPLES["show"]))
def show(
    memory_id: Id,
    output: Output = TextFormat.text,
    limit: Annotated[int, typer.Option(min=1, help="Changes shown, newest first; json lists all.")] = 5,
) -> None:
    """Show what a memory says now, by the log as it has landed, who changed what, and what can be taken back."""
    from slowwave.flows.memory_edits import known_memory
    from slowwave.flows.query_output import json_bytes
    from slowwave.flows.screen import print_lines
    from slowwave.flows.terminal import shortened

    known = known_memory(settings_from_environment(), memory_id)
    told = _told(known)
    if output is TextFormat.json:
        sys.stdout.buffer.write(json_bytes(told) + b"\n")
        return
    state, changes = told["state"], told["changes"]
    lines = [("content", _value(state["content"]))]
    lines.append(("status", state["status"] + (", on hold: it is not archived" if known.is_held else "")))
    rest = {name: value for name, value in state.items() if name not in {"content", "status"}}
    lines += [(_label(name), _value(value)) for name, value in rest.items() if value not in (None, "")]
    lines += [("" if at else "changes", _change_line(change)) for at, change in enumerate(changes[:limit])]
    lines += [("", f"and {len(changes) - limit:,} more: --format json lists all")] if len(changes) > limit else []
    print_lines(shortened(memory_id, _SHOWN_TEXT), lines, _next_commands(known))


def _told(known: Known) -> dict[str, Any]:
    """A memory for programs: its state, and its changes, newest first, with what each altered: [from, to]."""
    from slowwave.transforms.landed_tables import Memories
    from slowwave.transforms.memory_edits import differences

    befores = [dict.fromkeys(Memories.state), *known.states[:-1]]
    undoable = known.undoable
    changes = [
        {
            **{name: row[name] for name in ("changed_at", "recorded_at", "changed_by", "reason")},
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


def _change_line(change: Mapping[str, Any]) -> str:
    from slowwave.flows.check_lines import utc_text
    from slowwave.flows.terminal import shortened

    altered = {name: pair for name, pair in change["changed"].items() if pair[0] not in (None, "") or pair[1]}
    said = ", ".join(
        _label(name) if name == "content" else _altered_line(name, *pair) for name, pair in altered.items()
    )
    by = f"  by {change['changed_by']}" if change["changed_by"] else ""
    why = f" ({change['reason']})" if change["reason"] else ""
    return shortened(f"{utc_text(change['changed_at'])}{by}  {said or 'as it was'}{why}", _SHOWN_TEXT)


def _altered_line(name: str, was: object, will_be: object) -> str:
    return (
        f"{_label(name)} {_value(will_be)}"
        if was in (None, "")
        else f"{_label(name)} {_value(was)} → {_value(will_be)}"
    )


def _label(name: str) -> str:
    return _LABELS.get(name, name)


def _value(value: object) -> str:
    from slowwave.flows.terminal import shortened

    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shortened(", ".join(value) if isinstance(value, list) else str(value), _SHOWN_TEXT)


def _next_commands(known: Known) -> list[str]:
    return _commands(["why"], *([["memory", "undo"]] if known.undoable else []), memory_id=known.memory_id)


def _commands(*wanted: list[str], memory_id: str) -> list[str]:
    """Commands about a memory, as far as its id can be copied from a terminal."""
    from slowwave.dashboards.commands import command_line
    from slowwave.flows.screen import this_command

    lines = [command_line(*words, memory_id) for words in wanted]
    return [this_command() + line.removeprefix("slowwave") for line in lines if line]


@memory.command("edit", epilog=examples(EXAMPLES["edit"]))
def edit(
    memory_id: Id,
    content: Annotated[str | None, typer.Option(help="The text; - reads it from standard input.", metavar="TEXT")] = (
        None
    ),
    memory_type: Annotated[str | None, typer.Option("--type", help="Its type, such as preference.")] = None,
    project: Annotated[str | None, typer.Option(help="Its project; '' is none.")] = None,
    agent: Annotated[str | None, typer.Option(help="Its agent; '' is none.")] = None,
    confidence: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="0-1", help="How sure one is of it; echoes add to it.")
    ] = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1, metavar="0-1", help="Importance.")] = None,
    status: Annotated[Status | None, typer.Option(help="`memory archive` and `memory invalidate` give others.")] = None,
    scope: Annotated[Scope | None, typer.Option(help="Eligible for its agent, in its project, or everywhere.")] = None,
    user: Annotated[
        str | None, typer.Option(help="The user it is about: eligible for nobody else; '' is none.")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Kind of preference; '' is none.")] = None,
    domain: Annotated[str | None, typer.Option(help="Field of knowledge; '' is none.")] = None,
    source: Annotated[str | None, typer.Option(help="How it came to be known; '' is none.")] = None,
    clear: Annotated[list[Clearable] | None, typer.Option(help="A field it shall be without.")] = None,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Change what a memory says; what is not named stays as it is."""
    from slowwave.flows.memory_edits import Wish
    from slowwave.transforms.blank import says_nothing
    from slowwave.transforms.memory_edits import EDIT, fields_of_status

    text = _from_standard_input() if content == "-" else content
    if text is not None and says_nothing(text):
        message = "a memory says something: `slowwave memory archive` puts it away"
        raise typer.BadParameter(message, param_hint="'--content'")
    named = {
        "content": text,
        "memory_type": memory_type,
        "project": project,
        "agent": agent,
        "confidence": confidence,
        "importance": importance,
        "scope": scope.value if scope else None,
        "user_id": user,
        "category": category,
        "domain": domain,
        "source": source,
    }
    given = {name: value for name, value in named.items() if value is not None}
    cleared = {each.value for each in clear or []}
    if cleared & given.keys():
        message = f"{min(cleared & given.keys())} is both given and cleared"
        raise typer.BadParameter(message)
    if not given and not cleared and status is None:
        message = (
            "say what to change: --content, --type, --project, --agent, --confidence, --importance, --status, --clear"
        )
        raise typer.BadParameter(message)
    said = {**given, **dict.fromkeys(cleared)}
    wish = Wish(EDIT, lambda state: {**said, **(fields_of_status(status.value, state) if status else {})})
    _change(memory_id, wish, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


def _from_standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        message = f"standard input is not UTF-8 ({error.reason} at byte {error.start})"
        raise typer.BadParameter(message, param_hint="'--content'") from error


@memory.command("archive", epilog=examples(EXAMPLES["archive"]))
def archive(
    memory_id: Id,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Put a memory away, as `forget apply` does: it is eligible no more. What is on hold is refused."""
    from slowwave.flows.memory_edits import Wish
    from slowwave.transforms.memory_edits import ARCHIVE

    wish = Wish(ARCHIVE, lambda _: {"status": "archived"})
    _change(memory_id, wish, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


@memory.command("invalidate", epilog=examples(EXAMPLES["invalidate"]))
def invalidate(
    memory_id: Id,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Say that a memory is wrong: it is eligible no more, and its text is not proposed again."""
    from slowwave.flows.memory_edits import Wish
    from slowwave.transforms.memory_edits import INVALIDATE

    wish = Wish(INVALIDATE, lambda _: {"status": "invalid"})
    _change(memory_id, wish, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


@memory.command("pin", epilog=examples(EXAMPLES["pin"]))
def pin(
    memory_id: Id,
    off: Annotated[bool, typer.Option("--off", help="Let it be forgotten again.")] = False,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Keep a memory from ever being planned to be forgotten."""
    from slowwave.flows.memory_edits import Wish
    from slowwave.transforms.memory_edits import PIN

    wish = Wish(PIN, lambda _: {"pinned": not off})
    _change(memory_id, wish, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


@memory.command("tag", epilog=examples(EXAMPLES["tag"]))
def tag(
    memory_id: Id,
    tags: Annotated[list[str] | None, typer.Argument(help="Tags to give it, beside those it has.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="A tag to take from it.", metavar="TAG")] = None,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Give a memory tags, or take some from it."""
    from slowwave.flows.memory_edits import Wish
    from slowwave.transforms.blank import says_nothing
    from slowwave.transforms.memory_edits import TAG, fields_of_tags

    added, removed = tags or [], remove or []
    if not added and not removed:
        message = "name tags to give, or --remove TAG"
        raise typer.BadParameter(message)
    if any(map(says_nothing, [*added, *removed])):
        message = "a tag says something"
        raise typer.BadParameter(message)
    both = sorted({*added} & {*removed})
    if both:
        message = f"{both[0]!r} is both given and removed"
        raise typer.BadParameter(message)
    wish = Wish(TAG, lambda state: fields_of_tags(added, removed, state))
    _change(memory_id, wish, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


@memory.command("undo", epilog=examples(EXAMPLES["undo"]))
def undo(
    memory_id: Id,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Take back the last change that `slowwave memory` made of a memory; said again, the one before it."""
    from slowwave.flows.memory_edits import Wish
    from slowwave.transforms.memory_edits import UNDO

    _change(memory_id, Wish(UNDO), by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


def _change(
    memory_id: str, wish: Wish, *, by: str, reason: str | None, yes: bool, dry_run: bool, output: TextFormat
) -> None:
    """Show what a wish alters, ask, land it, and print what became of it."""
    from slowwave.flows.memory_edits import known_memory, land_edit, planned_edit
    from slowwave.flows.screen import Screen
    from slowwave.flows.terminal import quoted
    from slowwave.transforms.blank import says_nothing

    for name, said in (("--by", by), ("--reason", reason)):
        if said is not None and says_nothing(said):
            message = "say who" if name == "--by" else "say why, or leave it out"
            raise typer.BadParameter(message, param_hint=f"'{name}'")
    previewed = None
    if dry_run or not yes:  # shown and asked before anybody has to wait for the lock
        previewed = planned_edit(known_memory(settings_from_environment(), memory_id), wish)
        if previewed.altered and not dry_run:
            screen = Screen()
            for label, text in [("memory", memory_id), *_lines(previewed)]:
                screen.note(f"{label} {text}" if label else text)
            ask(f"{wish.command.removeprefix('memory ')} {quoted(memory_id)}?")
    if previewed is None or (previewed.altered and not dry_run):
        with writing(wish.command) as (run, _):
            previewed = land_edit(run, previewed, memory_id, wish, by=by, reason=reason)
    _tell(previewed, dry_run=dry_run, output=output)


def _lines(edit: Edit) -> list[tuple[str, str]]:
    """What is now and what will be, a line for each field; a text has one for both."""
    lines: list[tuple[str, str]] = []
    for name, (was, will_be) in edit.altered.items():
        if name == "content":
            lines += [(_label(name), _value(was)), ("", f"→ {_value(will_be)}")]
        else:
            lines.append((_label(name), f"{_value(was)} → {_value(will_be)}"))
    return lines


def _already(edit: Edit) -> str:
    """Since when what was asked for is so, and who said it."""
    from slowwave.flows.check_lines import utc_text

    are = ", ".join(f"{_label(name)} {_value(edit.known.state[name])}" for name in edit.asked)
    by = f", by {edit.said['changed_by']}" if edit.said["changed_by"] else ""
    return f"{are} since {utc_text(edit.said['changed_at'])}{by}"


def _tell(edit: Edit, *, dry_run: bool, output: TextFormat) -> None:
    from slowwave.flows.query_output import json_bytes
    from slowwave.flows.screen import print_lines
    from slowwave.flows.terminal import shortened

    named = edit.known.memory_id
    if output is TextFormat.json:
        told = {"memory_id": named, "command": edit.command, "dry_run": dry_run, "changed": edit.altered}
        sys.stdout.buffer.write(json_bytes(told) + b"\n")
        return
    lines = _lines(edit)
    if not edit.altered:
        lines = [("already so", f"{_already(edit)}; nothing was changed")]
    elif not dry_run:
        lines.append(("seen", "from the next nightly on"))
    title = shortened(named, _SHOWN_TEXT) + (", if it were done" if dry_run and edit.altered else "")
    can_undo = edit.altered and not dry_run and edit.command != "memory undo"
    print_lines(title, lines, _commands(["memory", "undo"], memory_id=named) if can_undo else [])
