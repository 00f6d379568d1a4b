"""What a push would write to a store of what people decided: the day on which a memory expires."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl
import pytest
from each import each

from slowwave.transforms.core.vocabularies import Verdict
from slowwave.transforms.decisions.push import State, push_targets, state_after

NOW = datetime(2026, 6, 1, 12)
VERDICT: Verdict = "keep"


def after(state: State, *changes: dict[str, Any]) -> State:
    """The state that `m` is to have, by these changes of its log."""
    now = {
        "memory_id": "m",
        "user_id": None,
        "confidence": 0.5,
        "verdict": VERDICT,
        "pinned": False,
        "is_held": False,
    }
    schema = {
        "memory_id": pl.String,
        "changed_at": pl.Datetime("us"),
        "status": pl.String,
        "content": pl.String,
        "expires_at": pl.Datetime("us"),
        "clears": pl.List(pl.String),
        "is_decided": pl.Boolean,
    }
    rows = [{"memory_id": "m", "changed_at": datetime(2026, 5, day), **said} for day, said in enumerate(changes, 1)]
    return state_after(state, push_targets(pl.DataFrame([now]), pl.DataFrame(rows, schema), [], NOW)["m"], [])


SHOWN: State = {"is_archived": False, "expires": "2026-06-10", "content": "c"}
HIDDEN: State = {"is_archived": True, "expires": "2026-05-10", "content": "c"}


@each("state", [SHOWN, HIDDEN])
@each(
    ("said", "expires", "is_archived"),
    [
        ({"expires_at": datetime(2026, 9, 1)}, "2026-08-31", False),
        ({"expires_at": datetime(2026, 9, 1, 8)}, "2026-09-01", False),
        ({"expires_at": datetime(2026, 6, 1)}, "2026-05-31", True),
        ({"clears": ["expires_at"]}, None, False),
    ],
)
def test_a_decided_day_is_written_to_a_store_that_knows_one(
    state: State, said: dict[str, Any], expires: str | None, is_archived: bool
) -> None:
    made = after(state, {"expires_at": datetime(2026, 6, 11)}, {**said, "is_decided": True})
    assert (made["expires"], made["is_archived"]) == (expires, is_archived)
    assert "expires" not in after({"is_archived": False, "content": "c"}, {**said, "is_decided": True})


@pytest.mark.parametrize("state", [SHOWN, HIDDEN])
def test_the_stores_own_day_stays_where_it_spoke_last(state: State) -> None:
    decided = {"expires_at": datetime(2026, 9, 1), "is_decided": True}
    assert after(state, decided, {"expires_at": datetime(2026, 7, 1), "is_decided": False}) == state
    assert after(state, {"content": "c", "is_decided": True}) == state


def test_what_was_archived_expires_long_ago_whatever_day_was_decided() -> None:
    decided = {"status": "archived", "expires_at": datetime(2026, 9, 1), "is_decided": True}
    assert after(SHOWN, decided) == {**SHOWN, "is_archived": True, "expires": "2000-01-01"}
