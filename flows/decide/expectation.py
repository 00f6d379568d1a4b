"""What a person saw before deciding, checked again under the lock: of two who look at once, only one decides.

A command prints it as `expect` (`--format json`) and takes it back with `--expect`: the id of the last decision on the
things it is about, and after a point a digest of what it would decide. Without that digest, anything may be decided
that comes right after that decision: what takes a decision back is given its id alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.kernel.times import utc_text
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.decisions.effects import APPLY, HOLD, RELEASE, RESTORE
from slowwave.transforms.decisions.memory_edits import MEMORY_EDITS
from slowwave.transforms.decisions.review.decisions import REVIEWS

_NONE = "none"
# others, such as a push to a store, say nothing of what a memory is
_DECIDING = (APPLY, RESTORE, HOLD, RELEASE, *MEMORY_EDITS, *REVIEWS)


@dataclass(frozen=True)
class Expectation:
    """The last decision on some things, None where there is none, and a digest of what would be decided of them."""

    last: Mapping[str, Any] | None
    planned: str

    @property
    def token(self) -> str:
        """As it is printed."""
        return f"{self._last_id}.{self.planned}"

    @property
    def _last_id(self) -> str:
        return self.last["decision_id"] if self.last else _NONE

    def check(self, expected: str | None, reasons: Iterable[str] = ()) -> None:
        """Raises UserError where this is not what was `expected`; None: anything is. `reasons`: why it may be so."""
        if expected is None:
            return
        last_id, _, planned = expected.partition(".")
        if last_id != self._last_id and self.last is not None:
            who, when = self.last["changed_by"] or "somebody", utc_text(self.last["decided_at"])
            message = (
                f"{quote_shortened(who)} decided this at {when} (`{self.last['command']}` of "
                f"{quote_shortened(self.last['target'])}): look again (nothing was changed)"
            )
            raise UserError(message)
        if last_id != self._last_id or planned not in ("", self.planned):
            why = "".join(f": {reason}" for reason in reasons)
            message = f"it is not any more as it was shown{why}: look again (nothing was changed)"
            raise UserError(message)


def expectation(decided: pl.LazyFrame, things: Iterable[str], planned: Iterable[str]) -> Expectation:
    """What stands now.

    Args:
        decided: all decisions that took effect.
        things: the targets of those that matter: memories, items, projects.
        planned: what would be decided, in texts.
    """
    targets = pl.Series(sorted({*things}), dtype=pl.String).implode()
    of_things = decided.filter(pl.col("target").is_in(targets), pl.col("command").is_in(_DECIDING))
    last = of_things.sort("decided_at", "decision_id").tail(1).collect().to_dicts()
    return Expectation(last[0] if last else None, digest(planned))
