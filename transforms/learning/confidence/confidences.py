"""How sure one can be of strategies, so that old evidence keeps its order.

At its last attempt a strategy's estimate is its decayed record, shrunk towards its whole record, shrunk in turn towards
what its relatives tell. From then on the estimate, and the ends of its interval with it, move day by day towards what
any strategy of the agent is expected to do on the task type, by the same share for all of them. So of two strategies
that are no longer tried, the one that was above the other stays there, whatever others do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit, logit

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.core.statistics import DrawnValues, beta_interval
from slowwave.transforms.core.vocabularies import UNANIMOUS_ATTEMPTS
from slowwave.transforms.learning.confidence.params import ConfidenceParams, ConfidencePoint, Correction
from slowwave.transforms.learning.confidence.states import GROUP, AttemptCounts, CellHistory, Record

# The plain sum of records: a strategy's own attempts beside those of its strategy and its task type, none faded.

_OWN_STRENGTH = 2  # attempts that the sum of the relatives' records is worth
_RELATIVES_STRENGTH = 5  # attempts that the project's is worth


def sum_of_records(
    own: AttemptCounts, strategy: AttemptCounts, task_type: AttemptCounts, project: AttemptCounts
) -> Floats:
    """Return each cell's rate, shrunk to the sum of the logits of its strategy's and its task type's rates."""
    rate = (project.successes + 1) / (project.attempts + 2)
    of_strategy, of_task_type = (of.shrunk(rate, _RELATIVES_STRENGTH) for of in (strategy, task_type))
    return own.shrunk(expit(logit(of_strategy) + logit(of_task_type) - logit(rate)), _OWN_STRENGTH)


_HALF = 0.5
_LEAST = 1e-9
_OF_EITHER_END = 0.05  # attempts
_DIGITS = 9  # what comes after differs between processors, and never tells two strategies apart


@dataclass(frozen=True)
class Beliefs:
    """What is believed of asked cells: of one never tried by then, what its relatives tell.

    `worth` is how many attempts an interval rests on, `own_worth` how many of them are its own.
    """

    mean: Floats
    low: Floats
    high: Floats
    worth: Floats
    own_worth: Floats
    prior_mean: Floats
    prior_share: Floats


class _Told(NamedTuple):
    """`Beliefs`, with a column per thing estimated of each in `values`."""

    values: Floats
    worth: Floats
    own_worth: Floats
    prior_mean: Floats
    prior_share: Floats


