"""Decisions: what is held as of a time, the status changes that follow, and what is known of a memory from both."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

from slowwave.transforms.core.frames import conform
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.effects import (
    APPLY,
    HOLD,
    RELEASE,
    RESTORE,
    archivings,
    decision_id,
    decision_rows,
    flag_holds,
    forgetting_audit,
    status_changes,
)
from slowwave.transforms.decisions.forgetting.plan import forgetting_evidence
from slowwave.transforms.decisions.forgetting.tables import ForgettingAudit
from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.tables import Memories

START = datetime(2026, 3, 1)
DAY = timedelta(days=1)
START_DAY = (START - datetime(1970, 1, 1)).days


def decided(number: int, command: str, target: str, days: float, **values: Any) -> dict[str, Any]:
    return {
        "decision_id": f"d{number}",
        "command": command,
        "target_kind": "project" if target == "shop" else "memory",
        "target": target,
        "values": json.dumps(values),
        "reason": "a reason",
        "changed_by": "somebody",
        "decided_at": START + days * DAY,
        "on_run_id": "r1",
    }


def decisions(*rows: dict[str, Any]) -> pl.DataFrame:
    return decision_rows(list(rows))


MEMORIES = pl.LazyFrame({"memory_id": ["m1", "m2", "shop", "m3"], "project": ["shop", "other", "other", None]})


def is_held(rows: pl.DataFrame, days: float) -> set[str]:
    found = flag_holds(rows.lazy(), MEMORIES, START + days * DAY).collect()
    assert found["memory_id"].to_list() == ["m1", "m2", "m3", "shop"]
    assert found["is_held"].null_count() == 0
    return set(found.filter("is_held")["memory_id"])


def test_what_is_held_depends_on_the_time_asked_for() -> None:
    rows = decisions(
        decided(9, HOLD, "shop", 1),
        decided(2, RELEASE, "shop", 3),
        decided(3, HOLD, "m2", 2),
        decided(4, HOLD, "m3", 4),
    )
    for days, expected in ((1, set()), (1.5, {"m1"}), (2.5, {"m1", "m2"}), (3.5, {"m2"}), (5, {"m2", "m3"})):
        assert is_held(rows, days) == expected
        assert is_held(rows.reverse(), days) == expected


def test_releasing_a_memory_does_not_release_its_project() -> None:
    rows = decisions(decided(9, HOLD, "shop", 1), decided(2, HOLD, "m1", 1), decided(3, RELEASE, "m1", 2))
    assert is_held(rows, 3) == {"m1"}


def test_decisions_of_other_commands_hold_nothing_and_may_say_anything() -> None:
    other = {**decided(1, "another command", "m1", 1), "values": '["not", {"an": "object"}]'}
    rows = decisions(other)
    assert is_held(rows, 2) == set()
    assert status_changes(rows).is_empty()
    assert archivings(rows.lazy(), START + 9 * DAY).is_empty()
    assert forgetting_audit(rows.lazy(), START + 9 * DAY).is_empty()


def test_no_decisions_are_no_trouble() -> None:
    none = decisions()
    assert is_held(none, 2) == set()
    assert dict(status_changes(none).schema) == dict(polars_schema(Memories))
    assert dict(none.schema) == dict(polars_schema(Decisions))


def test_status_changes_are_the_same_whenever_they_are_made() -> None:
    rows = decisions(
        decided(1, APPLY, "m1", 1, status="archived", is_shadow=False, status_before="active"),
        decided(2, APPLY, "m2", 1, status="archived", is_shadow=True, status_before="active"),
        decided(3, RESTORE, "m1", 2, status="active", archive_id="d1"),
    )
    changes = status_changes(rows)
    assert changes.select("memory_id", "changed_at", "recorded_at", "status").rows() == [
        ("m1", START + DAY, START + DAY, "archived"),
        ("m1", START + 2 * DAY, START + 2 * DAY, "active"),
    ]
    assert changes["extra"].to_list() == ['{"decision_id":"d1"}', '{"decision_id":"d3"}']
    others = set(Memories.state) - {"status"}
    assert all(changes[name].null_count() == 2 for name in others)
    assert status_changes(rows.reverse()).equals(changes)


@pytest.mark.parametrize("differing", ["command", "target", "values", "on_run_id"])
def test_an_id_stands_for_command_target_values_and_publish(differing: str) -> None:
    usual: dict[str, Any] = {"command": APPLY, "target": "m1", "values": {"a": 1, "b": 2}, "on_run_id": "r1"}
    other: dict[str, Any] = {"command": RESTORE, "target": "m2", "values": {"a": 1}, "on_run_id": None}
    reordered: dict[str, Any] = {**usual, "values": {"b": 2, "a": 1}}
    changed: dict[str, Any] = {**usual, differing: other[differing]}
    assert decision_id(**usual) == decision_id(**reordered)
    assert decision_id(**usual) != decision_id(**changed)


def test_the_audit_tells_each_act() -> None:
    rows = decisions(
        decided(1, APPLY, "m1", 1, rule="faded", need_30d=0.1, status_before="active", command_id="c1"),
        decided(2, APPLY, "m2", 1, is_shadow=True, status_before="active"),
        decided(3, RESTORE, "m1", 2, archive_id="d1", status="active", status_before="archived"),
        decided(4, HOLD, "shop", 2),
        decided(5, RELEASE, "shop", 3),
    )
    audit = forgetting_audit(rows.lazy(), START + 9 * DAY)
    assert audit["action"].to_list() == ["archived", "shadowed", "restored", "held", "released"]
    assert dict(audit.schema) == {
        n: t for n, t in polars_schema(ForgettingAudit).items() if n not in {"run_id", "as_of"}
    }
    assert forgetting_audit(rows.lazy(), START + 2 * DAY).height == 2
    archived = archivings(rows.lazy(), START + 9 * DAY)
    assert archived.select("memory_id", "need_30d", "is_shadow", "restored_at").rows() == [
        ("m1", 0.1, False, START + 2 * DAY),
        ("m2", None, True, None),
    ]
    assert archivings(rows.lazy(), START + 2 * DAY)["restored_at"].to_list() == [None, None]


def test_evidence_of_memories() -> None:
    changes = [
        {"memory_id": "m1", "changed_at": START, "status": "active", "project": "shop", "pinned": True},
        {"memory_id": "m1", "changed_at": START + 2 * DAY, "status": "superseded"},
        {"memory_id": "m1", "changed_at": START + 4 * DAY, "pinned": False},
        {"memory_id": "m2", "changed_at": START, "status": "active", "project": "other"},
    ]
    states = memory_states(conform(Memories, pl.LazyFrame(changes)))
    touches = pl.LazyFrame({"memory_id": ["m1"], "touched_day": [START_DAY + 2], "eligible_since_touch": [24]})
    rows = decisions(
        decided(1, APPLY, "m2", 5, status="archived", is_shadow=True),
        decided(2, APPLY, "m1", 6, status="archived"),
        decided(3, RESTORE, "m1", 7, archive_id="d2"),
        decided(4, HOLD, "shop", 8),
    )
    found = forgetting_evidence(states, touches, rows.lazy(), START + 9 * DAY).to_dicts()
    assert found == [
        {
            "memory_id": "m1",
            "pinned": False,
            "status_since": START + 2 * DAY,
            "is_held": True,
            "touched_day": START_DAY + 2,
            "eligible_since_touch": 24,
            "shadowed_day": None,
            "restored_day": START_DAY + 7,
        },
        {
            "memory_id": "m2",
            "pinned": False,
            "status_since": START,
            "is_held": False,
            "touched_day": None,
            "eligible_since_touch": None,
            "shadowed_day": START_DAY + 5,
            "restored_day": None,
        },
    ]
    before = forgetting_evidence(states, touches, rows.lazy(), START + 5 * DAY)
    assert before.select("is_held", "shadowed_day", "restored_day").rows() == [(False, None, None)] * 2
