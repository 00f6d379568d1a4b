"""The published table of fitted half-lives."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from slowwave.transforms.core.columns import AS_OF, RUN_ID
from slowwave.transforms.core.schema import Table, column


class FittedStrengths(Table):
    """How fast each type of memory fades, and how well that foretold which memories would be referenced again."""

    name: ClassVar[str] = "strength_fits"
    key: ClassVar[tuple[str, ...]] = ("memory_type",)

    memory_type: str = column("Key: identity, preference, project, knowledge, ... '' is memories that never landed.")
    half_life_days: float = column("Days after which evidence counts half. Of a memory of importance .5.", unit="days")
    default_half_life_days: float = column("The same where the log has too little (a param).", unit="days")
    windows: int = column(
        "Past windows it was fitted on. Of 30 days (a param), over by now, in which its projects were active."
    )
    forecasts: int = column("Memories forecast in all windows but the first, whether referenced in it or not.")
    references: int = column("Of them referenced.")
    log_loss: float | None = column(
        "Log loss of the chosen parameters on these cases. NULL: nothing forecast.", unit="nats per case"
    )
    default_log_loss: float | None = column(
        "Log loss of the default parameters on the same cases. NULL: none.", unit="nats per case"
    )
    reach_days: int | None = column(
        "`fades_at` is forecast no further from the last evidence: the longest run without a reference that the log has"
        " watched in a memory of the type, and 30 days more (the windows). NULL: none watched, or not strength/2.",
        unit="days",
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
