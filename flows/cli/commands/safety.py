"""Commands that keep a home safe: a copy of it elsewhere, that copy brought back, and what is wrong with its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slowwave.flows.cli.groups import command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.settings import settings_from_environment


@command("slowwave verify", "slowwave verify again --repair")
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


@command("slowwave backup backups", "slowwave backup backups --keep 30", "slowwave backup backups --list")
def backup(
    target: Annotated[str, typer.Argument(help="A folder outside of the home, or s3://BUCKET/PREFIX.")],
    list_: Annotated[bool, typer.Option("--list", help="List the backups there; make none.")] = False,
    keep: Annotated[int | None, typer.Option(min=1, help="Then remove all but so many of the newest.")] = None,
    recipients: Annotated[
        list[str] | None, typer.Option("--age", help="Seal it for this public age key.", metavar="age1...")
    ] = None,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Copy lake, settings, tokens, inbox and what is published to another place, also while a night runs.

    Only what is new is copied. A backup is whole or none: after one that was killed, the next goes on with its files.
    """
    from slowwave.flows.backup.backup import list_backups, run_backup

    settings = settings_from_environment()
    if list_:
        list_backups(settings, target, output=output)
    else:
        run_backup(settings, target, keep=keep, recipients=recipients or [], output=output)


@command("slowwave restore backups --to again", "slowwave restore backups --backup latest --to another")
def restore(
    target: Annotated[str, typer.Argument(help="Where backups are: a folder or s3://BUCKET/PREFIX.")],
    backup_id: Annotated[
        str, typer.Option("--backup", help="Which one: its id, or the beginning of it.", metavar="ID")
    ] = "latest",
    to: Annotated[
        str | None, typer.Option(help="An empty folder for the home; without it, $SLOWWAVE_HOME.", metavar="HOME")
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="The file of the secret age key that opens a sealed backup.", metavar="FILE")
    ] = None,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Bring a backup back into an empty home, each file checked; what was erased since does not come back.

    Killed, the same command goes on. The next nightly changes no value.
    """
    from slowwave.flows.backup.restore import run_restore

    settings = settings_from_environment()
    run_restore(settings, target, backup=backup_id, to=to, identity=identity, output=output)
