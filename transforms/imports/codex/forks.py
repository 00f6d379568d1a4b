"""Which turns of a rollout are its own: a fork begins with copies of another thread's records, written down anew."""

from __future__ import annotations

from slowwave.transforms.imports.codex.threads import Thread, thread_of
from slowwave.transforms.imports.codex.values import milliseconds, milliseconds_of_id
from slowwave.transforms.imports.made import Record

# Copies are written in one go when a thread is forked; a person needs longer than that to ask something.
_COPYING_MS = 2_000


class Lineage:
    """The thread of a rollout, and those whose records it begins with."""

    def __init__(self) -> None:
        self.thread = Thread()
        self._ancestors: dict[str, Thread] = {}
        self._first_ms: int | None = None
        self._at_ms: int | None = None
        self._ordinal: int | None = None
        self._is_past_copies = False

    def meta(self, payload: Record, at: str) -> None:
        """A `session_meta` record: the first is the thread's own, those of other threads were copied."""
        found = thread_of(payload, at)
        if not self.thread.thread_id:
            self.thread, self._first_ms = found, milliseconds(at)
        elif found.thread_id != self.thread.thread_id:
            self._ancestors[found.thread_id] = found

    def record(self, ordinal: int | None, at: str) -> None:
        """Any other record: where it stands, and when it was written."""
        self._ordinal, self._at_ms = ordinal, milliseconds(at)

    def is_copied(self, turn_id: str, began: str) -> bool:
        """Whether a turn that begins with the last record is a copy; behind the first own one none is."""
        if not self._is_past_copies:
            self._is_past_copies = not self._is_before_own(turn_id, began)
        return not self._is_past_copies

    def _is_before_own(self, turn_id: str, began: str) -> bool:
        thread = self.thread
        if not (thread.forked_from or thread.history_ends or self._ancestors):
            return False
        if thread.history_ends is not None and self._ordinal is not None:
            return self._ordinal < thread.history_ends
        drawn, thread_drawn = milliseconds_of_id(turn_id), milliseconds_of_id(thread.thread_id)
        if drawn is not None and thread_drawn is not None:
            return drawn < thread_drawn
        began_ms = milliseconds(began)
        if began_ms is not None and thread.began_ms is not None:
            return began_ms < thread.began_ms // 1000 * 1000
        if not self._ancestors or self._at_ms is None or self._first_ms is None:
            return False
        return self._at_ms - self._first_ms < _COPYING_MS

    def thread_of_turn(self, *, is_copied: bool) -> Thread | None:
        """Whose a turn is; None where that of a copy is not known."""
        if not is_copied:
            return self.thread
        first, *others = [*self._ancestors.values()] or [Thread(forked_from="unknown")]
        return None if others or first.forked_from else first
