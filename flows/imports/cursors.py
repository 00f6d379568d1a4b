"""What is known of units that were imported, so that an unchanged one is not read again; only time depends on it.

`lake/imports/ADAPTER.json` has a unit's state by the digest of its path; without it all is read anew, to the same rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from slowwave.flows.imports.units import Unit
from slowwave.flows.kernel.store import write_durably
from slowwave.transforms.core.hashing import digest

FOLDER = "imports"
# One per transcript: of more, those imported longest ago are read again.
_MOST_UNITS = 200_000


class Cursors:
    """The states of one adapter's units; `reading` says how they are read, so that other options read them again."""

    def __init__(self, lake: Path, adapter: str, reading: dict[str, Any]) -> None:
        self._path = lake / FOLDER / f"{adapter}.json"
        self._reading = reading
        self._states: dict[str, Any] = {}
        try:
            stated = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if isinstance(stated, dict):
            self._states = stated

    @property
    def folder(self) -> Path:
        """Where what imports know is kept."""
        return self._path.parent

    def is_unchanged(self, unit: Unit, *, is_idle: bool) -> bool:
        """Whether a unit was imported as it is now, read in the same way."""
        return self._states.get(unit_key(unit)) == self._state(unit, is_idle=is_idle)

    def note(self, unit: Unit, *, is_idle: bool) -> None:
        """A unit was imported as it is."""
        self._states.pop(unit_key(unit), None)
        self._states[unit_key(unit)] = self._state(unit, is_idle=is_idle)

    def _state(self, unit: Unit, *, is_idle: bool) -> dict[str, Any]:
        return {**unit.state, **self._reading, "is_idle": is_idle}

    def save(self) -> None:
        """Make it durable. Raises OSError as the disk does."""
        kept = dict(list(self._states.items())[-_MOST_UNITS:])
        write_durably(self._path, lambda aside: aside.write_text(json.dumps(kept), encoding="utf-8"))


def unit_key(unit: Unit) -> str:
    """What a unit is told by here: a digest of its path."""
    return digest([str(Path(unit.name).absolute())])
