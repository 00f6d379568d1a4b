"""Which turns of the units of an import are copies of another session's, by what all units hold, read before or now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slowwave.flows.imports.cursors import Cursors
from slowwave.flows.imports.units import Unit
from slowwave.transforms.imports.forks import Outline, Owners, owners

_NOBODYS: frozenset[str] = frozenset()


class CopiedTurns:
    """Looks through units whose sessions can be forked before any is imported."""

    def __init__(self, units: Sequence[Unit], cursors: Cursors | None) -> None:
        known = cursors.outlines() if cursors is not None else {}
        self._before: Owners = owners(known.values())
        self._outlines: dict[str, Outline] = {}
        for unit in units:
            if unit.outline is None:
                continue
            cached = known.get(unit.key) if cursors is not None and cursors.is_as_it_was(unit) else None
            self._outlines[unit.key] = cached or unit.outline()
        self._known = known
        self._times = cursors.regained() if cursors is not None else {}
        self._now = owners((known | self._outlines).values())

    def outline(self, unit: Unit) -> Outline | None:
        """The turns of a unit, with the interactions that they make, which cursors do not keep."""
        outline = self._outlines.get(unit.key)
        if outline is not None and unit.outline is not None and outline is self._known.get(unit.key):
            outline = self._outlines[unit.key] = unit.outline()
        return outline

    def copies(self, unit: Unit) -> frozenset[str]:
        """The turns of a unit that are another session's."""
        outline = self._outlines.get(unit.key)
        return self._now.copies(outline) if outline is not None else _NOBODYS

    def regained(self, unit: Unit) -> dict[str, int]:
        """The turns of a unit that were delivered as another session's, or as of several, and how often."""
        outline = self._outlines.get(unit.key)
        if outline is None:
            return {}
        found: dict[str, int] = {}
        for turn in outline.turns.keys() - self._now.copies(outline):
            was_another = self._before.of(turn) not in (None, outline.session)
            times = max(self._times.get(name, 0) for name in self._now.names(turn)) + was_another
            if times:
                found[turn] = times
        return found

    def first_names(self, regained: Mapping[str, int]) -> dict[str, int]:
        """The same by what the turns were called first, as cursors keep them."""
        return {self._now.names(turn)[-1]: times for turn, times in sorted(regained.items())}
