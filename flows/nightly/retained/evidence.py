"""`[retention] evidence_days`: what of old evidence no count needs, which is where memories were eligible.

All other evidence is published from every night: references, counts by day and statements stay as they are.
"""

from __future__ import annotations

from datetime import timedelta

from slowwave.flows.kernel.run_ids import utc_now
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.let_go.horizons import Horizon, declare, horizon
from slowwave.flows.nightly.retained.let_go import LetGo
from slowwave.transforms.evidence.tables import MemoryEligibility


def let_evidence_go(lake: Lake, days: int, *, rehearses: bool) -> LetGo:
    """Let go of the stretches of eligibility of days that ended so many days ago. `rehearses`: nothing goes."""
    now = utc_now()
    before = (now - timedelta(days=days)).date()
    reached = horizon(lake.root, "evidence")
    before = max(before, reached.before) if reached else before
    files = [
        file
        for day, of_day in lake.files(f"evidence/{MemoryEligibility.name}").items()
        if day < before
        for file in of_day
    ]
    gone = LetGo()
    for file in files:
        gone.note("partition of memory_eligibility", file.size)
    if files and not rehearses:
        declare(lake.root, "evidence", Horizon(before, now))
        storage_of(lake.root).remove(file.path for file in files)
    return gone
