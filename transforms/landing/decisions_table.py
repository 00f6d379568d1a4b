"""The landed table of decisions: what people, and commands on their behalf, decided about memories and projects."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from slowwave.transforms.core.schema import Json, Landed, column
from slowwave.transforms.core.vocabularies import TargetKind


class Decisions(Landed):
    """One decision. The status changes that follow from it stand in the memory log, and can be made again from it."""

    name: ClassVar[str] = "decisions"
    key: ClassVar[tuple[str, ...]] = ("decision_id",)
    event_time: ClassVar[str] = "decided_at"

    decision_id: str = column("Key: digest of command, target, values and the publish decided on.")
    command: str = column(
        "What was decided: `forget apply`, `forget hold`, `memory edit`, `review promote`, `leave out`, ...; of a"
        " language model's answer its method."
    )
    target_kind: TargetKind = column(
        "What `target` names; an item is one of review_queue, a row one of a landed table."
    )
    target: str = column("The memory's or item's id, or the project; of a row TABLE:KEY.")
    values: Annotated[str | None, Json] = column(
        "What belongs to the decision, as one JSON object; of `forget apply` the memory's whole state before it, of"
        " `review` the item, why it waited (`queue_reason`) and the changes it makes; of `memory` the change."
    )
    reason: str | None = column("Why. NULL: not said.")
    changed_by: str = column("Who decided.")
    decided_at: datetime = column("When it took effect.", unit="UTC")
    recorded_at: datetime = column("When it was written.", unit="UTC")
    on_run_id: str | None = column("The publish it was decided on. NULL: none.")
    row_hash: str = column("Hash of the row's non-NULL fields: two rows with the same hash are one row.", internal=True)
    key_hash: int = column("First 63 bits of the hash of the row's key.", internal=True)
