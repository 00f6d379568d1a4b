"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

OfProject = Annotated[str | None, typer.Option("--project", help="Only what is of this project.", metavar="PROJECT")]
OfUser = Annotated[str | None, typer.Option("--user", help="Only what is of this user.", metavar="USER_ID")]
OfAgent = Annotated[str | None, typer.Option("--agent", help="Only what is of this agent.", metavar="AGENT")]
WithTag = Annotated[str | None, typer.Option("--tag", help="Only memories that have this tag.", metavar="TAG")]
AsOf = Annotated[
    str | None,
    typer.Option(
        help="What was known before this instant, such as 2026-03-10 (midnight UTC, exclusive).", metavar="TIME"
    ),
]
MaxRefused = Annotated[
    float,
    typer.Option(min=0, max=1, help="Exit 1 when more than this share of the rows, or a file whole, was refused."),
]
