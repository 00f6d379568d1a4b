"""`slowwave sql`: ask the published tables and the landed rows, read-only, whatever the query says."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb
import typer

from slowwave.dashboards.cookbook.cookbook import Recipe, cookbook
from slowwave.flows.ask.connection import (
    OTHER_RELEASE,
    DuckDBConfig,
    OwnFile,
    check_statements,
    error_lines,
    interruptible,
    is_of_another_release,
    locked_connection,
    own_files,
    published_file,
)
from slowwave.flows.ask.narrowed import EVERYTHING, HELPERS, Narrowed, landed_about, narrow
from slowwave.flows.ask.output import BATCH_ROWS, Format, write_parquet_result, write_rows
from slowwave.flows.kernel.doors import outside
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, terminal_safe
from slowwave.flows.kernel.times import utc_now

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave.flows.lake.views import LandedViews

_NAME = re.compile(r"\s*[A-Za-z_]\w*\s*")
# A query that may look at the landed tables, or list what there is; all others need not load what reads the lake.
_ABOUT_LANDED = re.compile(
    r"\b(?:interactions|outcomes|memories)(?:_log)?\b|\b(?:show|describe|information_schema|duckdb_\w+|pragma)\b",
    re.IGNORECASE,
)
_MISSING_TABLE = re.compile(r"Table with name (\S+) does not exist")
_PEEKED_ROWS = 1_000
_BINARY = ("parquet", "xlsx")

# Runs a statement with the values of its params, and writes what it gives.
Write = Callable[[duckdb.DuckDBPyConnection, duckdb.Statement, Mapping[str, str]], None]


def run_sql(
    settings: Settings,
    query: str | None,
    *,
    output: Format,
    to: str | None = None,
    as_of: str | None,
    show_list: bool,
    params: Sequence[str],
    own: Sequence[str] = (),
    narrowed: Narrowed = EVERYTHING,
) -> None:
    """Answer `query` (SQL, a cookbook name, or `-`: SQL from standard input) on stdout; or list the cookbook.

    Of several statements all run, and the last one's result is printed, or written into the file `to`, whole or not at
    all. `params` are `name=value`, text for `$name`, `own` are `name=file`. `narrowed`: whose memories
    it is asked about.

    Raises UserError when the query fails or nothing is published, typer.BadParameter when arguments do not fit.
    """
    given = _given_params(params)
    if show_list:
        _list_cookbook(output)
        return
    if query is None:
        message = "give a query, or --list to see the cookbook's"
        raise typer.BadParameter(message)
    target = _checked_target(settings, output, to)
    files = own_files(own, lambda: _published_names() | _landed_names() | HELPERS)
    text, values = _text_and_values(query, given)
    if as_of is None:
        cut, serving = utc_now(), published_file(settings)
    else:
        from slowwave.flows.kernel.progress import Screen
        from slowwave.flows.kernel.times import parse_as_of
        from slowwave.flows.nightly.other_nights import serving_as_of

        cut = parse_as_of(as_of)
        with Screen() as screen:
            serving = serving_as_of(settings, cut, screen.progress)

    def answer(stream: BinaryIO | None = None) -> None:
        write = result_writer(output, stream)
        answer_query(settings, text, values, serving=serving, cut=cut, write=write, narrowed=narrowed, own=files)

    if target is None:
        answer()
    else:
        _write_file(target, answer)
        typer.echo(terminal_safe(str(target)))


def _checked_target(settings: Settings, output: Format, to: str | None) -> Path | None:
    """The file that the answer goes to; None: stdout.

    Raises typer.BadParameter when a form does not go there, UserError when what is there is not to be written over.
    """
    if to is None:
        if output in _BINARY and sys.stdout.isatty():
            message = f"{output} is binary: name a file, as in `slowwave sql … --format {output} --out result.{output}`"
            raise typer.BadParameter(message)
        return None
    if output == "table":
        message = "a table is for the screen, and may be cut: --out takes csv, json, md, parquet or xlsx as --format"
        raise typer.BadParameter(message)
    target = Path(to)
    if target.is_dir() or (target.exists() and not target.is_file()):
        message = f"{to} is no file: name one, or one that is to be made"
        raise UserError(message)
    if any(target.resolve().is_relative_to(folder.resolve()) for folder in (settings.serving, settings.lake_folder)):
        message = f"{to} lies among what Slowwave keeps: name a file elsewhere"
        raise UserError(message)
    return target


def _write_file(target: Path, answer: Callable[[BinaryIO], None]) -> None:
    """Let `answer` write a file, through a link to one, that is seen when it is whole; open as the user's files are."""
    from slowwave.flows.kernel.store import write_durably  # slow to load

    def write(aside: Path) -> None:
        with outside():
            file = aside.open("xb")
        with file:
            answer(file)

    write_durably(target.resolve(), write)


