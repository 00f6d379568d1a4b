"""The ledger: what ran, what became of every delivered file, and the rows that were refused."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar

from pydantic import BaseModel

from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, FileFormat, LandedTable, RunKind, RunStatus, Stage


class Runs(Table):
    """The run ledger: every landing, publish, backfill and skipped or failed night."""

    name: ClassVar[str] = "runs"
    key: ClassVar[tuple[str, ...]] = ("run_id",)

    run_id: str = column("Key: the run.")
    kind: RunKind = column("What ran.")
    status: RunStatus = column(
        "How it ended; incomplete: rows that failed a check were set aside; started: it did not, or not yet."
    )
    as_of: datetime | None = column(AS_OF, unit="UTC")
    started_at: datetime = column("By the machine's clock.", unit="UTC")
    finished_at: datetime | None = column("By the machine's clock. NULL: not finished.", unit="UTC")
    message: str | None = column(
        "Why it was skipped or failed, or what an audit warned of; of one that did not end, its last stage."
    )
    delivered: int = column("Rows delivered. To this run's landing.")
    accepted: int = column("Rows that were new.")
    duplicate: int = column("Rows that were in the lake already.")
    quarantined: int = column("Rows refused, each with a reason in `quarantine`.")
    days_count: int = column("Days with evidence.")
    days_built_count: int = column("Of them built by this run.")
    input_hash: str | None = column("Digest of everything the publish was computed from. NULL: nothing published.")
    params_hash: str = column("Digest of the params.")
    code_hash: str = column("Digest of the code.")
    version: str = column("Version of slowwave.")
    methods: list[str] = column("Methods, with version. Those it used.")
    table_hashes: list[str] = column("`table=hash` of the sorted values of each published table.")
    texts_from: date | None = column(
        "Of days before this, texts had expired by `[retention]`: they are replayed from evidence retained of them,"
        " from then on from the texts. NULL: all from texts.",
        default=None,
        since=6,
    )


class RunSteps(Table):
    """What each step of the graph cost in the run that published this; `slowwave inspect lineage` shows it, too."""

    name: ClassVar[str] = "run_steps"
    key: ClassVar[tuple[str, ...]] = ("step",)

    step: str = column("Key: the function that computed it, as in `slowwave inspect lineage`.")
    run_id: str = column("The run. Here the one that published the rows.")
    stage: Stage = column("The line of the benchmark that it counts for.")
    tables: list[str] = column("What it computed; empty: only what other steps are made from.")
    rows_count: int = column("Rows. Written by this run; what it took over is not among them.")
    cpu_seconds: float = column("CPU time, of all threads.", unit="s")


class RunFiles(Table):
    """What became of every delivered file: delivered = accepted + duplicate + quarantined."""

    name: ClassVar[str] = "run_files"
    key: ClassVar[tuple[str, ...]] = ("run_id", "file_number")

    run_id: str = column("Key: the run. Here the one that landed the file.")
    file_number: int = column("Key: place of the file in that run, from 1.")
    source: str = column("Where it comes from. Path as given, or - for standard input.")
    file_hash: str = column("SHA-256 of the file's bytes. A file with the same bytes is not landed twice.")
    bytes_count: int = column("Size.", unit="bytes")
    landed_at: datetime = column("By the machine's clock.", unit="UTC")
    delivered: int = column("Rows delivered. A file that cannot be read on counts one more.")
    accepted: int = column("Rows that were new.")
    duplicate: int = column("Rows that were in the lake already. Or of a file that landed already.")
    quarantined: int = column("Rows refused, each with a reason in `quarantine`.")
    retried: int | None = column(
        "Quarantined rows of it tried again; the counts then say what that changed, so that the sums over a file's"
        " entries hold: quarantined is below 0 where rows have left the quarantine. NULL: a delivery.",
        since=2,
    )


class Quarantine(Table):
    """Every row that is refused to this day, with the reason and the row itself."""

    name: ClassVar[str] = "quarantine"
    key: ClassVar[tuple[str, ...]] = ("quarantine_id",)
    stored_key: ClassVar[tuple[str, ...]] = ("quarantine_id", "run_id")

    quarantine_id: str = column("Key: the file's hash and the row number.")
    source: str = column("Where it comes from. The file it came in.")
    file_hash: str = column("SHA-256 of the file's bytes.")
    row_number: int | None = column("Line or row number, from 1. NULL: the file as a whole cannot be read on.")
    field: str = column("The field at fault; '' when it is the row.")
    reason: str = column("Why, in words. What is wrong and what would be right.")
    raw_text: str = column(
        "The row as delivered, its first 10,000 characters (in the lake, its first million); bytes that are not UTF-8"
        " as \\xNN."
    )
    run_id: str = column("The run. Here the one that refused the row.")
    landed_at: datetime = column("By the machine's clock.", unit="UTC")
    format: FileFormat | None = column(
        "What the file was read as. NULL: landed by a release that did not note it.",
        since=2,
    )
    header: str | None = column("Header of the CSV file. NULL: no CSV, or too long.", since=2)
    kind: LandedTable | None = column(
        "What `--kind` said every row is. NULL: inferred from its fields.",
        since=2,
    )
    kept_file: str | None = column(
        "The file in the lake's `quarantine/files/` that holds the bytes as delivered. NULL: `raw_text` says all.",
        since=2,
    )


class QuarantineResolved(Quarantine):
    """Rows that were refused and have passed since, tried again by `land --retry-quarantine`."""

    name: ClassVar[str] = "quarantine_resolved"
    stored_key: ClassVar[tuple[str, ...]] = ("quarantine_id", "resolved_run_id")

    resolved_run_id: str = column("The run in which it passed.")
    resolved_at: datetime = column("When, by the machine's clock.", unit="UTC")


LEDGER: tuple[type[Table], ...] = (Runs, RunFiles, Quarantine, QuarantineResolved)


# Rows of the lake that no publish may count: what is published of them, and what is known of each file of the lake.


class SetAside(Table):
    """Row versions that landed and count nowhere in this publish: a declared check refused them, or a person did."""

    name: ClassVar[str] = "set_aside"
    key: ClassVar[tuple[str, ...]] = ("table", "row_hash", "check")

    table: LandedTable = column("Key: the landed table.")
    row_key: str = column("Id of the row: `interaction_id`, `outcome_id` or `memory_id`; '' is none.", named="key")
    row_hash: str = column("Key: the version at fault; other versions of its key count as ever.")
    check: str = column("Key: the check it fails; `left_out`: left out by `slowwave nightly --leave-out`.")
    reason: str = column("Why, in words. What is wrong with it, or who left it out and when.")
    happened_at: datetime | None = column("Its event time. NULL: it has none.", unit="UTC")
    recorded_at: datetime | None = column("When the version was written. NULL: not known.", unit="UTC")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class FailedCheck(BaseModel):
    """One check that one row fails."""

    key: str
    row_hash: str
    check: str
    reason: str
    happened_at: datetime
    recorded_at: datetime


class CheckedFiles(Table):
    """Files of landed rows that were looked through: a file never changes, so it is checked once."""

    name: ClassVar[str] = "checked_files"
    key: ClassVar[tuple[str, ...]] = ("landed_table", "day", "file_name", "checks")

    landed_table: str = column("Key: the landed table.")
    day: date = column("Key: the UTC day.")
    file_name: str = column("Key: the file.")
    checks: str = column("Key: digest of the checks as they were declared.")
    failed: list[FailedCheck] = column("The checks that rows of it fail.")
