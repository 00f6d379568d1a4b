"""What is published of how the forecasts of need were made."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.columns import AS_OF, RUN_ID
from slowwave.transforms.core.schema import Table, column


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
