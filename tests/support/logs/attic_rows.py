"""A project, `attic`, in which memories fade and forgetting has been at work: half a year, an interaction every 4 days.

`steady` is referenced every time and `monthly` every 28 days; `rare` was once. `old` was superseded long ago,
`episode` fades in a few days, `oath` is pinned. `lost` was archived and brought back, `shadow` was left active to see
whether it would be missed; the project `empty` is on hold.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from small_home import Row, interaction, memory

from slowwave.flows.decide.decisions import decision
from slowwave.transforms.decisions.effects import APPLY, HOLD, RESTORE
from slowwave.transforms.decisions.review.changes import PROMOTE

START = datetime(2025, 10, 6)  # noqa: DTZ001 - times are naive and hold UTC everywhere
DAYS = range(0, 180, 4)
PARAMS = """
[forgetting]
project_quotas = { attic = 3 }
"""
ARCHIVED_AT = START + timedelta(days=150)
# Evidence of a memory like this has a half-life of 15 days.
_QUICKLY = {"memory_type": "episodic", "importance": 0.0}
_LANDED = "2025-10-01T08:00:00Z"
_USED = {"steady": DAYS, "monthly": range(0, 180, 28), "rare": (0,), "shadow": (156, 160)}


def attic_rows() -> list[Row]:
    """Memories and interactions."""
    plain = [_memory(name) for name in ("steady", "monthly", "shadow")]
    others = [
        _memory("lost", content="Refunds above ninety euros need approval by the head of accounting."),
        _memory("rare", **_QUICKLY),
        _memory("oath", pinned=True),
        _memory("old"),
        {"memory_id": "old", "changed_at": "2026-01-10T00:00:00Z", "status": "superseded", "superseded_by": "steady"},
        _memory("episode", **_QUICKLY, changed_at="2026-01-20T08:00:00Z"),
    ]
    return [*plain, *others, *(_of_day(day) for day in DAYS)]


def attic_decisions() -> list[Row]:
    """What was decided, as rows of the landed table."""
    lost, shadow = _archived("lost", is_shadow=False), _archived("shadow", is_shadow=True)
    restored = decision(
        RESTORE,
        "memory",
        "lost",
        {"status": "active", "archive_id": lost["decision_id"]},
        {"status_before": "archived"},
        **_said("brought back", ARCHIVED_AT + timedelta(days=2), changed_by="person"),
    )
    held = decision(
        HOLD, "project", "empty", {}, {}, **_said("an audit", ARCHIVED_AT + timedelta(days=4), changed_by="person")
    )
    item = {"kind": "fading", "project": "attic", "memory_type": "knowledge", "text": "?", "memory_ids": ["rare"]}
    kept = decision(
        PROMOTE,
        "item",
        "an item",
        {**item, "basis": "its text", "changes": []},
        {},
        **_said("it is right", ARCHIVED_AT + timedelta(days=5), changed_by="ada"),
    )
    return [lost, shadow, restored, held, kept]


def _archived(memory_id: str, *, is_shadow: bool) -> Row:
    kept = {"rule": "untouched", "need_30d": 0.25, "strength": 0.125, "status_before": "active", "command_id": "c1"}
    values = {"status": "archived", "is_shadow": is_shadow}
    return decision(APPLY, "memory", memory_id, values, kept, **_said("untouched", ARCHIVED_AT, changed_by="forget/1"))


def _said(reason: str, decided_at: datetime, **said: Any) -> dict[str, Any]:
    return {"reason": reason, "decided_at": decided_at, "on_run_id": None, **said}


def _memory(memory_id: str, **fields: Any) -> Row:
    return memory(memory_id, **{"project": "attic", "agent": "keeper", "changed_at": _LANDED, **fields})


def _of_day(day: int) -> Row:
    used = [memory(name)["content"] for name, days in _USED.items() if day in days]
    at = f"{(START + timedelta(days=day, hours=7)).isoformat()}Z"
    return interaction(f"attic {day}", created_at=at, project="attic", agent="keeper", response=" ".join(used))
