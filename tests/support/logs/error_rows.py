"""Messages as the rows of `error_fingerprints`, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from slowwave.transforms.grouping.error_fingerprints import error_fingerprints
from slowwave.transforms.grouping.params import ErrorParams

SCHEMA = {"project": pl.String, "error_message": pl.String}
PARAMS = ErrorParams()
USERS = ["ann", "bea", "cleo", "dora", "eve", "fay"]


def frame(messages: Iterable[str | None], project: str = "p") -> pl.DataFrame:
    """The messages, all of one project."""
    return pl.DataFrame([(project, message) for message in messages], schema=SCHEMA, orient="row")


def rows_of(messages: Iterable[str], params: ErrorParams = PARAMS) -> dict[str, dict[str, Any]]:
    """The row of each message."""
    found = error_fingerprints(frame(messages), params)
    return {row["error_message"]: row for row in found.iter_rows(named=True)}


def groups_of(messages: Iterable[str], params: ErrorParams = PARAMS, by: str = "error_id") -> list[list[str]]:
    """The messages by error, or by family (`error_family`), sorted."""
    groups: dict[str, set[str]] = {}
    for message, row in rows_of(messages, params).items():
        groups.setdefault(row[by], set()).add(message)
    return sorted(sorted(group) for group in groups.values())
