"""What is published of the questions that people come with."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import State, Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, Question


class InteractionsWithMemories(State):
    """How many interactions had a memory, by day, project and agent; carried from night to night."""

    name: ClassVar[str] = "interactions_with_memories"
    key: ClassVar[tuple[str, ...]] = ("part", "project", "agent")

    part: str = column("Key: the day.")
    project: str = column("Key: the project; '' is none.")
    agent: str = column("Key: the agent; '' is none.")
    given: int = column("Interactions that were given a memory.", unit="interactions")
    echoed: int = column("Those whose answer quotes one.", unit="interactions")
    parroted: int = column("Of these, those whose prompt said the same words.", unit="interactions")
    used: int = column("Those whose answer uses one.", unit="interactions")
    relied: int = column("Those whose answer quotes or uses one.", unit="interactions")
    cited: int = column("Those whose answer cites one.", unit="interactions")
    made_of: str = column("Digest of what was counted, and of what the day's references are made from.")


class UseByDay(Table):
    """How many interactions had a memory injected, quoted or used, and what its text took of their prompts."""

    name: ClassVar[str] = "use_by_day"
    key: ClassVar[tuple[str, ...]] = ("day", "project", "agent")

    day: date = column("Key: UTC day. On which the interaction was asked.")
    project: str = column("Key: project; '' is none.")
    agent: str = column("Key: agent; '' is none.")
    injected_interactions: int = column("Interactions with at least one memory injected.")
    echoing_interactions: int = column("Interactions whose answer quotes at least one memory.")
    parroting_interactions: int = column("Interactions of these whose prompt held the quoted words too.")
    using_interactions: int = column("Interactions whose answer uses at least one in other words.")
    referencing_interactions: int = column("Interactions whose answer quotes or uses at least one: a minimum.")
    citing_interactions: int = column("Interactions whose answer names at least one itself.")
    injected_tokens: int = column(
        "Tokens of the memories in all prompts. A quarter of the characters of each memory's text as it is now.",
        unit="tokens",
    )
    unused_tokens: int = column(
        "Of them in memories that are not used (`use_state` of memory_health).",
        unit="tokens",
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class AttemptsByInjection(Table):
    """How attempts ended with a memory in the prompt and without, by what they can be compared within."""

    name: ClassVar[str] = "attempts_by_injection"
    key: ClassVar[tuple[str, ...]] = (
        "day", "project", "agent", "task_type", "has_memory", "offered_count", "probability", "block",
    )  # fmt: skip

    day: date = column("Key: UTC day. On which the interaction was asked.")
    project: str = column("Key: project; '' is none.")
    agent: str = column("Key: agent; '' is none.")
    task_type: str = column(
        "Key: kind of task, as said or inferred from the task's words. '' when none was said and the task tells none."
    )
    has_memory: bool = column("Key: at least one memory was injected.")
    offered_count: int = column("Key: memories that the retriever offered. 0: not said.")
    probability: float = column(
        "Key: with which chance injected each of them, as logged. 1: chance had no part, or nothing was logged.",
        unit="probability",
    )
    block: str = column(
        "Key: its session, without one its interaction, else itself: attempts of one block count together."
    )
    attempts: int = column("Attempts. Of interactions that landed.")
    successes: int = column("Of them successful.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class AnswerableQuestions(Table):
    """What the log can and cannot answer: four questions, of everything that landed and of each project."""

    name: ClassVar[str] = "answerable_questions"
    key: ClassVar[tuple[str, ...]] = ("extent", "project", "question")

    extent: Literal["all", "project"] = column("Key: of everything that landed, or of one project.")
    project: str = column("Key: project; '' is none. '' is everything, too.")
    question: Question = column(
        "Key: given (which memories agents are given), used (which of them answers rely on), works (which strategies"
        " work), help (whether the memories help)."
    )
    asked: str = column("The question in words.")
    is_answered: bool = column("The log holds what an answer needs. false: `answer` says why not.")
    rests_on_count: int = column(
        "What the answer rests on. given, used: interactions; works: attempts with a strategy; help: interactions of"
        " which it is known how they ended.",
        unit="interactions, or attempts",
    )
    answer: str = column("The answer, or why there is none, with the figures (`answers/1`).")
    lacks: str | None = column("What to record so that it can be answered, or better. NULL: nothing.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
