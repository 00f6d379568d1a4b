"""What is published for review: what waits for a person's word, what it stands on, and what was decided."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import State, Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, ReviewKind

# The kinds in the order in which they are shown where as much speaks for each; and those that are about one memory.
ABOUT_ONE: tuple[ReviewKind, ...] = ("harmful", "ignored", "expiring", "doubtful", "fading", "unused")


class StatementSigns(State):
    """What the wording of each statement of an answer shows, carried from night to night: it follows from the text."""

    name: ClassVar[str] = "statement_signs"
    key: ClassVar[tuple[str, ...]] = ("part", "place")

    part: str = column("Key: the day.")
    place: int = column("Key: place among the extracted_statements of the day, from 0.")
    signs: int = column("The signs it shows, a bit for each; the last: it has few words, or many.")
    made_of: str = column("Digest of the signs that were looked for, and of what the day's statements are made from.")


class ReviewQueue(Table):
    """What needs a person's decision, one row each, first what costs most to leave. Nothing is decided by itself.

    Whatever has been decided stays out: a candidate for good, the others until their evidence changes (`fingerprint`).
    """

    name: ClassVar[str] = "review_queue"
    key: ClassVar[tuple[str, ...]] = ("item_id",)

    item_id: str = column("Key: the review item: digest of its kind and of what it is about.")
    rank: int = column(
        "Place in the queue, from 1: harmful memories, then ignored instructions, then the others, guessed merges last;"
        " each by rank_score, kind as listed below, item_id; of the places of candidates those that most speaks for"
        " have the first, of those of guessed merges the likeliest."
    )
    rank_score: int = column(
        "Sessions that speak for a look at it: in which a candidate was stated and not just repeated from the prompt,"
        " in which the memories of another kind were injected or referenced. An interaction without one is its own."
    )
    kind: ReviewKind = column(
        "Kind of review item. harmful: lowers success; ignored: an instruction that most answers do not follow, by"
        " checks; contradiction: memories at odds; outdated: in use though a later memory replaces it or takes it back;"
        " expiring: referenced often, and about to expire; candidate: not in use yet; merge: memories that say the"
        " same; doubtful: failed more often than expected; fading: has faded, is weakening or stale, or fades though it"
        " is needed; unused: no use was detected."
    )
    project: str = column("Project; '' is none.")
    user_id: str | None = column(
        "User it is about. Whose alone it is: of a candidate from answers the only one whom its interactions name,"
        " though some may name none; else that of its memories. NULL: the project's."
    )
    memory_type: str = column("identity, preference, project, knowledge, ... Of the memory it is, or would be.")
    text: str = column(
        "What it says. The statement, or what the memories say, parted by upright bars; what only one of two says"
        " stands in brackets, and what both say at length is cut."
    )
    memory_ids: list[str] = column(
        "The memories it is about. Of a merge the one to keep first, else the earlier. A candidate that stands in"
        " answers alone has none."
    )
    target_memory_id: str | None = column(
        "The memory that is kept or meant. Of a merge the memory to keep, of `outdated` the later. NULL: another kind."
    )
    rules: list[str] = column("Of a candidate the rules that found it in an answer. Else empty.")
    interactions_count: int = column(
        "Interactions. They state it or are named as its source (candidate), or had or referenced one of its memories."
    )
    sessions_count: int = column("Their sessions; an interaction without one is its own.")
    in_prompt_count: int = column("Of interactions_count those whose prompt said it already (candidate).")
    succeeded_count: int = column("Of interactions_count those whose latest attempt succeeded.")
    failed_count: int = column("Of interactions_count those whose latest attempt failed.")
    first_seen_at: datetime = column(
        "First time. Of these interactions; without any when the memory was made.", unit="UTC"
    )
    last_seen_at: datetime = column("Last time. Of these interactions.", unit="UTC")
    example_ids: list[str] = column("The latest of them, at most `examples` (default 5); `review show` lists all.")
    reason: str = column("Why, in words. It says why the item waits.")
    fingerprint: str = column("What a decision on it rests on: when this changes, it is asked again.", old_name="basis")
    method: str = column("The method, with version, that says this. It found the item.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ReviewStatements(Table):
    """The interactions behind the candidates of review_queue; those behind its memories stand in memory_references."""

    name: ClassVar[str] = "review_statements"
    key: ClassVar[tuple[str, ...]] = ("item_id", "interaction_id")

    item_id: str = column("Key: the review item: digest of its kind and of what it is about. A candidate.")
    interaction_id: str = column("Key: the interaction.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    session_id: str | None = column("Session of the interaction.")
    in_prompt: bool = column("The same words already stood in the prompt.")
    is_source: bool = column("The candidate was landed with this interaction as a source.")
    rules: list[str] = column("Of a candidate the rules that found it in an answer. Empty: a source alone.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ReviewDecisions(Table):
    """Everything that `slowwave review` ever decided, one row per decision."""

    name: ClassVar[str] = "review_decisions"
    key: ClassVar[tuple[str, ...]] = ("decision_id",)

    decision_id: str = column("Key.")
    item_id: str = column("The review item: digest of its kind and of what it is about.")
    action: Literal["promote", "reject", "merge"] = column("What was decided.")
    kind: ReviewKind = column("Kind of review item. As it was then.")
    project: str = column("Project; '' is none.")
    memory_type: str = column("identity, preference, project, knowledge, ... Of the memory it is, or would be.")
    text: str = column("What it says. As it was read.")
    memory_ids: list[str] = column("The memories it is about.")
    changed_ids: list[str] = column("The memories it changed or made; none: it was kept as it is.")
    fingerprint: str = column("What a decision on it rests on: when this changes, it is asked again.", old_name="basis")
    reason: str | None = column("Why, in words. NULL: not said.")
    changed_by: str = column("Who decided.")
    decided_at: datetime = column("When it took effect.", unit="UTC")
    on_run_id: str | None = column("The publish it was decided on.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
