"""What follows from the landed decisions: their ids, the status changes they make, what is held, what is archived."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.transforms.core.frames import Frame, conform, framed
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.forgetting.tables import ForgettingAudit
from slowwave.transforms.decisions.memory_edits import MEMORY_EDITS
from slowwave.transforms.decisions.review.changes import REVIEWS
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.stated_changes import stated_changes
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.landing.versions import winning_versions, with_row_hash

APPLY, RESTORE, HOLD, RELEASE = "forget apply", "forget restore", "forget hold", "forget release"
FORGET_METHOD = "forget/1"

# What of `values` is read again; whatever else is there is kept for people.
_VALUES = pl.Struct(
    {
        "status": pl.String(),
        "status_before": pl.String(),
        "rule": pl.String(),
        "need_30d": pl.Float64(),
        "strength": pl.Float64(),
        "is_shadow": pl.Boolean(),
        "archive_id": pl.String(),
        "command_id": pl.String(),
    }
)


def decision_id(command: str, target: str, values: Mapping[str, Any], on_run_id: str | None) -> str:
    """Id of a decision: the same command, target, values and publish are the same decision."""
    return digest([command, target, values_json(values), on_run_id or ""])


def values_json(values: Mapping[str, Any]) -> str:
    """Values of a decision as JSON, the same for the same values; floats keep every digit."""
    options: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    return json.dumps(values, sort_keys=True, default=datetime.isoformat, **options)


def decision_rows(decisions: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of the landed table `decisions`, hashed; `recorded_at` is `decided_at`."""
    frame = pl.DataFrame(decisions, schema={n: t for n, t in polars_schema(Decisions).items() if n in _STATED})
    rows = with_row_hash(Decisions, frame.with_columns(pl.col("decided_at").alias("recorded_at")))
    return rows.select(*polars_schema(Decisions))


_STATED = frozenset(polars_schema(Decisions)) - {"recorded_at", "row_hash", "key_hash"}


def status_changes(decisions: pl.DataFrame) -> pl.DataFrame:
    """The rows of the memory log that `forget apply`, `forget restore`, `review` and `memory` make, hashed.

    Nothing for what is in shadow, or was kept as it is.

    They follow from the decisions alone.
    """
    changing = _with_values(decisions).filter(
        pl.col("command").is_in([APPLY, RESTORE]), ~pl.col("is_shadow").fill_null(value=False)
    )
    forgotten = changing.sort("decision_id").select(
        "decision_id",
        pl.col("target").alias("memory_id"),
        pl.col("decided_at").alias("changed_at"),
        pl.col("recorded_at"),
        "status",
        "reason",
        "changed_by",
    )
    stated = stated_changes(decisions, [*REVIEWS, *MEMORY_EDITS])
    rows = pl.concat([forgotten, stated], how="diagonal").with_columns(
        pl.col("decision_id")
        .map_elements(lambda made: values_json({"decision_id": made}), return_dtype=pl.String)
        .alias("extra")
    )
    complete = conform(Memories, rows.lazy()).collect()
    return with_row_hash(Memories, complete.drop("row_hash", "key_hash")).select(*polars_schema(Memories))


def effective(decisions: pl.DataFrame, memory_row_hashes: pl.Series) -> pl.DataFrame:
    """The decisions that took effect: the status change they make, if any, is in the memory log (`row_hash`es).

    A command killed between the two leaves decisions that changed nothing and never will: what holds later is checked
    and decided anew.
    """
    if decisions.is_empty():
        return decisions
    changes = status_changes(decisions).with_columns(_made_by(pl.col("extra")))
    missing = changes.join(memory_row_hashes.to_frame("row_hash"), on="row_hash", how="anti")
    # of several versions of one decision each has its own time
    void = missing.select("decision_id", pl.col("changed_at").alias("decided_at"))
    return decisions.join(void, on=["decision_id", "decided_at"], how="anti", maintain_order="left")


def _made_by(extra: pl.Expr) -> pl.Expr:
    return extra.str.json_path_match("$.decision_id").alias("decision_id")


