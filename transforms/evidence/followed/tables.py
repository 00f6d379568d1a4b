"""The published table of instructions that were checked in answers."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID

CheckKind = Literal["language", "length", "format", "characters", "phrase", "opening", "ending"]


class InstructionChecks(Table):
    """Whether an answer follows an instruction that its interaction was given, by a check that can tell (`followed/1`).

    Without a row nothing can be said: the instruction is no clear imperative that an answer alone can be checked for,
    the prompt asked for something else, or the answer is too short to tell.
    """

    name: ClassVar[str] = "instruction_checks"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "interaction_id", "check_kind", "expected")

    memory_id: str = column("Key: the memory. It is an instruction.")
    interaction_id: str = column("Key: the interaction. It was given the memory.")
    check_kind: CheckKind = column("Key: what kind of check.")
    expected: str = column("Key: what it looked for, in words.")
    occurred_at: datetime = column("When the interaction happened.", unit="UTC")
    project: str = column("Project; '' is none. Of the interaction.")
    agent: str = column("Agent; '' is none. Of the interaction.")
    session_id: str | None = column("Session of the interaction.")
    is_followed: bool = column("Whether the answer does what the instruction says.")
    saw: str = column("What the check saw in the answer, in words.")
    method: str = column("The method, with version, that says this. It checked the answer.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
