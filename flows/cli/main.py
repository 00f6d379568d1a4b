"""The `slowwave` command. Each command is made, and imports what it needs, when it is asked for."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any, Literal

import typer

from slowwave.flows.cli.groups import Commands, command, group
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.doors import home_doors
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings, settings_from_environment
from slowwave.transforms.core.vocabularies import LandedTable

app = typer.Typer(
    name="slowwave",
    cls=Commands,
    help="The night shift for AI agents' memory: replays interaction logs and says what each memory is worth.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Home: $SLOWWAVE_HOME, or data/ in the working directory. Results go to stdout, all else to stderr.",
)
group(
    "forget",
    "slowwave.flows.cli.forget",
    "Archive memories that are no longer needed, and bring them back; interactions are never deleted.",
)
group(
    "mapping",
    "slowwave.flows.cli.mapping",
    "Say under which names a producer has the fields of the contract, so that its logs land as they are.",
)
group(
    "memory",
    "slowwave.flows.cli.memory.memory",
    "Show, edit, archive, invalidate, pin or tag one memory: a preview first, and an undo after.",
)
group(
    "review",
    "slowwave.flows.cli.review",
    "Settle what waits for a person's word: candidates, contradictions, merges, and memories that are outdated, "
    "harmful, doubtful, fading or unused.",
)

# What `slowwave.flows.imports.sources` has, which takes long to load.
IMPORTED = "codex, claude-code, pi, otlp, langfuse, claude-memory, alma, mem0, astrocyte, langgraph or atocore"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("slowwave demo",),
    "land": (
        "slowwave land runs.jsonl memories.csv",
        "slowwave land 'logs/*.jsonl.gz' --dry-run",
        "cat runs.jsonl | slowwave land -",
        "slowwave land app.jsonl --map prompt=question --map response=completion --dry-run",
        "slowwave land --retry-quarantine",
    ),
    "import": (
        "slowwave import claude-code ~/.claude/projects --dry-run",
        "slowwave import pi sessions --since 2026-03-01",
        "slowwave import alma .alma/alma.db",
        "slowwave import claude-memory ~/.claude --dry-run",
    ),
    "connect": (
        "slowwave connect",
        "slowwave connect alma .alma/alma.db --yes",
    ),
    "nightly": (
        "slowwave nightly",
        "slowwave nightly --plan",
        "slowwave nightly --as-of 2026-03-10",
        "slowwave nightly --leave-out memories:MEMORY_ID",
    ),
    "backfill": ("slowwave backfill --from 2026-03-01 --to 2026-03-07",),
    "sql": (
        "slowwave sql --list",
        'slowwave sql "SELECT memory_id, echoed_count FROM memory_health ORDER BY echoed_count DESC LIMIT 5"',
        'slowwave sql "SELECT count(*) AS rows FROM interactions" --format json',
    ),
    "why": (
        "slowwave why MEMORY_ID",
        "slowwave why MEMORY_ID --format json",
        "slowwave why memory:MEMORY_ID",
    ),
    "schema": (
        "slowwave schema",
        "slowwave schema interactions",
        "slowwave schema memory_health --format markdown",
        "slowwave schema --views --output lake.sql",
    ),
    "lineage": (
        "slowwave lineage",
        "slowwave lineage memory_health",
        "slowwave lineage heuristics --format mermaid",
        "slowwave lineage --rooms",
    ),
    "forget": (
        "slowwave forget plan",
        "slowwave forget apply --dry-run",
        "slowwave forget hold MEMORY_ID --reason 'the audit needs it'",
    ),
    "curate": (
        "slowwave curate --dry-run --limit 3",
        "slowwave curate --dry-run --format json",
    ),
    "mapping": ("slowwave mapping suggest app.jsonl",),
    "memory": (
        "slowwave memory show MEMORY_ID",
        "slowwave memory archive MEMORY_ID --reason 'the project is over' --dry-run",
        "slowwave memory pin MEMORY_ID --yes",
        "slowwave memory tag MEMORY_ID deploy urgent --yes",
        "slowwave memory undo MEMORY_ID --yes",
    ),
    "review": (
        "slowwave review list",
        "slowwave review show ITEM_ID",
        "slowwave review promote ITEM_ID",
    ),
    "report": (
        "slowwave report",
        "slowwave report --run previous --to before.html",
    ),
    "dashboard": ("slowwave dashboard", "slowwave dashboard --port 8600"),
    "export": (
        "slowwave export",
        "slowwave export memory_health heuristics --format csv --to tables",
    ),
    "diff": (
        "slowwave diff",
        "slowwave diff previous current --format json",
    ),
    "methods": ("slowwave methods", "slowwave methods --format json"),
    "compare": (
        "slowwave compare used/1 used/2",
        "slowwave compare verdict/1 verdict/2 --as-of 2026-03-10 --format json",
    ),
    "prune": ("slowwave prune --keep 14",),
    "disk": ("slowwave disk", "slowwave disk --format json"),
    "status": (
        "slowwave status",
        "slowwave status --warn-hours 30 --error-hours 60 --format json",
    ),
    "doctor": ("slowwave doctor", "slowwave doctor --fix"),
    "serve": ("slowwave serve --timezone Europe/Berlin",),
}


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


def _version(value: bool) -> None:
    if value:
        from slowwave import __version__

        typer.echo(f"slowwave {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@command(EXAMPLES["demo"])
def demo(
    seed: Annotated[int, typer.Option(help="Another seed makes another month.")] = 7,
    days: Annotated[int, typer.Option(min=1, max=366, help="Days of sample logs.")] = 30,
) -> None:
    """Make a month of sample logs, land them, run the nightly flow, and say where to look."""
    from slowwave.flows.cli.demo import run_demo

    run_demo(_settings(), seed=seed, days=days)


@command(EXAMPLES["land"])
def land(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files, folders, globs, or - for standard input. None: the inbox.")
    ] = None,
    kind: Annotated[LandedTable | None, typer.Option(help="What every row is. Default: told from its fields.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would become of each row; write nothing.")
    ] = False,
    retry_quarantine: Annotated[
        bool, typer.Option("--retry-quarantine", help="Try again what was refused, as after an upgrade.")
    ] = False,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Take FIELD of the contract from NAME or the path a.b of each row; FIELD==TEXT is the same for all.",
            metavar="FIELD=NAME",
        ),
    ] = None,
    mapping: Annotated[
        str | None, typer.Option(help="Map as mappings/NAME.toml of the home says.", metavar="NAME")
    ] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Keep unknown fields in extra, also those that look like a field rows lack.")
    ] = False,
    max_refused: MaxRefused = 0.5,
    output: Annotated[TextFormat, typer.Option("--format", help="How the counts are printed.")] = "text",
) -> None:
    """Land JSONL (also .gz, .zst), CSV or Parquet; bad rows are quarantined with a reason, the rest goes on."""
    from slowwave.flows.cli.run import run_land, run_retry
    from slowwave.flows.land.readings import command_readings

    if retry_quarantine and paths:
        message = "name no paths beside it: it lands what is in quarantine"
        raise typer.BadParameter(message, param_hint="'--retry-quarantine'")
    settings = _settings()
    readings = command_readings(settings, maps or [], mapping, as_is=as_is)
    common: dict[str, Any] = {"kind": kind, "dry_run": dry_run, "output": output, "readings": readings}
    if retry_quarantine:
        run_retry(settings, **common)
    else:
        run_land(settings, paths or [], max_refused=max_refused, **common)


@command(EXAMPLES["import"])
def import_(
    source: Annotated[str, typer.Argument(help=f"Whose they are: {IMPORTED}.", metavar="SOURCE")],
    paths: Annotated[list[str], typer.Argument(help="Files or folders of it.", metavar="PATH…")],
    since: Annotated[
        str | None, typer.Option(help="Only what happened from then on, such as 2026-03-01.", metavar="TIME")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would land, with examples, and what not; write nothing.")
    ] = False,
    project_map: Annotated[
        str | None,
        typer.Option(help='Projects by folder: TOML such as "~/work/shop" = "shop".', metavar="FILE"),
    ] = None,
    no_infer: Annotated[bool, typer.Option("--no-infer", help="Infer no outcomes.")] = False,
    accept_vanished: Annotated[
        bool,
        typer.Option("--accept-vanished", help="Archive what is gone from a store, also more than a fifth at once."),
    ] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="How the counts are printed.")] = "text",
) -> None:
    """Import transcripts, traces and stores of other programs: they stay as they are, and land as ordinary rows."""
    from slowwave.flows.cli.imports import run_import

    run_import(
        _settings(),
        source,
        paths,
        since=since,
        dry_run=dry_run,
        project_map=project_map,
        infers=not no_infer,
        accepts_vanished=accept_vanished,
        output=output,
    )


@command(EXAMPLES["connect"])
def connect(
    source: Annotated[
        str | None, typer.Argument(help=f"One of {IMPORTED}. None: whatever is found.", metavar="SOURCE")
    ] = None,
    paths: Annotated[
        list[str] | None, typer.Argument(help="Where it lies. None: where it usually does.", metavar="PATH…")
    ] = None,
    project_map: Annotated[
        str | None, typer.Option(help="Projects by folder, as of `slowwave import`.", metavar="FILE")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Connect what is found without asking.")] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """List what can be imported here, and connect what every nightly is then to read; nothing is read before."""
    from slowwave.flows.cli.connect import run_connect

    run_connect(_settings(), source, paths or [], project_map=project_map, yes=yes, output=output)


@command(EXAMPLES["nightly"])
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
) -> None:
    """Import what is connected, land the inbox, rebuild the days that changed, audit, and publish."""
    from slowwave.flows.cli.run import run_nightly, run_plan

    if plan and (leave_out or leave_in):
        message = "--plan only looks: decide without it, then look"
        raise typer.BadParameter(message)
    if plan:
        run_plan(_settings(), as_of=as_of, full=full)
    else:
        decided = {"leave_out": leave_out or [], "leave_in": leave_in or []}
        run_nightly(_settings(), as_of=as_of, full=full, max_refused=max_refused, **decided)


@command(EXAMPLES["backfill"])
def backfill(
    first: Annotated[str, typer.Option("--from", help="First UTC day, such as 2026-03-01.", metavar="DAY")],
    last: Annotated[str, typer.Option("--to", help="Last UTC day, included.", metavar="DAY")],
) -> None:
    """Build the evidence of some days; what is published stays as it is."""
    from slowwave.flows.cli.run import run_backfill

    run_backfill(_settings(), first, last)


@command(EXAMPLES["sql"])
def sql(
    query: Annotated[
        str | None, typer.Argument(help="SQL, a cookbook name (see --list), or - for standard input.")
    ] = None,
    output: Annotated[
        Literal["table", "csv", "json", "parquet"], typer.Option("--format", help="How the result is printed.")
    ] = "table",
    as_of: AsOf = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the cookbook's queries.")] = False,
    param: Annotated[
        list[str] | None, typer.Option(help="A query's $name, as name=value.", metavar="NAME=VALUE")
    ] = None,
    user: OfUser = None,
    agent: OfAgent = None,
    tag: WithTag = None,
) -> None:
    """Ask the published tables, and the landed rows: interactions, outcomes, memories and their *_log."""
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.ask.sql import run_sql

    run_sql(
        _settings(),
        query,
        output=output,
        as_of=as_of,
        show_list=show_list,
        params=param or [],
        narrowed=Narrowed(user, agent, tag),
    )


@command(EXAMPLES["why"])
def why(
    id: Annotated[str, typer.Argument(help="Of a memory, observation, interaction, strategy … or KIND:ID.")],  # noqa: A002 - the argument's name in the help
    output: Annotated[TextFormat, typer.Option("--format", help="json lists every interaction of every count.")] = (
        "text"
    ),
    limit: Annotated[int, typer.Option(min=1, help="Interactions shown per count, newest first.")] = 5,
) -> None:
    """Show every count of a memory or strategy with the rows behind it, newest first; or what an interaction used."""
    from slowwave.flows.ask.why.why import run_why

    run_why(_settings(), id, output=output, limit=limit)


@command(EXAMPLES["schema"])
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
        run_views(_settings().lake if lake is None else lake, to)
    else:
        run_schema(table, output=output)


@command(EXAMPLES["lineage"])
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

    run_lineage(_settings(), table, output=output, rooms=rooms)


@command(EXAMPLES["curate"])
def curate(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the prompts and about what they cost; send nothing.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="At most so many questions, the newest.")] = None,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Ask a language model about new memories now, as `nightly` does; needs SLOWWAVE_LLM_URL and SLOWWAVE_LLM_MODEL."""
    from slowwave.flows.cli.curate import run_curate

    run_curate(_settings(), dry_run=dry_run, limit=limit, output=output)


