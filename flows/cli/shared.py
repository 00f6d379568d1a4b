"""What commands that change things share: the lock, the question, and what became of it all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import typer

from slowwave.flows.errors import UserError
from slowwave.flows.settings import settings_from_environment

if TYPE_CHECKING:
    from slowwave.flows.run import Run
    from slowwave.flows.screen import Lines, Screen

_WAIT_SECONDS = 600
_SHOWN = 10


class RowFormat(StrEnum):
    """How rows are printed."""

    table = "table"
    csv = "csv"
    json = "json"


class Changed(Protocol):
    """What became of the things a command was about; `skipped` and `refused` (a wrong clock) say why."""

    already: int
    skipped: list[tuple[str, str]]
    refused: list[tuple[str, str]]


@contextmanager
def writing(command: str) -> Iterator[tuple[Run, Screen]]:
    """A run that holds the writer lock, and the screen that watches it.

    Raises UserError where nothing was ever landed.
    """
    from pathlib import Path

    from slowwave.flows.lock import writer_lock
    from slowwave.flows.run import start_run
    from slowwave.flows.screen import Screen, this_command

    settings = settings_from_environment()
    if not Path(settings.lake).is_dir():
        message = f"nothing has been landed in {settings.home} yet: run `{this_command()} land PATH` first"
        raise UserError(message)
    with Screen() as screen, writer_lock(settings, command, wait_seconds=_WAIT_SECONDS, waiting=screen.note):
        yield start_run(settings, "backfill", screen.progress), screen


def ask(question: str) -> None:
    """Raises typer.Abort when the answer is no, UserError when nobody is there to answer."""
    import sys

    if not sys.stdin.isatty():
        message = f"{question} There is nobody to ask: add --yes (nothing was changed)"
        raise UserError(message)
    typer.confirm(question, abort=True, err=True)


def tell(outcome: Changed, lines: Lines, commands: list[str], things: tuple[str, str] = ("memory", "memories")) -> None:
    """Print what became of the things. Raises typer.Exit with code 1 when the clock kept one from changing."""
    from slowwave.flows.screen import print_lines
    from slowwave.flows.terminal import counted

    if outcome.already:
        lines.append(("already so", counted(outcome.already, *things)))
    for label, kept in (("skipped", outcome.skipped), ("refused", outcome.refused)):
        if kept:
            lines.append((label, counted(len(kept), *things)))
            lines += [("", f"{thing}: {why}") for thing, why in kept[:_SHOWN]]
            lines += [("", f"and {len(kept) - _SHOWN:,} more")] if len(kept) > _SHOWN else []
    print_lines("", lines, commands)
    if outcome.refused:
        raise typer.Exit(1)
