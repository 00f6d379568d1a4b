"""Sources that are connected, so that every nightly reads them first, and what the receiver took in.

Nothing is connected but by a person's word, and nothing is read before. This module is light: what imports is loaded
where something is imported.
"""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import shown_name
from slowwave.flows.land.inbox import Delivery, inbox_deliveries, inbox_otlp
from slowwave.flows.land.received_files import claim, is_unclaimed

# ------------------------------------------------------------------------------------------
# Which sources are connected, by the person's word, and what came of reading them last time.
# `connections.toml` in the home is the person's, and is only ever added to. `lake/imports/connected.json` is ours:
# asking it loads nothing that imports.

_HEAD = "# What every nightly reads first; a connection that is taken out of here is not read any more.\n"
_STATES = Path("imports") / "connected.json"
_KEYS = {"source", "path", "project_map", "python", "config"}


@dataclass(frozen=True)
class Connection:
    """A source that every nightly imports; `~` in its paths is the home of whoever runs it.

    `python`: the interpreter that has the library of a store, and `config`: the JSON file by which mem0 is made, to
    push to it.
    """

    source: str
    path: str
    project_map: str | None = None
    python: str | None = None
    config: str | None = None

    @property
    def place(self) -> Path:
        """Where it lies."""
        return Path(os.path.expanduser(self.path))  # noqa: PTH111 - of an unknown user it stays as it is

    @property
    def key(self) -> str:
        """What it is told by."""
        return f"{self.source} {self.path}"


@dataclass(frozen=True)
class LastRead:
    """What came of reading a connection.

    `stamp`: how its files stood, '' where they are to be read again. `read_at`: ISO-8601. `warnings`: what kept it, or
    a part of it, from being imported.
    """

    stamp: str = ""
    read_at: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass
class Imported:
    """What came of the connected sources: how many were read and how many had not changed, rows by kind, warnings."""

    read: int = 0
    unchanged: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)


def connections(settings: Settings) -> list[Connection]:
    """What is connected, in the order of the file; nothing where there is none.

    Raises UserError where the file cannot be used.
    """
    path = settings.connections_file
    try:
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path} cannot be used: {error}"
        raise UserError(message) from error
    listed = stated.get("connection", [])
    if stated.keys() - {"connection"} or not isinstance(listed, list):
        message = f"{path} cannot be used: it may have [[connection]] tables only"
        raise UserError(message)
    return [_connection(path, one) for one in listed]


def _connection(path: Path, stated: Any) -> Connection:  # noqa: ANN401 - whatever TOML holds
    unknown = sorted(stated.keys() - _KEYS) if isinstance(stated, dict) else []
    is_good = isinstance(stated, dict) and all(isinstance(value, str) and value for value in stated.values())
    if not is_good or unknown or not {"source", "path"} <= stated.keys():
        wrong = f"nothing is called {unknown[0]!r} there" if unknown else "each needs a source and a path, as texts"
        message = f"{path} cannot be used: {wrong}"
        raise UserError(message)
    return Connection(**stated)


def connect(settings: Settings, new: Iterable[Connection]) -> None:
    """Add connections to the file, whatever else stands in it. Raises OSError."""
    from slowwave.flows.kernel.store import write_durably  # loads Polars, which who only reads needs not

    path = settings.connections_file
    before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    added = "".join(_toml(one) for one in new)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, lambda aside: aside.write_text(before.rstrip("\n") + "\n" + added, encoding="utf-8"))


def _toml(connection: Connection) -> str:
    # a string of JSON is one of TOML, but for DEL, which TOML wants written out
    stated = (
        (name, json.dumps(value).replace("\x7f", "\\u007f")) for name, value in asdict(connection).items() if value
    )
    return "\n[[connection]]\n" + "".join(f"{name} = {value}\n" for name, value in stated)


def last_reads(lake: Path) -> dict[str, LastRead]:
    """What came of each connection's last reading, by its key; without the file all are read again."""
    try:
        stated = json.loads(storage_of(lake).read(lake / _STATES))
        return {key: LastRead(**one) for key, one in stated.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep_last_reads(lake: Path, reads: dict[str, LastRead]) -> None:
    """Write down what came of each connection. Raises OSError."""
    from slowwave.flows.kernel.store import write_durably

    text = json.dumps({key: asdict(one) for key, one in reads.items()}, indent=1)
    write_durably(lake / _STATES, lambda aside: aside.write_text(text, encoding="utf-8"))


# ------------------------------------------------------------------------------------------
# What the receiver took in becomes deliveries: its files are claimed, and OTLP is imported, before the inbox lands.
# A trace may still grow: files with one whose topmost span has not come are read again, for an hour after they came.
# What was imported of traces is kept for some days (`kept_parts`), so that later spans are read together with
# earlier ones.

if TYPE_CHECKING:
    from slowwave.flows.imports.importer import ImportReport

_GROWS_SECONDS = 3600.0


def received_deliveries(
    settings: Settings, told: Callable[[str], None], *, ends_traces: bool = False
) -> list[Delivery]:
    """What is to land of the inbox; `told` of what could not be imported, which stays there.

    `ends_traces`: no trace is waited for, so that nothing stays that could be read.

    The caller holds the writer lock. Raises OSError as our own disk does.
    """
    claim(settings)
    now = time.time()
    files = [file for file in inbox_otlp(settings.inbox) if not is_unclaimed(file.name)]
    if ends_traces:
        for file in files:
            with suppress(PermissionError):  # what is another user's waits for its hour
                os.utime(file, (now - _GROWS_SECONDS, now - _GROWS_SECONDS))
    if files:  # loads what imports, which a home without any does not need
        is_old = {file: now - file.stat().st_mtime >= _GROWS_SECONDS for file in files}
        for are_old in (True, False):
            some = [file for file in files if is_old[file] == are_old]
            if some:
                _take(settings, some, told)
    # what came since waits for the next landing: the receiver may merge it while this one reads
    return [one for one in inbox_deliveries(settings.inbox) if not is_unclaimed(one.source)]


def _take(settings: Settings, files: Sequence[Path], told: Callable[[str], None]) -> None:
    """Import some files, and remove them, unless a trace in them is open or they cannot be read."""
    from slowwave.transforms.imports.otlp.adapter import OPEN

    try:
        report = _import_otlp(settings, files)
    except UserError as error:
        told(str(error))
        return
    for fault in report.faults:
        told(fault)
    named = {file: any(shown_name(file) in fault for fault in report.faults) for file in files}
    if report.tally.left_out[OPEN] or (report.faults and not any(named.values())):
        return
    for file in files:
        if not named[file]:
            file.unlink(missing_ok=True)


def _import_otlp(settings: Settings, files: Sequence[Path]) -> ImportReport:
    from slowwave.flows.imports.importer import Import, ImportOptions, found_by, source_settings
    from slowwave.flows.imports.sources import OTLP

    options = ImportOptions(settings=source_settings(settings, OTLP.name))
    found = found_by(settings, OTLP, files, options)
    return Import(OTLP.adapter, settings.inbox, options).run(found)
