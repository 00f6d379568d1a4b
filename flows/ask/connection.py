"""DuckDB as analysts get it: the published tables, read-only and locked, so that SQL reaches no file and no network.

Also which publish is meant by a name: a run, or what it is to current.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from slowwave.flows.ask.own_files import OwnFile, copy_own_file
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.lake.current import bucket_of, current_run, follow, run_path

if TYPE_CHECKING:
    import polars as pl

DuckDBConfig = dict[str, str | bool | int | float | list[str]]

_LOCK = """
SET TimeZone = 'UTC';
SET enable_external_access = false;
SET lock_configuration = true;
"""


def published_file(settings: Settings) -> Path | None:
    """The current serving file, its link resolved once, or None when nothing was published yet.

    Raises UserError when the link leads nowhere.
    """
    bucket = bucket_of(settings)
    if bucket is not None:
        follow(settings, bucket)
    try:
        return settings.current.resolve(strict=True)
    except (FileNotFoundError, RuntimeError) as error:  # a RuntimeError: it leads to itself
        if not settings.current.is_symlink():
            return None
        message = f"{settings.current} leads nowhere: run `slowwave nightly` to publish anew"
        raise UserError(message) from error


@contextmanager
def locked_connection(
    serving: Path | None,
    views: Mapping[str, pl.LazyFrame] | None = None,
    limits: DuckDBConfig | None = None,
    own: Sequence[OwnFile] = (),
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a serving file (None: to an empty database) with `views` by name, closed at the end.

    What the file holds cannot be changed, no other file or address can be read or written, no extension loaded and no
    setting changed. Temporary tables are allowed; large sorts and joins spill into a folder that is removed at the end.
    `limits` are more settings of DuckDB, such as a `memory_limit`; `own` files are copied before it is locked.

    Raises UserError when an own file cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="slowwave-sql-") as spill:
        config: DuckDBConfig = {
            "allow_community_extensions": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": spill,
            **(limits or {}),
        }
        # an in-memory database cannot be read-only, but then there is nothing to write to
        with duckdb.connect(serving or ":memory:", read_only=serving is not None, config=config) as connection:
            for name, frame in (views or {}).items():
                connection.register(name, frame)
            if own:
                interruptible(connection, lambda: [copy_own_file(connection, file) for file in own])
            connection.execute(_LOCK)
            yield connection


def interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], object]) -> None:
    """Run `work` beside the main thread: only there does Python see Ctrl-C while DuckDB computes."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        try:
            future.result()
        except KeyboardInterrupt:
            while not future.done():
                connection.interrupt()
                wait([future], timeout=0.05)
            raise


# What changes rows can only reach temporary tables: the published ones are opened read-only.
_ANSWERS = {
    getattr(duckdb.StatementType, name)
    for name in ("SELECT", "MULTI", "CREATE", "INSERT", "UPDATE", "DELETE", "DROP", "SET")
}
_COPIES = re.compile(r"\bcopy\b", re.IGNORECASE)
_UPDATES_EXTENSIONS = re.compile(r"^(?:\s|--[^\n]*\n|/\*.*?\*/)*UPDATE\s+EXTENSIONS\b", re.IGNORECASE | re.DOTALL)
_EXPLAIN = re.compile(r"^\s*EXPLAIN\s+(?:ANALYZE\s+|\([^)]*\)\s*)?", re.IGNORECASE)


def check_statements(connection: duckdb.DuckDBPyConnection, statements: Sequence[duckdb.Statement]) -> None:
    """Let through what asks; the lock alone leaves the database's own file open to COPY.

    SELECT is also FROM, VALUES, SHOW, DESCRIBE and SUMMARIZE; what writes reaches temporary tables only,
    and SET reaches variables.
    Raises UserError for any other statement.
    """
    for statement in statements:
        if _UPDATES_EXTENSIONS.match(statement.query):  # of a type that DuckDB's Python does not know
            message = "UPDATE EXTENSIONS is refused: `slowwave sql` reads and changes nothing"
            raise UserError(message)
        asked = statement
        if statement.type == duckdb.StatementType.EXPLAIN:  # EXPLAIN ANALYZE runs what it explains
            asked, *_ = connection.extract_statements(_EXPLAIN.sub("", statement.query, count=1))
        copies = asked.type == duckdb.StatementType.MULTI and _COPIES.search(asked.query)  # COPY (PIVOT …) TO …
        if asked.type not in _ANSWERS or copies:
            message = f"{'COPY' if copies else asked.type.name} is refused: `slowwave sql` reads and changes nothing"
            raise UserError(message)


_ENDS_IN_ESCAPE = "Like pattern must not end with escape character"
OTHER_RELEASE = "the published tables are of another release: `slowwave nightly` publishes them anew"


def is_of_another_release(error: duckdb.Error) -> bool:
    """Whether a query of ours lacks a table or column, as only in the file of another release."""
    is_of_param = "LIMIT/OFFSET" in str(error)  # a number that a person gave
    return isinstance(error, (duckdb.CatalogException, duckdb.BinderException)) and not is_of_param


def error_lines(error: duckdb.Error) -> str:
    """What DuckDB says, on at most two lines: what is wrong, and its hint or the place."""
    if _ENDS_IN_ESCAPE in str(error):
        return "a pattern ends in a single \\: write \\\\ where a backslash is meant"
    first, _, rest = str(error).strip().partition("\n")
    others = [line.strip() for line in rest.splitlines()]
    hints = [line for line in others if line.startswith(("Did you mean", "Candidate bindings"))]
    places = [line for line in others if line.startswith("LINE ")]
    return "\n".join([first, *(hints or places)[:1]])


_MANY_NAMED = 5


def find_run(settings: Settings, named: str) -> Path:
    """The serving file of a run: its id, the start of its id, `current`, or `previous` (the publish before current).

    Raises UserError when there is none, or more than one.
    """
    if named in {"current", "previous"}:
        current = current_run(settings)
        if current is None:
            message = "nothing is published yet: run `slowwave nightly`"
            raise UserError(message)
        return current if named == "current" else _previous(settings, current)
    there = sorted(path.stem for path in settings.serving.glob("runs/*.duckdb"))
    matching = [run_id for run_id in there if run_id.startswith(named)] if named else []
    if named in matching:
        matching = [named]
    if not matching:
        known = f"; there are {_some(there[::-1])}" if there else ""
        message = f"no serving file of a run {quote_shortened(named)} (it may have been pruned){known}"
        raise UserError(message)
    if len(matching) > 1:
        message = f"{quote_shortened(named)} is the start of {len(matching)} runs: {_some(matching)}"
        raise UserError(message)
    return run_path(settings, matching[0])


def _previous(settings: Settings, current: Path) -> Path:
    # slow to load, which who names a run that is here does not need
    import polars as pl

    from slowwave.flows.lake.lake import Lake
    from slowwave.transforms.landing.ledger_tables import Runs

    lake = Lake(settings.lake_folder)
    lake.check_format()
    published = (
        lake.ledger(Runs)
        .filter(pl.col("status").is_in(["published", "published_incomplete"]))
        .sort("started_at", "run_id")["run_id"]
        .to_list()
    )
    earlier = published[: published.index(current.stem)] if current.stem in published else published
    for run_id in reversed(earlier):
        path = run_path(settings, run_id)
        if path.exists():
            return path
    message = (
        "there is only one publish yet: a nightly run that finds something new makes another"
        if not earlier
        else f"no file of a publish before {current.stem} is left: they are pruned after a while"
    )
    raise UserError(message)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MANY_NAMED]) + (", …" if len(names) > _MANY_NAMED else "")
