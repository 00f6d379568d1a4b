"""Outcomes as the learning transforms take them, from short descriptions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from slowwave.transforms.learning.confidence.fits import confidence_fits, confidence_losses, interval_grades
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.heuristics import heuristics
from slowwave.transforms.learning.outcomes import counted_outcomes, not_attempted_reason, with_apart
from slowwave.transforms.learning.params import AttemptParams, HeuristicParams
from slowwave.transforms.learning.sessions import (
    attempt_cells,
    attempt_sessions,
    next_midnight,
)

START = datetime(2026, 1, 5)  # noqa: DTZ001 - times are UTC without zone; a Monday
_SCHEMA = {
    "outcome_id": pl.String,
    "interaction_id": pl.String,
    "created_at": pl.Datetime("us"),
    "recorded_at": pl.Datetime("us"),
    "project": pl.String,
    "agent": pl.String,
    "session_id": pl.String,
    "user_id": pl.String,
    "task_type": pl.String,
    "task": pl.String,
    "strategy": pl.String,
    "success": pl.Boolean,
    "attempted": pl.Boolean,
    "error_message": pl.String,
    "duration_ms": pl.Float64,
    "tokens": pl.Int64,
    "cost": pl.Float64,
    "cost_unit": pl.String,
    "basis": pl.String,
    "basis_method": pl.String,
}


def outcomes(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Resolved outcomes, one per hour from `START`, each its own session, where a row does not say otherwise."""
    told = []
    for number, row in enumerate(rows):
        at = row.get("created_at", START + timedelta(hours=number))
        default = {
            "outcome_id": f"o{number:05}",
            "project": "p",
            "agent": "a",
            "session_id": f"s{number:05}",
            "task_type": "t",
            "strategy": "plan",
            "success": True,
            "created_at": at,
            "recorded_at": row.get("recorded_at", at),
        }
        told.append({**default, **row})
    return pl.DataFrame(told, schema=_SCHEMA)


def interactions(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """What `resolved_outcomes` takes from interactions."""
    names = ("interaction_id", "project", "agent", "session_id", "user_id")
    schema = pl.Schema({name: _SCHEMA[name] for name in names})
    return pl.DataFrame(list(rows), schema=schema)


def counted(rows: Iterable[dict[str, Any]], params: AttemptParams | None = None) -> pl.DataFrame:
    """`counted_outcomes` of these rows, every text its own strategy and every message its own error."""
    params = params or AttemptParams()
    frame = with_apart(outcomes(rows), params)
    groups = frame.select("project", "strategy", pl.col("strategy").alias("strategy_id")).drop_nulls().unique()
    errors = frame.select("project", "error_message", pl.col("error_message").alias("error_id")).drop_nulls().unique()
    return counted_outcomes(frame, groups, errors, readings(frame, params), params)


def readings(outcomes: pl.DataFrame, params: AttemptParams) -> pl.DataFrame:
    """What `error_readings` says of their messages to those who count them."""
    says = not_attempted_reason(pl.col("error_message"), params).alias("not_attempted")
    return outcomes.select("error_message").drop_nulls().unique().with_columns(says)


@dataclass(frozen=True)
class Tried:
    """What forecasts are made of."""

    attempts: pl.DataFrame
    cells: pl.DataFrame
    sessions: pl.DataFrame


def tried(rows: Iterable[dict[str, Any]]) -> Tried:
    """Cells and sessions of these rows."""
    cells, numbered = attempt_cells(counted(rows).filter("is_learned"))
    return Tried(numbered, cells, attempt_sessions(numbered))


def heuristics_of(
    rows: Iterable[dict[str, Any]], as_of: datetime, scope: AttemptParams | None = None
) -> dict[str, dict[str, Any]]:
    """`heuristics` of these rows by strategy, with the default params."""
    return {row["strategy_id"]: row for row in in_order_of(rows, as_of, scope=scope).to_dicts()}


def in_order_of(
    rows: Iterable[dict[str, Any]],
    as_of: datetime,
    params: ConfidenceParams | None = None,
    scope: AttemptParams | None = None,
) -> pl.DataFrame:
    """`heuristics` of these rows, by default with the default params; of projects with two fits joined on."""
    params, of = params or ConfidenceParams(), tried(rows)
    day = next_midnight(as_of)
    today = of.cells.select("project", pl.lit(day, pl.Int64).alias("day")).unique()
    known = CellHistory.of(of.sessions, params)
    losses = confidence_losses(of.sessions, of.cells, known, params)
    grades = interval_grades(of.sessions, of.cells, known, losses, params)
    fits = confidence_fits(losses, grades, today, params)
    scope = scope or AttemptParams()
    found = heuristics(of.attempts, of.cells, known, fits, as_of, params, HeuristicParams(), scope)
    return found.join(fits.drop("day"), on="project", how="left")
