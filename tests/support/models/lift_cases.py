"""Hand-written logs for memory outcomes: one line per interaction."""

from datetime import datetime, timedelta

import polars as pl

from slowwave.transforms.lift import observed_outcomes
from slowwave.transforms.lift.params import MemoryOutcomeParams

START = datetime(2026, 3, 1)  # noqa: DTZ001 - naive times hold UTC
AS_OF = START + timedelta(days=100)
PARAMS = MemoryOutcomeParams()
_OFFER = pl.Struct({"id": pl.String, "rank": pl.Int64, "score": pl.Float64})


def interaction(hour, success, **given):
    """One interaction and its attempt; times in hours after START."""
    row = {
        "hour": hour, "success": success, "injected": [], "echoed": [], "offered": None, "chance": None, "project": "p",
        "agent": "a", "task_type": "t", "task": None, "known": hour + 0.1, "session": None,
    }  # fmt: skip
    return {**row, **given}


def frames(rows, created=(), confidence=None):
    """references, interactions, memories, attempts; `created` maps memories to hours, `confidence` to initial ones."""
    rows = [{**row, "id": row.get("id", f"i{k:05d}")} for k, row in enumerate(rows)]
    numbers = {id_: number for number, id_ in enumerate(dict.fromkeys(row["id"] for row in rows))}
    pairs = [(row, name) for row in rows for name in sorted({*row["injected"], *row["echoed"]})]
    references = pl.DataFrame(
        {
            "memory_id": [name for _, name in pairs],
            "interaction": [numbers[row["id"]] for row, _ in pairs],
            "is_injected": [name in row["injected"] for row, name in pairs],
            "is_referenced": [name in row["echoed"] for row, name in pairs],
        },
        schema={
            "memory_id": pl.String, "interaction": pl.Int64, "is_injected": pl.Boolean, "is_referenced": pl.Boolean,
        },
    )  # fmt: skip
    at = [START + timedelta(hours=row["hour"]) for row in rows]
    offers = [
        [{"id": name, "rank": rank, "score": score} for name, rank, score in row["offered"]] if row["offered"] else None
        for row in rows
    ]
    interactions = pl.DataFrame(
        {
            "interaction_id": [row["id"] for row in rows],
            "interaction": [numbers[row["id"]] for row in rows],
            "occurred_at": at,
            "memories_offered": offers,
            "injection_probability": [row["chance"] for row in rows],
        },
        schema={
            "interaction_id": pl.String, "interaction": pl.Int64, "occurred_at": pl.Datetime("us"),
            "memories_offered": pl.List(_OFFER), "injection_probability": pl.Float64,
        },
    )  # fmt: skip
    names = sorted({name for _, name in pairs} | set(created))
    created, confidence = dict(created), confidence or {}
    memories = pl.DataFrame(
        {
            "memory_id": names,
            "created_at": [START + timedelta(hours=created.get(name, 0)) for name in names],
            "confidence": [confidence.get(name) for name in names],
        },
        schema={"memory_id": pl.String, "created_at": pl.Datetime("us"), "confidence": pl.Float64},
    )
    attempts = pl.DataFrame(
        {
            "outcome_id": [f"o{k:05d}" for k in range(len(rows))],
            "interaction_id": [row["id"] for row in rows],
            "created_at": at,
            "known_at": [START + timedelta(hours=row["known"]) for row in rows],
            **{name: [row[name] for row in rows] for name in ("project", "agent", "task_type", "task")},
            "block": [row["session"] or row["id"] for row in rows],
            "success": [row["success"] for row in rows],
        },
        schema_overrides={"task": pl.String, "known_at": pl.Datetime("us"), "created_at": pl.Datetime("us")},
    )
    return references, interactions, memories, attempts


def memory_outcomes(references, interactions, memories, attempts, as_of, params):
    """memory_outcomes as a publish computes it, where nobody owns a memory."""
    owners = pl.DataFrame(schema={"memory_id": pl.String, "only_user": pl.String})
    users = interactions.with_columns(pl.lit(None, pl.String).alias("user_id"))
    found = observed_outcomes.attempted_trials(users, attempts, owners, as_of)
    return observed_outcomes.memory_outcomes(
        references, found.offers, memories, found.known, found.of_users, owners, params
    )


def outcomes_of(rows, params=PARAMS, as_of=AS_OF, **given):
    """memory_outcomes of these rows, by memory_id."""
    found = memory_outcomes(*frames(rows, **given), as_of, params)
    return {row["memory_id"]: row for row in found.to_dicts()}
