"""Commands that show publishes, compare them, and give results back to the stores that memories came from."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from slowwave.flows.cli.groups import OfAgent, OfUser, WithTag, command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.settings import settings_from_environment


@command("slowwave report", "slowwave report --run previous --to before.html", "slowwave report --format md")
def report(
    run: Annotated[str, typer.Option(help="A run id or the start of one, `current` or `previous`.")] = "current",
    to: Annotated[
        str | None, typer.Option(help="Another file than reports/<run>.html; - is standard output.", metavar="FILE")
    ] = None,
    form: Annotated[
        Literal["html", "md", "slack", "png"],
        typer.Option("--format", help="The page, or its six answers: Markdown, a Slack message (JSON), a picture."),
    ] = "html",
    user: OfUser = None,
    agent: OfAgent = None,
    tag: WithTag = None,
) -> None:
    """Write the morning report of a publish, one HTML page that needs no network, and print where it is."""
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.ask.report import run_report

    run_report(settings_from_environment(), run, to, Narrowed(user, agent, tag), form)


@command("slowwave dashboard", "slowwave dashboard --port 8600", "slowwave dashboard --allow-decisions")
def dashboard(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    allow_decisions: Annotated[
        bool,
        typer.Option(
            "--allow-decisions",
            help="Let whoever has its address promote, reject, merge, hold, archive, restore and edit on its pages.",
        ),
    ] = False,
    user: OfUser = None,
    agent: OfAgent = None,
    tag: WithTag = None,
) -> None:
    """Show memory health as pages in the browser, on this machine alone, until stopped.

    The pages are read-only, unless --allow-decisions is given.
    """
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.cli.dashboard import run_dashboard

    narrowed = Narrowed(user, agent, tag)
    if allow_decisions and narrowed:
        message = "a decision may change memories that --user, --agent or --tag do not show: leave them out"
        raise typer.BadParameter(message, param_hint="'--allow-decisions'")
    run_dashboard(
        settings_from_environment(),
        port=port,
        open_browser=open_browser,
        narrowed=narrowed,
        allow_decisions=allow_decisions,
    )


@command(
    "slowwave inspect export",
    "slowwave inspect export memory_health heuristics --format csv --to tables",
    within="inspect",
)
def export(
    tables: Annotated[list[str] | None, typer.Argument(help="Published tables. None: all.")] = None,
    output: Annotated[Literal["parquet", "csv"], typer.Option("--format", help="What is written.")] = "parquet",
    to: Annotated[str, typer.Option(help="The folder.", metavar="FOLDER")] = "export",
    run: Annotated[str, typer.Option(help="A run id or the start of one, `current` or `previous`.")] = "current",
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write published tables as Parquet or CSV files, one each, for other tools."""
    from slowwave.flows.ask.export import run_export

    run_export(settings_from_environment(), tables or [], output=output, to=to, run=run, force=force)


@command("slowwave publish-to published", "slowwave publish-to published --run previous")
def publish_to(
    url: Annotated[
        str | None,
        typer.Argument(
            help="postgresql://USER@HOST/DATABASE, a folder or s3://BUCKET/PREFIX. None: as settings.toml says.",
            metavar="URL",
        ),
    ] = None,
    schema: Annotated[str, typer.Option(help="Of a database: the schema that holds the tables.")] = "slowwave",
    password_file: Annotated[
        str | None, typer.Option(help="A file that holds the password, closed to other users.", metavar="FILE")
    ] = None,
    run: Annotated[str, typer.Option(help="A run id or the start of one, `current` or `previous`.")] = "current",
) -> None:
    """Copy a publish to Postgres, or as Parquet to a folder or bucket; readers see one run at a time.

    A password is read from $SLOWWAVE_PUBLISH_PASSWORD, ~/.pgpass or --password-file, and refused in the URL.
    """
    from slowwave.flows.publish_to.run import run_publish_to

    run_publish_to(settings_from_environment(), url, schema=schema, password_file=password_file, run=run)


@command(
    "slowwave inspect diff",
    "slowwave inspect diff previous current --table memory_health --limit 20 --format json",
    within="inspect",
)
def diff(
    run: Annotated[str, typer.Argument(help="A run id or the start of one, `current` or `previous`.")] = "previous",
    other: Annotated[str, typer.Argument(help="The run to compare it with.")] = "current",
    table: Annotated[
        list[str] | None, typer.Option(help="Only this published table; as often as wanted.", metavar="TABLE")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows shown of each kind of change in each table.")] = 5,
    show_all: Annotated[
        bool, typer.Option("--all", help="Also rows of which nothing changed but how often a memory was eligible.")
    ] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Say what changed between two publishes: how many rows of each table, which, and in what."""
    from slowwave.flows.ask.diff import DiffOptions, run_diff

    run_diff(settings_from_environment(), run, other, DiffOptions(table or [], limit, show_all), output=output)


@command("slowwave inspect methods", "slowwave inspect methods --format json", within="inspect")
def methods(
    output: Annotated[
        Literal["table", "csv", "json"], typer.Option("--format", help="How they are printed.")
    ] = "table",
) -> None:
    """List the methods with their versions: which are in use, what each computes, what changed and why."""
    from slowwave.flows.cli.compare import run_methods

    run_methods(settings_from_environment(), output=output)


@command(
    "slowwave inspect compare eligible/2 eligible/3",
    "slowwave inspect compare eligible/2 eligible/3 --as-of 2026-03-10 --format json",
    within="inspect",
)
def compare(
    old: Annotated[
        str, typer.Argument(help="A version of a method, such as eligible/2 (see `slowwave inspect methods`).")
    ],
    new: Annotated[str, typer.Argument(help="The version to compare it with, such as eligible/3.")],
    project: Annotated[str | None, typer.Option(help="Only what is of this project.", metavar="PROJECT")] = None,
    as_of: Annotated[
        str | None, typer.Option(help="What was known before this instant. Default: as current.", metavar="TIME")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Rows shown of each kind of change in each table.")] = 3,
    output: Annotated[Literal["table", "csv", "json"], typer.Option("--format", help="How it is printed.")] = "table",
) -> None:
    """Compute all tables with two versions of a method, and say which rows come, go and change; publishes nothing."""
    from slowwave.flows.cli.compare import run_compare

    run_compare(settings_from_environment(), old, new, as_of=as_of, project=project, examples=examples, output=output)


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
