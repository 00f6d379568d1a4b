"""The interactions that a publish is computed from, with whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import polars as pl

from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.plan import BuildPlan
from slowwave.transforms.core.frames import Lazy, framed
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.landing.tables import Interactions


def replayed_interactions(lake: Lake, plan: BuildPlan, names: Mapping[date, str]) -> Lazy[ReplayedInteractions]:
    """replayed_interactions of these partitions, by day, with user_id wherever an interaction names one.

    Days that a release built which did not look for users stay as they are; their users are looked up in the log.
    """
    table = ReplayedInteractions
    unseen = {day: name for day, name in names.items() if day in plan.days_without_users}
    if not unseen:
        return lake.scan_evidence(table, names)
    seen = lake.scan_evidence(table, {day: name for day, name in names.items() if day not in unseen})
    users = plan.log.winners(Interactions, unseen, ["user_id"]).select("interaction_id", "user_id")
    looked_up = lake.scan_evidence(table, unseen).drop("user_id").join(users, on="interaction_id", how="left")
    return framed(table, pl.concat([seen, looked_up.select(seen.collect_schema().names())]))
