"""Rows of memory health written by rule: every verdict, reason, alarm, and rule of forgetting has one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
from health_rows import TODAY, Row, ago, health_frame, health_row, unused_row

from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.decisions.effects import APPLY, HOLD, RELEASE, RESTORE, decision_rows, values_json
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.health.tables import MemoryHealth

_FADED = {"strength": 0.04, "strength_state": "forgettable"}
_FADED_USED = {**_FADED, "trend": "stale", "last_referenced_at": ago(200), "need_30d": 0.01, "need_if_active": 0.02}
_SURE = {"confidence": 0.2, "confidence_low": 0.1, "confidence_high": 0.29}
_LOW = {
    "contradicted_count": 60,
    "confirmed_count": 40,
    "contradicted_expected": 30.25,
    "confidence": 0.3,
    "confidence_low": 0.2,
    "confidence_high": 0.45,
}
_HARM = {
    "lift": -0.125,
    "lift_low": -0.2,
    "lift_high": -0.05,
    "lift_basis": "randomised",
    "is_harmful": True,
    "lost_successes": 25.04,
}
_NEVER_LANDED = {"status": None, "project": None, "content": None, "created_at": None, "memory_type": None}


def _lift(low: float, high: float, basis: str) -> Row:
    return {"lift": (low + high) / 2, "lift_low": low, "lift_high": high, "lift_basis": basis, "is_harmful": False}


def judged_rows() -> list[Row]:
    """Memories of one project, each judged for another reason."""
    return [
        unused_row("never landed", **_NEVER_LANDED, injected_count=3),
        unused_row("candidate", status="candidate", eligible_count=0, injected_count=0, created_at=ago(1)),
        health_row("archived", status="archived", **_FADED),
        health_row("superseded, pinned", status="superseded", pinned=True),
        unused_row("never eligible", eligible_count=0, injected_count=0, **_FADED),
        unused_row("never eligible, injected", eligible_count=0, injected_count=12),
        unused_row("young", created_at=ago(13), injected_count=0, fades_at=ago(-30)),
        unused_row("born today", created_at=ago(0.5), injected_count=0),
        unused_row("few chances", created_at=ago(14), eligible_count=19, injected_count=0),
        unused_row("never injected", eligible_count=20, injected_count=0, **_FADED),
        unused_row("few injections", injected_count=9, **_FADED),
        unused_row("never used", injected_count=10, fades_at=ago(-30), need_30d=0.004, need_if_active=0.04),
        unused_row("never used, fades later", injected_count=10, fades_at=ago(-31)),
        unused_row("never used, faded", injected_count=10, **_FADED, need_30d=0.0),
        unused_row("never used, faded, pinned", injected_count=10, **_FADED, pinned=True),
        unused_row("short text", injected_count=10, content="12345678901", detectability=0.0, **_FADED),
        health_row("faded", **_FADED_USED),
        health_row("faded, held", **_FADED_USED, is_held=True),
        health_row("faded, needed", **_FADED_USED | {"need_if_active": 0.0501}),
        health_row("faded, referenced a month ago", **_FADED_USED | {"last_referenced_at": ago(30)}),
        health_row("faded, hardly tried", **_FADED_USED, eligible_count=19, injected_count=9, reference_count=2),
        health_row("faded, project quiet", **_FADED_USED | {"trend": "stable"}),
        health_row("stale", trend="stale", strength=0.25, strength_state="weak"),
        health_row("weakening", trend="weakening", strength=0.299, strength_state="weak"),
        health_row("weakening, strong", trend="weakening", need_30d=0.83, need_if_active=0.83),
        health_row("used today", last_referenced_at=ago(0.25), reference_count=1, need_30d=0.02, need_if_active=0.5),
        health_row("harmful", **_HARM),
        health_row("harmful, pinned and held", **_HARM, pinned=True, is_held=True),
        health_row("harmful once", status="archived", **_HARM),
        health_row("doubted", **_LOW),
        health_row("doubted, faded", **_LOW | _FADED_USED),
        health_row("doubted, faded, held", **_LOW | _FADED_USED, is_held=True),
        health_row("not surely more failures", **_LOW | {"contradicted_expected": 49.0}),
        health_row("low confidence", **_SURE),
        health_row("helpful", **_lift(0.05, 0.15, "cutoff"), confirmed_count=90, contradicted_count=1),
        health_row("associated", **_lift(-0.2, -0.1, "matched"), contradicted_expected=0.04, contradicted_count=1),
        health_row("before and after", **_lift(0.1, 0.3, "same_task"), contradicted_expected=0.0),
        health_row("no difference", **_lift(-0.1, 0.1, "randomised")),
    ]


def silent_rows() -> list[Row]:
    """Memories of a lake that logs no injections."""
    return [unused_row("silent", injected_count=0), health_row("silent, used", injected_count=0)]


def undetected_rows() -> list[Row]:
    """Memories without a detected use of which that says little, or nothing."""
    return [
        unused_row("hardly told", injected_count=10, detectability=0.029, **_FADED),
        unused_row("hardly told, never injected", injected_count=0, detectability=0.029, **_FADED),
        unused_row("text not known", injected_count=10, detectability=None, content=None),
        unused_row("many missed", injected_count=40, detectability=0.1, **_FADED),
        unused_row("few missed", injected_count=40, detectability=0.2, **_FADED),
        unused_row("many expected", injected_count=40, used_expected=30.0, injected_use_expected=15.5),
    ]


def exposed_rows() -> list[Row]:
    """Projects whose agents are given what was corrected, lately or not, beside one in which nothing was."""
    exposed = {"status": "superseded", "verdict": "inactive", "stale_injected_count": 3}
    well = {"verdict": "keep", "injected_count": 20}
    return [
        *(health_row(f"{project} {number}", project=project, **well)
          for project in ("lately", "long ago", "well") for number in range(6)),
        health_row("lately", project="lately", last_stale_injected_at=ago(2.5), **exposed),
        health_row("lately, too", project="lately", last_stale_injected_at=ago(30), **{**exposed, "status": "expired"}),
        health_row("before", project="lately", last_stale_injected_at=ago(31), **exposed),
        health_row("long ago", project="long ago", last_stale_injected_at=ago(31), **{**exposed, "status": "active"}),
    ]  # fmt: skip


def project_rows() -> list[Row]:
    """Projects that are well, unwell in each way, and unknown."""

    def many(project: str, count: int, make: Any = health_row, /, **said: Any) -> list[Row]:
        usual = {"project": project, "verdict": "keep"}
        return [make(f"{project} {number:03}", **usual | said) for number in range(count)]

    def among(project: str, count: int, make: Any = health_row, /, **said: Any) -> list[Row]:
        """So many in a project of three times as many."""
        return [*many(project, count, make, **said), *many(f"{project}, well", 2 * count, project=project)]

    grown = {"created_at": ago(30), "eligible_count": 20, "injected_count": 5}
    return [
        *many("well", 6, strength=0.125),
        *many("hardly used", 4),
        *many("", 1, unused_row, pinned=True, is_held=True),
        *many("never landed", 2, unused_row, **_NEVER_LANDED, verdict="unproven"),
        *many("waiting", 3, unused_row, status="candidate", verdict="review"),
        *many("retired", 3, status="archived"),
        *many("invalid", 40, status="invalid"),
        *many("brief", 40, content="brief"),
        *many("twice the same", 40, content="The  same old TEXT"),
        *many("stale", 40, trend="stale", verdict="review"),
        # 32 of 73 are surely more than 3 in 10, 31 are not
        *many("barely too many stale", 32, trend="stale"),
        *many("barely too many stale, well", 41, project="barely too many stale"),
        *many("barely not", 31, trend="stale"),
        *many("barely not, well", 42, project="barely not"),
        *many("weak", 40, trend="unproven", strength=0.2, strength_state="weak"),
        *many("weak in the quiet", 40, strength=0.2, strength_state="weak"),
        *many("closed to them", 40, unused_row, eligible_count=0, injected_count=0),
        *among("partly closed to them", 1, unused_row, eligible_count=0, injected_count=0),
        *among("half closed to them", 40, unused_row, eligible_count=0, injected_count=0),
        *many("passed over", 80, unused_row, injected_count=0),
        *many("mostly passed over", 80, unused_row, injected_count=0),
        *many("mostly passed over, well", 20, project="mostly passed over"),
        *many("of no use", 80, unused_row),
        *many("of no use that is found", 80, unused_row, detectability=0.02),
        *many("pinned", 500, pinned=True),
        *many("forgotten", 100, verdict="forget"),
        *many("growing", 50, unused_row, **grown),
        *many("one harmful", 1, verdict="harmful"),
        *many("harmful", 5, verdict="harmful"),
    ]


# ----------------------------------------------------------------------------------------------------------- forgetting

_EVIDENCE = {
    "memory_id": pl.String, "pinned": pl.Boolean, "is_held": pl.Boolean, "status_since": pl.Datetime("us"),
    "touched_day": pl.Int32, "eligible_since_touch": pl.Int64, "shadowed_day": pl.Int32, "restored_day": pl.Int32,
}  # fmt: skip
_UNTOUCHED = {"verdict": "review", "touched": 90, "eligible_since_touch": 20}
_GONE = {"verdict": "forget", "strength": 0.031, "need_30d": 0.012, "touched": 200}


# Since forgetting/3 they are planned, the first of them.
NEVER_TOUCHED: dict[str, Row] = {
    "never touched": {"verdict": "review", "created_at": ago(90), "eligible_count": 20},
    "never touched, young": {"verdict": "review", "created_at": ago(89), "eligible_count": 20},
    "never touched, few chances": {"verdict": "review", "created_at": ago(90), "eligible_count": 19},
    "never touched, unproven": {"verdict": "unproven", "created_at": ago(90), "eligible_count": 20},
}


def forgetting_frames(more: dict[str, Row] | None = None) -> tuple[Frame[MemoryHealth], pl.DataFrame]:
    """Health and evidence of memories that rules, quotas and protections meet, and of `more`."""
    said: dict[str, Row] = {
        "superseded": {"status": "superseded", "since": 30},
        "superseded lately": {"status": "superseded", "since": 29},
        "superseded when it landed": {"status": "superseded", "since": 30, "eligible_count": 0},
        "invalid": {"status": "invalid", "since": 400, "need_30d": 0.5},
        "low confidence": {"confidence_high": 0.29, "confirmed_count": 1, "contradicted_count": 4},
        "low, hardly judged": {"confidence_high": 0.29, "contradicted_count": 4},
        "faded": _GONE,
        "faded, never touched": {"verdict": "forget"},
        "faded, pinned": {**_GONE, "pinned": True},
        "faded, held": {**_GONE, "is_held": True},
        "faded, restored": {**_GONE, "restored": 29},
        "faded, young": {**_GONE, "created_at": ago(29)},
        "faded, never eligible": {**_GONE, "eligible_count": 0},
        "faded, touched lately": {**_GONE, "touched": 13},
        "faded, candidate": {**_GONE, "status": "candidate"},
        "faded, archived": {**_GONE, "status": "archived"},
        "in shadow": {**_GONE, "shadowed": 29},
        "in shadow before": {**_GONE, "shadowed": 30},
        "untouched": _UNTOUCHED,
        "untouched, needed": {**_UNTOUCHED, "need_30d": 0.11},
        "untouched, few chances": {**_UNTOUCHED, "eligible_since_touch": 19},
        "touched 89 days ago": {**_UNTOUCHED, "touched": 89},
        **{f"of ada {n}": {"agent": "ada", "need_30d": 0.1 * n, "touched": 40 + n} for n in range(5)},
        **{f"of ben {n}": {"agent": "ben", "project": "mill", "pinned": n < 4, "touched": 50} for n in range(6)},
        **{f"of nobody {n}": {"agent": "", "project": "", "strength": 0.9 - 0.1 * n} for n in range(4)},
        **{f"of the fair {n:02}": {"project": "fair", "touched": 60 + n % 3} for n in range(40)},
        **(more or {}),
    }
    usual = {"project": "shop", "agent": "cy", "injected_count": 0, "need_30d": None, "strength": None, "verdict": None}
    rows = []
    for memory_id, own in said.items():
        row = health_row(memory_id, **{**usual, "last_referenced_at": None, "reference_count": 0, **own})
        row["status_since"] = ago(own.get("since", 365))
        for name in ("touched", "shadowed", "restored"):
            row[f"{name}_day"] = TODAY - own[name] if name in own else None
        rows.append({"eligible_since_touch": None, **row})
    evidence = [{name: row[name] for name in _EVIDENCE} for row in rows]
    agents = pl.DataFrame({"memory_id": list(said), "agent": [row["agent"] for row in rows]})
    told = [{name: value for name, value in row.items() if name not in _ONLY_EVIDENCE} for row in rows]
    health = framed(MemoryHealth, health_frame(told).drop("parroted").join(agents, on="memory_id"), partial=True)
    return health, pl.DataFrame(evidence, schema=_EVIDENCE)


_ONLY_EVIDENCE = {
    "agent", "since", "touched", "shadowed", "restored", "status_since", "touched_day", "eligible_since_touch",
    "shadowed_day", "restored_day",
}  # fmt: skip

START = datetime(2026, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
AS_OF = START + timedelta(days=100)


def decided() -> pl.LazyFrame:
    """Decisions of a few months: archivings and shadows, restores, holds, a release, and one of another command."""

    def row(number: int, command: str, target: str, day: float, kind: str = "memory", **values: Any) -> Row:
        return {
            "decision_id": f"d{number:02}", "command": command, "target_kind": kind, "target": target,
            "values": values_json(values), "reason": "so it is", "changed_by": "ada",
            "decided_at": START + timedelta(days=day), "on_run_id": None if kind == "project" else "r1",
        }  # fmt: skip

    def gone(rule: str, need: float | None, *, is_shadow: bool = False) -> Row:
        said = {"rule": rule, "need_30d": need, "strength": 0.0625, "status_before": "active", "command_id": "c1"}
        return {**said, "status": "archived", "is_shadow": is_shadow}

    return decision_rows(
        [
            row(1, APPLY, "a", 1, **gone("faded", 0.125)),
            row(2, APPLY, "b", 1, **gone("faded", None)),
            row(3, APPLY, "c", 1, **gone("untouched", 0.0625)),
            row(4, APPLY, "d", 1, **gone("untouched", 0.3, is_shadow=True)),
            row(5, APPLY, "e", 1, **gone("faded", 0.1, is_shadow=True)),
            row(6, RESTORE, "a", 20, status="active", archive_id="d01", status_before="archived", command_id="c2"),
            row(7, RESTORE, "c", 40, status="active", archive_id="d03", status_before="archived", command_id="c3"),
            row(8, HOLD, "shop", 5, "project"),
            row(9, RELEASE, "shop", 50, "project"),
            row(10, HOLD, "b", 60),
            row(11, APPLY, "f", 80, **gone("agent_quota", 0.2)),
            row(12, APPLY, "g", 120, **gone("faded", 0.2)),
            row(13, "review promote", "h", 2, status="active"),
        ]
    ).lazy()


def uses() -> Lazy[MemoryReferences]:
    """References to what was archived: in the window and out of it, injected and echoed."""
    said = [
        ("a", "i1", 2, True, False),
        ("b", "i1", 3, False, True),
        ("b", "i2", 30.9, True, False),
        ("c", "i3", 31, True, True),
        ("d", "i4", 2, False, True),
        ("d", "i5", 30, True, True),
        ("d", "i6", 31, False, True),
        ("e", "i7", 4, True, False),
        ("f", "i8", 81, True, True),
    ]
    rows = pl.LazyFrame(
        [
            (memory, interaction, START + timedelta(days=day), *found, interaction == "i5")
            for memory, interaction, day, *found in said
        ],
        schema={
            "memory_id": pl.String, "interaction_id": pl.String, "occurred_at": pl.Datetime("us"),
            "is_injected": pl.Boolean, "is_echoed": pl.Boolean, "is_used": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip
    return framed(MemoryReferences, rows, partial=True)
