"""Whether a memory is used more or less than it was, inferred from active days alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import betainc

from slowwave.transforms.core.vocabularies import TRENDS

if TYPE_CHECKING:
    import polars as pl

    from slowwave.transforms.core.arrays import Booleans, Floats, Integers, SmallIntegers
    from slowwave.transforms.usage.params import TrendParams


# The trend that a single look tells.

NEW, STRENGTHENING, STABLE, WEAKENING, STALE, UNPROVEN = range(len(TRENDS))


def dispersion(counts: TrendCounts, params: TrendParams) -> Floats:
    """References per burst: the squared coefficient of variation of the gaps, shrunk towards a default.

    It is the variance of the number of references in a long time over its mean (of a renewal process: Cox, Renewal
    Theory, 1962), so that divided by it references count as independent ones: by bursts.
    """
    number = counts.references
    closed = np.maximum(counts.span - counts.run, 1)
    spread = np.maximum(number * counts.gap_squares / (closed.astype(np.float64) ** 2) - 1, 0)
    # of references on n of N days the gaps vary by 1 - n / N when independent: daily use cannot vary
    independent = params.dispersion * (1 - number / (closed + 1))
    shrunk = (params.dispersion_gaps * independent + number * spread) / (params.dispersion_gaps + number)
    return np.maximum(shrunk, params.min_dispersion)


def raw_trends(memory: Integers, place: Integers, references: ReferencePlaces, params: TrendParams) -> SmallIntegers:
    """What each look at a memory tells by itself, as index of `TRENDS`.

    Args:
        memory: the memory looked at, one element per look.
        place: of each look (see `ReferencePlaces.places`).
        references: what can be seen.
        params: windows and thresholds.
    """
    counts = references.counts(memory, place, params.max_reference_days)
    per_burst = dispersion(counts, params)
    bursts = counts.references / per_burst
    closed = counts.span - counts.run
    is_proven = (
        (counts.references >= params.min_reference_days)
        & (bursts >= params.min_bursts)
        & (closed >= params.new_active_days)
    )
    trends = np.where(is_proven, STABLE, UNPROVEN).astype(np.int8)
    trends[counts.is_known & (counts.observed < params.new_active_days)] = NEW
    told = np.flatnonzero(trends == STABLE)
    if not len(told):
        return trends

    span, run, bursts = counts.span[told], counts.run[told], bursts[told]
    wanted = np.ceil(params.recent_bursts / bursts * span).astype(np.int64)
    wanted = np.maximum(wanted, params.recent_active_days)
    window = np.minimum(wanted, np.maximum((span * params.recent_share).astype(np.int64), 1))
    recent = references.references_since(memory[told], place[told], window)
    share = recent / counts.references[told]
    # posterior, with Jeffreys' prior, of the share of bursts that fall into the recent window
    is_less = betainc(share * bursts + 0.5, (1 - share) * bursts + 0.5, window / span)
    found = np.full(len(told), STABLE, dtype=np.int8)
    found[1 - is_less > params.change_probability] = STRENGTHENING
    found[is_less > params.change_probability] = WEAKENING
    # no reference in `run` days after so many bursts in `closed`: a beta-binomial of 0, in continuous time (Lomax);
    # one burst is spent on what the dispersion is inferred from
    no_reference = np.exp(-(bursts - 1) * np.log1p(run / np.maximum(closed[told], 1)))
    found[(run >= params.stale_active_days) & (no_reference < params.stale_probability)] = STALE
    trends[told] = found
    return trends


# What a look sees of a memory's use: integer counts, by search in sorted positions.

_DAY_BITS = 32
_NO_DAY = np.iinfo(np.int32).max


def _key(owner: Integers, place: Integers) -> Integers:
    """Owner and place in one integer that sorts like the pair; places are 32-bit integers of either sign."""
    return (owner << _DAY_BITS) + (place + (1 << (_DAY_BITS - 1)))


def _integers(series: pl.Series) -> Integers:
    return series.to_numpy().astype(np.int64)


@dataclass(frozen=True)
class TrendCounts:
    """What looks see; one array element per look. All lengths are in active days of the scope.

    Attributes:
        observed: active days since the memory began; the day it began is none of them.
        span: of them those since the last `max_reference_days` references began.
        references: references (days with one) in the span.
        run: active days since the last reference, or since the span began.
        gap_squares: sum over the references in the span of the squared distance from the one before.
        is_known: the memory has landed at any time, or was referenced before the look.
    """

    observed: Integers
    span: Integers
    references: Integers
    run: Integers
    gap_squares: Integers
    is_known: Booleans


class ReferencePlaces:
    """Where the references of all memories stand among the active days of their scopes.

    A reference on a day on which its scope had no interaction is left out: there is no exposure to hold it against.

    Args:
        memories: memory (0, 1, 2, ...), scope, created_day; sorted by memory.
        days: memory, day of each day with a reference; sorted.
        scope_days: scope, day of each active day; sorted.
    """

    def __init__(self, memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame) -> None:
        self._scope = _integers(memories["scope"])
        self._active = _key(_integers(scope_days["scope"]), _integers(scope_days["day"]))
        # the place of the first active day of each memory's scope: nothing is seen before it
        self.begin = np.searchsorted(self._active, self._scope << _DAY_BITS)
        memory = _integers(days["memory"])
        wanted = _key(self._scope[memory], _integers(days["day"]))
        place = np.searchsorted(self._active, wanted)
        found = np.zeros(len(place), dtype=bool)
        inside = place < len(self._active)
        found[inside] = self._active[place[inside]] == wanted[inside]
        memory, self._place = memory[found], place[found]
        self._key = _key(memory, self._place)
        number = np.arange(memories.height, dtype=np.int64)
        self._first = np.searchsorted(self._key, number << _DAY_BITS)
        gaps = np.diff(self._place, prepend=0)
        # two memories side by side have no gap between them
        gaps[self._first[self._first < len(gaps)]] = 0
        self._squares = np.cumsum(gaps * gaps)
        created = _integers(memories["created_day"].fill_null(_NO_DAY))
        self._created_day = created
        self._created = np.searchsorted(self._active, _key(self._scope, created), side="right")
        self._is_dated = created != _NO_DAY

    def places(self, memory: Integers, day: Integers) -> Integers:
        """Place of each look: that of the first active day that it does not see."""
        return np.searchsorted(self._active, _key(self._scope[memory], day))

    def _active_day(self, place: Integers) -> Integers:
        return (self._active[place] & ((1 << _DAY_BITS) - 1)) - (1 << (_DAY_BITS - 1))

    def counts(self, memory: Integers, place: Integers, max_reference_days: int) -> TrendCounts:
        """What looks at `place` see of each `memory`."""
        first = self._first[memory]
        last = np.searchsorted(self._key, _key(memory, place))
        padded = np.append(self._place, 0)
        # a memory begins when it lands or is first referenced, whichever comes first; observation on the day after
        landed = np.where(self._is_dated[memory], self._created[memory], place)
        begin = np.where(last > first, np.minimum(padded[first] + 1, landed), landed)
        begin = np.minimum(begin, place)
        is_known = self._is_dated[memory] | (last > first)
        # only the first reference can stand on the day it begins
        first = first + ((last > first) & (padded[first] < begin))
        cut = last - max_reference_days
        is_cut = cut > first
        start = np.where(is_cut, padded[np.maximum(cut - 1, 0)] + 1, begin)
        first = np.where(is_cut, cut, first)
        references = last - first
        some = references > 0
        end = np.where(some, padded[last - 1] + 1, start)
        head = padded[np.minimum(first, len(self._place))] - start + 1
        squares = np.append(self._squares, 0)
        between = squares[last - 1] - squares[np.minimum(first, len(self._place))]
        return TrendCounts(
            observed=place - begin,
            span=place - start,
            references=references,
            run=place - end,
            gap_squares=np.where(some, head * head + between, 0),
            is_known=is_known,
        )

    def is_left_over(self, memory: Integers, place: Integers, days: int) -> Booleans:
        """Whether looks at `place` see memories older than the log that it never referenced.

        That is: made before the first active day of their scope and, up to the last one seen, at least `days` calendar
        days old.
        """
        is_seen = place > self.begin[memory]  # an active day, so that there is a first one
        seen = np.flatnonzero(is_seen)
        first, last = self._active_day(self.begin[memory[seen]]), self._active_day(place[seen] - 1)
        created = self._created_day[memory[seen]]
        is_unused = np.searchsorted(self._key, _key(memory[seen], place[seen])) == self._first[memory[seen]]
        is_seen[seen] = is_unused & (created < first) & (last - created >= days)
        return is_seen

    def references_since(self, memory: Integers, place: Integers, window: Integers) -> Integers:
        """References of each memory on the last `window` active days before `place`."""
        after = np.searchsorted(self._key, _key(memory, place))
        return after - np.searchsorted(self._key, _key(memory, place - window))


def memory_trends(
    memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, queries: pl.DataFrame, params: TrendParams
) -> pl.DataFrame:
    """Trend of memories as it stood at the UTC midnight that begins each queried day; it sees the days before.

    The rule: among the active days of a memory's scope (silent days are no evidence), the share of its references that
    falls into a recent window, as long as several references or bursts of references take at the memory's own rate, is
    held against the window's share of the span observed, by a Beta posterior in which references count by bursts.
    A run without reference that is long, and improbable at that rate, is stale; short observation is new, and few
    references or bursts are unproven.

    What is older than the log and was never referenced in it is stale as well from the first active
    day on and until its first reference; within `new_active_days` days of being made it is new all the same.

    The published state is that of the latest look whose own finding equals the one before, so a change needs two looks
    in a row that saw something: midnights after silent days see nothing new and are passed over.

    Args:
        memories: memory (0, 1, 2, ...), scope, created_day; sorted by memory.
        days: memory, day with a reference; sorted. Only whether there was one counts, not how many.
        scope_days: scope, day with an interaction; sorted. References on other days have no exposure and are left out.
        queries: memory, day of the look, any number of each, in any order.
        params: windows and thresholds.

    Returns:
        memory, day, trend (new | strengthening | stable | weakening | stale | unproven): one row per distinct pair
        asked for, sorted. Days are whole UTC days since 1970.
    """
    is_repeat = (pl.col("memory") == pl.col("memory").shift()) & (pl.col("day") == pl.col("day").shift())
    pairs = queries.select("memory", "day").sort("memory", "day").filter(~is_repeat.fill_null(value=False))
    references = ReferencePlaces(memories, days, scope_days)
    memory = pairs["memory"].to_numpy().astype(np.int64)
    place = references.places(memory, pairs["day"].to_numpy().astype(np.int64))
    # looks that see the same are one; sorted pairs have them side by side
    is_other = np.ones(len(memory), dtype=bool)
    is_other[1:] = (memory[1:] != memory[:-1]) | (place[1:] != place[:-1])
    memory, place = memory[is_other], place[is_other]
    known = _settled_trends(memory, place, references, params)
    known[references.is_left_over(memory, place, params.new_active_days)] = STALE
    names = pl.Series("trend", TRENDS, dtype=pl.String)
    return pairs.with_columns(names.gather(known[np.cumsum(is_other) - 1]))


def _settled_trends(
    memory: Integers, place: Integers, references: ReferencePlaces, params: TrendParams
) -> SmallIntegers:
    """What two looks in a row agree on, the latest before `place`."""
    begin: Integers = references.begin[memory]
    found: SmallIntegers = raw_trends(memory, place, references, params)
    settled: SmallIntegers = np.full(len(memory), UNPROVEN, dtype=np.int8)
    open_rows = np.arange(len(memory))
    for _ in range(params.max_looks):
        if not len(open_rows):
            break
        place = place - 1
        before: SmallIntegers = raw_trends(memory, np.maximum(place, begin), references, params)
        agrees = (before == found) | (place < begin)
        settled[open_rows[agrees]] = found[agrees]
        kept = ~agrees
        open_rows, memory, place, begin = open_rows[kept], memory[kept], place[kept], begin[kept]
        found = before[kept]
    return settled
