"""Use states: what is expected of each memory, and whether a use of it would have been found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.tables import ExpectedUse
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.health.use_states import detectability, with_use_states, word_masses

TEXTS = {
    "rare": "Staging listens on port 8443 behind the violet gateway",
    "common": "the team uses the tool",
    "two words": "use tabs",
    "said again": "the team uses the tool in the office each day",
    "nothing": "",
}
COMMON = {f"x{n}": f"the team uses the tool each day {n * 7919}" for n in range(40)}


def memories(texts: Mapping[str, str | None], **said: str) -> pl.LazyFrame:
    rows = [(id_, said.get("project", "shop"), said.get("status", "active"), text) for id_, text in texts.items()]
    return pl.LazyFrame(
        rows, schema=dict.fromkeys(("memory_id", "project", "status", "content"), pl.String), orient="row"
    )


def detect(*frames: pl.LazyFrame) -> dict[str, float]:
    return dict(detectability(pl.concat(frames)).collect().select("memory_id", "detectability").iter_rows())


def test_uses_of_telling_words_are_found_more_often() -> None:
    told = detect(memories(TEXTS | COMMON))
    assert told["rare"] > told["said again"] >= told["common"]
    assert told["two words"] == told["nothing"] == 0
    assert detect(memories(TEXTS))["rare"] > told["rare"], "in a larger pool a memory stands out less"
    assert "not known" not in detect(memories({"not known": None}))


def test_only_active_memories_of_the_project_make_a_word_common() -> None:
    alone = detect(memories(TEXTS))
    others = (
        memories(COMMON, project="depot"),
        memories({f"o{id_}": text for id_, text in COMMON.items()}, status="archived"),
    )
    assert {id_: told for id_, told in detect(memories(TEXTS), *others).items() if id_ in TEXTS} == alone


@given(st.permutations([*(TEXTS | COMMON)]))
def test_what_words_weigh_is_the_same_in_any_order(order: list[str]) -> None:
    texts = TEXTS | COMMON
    masses = word_masses(memories({id_: texts[id_] for id_ in order})).sort("memory_id").collect()
    assert masses.equals(word_masses(memories(texts)).sort("memory_id").collect())


DAY = st.tuples(st.integers(0, 20_000), st.integers(0, 20_000), st.integers(0, 5_000))


@given(st.lists(DAY, max_size=5), st.permutations(range(5)))
def test_days_sum_to_what_is_expected_and_its_interval(days: list[tuple[int, int, int]], order: list[int]) -> None:
    rows = [("rare", 1, expected + given, given, variance) for expected, given, variance in days]
    of_days = [rows[at] for at in order if at < len(rows)]
    stacked = pl.LazyFrame(of_days, schema=polars_schema(ExpectedUse), orient="row").with_columns(day=date(2026, 3, 1))
    health = memories(TEXTS).with_columns(eligible_count=120, injected_count=100, reference_count=0).collect()
    states = with_use_states(health, framed(ExpectedUse, stacked), VerdictParams())
    assert states["memory_id"].to_list() == [*TEXTS]
    row, none = states.row(0, named=True), states.row(1, named=True)
    expected, spread = sum(row[2] for row in rows) / 1e4, 1.6448536 * (sum(row[4] for row in rows) / 1e4) ** 0.5
    assert row["used_expected"] == pytest.approx(expected)
    assert row["injected_use_expected"] == pytest.approx(sum(row[3] for row in rows) / 1e4)
    assert row["used_expected_low"] == pytest.approx(max(expected - spread, 0), abs=1e-4)
    assert row["used_expected_high"] == pytest.approx(min(expected + spread, 120), abs=1e-4)
    assert (none["used_expected"], none["used_expected_high"], none["injected_use_expected"]) == (0, 0, 0)
    assert row["use_state"] == "not_used"
    assert dict(zip(TEXTS, states["use_state"], strict=True))["two words"] == "undetectable"
