"""`slowwave demo`: eleven weeks of sample logs, landed and published, and where to look."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import duckdb

from slowwave.data.sample import write_sample
from slowwave.data.story import ARCHIVED_ON, BROUGHT_BACK_ON, IGNORED, WANTED_AGAIN
from slowwave.flows.cli.run import flow_session
from slowwave.flows.decide.decisions import decision, land_decisions
from slowwave.flows.kernel.lock import ensure_home
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.demo_home import claim_for_demo, midnight_after
from slowwave.flows.nightly.nightly import NightlyResult, nightly, start_run
from slowwave.flows.nightly.screen import next_commands, result_lines, result_title
from slowwave.transforms.decisions.effects import APPLY, FORGET_METHOD, RESTORE
from slowwave.transforms.decisions.review.changes import PROMOTE

_SHOWN_CONTENT = 100
_MOST_REFERENCED = """
FROM memory_health SELECT memory_id, content, reference_count, injected_count, eligible_count
ORDER BY reference_count DESC, memory_id LIMIT 1
"""


def run_demo(settings: Settings, *, seed: int, days: int) -> None:
    """Write sample logs into the inbox, publish their last two nights, and say where to look.

    Two, so that there is something to compare. Run again it delivers the same rows, which are recognised, and publishes
    nothing new.

    Raises UserError when the home holds other logs.
    """
    ensure_home(settings)
    claim_for_demo(settings, seed=seed, days=days)
    as_of = midnight_after(days)
    with flow_session(settings, "demo") as (flows, screen):
        screen.note(f"making {format_count(days, 'day')} of sample logs")
        write_sample(settings.inbox, seed=seed, days=days)
        before = None
        if current_run(settings) is None:  # without Prefect and a report, which are for the last night
            before = nightly(start_run(settings, "nightly", screen.progress), as_of=as_of - timedelta(days=1))
            land_decisions(Lake(settings.lake_folder), story_decisions(days))
        last: NightlyResult = flows.nightly(home=str(settings.home), as_of=as_of.isoformat())
        screen.close()
        landed_by = before or last
        result = replace(last, landed=landed_by.landed)
        found, commands = _where_to_look(result)
        lines = [*result_lines(settings, result), *found]
        print_lines(result_title(result), lines, [*commands, *next_commands(result, landed_by.run_id)])


def story_decisions(days: int) -> list[dict[str, Any]]:
    """Return the landed decisions of the sample's story that were taken within so many days.

    Files bring no decisions: Slowwave archived a memory itself, and people brought it back, and kept another.
    """

    def decision_fields(day: int, reason: str, changed_by: str) -> dict[str, Any]:
        return {"reason": reason, "changed_by": changed_by, "decided_at": midnight_after(day), "on_run_id": None}

    memory_id = WANTED_AGAIN.memory_id
    archived = decision(
        APPLY,
        "memory",
        memory_id,
        {"status": "archived", "is_shadow": False},
        {"rule": "untouched", "need_30d": 0.04, "strength": 0.12, "status_before": "active", "command_id": "demo"},
        **decision_fields(ARCHIVED_ON, "untouched: not referenced or injected for 90 days", FORGET_METHOD),
    )
    restored = decision(
        RESTORE,
        "memory",
        memory_id,
        {"status": "active", "archive_id": archived["decision_id"]},
        {"status_before": "archived"},
        **decision_fields(BROUGHT_BACK_ON, "support asks for it every week", "chloé"),
    )
    item = {"kind": "ignored", "project": IGNORED.project, "memory_type": IGNORED.memory_type, "text": IGNORED.content}
    kept = decision(
        PROMOTE,
        "item",
        f"ignored {IGNORED.memory_id}",
        {**item, "memory_ids": [IGNORED.memory_id], "basis": "its use", "changes": []},
        {},
        **decision_fields(BROUGHT_BACK_ON + 3, "we do want the line for the changelog", "ana"),
    )
    taken = midnight_after(days)
    return [row for row in (archived, restored, kept) if row["decided_at"] < taken]


def _where_to_look(result: NightlyResult) -> tuple[Lines, list[str]]:
    if result.serving is None:
        return [], []
    with duckdb.connect(result.serving, read_only=True) as connection:
        rows = connection.sql(_MOST_REFERENCED).fetchall()
    if not rows:
        return [], []
    ((memory_id, content, references, injected, eligible),) = rows
    decision_fields = f"{memory_id}: quoted or used in {format_count(references, 'answer')}, "
    decision_fields += f"injected in {injected:,} of {format_count(eligible, 'eligible interaction')}"
    lines = [("most used", decision_fields), ("", f"“{shorten_to_width(content or '', _SHOWN_CONTENT)}”")]
    return lines, [f"{this_command()} why {memory_id}"]
