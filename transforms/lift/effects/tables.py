"""What is published of whether memories help."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID


class Effects(Table):
    """Whether memories help: the difference in success with and without them, of all, by project and by memory."""

    name: ClassVar[str] = "effects"
    key: ClassVar[tuple[str, ...]] = ("scope", "scope_id", "outcome", "comparison")

    scope: Literal["all", "project", "memory"] = column(
        "Key: of all memories together, of those in a project's interactions, or of one."
    )
    scope_id: str = column("Key: the project ('' is none) or the memory; '' of all.")
    outcome: Literal["success"] = column("Key: what is compared.")
    comparison: Literal["injected or left out", "with or without"] = column(
        "Key: injected or left out: offers that a draw injected, beside those that it left out; with or"
        " without: interactions with the memory (of all and of a project: with any) beside those without."
    )
    estimate: float | None = column(
        "Difference in the share of successes. A memory's is drawn towards the others' of the comparison, large ones"
        " hardly. NULL: fewer than 5 sessions (a param) on a side.",
        unit="-1-1",
    )
    own_estimate: float | None = column(
        "The same from its own interactions, not drawn. NULL: as estimate.", unit="-1-1"
    )
    low: float | None = column(
        "Lower end of the 90 % interval of own_estimate, by sessions; no higher than estimate. NULL: as estimate.",
        unit="-1-1",
    )
    high: float | None = column("Upper end of it; no lower than estimate. NULL: as estimate.", unit="-1-1")
    basis: Literal["randomised", "within task", "none"] = column(
        "randomised: chance decided, and its probability was logged; within task: compared within task (else kind of"
        " task) and week, an association; none: nothing could be compared."
    )
    claim: Literal["helps", "harms", "associated", "cannot be told"] = column(
        "What it may be called. helps, harms: randomised, and wrong in at most 5 % of cases (a param) however often one"
        " looks; associated: not randomised, something else may be the cause."
    )
    e_value: float | None = column(
        "Evidence that may be looked at every night: 20 is strong, 1 is none (at most 1e299). Against no effect; from"
        " 20 on, a param, an effect is claimed. NULL: not randomised."
    )
    detectable: float | None = column(
        "Smallest true effect, up or down, that a look finds four times in five. NULL: as estimate.", unit="-1-1"
    )
    with_count: int = column("Interactions compared that had it. Of all: offers that were injected.")
    without_count: int = column("Interactions compared that had not.")
    least_sessions: int = column("Sessions of the side with fewer.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
