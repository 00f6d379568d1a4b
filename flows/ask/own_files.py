"""A person's own files beside the published tables: each is copied into a temporary table before a query runs.

Nothing but that copy can be asked: DuckDB is locked after it, and no path becomes readable to SQL.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import typer

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import quote_shortened, shorten_to_width

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
