"""The derived tables of one UTC day: a function of its winning rows, the memories as they stood, and the params."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, FoundIn, MemoryState, Scope


class ReplayedInteractions(Table):
    """The interactions a day's evidence was computed from, so that every count can be explained."""

    name: ClassVar[str] = "replayed_interactions"
    key: ClassVar[tuple[str, ...]] = ("interaction_id",)

    interaction_id: str = column("Key.")
    occurred_at: datetime = column("When it happened.", unit="UTC")
    project: str = column("Project; '' is none.")
    agent: str = column("Agent; '' is none.")
    session_id: str | None = column("Session.")
    user_id: str | None = column(
        "User. NULL: not said, or the day was built by a release that did not look.", default=None, since=3
    )


class MemoryEligibility(Table):
    """Stretches of a day in which a memory was eligible. The pairs are never stored: the stretch tells them."""

    name: ClassVar[str] = "memory_eligibility"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "first_at")

    memory_id: str = column("Key: the memory.")
    is_global: bool = column("Eligible in every project.")
    project: str = column("The project it was eligible in; '' when global or none.")
    pattern: str | None = column("Text that is looked for as a quote; NULL: too short to look for.")
    content_hash: str = column("Hash of its text then, which `used/3` compares.")
    first_at: datetime = column("Key: first interaction of the stretch.", unit="UTC")
    last_at: datetime = column("Last interaction of the stretch.", unit="UTC")
    eligible_count: int = column("Interactions of the stretch.")
    only_agent: str | None = column(
        "Agent whose interactions alone it was eligible in (`scope` agent). NULL: of all.", default=None, since=3
    )
    only_user: str | None = column(
        "User whose interactions alone it was eligible in (`user_id`). NULL: of all.", default=None, since=3
    )


