"""Which sources are connected, by the person's word, and what came of reading them last time.

`connections.toml` in the home is the person's, and is only ever added to. `lake/imports/connected.json` is ours: asking
it loads nothing that imports.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of

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
