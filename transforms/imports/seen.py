"""What was seen of the stores of one kind: without it, what changed in a store, and what is gone, is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slowwave.transforms.imports.stores.pushed import Pushed


@dataclass(frozen=True)
class SeenMemory:
    """What was last seen of a memory: as of when, whether in use, a digest of each field, and which stores had it."""

    at: datetime
    is_live: bool
    digests: Mapping[str, str]
    stores: frozenset[str]


@dataclass
class Seen:
    """What was seen by which version of the importer: of memories by id, and digests of other rows by key.

    `stores`: where each store lies that was read, by what identifies it.
    """

    version: int
    memories: dict[str, SeenMemory] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    stores: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Seen:
        """The same, of which a reading that fails halfway may be thrown away."""
        return Seen(self.version, dict(self.memories), dict(self.rows), dict(self.stores))


def _is_none_of_them(_memory_id: str) -> bool:
    return False


@dataclass(frozen=True)
class Before:
    """What a store is read beside: `seen`, which the reading brings up to date.

    `store` tells stores of one kind apart, so that none archives what another has. `seen_at`: when it is read, UTC
    without a zone. `absent`: stores that are where they were no more: what only they had, nobody has.
    `accepts_vanished`: memories are archived however many are gone at once. `pushed`: what `slowwave push` wrote, which
    is no word of the store's. `is_erased`: tells by the id of a memory whether it was erased from the lake.
    """

    store: str
    seen: Seen
    seen_at: datetime
    absent: frozenset[str] = frozenset()
    accepts_vanished: bool = False
    pushed: Pushed = field(default_factory=dict)
    is_erased: Callable[[str], bool] = _is_none_of_them
