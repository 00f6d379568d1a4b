"""The stores that can be pushed to: where each lies, and how it is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slowwave.flows.imports.connections import Connection, connections
from slowwave.flows.imports.sources import Source, source_named
from slowwave.flows.imports.units import home_shortened
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened, terminal_safe
from slowwave.flows.push.claude_door import ClaudeDoor
from slowwave.flows.push.door import Door
from slowwave.flows.push.library_door import LibraryDoor


@dataclass(frozen=True)
class Place:
    """One store: its kind, where it lies, and what the connection says of it."""

    source: Source
    path: Path
    connection: Connection | None

    @property
    def name(self) -> str:
        """Where it lies, for decisions and people."""
        return home_shortened(self.path)


def _claude(place: Place, *, writes: bool) -> Door:  # noqa: ARG001 - as the others
    return ClaudeDoor(place.path)


def _library(place: Place, *, writes: bool) -> Door:
    said = place.connection
    python, config = (said.python, said.config) if said else (None, None)
    return LibraryDoor(place.source.name, place.path, python=python, config=config, writes=writes)


def _mem0(place: Place, *, writes: bool) -> Door:
    said = place.connection
    if said is None or said.config is None:
        message = (
            f"how mem0 reaches the vectors of {terminal_safe(place.name)} is not known: connect it, and name the JSON "
            'that your agent gives to `Memory.from_config`, `config = "/path/of/mem0.json"`, and the interpreter that '
            'has mem0ai, `python = "/path/of/venv/bin/python"`, in connections.toml'
        )
        raise UserError(message)
    config = os.path.expanduser(said.config)  # noqa: PTH111 - of an unknown user it stays as it is
    return LibraryDoor("mem0", place.path, python=said.python, config=config, writes=writes, copies=False)


DOORS: dict[str, Callable[..., Door]] = {
    "claude-memory": _claude,
    "alma": _library,
    "mem0": _mem0,
    "astrocyte": _library,
    "langgraph": _library,
}


def open_store(place: Place, *, writes: bool) -> Door:
    """The store, open; `writes` false: nothing of it is touched. Raises UserError."""
    return DOORS[place.source.name](place, writes=writes)


def places(settings: Settings, store: str, paths: Sequence[str]) -> list[Place]:
    """The stores of a kind: those that are named, else those that are connected.

    Raises WrongUsageError where the kind is none that can be pushed to, UserError where there is no such store.
    """
    source = source_named(store)
    if source is None or store not in DOORS:
        message = f"nothing can be pushed to {quote_shortened(store)}: there are {', '.join(DOORS)}"
        raise WrongUsageError(message)
    connected = [one for one in connections(settings) if one.source == store]
    by_place = {one.place.resolve(): one for one in connected}
    given = [Path(os.path.expanduser(path)) for path in paths]  # noqa: PTH111 - of an unknown user it stays as it is
    if not given and not connected:
        message = (
            f"no {store} is connected: say where it lies, `slowwave push {store} PATH`, or connect it once, "
            f"`slowwave connect {store} PATH`"
        )
        raise UserError(message)
    found = [Place(source, path, by_place.get(path.resolve())) for path in given or [one.place for one in connected]]
    missing = next((place for place in found if not place.path.exists()), None)
    if missing is not None:
        message = f"{terminal_safe(str(missing.path))} is not there: it was moved, or its disk is not mounted"
        raise UserError(message)
    return found
