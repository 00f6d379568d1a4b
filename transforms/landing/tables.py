"""The landed tables: what producers deliver, as versions of rows that never change; and how many of them, by day."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel

from slowwave.transforms.core.schema import Carried, ColumnEdit, Json, Landed, Table, column
from slowwave.transforms.core.vocabularies import AS_OF, EVENT_TIME, RUN_ID, Basis, LandedTable, Scope, Status

_EXTRA = "Fields the contract does not know, as one JSON object."
_ROW_HASH = "Hash of the row's non-NULL fields: two rows with the same hash are one row."
_KEY_HASH = "First 63 bits of the hash of the row's key, to find versions of one key across days."
# Fields of memories since format 3, and of interactions and outcomes since 5: producers sent them before any release
# knew them.
_SINCE_3: dict[str, Any] = {"default": None, "since": 3, "is_lenient": True}
_SINCE_5: dict[str, Any] = {"default": None, "since": 5, "is_lenient": True}
_SINCE_7: dict[str, Any] = {"default": None, "since": 7, "is_lenient": True}
_RECORDED_AT = "When this version was written. Of two versions of one key the later wins, ties by `row_hash`."


class Offer(BaseModel):
    """One memory that retrieval offered."""

    id: str
    rank: int | None
    score: float | None


class Interactions(Landed):
    """One round-trip of an agent: what it was asked, which memories it was given, what it answered."""

    name: ClassVar[str] = "interactions"
    key: ClassVar[tuple[str, ...]] = ("interaction_id",)
    event_time: ClassVar[str] = EVENT_TIME["interactions"]
    read_as: ClassVar[str] = "occurred_at"

    interaction_id: str = column(
        "Key. Absent: a stable hash of project, agent, client, session, time, prompt and response.", default=""
    )
    created_at: datetime = column("When the round-trip happened.", unit="UTC", required=True)
    recorded_at: datetime = column(f"{_RECORDED_AT} Default: `created_at`.", unit="UTC", default=None)
    project: str = column("Project; '' is none.", default="")
    agent: str = column("Agent; '' is none.", default="")
    client: str | None = column("Program the agent ran in.", default=None)
    session_id: str | None = column("Session the round-trip belongs to.", default=None)
    user_id: str | None = column("User on whose behalf it ran.", default=None)
    prompt: str = column("What was asked. Must be text and not blank.", required=True, strict=True)
    response: str | None = column("What was answered.", default=None)
    response_summary: str | None = column("A summary of the answer, searched apart from it.", default=None)
    memories_used: list[str] | None = column(
        "Ids of the memories put into the prompt (injected).", default=None, ids_of="memories"
    )
    memories_offered: list[Offer] | None = column("Memories retrieval offered: id, rank, score.", default=None)
    injection_probability: float | None = column(
        "Logged propensity with which the memories were injected.", unit="0-1", ge=0, le=1, default=None
    )
    chunks_used: list[str] | None = column("Ids of the document chunks used.", default=None)
    context_pack: Annotated[str | None, Json] = column("The context given, as JSON.", default=None)
    tokens: int | None = column("Tokens spent.", unit="tokens", ge=0, default=None)
    cost: float | None = column("Money spent.", unit="the owner's currency", ge=0, default=None)
    reinforce: bool = column("false: quoted and used memories are not looked for in this row.", default=True)
    memories_cited: list[str] | None = column(
        "Ids of the memories that the answer itself names as used; what is no list of texts stays in `extra`.",
        ids_of="memories",
        **_SINCE_5,
    )
    extra: Annotated[str | None, Json] = column(_EXTRA, default=None)
    row_hash: str = column(_ROW_HASH, internal=True)
    key_hash: int = column(_KEY_HASH, internal=True)


class Outcomes(Landed):
    """How one task ended: with which strategy, whether it worked, and with which error."""

    name: ClassVar[str] = "outcomes"
    key: ClassVar[tuple[str, ...]] = ("outcome_id",)
    event_time: ClassVar[str] = EVENT_TIME["outcomes"]

    outcome_id: str = column(
        "Key. Absent: a stable hash of the content; for an outcome inside an interaction, of `interaction_id` alone.",
        default="",
    )
    interaction_id: str | None = column("Interaction this is the outcome of.", default=None)
    created_at: datetime = column("When the task started.", unit="UTC", required=True)
    recorded_at: datetime = column(
        f"{_RECORDED_AT} Default: `created_at` plus `duration_ms`: an outcome counts once it is known.",
        unit="UTC",
        default=None,
    )
    project: str | None = column("Project; NULL: that of the interaction.", default=None)
    agent: str | None = column("Agent; NULL: that of the interaction.", default=None)
    session_id: str | None = column("Session; NULL: that of the interaction.", default=None)
    user_id: str | None = column("User on whose behalf it ran.", default=None)
    task_type: str | None = column("Kind of task, such as `testing`.", default=None)
    task: str | None = column("The task itself.", default=None)
    strategy: str | None = column("What was tried.", default=None)
    success: bool = column("Whether it worked.", required=True)
    attempted: bool | None = column(
        "Whether it was really tried. NULL: the producer did not say; versioned rules decide.", default=None
    )
    error_message: str | None = column("The error, if any.", default=None)
    duration_ms: float | None = column("How long it took.", unit="ms", ge=0, default=None)
    tokens: int | None = column("Tokens spent.", unit="tokens", ge=0, default=None)
    cost: float | None = column("What it cost, in `cost_unit`.", ge=0, default=None)
    feedback: str | None = column("What the user said of it.", default=None)
    basis: Basis | None = column(
        "How it is known. reported: the program or the person said so; evaluated: a grader did; inferred: a rule read"
        " it out of what was written down, and it is not learned from unless params say so. NULL: reported. Another"
        " word stays in `extra`.",
        **_SINCE_5,
    )
    basis_method: str | None = column(
        "What graded or inferred it, with its version, such as `transcript_tests/1`.", **_SINCE_5
    )
    cost_unit: str | None = column("What `cost` is counted in, such as usd. NULL: not said.", **_SINCE_7)
    extra: Annotated[str | None, Json] = column(_EXTRA, default=None)
    row_hash: str = column(_ROW_HASH, internal=True)
    key_hash: int = column(_KEY_HASH, internal=True)


class Memories(Landed):
    """One change of one memory. A change may be partial: absent fields carry over from the change before, '' clears."""

    name: ClassVar[str] = "memories"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "changed_at")
    event_time: ClassVar[str] = EVENT_TIME["memories"]

    memory_id: str = column("Key: the memory.", required=True)
    changed_at: datetime = column("Key: when the change took effect.", unit="UTC", required=True)
    recorded_at: datetime = column(f"{_RECORDED_AT} Default: `changed_at`.", unit="UTC", default=None)
    memory_type: str | None = column(
        "identity, preference, project, knowledge, ... First change: knowledge.",
        default=None,
        carried=Carried(
            first="knowledge", label="type", edit=ColumnEdit("Its type, such as preference.", option="--type")
        ),
    )
    project: str | None = column(
        "Project; '' is none: identity and preference memories are then eligible everywhere. First change: ''.",
        default=None,
        carried=Carried(first="", is_empty_a_value=True, edit=ColumnEdit("Its project; '' is none.")),
    )
    agent: str | None = column(
        "Agent the memory belongs to; '' is none. It narrows where the memory is eligible only with `scope` agent.",
        default=None,
        carried=Carried(first="", is_empty_a_value=True, is_clearable=True, edit=ColumnEdit("Its agent; '' is none.")),
    )
    content: str | None = column(
        "The text.",
        default=None,
        carried=Carried(
            is_empty_a_value=True, edit=ColumnEdit("The text; - reads it from standard input.", metavar="TEXT")
        ),
    )
    status: Status | None = column(
        "First change: candidate.",
        default=None,
        carried=Carried(
            first="candidate",
            edit=ColumnEdit(
                "`memory archive` and `memory invalidate` give others.", choices=("candidate", "active", "graduated")
            ),
        ),
    )
    confidence: float | None = column(
        "Initial confidence.",
        unit="0-1",
        ge=0,
        le=1,
        default=None,
        carried=Carried(is_clearable=True, edit=ColumnEdit("How sure one is of it; quotes add to it.")),
    )
    importance: float | None = column(
        "Importance.",
        unit="0-1",
        ge=0,
        le=1,
        default=None,
        carried=Carried(is_clearable=True, edit=ColumnEdit("Importance.")),
    )
    pinned: bool | None = column(
        "Never to be forgotten. First change: false.", default=None, carried=Carried(first=False)
    )
    source_ids: list[str] | None = column(
        "What the memory was distilled from.", default=None, carried=Carried(is_clearable=True, label="sources")
    )
    superseded_by: str | None = column(
        "The memory that replaced it.", default=None, ids_of="memories", carried=Carried(label="replaced by")
    )
    reason: str | None = column("Why it was changed; belongs to this change alone.", default=None)
    changed_by: str | None = column("Who changed it; belongs to this change alone.", default=None)
    scope: Scope | None = column(
        "agent: eligible in the interactions of its `agent` only; global: in every project, whatever its type; project"
        " or NULL: as `project` says. Another word stays in `extra`.",
        carried=Carried(is_clearable=True, edit=ColumnEdit("Eligible for its agent, in its project, or everywhere.")),
        **_SINCE_3,
    )
    user_id: str | None = column(
        "User it is about: eligible in that user's interactions only.",
        carried=Carried(
            is_clearable=True,
            label="user",
            edit=ColumnEdit("The user it is about: eligible for nobody else; '' is none.", option="--user"),
        ),
        **_SINCE_3,
    )
    category: str | None = column(
        "Kind of preference, such as `code_style`.",
        carried=Carried(is_clearable=True, edit=ColumnEdit("Kind of preference; '' is none."), is_fact=True),
        **_SINCE_3,
    )
    domain: str | None = column(
        "Field of knowledge, such as `authentication`.",
        carried=Carried(is_clearable=True, edit=ColumnEdit("Field of knowledge; '' is none."), is_fact=True),
        **_SINCE_3,
    )
    source: str | None = column(
        "How it came to be known, such as `user_stated`.",
        carried=Carried(is_clearable=True, edit=ColumnEdit("How it came to be known; '' is none."), is_fact=True),
        **_SINCE_3,
    )
    tags: list[str] | None = column(
        "Tags; what is no list of texts stays in `extra`.", carried=Carried(is_clearable=True, is_fact=True), **_SINCE_3
    )
    expires_at: datetime | None = column(
        "From then on the memory is not eligible, and expired. Read from `valid_until`, `expiration_date` or"
        " `ttl_seconds` (after the change), too. What is no time stays in `extra`.",
        unit="UTC",
        carried=Carried(
            is_clearable=True,
            is_fact=True,
            edit=ColumnEdit("From then on it is not eligible, such as 2026-07-01; '' is never.", metavar="TIME"),
        ),
        **_SINCE_7,
    )
    stated_references: int | None = column(
        "How often it was referenced, as the store it comes from counted: part of no count of ours.",
        ge=0,
        carried=Carried(),
        **_SINCE_7,
    )
    stated_last_referenced_at: datetime | None = column(
        "When it was last referenced, by the store it comes from.", unit="UTC", carried=Carried(), **_SINCE_7
    )
    parent_id: str | None = column(
        "The memory that it is a part of, such as the section or document that a rule stands in.",
        ids_of="memories",
        carried=Carried(label="part of"),
        **_SINCE_7,
    )
    extra: Annotated[str | None, Json] = column(_EXTRA, default=None)
    clears: list[str] | None = column("Fields that are not text and that this change clears.", internal=True)
    row_hash: str = column(_ROW_HASH, internal=True)
    key_hash: int = column(_KEY_HASH, internal=True)


LANDED: tuple[type[Landed], ...] = (Interactions, Outcomes, Memories)


class LandedDays(Table):
    """What landed of each day: one row per landed table, project, agent and UTC day, of the winning versions."""

    name: ClassVar[str] = "landed_days"
    key: ClassVar[tuple[str, ...]] = ("landed_table", "project", "agent", "day")

    landed_table: LandedTable = column("Key: the kind of row.")
    project: str = column("Key: project; '' is none. As the row states it; none may be not said.")
    agent: str = column("Key: agent; '' is none. As the row states it; none may be not said.")
    day: date = column("Key: UTC day. On which it happened.")
    rows_count: int = column("Rows.")
    inferred_count: int = column("Of them outcomes with basis inferred.")
    late_count: int = column("Of them recorded more than 24 hours after they happened, by what producers say.")
    late_hours_max: float | None = column("Longest of these delays. NULL: none was late.", unit="hours")
    stated_tokens: int | None = column("Tokens that they state, together. NULL: none states any.", unit="tokens")
    stated_cost: float | None = column(
        "What they state to have cost, together, each to a millionth. NULL: none states any.",
        unit="the owner's currency",
    )
    newest_at: datetime = column("When the newest of them happened.", unit="UTC")
    newest_recorded_at: datetime = column("When the last of them was recorded.", unit="UTC")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")
