"""How a store is read and written: its states by the ids of memories, each write against what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slowwave.transforms.decisions.push import State


class StoreChangedError(Exception):
    """What is in the store is not what was seen of it, or must not be written over; the message says what."""


class Door(Protocol):
    """One store, open. Raises UserError where it cannot be used at all: locked, missing, without its library."""

    def states(self, memory_ids: Sequence[str]) -> dict[str, State]:
        """What the store says of these memories; those that it does not have are absent.

        `closed` in a state is why it must not be touched.
        """
        ...

    def write(self, memory_id: str, before: State, after: State) -> State:
        """Give a memory that is as `before` the fields of `after`; returns what is then read back.

        Raises StoreChangedError where it is otherwise.
        """
        ...

    def patches(self, wanted: Sequence[tuple[str, str | None]]) -> list[str]:
        """What a person may do about memories that are never written here; a content of None: to be taken out."""
        ...

    def close(self) -> None:
        """Leave it."""
        ...
