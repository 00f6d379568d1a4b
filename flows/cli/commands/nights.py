"""Commands that build: the nightly run, and the evidence of some days."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.flows.cli.commands.options import AsOf, MaxRefused
from slowwave.flows.cli.groups import command
from slowwave.flows.engines.settings import EngineName
from slowwave.flows.kernel.settings import settings_from_environment

Engine = Annotated[
    EngineName | None, typer.Option(help="Where evidence is built: in this process, or on workers of Dask or Ray.")
]
Address = Annotated[
    str | None, typer.Option(help="Of a cluster that runs already, such as tcp://scheduler:8786 or ray://head:10001.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Workers to start on this machine, and to end.")]


@command(
    "slowwave nightly",
    "slowwave nightly --plan",
    "slowwave nightly --as-of 2026-03-10",
    "slowwave nightly --leave-out memories:MEMORY_ID",
    "slowwave nightly --engine dask --workers 2",
)
def nightly(
    as_of: AsOf = None,
    full: Annotated[bool, typer.Option("--full", help="Rebuild every day and compare with what is there.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only say which days would be rebuilt, and why.")] = False,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(help="Publish without this row, at any as-of, until left in again.", metavar="TABLE:KEY"),
    ] = None,
    leave_in: Annotated[
        list[str] | None, typer.Option(help="Count a row again that was left out.", metavar="TABLE:KEY")
    ] = None,
    max_refused: MaxRefused = 0.5,
    engine: Engine = None,
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Land what is new, rebuild the days that changed, audit and publish; first it imports what is connected."""
    where = {"engine": engine, "address": address, "workers": workers}
    if plan and (leave_out or leave_in):
        message = "--plan only looks: decide without it, then look"
        raise typer.BadParameter(message)
    if plan:
        from slowwave.flows.cli.night_plan import run_plan

        run_plan(settings_from_environment(), as_of=as_of, full=full, **where)
    else:
        from slowwave.flows.cli.run import run_nightly

        decided = {"leave_out": leave_out or [], "leave_in": leave_in or []}
        run_nightly(settings_from_environment(), as_of=as_of, full=full, max_refused=max_refused, **decided, **where)


@command("slowwave backfill --from 2026-03-01 --to 2026-03-07")
def backfill(
    first: Annotated[str, typer.Option("--from", help="First UTC day, such as 2026-03-01.", metavar="DAY")],
    last: Annotated[str, typer.Option("--to", help="Last UTC day, included.", metavar="DAY")],
    engine: Engine = None,
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Build the evidence of some days; what is published stays as it is."""
    from slowwave.flows.cli.run import run_backfill

    run_backfill(settings_from_environment(), first, last, engine=engine, address=address, workers=workers)
