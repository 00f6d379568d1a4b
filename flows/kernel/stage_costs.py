"""What a night costs: CPU time of this process and its children, by stage and by step, reported to whoever listens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from slowwave.transforms.core.vocabularies import Stage


class StageCosts:
    """CPU seconds per stage, and per step of the graph; of one within another, the time counts for the inner alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.of_steps: dict[str, float] = {}
        self._open: list[tuple[str, str]] = []
        self._since = 0.0

    def enter(self, stage: str, step: str = "") -> None:
        """Count for `stage` from now on, and for `step`; '': for the step that is open."""
        self._settle()
        self._open.append((stage, step or (self._open[-1][1] if self._open else "")))

    def leave(self) -> None:
        """Count for what was open before."""
        self._settle()
        self._open.pop()

    def add(self, others: StageCosts) -> None:
        """Count what another process has spent."""
        for ours, theirs in ((self.seconds, others.seconds), (self.of_steps, others.of_steps)):
            for name, seconds in theirs.items():
                ours[name] = ours.get(name, 0.0) + seconds

    def _settle(self) -> None:
        now = sum(os.times()[:4])
        if self._open:
            stage, step = self._open[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
            if step:
                self.of_steps[step] = self.of_steps.get(step, 0.0) + now - self._since
        self._since = now


listening: ContextVar[StageCosts | None] = ContextVar("listening", default=None)


@contextmanager
def heard_by(costs: StageCosts) -> Iterator[StageCosts]:
    """What is done inside is reported to `costs`, or to who listens already; yields who it is."""
    if (already := listening.get()) is not None:
        yield already
        return
    token = listening.set(costs)
    try:
        yield costs
    finally:
        listening.reset(token)


@contextmanager
def stage_cost(stage: Stage, step: str = "") -> Iterator[None]:
    """What is done inside counts as `stage`, and as that step of the graph."""
    costs = listening.get()
    if costs is None:
        yield
        return
    costs.enter(stage, step)
    try:
        yield
    finally:
        costs.leave()
