"""What error messages say, each by itself: read once, however many nights it is known."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.hashing import digest, hash_texts
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.grouping.errors.fingerprints import masked_errors
from slowwave.transforms.grouping.errors.params import ErrorParams
from slowwave.transforms.learning.attempts.outcomes import not_attempted_reason
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.attempts.tables import ErrorReadings


class ReadingParams(Protocol):
    """By which rules messages are read."""

    attempts: AttemptParams
    errors: ErrorParams


def error_readings(
    before: Frame[ErrorReadings], outcomes: pl.DataFrame, params: ReadingParams
) -> tuple[Frame[ErrorReadings], pl.DataFrame]:
    """The readings of the messages of all outcomes, sorted by key; and error_message, masked, not_attempted of each.

    Args:
        before: such rows, of whatever night.
        outcomes: error_message.
        params: the method of errors, and which errors are no attempts.
    """
    messages = outcomes["error_message"].drop_nulls().unique()
    asked = pl.DataFrame({"part": hash_texts(messages), "error_message": messages}).with_columns(
        made_of=pl.lit(_rules(params))
    )
    known = asked.join(before, on=["part", "made_of"], how="inner")
    new = asked.join(known, on="part", how="anti")
    masked = masked_errors(new.filter(~is_blank(pl.col("error_message"))), params.errors)
    read = new.join(masked, on="error_message", how="left").with_columns(
        not_attempted_reason(pl.col("error_message"), params.attempts).alias("not_attempted")
    )
    found = pl.concat([known.select(read.columns), read])
    kept = found.select(*polars_schema(ErrorReadings)).sort("part")
    return framed(ErrorReadings, kept), found.select("error_message", "masked", "not_attempted")


def _rules(params: ReadingParams) -> str:
    """All that a reading follows from besides the message: of methods the version, as these do not change."""
    of_errors = params.errors
    sizes = (of_errors.max_code_points, of_errors.max_line_code_points)
    refused = [rule.model_dump_json() for rule in params.attempts.not_attempted]
    return digest([of_errors.method, *map(str, sizes), *refused])
