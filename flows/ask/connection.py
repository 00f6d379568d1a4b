"""DuckDB as analysts get it: the published tables, read-only and locked, so that SQL reaches no file and no network.

Files of their own that they name are copied in. Also which publish is meant by a name: a run, or what it is to current.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import typer

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened, shorten_to_width
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


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_GLOB = re.compile(r"[*?\[]")
_PACKED = (".gz", ".zst")
_CSV = """read_csv(
    $path, header = true, skip = 0, delim = $delimiter, quote = '"', escape = '"', comment = '', sample_size = -1
)"""
_LINES = "read_json($path, format = 'newline_delimited', sample_size = -1)"
_READERS = {
    ".csv": _CSV,
    ".tsv": _CSV,
    ".parquet": "read_parquet($path)",
    ".jsonl": _LINES,
    ".ndjson": _LINES,
    ".json": "read_json($path, format = 'auto', sample_size = -1)",
}
_DELIMITERS = ",;\t|"
_HEAD_BYTES = 65_536
_MOST_SAID = 300


@dataclass(frozen=True)
class OwnFile:
    """A file that a person wants to ask, the name of its table, and what reads it."""

    name: str
    path: Path
    reader: str


def own_files(given: Sequence[str], taken: Callable[[], Collection[str]]) -> list[OwnFile]:
    """The files that `NAME=FILE` name; `taken`: the names that no table of theirs may have, in lower case.

    Raises typer.BadParameter when a name or a kind of file does not do, UserError when a file is not there.
    """
    found: dict[str, OwnFile] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not file or not _NAME.fullmatch(name):
            message = f"{quote_shortened(text)} is not NAME=FILE, with a name of letters, digits and _"
            raise _wrong(message)
        if name.lower() in found:
            message = f"two files are called {name}: give each a name of its own"
            raise _wrong(message)
        if name.lower() in taken():
            message = f"{name} is a table of Slowwave: give your file another name"
            raise _wrong(message)
        _check_file(Path(file))
        found[name.lower()] = OwnFile(name, Path(file), _reader(file))
    return [*found.values()]


def _wrong(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="'--with'")


def _reader(file: str) -> str:
    kind = _kind(Path(file))
    if kind not in _READERS:
        message = f"{quote_shortened(file)} is of no kind that is read here: its name must end in {', '.join(_READERS)}"
        raise _wrong(f"{message}, or for all but Parquet in .gz or .zst behind that")
    return _READERS[kind]


def _kind(path: Path) -> str:
    """What its name ends in, without that of packing."""
    name = path.name.lower()
    packed = next((end for end in _PACKED if name.endswith(end)), "")
    kind = Path(name.removesuffix(packed)).suffix
    return f"{kind}{packed}" if packed and kind == ".parquet" else kind


def _check_file(path: Path) -> None:
    if path.is_symlink():
        message = f"{path} is a link: name the file that it leads to, {path.resolve()}"
        raise UserError(message)
    if path.is_dir():
        message = f"{path} is a folder: name one file"
        raise UserError(message)
    if not path.exists():
        hint = ": it is taken as it stands, so name one file" if _GLOB.search(str(path)) else ""
        message = f"there is no file {path}{hint}"
        raise UserError(message)
    if not path.is_file():
        message = f"{path} is no file, but a pipe or a device"
        raise UserError(message)
    if not path.stat().st_size:
        message = f"{path} is empty"
        raise UserError(message)


def copy_own_file(connection: duckdb.DuckDBPyConnection, file: OwnFile) -> None:
    """Make a temporary table of what a file holds. The connection may still read files.

    Raises UserError when the file cannot be read, or there is no room for it.
    """
    values = {"delimiter": _delimiter(file.path)} if file.reader is _CSV else {}
    # DuckDB takes * and others in a path for patterns, and a link of ours has none
    with tempfile.TemporaryDirectory(prefix="slowwave-own-") as folder:
        link = Path(folder) / f"own{''.join(file.path.suffixes[-2:]).lower()}"
        if _kind(link) != _kind(file.path):
            link = link.with_name(f"own{file.path.suffix.lower()}")
        link.symlink_to(file.path.absolute())
        try:
            connection.execute(
                f'CREATE TEMP TABLE "{file.name}" AS FROM {file.reader}',  # the name has letters, digits and _ alone
                {"path": str(link), **values},
            )
        except duckdb.Error as error:
            message = f"{file.path} cannot be read: {_describe_error(error, str(link), values)}"
            raise UserError(message) from error


def _delimiter(path: Path) -> str:
    """What separates the names in the first line: what occurs most often in it."""
    from slowwave.flows.kernel.storage.text_stream import DAMAGED, text_stream  # loads zstandard

    try:
        with path.open("rb") as file:
            head = text_stream(file).stream.read(_HEAD_BYTES)
    except DAMAGED:  # DuckDB says what is wrong
        return _DELIMITERS[0]
    line = head.decode(errors="replace").partition("\n")[0]
    return max(_DELIMITERS, key=line.count)


def _describe_error(error: duckdb.Error, link: str, values: dict[str, str]) -> str:
    """What DuckDB says, in a line, without the names that it has from us."""
    text = str(error).strip()
    if "Error when sniffing file" in text:
        by = repr(values.get("delimiter", ","))
        return f"it is no CSV with a line of names, and as many cells in every other line (separated by {by})"
    lines = text.partition("\n\n")[0].splitlines()
    said = "; ".join(line.strip() for line in lines if not line.startswith(("LINE ", "Possible ")))
    return shorten_to_width(said.replace(f"'{link}'", "it").replace(f'"{link}"', "it").replace(link, "it"), _MOST_SAID)
