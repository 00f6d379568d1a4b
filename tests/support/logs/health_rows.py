"""Rows of memory health, as verdicts and project health take them: one said in full, what differs given by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, cast

import polars as pl
from hypothesis import strategies as st

from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.vocabularies import VERDICTS
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.health.tables import MemoryHealth, ScopeLeaks
from slowwave.transforms.health.use_states import use_state

Row = dict[str, Any]

MIDNIGHT = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
TODAY = (MIDNIGHT.date() - date(1970, 1, 1)).days

_TIME = pl.Datetime("us")
_SCHEMA = pl.Schema(
    {
        "memory_id": pl.String, "project": pl.String, "status": pl.String, "content": pl.String,
        "memory_type": pl.String, "pinned": pl.Boolean, "is_held": pl.Boolean, "created_at": _TIME,
        "eligible_count": pl.Int64, "injected_count": pl.Int64, "echoed_count": pl.Int64, "used_count": pl.Int64,
        "stale_injected_count": pl.Int64, "last_stale_injected_at": _TIME, "reference_count": pl.Int64,
        "confirmed_count": pl.Int64, "contradicted_count": pl.Int64, "contradicted_expected": pl.Float64,
        "first_referenced_at": _TIME, "last_referenced_at": _TIME, "confidence": pl.Float64,
        "confidence_low": pl.Float64, "confidence_high": pl.Float64, "lift": pl.Float64, "lift_low": pl.Float64,
        "lift_high": pl.Float64, "lift_basis": pl.String, "is_harmful": pl.Boolean, "lost_successes": pl.Float64,
        "half_life_days": pl.Float64, "strength": pl.Float64, "strength_state": pl.String, "need_30d": pl.Float64,
        "need_if_active": pl.Float64, "fades_at": _TIME, "trend": pl.String, "verdict": pl.String,
        "expires_at": _TIME, "used_expected": pl.Float64, "injected_use_expected": pl.Float64,
        "detectability": pl.Float64,
    }
)  # fmt: skip


def ago(days: float) -> datetime:
    """The instant so many days before the publish."""
    return MIDNIGHT - timedelta(days=days)


def health_row(memory_id: str = "m", /, **said: Any) -> Row:
    """An active memory of a year ago, used a hundred times, the last time 3 days ago; three in five uses are found."""
    row: Row = {
        "memory_id": memory_id, "project": "shop", "status": "active", "memory_type": "knowledge",
        "content": f"the stock is counted on day {memory_id}", "pinned": False, "is_held": False,
        "created_at": ago(365), "eligible_count": 400, "injected_count": 200, "reference_count": 100,
        "confirmed_count": 0, "contradicted_count": 0, "last_referenced_at": ago(3), "half_life_days": 90.0,
        "strength": 0.8, "strength_state": "strong", "trend": "stable", "detectability": 0.6,
    }  # fmt: skip
    told = row | said
    found = told["reference_count"]
    expected = {"used_expected": 0.6 + 1.5 * found, "injected_use_expected": 0.3 + found}
    return {"echoed_count": found * 3 // 5, "stale_injected_count": 0, **expected} | told


def unused_row(memory_id: str = "m", /, **said: Any) -> Row:
    """The same memory without a detected use."""
    unused = {"reference_count": 0, "last_referenced_at": None, "trend": "unproven"}
    return health_row(memory_id, **unused | said)


def health_frame(rows: Sequence[Row]) -> Frame[MemoryHealth]:
    """The rows as a frame with use_state, and `parroted`, which is not published; what they leave out is NULL."""
    parroted = pl.Series("parroted", [row.get("parroted") for row in rows], pl.Int64)
    told = [{name: value for name, value in row.items() if name != "parroted"} for row in rows]
    health = framed(MemoryHealth, pl.DataFrame(told, schema=_SCHEMA), partial=True)
    return cast("Frame[MemoryHealth]", health.with_columns(parroted, use_state(VerdictParams()).alias("use_state")))


def owners_of(rows: Sequence[Row]) -> pl.DataFrame:
    """memory_id and owner of the rows; '' where they leave it out."""
    owners = [(row["memory_id"], row.get("owner", "")) for row in rows]
    return pl.DataFrame(owners, schema={"memory_id": pl.String, "owner": pl.String}, orient="row")


def leaks_of(*leaks: tuple[str, datetime]) -> Lazy[ScopeLeaks]:
    """scope_leaks of these memories at these times."""
    rows = [
        {"memory_id": memory_id, "interaction_id": f"i{at}", "occurred_at": occurred_at}
        for at, (memory_id, occurred_at) in enumerate(leaks)
    ]
    return framed(ScopeLeaks, pl.LazyFrame(rows, schema=computed_schema(ScopeLeaks)))


_OPEN_VERDICTS = [verdict for verdict in VERDICTS if verdict != "inactive"]
_share = st.floats(0, 1)
_count = st.sampled_from([0, 0, 1, 9, 10, 11, 19, 20, 21, 400])


@st.composite
def health_rows(draw: st.DrawFn) -> list[Row]:
    """A few memories with any figures that can stand together."""
    return [draw(_health_row(f"m{number}")) for number in draw(st.permutations(range(draw(st.integers(0, 8)))))]


@st.composite
def _health_row(draw: st.DrawFn, memory_id: str) -> Row:
    status = draw(st.sampled_from([None, "candidate", "active", "active", "active", "active", "archived", "invalid"]))
    age = draw(st.sampled_from([0, 1, 13, 14, 29, 31, 400]))
    referenced = draw(_count)
    lift = draw(st.floats(-1, 1)) if draw(st.booleans()) else None
    failed = draw(st.integers(0, referenced))
    row: Row = {
        "used_expected": referenced + 9.5, "injected_use_expected": referenced + draw(st.sampled_from([0.0, 0.3, 9.0])),
        "detectability": draw(st.sampled_from([None, 0.0, 0.3, 0.9])),
        "memory_id": memory_id, "status": status, "eligible_count": draw(_count), "injected_count": draw(_count),
        "reference_count": referenced, "echoed_count": draw(st.integers(0, referenced)),
        "last_referenced_at": ago(draw(st.integers(0, age))) if referenced else None,
        "contradicted_count": failed, "confirmed_count": referenced - failed,
        "contradicted_expected": draw(st.none() | st.floats(0, referenced)) if referenced else None,
        "project": None if status is None else draw(st.sampled_from(["", "shop", "depot"])),
        "content": None if status is None else draw(st.sampled_from([None, "", "short", "the stock is counted today"])),
        "pinned": status is not None and draw(st.booleans()), "is_held": draw(st.booleans()),
        "created_at": None if status is None else ago(age),
        "confidence_low": 0.1, "confidence_high": draw(st.none() | _share),
        "lift": lift, "lift_low": None if lift is None else lift - 0.1,
        "lift_high": None if lift is None else lift + 0.1,
        "lift_basis": None if lift is None else draw(st.sampled_from(["randomised", "cutoff", "same_task", "matched"])),
        "is_harmful": draw(st.none() | st.booleans()), "lost_successes": 4.25,
        "strength": draw(_share), "strength_state": draw(st.sampled_from(["strong", "normal", "weak", "forgettable"])),
        "need_30d": draw(st.none() | _share), "need_if_active": draw(st.none() | _share),
        "fades_at": ago(draw(st.integers(-100, 100))) if draw(st.booleans()) else None,
        "trend": draw(st.sampled_from(["new", "strengthening", "stable", "weakening", "stale", "unproven"])),
        "verdict": "inactive" if status in {"archived", "invalid"} else draw(st.sampled_from(_OPEN_VERDICTS)),
    }  # fmt: skip
    return row
