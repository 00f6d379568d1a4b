"""The `slowwave` command. Each command is made, and imports what it needs, when it is asked for."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer

# importing them declares their commands
from slowwave.flows.cli.commands import logs, questions, results, upkeep  # noqa: F401
from slowwave.flows.cli.groups import OLD_NAMES, Commands, group
from slowwave.flows.kernel.doors import home_doors
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import use_one_thread
from slowwave.flows.kernel.settings import settings_from_environment

app = typer.Typer(
    name="slowwave",
    cls=Commands,
    help="The night shift for AI agents' memory: replays interaction logs and says what each memory is worth.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Also: `slowwave mapping` (a producer's names of fields, for `land`) and `slowwave token` (who may post to"
        " `capture`, or ask `mcp`).\n\n"
        "Home: $SLOWWAVE_HOME, or data/ in the working directory. Results go to stdout, all else to stderr.\n\n"
        f"Old names that work until the next release: {', '.join(OLD_NAMES)}. A terminal is told the new one."
    ),
)
group(
    "forget",
    "slowwave.flows.cli.forget",
    "Archive memories that are no longer needed, and bring them back; interactions are never deleted.",
    "slowwave forget plan",
    "slowwave forget apply --dry-run",
    "slowwave forget hold MEMORY_ID --reason 'the audit needs it'",
)
group(
    "inspect",
    "",
    "Show what tables are and are made from, compare runs and methods, and export tables.",
    "slowwave inspect schema memory_health --format markdown",
    "slowwave inspect lineage memory_health",
    "slowwave inspect diff previous current",
)
group(
    "lake",
    "",
    "Say what a home weighs, and remove what is old or must go.",
    "slowwave lake disk",
    "slowwave lake retain --dry-run",
    "slowwave lake erase --memory MEMORY_ID",
)
group(
    "mapping",
    "slowwave.flows.cli.commands.mapping",
    "Say under which names a producer has the fields of the contract, so that its logs land as they are.",
    "slowwave mapping suggest app.jsonl",
)
group(
    "memory",
    "slowwave.flows.cli.commands.memory",
    "Show, edit, archive, invalidate, pin or tag one memory: a preview first, and an undo after.",
    "slowwave memory show MEMORY_ID",
    "slowwave memory archive MEMORY_ID --reason 'the project is over' --dry-run",
    "slowwave memory pin MEMORY_ID --yes",
    "slowwave memory tag MEMORY_ID deploy urgent --yes",
    "slowwave memory undo MEMORY_ID --yes",
)
group(
    "review",
    "slowwave.flows.cli.review",
    "Decide what needs review: candidates, contradictions, merges, and memories that are outdated, "
    "expiring, harmful, ignored, doubtful, fading or unused.",
    "slowwave review list",
    "slowwave review show ITEM_ID",
    "slowwave review promote ITEM_ID",
)
group(
    "token",
    "slowwave.flows.cli.commands.token",
    "Say who may post rows or ask over the network, and of which project.",
    "slowwave token add shop-api --project shop",
    "slowwave token list",
    "slowwave token revoke old-api",
)


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


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""
    use_one_thread()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal's encoding lacks is written out, not an error
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: list[str] | None) -> int:
    commands: Any = typer.main.get_command(app)
    given = sys.argv[1:] if arguments is None else arguments
    # a path may be of any bytes; an id, a reason or a query is text
    takes_paths = given[:1] in (["land"], ["import"], ["connect"], ["push"])
    if not takes_paths and any("\ud800" <= character <= "\udfff" for word in given for character in word):
        return _complain("the arguments are not UTF-8", 2)
    try:
        with home_doors():
            done = _run(commands, arguments)
    except typer.Abort:
        return _complain("stopped", 130)
    except typer.TyperException as error:
        error.message = error.message.removeprefix("Value error, ")  # what pydantic says before what is wrong
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
        from slowwave.flows.lake.misfits import explain_read_error  # Polars is loaded: the error is its own

        raise explain_read_error(error, settings_from_environment().lake_folder) from error


def _complain(message: str, code: int) -> int:
    from slowwave.flows.kernel.terminal import terminal_safe

    for line in message.splitlines():
        sys.stderr.write(f"slowwave: {terminal_safe(line)}\n")
    return code


if __name__ == "__main__":
    main()