class MemoryReferences(Table):
    """Evidence, one row per interaction and memory that was injected into it, or found or named in its answer."""

    name: ClassVar[str] = "memory_references"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "interaction_id")

    memory_id: str = column("Key: the memory. Known or not.")
    interaction_id: str = column("Key: the interaction.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    project: str = column("Project; '' is none. Of the interaction.")
    agent: str = column("Agent; '' is none. Of the interaction.")
    session_id: str | None = column("Session of the interaction.")
    is_injected: bool = column("Declared in `memories_used`.")
    is_echoed: bool = column("The memory's first words stand in the response or its summary (`echo/1`).")
    echoed_in: FoundIn | None = column("Where. NULL: not quoted.")
    in_prompt: bool | None = column("The same words already stood in the prompt. NULL: not quoted.")
    is_used: bool = column("The answer relies on the memory in other words (`used/3`).")
    used_score: float | None = column(
        "Estimated probability of that, in steps of .0001. NULL: below the threshold.", unit="0-1"
    )
    passage: str | None = column(
        "What of a long memory is nearest to the answer, and was compared with it. NULL: not used, or compared whole.",
        default=None,
        since=3,
    )
    passage_at: int | None = column(
        "Where that stands: characters of the memory before it. NULL: no passage.",
        default=None,
        unit="code points",
        since=3,
    )
    is_cited: bool = column(
        "Declared in `memories_cited`: the answer itself names it as used (`cited/1`).",
        default=False,
        since=5,
    )
    methods: list[str] = column("Methods, with version. They found it.")


class PublishedReferences(MemoryReferences):
    """Evidence, one row per interaction and memory that was injected into it, or found or named in its answer."""

    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class UseProbabilities(Table):
    """How likely each answer of a day relies on each memory, in other words; what is hardly likely has no row."""

    name: ClassVar[str] = "use_probabilities"
    key: ClassVar[tuple[str, ...]] = ("interaction_id", "memory_id")

    interaction_id: str = column("Key: the interaction.")
    memory_id: str = column("Key: the memory, which was eligible.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    is_injected: bool = column("The interaction was given the memory.")
    probability: int = column("Estimated probability that its answer relies on the memory.", unit="1/10,000")


class ExpectedUse(Table):
    """How many interactions of a day are expected to have used a memory: all probabilities, whatever the threshold."""

    name: ClassVar[str] = "expected_use"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key: the memory.")
    compared_count: int = column("Interactions whose answer may rely on it.")
    expected: int = column("Sum of the probabilities.", unit="1/10,000")
    injected_expected: int = column("Of it that of interactions that were given the memory.", unit="1/10,000")
    variance: int = column("Sum of probability x (1 - probability).", unit="1/10,000")


class MemoryDays(Table):
    """Integer counts of one memory on one day; all that is summed over time is summed from here."""

    name: ClassVar[str] = "memory_days"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key: the memory, known or not.")
    eligible_count: int = column("Interactions in which it could have been used.")
    injected_count: int = column("Interactions it was injected into.")
    echoed_count: int = column("Interactions whose answer quotes it.")
    used_count: int = column("Interactions whose answer uses it, in other words.")
    cited_count: int = column("Interactions whose answer names it, found there or not.", default=0, since=5)
    reference_count: int = column("Interactions whose answer quotes or uses it.")
    broad_count: int = column("Of them those that referenced many memories (`broad_memories`, default 10 or more).")
    bulk_count: int = column("Of them those that referenced very many (`bulk_memories`, default 100 or more).")
    first_referenced_at: datetime | None = column("First of them.", unit="UTC")
    last_referenced_at: datetime | None = column("Last of them.", unit="UTC")
    parroted: int | None = column(
        "Of those that quote it, those whose prompt said the same words. NULL: not known.", default=None, since=7
    )


class ReferenceDays(Table):
    """Of memory_days those that were injected, referenced or cited: few of the many that were eligible."""

    name: ClassVar[str] = "reference_days"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key: the memory, known or not.")
    injected_count: int = column("As in memory_days.")
    echoed_count: int = column("As in memory_days.")
    used_count: int = column("As in memory_days.")
    cited_count: int = column("As in memory_days.", default=0, since=5)
    reference_count: int = column("As in memory_days.")
    broad_count: int = column("As in memory_days.")
    bulk_count: int = column("As in memory_days.")
    first_referenced_at: datetime | None = column("As in memory_days.", unit="UTC")
    last_referenced_at: datetime | None = column("As in memory_days.", unit="UTC")
    parroted: int | None = column("As in memory_days.", default=None, since=7)


class ProjectDays(Table):
    """How active each project was on one day: what the use of its memories is measured against."""

    name: ClassVar[str] = "project_days"
    key: ClassVar[tuple[str, ...]] = ("project",)

    project: str = column("Key: the project; '' is none.")
    interactions_count: int = column("Its interactions.")
    sessions_count: int = column("Its sessions; an interaction without one is its own.")


class MemoriesNow(Table):
    """What each memory is as of the run: its newest state as landed, its last change, since when it could be used.

    What is known of its use is in memory_health.
    """

    name: ClassVar[str] = "memories_now"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key: the memory.")
    memory_type: str = column("identity, preference, project, knowledge, ... As last said.")
    project: str = column("Project; '' is none.")
    agent: str = column("Agent; '' is none.")
    user_id: str | None = column("User it is about. NULL: none, or never said.")
    scope: Scope | None = column("agent, project or global, as stated. NULL: by its project.")
    status: MemoryState = column("State of the memory. expired: in use until its `expires_at`, which has passed.")
    content: str | None = column("The memory's text. NULL: never said.")
    confidence: float | None = column("As last stated, and not estimated (see memory_health). NULL: none.", unit="0-1")
    importance: float | None = column("As its owner said. NULL: never said.", unit="0-1")
    pinned: bool = column("Never to be forgotten, by its owner's word.")
    source_ids: list[str] | None = column("What it was distilled from. NULL: never said.")
    superseded_by: str | None = column("The memory that replaced it. NULL: none, or never said.")
    category: str | None = column("Kind of preference. NULL: never said.")
    domain: str | None = column("Field of knowledge. NULL: never said.")
    source: str | None = column("Where it comes from. How it came to be known. NULL: never said.")
    tags: list[str] | None = column("Its tags. NULL: none, or never said.")
    expires_at: datetime | None = column(
        "From then on it is not eligible, and expired. NULL: it does not expire.", unit="UTC"
    )
    parent_id: str | None = column(
        "The memory that it is a part of, such as the section that a rule stands in. NULL: none, or never said."
    )
    stated_references: int | None = column(
        "References as the store it comes from counted them, before and beside this log: part of no other count. NULL:"
        " never said."
    )
    stated_last_referenced_at: datetime | None = column(
        "Last reference by the store it comes from: part of no other column. NULL: never said.", unit="UTC"
    )
    created_at: datetime = column("When it began. Its first change.", unit="UTC")
    changed_at: datetime = column("When this was said. Its newest change took effect then.", unit="UTC")
    recorded_at: datetime = column("When the version was written. Of its newest change.", unit="UTC")
    reason: str | None = column("Why, in words. Of the newest change. NULL: not said.")
    changed_by: str | None = column("Who decided. On the newest change. NULL: not said.")
    changes_count: int = column("Its changes so far, the first with them.")
    first_eligible_at: datetime | None = column(
        "When it was first active: from then on interactions in its reach could have used it. NULL: never yet.",
        unit="UTC",
    )
    ended_at: datetime | None = column(
        "Since when it is superseded, invalid, archived, graduated or expired. NULL: a candidate or active.", unit="UTC"
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class DayInputs(Table):
    """What one run found on each day of each landed table: so that the next run need not read what has not changed."""

    name: ClassVar[str] = "day_inputs"
    key: ClassVar[tuple[str, ...]] = ("run_id", "landed_table", "day")

    run_id: str = column("Key: the run.")
    landed_table: str = column("Key: the landed table.")
    day: date = column("Key: the UTC day.")
    rows_signature: str = column("Digest of the names of the day's files and of how `as_of` cuts them.")
    rows_hash: str = column("Digest of the winning rows of the day.")
    memories_signature: str = column("Of interactions: `rows_signature` of all memory days up to this one, digested.")
    evidence_hash: str = column("Of interactions: digest of the params the evidence depends on.")
    fingerprint: str = column(
        "Of interactions: digest of the rows and of the memories as they stood, which evidence partitions are named"
        " after; '' when no row is visible."
    )
    evidence_columns: str | None = column(
        "Of interactions: digest of the evidence tables' columns that the partition was found to fit, as written then"
        " or lacking none but newer ones. NULL: not looked at.",
        default=None,
        since=2,
    )
    partitions: list[str] | None = column(
        "Of interactions: table=name of the evidence partitions used whose name is not the fingerprint. NULL: none.",
        default=None,
        since=4,
    )
