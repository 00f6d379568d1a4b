"""Commands that ask, or let agents ask: tables, ids, how tables are made, or a language model about new memories."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from slowwave.flows.cli.groups import AsOf, OfAgent, OfProject, OfUser, WithTag, command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.settings import settings_from_environment


@command(
    "slowwave sql --list",
    'slowwave sql "SELECT memory_id, echoed_count FROM memory_health ORDER BY echoed_count DESC LIMIT 5"',
    'slowwave sql "SELECT count(*) AS rows FROM interactions" --format json',
    'slowwave sql --with teams=teams.csv "SELECT team, memory_id FROM memory_health JOIN teams USING (project)"',
    "slowwave sql verdicts --format xlsx --out verdicts.xlsx",
)
def sql(
    query: Annotated[
        str | None, typer.Argument(help="SQL, a cookbook name (see --list), or - for standard input.")
    ] = None,
    output: Annotated[
        Literal["table", "csv", "json", "md", "parquet", "xlsx"],
        typer.Option("--format", help="How the result is printed; md is a GitHub table."),
    ] = "table",
    to: Annotated[str | None, typer.Option("--out", help="A file in place of standard output.", metavar="FILE")] = None,
    as_of: AsOf = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the cookbook's queries.")] = False,
    param: Annotated[
        list[str] | None, typer.Option(help="A query's $name, as name=value.", metavar="NAME=VALUE")
    ] = None,
    own: Annotated[
        list[str] | None,
        typer.Option("--with", help="Your CSV, Parquet or JSON lines as a table, for this query.", metavar="NAME=FILE"),
    ] = None,
    user: OfUser = None,
    agent: OfAgent = None,
    tag: WithTag = None,
) -> None:
    """Answer SQL over the published tables and the landed ones: interactions, outcomes, memories and their *_log."""
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.ask.sql import run_sql

    run_sql(
        settings_from_environment(),
        query,
        output=output,
        to=to,
        as_of=as_of,
        show_list=show_list,
        params=param or [],
        own=own or [],
        narrowed=Narrowed(user, agent, tag),
    )


@command(
    "slowwave why MEMORY_ID",
    "slowwave why MEMORY_ID --all",
    "slowwave why MEMORY_ID --format json",
    "slowwave why memory:MEMORY_ID",
    'slowwave why "patch the symptom and rerun" --task-type bugfix',
)
def why(
    id: Annotated[str, typer.Argument(help="Of a memory, interaction, strategy, run … or KIND:ID.")],  # noqa: A002 - the argument's name in the help
    is_all: Annotated[bool, typer.Option("--all", help="Every count, with the interactions behind it.")] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="json lists every interaction of every count.")] = (
        "text"
    ),
    limit: Annotated[
        int | None, typer.Option(min=1, help="With --all, interactions shown per count, newest first. None: 5.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Of a strategy: where it was tried in this project.")] = None,
    agent: Annotated[str | None, typer.Option(help="Of a strategy: where this agent tried it.")] = None,
    task_type: Annotated[str | None, typer.Option(help="Of a strategy: at this kind of task.")] = None,
) -> None:
    """Explain a memory, strategy or run on one screen, with the strongest evidence; or what an interaction used."""
    from slowwave.flows.ask.why.why import run_why

    asked = {"project": project, "agent": agent, "task_type": task_type}
    case = {name: value for name, value in asked.items() if value is not None}
    run_why(settings_from_environment(), id, output=output, is_all=is_all, limit=limit, case=case)


@command("slowwave mcp", "slowwave mcp --project shop --user USER_ID", "slowwave mcp --http 8610")
def mcp(
    project: OfProject = None,
    user: OfUser = None,
    agent: OfAgent = None,
    http: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Over HTTP on this port of this machine (0: any free one), for who has a token."
        ),
    ] = None,
) -> None:
    """Let agents ask over the Model Context Protocol: read-only, what is published, as far as these limits go."""
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.mcp.serve import run_mcp

    run_mcp(settings_from_environment(), Narrowed(user, agent, project=project), http)


@command(
    "slowwave inspect schema",
    "slowwave inspect schema interactions",
    "slowwave inspect schema memory_health --format markdown",
    "slowwave inspect schema --views --output lake.sql",
    within="inspect",
)
def schema(
    table: Annotated[str | None, typer.Argument(help="A table. None: list them.")] = None,
    output: Annotated[
        Literal["json", "markdown", "sql"], typer.Option("--format", help="JSON Schema, Markdown or DuckDB DDL.")
    ] = "json",
    views: Annotated[
        bool, typer.Option("--views", help="SQL with which DuckDB alone reads the lake: landed rows and evidence.")
    ] = False,
    lake: Annotated[
        str | None, typer.Option(help="With --views: another lake than the home's.", metavar="PATH")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--output", help="With --views: a file in place of standard output.", metavar="FILE")
    ] = None,
) -> None:
    """Print a table's declaration: what producers may send, or what is published."""
    from slowwave.flows.cli.schema import run_schema, run_views

    if views and table is not None:
        message = "--views makes a view of every table of the lake: name none"
        raise typer.BadParameter(message)
    if not views and (lake is not None or to is not None):
        message = "--lake and --output belong to --views"
        raise typer.BadParameter(message)
    if views:
        run_views(settings_from_environment().lake if lake is None else lake, to)
    else:
        run_schema(table, output=output)


@command(
    "slowwave inspect lineage",
    "slowwave inspect lineage memory_health",
    "slowwave inspect lineage heuristics --format mermaid",
    "slowwave inspect lineage --rooms",
    within="inspect",
)
def lineage(
    table: Annotated[
        str | None, typer.Argument(help="A table. None: all, each with the tables it is made from.")
    ] = None,
    output: Annotated[
        Literal["text", "json", "mermaid", "html"],
        typer.Option("--format", help="Text, JSON, a Mermaid diagram or a page."),
    ] = "text",
    rooms: Annotated[bool, typer.Option("--rooms", help="Rooms of tables instead of tables.")] = False,
) -> None:
    """Show what a table is made from, by which methods, down to landed columns, and how many rows it last had."""
    from slowwave.flows.ask.lineage import run_lineage

    run_lineage(settings_from_environment(), table, output=output, rooms=rooms)
