"""What the stages of a night cost: CPU time of this process and its children, told to whoever listens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Stage = Literal[
    "land",
    "versions",
    "eligibility",
    "echo",
    "used",
    "statements and pairs",
    "fits",
    "anti-patterns",
    "lift",
    "need",
    "history",
    "publish",
    "audits",
    "report",
]


class StageCosts:
    """CPU seconds per stage; of a stage within another, the time counts for the inner one alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[str] = []
        self._since = 0.0

    def enter(self, stage: str) -> None:
        """Count for `stage` from now on."""
        self._settle()
        self._open.append(stage)

    def leave(self) -> None:
        """Count for what was open before."""
        self._settle()
        self._open.pop()

    def _settle(self) -> None:
        now = sum(os.times()[:4])
        if self._open:
            self.seconds[self._open[-1]] = self.seconds.get(self._open[-1], 0.0) + now - self._since
        self._since = now


listening: ContextVar[StageCosts | None] = ContextVar("listening", default=None)


@contextmanager
def stage_cost(stage: Stage) -> Iterator[None]:
    """What is done inside counts as `stage`."""
    costs = listening.get()
    if costs is None:
        yield
        return
    costs.enter(stage)
    try:
        yield
    finally:
        costs.leave()
