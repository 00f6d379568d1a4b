"""As what outcomes count, by whichever names: the rows that everything else is learned from."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Frame, empty, framed, selected
from slowwave.transforms.core.hashing import digest, hash_texts
from slowwave.transforms.core.schema import choose_columns, polars_schema
from slowwave.transforms.grouping.error_fingerprints import errors_of, masked_errors
from slowwave.transforms.grouping.params import ErrorParams
from slowwave.transforms.grouping.strategy_groups import strategy_groups
from slowwave.transforms.landing.tables import Outcomes
from slowwave.transforms.learning.outcomes import counted_outcomes, not_attempted_reason, with_apart
from slowwave.transforms.learning.params import AttemptParams
from slowwave.transforms.learning.sessions import CELL, attempt_cells
from slowwave.transforms.learning.tables import CountedOutcomes, ErrorReadings, ErrorTemplates, StrategyVariants

# What error messages say, each by itself: read once, however many nights it is known.


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


_OF_TRIED = (
    *choose_columns(
        CountedOutcomes,
        *(*CELL, "block", "created_at", "known_at", "success", "is_task_type_inferred", "error_id"),
    ),
    *choose_columns(Outcomes, "strategy", "cost", "cost_unit", "duration_ms", "tokens"),
)
# Of an attempt what is asked by those it is handed on to: they hold it for long.
_OF_ATTEMPTS = (
    *choose_columns(CountedOutcomes, "outcome_id", "interaction_id", "created_at", "known_at", "block"),
    *choose_columns(Outcomes, "project", "agent", "task_type", "task", "success"),
)


class CountingParams(Protocol):
    """Which outcomes count, and how errors are told apart."""

    attempts: AttemptParams
    errors: ErrorParams


class Counted(NamedTuple):
    """What outcomes count as, and of those that count what others ask.

    `cells`, `tried`: of `attempt_cells`, of the attempts that are learned from; a cell's names are in `cells` alone.
    `attempts`: all that count: whose, when, at which task, with what end.
    """

    counted_outcomes: Frame[CountedOutcomes]
    strategy_variants: Frame[StrategyVariants]
    error_templates: Frame[ErrorTemplates]
    cells: pl.DataFrame
    tried: pl.DataFrame
    attempts: pl.DataFrame


def count_attempts(outcomes: pl.DataFrame, params: CountingParams, readings: pl.DataFrame | None = None) -> Counted:
    """As what the outcomes count.

    Args:
        outcomes: of `resolved_outcomes`.
        params: which count, and how errors are told apart.
        readings: of `error_readings` of these outcomes; None: they are read here.

    What is said of outcomes apart changes nothing that is said of others, the names of strategies and errors included.
    """
    told = with_apart(outcomes, params.attempts)
    groups = strategy_groups(_distinct(told, "strategy"))
    if readings is None:
        _, readings = error_readings(empty(ErrorReadings), told, params)
    errors = _errors(_distinct(told, "error_message"), readings.select("error_message", "masked"), params.errors)
    rows = counted_outcomes(told, groups, errors, readings, params.attempts)
    # what is only read of them is not copied
    cells, tried = attempt_cells(rows.lazy().filter("is_learned").select(_OF_TRIED).collect())
    return Counted(
        counted_outcomes=selected(CountedOutcomes, rows),
        strategy_variants=framed(StrategyVariants, groups),
        error_templates=framed(ErrorTemplates, error_templates_of(errors)),
        cells=cells,
        tried=tried.drop(CELL),
        attempts=rows.lazy().filter("is_counted").select(_OF_ATTEMPTS).collect(),
    )


def _distinct(outcomes: pl.DataFrame, name: str) -> pl.DataFrame:
    """The texts under this name, and whether outcomes that are apart alone have one (`is_apart`)."""
    worded = outcomes.lazy().filter(~is_blank(pl.col(name)))
    is_apart = pl.col("apart").is_not_null().all().alias("is_apart")
    return worded.group_by("project", name).agg(is_apart).collect()


def _errors(messages: pl.DataFrame, read: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """The errors of the messages, with `is_apart`; those that are apart are read by themselves."""
    parts = [
        errors_of(of_part.drop("is_apart"), params, read).with_columns(is_apart=is_apart)
        for is_apart in (False, True)
        if (of_part := messages.filter(pl.col("is_apart") == is_apart)).height or not is_apart
    ]
    return pl.concat(parts)


def error_templates_of(errors: pl.DataFrame) -> pl.DataFrame:
    """error_templates: one row per error of a project, from the messages of `error_fingerprints`.

    Messages that are apart (`is_apart`) make rows of their own, and part of no other.
    """
    known = errors.filter(~pl.col("is_apart")).select("project", "error_id").unique()
    new = errors.filter("is_apart").join(known, on=["project", "error_id"], how="anti")
    return (
        pl.concat([errors.filter(~pl.col("is_apart")), new])
        .group_by("project", "error_id")
        .agg(
            pl.col("error_template", "error_family", "error_family_template").first(),
            pl.col("example").first(),
            pl.col("reason").unique().sort().alias("reasons"),
            pl.len().cast(pl.Int64).alias("messages"),
        )
        .sort("project", "error_id")
    )
