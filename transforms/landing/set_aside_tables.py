"""Rows of the lake that no publish may count: what is published of them, and what is known of each file of the lake."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar

from pydantic import BaseModel

from slowwave.transforms.core.columns import AS_OF, RUN_ID
from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import LandedTable


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
