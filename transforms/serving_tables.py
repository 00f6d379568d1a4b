"""What is published: the tables people and agents read."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar, Literal

from slowwave.transforms.evidence_tables import MemoryReferences
from slowwave.transforms.landed_tables import Status
from slowwave.transforms.schema import Table, column

_RUN_ID = "The run that published this row."
_AS_OF = "The row tells what was known before this instant."


class MemoryHealth(Table):
    """What is known of each memory as of the run: identity, state, and how often it was eligible, injected, echoed."""

    name: ClassVar[str] = "memory_health"
    key: ClassVar[tuple[str, ...]] = ("memory_id",)

    memory_id: str = column("Key.")
    project: str | None = column("Project; '' is none. NULL: injected somewhere, but never landed as a memory.")
    agent: str | None = column("Agent it belongs to; '' is none. NULL: never landed.")
    memory_type: str | None = column("identity, preference, project, knowledge, ... NULL: never landed.")
    status: Status | None = column("State. NULL: never landed.")
    content: str | None = column("Its text. NULL: never said.")
    created_at: datetime | None = column("Its first change. NULL: never landed.", unit="UTC")
    eligible_count: int = column(
        "Interactions in which it was active and of the project, or of no project and of a global type (a param)."
    )
    injected_count: int = column("Interactions it was put into (`memories_used`).")
    echoed_count: int = column("Interactions whose answer repeats its first words (`echo/1`), parroted or not.")
    reference_count: int = column("Interactions whose answer echoes or uses it: a lower bound on its real use.")
    first_referenced_at: datetime | None = column("First reference. NULL: no detected reference.", unit="UTC")
    last_referenced_at: datetime | None = column("Last reference. NULL: no detected reference.", unit="UTC")
    reinforced_confidence: float | None = column(
        "Initial confidence plus `reinforcement_delta` (default 0.02) per echoing interaction, capped. NULL: none.",
        unit="0-1",
    )
    run_id: str = column(_RUN_ID)
    as_of: datetime = column(_AS_OF, unit="UTC")


class MemoryHealthHistory(Table):
    """How memory_health came about: one row per memory and UTC day on which its counts or its state changed."""

    name: ClassVar[str] = "memory_health_history"
    key: ClassVar[tuple[str, ...]] = ("memory_id", "day")

    memory_id: str = column("Key.")
    day: date = column("Key: the UTC day. Days on which nothing changed have no row: the last one before holds.")
    status: Status | None = column("State at the end of the day. NULL: not landed by then.")
    eligible_count: int = column("As in memory_health, up to the end of the day.")
    injected_count: int = column("As in memory_health, up to the end of the day.")
    echoed_count: int = column("As in memory_health, up to the end of the day.")
    reference_count: int = column("As in memory_health, up to the end of the day.")
    reinforced_confidence: float | None = column("As in memory_health, at the end of the day.", unit="0-1")
    run_id: str = column(_RUN_ID)
    as_of: datetime = column(_AS_OF, unit="UTC")


class PublishedReferences(MemoryReferences):
    """Evidence, one row per interaction and memory that was injected into it or found in its answer."""

    run_id: str = column(_RUN_ID)
    as_of: datetime = column(_AS_OF, unit="UTC")


class Runs(Table):
    """The run ledger: every landing, publish, backfill and skipped or failed night."""

    name: ClassVar[str] = "runs"
    key: ClassVar[tuple[str, ...]] = ("run_id",)

    run_id: str = column("Key.")
    kind: Literal["land", "nightly", "backfill", "as_of"] = column("What ran.")
    status: Literal["landed", "published", "skipped", "failed", "built"] = column("How it ended.")
    as_of: datetime | None = column("What the publish shows is what was known before this instant.", unit="UTC")
    started_at: datetime = column("By the machine's clock.", unit="UTC")
    finished_at: datetime | None = column("By the machine's clock. NULL: not finished.", unit="UTC")
    message: str | None = column("Why it was skipped or failed, or what an audit warned of.")
    delivered: int = column("Rows delivered to this run's landing.")
    accepted: int = column("Of them new.")
    duplicate: int = column("Of them already in the lake.")
    quarantined: int = column("Of them refused with a reason.")
    days_count: int = column("Days with evidence.")
    days_built_count: int = column("Of them built by this run.")
    input_hash: str | None = column("Digest of everything the publish was computed from. NULL: nothing published.")
    params_hash: str = column("Digest of the params.")
    code_hash: str = column("Digest of the code.")
    version: str = column("Version of slowwave.")
    methods: list[str] = column("Methods used, with version.")
    table_hashes: list[str] = column("`table=hash` of the sorted values of each published table.")


class RunFiles(Table):
    """What became of every delivered file: delivered = accepted + duplicate + quarantined."""

    name: ClassVar[str] = "run_files"
    key: ClassVar[tuple[str, ...]] = ("run_id", "file_number")

    run_id: str = column("Key: the run that landed it.")
    file_number: int = column("Key: place of the file in that run, from 1.")
    source: str = column("Its path as given, or - for standard input.")
    file_hash: str = column("SHA-256 of its bytes: a file with the same bytes is not landed twice.")
    bytes_count: int = column("Size.", unit="bytes")
    landed_at: datetime = column("By the machine's clock.", unit="UTC")
    delivered: int = column("Rows in the file; a file that cannot be read on counts one more.")
    accepted: int = column("New rows.")
    duplicate: int = column("Rows already in the lake, or of a file already landed.")
    quarantined: int = column("Rows refused, each with a reason in `quarantine`.")


class Quarantine(Table):
    """Every refused row, with the reason and the row itself."""

    name: ClassVar[str] = "quarantine"
    key: ClassVar[tuple[str, ...]] = ("quarantine_id",)

    quarantine_id: str = column("Key: the file's hash and the row number.")
    source: str = column("The file it came in.")
    file_hash: str = column("SHA-256 of that file.")
    row_number: int | None = column("Line or row number, from 1. NULL: the file as a whole cannot be read on.")
    field: str = column("The field at fault; '' when it is the row.")
    reason: str = column("What is wrong and what would be right.")
    raw_text: str = column("The row as delivered; bytes that are not UTF-8 as \\xNN.")
    run_id: str = column("The run that refused it.")
    landed_at: datetime = column("By the machine's clock.", unit="UTC")


PUBLISHED: tuple[type[Table], ...] = (MemoryHealth, MemoryHealthHistory, PublishedReferences)
LEDGER: tuple[type[Table], ...] = (Runs, RunFiles, Quarantine)
SERVING: tuple[type[Table], ...] = PUBLISHED + LEDGER
