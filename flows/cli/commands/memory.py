"""`slowwave memory`: show, edit, archive, invalidate, pin, tag, undo."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from slowwave.flows.cli.groups import examples, first_examples
from slowwave.flows.cli.shared import Decision, Output, ask, deciding, writing
from slowwave.flows.kernel.declared_columns import CLEARABLE, EDITS, EditOption
from slowwave.flows.kernel.settings import settings_from_environment

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave.flows.decide.memory_edits import EditRequest


# The options of `slowwave memory edit`: one for each field of a memory that is declared to be edited.

_TYPES = {"text": str, "time": str, "number": float}


def with_edit_options(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command take an option for each field, and `--clear`.

    `function` is given them by their columns' names, after its first argument, and as `clear` the names of those to
    clear.
    """
    own = inspect.signature(function, eval_str=True).parameters
    first, *others = (one for one in own.values() if one.kind != one.VAR_KEYWORD and one.name != "clear")
    options = [_parameter(name, _annotation(of), None) for name, of in EDITS.items()]
    said = "A field it shall be without."
    options.append(_parameter("clear", Annotated[list[_clearable()], typer.Option(help=said)], ()))

    def command(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        function(**{**given, "clear": [each.value for each in given["clear"]]})

    command.__doc__ = function.__doc__
    vars(command)["__signature__"] = inspect.Signature([first, *options, *others])
    return command


def _parameter(name: str, annotation: Any, default: object) -> inspect.Parameter:  # noqa: ANN401 - an annotation
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(of: EditOption) -> Any:  # noqa: ANN401 - an annotation
    taken: Any = Literal[of.choices] if of.choices else _TYPES[of.kind]
    option = typer.Option(of.option, help=of.help, metavar=of.metavar, min=of.low, max=of.high)
    return Annotated[taken | None, option]


def _clearable() -> Any:  # noqa: ANN401 - a type; typer takes no list of Literal
    return Enum("Clearable", {name: name for name in CLEARABLE}, type=str)


EXAMPLES: dict[str, tuple[str, ...]] = {
    "show": ("slowwave memory show MEMORY_ID", "slowwave memory show MEMORY_ID --format json"),
    "edit": (
        "slowwave memory edit MEMORY_ID --content 'Deploys run from main.' --reason 'the branch was renamed'",
        "slowwave memory edit MEMORY_ID --confidence 0.8 --project '' --dry-run",
        "slowwave memory edit MEMORY_ID --user ada --clear scope --yes",
        "slowwave memory edit MEMORY_ID --expires-at 2026-07-01 --yes",
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

memory = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=first_examples(EXAMPLES),
)


Id = Annotated[str, typer.Argument(help="The memory's whole id.", metavar="MEMORY_ID")]


@memory.command("show", epilog=examples(EXAMPLES["show"]))
def show(
    memory_id: Id,
    output: Output = "text",
    limit: Annotated[int, typer.Option(min=1, help="Changes shown, newest first; json lists all.")] = 5,
) -> None:
    """Show what a memory says now, by the log as it has landed, who changed what, and what can be taken back."""
    from slowwave.flows.ask.cells import json_bytes
    from slowwave.flows.cli.commands.edit_lines import known_memory_fields, print_known_memory
    from slowwave.flows.decide.memory_edits import known_memory

    known = known_memory(settings_from_environment(), memory_id)
    if output == "json":
        sys.stdout.buffer.write(json_bytes(known_memory_fields(known)) + b"\n")
    else:
        print_known_memory(known, limit)


@memory.command("edit", epilog=examples(EXAMPLES["edit"]))
@deciding
@with_edit_options
def edit(
    memory_id: Id,
    *,
    clear: list[str],
    decision: Decision,
    **fields: str | float | None,
) -> None:
    """Change what a memory says; what is not named stays as it is."""
    from slowwave.flows.decide.memory_edits import EditRequest
    from slowwave.transforms.core.blank import says_nothing
    from slowwave.transforms.decisions.memory_edits import EDIT, fields_of_status

    named = {name: value for name, value in fields.items() if value is not None}
    status = named.pop("status", None)
    if named.get("content") == "-":
        named["content"] = _from_standard_input()
    if "content" in named and says_nothing(str(named["content"])):
        message = "a memory says something: `slowwave memory archive` puts it away"
        raise typer.BadParameter(message, param_hint="'--content'")
    given = {name: _given_value(name, value) for name, value in named.items()}
    if given.keys() & clear:
        message = f"{min(given.keys() & clear)} is both given and cleared"
        raise typer.BadParameter(message)
    if not given and not clear and status is None:
        message = "say what to change, such as --content: `slowwave memory edit --help` lists all that can be"
        raise typer.BadParameter(message)
    said = {**given, **dict.fromkeys(clear)}
    wish = EditRequest(EDIT, lambda state: {**said, **(fields_of_status(str(status), state) if status else {})})
    _change(memory_id, wish, decision)


def _given_value(name: str, value: str | float) -> str | float | datetime | None:
    """Return what an option says of a field, as rows that land say it."""
    from slowwave.transforms.core.blank import says_nothing

    if isinstance(value, str) and EDITS[name].kind == "time":
        return _time_or_none(name, value)
    # what says nothing is none, as in rows that land: a user called " " would be nobody, and the memory nobody's
    return "" if isinstance(value, str) and says_nothing(value) else value


def _time_or_none(name: str, text: str) -> datetime | None:
    """A time as rows that land may state it; None where the text says nothing."""
    from slowwave.transforms.core.schema import columns
    from slowwave.transforms.landing.coerce import coerce_column
    from slowwave.transforms.landing.tables import Memories

    (column,) = (each for each in columns(Memories) if each.name == name)
    times, reasons = coerce_column(column, [text])
    for reason in reasons.values():
        raise typer.BadParameter(reason, param_hint=f"'{EDITS[name].option}'")
    return times[0]


def _from_standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        message = f"standard input is not UTF-8 ({error.reason} at byte {error.start})"
        raise typer.BadParameter(message, param_hint="'--content'") from error


@memory.command("archive", epilog=examples(EXAMPLES["archive"]))
@deciding
def archive(
    memory_id: Id,
    *,
    decision: Decision,
) -> None:
    """Put a memory away, as `forget apply` does: it is eligible no more. What is on hold is refused."""
    from slowwave.flows.decide.memory_edits import EditRequest
    from slowwave.transforms.decisions.memory_edits import ARCHIVE

    wish = EditRequest(ARCHIVE, lambda _: {"status": "archived"})
    _change(memory_id, wish, decision)


@memory.command("invalidate", epilog=examples(EXAMPLES["invalidate"]))
@deciding
def invalidate(
    memory_id: Id,
    *,
    decision: Decision,
) -> None:
    """Say that a memory is wrong: it is eligible no more, and its text is not proposed again."""
    from slowwave.flows.decide.memory_edits import EditRequest
    from slowwave.transforms.decisions.memory_edits import INVALIDATE

    wish = EditRequest(INVALIDATE, lambda _: {"status": "invalid"})
    _change(memory_id, wish, decision)


@memory.command("pin", epilog=examples(EXAMPLES["pin"]))
@deciding
def pin(
    memory_id: Id,
    off: Annotated[bool, typer.Option("--off", help="Let it be forgotten again.")] = False,
    *,
    decision: Decision,
) -> None:
    """Keep a memory from ever being planned to be forgotten."""
    from slowwave.flows.decide.memory_edits import EditRequest
    from slowwave.transforms.decisions.memory_edits import PIN

    wish = EditRequest(PIN, lambda _: {"pinned": not off})
    _change(memory_id, wish, decision)


@memory.command("tag", epilog=examples(EXAMPLES["tag"]))
@deciding
def tag(
    memory_id: Id,
    tags: Annotated[list[str] | None, typer.Argument(help="Tags to give it, beside those it has.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="A tag to take from it.", metavar="TAG")] = None,
    *,
    decision: Decision,
) -> None:
    """Give a memory tags, or take some from it."""
    from slowwave.flows.decide.memory_edits import EditRequest
    from slowwave.transforms.core.blank import says_nothing
    from slowwave.transforms.decisions.memory_edits import TAG, fields_of_tags

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
    wish = EditRequest(TAG, lambda state: fields_of_tags(added, removed, state))
    _change(memory_id, wish, decision)


@memory.command("undo", epilog=examples(EXAMPLES["undo"]))
@deciding
def undo(
    memory_id: Id,
    *,
    decision: Decision,
) -> None:
    """Take back the last change that `slowwave memory` made of a memory; said again, the one before it."""
    from slowwave.flows.decide.memory_edits import EditRequest
    from slowwave.transforms.decisions.memory_edits import UNDO

    _change(memory_id, EditRequest(UNDO), decision)


def _change(memory_id: str, wish: EditRequest, decision: Decision) -> None:
    """Show what a wish alters, ask, land it, and print what became of it."""
    from slowwave.flows.cli.commands.edit_lines import edit_lines, print_edit
    from slowwave.flows.decide.memory_edits import known_memory, land_edit, planned_edit
    from slowwave.flows.kernel.progress import Screen
    from slowwave.flows.kernel.terminal import quote_shortened

    previewed, expect = None, decision.expect
    if decision.dry_run or not decision.yes:  # shown and asked before anybody has to wait for the lock
        previewed = planned_edit(known_memory(settings_from_environment(), memory_id), wish, expect)
        expect = previewed.expect
        if previewed.altered and not decision.dry_run:
            screen = Screen()
            for label, text in [("memory", memory_id), *edit_lines(previewed)]:
                screen.note(f"{label} {text}" if label else text)
            ask(f"{wish.command.removeprefix('memory ')} {quote_shortened(memory_id)}?")
    if previewed is None or (previewed.altered and not decision.dry_run):
        with writing(wish.command, decision.wait) as (run, _):
            previewed = land_edit(run, memory_id, wish, by=decision.by, reason=decision.reason, expect=expect)
    print_edit(previewed, dry_run=decision.dry_run, as_json=decision.output == "json")
