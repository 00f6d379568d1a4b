"""What was wanted after it was archived, beside what was predicted."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

from slowwave.transforms.core.frames import empty, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.forgetting.regret import regret
from slowwave.transforms.decisions.forgetting.tables import Regret
from slowwave.transforms.decisions.params import ForgettingParams
from slowwave.transforms.evidence.tables import MemoryReferences

THEN = datetime(2026, 3, 1, 12)
LATER = datetime(2026, 9, 1)
ARCHIVED = {
    "decision_id": pl.String, "memory_id": pl.String, "decided_at": pl.Datetime("us"), "rule": pl.String,
    "need_30d": pl.Float64, "is_shadow": pl.Boolean, "restored_at": pl.Datetime("us"),
}  # fmt: skip
REFERENCES = {
    "memory_id": pl.String, "interaction_id": pl.String, "occurred_at": pl.Datetime("us"), "is_injected": pl.Boolean,
    "is_echoed": pl.Boolean,
    "is_used": pl.Boolean,
}  # fmt: skip


def archiving(memory_id: str, **fields: Any) -> dict[str, Any]:
    usual = {"decision_id": f"d-{memory_id}", "decided_at": THEN, "rule": "faded", "is_shadow": True}
    return {**dict.fromkeys(ARCHIVED), **usual, "memory_id": memory_id, **fields}


def use(
    memory_id: str,
    days: float,
    interaction_id: str = "i",
    *,
    injected: bool = False,
    echoed: bool = True,
    used: bool = False,
) -> Any:
    return (memory_id, interaction_id, THEN + timedelta(days=days), injected, echoed, used)


def rows(archived: list[dict[str, Any]], uses: list[Any], as_of: datetime = LATER) -> dict[Any, dict[str, Any]]:
    references = framed(MemoryReferences, pl.LazyFrame(uses, schema=REFERENCES, orient="row"), partial=True)
    found = regret(pl.DataFrame(archived, schema=ARCHIVED), references, as_of, ForgettingParams())
    return {(row["archived_as"], row["rule"]): row for row in found.to_dicts()}


def test_uses_in_the_window_are_counted_once_per_interaction() -> None:
    uses = [use("m1", 1), use("m1", 2, "j"), use("m2", 29.9), use("m3", 30), use("m4", -0.1), use("other", 1)]
    found = rows([archiving(f"m{number}") for number in range(1, 5)], uses)
    assert set(found) == {("shadow", ""), ("shadow", "faded")}
    row = found["shadow", ""]
    assert (row["memories_count"], row["wanted_count"], row["interactions_count"]) == (4, 2, 3)
    assert (row["wanted_per_1000"], row["interactions_per_1000"]) == (500.0, 750.0)
    assert row["wanted_per_1000_low"] < 500 < row["wanted_per_1000_high"]


def test_an_injection_alone_is_no_use_of_what_is_in_shadow() -> None:
    found = rows([archiving("m1")], [use("m1", 1, injected=True, echoed=False)])
    assert found["shadow", ""]["wanted_count"] == 0


def test_of_what_is_archived_injections_and_restores_are_seen() -> None:
    archived = [
        archiving("m1", is_shadow=False),
        archiving("m2", is_shadow=False, restored_at=THEN + timedelta(days=3)),
        archiving("m3", is_shadow=False, restored_at=THEN + timedelta(days=31)),
    ]
    row = rows(archived, [use("m1", 5, injected=True, echoed=False)])["archived", ""]
    assert (row["wanted_count"], row["restored_count"], row["interactions_count"]) == (2, 1, 1)


def test_a_window_that_has_not_passed_counts_for_nothing() -> None:
    archived = [archiving("m1")]
    assert rows(archived, [], THEN + timedelta(days=30, microseconds=-1)) == {}
    assert rows(archived, [], THEN + timedelta(days=30))["shadow", ""]["memories_count"] == 1


def test_predictions_stand_beside_what_was_wanted() -> None:
    archived = [archiving("m1", need_30d=0.1), archiving("m2", need_30d=0.3), archiving("m3")]
    row = rows(archived, [])["shadow", ""]
    assert row["predicted_memories_count"] == 2
    assert row["predicted_per_1000"] == pytest.approx(200, abs=1e-5)
    assert rows([archiving("m3")], [])["shadow", ""]["predicted_per_1000"] is None


def test_the_interval_reaches_the_ends() -> None:
    none, every = rows([archiving("m1")], []), rows([archiving("m1")], [use("m1", 1)])
    assert none["shadow", ""]["wanted_per_1000_low"] == 0
    assert 0 < none["shadow", ""]["wanted_per_1000_high"] < 1000
    assert every["shadow", ""]["wanted_per_1000_high"] == 1000


def test_use_in_other_words_counts_as_an_echo_does() -> None:
    archived = [archiving("m1"), archiving("m2")]
    uses = [use("m1", 1, echoed=False, used=True), use("m2", 1, injected=True, echoed=False)]
    assert rows(archived, uses)["shadow", ""]["wanted_count"] == 1


def test_the_order_of_rows_does_not_matter() -> None:
    archived = [archiving(f"m{n}", need_30d=n / 7, rule=("faded", "untouched")[n % 2]) for n in range(7)]
    uses = [use(f"m{n}", n, f"i{n}") for n in range(0, 7, 2)]
    assert rows(archived, uses) == rows(archived[::-1], uses[::-1])


def test_the_columns_are_the_declared_ones() -> None:
    none = empty(MemoryReferences).lazy()
    found = regret(pl.DataFrame([archiving("m1")], schema=ARCHIVED), none, LATER, ForgettingParams())
    assert dict(found.schema) == {n: t for n, t in polars_schema(Regret).items() if n not in {"run_id", "as_of"}}