class Past:
    """What was known of some cells at the ends of some days.

    Args:
        known: of all cells.
        cells: of `attempt_cells`.
        cell: which cells are asked of.
        day: at the end of which day, one per asked cell.
        params: how the past is weighed.
    """

    def __init__(
        self, known: CellHistory, cells: pl.DataFrame, cell: Integers, day: Integers, params: ConfidenceParams
    ) -> None:
        self._params = params
        group = cells.sort("cell").select(pl.struct(GROUP).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
        first_day = min(known.day.min(initial=0), day.min(initial=0))
        keys = [(of << 32) + (at - first_day) for of, at in ((known.cell, known.day), (cell, day))]
        last = np.searchsorted(keys[0], keys[1], side="right") - 1
        self.is_tried = last >= 0
        self.is_tried[self.is_tried] = known.cell[last[self.is_tried]] == cell[self.is_tried]
        untried, self._nth_tried = ~self.is_tried, np.cumsum(self.is_tried) - 1
        self._age = np.where(self.is_tried, day - known.day[last], 0) if len(known.day) else np.zeros(len(day))
        # asked cells were tried last on these rows, each a day on which something became known
        lasts, of_last = np.unique(last[self.is_tried], return_inverse=True)
        self._last = np.full(len(day), -1)
        self._last[self.is_tried] = of_last
        self._asked = known.query_cells(known.cell[lasts], known.day[lasts])
        self._cells = cells
        # their groups are drawn on each day on which something became known of any of their cells
        is_wanted = np.zeros(1 + group.max(initial=-1), dtype=bool)
        is_wanted[group[known.cell[lasts]]] = True
        rows = np.flatnonzero(is_wanted[group[known.cell]])
        self._drawn = DrawnValues.of(group[known.cell[rows]], known.day[rows])
        self._event_of_last = self._drawn.event[np.searchsorted(rows, lasts)]
        self._event = self._drawn.place(group[cell], day)
        # what relatives tell is asked for at each of them, and of the cells that were not tried
        asked = [(known.cell[at], known.day[at]) for at in (lasts, rows[self._drawn.row])]
        asked.append((cell[untried], day[untried]))
        self._relatives = known.query_cells(*map(np.concatenate, zip(*asked, strict=True))).relatives(cells, params)
        self._of_drawn = slice(len(lasts), len(lasts) + len(self._drawn.row))
        self._told_at = self._last.copy()
        self._told_at[untried] = self._of_drawn.stop + np.arange(untried.sum())
        self._asked_day = day
        self._priors: dict[float, tuple[Floats, Floats]] = {}
        self._records: dict[float | None, Record] = {}
        self._draws: dict[tuple[float, float], tuple[Floats, Floats]] = {}

    def means(self, point: ConfidencePoint) -> Floats:
        """The estimate of each asked cell with a grid point, not rounded."""
        told = self.prior_means(point.relatives_share)
        tried = np.flatnonzero(self.is_tried)
        at_last = self._on_side_of_record(self._at_last_attempt(point), _HALF)[self._last[tried], None]
        faded = self._fade_estimates(point, tried, at_last, self._draw(point))
        told[tried] = self._on_its_side(tried, faded, at_last, _HALF)[:, 0]
        return told

    def estimate_with_records(self, point: ConfidencePoint, chosen: Integers, records_share: float) -> Floats:
        """The estimates of some tried cells with a share of the plain sum of records, kept on no side."""
        now, then = self._draw(point)
        draw = now[self._nth_tried[chosen]], then[self._nth_tried[chosen]]
        at_last = self._mix_with_records(self._at_last_attempt(point), records_share)[self._last[chosen], None]
        return self._fade_estimates(point, chosen, at_last, draw)[:, 0]

    def prior_means(self, share: float) -> Floats:
        """What relatives tell of each asked cell: of one that was tried, at its last attempt."""
        return self._prior(share)[0][self._told_at]

    def beliefs(
        self,
        point: ConfidencePoint,
        correction: Correction,
        dispersion: float,
        chosen: Integers,
        newcomers_logit: Floats,
    ) -> Beliefs:
        """What is believed of some of the asked cells with a grid point.

        Args:
            point: of the grid.
            correction: of the estimates of cells that were tried.
            dispersion: how much success differs between days, in variances of one attempt.
            chosen: places of the asked cells.
            newcomers_logit: how much first attempts differ from what relatives tell, in logits, per chosen cell.
        """
        told = self._estimate_cells(point, correction, dispersion, chosen, newcomers_logit, _with_interval)
        mean, low, high = told.values.T
        return Beliefs(mean, low, high, *told[1:])

    def means_and_worths(
        self, point: ConfidencePoint, correction: Correction, chosen: Integers
    ) -> tuple[Floats, Floats]:
        """The same without intervals, which take most of the time, without dispersion and without newcomers."""
        told = self._estimate_cells(point, correction, 0.0, chosen, np.zeros(len(chosen)), _alone)
        return told.values[:, 0], told.worth

    def _estimate_cells(
        self,
        point: ConfidencePoint,
        correction: Correction,
        dispersion: float,
        chosen: Integers,
        newcomers_logit: Floats,
        columns: Callable[[Floats, Floats, float], Floats],
    ) -> _Told:
        """See `beliefs`; `columns`: what is estimated, by means, worths and a mass."""
        params = self._params
        _, shared = self._prior(point.relatives_share)
        mean = self.prior_means(point.relatives_share)[chosen]
        mean = np.where(self.is_tried[chosen], mean, expit(logit(mean) + newcomers_logit)).round(_DIGITS)
        untried_worth = 1 / (1 / params.untried_worth + dispersion)
        worth, own_worth, share = np.full(len(chosen), untried_worth), np.zeros(len(chosen)), np.ones(len(chosen))
        is_tried = self.is_tried[chosen]
        half = expit(-correction.shift)  # what becomes one half
        of_untried = columns(mean[~is_tried], worth[~is_tried], params.credible_mass)
        found = np.empty((len(chosen), of_untried.shape[1]))
        found[~is_tried] = of_untried
        tried, last = chosen[is_tried], self._last[chosen[is_tried]]
        if len(tried):
            record, whole = self._record(point.half_life_days), self._record(None)
            left = np.exp2(-self._age[tried] / point.fading_half_life_days)
            at_last = np.round(self._mix_with_records(self._at_last_attempt(point), correction.records_share), _DIGITS)
            at_last = self._on_side_of_record(at_last, half)[last]
            worth_at_last = 1 / (1 / (record.worth[last] + point.record_strength) + dispersion)
            towards = np.zeros((len(self._drawn.row), found.shape[1]))
            drawn = self._drawn.of_same_group(self._event[tried])
            rate = np.round(shared[self._of_drawn][drawn], _DIGITS)
            towards[drawn] = columns(rate, np.full(len(rate), untried_worth), params.credible_mass)
            draw = self._drawn_to(point, tried, towards)
            of_last = columns(at_last, worth_at_last, params.credible_mass)
            faded = self._on_its_side(tried, self._fade_estimates(point, tried, of_last, draw), of_last, half)
            # the same for all of them, and at the end: no order changes when the shift does
            found[is_tried] = expit(logit(faded) + correction.shift) if correction.shift else faded
            worth[is_tried] = 1 / (left / worth_at_last + (1 - left) / untried_worth)
            own_worth[is_tried] = left * record.worth[last]
            own = 1 - self._prior_share(point, record.counts.attempts[last], whole.counts.attempts[last])
            share[is_tried] = 1 - left * own
        return _Told(np.round(found, _DIGITS), worth, own_worth, mean, share)

    def _prior(self, share: float) -> tuple[Floats, Floats]:
        """Prior mean and shared rate: at the last attempts, at what is drawn to, then of cells that were not tried."""
        if share not in self._priors:
            told = self._relatives
            self._priors[share] = told.prior_mean(share, self._params), told.shared_rate(share, self._params)
        return self._priors[share]

    def _record(self, half_life_days: float | None) -> Record:
        if half_life_days not in self._records:
            self._records[half_life_days] = self._asked.records(half_life_days)
        return self._records[half_life_days]

    def _at_last_attempt(self, point: ConfidencePoint) -> Floats:
        """The estimate at the end of the day of each last attempt."""
        prior = self._prior(point.relatives_share)[0][: self._of_drawn.start]
        whole = self._record(None).counts
        record = whole.shrunk(prior, point.prior_strength)
        told = self._record(point.half_life_days).counts.shrunk(record, point.record_strength)
        # agents change overnight: the past, however long and plain, is never all there is to know
        return (1 - self._params.unforeseen) * told + self._params.unforeseen * prior

    def _mix_with_records(self, at_last: Floats, records_share: float) -> Floats:
        """The estimates at last attempts with a share of the plain sum of records as it was then, in logits."""
        if not records_share:
            return at_last
        return expit((1 - records_share) * logit(at_last) + records_share * logit(self._sums))

    @cached_property
    def _sums(self) -> Floats:
        """The plain sum of records at the last attempts."""
        own, keys = self._record(None).counts, (("project", "strategy_id"), ("project", "task_type"), ("project",))
        return sum_of_records(own, *self._asked.whole_records(self._cells, *keys))

    def _prior_share(self, point: ConfidencePoint, decayed: Floats, whole: Floats) -> Floats:
        of_whole = point.record_strength / (decayed + point.record_strength)
        told = of_whole * point.prior_strength / (whole + point.prior_strength)
        return (1 - self._params.unforeseen) * told + self._params.unforeseen

    def _drawn_to(self, point: ConfidencePoint, tried: Integers, towards: Floats) -> tuple[Floats, Floats]:
        """What asked cells were drawn to by their day, and by their last attempt; a row per event in `towards`."""
        half_life = point.fading_half_life_days
        drawn = self._drawn.values(towards, half_life)
        now = self._drawn.later(drawn, towards, self._event[tried], self._asked_day[tried], half_life)
        return now, drawn[self._event_of_last[self._last[tried]]]

    def _draw(self, point: ConfidencePoint) -> tuple[Floats, Floats]:
        """What all tried cells were drawn to by their day, and by their last attempt, not shifted."""
        key = (point.relatives_share, point.fading_half_life_days)
        if key not in self._draws:
            shared = self._prior(point.relatives_share)[1][self._of_drawn]
            self._draws[key] = self._drawn_to(point, np.flatnonzero(self.is_tried), shared[:, None])
        return self._draws[key]

    def _fade_estimates(
        self, point: ConfidencePoint, tried: Integers, at_last: Floats, draw: tuple[Floats, Floats]
    ) -> Floats:
        """Values at the last attempts of asked cells, moved since towards what they are drawn to."""
        now, then = draw
        left = np.exp2(-self._age[tried] / point.fading_half_life_days)[:, None]
        return now + left * (at_last - then)

    def _on_side_of_record(self, at_last: Floats, half: float) -> Floats:
        """The estimates, none of them on the other side of `half` than a whole record that is all of one kind."""
        never_failed, never_succeeded = self._unanimous
        return np.clip(at_last, np.where(never_failed, half, 0), np.where(never_succeeded, half, 1))

    @cached_property
    def _unanimous(self) -> tuple[Booleans, Booleans]:
        """Whether the whole record at each last attempt is long enough, and without a failure, or without a success."""
        whole = self._record(None).counts
        is_many = whole.attempts >= UNANIMOUS_ATTEMPTS
        return is_many & (whole.successes == whole.attempts), is_many & (whole.successes == 0)

    def _on_its_side(self, tried: Integers, faded: Floats, at_last: Floats, half: float) -> Floats:
        """Faded values, none of them carried past `half` by time alone; columns as in `_with_interval`.

        An interval may still widen past it. The same monotone map per column for all rows: no order changes.
        """
        was_low = at_last < half
        was_low[:, 0] |= self._unanimous[1][self._last[tried]]
        least, most = np.where(was_low, -np.inf, half), np.where(was_low, half, np.inf)
        least[:, 1:2], most[:, 2:] = -np.inf, np.inf
        return np.clip(faded, least, most)


def _alone(mean: Floats, _worth: Floats, _mass: float) -> Floats:
    return mean[:, None]


def _with_interval(mean: Floats, worth: Floats, mass: float) -> Floats:
    return np.column_stack([mean, *interval(mean, worth, mass)])


def interval(mean: Floats, worth: Floats, mass: float) -> tuple[Floats, Floats]:
    """Equal-tailed interval of a Beta with a mean and worth, and a little of either end; it always holds its mean.

    Without that little, the Beta of an estimate next to 0 or 1 is all but a point there, however few its attempts.
    """
    inner = np.clip(mean, _LEAST, 1 - _LEAST)
    low, high = beta_interval(inner * worth + _OF_EITHER_END, (1 - inner) * worth + _OF_EITHER_END, mass)
    return np.minimum(low, mean), np.maximum(high, mean)
