"""`slowwave demo`: a month of sample logs, landed and published, and where to look."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import duckdb

from slowwave.data.sample import write_sample
from slowwave.flows.cli.run import flow_session
from slowwave.flows.kernel.lock import ensure_home
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import counted, shortened
from slowwave.flows.lake.published import current_run
from slowwave.flows.land.demo_home import claim_for_demo, midnight_after
from slowwave.flows.nightly.nightly import NightlyResult, nightly, start_run
from slowwave.flows.nightly.screen import next_commands, result_lines, result_title

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
        screen.note(f"making {counted(days, 'day')} of sample logs")
        write_sample(settings.inbox, seed=seed, days=days)
        before = None
        if current_run(settings) is None:  # without Prefect and a report, which are for the last night
            before = nightly(start_run(settings, "nightly", screen.progress), as_of=as_of - timedelta(days=1))
        last: NightlyResult = flows.nightly(home=str(settings.home), as_of=as_of.isoformat())
        screen.close()
        landed_by = before or last
        result = replace(last, landed=landed_by.landed)
        found, commands = _where_to_look(result)
        lines = [*result_lines(settings, result), *found]
        print_lines(result_title(result), lines, [*commands, *next_commands(result, landed_by.run_id)])


def _where_to_look(result: NightlyResult) -> tuple[Lines, list[str]]:
    if result.serving is None:
        return [], []
    with duckdb.connect(result.serving, read_only=True) as connection:
        rows = connection.sql(_MOST_REFERENCED).fetchall()
    if not rows:
        return [], []
    ((memory_id, content, references, injected, eligible),) = rows
    said = (
        f"{memory_id}: of {counted(eligible, 'eligible interaction')} {counted(references, 'refers', 'refer')} to it, "
    )
    said += f"{counted(injected, 'was', 'were')} given it"
    lines = [("most used", said), ("", f"“{shortened(content or '', _SHOWN_CONTENT)}”")]
    return lines, [f"{this_command()} why {memory_id}"]
