"""What was known of strategies and of their relatives at the end of days, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import expit, logit

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.counts.decayed_states import UNIT, DecayedStates, daily_factor
from slowwave.transforms.core.counts.integer_groups import KeyGroups
from slowwave.transforms.learning.confidence.params import ConfidenceParams

_MICRO = 1_000_000
GROUP = ("project", "agent", "task_type")
_PARENTS = (
    ("project",),
    ("project", "agent"),
    ("project", "strategy_id"),
    ("project", "task_type"),
    ("project", "task_type", "strategy_id"),
)


@dataclass(frozen=True)
class AttemptCounts:
    """Attempts and successes, a row each; faded ones are fractions."""

    attempts: Floats
    successes: Floats

    def shrunk(self, towards: Floats, strength: float) -> Floats:
        """Their rate, with so many attempts at another added."""
        return (self.successes + strength * towards) / (self.attempts + strength)

    def without(self, part: AttemptCounts) -> AttemptCounts:
        """What is left without a part of them."""
        attempts = np.maximum(self.attempts - part.attempts, 0)
        return AttemptCounts(attempts, np.clip(self.successes - part.successes, 0, attempts))


@dataclass(frozen=True)
class Record:
    """A strategy's own attempts, faded; `worth` is how many independent ones they are worth."""

    counts: AttemptCounts
    worth: Floats


@dataclass(frozen=True)
class Relatives:
    """What was known of a cell's relatives; none of it is counted twice.

    The agent and the task type are estimated with the cell's own attempts: they are the same for all strategies that
    the agent tries on the task type. The strategy is estimated from other task types, its twins are what other agents
    did with it on this one.
    """

    project: AttemptCounts
    agent: AttemptCounts
    strategy: AttemptCounts
    task_type: AttemptCounts
    twins: AttemptCounts

    def shared_rate(self, share: float, params: ConfidenceParams) -> Floats:
        """What any strategy of the agent is expected to do on the task type."""
        project, agent, task_type = self._rates(params)
        differs = logit(agent) - logit(project) + (logit(task_type) - logit(project))
        # of a project with few attempts, which may be those of this strategy alone, little is known
        known = self.project.shrunk(np.full(len(project), 0.5), params.project_strength)
        return expit(logit(known) + share * differs)

    def prior_mean(self, share: float, params: ConfidenceParams) -> Floats:
        """What this strategy is expected to do there, had it never been tried."""
        _, agent, _ = self._rates(params)
        strategy = self.strategy.shrunk(agent, params.parent_strength)
        told = expit(logit(self.shared_rate(share, params)) + share * (logit(strategy) - logit(agent)))
        return self.twins.shrunk(told, params.parent_strength)

    def _rates(self, params: ConfidenceParams) -> tuple[Floats, Floats, Floats]:
        """Of project, agent and task type, each held against the project's alike: what is one does not differ."""
        project = (self.project.successes + 1) / (self.project.attempts + 2)
        of_each = (of.shrunk(project, params.parent_strength) for of in (self.project, self.agent, self.task_type))
        project, agent, task_type = of_each
        return project, agent, task_type


@dataclass(frozen=True)
class CellHistory:
    """What became known of each cell on each day, sorted by these: attempts, successes, what the attempts are worth.

    `counts` has them in units of 2^-30; `looks` whole, the worth in millionths, with the sessions that began.
    """

    cell: Integers
    day: Integers
    counts: Integers
    looks: Integers

    @staticmethod
    def of(sessions: pl.DataFrame, params: ConfidenceParams) -> CellHistory:
        """From `attempt_sessions`.

        A session of m attempts that correlate by r is worth m / (1 + (m - 1) r) of them (Kish 1965, Survey Sampling).
        """
        columns = (*("cell", "block", "known_day"), *("attempts", "successes"))
        cell, block, day, *counts = (sessions[name].cast(pl.Int64).to_numpy() for name in columns)
        alike = KeyGroups.of(cell, block, day)
        cell, block, day = (key[alike.first] for key in (cell, block, day))
        attempts, successes = (alike.sums(of) for of in counts)
        worth = attempts / (1 + (attempts - 1) * params.session_correlation)
        # a session that goes on for days counts on its first
        is_first = np.ones(len(cell), dtype=np.int64)
        is_first[1:] = (cell[1:] != cell[:-1]) | (block[1:] != block[:-1])
        of_day = KeyGroups.of(cell, day)
        told = (attempts, successes, np.round(worth * UNIT), np.round(worth * _MICRO), is_first)
        attempts, successes, units, millionths, begun = (of_day.sums(of.astype(np.int64)) for of in told)
        return CellHistory(
            cell[of_day.first],
            day[of_day.first],
            np.column_stack([attempts * UNIT, successes * UNIT, units]),
            np.column_stack([attempts, successes, millionths, begun]),
        )

    def query_cells(self, cell: Integers, day: Integers) -> CellQuery:
        """To be asked of cells at the end of days, which are days since 1970."""
        return CellQuery(DecayedStates(self.cell, self.day, self.counts, cell, day))


@dataclass(frozen=True)
class CellQuery:
    """Cells and days at the end of which something is asked of them."""

    states: DecayedStates

    def records(self, half_life_days: float | None) -> Record:
        """The cells' own attempts; None: none has faded."""
        found = self.states.decayed_counts(daily_factor(half_life_days)) / UNIT
        return Record(AttemptCounts(found[:, 0], found[:, 1]), found[:, 2])

    def relatives(self, cells: pl.DataFrame, params: ConfidenceParams) -> Relatives:
        """The cells' relatives.

        Args:
            cells: of `attempt_cells`.
            params: how they fade.
        """
        number = [pl.struct(names).rank("dense").cast(pl.Int64) - 1 for names in _PARENTS]
        parents = cells.sort("cell").select(of.alias(str(at)) for at, of in enumerate(number))
        factor = daily_factor(params.relatives_half_life_days)
        told = (self._counts(factor, parents[str(at)].to_numpy()) for at in range(len(_PARENTS)))
        project, agent, everywhere, task_type, here = told
        own = self._counts(factor, None)
        return Relatives(project, agent, everywhere.without(here), task_type, here.without(own))

    def whole_records(self, cells: pl.DataFrame, *keys: tuple[str, ...]) -> list[AttemptCounts]:
        """What was known of all cells that share each of the keys with the asked one; none has faded."""
        alike = (pl.struct(key).rank("dense").cast(pl.Int64) - 1 for key in keys)
        parents = cells.sort("cell").select(of.alias(str(at)) for at, of in enumerate(alike))
        return [self._counts(UNIT, parents[str(at)].to_numpy()) for at in range(len(keys))]

    def _counts(self, factor: int, parent: Integers | None) -> AttemptCounts:
        found = self.states.decayed_counts(factor, parent, columns=2) / UNIT
        return AttemptCounts(np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1]))
