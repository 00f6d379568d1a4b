"""Ids that match no landed row are counted, with an example and the likely cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_home import Row, SmallHome, interaction, memory, outcome

from slowwave.flows.lake.lake import Lake
from slowwave.flows.nightly.landing_lines import UnmatchedIds, unmatched_ids, unmatched_lines

IDS = st.sampled_from(["a", "A", "a-1", "a_1", "1000", "1000.0", "b", ""])


def outcome_of(interaction_id: str, **fields: Any) -> Row:
    return outcome(f"outcome of {interaction_id}", interaction_id=interaction_id, **fields)


def found_after(home: SmallHome, *rows: Row) -> list[UnmatchedIds]:
    report = home.land(*rows)
    return unmatched_ids(Lake(home.settings.lake_folder), report.days)


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


def test_what_matches_is_not_told(home):
    landed = interaction("i1", created_at="2026-03-01T09:00:00Z", memories_used=["m1"], memories_offered=[{"id": "m1"}])
    assert found_after(home, landed, memory("m1"), outcome_of("i1")) == []


def test_an_interaction_of_long_before_is_found(home):
    home.land(interaction("i1", created_at="2025-01-01T09:00:00Z"))
    assert found_after(home, outcome_of("i1", created_at="2026-03-01T09:00:00Z")) == []


def test_ids_in_another_spelling_are_the_likely_cause(home):
    rows = [
        interaction("M-1"),
        memory("MEM-a"),
        outcome_of("m_1"),
        outcome_of("zz"),
        interaction("i2", memories_used=["mem_A"]),
    ]
    of_outcomes, of_interactions = (text for _, text in unmatched_lines(found_after(home, *rows)))
    assert of_outcomes == (
        "Of 2 interactions that outcomes name, 2 did not land, such as 'm_1': their outcomes judge no memory. "
        "1 landed in another spelling, such as 'M-1'."
    )
    assert of_interactions == (
        "Of 1 memory that interactions name, 1 did not land, such as 'mem_A': nothing but their ids is known. "
        "1 landed in another spelling, such as 'MEM-a'."
    )


@pytest.mark.parametrize("field", ["memories_used", "memories_cited", "memories_offered"])
def test_memories_are_named_in_three_fields(home, field):
    named = [{"id": "m9"}] if field == "memories_offered" else ["m9"]
    (found,) = found_after(home, interaction("i1", **{field: named}), interaction("i2"))
    assert (found.kind, found.named, found.unmatched) == ("memory", 1, 1)
    assert (found.example, found.landed_example) == ("m9", None)
    assert unmatched_lines([found])[0][1].endswith("No memory has landed yet.")


@given(st.lists(IDS, max_size=6), st.lists(IDS.filter(bool), max_size=6))
def test_each_id_is_counted_once(tmp_path_factory, named, landed):
    home = SmallHome(tmp_path_factory.mktemp("ids") / "home")
    rows: list[Row] = [outcome(f"o{at}", interaction_id=one) for at, one in enumerate(named)]
    rows += [interaction(one) for one in dict.fromkeys(landed)]
    found = found_after(home, interaction("there"), *rows)
    missing = {one for one in named if one} - set(landed)
    assert bool(found) == bool(missing)
    for one in found:
        assert (one.named, one.unmatched) == (len({*named} - {""}), len(missing))
        assert one.example in missing
        assert one.alike <= one.unmatched
