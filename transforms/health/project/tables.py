"""What is published of a project's memories as a whole."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID


class ProjectHealth(Table):
    """How each project's memory is doing: totals, shares, and alarms. What was hardly used is unknown, not unwell."""

    name: ClassVar[str] = "project_health"
    key: ClassVar[tuple[str, ...]] = ("project",)

    project: str = column("Key: project; '' is none.")
    health: Literal["healthy", "warning", "critical", "unknown"] = column(
        "The worst alarm; without one healthy, or unknown where too few memories had a chance to be used.",
        old_name="status",
    )
    alarms: list[str] = column("What is wrong, worst first, with the figures. Empty: nothing found.")
    memories_count: int = column("Memories. Only those that landed count.")
    active_count: int = column("Active memories.")
    candidate_count: int = column("Of them waiting for a decision.")
    inactive_count: int = column("Of them superseded, invalid, archived, graduated or expired.")
    unknown_count: int = column("Ids injected or cited, but never landed: all of them count under ''.")
    pinned_count: int = column("Active and pinned.")
    held_count: int = column("On hold.")
    judged_count: int = column("Active with a reference, or enough chances of one: injections, eligible interactions.")
    injected_count: int = column(
        "Interactions that a memory was put into (`memories_used`). All of its memories, from whatever project."
    )
    stale_injected_count: int = column(
        "Of the injections those at which the memory was superseded, invalid or expired: one row each in"
        " stale_injections."
    )
    scope_leak_count: int = column(
        "Times that a memory of it was given to an interaction of another user, agent or tag scope: see scope_leaks."
    )
    reference_count: int = column(
        "Interactions whose answer quotes or uses it: a lower bound on its real use. Of all its memories."
    )
    keep_count: int = column("Memories with this verdict.")
    review_count: int = column("Memories with this verdict.")
    forget_count: int = column("Memories with this verdict.")
    harmful_count: int = column("Memories with this verdict.")
    unproven_count: int = column("Memories with this verdict.")
    used_expected: float = column(
        "Interactions whose answer is expected to rely on it: the sum of all probabilities, found or not (`used/3`)."
        " Of all its memories."
    )
    mean_strength: float | None = column("Mean strength of active memories. NULL: of none known.", unit="0-1")
    junk_share: float | None = column(
        "Of active, candidate and invalid memories: invalid, to forget, or with hardly any text. NULL: there are none.",
        unit="0-1",
    )
    duplicate_share: float | None = column(
        "Of active memories with a text: those whose normalised text another one of its user, agent and tag scope has"
        " too. NULL: there are none.",
        unit="0-1",
    )
    stale_share: float | None = column(
        "Of active memories with a reference: stale, or weak beyond what the project's quiet explains. NULL: none.",
        unit="0-1",
    )
    never_eligible_share: float | None = column(
        "Of active memories: no interaction could have used it. NULL: there are none, or no interaction at all.",
        unit="0-1",
    )
    never_injected_share: float | None = column(
        "Of active memories with many eligible interactions: never injected. NULL: there are none, or nothing was ever"
        " injected.",
        unit="0-1",
    )
    injected_never_used_share: float | None = column(
        "Of active memories with many injections, used or not used for sure: not used. NULL: there are none.",
        unit="0-1",
    )
    pinned_share: float | None = column("Of active memories: pinned. NULL: there are none.", unit="0-1")
    forget_share: float | None = column("Of active memories: verdict forget. NULL: there are none.", unit="0-1")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
