"""What an import says of its rows is counted as the night after will count them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave.transforms.health.answerable.answer_counts import LogCounts
from slowwave.transforms.health.answerable.import_preview import imported_counts
from slowwave.transforms.imports.delivery_lines import RowCounts
from slowwave.transforms.learning.outcomes import with_apart
from slowwave.transforms.learning.params import AttemptParams

Row = dict[str, Any]
PARAMS = (AttemptParams(), AttemptParams(learn_from_inferred=True))
ids = st.sampled_from(["i1", "i2", "i3"])
ended = st.fixed_dictionaries(
    {"success": st.booleans()},
    optional={
        "attempted": st.none() | st.booleans(),
        "basis": st.sampled_from([None, "", "reported", "evaluated", "inferred"]),
        "strategy": st.sampled_from([None, " ", "read first"]),
    },
)
outcomes = st.builds(lambda row, of: row | {"interaction_id": of}, ended, st.none() | ids)
memories = st.fixed_dictionaries({"memory_id": st.just("m1"), "content": st.sampled_from([None, " ", "Prices."])})
asked = st.fixed_dictionaries(
    {"prompt": st.just("?")},
    optional={"memories_used": st.sampled_from([None, [], ["m1"]]), "memories_cited": st.sampled_from([[], ["m1"]])},
)


@st.composite
def imports(draw: st.DrawFn) -> list[Row]:
    """Rows of an import: each interaction once, some with an outcome inside."""
    rows = [
        draw(asked) | {"interaction_id": name} | draw(st.just({}) | ended) for name in draw(st.sets(ids, max_size=3))
    ]
    return draw(st.permutations([*rows, *draw(st.lists(outcomes, max_size=6)), *draw(st.lists(memories, max_size=3))]))


def held(rows: list[Row]) -> RowCounts:
    found = RowCounts()
    for row in rows:
        found.count(row)
    return found


def as_a_night_counts(rows: list[Row], params: AttemptParams) -> dict[str, int]:
    """The same counts by what a night makes of outcomes."""
    said = [row for row in rows if "success" in row]
    schema = {"interaction_id": pl.String, "basis": pl.String, "attempted": pl.Boolean, "strategy": pl.String}
    apart = with_apart(pl.DataFrame(said, schema=schema), params)
    attempts = apart.filter(pl.col("attempted").is_null() | pl.col("attempted"))
    counted = attempts.filter(pl.col("apart").is_null())
    of_attempts = set(counted["interaction_id"].drop_nulls())
    given = {row["interaction_id"] for row in rows if row.get("memories_used")}
    return {
        "interactions": sum("prompt" in row for row in rows),
        "given": len(given),
        "cited": sum(bool(row.get("memories_cited")) for row in rows),
        "texts": sum(bool((row.get("content") or "").strip()) for row in rows),
        "outcomes": len(said),
        "attempts": counted.height,
        "inferred": counted.filter(basis="inferred").height,
        "apart": attempts.height - counted.height,
        "tried": counted.filter(pl.col("strategy").str.strip_chars() != "").height,
        "ended": len(of_attempts),
        "ended_given": len(of_attempts & given),
    }


@pytest.mark.parametrize("params", PARAMS, ids=("by default", "learning from inferred"))
@given(imports())
@example([{"prompt": "?", "interaction_id": "i1"}, {"success": True, "interaction_id": "i1", "basis": "inferred"}])
@example([{"success": True, "interaction_id": "i1", "basis": basis} for basis in ("inferred", "reported")])
def test_rows_are_counted_as_a_night_counts_them(params: AttemptParams, rows: list[Row]) -> None:
    expected = LogCounts(**as_a_night_counts(rows, params), is_replayed=False)  # type: ignore[arg-type] - all are counts
    assert imported_counts(held(rows), params) == expected


@given(imports(), st.integers(0, 12))
def test_rows_of_several_units_are_counted_as_those_of_one(rows: list[Row], at: int) -> None:
    first, second = held(rows[:at]), held(rows[at:])
    first.add(second)
    assert first == held(rows)
