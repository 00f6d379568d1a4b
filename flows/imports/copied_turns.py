"""Which turns of the units of an import are copies of another session's, by what all units hold, read before or now."""

from __future__ import annotations

from collections.abc import Sequence

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
            cached = known.get(unit.name) if cursors is not None and cursors.is_as_it_was(unit) else None
            self._outlines[unit.name] = cached or unit.outline()
        self._known = known
        self._now = owners((known | self._outlines).values())

    def outline(self, unit: Unit) -> Outline | None:
        """The turns of a unit, with the interactions that they make, which cursors do not keep."""
        outline = self._outlines.get(unit.name)
        if outline is not None and unit.outline is not None and outline is self._known.get(unit.name):
            outline = self._outlines[unit.name] = unit.outline()
        return outline

    def copies(self, unit: Unit) -> frozenset[str]:
        """The turns of a unit that are another session's."""
        outline = self._outlines.get(unit.name)
        return self._now.copies(outline) if outline is not None else _NOBODYS

    def regained(self, unit: Unit) -> frozenset[str]:
        """The turns of a unit that were delivered as another session's."""
        outline = self._outlines.get(unit.name)
        if outline is None:
            return _NOBODYS
        of_others = {turn for turn in outline.turns if self._before.of(turn) not in (None, outline.session)}
        return frozenset(of_others - self._now.copies(outline))