@command(EXAMPLES["report"])
def report(
    run: Annotated[str, typer.Option(help="A run id or the start of one, `current` or `previous`.")] = "current",
    to: Annotated[
        str | None, typer.Option(help="Another file than reports/<run>.html; - is standard output.", metavar="FILE")
    ] = None,
    user: OfUser = None,
    agent: OfAgent = None,
    tag: WithTag = None,
) -> None:
    """Write the morning report of a publish, one HTML page that needs no network, and print where it is."""
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.ask.report import run_report

    run_report(_settings(), run, to, Narrowed(user, agent, tag))


@command(EXAMPLES["dashboard"])
def dashboard(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    user: OfUser = None,
    agent: OfAgent = None,
    tag: WithTag = None,
) -> None:
    """Show memory health as pages in the browser, read-only and on this machine alone, until stopped."""
    from slowwave.flows.ask.narrowed import Narrowed
    from slowwave.flows.cli.dashboard import run_dashboard

    run_dashboard(_settings(), port=port, open_browser=open_browser, narrowed=Narrowed(user, agent, tag))


@command(EXAMPLES["export"])
def export(
    tables: Annotated[list[str] | None, typer.Argument(help="Published tables. None: all.")] = None,
    output: Annotated[Literal["parquet", "csv"], typer.Option("--format", help="What is written.")] = "parquet",
    to: Annotated[str, typer.Option(help="The folder.", metavar="FOLDER")] = "export",
    run: Annotated[str, typer.Option(help="A run id or the start of one, `current` or `previous`.")] = "current",
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write published tables as Parquet or CSV files, one each, for other tools."""
    from slowwave.flows.ask.export import run_export

    run_export(_settings(), tables or [], output=output, to=to, run=run, force=force)


@command(EXAMPLES["diff"])
def diff(
    run: Annotated[str, typer.Argument(help="A run id or the start of one, `current` or `previous`.")] = "previous",
    other: Annotated[str, typer.Argument(help="The run to compare it with.")] = "current",
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Say what changed between two publishes."""
    from slowwave.flows.ask.diff import run_diff

    run_diff(_settings(), run, other, output=output)


@command(EXAMPLES["methods"])
def methods(
    output: Annotated[
        Literal["table", "csv", "json"], typer.Option("--format", help="How they are printed.")
    ] = "table",
) -> None:
    """List the methods with their versions: which are in use, what each computes, what changed and why."""
    from slowwave.flows.cli.compare import run_methods

    run_methods(_settings(), output=output)


@command(EXAMPLES["compare"])
def compare(
    old: Annotated[str, typer.Argument(help="A version of a method, such as used/1 (see `slowwave methods`).")],
    new: Annotated[str, typer.Argument(help="The version to compare it with, such as used/2.")],
    project: Annotated[str | None, typer.Option(help="Only what is of this project.", metavar="PROJECT")] = None,
    as_of: Annotated[
        str | None, typer.Option(help="What was known before this instant. Default: as current.", metavar="TIME")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Rows shown of each kind of change in each table.")] = 3,
    output: Annotated[Literal["table", "csv", "json"], typer.Option("--format", help="How it is printed.")] = "table",
) -> None:
    """Compute all tables with two versions of a method, and say which rows come, go and change; publishes nothing."""
    from slowwave.flows.cli.compare import run_compare

    run_compare(_settings(), old, new, as_of=as_of, project=project, examples=examples, output=output)


@command(EXAMPLES["prune"])
def prune(
    keep: Annotated[int, typer.Option(min=0, help="Serving files kept besides current.")] = 7,
) -> None:
    """Remove old serving files, and the partitions only they needed; nothing within 24 hours of being current."""
    from slowwave.flows.cli.run import run_prune

    run_prune(_settings(), keep)


@command(EXAMPLES["disk"])
def disk(output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text") -> None:
    """Say what the home weighs, by table, kind and day, how it grows, and what could go; reads names and sizes only."""
    from slowwave.flows.care.disk import run_disk

    run_disk(_settings(), output=output)


@command(EXAMPLES["status"])
def status(
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
    warn_hours: Annotated[float, typer.Option(min=0, help="Older than this is a warning.")] = 26.0,
    error_hours: Annotated[float, typer.Option(min=0, help="Older than this is an error (exit code 1).")] = 50.0,
) -> None:
    """Say how fresh each source and the publish are; exit 1 when something is too old or failed, for a monitor."""
    from slowwave.flows.care.status import run_status

    run_status(_settings(), output=output, warn_hours=warn_hours, error_hours=error_hours)


@command(EXAMPLES["doctor"])
def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="First close to other users what an old release has left open to them.")
    ] = False,
) -> None:
    """Check the home, the lake, the lock, the disk and the versions, and say what to do about what is wrong."""
    from slowwave.flows.care.doctor import run_doctor

    run_doctor(_settings(), fix=fix)


