"""Commands that give back to the stores that memories came from."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.flows.cli.groups import command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.settings import settings_from_environment


@command(
    "slowwave push claude-memory ~/.claude",
    "slowwave push claude-memory ~/.claude --yes",
    "slowwave push claude-memory ~/.claude --format json",
)
def push(
    store: Annotated[str, typer.Argument(help="claude-memory, alma, mem0, astrocyte or langgraph.", metavar="STORE")],
    paths: Annotated[
        list[str] | None, typer.Argument(help="Where it lies. None: those that are connected.", metavar="PATH…")
    ] = None,
    user: Annotated[
        list[str] | None,
        typer.Option(
            help="A user whose memories may be written too; else only those about nobody are.", metavar="NAME"
        ),
    ] = None,
    undo: Annotated[
        str | None, typer.Option(help="Take back what one push wrote, where nothing changed it since.", metavar="RUN")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it. Without, what would change is shown.")] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Write verdicts back to the store of the memories, with confidence and decisions; without --yes only show it."""
    from slowwave.flows.cli.commands.push import run_push

    run_push(settings_from_environment(), store, paths or [], users=user or [], undo=undo, yes=yes, output=output)
