"""Changes of memories that decisions state in their `values`: as the rows of the memory log that follow from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.landing.tables import Memories

# What may be said of a memory; a NULL field stays as it is, those in `clears` lose what was said of them.
_SAID = ("memory_id", *Memories.state, "clears")
CHANGE = pl.Struct({name: dtype for name, dtype in polars_schema(Memories).items() if name in _SAID})
_VALUES = pl.Struct({"changes": pl.List(CHANGE)})


def stated_changes(decisions: pl.DataFrame, commands: Sequence[str]) -> pl.DataFrame:
    """The rows that decisions of these commands make, with decision_id, in place of hashes and `extra`.

    They follow from the decisions alone.
    """
    ours = decisions.filter(pl.col("command").is_in(list(commands))).select(
        "decision_id", pl.col("decided_at").alias("changed_at"), "recorded_at", "values", "reason", "changed_by"
    )
    told = ours.with_columns(pl.col("values").str.json_decode(_VALUES).struct.field("changes")).explode("changes")
    return (
        told.drop("values")
        .drop_nulls("changes")
        .sort("decision_id", maintain_order=True)
        .unnest("changes")
    )  # fmt: skip


def changes_of(values: str) -> list[dict[str, Any]]:
    """The changes of memories that a decision's values hold, with their times as times."""
    return [
        _with_times(change) | ({"before": _with_times(change["before"])} if change.get("before") else {})
        for change in json.loads(values)["changes"]
    ]


def _with_times(said: Mapping[str, Any]) -> dict[str, Any]:
    at = said.get("expires_at")
    return {**said, **({"expires_at": datetime.fromisoformat(at)} if at else {})}