@command(EXAMPLES["serve"])
def serve(
    timezone: Annotated[str, typer.Option(help="Time zone of the nightly schedule, such as Europe/Berlin.")] = "UTC",
    nightly_cron: Annotated[str, typer.Option(help="When the nightly flow runs.")] = "0 2 * * *",
    land_minutes: Annotated[int, typer.Option(min=1, help="Minutes between landings of the inbox.")] = 5,
) -> None:
    """Run the schedules with Prefect until stopped: land every 5 minutes, nightly at 02:00."""
    from slowwave.flows.cli.run import run_serve

    run_serve(_settings(), timezone=timezone, nightly_cron=nightly_cron, land_minutes=land_minutes)


def _settings() -> Settings:
    return settings_from_environment()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal's encoding lacks is written out, not an error
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: list[str] | None) -> int:
    commands: Any = typer.main.get_command(app)
    given = sys.argv[1:] if arguments is None else arguments
    # a path may be of any bytes; an id, a reason or a query is text
    takes_paths = given[:1] in (["land"], ["import"], ["connect"])
    if not takes_paths and any("\ud800" <= character <= "\udfff" for word in given for character in word):
        return _complain("the arguments are not UTF-8", 2)
    try:
        with home_doors():
            done = _run(commands, arguments)
    except typer.Abort:
        return _complain("stopped", 130)
    except typer.TyperException as error:
        error.show(sys.stderr)  # type: ignore[attr-defined] - every one that typer raises can show itself
        return error.exit_code
    except KeyboardInterrupt:
        return _complain("stopped", 130)
    except UserError as error:
        return _complain(str(error), error.exit_code)
    except SystemExit as error:
        # typer's answer to a broken pipe: the reader of our output has gone, as with `| head`
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _complain(f"{error.strerror or error}{where}", 1)
    return done if isinstance(done, int) else 0


def _run(commands: Any, arguments: list[str] | None) -> Any:  # noqa: ANN401 - typer's
    try:
        return commands.main(args=arguments, prog_name="slowwave", standalone_mode=False)
    except Exception as error:
        if type(error).__name__ not in {"SchemaError", "ComputeError"}:
            raise
        from slowwave.flows.lake.misfits import explained  # Polars is loaded: the error is its own

        raise explained(error, settings_from_environment().lake) from error


def _complain(message: str, code: int) -> int:
    from slowwave.flows.kernel.terminal import terminal_safe

    for line in message.splitlines():
        sys.stderr.write(f"slowwave: {terminal_safe(line)}\n")
    return code


if __name__ == "__main__":
    main()
