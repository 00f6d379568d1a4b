"""Commands that keep a home safe: a copy of it elsewhere, that copy brought back, and what is wrong with its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slowwave.flows.cli.groups import command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.settings import settings_from_environment


@command("slowwave verify", "slowwave verify /srv/slowwave --repair")
def verify(
    homes: Annotated[list[str] | None, typer.Argument(help="Homes; none: $SLOWWAVE_HOME.", metavar="HOME...")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Move what a night makes again into damaged/, out of its way.")
    ] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Look for files that are damaged, missing, swapped or foreign, and say what mends each; exit 1 when there are any.

    What a night makes again: evidence, states, serving files. What only a backup has: landed rows, decisions.
    """
    from slowwave.flows.backup.verify import run_verify

    run_verify([Path(home) for home in homes or []], settings_from_environment(), repair=repair, output=output)