def _given_params(params: Sequence[str]) -> dict[str, str]:
    given = {}
    for param in params:
        name, equals, value = param.partition("=")
        if not equals or not name:
            message = f"--param {param!r} is not NAME=VALUE"
            raise typer.BadParameter(message)
        given[name] = value
    return given


def _text_and_values(query: str, given: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The SQL to run, and the values of its params: the given ones, else a recipe's defaults."""
    if query == "-":
        try:
            return sys.stdin.buffer.read().decode(), given
        except UnicodeDecodeError as error:
            message = f"the query on standard input is not UTF-8 ({error.reason} at byte {error.start})"
            raise UserError(message) from error
    if not _NAME.fullmatch(query):
        return query, given
    recipe = cookbook().get(query.strip())
    if recipe is None:
        return query, given
    return recipe.sql, {name: value for name, value in recipe.params.items() if value is not None} | given


def answer_query(
    settings: Settings,
    text: str,
    values: Mapping[str, str],
    *,
    serving: Path | None,
    cut: datetime,
    write: Write,
    limits: DuckDBConfig | None = None,
    narrowed: Narrowed = EVERYTHING,
    own: Sequence[OwnFile] = (),
) -> None:
    """Run SQL on a serving file (None: nothing is published) and the landed rows as of `cut`.

    Of several statements all run, the last one by `write`. `values` are those of its params, `limits` more settings of
    DuckDB, such as a `memory_limit`; `narrowed`: whose memories they are asked about; `own`: a person's files beside.

    Raises UserError when the query fails or an own file cannot be read, typer.BadParameter when `values` do not fit it.
    """
    views = _landed_views(settings, text, cut)
    try:
        try:
            _run(text, values, serving, views, write, limits, narrowed, own)
        except (duckdb.Error, OSError) as error:
            if isinstance(error, BrokenPipeError) or views is None or not views.is_outdated():
                raise
            _run(text, values, serving, _landed_views(settings, text, cut), write, limits, narrowed, own)
    except duckdb.Error as error:
        if views is not None:
            from slowwave.flows.lake.misfits import explain_read_error  # Polars is loaded

            told = explain_read_error(error, settings.lake_folder)
            if isinstance(told, UserError):
                raise told from error
        raise UserError(_explain_error(error, text, serving, own)) from error


def _landed_views(settings: Settings, text: str, cut: datetime) -> LandedViews | None:
    if not _ABOUT_LANDED.search(text):
        return None
    from slowwave.flows.lake.views import LandedViews  # Polars is slow to load

    return LandedViews(settings.lake_folder, cut)


def _run(
    text: str,
    values: Mapping[str, str],
    serving: Path | None,
    views: LandedViews | None,
    write: Write,
    limits: DuckDBConfig | None,
    narrowed: Narrowed,
    own: Sequence[OwnFile],
) -> None:
    frames = landed_about(views.frames, narrowed) if views else None
    with locked_connection(serving, frames, limits, own) as connection:
        if serving is not None:
            narrow(connection, narrowed)
        statements = connection.extract_statements(text)
        if not statements:
            message = "the query is empty"
            raise UserError(message)
        check_statements(connection, statements)
        _check_params(set().union(*(statement.named_parameters for statement in statements)), values)
        *before, last = [
            (statement, {name: values[name] for name in statement.named_parameters}) for statement in statements
        ]

        def work() -> None:
            for statement, needed in before:
                connection.execute(statement, needed)
            write(connection, *last)

        interruptible(connection, work)


def result_writer(output: Format, to: BinaryIO | None = None) -> Write:
    """What runs a statement and writes its rows to `to` (None: stdout) in this format."""

    def write(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement, params: Mapping[str, str]) -> None:
        if output == "parquet":
            relation = connection.sql(statement, params=params)
            if relation is None:
                message = "the last statement has no rows to write"
                raise UserError(message)
            write_parquet_result(relation, to)
        else:
            connection.execute(statement, params)
            names = [column[0] for column in connection.description or []]
            write_rows(names, _batches(connection), output, to)

    return write


def _check_params(needed: set[str], values: Mapping[str, str]) -> None:
    missing = sorted(needed - values.keys())
    if missing:
        message = "the query needs " + " ".join(f"--param {name}=…" for name in missing)
        raise typer.BadParameter(message)
    unknown = sorted(values.keys() - needed)
    if unknown:
        known = ", ".join(f"${name}" for name in sorted(needed)) or "none"
        message = f"the query has no ${unknown[0]}; its params: {known}"
        raise typer.BadParameter(message)


def _batches(connection: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Any, ...]]]:
    size = _PEEKED_ROWS  # soon there, and they tell that the query works
    while rows := connection.fetchmany(size):
        yield rows
        size = BATCH_ROWS


