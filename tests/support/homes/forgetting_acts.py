"""What a person does about forgetting, done to a home at a given instant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Protocol
from unittest.mock import patch

from slowwave.flows.decide.decisions import decide_hold
from slowwave.flows.decide.forget import Outcome, apply_plan, published_plan, restore
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.publish.run import Run, start_run
from slowwave.transforms.decisions.effects import HOLD, RELEASE


class HasSettings(Protocol):
    """Any home."""

    settings: Settings


@contextmanager
def acting(home: HasSettings, now: datetime) -> Iterator[Run]:
    """The run of a command given at `now`, with the lock held and the clock of decisions set."""
    with (
        patch("slowwave.flows.decide.forget.utc_now", lambda: now),
        patch("slowwave.flows.decide.decisions.utc_now", lambda: now),
        writer_lock(home.settings, "forget"),
    ):
        yield start_run(home.settings, "backfill")


def applied(home: HasSettings, now: datetime) -> Outcome:
    """`forget apply` of the whole published plan."""
    with acting(home, now) as run:
        published = published_plan(home.settings)
        return apply_plan(run, published, published.select_rows())


def restored(home: HasSettings, now: datetime) -> Outcome:
    """`forget restore --all`."""
    with acting(home, now) as run:
        return restore(run, everything=True)


def held(home: HasSettings, now: datetime, memory_id: str, reason: str = "a law") -> str:
    """`forget hold MEMORY`."""
    with acting(home, now) as run:
        return decide_hold(run, HOLD, memory_id, "memory", reason).says


def released(home: HasSettings, now: datetime, memory_id: str) -> str:
    """`forget release MEMORY`."""
    with acting(home, now) as run:
        return decide_hold(run, RELEASE, memory_id, "memory", "over").says
