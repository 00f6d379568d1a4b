"""What is published of forgetting: what is planned, what was done, how full quotas are, and what it cost."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, ForgettingRule, Status


class ForgettingPlan(Table):
    """The memories that may be archived now, one row each, by the first rule that says so and why."""

    name: ClassVar[str] = "forgetting_plan"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key: the memory.")
    project: str = column("Project; '' is none.")
    agent: str = column("Agent; '' is none.")
    rule: ForgettingRule = column(
        "The rule of `forgetting_plan`. superseded, invalid: so for long; low_confidence: its references ended badly;"
        " faded: verdict forget; untouched: no reference or injection for long; agent_quota, project_quota: least"
        " needed above the quota."
    )
    reason: str = column("Why, in words. With the rule's figures.")
    need_30d: float | None = column(
        "Probability of a reference in the next 30 days, the project staying as active or quiet as it is. What regret"
        " is measured beside. NULL: unknown.",
        unit="0-1",
    )
    strength: float | None = column(
        "How much of its evidence is left: its birth and every day with a reference fade. NULL: unknown.", unit="0-1"
    )
    is_shadow: bool = column("Applying it leaves it active: its use then shows what archiving the others costs.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ForgettingQuotas(Table):
    """Every quota with an active memory: how many there are, how many may not go, and whether the plan meets it."""

    name: ClassVar[str] = "forgetting_quotas"
    key: ClassVar[tuple[str, ...]] = ("quota_kind", "project", "agent")

    quota_kind: Literal["project", "agent"] = column("Key: of all memories of a project, or of one agent's there.")
    project: str = column("Key: project; '' is none.")
    agent: str = column("Key: agent; '' is none. '' is every agent, too, where the quota is a project's.")
    quota: int = column("Active memories it may keep.")
    active_count: int = column("Active memories. Those in shadow do not count.")
    planned_count: int = column("Of them planned, by any rule.")
    protected_count: int = column("Of them never planned: pinned, held, young, recently used, never eligible.")
    is_met: bool = column("active_count - planned_count is at most the quota.")
    reason: str | None = column("Why, in words. It says why the quota is not met. NULL: it is met.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ForgettingAudit(Table):
    """Everything that `forget` ever did, one row per decision on a memory or project."""

    name: ClassVar[str] = "forgetting_audit"
    key: ClassVar[tuple[str, ...]] = ("decision_id",)

    decision_id: str = column("Key.")
    action: Literal["archived", "shadowed", "restored", "held", "released"] = column(
        "What was decided. shadowed: left active, to measure regret."
    )
    target_kind: Literal["project", "memory"] = column("What `target` names.")
    target: str = column("The memory's id, or the project.")
    decided_at: datetime = column("When it took effect.", unit="UTC")
    reason: str | None = column("Why, in words. NULL: not said.")
    changed_by: str = column("Who decided.")
    rule: ForgettingRule | None = column(
        "The rule of `forgetting_plan`. It archived the memory. NULL: not archived or shadowed."
    )
    status_before: Status | None = column("Its state before. NULL: a hold or release.")
    need_30d: float | None = column(
        "Probability of a reference in the next 30 days, the project staying as active or quiet as it is. As predicted"
        " when it was archived. NULL: unknown, or no archiving.",
        unit="0-1",
    )
    strength: float | None = column(
        "How much of its evidence is left: its birth and every day with a reference fade. At that time. NULL: unknown,"
        " or no archiving.",
        unit="0-1",
    )
    on_run_id: str | None = column("The publish it was decided on. NULL: none.")
    command_id: str | None = column("The command's run, as `forget restore --run` takes it. NULL: a hold or release.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class Regret(Table):
    """What forgetting cost: use within `regret_days` (default 30) after archiving, beside what was predicted."""

    name: ClassVar[str] = "regret"
    key: ClassVar[tuple[str, ...]] = ("archived_as", "rule")

    archived_as: Literal["shadow", "archived"] = column(
        "Key. shadow: left active, so that every detected use is seen; archived: only restores and injections by"
        " producers that still had it are seen, a lower bound.",
        old_name="basis",
    )
    rule: str = column("Key: the rule of `forgetting_plan`. It archived the memories; '' is all rules.")
    memories_count: int = column("Memories. Archivings whose window has passed.")
    wanted_count: int = column("Of them wanted in their window: referenced (shadow); injected or restored (archived).")
    wanted_per_1000: float = column("wanted_count per 1,000 archived.")
    wanted_per_1000_low: float = column("Lower end of its credible interval (90 % by default; Jeffreys).")
    wanted_per_1000_high: float = column("Upper end of its credible interval.")
    interactions_count: int = column(
        "Interactions. Only those in these windows count that referenced (shadow) or had (archived) the memory."
    )
    interactions_per_1000: float = column("interactions_count per 1,000 archived.")
    restored_count: int = column("Of wanted_count restored within their window.")
    predicted_memories_count: int = column("Of memories_count those with a `need_30d` when they were archived.")
    predicted_per_1000: float | None = column(
        "1,000 x the mean `need_30d` of these when they were archived: what wanted_per_1000 was expected to be. NULL:"
        " none has one."
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
