"""Law of erasing: a lake from which rows were erased is the lake that never got them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thorough import IS_THOROUGH

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lifetime.erasure import ErasureTargets
from slowwave.flows.nightly.other_nights import erase
from tests.laws.deliveries import START, jsonl, packed, rows
from tests.laws.deliveries import formats as any_format
from tests.laws.home import Home, Row

NIGHT = START + timedelta(days=8)
asked_for = st.sampled_from(
    [("user", "ada"), ("user", "../../bob"), ("session", "s1"), *(("interaction", f"i{at}") for at in range(12)),
     *(("memory", f"m{at}") for at in range(4))]
)  # fmt: skip


def is_of(row: Row | bytes, asked: ErasureTargets, erased: set[str]) -> bool:
    """Whether an erasure takes a row that is not the outcome of an erased interaction."""
    if isinstance(row, bytes):
        return False
    names = {"user": "user_id", "session": "session_id", "interaction": "interaction_id", "memory": "memory_id"}
    own = row.get("memory_id") or row.get("interaction_id")
    return own in erased or any(row.get(names[kind]) == name for kind, name in asked)


def never_delivered(delivered: list[Row | bytes], asked: ErasureTargets) -> list[Row | bytes]:
    """What is left of rows without those of erased interactions, their outcomes, and erased memories."""
    rows = [row for row in delivered if isinstance(row, dict)]
    interactions = {row["interaction_id"] for row in rows if "prompt" in row and is_of(row, asked, set())}
    memories = {row["memory_id"] for row in rows if "changed_at" in row and is_of(row, asked, set())}
    outcomes = {
        row["outcome_id"]
        for row in rows
        if "outcome_id" in row and (row.get("interaction_id") in interactions or is_of(row, asked, set()))
    }
    return [row for row in delivered if isinstance(row, bytes) or not _goes(row, interactions, memories, outcomes)]


def _goes(row: Row, interactions: set[str], memories: set[str], outcomes: set[str]) -> bool:
    if "prompt" in row:
        return row.get("interaction_id") in interactions
    return row.get("memory_id") in memories or row.get("outcome_id") in outcomes


def erased(home: Home, *asked: tuple[str, str]) -> Any:
    """What `slowwave lake erase --yes` does."""
    with writer_lock(home.settings, "erase"):
        return erase(home.settings, asked)


@pytest.mark.slow
@given(
    first=rows(min_size=6, max_size=12),
    second=rows(),
    again=st.randoms(use_true_random=False),
    form=any_format,
    asked=st.lists(asked_for, min_size=1, max_size=2, unique=True).map(tuple),
)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40 if IS_THOROUGH else 8)
def test_what_was_erased_was_never_delivered(
    first: list[Row | bytes], second: list[Row | bytes], again: Any, form: Any, asked: ErasureTargets,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    home, other = (Home(tmp_path_factory.mktemp("home")) for _ in range(2))
    home.drop("first.jsonl", jsonl(first))
    home.nightly(NIGHT)
    suffix, content = packed(second, form)
    home.drop(f"second.{suffix}", content)  # waits in the inbox
    left = never_delivered([*first, *second], asked)
    try:
        done = erased(home, *asked)
    except UserError:
        assert len(left) == len([*first, *second])
        return
    assert done.night.erased.home.remaining == []
    other.drop("left.jsonl", jsonl(left))
    other.nightly(NIGHT)
    assert home.hashes() == other.hashes()
    # delivered again, in whatever order, nothing of it lands
    rows_again = [*first, *second]
    again.shuffle(rows_again)
    home.drop(f"again.{suffix}", packed(rows_again, form)[1])
    home.drop("first.jsonl", jsonl(first))
    night = home.nightly(NIGHT + timedelta(days=1))
    assert all(file.accepted == 0 for file in night.landed.files)
    other.nightly(NIGHT + timedelta(days=1))
    assert home.hashes() == other.hashes()
