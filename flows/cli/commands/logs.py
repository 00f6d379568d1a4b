"""Commands that bring logs in and build from them: made for show, delivered, of other programs; the nightly run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slowwave.flows.cli.groups import AsOf, MaxRefused, command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.engines.settings import EngineName
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.transforms.core.vocabularies import LandedTable

# What `slowwave.flows.imports.sources` has, which takes long to load.
IMPORTED = (
    "codex, claude-code, pi, cursor, chatgpt, claude-ai, gemini-cli, opencode, copilot-cli, llm-requests, langsmith,"
    " litellm, langfuse-ui, atif, otlp, langfuse, claude-memory, alma, mem0, astrocyte, langgraph or atocore"
)


@command("slowwave demo")
def demo(
    seed: Annotated[int, typer.Option(help="Another seed makes other logs.")] = 7,
    days: Annotated[int, typer.Option(min=1, max=366, help="Days of sample logs.")] = 75,
) -> None:
    """Make and publish eleven weeks of sample logs, and say where to look."""
    from slowwave.flows.cli.demo import run_demo

    run_demo(settings_from_environment(), seed=seed, days=days)


@command(
    "slowwave land runs.jsonl memories.csv",
    "slowwave land 'logs/*.jsonl.gz' --dry-run",
    "cat runs.jsonl | slowwave land -",
    "slowwave land app.jsonl --map prompt=question --map response=completion --dry-run",
    "slowwave land --retry-quarantine",
)
def land(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files, folders, globs, or - for standard input. None: the inbox.")
    ] = None,
    kind: Annotated[
        LandedTable | None, typer.Option(help="What every row is. Default: inferred from its fields.")
    ] = None,
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
            help="Take FIELD of the contract from NAME or the path a.b of each row, and put what FIELD held into extra;"
            " FIELD==TEXT fills FIELD where a row has none.",
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
    """Land JSONL, JSON arrays, CSV or Parquet (also .gz, .zst, .zip); quarantine bad rows with a reason."""
    from slowwave.flows.cli.run import run_land, run_retry
    from slowwave.flows.land.readings import command_readings

    if retry_quarantine and paths:
        message = "name no paths beside it: it lands what is in quarantine"
        raise typer.BadParameter(message, param_hint="'--retry-quarantine'")
    settings = settings_from_environment()
    readings = command_readings(settings, maps or [], mapping, as_is=as_is)
    common: dict[str, Any] = {"kind": kind, "dry_run": dry_run, "output": output, "readings": readings}
    if retry_quarantine:
        run_retry(settings, **common)
    else:
        run_land(settings, paths or [], max_refused=max_refused, **common)


@command(
    "slowwave import sessions/s-1.jsonl --dry-run",
    "slowwave import claude-code ~/.claude/projects",
    "slowwave import pi sessions --since 2026-03-01",
    "slowwave import alma .alma/alma.db",
    "slowwave import claude-memory ~/.claude --dry-run",
)
def import_(
    named: Annotated[
        list[str],
        typer.Argument(
            help=f"Files or folders. First name their program, if it is not to be detected: {IMPORTED}.",
            metavar="[SOURCE] PATH…",
        ),
    ],
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
        settings_from_environment(),
        named,
        since=since,
        dry_run=dry_run,
        project_map=project_map,
        infers=not no_infer,
        accepts_vanished=accept_vanished,
        output=output,
    )


@command("slowwave connect", "slowwave connect alma .alma/alma.db --yes")
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

    run_connect(settings_from_environment(), source, paths or [], project_map=project_map, yes=yes, output=output)


@command("slowwave capture", "slowwave capture --port 4318")
def capture(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any free one.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on; another than loopback needs a token, and TLS.", metavar="ADDRESS")
    ] = "127.0.0.1",
    tls_cert: Annotated[str | None, typer.Option(help="Certificate, in PEM.", metavar="FILE")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its key, in PEM.", metavar="FILE")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy before it has TLS, and others get here by it.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Also heard when called by this name.", metavar="NAME")
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="Requests per second of one sender; 0 is any number.")] = 1000.0,
    until_input_ends: Annotated[bool, typer.Option("--until-input-ends", hidden=True)] = False,
) -> None:
    """Take rows and OpenTelemetry over HTTP until stopped; its address is the first line. What is answered is kept."""
    from slowwave.flows.capture.capture import Listening, run_capture
    from slowwave.flows.capture.limits import Limits

    listening = Listening(host, port, tls_cert, tls_key, behind_proxy, tuple(allow_host or ()))
    run_capture(settings_from_environment(), listening, Limits(rate=rate), ends_with_input=until_input_ends)


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
