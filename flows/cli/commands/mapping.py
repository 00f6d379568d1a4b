"""`slowwave mapping`: suggest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from slowwave.flows.cli.groups import examples, first_examples
from slowwave.flows.kernel.settings import settings_from_environment

EXAMPLES: dict[str, tuple[str, ...]] = {
    "suggest": (
        "slowwave mapping suggest app.jsonl",
        "slowwave mapping suggest app.jsonl --name app --match 'app-*.jsonl'",
    ),
}

mapping = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=first_examples(EXAMPLES))


@mapping.callback()
def _group() -> None:
    """One command alone would be the group itself to typer."""


@mapping.command("suggest", epilog=examples(EXAMPLES["suggest"]))
def suggest(
    file: Annotated[str, typer.Argument(help="A file of the producer.", metavar="FILE")],
    name: Annotated[
        str | None, typer.Option(help="Write it as mappings/NAME.toml of the home. Default: print it.", metavar="NAME")
    ] = None,
    match: Annotated[
        str, typer.Option(help="Names of files in the inbox that it is for, every night.", metavar="PATTERN")
    ] = "",
) -> None:
    """Write the mapping that a file's fields call for."""
    from slowwave.flows.kernel.errors import UserError
    from slowwave.flows.kernel.progress import print_lines, this_command
    from slowwave.flows.kernel.terminal import quote_shortened
    from slowwave.flows.land.inbox import path_deliveries
    from slowwave.flows.land.land import Landing
    from slowwave.flows.land.readings import mapping_path
    from slowwave.transforms.landing.mapping.resemblance import likenesses, suggested_mapping

    settings = settings_from_environment()
    path = mapping_path(settings, name) if name is not None else None
    if path is not None and path.exists():
        message = f"{path} is there already: choose another --name, or edit it and raise its version"
        raise UserError(message)
    report = Landing(None, "", longest_row=settings.longest_row).land(path_deliveries([file]))
    if report.unreadable:
        raise UserError("\n".join(report.unreadable))
    alike = likenesses(report.unknown)
    if not alike:
        message = (
            f"no field of {quote_shortened(file)} is like one of the contract that its rows lack: there "
            "is nothing to map"
        )
        raise UserError(message)
    text = suggested_mapping(report.unknown, alike, match)
    if path is None:
        sys.stdout.write(text)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    commands = [f"{this_command()} land {Path(file)} --mapping {name} --dry-run"]
    print_lines("", [("mapping", str(path))], commands)
