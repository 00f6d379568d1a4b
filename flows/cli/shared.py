"""What commands that change things share: the lock, the question, and what became of it all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import typer

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import settings_from_environment

if TYPE_CHECKING:
    from slowwave.flows.kernel.progress import Lines, Screen
    from slowwave.flows.publish.run import Run

WAIT_SECONDS = 600.0
_SHOWN = 10

RowFormat = Literal["table", "csv", "json"]
TextFormat = Literal["text", "json"]
Output = Annotated[TextFormat, typer.Option("--format", help="How the answer is printed.")]
Expect = Annotated[
    str | None,
    typer.Option(
        help="Refuse what is not as it was shown: the `expect` that --dry-run --format json printed.", metavar="EXPECT"
    ),
]
Wait = Annotated[float, typer.Option(min=0, help="Wait so long for another writer.", metavar="SECONDS")]


@dataclass(frozen=True)
class Decision:
    """Who decides, why, and how it is asked and answered: the options of every command that decides on memories."""

    reason: Annotated[str | None, typer.Option(help="Why; kept with the decision.", metavar="TEXT")] = None
    by: Annotated[str, typer.Option(help="Who says so; kept with the decision.", metavar="NAME")] = "person"
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. One item of the review queue never is.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change; land nothing.")] = False
    output: Output = "text"
    expect: Expect = None
    wait: Wait = WAIT_SECONDS

    def check(self) -> None:
        """Raises typer.BadParameter where who or why is blank."""
        check_said(by=self.by, reason=self.reason)


def check_said(*, by: str | None = None, reason: str | None = None, todo: str = "say why, or leave it out") -> None:
    """Raises typer.BadParameter where who or why is given and blank; `todo` is what to do about the latter."""
    from slowwave.transforms.core.blank import says_nothing

    for name, said, what in (("--by", by, "say who"), ("--reason", reason, todo)):
        if said is not None and says_nothing(said):
            raise typer.BadParameter(what, param_hint=f"'{name}'")


def deciding(function: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of `Decision`, which it takes as its last argument, `decision`."""

    @wraps(function)
    def command(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        decision = Decision(**{field.name: given.pop(field.name) for field in fields(Decision)})
        decision.check()
        function(**given, decision=decision)

    own = inspect.signature(function, eval_str=True)
    options = inspect.signature(Decision, eval_str=True).parameters.values()
    parameters = [*(one for one in own.parameters.values() if one.name != "decision"), *options]
    vars(command)["__signature__"] = own.replace(parameters=[one.replace(kind=one.KEYWORD_ONLY) for one in parameters])
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


class Changed(Protocol):
    """What became of the things a command was about; `skipped` and `refused` (a wrong clock) say why.

    `expect`: what to expect of them next.
    """

    already: int
    expect: str
    skipped: list[tuple[str, str]]
    refused: list[tuple[str, str]]


@contextmanager
def writing(command: str, wait: float = WAIT_SECONDS) -> Iterator[tuple[Run, Screen]]:
    """A run that holds the writer lock, and the screen that watches it.

    Raises UserError where nothing was ever landed, or another writer holds the lock for longer than `wait` seconds.
    """
    from slowwave.flows.kernel.lock import writer_lock
    from slowwave.flows.kernel.progress import Screen, this_command
    from slowwave.flows.kernel.storage.storage import storage_of
    from slowwave.flows.publish.run import start_run

    settings = settings_from_environment()
    if not storage_of(settings.lake_folder).is_folder(settings.lake_folder):
        message = f"nothing has been landed in {settings.home} yet: run `{this_command()} land PATH` first"
        raise UserError(message)
    with Screen() as screen, writer_lock(settings, command, wait_seconds=wait, waiting=screen.note):
        yield start_run(settings, "backfill", screen.progress), screen


def ask(question: str) -> None:
    """Raises typer.Abort when the answer is no, UserError when nobody is there to answer."""
    import sys

    if not sys.stdin.isatty():
        message = f"{question} There is nobody to ask: add --yes (nothing was changed)"
        raise UserError(message)
    typer.confirm(question, abort=True, err=True)


def print_outcome(
    outcome: Changed, lines: Lines, commands: list[str], things: tuple[str, str] = ("memory", "memories")
) -> None:
    """Print what became of the things. Raises typer.Exit with code 1 when the clock kept one from changing."""
    from slowwave.flows.kernel.progress import print_lines
    from slowwave.flows.kernel.terminal import format_count

    if outcome.already:
        lines.append(("already so", format_count(outcome.already, *things)))
    for label, kept in (("skipped", outcome.skipped), ("refused", outcome.refused)):
        if kept:
            lines.append((label, format_count(len(kept), *things)))
            lines += [("", f"{thing}: {why}") for thing, why in kept[:_SHOWN]]
            lines += [("", f"and {len(kept) - _SHOWN:,} more")] if len(kept) > _SHOWN else []
    print_lines("", lines, commands)
    if outcome.refused:
        raise typer.Exit(1)


def print_json(outcome: Changed, thing: str, **told: Any) -> None:  # noqa: ANN401 - whatever JSON can say
    """Print what became of the things, called `thing` there, for programs.

    Raises typer.Exit with code 1 when the clock kept one from changing.
    """
    import sys

    from slowwave.flows.ask.cells import json_bytes

    for name, kept in (("skipped", outcome.skipped), ("refused", outcome.refused)):
        told[name] = [{thing: named, "reason": why} for named, why in kept]
    told |= {"already": outcome.already, "expect": outcome.expect}
    sys.stdout.buffer.write(json_bytes(told) + b"\n")
    if outcome.refused:
        raise typer.Exit(1)
