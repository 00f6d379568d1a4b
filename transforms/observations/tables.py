"""What stands behind the memories: observations, what should become of each memory, and what people should settle."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from slowwave.transforms.core.schema import Json, Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, Freshness, Trend

Action = Literal["add", "update", "merge", "skip", "delete"]
CurationKind = Literal["fact", "observation", "model"]

_SCOPE = (
    "Its memory type, and the agent, user and scope tags it has where there are any (`type/agent@user#tenant=acme`)."
)
_WORDS = "Words, numbers, dates or names in which the two texts are at odds."


class Observations(Table):
    """One row per fact that the active memories of a project and scope state, however often and in which words."""

    name: ClassVar[str] = "observations"
    key: ClassVar[tuple[str, ...]] = ("observation_id",)

    observation_id: str = column("Key: digest of project, scope and the memory that said it first.")
    project: str = column("Project; '' is none.")
    scope: str = column(_SCOPE)
    text: str = column(
        "What it says. The fact in the words of its best memory: most confirmed, referenced, injected; most said;"
        " first."
    )
    best_memory_id: str = column("The memory whose words these are.")
    memory_ids: list[str] = column("The memories it is about. The active ones that state it, sorted.")
    source_ids: list[str] = column("Their distinct sources, sorted; a memory without any is its own.")
    source_times: list[datetime] = column("When each of these was first cited for it.", unit="UTC")
    proof_count: int = column("Distinct sources. Saying it again, or replaying the log, adds none.")
    confidence: float | None = column(
        "Mean confidence of its memories (memory_health), weighted by their references with an outcome. NULL: none.",
        unit="0-1",
    )
    trend: Trend = column(
        "How often it is referenced of late beside before, per active day of its project; it changes after two looks"
        " (midnights after active days) that agree. Of its memory referenced most often."
    )
    last_evidence_at: datetime = column("Its latest source or reference.", unit="UTC")
    freshness: Freshness = column("How long ago that is: fresh, ageing, stale (params, in days).")
    supersedes: list[str] = column("Memories of earlier states, still active; they are no proof of the text.")
    journey: Annotated[str | None, Json] = column(
        "Its states in order, the current one last: JSON list of {memory_id, text, from, until, subject, attribute,"
        " value}: of whom or what which attribute had which value, null where the words do not say. A state said again"
        " since is there again; from null: named as the previous state, and not since when. NULL: never changed."
    )
    contradicts: list[str] = column(
        "Active memories that are, or may be, at odds with it, neither replacing the other."
    )
    method: str = column("The method, with version, that says this. It grouped the memories.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class CurationDecisions(Table):
    """What should become of each memory, decided against what was active just before it was said.

    One row per first change and per later change of content. Nothing stored is rewritten by it.
    """

    name: ClassVar[str] = "curation_decisions"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "changed_at")

    memory_id: str = column("Key: the memory.")
    changed_at: datetime = column("Key: when this was said.", unit="UTC")
    project: str = column("Project; '' is none.")
    scope: str = column(_SCOPE)
    content: str = column("The memory's text. As this change says it.")
    action: Action = column(
        "What was decided. add: new; skip: said already; merge: said already, with other details; update: replaces the"
        " target; delete: takes the target back."
    )
    kind: CurationKind = column(
        "Kind of statement. model: a standing rule, preference or instruction; observation: something that happened;"
        " fact: the rest."
    )
    target_memory_id: str | None = column("The memory that is kept or meant. One of `considered_ids`. NULL: add.")
    target_content: str | None = column("What that said at the time. NULL: add.")
    reason: str = column("Why, in words.")
    similarity: float | None = column("How alike the two texts are. NULL: nothing comparable was active.", unit="0-1")
    conflicting_words: list[str] = column(_WORDS)
    considered_ids: list[str] = column("The most alike memories active just before, most alike first; at most 10.")
    method: str = column("The method, with version, that says this. curate/4 is rules.")
    rules_action: Action | None = column("What the rules say of it, where a language model decided. NULL: none did.")
    rules_target_memory_id: str | None = column("The memory that the rules say it is about. NULL: none, or no model.")
    rules_reason: str | None = column("Why the rules say so. NULL: no language model decided.")
    is_pending: bool = column("A better method has yet to answer. Rules alone: false.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class Contradictions(Table):
    """Two active memories of one project and scope that cannot both hold, without a word on which of them does."""

    name: ClassVar[str] = "contradictions"
    key: ClassVar[tuple[str, ...]] = ("contradiction_id",)

    contradiction_id: str = column("Key: digest of the two memories and their texts.")
    project: str = column("Project; '' is none.")
    scope: str = column(_SCOPE)
    memory_ids: list[str] = column("The two, the earlier first.")
    texts: list[str] = column("What they say.")
    similarity: float = column("How alike the two texts are.", unit="0-1")
    conflicting_words: list[str] = column(_WORDS)
    said_at: datetime = column("When the later of them was said.", unit="UTC")
    reason: str = column("What is at odds, in words.")


class MergeProposals(Table):
    """Active memories of one project and scope that state, or may state, one fact."""

    name: ClassVar[str] = "merge_proposals"
    key: ClassVar[tuple[str, ...]] = ("proposal_id",)

    proposal_id: str = column("Key: digest of the memories and their texts.")
    project: str = column("Project; '' is none.")
    scope: str = column(_SCOPE)
    memory_ids: list[str] = column("The memories, the one to keep first.")
    texts: list[str] = column("What they say.")
    target_memory_id: str = column("The one to keep: its words are the best.")
    proof_count: int = column("Distinct sources they have together.")
    similarity: float = column("Of the least alike of them to the one they are grouped around.", unit="0-1")
    is_certain: bool = column("They are one observation. False: nearly alike enough.")
    said_at: datetime = column("When the latest of them was said.", unit="UTC")
    reason: str = column("Why they are taken for one fact, in words.")
    method: str = column("Who says so: observe/6 is rules.")
