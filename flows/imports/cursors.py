"""What is known of units that were imported, so that an unchanged one is not read again.

`lake/imports/ADAPTER.json` has an entry per unit: its state, how it was read, and the turns in it. Without it all is
read anew, to the same rows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slowwave.flows.imports.units import Unit
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.forks import Outline, SeenTurn

FOLDER = "imports"
# One per transcript: of more, those imported longest ago are read again.
_MOST_UNITS = 200_000


@dataclass
class _Entry:
    """What is known of a unit: `regained` are turns of it that had been delivered as another's, and how often.

    `has_earlier`: an earlier version of the adapter read it too.
    """

    state: dict[str, Any]
    reading: dict[str, Any]
    regained: dict[str, int] = field(default_factory=dict)
    outline: dict[str, Any] | None = None
    has_earlier: bool = False


class Cursors:
    """The units of one adapter that were imported; `reading` says how, so that other options read them again."""

    def __init__(self, lake: Path, adapter: str, reading: dict[str, Any]) -> None:
        self._path = lake / FOLDER / f"{adapter}.json"
        self._reading = reading
        self._entries: dict[str, _Entry] = {}
        try:
            stated = json.loads(storage_of(self._path).read(self._path))
            self._entries = {name: _Entry(**entry) for name, entry in stated.items()}
        except (OSError, ValueError, TypeError, AttributeError):  # as if nothing were known
            self._entries = {}
        self._is_new = not self._entries

    @property
    def folder(self) -> Path:
        """Where what imports know is kept."""
        return self._path.parent

    def is_as_it_was(self, unit: Unit) -> bool:
        """Whether nothing was written to a unit since it was imported."""
        entry = self._entries.get(unit.key)
        return entry is not None and entry.state == unit.state

    def is_unchanged(self, unit: Unit, *, is_idle: bool, copies: frozenset[str]) -> bool:
        """Whether a unit was imported as it is now, read in the same way."""
        entry = self._entries.get(unit.key)
        return self.is_as_it_was(unit) and entry is not None and entry.reading == self._as_read(is_idle, copies)

    def may_have_earlier(self, unit: Unit) -> bool:
        """Whether an earlier version of the adapter read a unit, or it is not known what was read at all."""
        entry = self._entries.get(unit.key)
        if entry is None:
            return self._is_new
        return entry.has_earlier or entry.reading.get("v") != self._reading.get("v")

    def regained(self) -> dict[str, int]:
        """Turns, by what they were called first, that had been delivered as another session's, and how often."""
        found: dict[str, int] = {}
        for entry in self._entries.values():
            for turn, times in entry.regained.items():
                found[turn] = max(times, found.get(turn, 0))
        return found

    def outlines(self) -> dict[str, Outline]:
        """The turns of all units that were imported, by their keys."""
        found = {}
        for key, entry in self._entries.items():
            if (stated := entry.outline) is not None:
                turns = {turn: SeenTurn("", at) for turn, at in stated["turns"].items()}
                copied_from, modified_at = stated["copied_from"], stated["modified_at"]
                found[key] = Outline(stated["session"], turns, copied_from, modified_at)
        return found

    def note(
        self, unit: Unit, outline: Outline | None, *, is_idle: bool, copies: frozenset[str], regained: dict[str, int]
    ) -> None:
        """A unit was imported as it is."""
        has_earlier = self.may_have_earlier(unit)
        entry = _Entry(unit.state, self._as_read(is_idle, copies), regained, has_earlier=has_earlier)
        if outline is not None:
            entry.outline = {
                "session": outline.session,
                "turns": {turn: seen.at for turn, seen in outline.turns.items()},
                "copied_from": outline.copied_from,
                "modified_at": outline.modified_at,
            }
        key = unit.key
        self._entries.pop(key, None)
        self._entries[key] = entry

    def _as_read(self, is_idle: bool, copies: frozenset[str]) -> dict[str, Any]:
        return {**self._reading, "is_idle": is_idle, "copies": digest(sorted(copies))}

    def save(self) -> None:
        """Make it durable. Raises OSError as the disk does."""
        kept = {key: vars(entry) for key, entry in list(self._entries.items())[-_MOST_UNITS:]}
        write_durably(self._path, lambda aside: aside.write_text(json.dumps(kept), encoding="utf-8"))