def flag_holds(decisions: pl.LazyFrame, memories: pl.LazyFrame, as_of: datetime) -> pl.LazyFrame:
    """Per memory whether it, or its project, is held: memory_id, is_held.

    Args:
        decisions: all versions of the landed decisions; those not visible at `as_of` count for nothing.
        memories: memory_id, project (NULL: never landed; then only a hold of the memory itself counts).
        as_of: the last hold or release of a target before this instant counts.
    """
    holding = holds(decisions, as_of)
    of_memory = holding.filter(pl.col("target_kind") == "memory").select(memory_id="target", by_memory=True)
    of_project = holding.filter(pl.col("target_kind") == "project").select(project="target", by_project=True)
    return (
        memories.select("memory_id", "project")
        .join(of_memory, on="memory_id", how="left")
        .join(of_project, on="project", how="left")
        .select("memory_id", pl.any_horizontal("by_memory", "by_project").fill_null(value=False).alias("is_held"))
        .sort("memory_id")
    )


def holds(decisions: pl.LazyFrame, as_of: datetime) -> pl.LazyFrame:
    """The holds in force: target_kind, target, decision_id, reason, decided_at, changed_by."""
    return last_hold_decisions(decisions, as_of).filter(pl.col("command") == HOLD).drop("command")


def last_hold_decisions(decisions: pl.LazyFrame, as_of: datetime) -> pl.LazyFrame:
    """Per target that was ever held the last hold or release: target_kind, target, command, decision_id, ..."""
    return (
        winning_versions(Decisions, decisions, as_of)
        .filter(pl.col("command").is_in([HOLD, RELEASE]))
        .sort("decided_at", "decision_id")
        .group_by("target_kind", "target")
        .agg(pl.col("command", "decision_id", "reason", "decided_at", "changed_by").last())
        .sort("target_kind", "target")
    )


def archivings(decisions: pl.LazyFrame, as_of: datetime) -> pl.DataFrame:
    """Every `forget apply` on a memory, sorted by decided_at and memory.

    Columns: decision_id, memory_id, decided_at, reason, rule, need_30d, strength, is_shadow, status_before, command_id,
    on_run_id, restored_at (NULL: not restored).
    """
    won = _with_values(winning_versions(Decisions, decisions, as_of).collect())
    restored = (
        won.filter(pl.col("command") == RESTORE)
        .group_by(pl.col("archive_id").alias("decision_id"))
        .agg(pl.col("decided_at").min().alias("restored_at"))
    )
    return (
        won.filter(pl.col("command") == APPLY)
        .join(restored, on="decision_id", how="left")
        .select(
            "decision_id",
            pl.col("target").alias("memory_id"),
            "decided_at",
            "reason",
            "rule",
            "need_30d",
            "strength",
            pl.col("is_shadow").fill_null(value=False),
            "status_before",
            "command_id",
            "on_run_id",
            "restored_at",
        )
        .sort("decided_at", "memory_id", "decision_id")
    )


def forgetting_audit(decisions: pl.LazyFrame, as_of: datetime) -> Frame[ForgettingAudit]:
    """Everything `forget` did before `as_of`, a row per decision: the columns of the table `forgetting_audit`."""
    won = _with_values(winning_versions(Decisions, decisions, as_of).collect())
    is_apply = pl.col("command") == APPLY
    action = (
        pl.when(is_apply & pl.col("is_shadow"))
        .then(pl.lit("shadowed"))
        .when(is_apply)
        .then(pl.lit("archived"))
        .otherwise(
            pl.col("command").replace_strict(
                {RESTORE: "restored", HOLD: "held", RELEASE: "released"}, default=None, return_dtype=pl.String
            )
        )
    )
    rows = (
        won.with_columns(action.alias("action"))
        .filter(pl.col("action").is_not_null())
        .select(
            "decision_id",
            "action",
            "target_kind",
            "target",
            "decided_at",
            "reason",
            "changed_by",
            "rule",
            "status_before",
            "need_30d",
            "strength",
            "on_run_id",
            "command_id",
        )
        .sort("decision_id")
    )
    return framed(ForgettingAudit, rows)


def _with_values(decisions: pl.DataFrame) -> pl.DataFrame:
    """The decisions of `forget`, with the fields of `values` as columns; those of others hold what they like there."""
    ours = decisions.filter(pl.col("command").is_in([APPLY, RESTORE, HOLD, RELEASE]))
    return ours.with_columns(pl.col("values").str.json_decode(_VALUES).alias("said")).unnest("said")
