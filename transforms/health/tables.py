"""The published table of memories, and how it came about."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar

from slowwave.transforms.core.schema import Table, column, columns
from slowwave.transforms.core.vocabularies import (
    AS_OF,
    RUN_ID,
    LiftBasis,
    MemoryState,
    Scope,
    StrengthState,
    Trend,
    UseState,
    UseVerdict,
    Verdict,
)
from slowwave.transforms.evidence.tables import MemoryDays


class MemoryHealth(Table):
    """What is known of each memory as of the run: identity, state, and how often it was eligible, injected, used."""

    name: ClassVar[str] = "memory_health"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key: the memory.")
    project: str | None = column("Project; '' is none. NULL: injected or cited somewhere, but never landed.")
    agent: str | None = column("Agent; '' is none. NULL: never landed.")
    user_id: str | None = column("User it is about. NULL: none, or never said.")
    scope: Scope | None = column("agent, project or global, as stated. NULL: by its project.")
    category: str | None = column("Kind of preference. NULL: never said.")
    domain: str | None = column("Field of knowledge. NULL: never said.")
    source: str | None = column(
        "Where it comes from. How it came to be known, such as `user_stated`. NULL: never said."
    )
    tags: list[str] | None = column("Its tags. NULL: none, or never said.")
    stated_confidence: float | None = column(
        "How sure the source of a preference or of knowledge makes of it (`stated/2`): 1 where it states it, less where"
        " it was inferred. NULL: another type, or no source said.",
        unit="0-1",
    )
    memory_type: str | None = column("identity, preference, project, knowledge, ... NULL: never landed.")
    status: MemoryState | None = column(
        "State of the memory. expired: in use until its `expires_at`, which has passed. NULL: never landed."
    )
    expires_at: datetime | None = column(
        "From then on it is not eligible, and expired. NULL: it does not expire.", unit="UTC"
    )
    content: str | None = column("The memory's text. NULL: never said.")
    created_at: datetime | None = column("When it began. Its first change. NULL: never landed.", unit="UTC")
    eligible_count: int = column(
        "Interactions in which it was active and which its project, type, `scope`, `agent` and `user_id` include"
        " (`eligible/3`).",
        counts="eligible",
    )
    injected_count: int = column("Interactions that a memory was put into (`memories_used`).", counts="injected")
    stale_injected_count: int = column(
        "Of the injections those at which the memory was superseded, invalid or expired: one row each in"
        " stale_injections.",
        counts="stale",
    )
    last_stale_injected_at: datetime | None = column("Last of these. NULL: none.", unit="UTC")
    stale_hours: float | None = column(
        "From when it became so to the last of these: how long a correction took to get through. NULL: none.",
        unit="hours",
    )
    echoed_count: int = column(
        "Interactions whose answer repeats its first words (`echo/1`), also where the prompt did.", counts="echoed"
    )
    used_count: int = column(
        "Interactions whose answer relies on it in other words (`used/3`): a lower bound.", counts="used"
    )
    used_expected: float = column(
        "Interactions whose answer is expected to rely on it: the sum of all probabilities, found or not (`used/3`)."
    )
    used_expected_low: float = column(
        "Lower end of its interval (90 % by default), as of independent uses: never below 0."
    )
    used_expected_high: float = column("Upper end of its interval: never above eligible_count.")
    injected_use_expected: float = column("Of used_expected that of interactions that it was injected into.")
    detectability: float | None = column(
        "How likely a use of it is found, by how telling its words are among the active memories of its project. NULL:"
        " its text is not known.",
        unit="0-1",
    )
    use_state: UseState = column(
        "used: quoted or used. not_used: had half of its injections (by default) used it, a use should have been found,"
        " and fewer are expected; it may be used at times. undetectable: hardly any would be found. unproven: too few"
        " injections, or too many uses expected, to call it not used."
    )
    cited_count: int = column(
        "Interactions whose answer itself names it (`memories_cited`, `cited/1`), found there or not: part of no other"
        " count.",
        counts="cited",
    )
    followed_count: int = column(
        "Interactions whose answer does all that it says, by checks that can tell (`followed/1`): see"
        " instruction_checks. 0 of a memory that is no instruction, or that no check can tell of.",
        counts="followed",
    )
    not_followed_count: int = column(
        "Interactions whose answer does not, by such a check. Of all others nothing is said.", counts="not_followed"
    )
    followed_low: float | None = column(
        "Lower end of the credible interval (90 % by default) of the share of answers that follow it, with a uniform"
        " prior; each answer counts once. NULL: none was checked.",
        unit="0-1",
    )
    followed_high: float | None = column(
        "Upper end of it. Below one half the instruction is ignored. NULL: as followed_low.", unit="0-1"
    )
    reference_count: int = column(
        "Interactions whose answer quotes or uses it: a lower bound on its real use.", counts="references"
    )
    first_referenced_at: datetime | None = column("First reference. NULL: no detected reference.", unit="UTC")
    last_referenced_at: datetime | None = column("Last reference. NULL: no detected reference.", unit="UTC")
    stated_references: int | None = column(
        "References as the store it comes from counted them, before and beside this log: part of no other count. NULL:"
        " never said."
    )
    stated_last_referenced_at: datetime | None = column(
        "Last reference by the store it comes from: part of no other column. NULL: never said.", unit="UTC"
    )
    reinforced_confidence: float | None = column(
        "Initial confidence plus `reinforcement_delta` (default 0.02) per interaction that quotes it, capped. NULL:"
        " none was stated.",
        unit="0-1",
    )
    confirmed_count: int = column("References in interactions whose latest attempt succeeded.", counts="confirmed")
    contradicted_count: int = column(
        "References in interactions whose latest attempt failed: not evidence that the text is false; see the next.",
        counts="contradicted",
    )
    contradicted_expected: float | None = column(
        "Of exactly these references, how many were expected to fail without the memory. NULL: no basis for it."
    )
    confidence: float | None = column(
        "Initial confidence moved by how its references ended beyond what was expected; .5 is no difference. NULL: no"
        " reference with an outcome that could be expected.",
        unit="0-1",
    )
    confidence_low: float | None = column(
        "Lower end of the credible interval (90 % by default). NULL: as confidence.", unit="0-1"
    )
    confidence_high: float | None = column("Upper end of the credible interval. NULL: as confidence.", unit="0-1")
    lift: float | None = column(
        "Observed minus expected success of the interactions that had it, less the bias that its placebo shows, drawn"
        " towards the mean of all memories of its basis. NULL: nothing comparable, or a placebo that is not 0. What it"
        " means depends on `lift_basis`.",
        unit="-1-1",
    )
    lift_low: float | None = column("Lower end of its interval, by sessions. NULL: as lift.", unit="-1-1")
    lift_high: float | None = column("Upper end of its interval. NULL: as lift.", unit="-1-1")
    lift_basis: LiftBasis | None = column(
        "randomised: producers logged a propensity; cutoff: scored near the injection threshold; same_task: repeated"
        " tasks before and after it existed; matched: association only. NULL: as lift."
    )
    lift_detectable: float | None = column(
        "Smallest true lift, up or down, that its own interactions find four times in five, nothing drawn towards"
        " others; 1: none. NULL: nothing comparable.",
        unit="0-1",
    )
    lift_q_value: float | None = column(
        "False discovery rate at which its lift differs from 0. NULL: neither randomised nor cutoff.", unit="0-1"
    )
    lift_note: str | None = column("Why no lift is shown. NULL: one is, or no outcome is known.")
    is_harmful: bool | None = column(
        "Lift below 0 beyond chance, false discoveries controlled, by randomised or cutoff only. NULL: neither basis."
    )
    lost_successes: float | None = column(
        "Successes lost to it over its injections: -lift x attempts that had it; below 0: gained. NULL: as is_harmful."
    )
    importance: float | None = column("As its owner said. NULL: never said.", unit="0-1")
    pinned: bool = column("Never to be forgotten, by its owner's word.")
    is_held: bool = column("It or its project is on hold (`slowwave forget hold`): not to be forgotten until released.")
    half_life_days: float = column(
        "Days after which evidence counts half. Of the middle of the three time scales its evidence fades on; fitted"
        " per memory type, longer for an important memory.",
        unit="days",
    )
    strength: float | None = column(
        "How much of its evidence is left: its birth and every day with a reference fade. NULL: no evidence at all.",
        unit="0-1",
    )
    strength_state: StrengthState | None = column(
        "The band of its strength (params: above .7, from .3, from .1, below). NULL: as strength."
    )
    strength_forecast: list[float] | None = column(
        "Its strength 7, 30, 90, 180 and 365 days after `as_of` if nothing refers to it. NULL: as strength.", unit="0-1"
    )
    need_30d: float | None = column(
        "Probability of a reference in the next 30 days, the project staying as active or quiet as it is. NULL: not"
        " active, or too little is known.",
        unit="0-1",
    )
    need_if_active: float | None = column(
        "The same if the project were as active as when it last was. NULL: as need_30d.", unit="0-1"
    )
    fades_at: datetime | None = column(
        "First midnight at which, without a new reference, its strength is below `forgettable_below`; it may have"
        " passed. NULL: pinned, no evidence, not within 100 years, or to come later after its last evidence than"
        " `reach_days` of strength_fits: no memory of its type was watched for nearly so long.",
        unit="UTC",
    )
    trend: Trend = column(
        "How often it is referenced of late beside before, per active day of its project; it changes after two looks"
        " (midnights after active days) that agree. Older than the log and never referenced in it: stale."
    )
    verdict: Verdict = column("What to do about it; see reasons. inactive: superseded, invalid, archived or graduated.")
    reasons: list[str] = column("Why, with the figures; at least one. Of the verdict.")
    review_value: float = column(
        "Loss that a minute of looking at it is expected to avoid; 0: decided already. What to review first.",
        unit="successes per minute",
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class StaleInjections(Table):
    """Injections of memories that were superseded, invalid or expired at that time: what corrections did not reach."""

    name: ClassVar[str] = "stale_injections"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "interaction_id")

    memory_id: str = column("Key: the memory.")
    interaction_id: str = column("Key: the interaction. The memory was put into its prompt.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    project: str = column("Project; '' is none. Of the interaction.")
    agent: str = column("Agent; '' is none. Of the interaction.")
    session_id: str | None = column("Session of the interaction.")
    status: MemoryState = column("State of the memory. At that time: superseded, invalid or expired.")
    stale_since: datetime = column("Since when it was one of these.", unit="UTC")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ScopeLeaks(Table):
    """Interactions that were given a memory of another scope: another user's, agent's or, by a tag, tenant's."""

    name: ClassVar[str] = "scope_leaks"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "interaction_id")

    memory_id: str = column("Key: the memory.")
    interaction_id: str = column("Key: the interaction. The memory was put into its prompt.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    project: str = column("Project; '' is none. Of the interaction.")
    agent: str = column("Agent; '' is none. Of the interaction.")
    session_id: str | None = column("Session of the interaction.")
    user_id: str | None = column("User it is about. Of the interaction; NULL: not said.")
    crossed: list[str] = column("What is not the same: user, agent, or the name of a scope tag.")
    memory_scope: str = column("Of these what the memory had then, such as `user=ada, tenant=acme`.")
    interaction_scope: str = column(
        "Of these what the interaction had; of a tag what the other memories put into it had."
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class MemoryHealthHistory(Table):
    """How memory_health came about: one row per memory and UTC day on which its counts or its state changed.

    On other days the counts and the state of the last row hold; strength fades on, and with it trend and verdict.
    """

    name: ClassVar[str] = "memory_health_history"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "day")

    memory_id: str = column("Key: the memory.")
    day: date = column("Key: UTC day. Days on which no count and no state changed have no row.")
    status: MemoryState | None = column("State of the memory. At the end of the day. NULL: not landed by then.")
    eligible_count: int = column(
        "Interactions in which it was active and which its project, type, `scope`, `agent` and `user_id` include"
        " (`eligible/3`). Up to the end of the day."
    )
    injected_count: int = column("Interactions that a memory was put into (`memories_used`). Up to the end of the day.")
    echoed_count: int = column(
        "Interactions whose answer repeats its first words (`echo/1`), also where the prompt did. Up to the end of"
        " the day."
    )
    used_count: int = column(
        "Interactions whose answer relies on it in other words (`used/3`): a lower bound. Up to the end of the day."
    )
    used_expected: float = column(
        "Interactions whose answer is expected to rely on it: the sum of all probabilities, found or not (`used/3`)."
        " Up to the end of the day."
    )
    cited_count: int = column(
        "Interactions whose answer itself names it (`memories_cited`, `cited/1`), found there or not: part of no other"
        " count. Up to the end of the day."
    )
    reference_count: int = column(
        "Interactions whose answer quotes or uses it: a lower bound on its real use. Up to the end of the day."
    )
    reinforced_confidence: float | None = column(
        "Initial confidence plus `reinforcement_delta` (default 0.02) per interaction that quotes it, capped. At the"
        " end of the day. NULL: none was stated.",
        unit="0-1",
    )
    strength: float | None = column(
        "How much of its evidence is left: its birth and every day with a reference fade. At the midnight that ends the"
        " day, with the half-lives of this run. NULL: no evidence yet.",
        unit="0-1",
    )
    strength_state: StrengthState | None = column(
        "The band of its strength (params: above .7, from .3, from .1, below). NULL: as strength."
    )
    trend: Trend = column(
        "How often it is referenced of late beside before, per active day of its project; it changes after two looks"
        " (midnights after active days) that agree. At the midnight that ends the day."
    )
    use_verdict: UseVerdict = column(
        "What its use alone leads to at that midnight: text, holds, need and outcomes left out (see memory_health).",
        old_name="verdict",
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


# What a day counts of a memory, as far as it is shown day by day.
COUNTS = tuple(
    c.name for c in columns(MemoryHealthHistory) if c.name in MemoryDays.model_fields and c.kind == "integer"
)
