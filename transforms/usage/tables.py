"""What is published of how the forecasts of need were made."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID


class NeedFits(Table):
    """What each project's past said about which memories are needed again, beside defaults and base rate."""

    name: ClassVar[str] = "need_fits"
    key: ClassVar[tuple[str, ...]] = ("pool_id",)

    pool_id: int = column(
        "Key: whose interactions its memories are eligible in; 0 is everybody's (global memories). Those bound to an"
        " agent or user have their own.",
        old_name="scope",
    )
    project: str | None = column("Project; '' is none. NULL: of memories of several.")
    fitted_on: Literal["default", "lake", "scope"] = column(
        "Whose past the coefficients are from: its own, the whole lake's, or none yet (the documented defaults)."
    )
    windows: int = column("Past windows it was fitted on.")
    cases: int = column("Memories at the starts of those windows.")
    needed: int = column("Of them referenced in the window.")
    log_loss: float | None = column(
        "Log loss of the chosen parameters on these cases. NULL: none.", unit="nats per case"
    )
    default_log_loss: float | None = column(
        "Log loss of the default parameters on the same cases. NULL: none.", unit="nats per case"
    )
    base_log_loss: float | None = column("Of their base rate on them. NULL: none.", unit="nats per case")
    broad_weight: float = column(
        "What a reference counts by an interaction that referenced 10 to 99 memories.", unit="0-1"
    )
    bulk_weight: float = column("What one counts by an interaction that referenced 100 or more.", unit="0-1")
    coefficients: list[str] = column("name=log odds per unit, of every feature.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


# The published table of fitted half-lives.


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
