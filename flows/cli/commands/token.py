"""`slowwave token`: add, list, revoke."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from slowwave.flows.cli.groups import examples, first_examples
from slowwave.flows.cli.shared import Output
from slowwave.flows.kernel.bearer_tokens import Tokens, Use, add_token, revoke_token
from slowwave.flows.kernel.settings import settings_from_environment

EXAMPLES: dict[str, tuple[str, ...]] = {
    "add": ("slowwave token add shop-api --project shop", "slowwave token add helper --use mcp"),
    "list": ("slowwave token list",),
    "revoke": ("slowwave token revoke old-api",),
}

token = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=first_examples(EXAMPLES))


@token.command("add", epilog=examples(EXAMPLES["add"]))
def add(
    name: Annotated[str, typer.Argument(help="Who is to have it, such as the service that posts.", metavar="NAME")],
    project: Annotated[
        str | None, typer.Option(help="What it posts, or reads, is of this project.", metavar="PROJECT")
    ] = None,
    use: Annotated[Use, typer.Option(help="What it opens: `slowwave capture`, or `slowwave mcp`.")] = "capture",
    mapping: Annotated[
        str, typer.Option(help="Read its rows as mappings/NAME.toml of the home says.", metavar="NAME")
    ] = "",
) -> None:
    """Add a token and print it, alone and this once: only what it is recognised by is kept."""
    from slowwave.flows.land.readings import mapping_path

    settings = settings_from_environment()
    if use == "capture" and project is None:
        message = "say of which project its rows are; '' is none"
        raise typer.BadParameter(message, param_hint="'--project'")
    if mapping and (use != "capture" or not mapping_path(settings, mapping).is_file()):
        message = "it names a mapping of this home, for rows that are posted: `slowwave mapping suggest FILE`"
        raise typer.BadParameter(message, param_hint="'--mapping'")
    typer.echo(add_token(settings, name, use, project, mapping))


@token.command("list", epilog=examples(EXAMPLES["list"]))
def list_(output: Output = "text") -> None:
    """List the tokens, revoked ones too, and what each opens."""
    from slowwave.flows.kernel.terminal import terminal_safe

    listed = Tokens(settings_from_environment()).list_tokens()
    if output == "json":
        shown = [{name: value for name, value in asdict(one).items() if name != "digest"} for one in listed]
        typer.echo(json.dumps(shown, indent=2))
        return
    for one in listed:
        of = "any project" if one.project is None else f"project {one.project!r}"
        by = f", mapping {one.mapping}" if one.mapping else ""
        until = f", revoked {one.revoked_at}" if one.revoked_at else ""
        typer.echo(terminal_safe(f"{one.name}: {one.use}, {of}{by}, added {one.added_at}{until}"))
    if not listed:
        sys.stderr.write("slowwave: there are none yet: `slowwave token add NAME --project PROJECT`\n")


@token.command("revoke", epilog=examples(EXAMPLES["revoke"]))
def revoke(name: Annotated[str, typer.Argument(help="Whose token it is.", metavar="NAME")]) -> None:
    """Let a token open nothing any more, from the next request on."""
    settings = settings_from_environment()
    revoke_token(settings, name)
    is_last = all(one.revoked_at for one in Tokens(settings).list_tokens())
    after = "; no valid token is left, and each request still needs one" if is_last else ""
    typer.echo(f"{name} opens nothing any more{after}")