def _explain_error(error: duckdb.Error, text: str, serving: Path | None, own: Sequence[OwnFile]) -> str:
    """DuckDB's message, or what it means here."""
    if isinstance(error, duckdb.ParserException) and _NAME.fullmatch(text):
        if text.strip().casefold() in _published_names():
            return f"{quote_shortened(text.strip())} is a table: `slowwave sql 'FROM {text.strip()}'` shows it"
        near = difflib.get_close_matches(text.strip(), cookbook(), n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        return f"{quote_shortened(text.strip())} is neither SQL nor in the cookbook: {hint}see `slowwave sql --list`"
    missing = _MISSING_TABLE.search(str(error))
    is_ours = missing is not None and missing[1].strip('"').casefold() in _published_names()
    if serving is None and is_ours:
        return "nothing is published yet: run `slowwave nightly`"
    if is_ours:
        return OTHER_RELEASE
    if is_of_another_release(error) and text in {recipe.sql for recipe in cookbook().values()}:
        return f"{error_lines(error)}\n{OTHER_RELEASE}"
    if missing is not None:
        name = missing[1].strip('"')
        known = _published_names() | _landed_names() | {file.name for file in own}
        near = difflib.get_close_matches(name.casefold(), sorted(known), n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        return f"there is no table {quote_shortened(name)}: {hint}`slowwave inspect schema` lists them"
    return error_lines(error)


def _published_names() -> set[str]:
    from slowwave.transforms.graph import SERVING  # Polars is slow to load

    return {table.name for table in SERVING}


def _landed_names() -> set[str]:
    from slowwave.transforms.landing.tables import LANDED  # as above

    return {name for table in LANDED for name in (table.name, f"{table.name}_log")}


def _list_cookbook(output: Format) -> None:
    if output in _BINARY:
        message = "--list prints as table, csv, json or md"
        raise typer.BadParameter(message)
    recipes = cookbook()
    if output == "json":
        _write_cookbook_json(recipes)
    elif output != "table":
        rows = [(recipe.name, recipe.question, _params_text(recipe)) for recipe in recipes.values()]
        write_rows(["name", "question", "params"], [rows], output)
    else:
        _print_cookbook(recipes)


def _params_text(recipe: Recipe) -> str:
    return " ".join(name if value is None else f"{name}={value}" for name, value in recipe.params.items())


def _print_cookbook(recipes: Mapping[str, Recipe]) -> None:
    """Each name with its question, whole, and its params below: side by side they would leave no room for questions."""
    from rich.table import Table  # rich is slow to load
    from rich.text import Text

    from slowwave.flows.kernel.checks import screen

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for recipe in recipes.values():
        params = _params_text(recipe)
        grid.add_row(
            Text(recipe.name, style="bold"),
            Text.assemble(recipe.question, *([("\n" + params, "dim")] if params else [])),
        )
    console = screen()
    console.print(grid)
    console.print(Text(format_count(len(recipes), "recipe")))


def _write_cookbook_json(recipes: Mapping[str, Recipe]) -> None:
    rows = [
        (
            recipe.name,
            recipe.question,
            recipe.params,
            [{"name": column.name, "unit": column.unit, "meaning": column.meaning} for column in recipe.columns],
        )
        for recipe in recipes.values()
    ]
    write_rows(["name", "question", "params", "columns"], [rows], "json")
