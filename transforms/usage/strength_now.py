"""How strong each memory is on a day: the one place where strength is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.usage.params import StrengthParams

# A decayed count is an integer number of 2^-30; at most 7 of them times a weight fit 64 bits.
_ONE = 1 << 30
_HALF = 1 << 29
_MOST = 7 * _ONE
# Half-lives beside the memory's own, and how much of strength, in quarters, rests on each.
_SCALES = ((0.25, 1), (1.0, 2), (4.0, 1))
_QUARTERS = 4
_NEUTRAL_IMPORTANCE = 0.5
_DAY_OFFSET = 1 << 31
FORECAST_DAYS = (7, 30, 90, 180, 365)


@dataclass(frozen=True)
class StrengthEvidence:
    """What strength rests on: the days each memory was referenced or born, sorted by memory and day.

    Per row: `owner` is the place of its memory in `memory`, `weight` what the day counts, in 2^-30, `counts` the
    decayed counts at the end of the day. Per memory (`memory`, sorted): half-life in days, pinned; `kind`: the place of
    its type in `memory_types`.
    """

    memory: Integers
    half_life: Floats
    is_pinned: Booleans
    place: Integers
    owner: Integers
    day: Integers
    weight: Integers
    memory_types: list[str]
    kind: Integers
    counts: tuple[Integers, ...] = ()

    def last_rows(self, owner: Integers, day: Integers) -> Integers:
        """Of each owner (a place in `memory`) the last row up to the end of `day`; -1: there is none."""
        row = np.searchsorted(self.place, _place(owner, day), side="right") - 1
        is_own = (row >= 0) & (self.owner[row] == owner) if len(self.owner) else np.zeros(len(row), dtype=bool)
        return np.where(is_own, row, -1)


def default_half_lives(memory_types: pl.DataFrame, params: StrengthParams) -> pl.DataFrame:
    """`memory_types` (column memory_type, '' is none) with its half_life_days where no log tells."""
    known = params.half_life_days
    half_life = pl.col("memory_type").replace_strict(
        list(known), list(known.values()), default=params.other_half_life_days, return_dtype=pl.Float64
    )
    return memory_types.with_columns(half_life.alias("half_life_days"))


def evidence(
    memories: pl.DataFrame, days: pl.DataFrame, fits: pl.DataFrame, params: StrengthParams
) -> StrengthEvidence:
    """What the strength of `memories` rests on.

    Args:
        memories: memory, memory_type, importance, pinned, created_day.
        days: memory, day, reference_count, broad_count, bulk_count: days with a reference, one row each.
        fits: memory_type, half_life_days: of `strength_fits`.
        params: what a day of broad or bulk references counts.

    A day with any other reference counts one, however many there were, and so does the day of birth.
    """
    known = memories.sort("memory").with_columns(pl.col("memory_type").fill_null(""))
    defaults = default_half_lives(known.select("memory_type").unique(), params)
    half_lives = pl.concat([fits.select("memory_type", "half_life_days"), defaults]).unique(
        "memory_type", keep="first", maintain_order=True
    )
    known = known.join(half_lives, on="memory_type", how="left", maintain_order="left")
    importance = known["importance"].fill_null(_NEUTRAL_IMPORTANCE).to_numpy().astype(np.float64)
    half_life = known["half_life_days"].to_numpy().astype(np.float64) * np.exp2(2 * importance - 1)
    kinds = known["memory_type"].unique().sort()
    memory = known["memory"].to_numpy().astype(np.int64)
    born = known["created_day"].is_not_null().to_numpy()
    is_known = np.isin(days["memory"].to_numpy(), known["memory"].to_numpy())
    referenced = days.filter(pl.Series(is_known))
    owner = np.concatenate(
        [np.flatnonzero(born), np.searchsorted(memory, referenced["memory"].to_numpy().astype(np.int64))]
    )
    day = np.concatenate([known["created_day"].drop_nulls().to_numpy(), referenced["day"].to_numpy()]).astype(np.int64)
    weight = np.concatenate([np.full(born.sum(), _ONE), _day_weights(referenced, params)])
    place = _place(owner, day)
    order = np.argsort(place, kind="stable")
    place = place[order]
    starts = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]])[: len(place)])
    bare = StrengthEvidence(
        memory=memory,
        half_life=half_life,
        is_pinned=known["pinned"].to_numpy().astype(np.bool_),
        place=place[starts],
        owner=owner[order][starts],
        day=day[order][starts],
        weight=np.maximum.reduceat(weight[order], starts) if len(starts) else weight,
        memory_types=kinds.to_list(),
        kind=known["memory_type"].cast(pl.Enum(kinds)).to_physical().to_numpy().astype(np.int64),
    )
    return replace(bare, counts=_counts(bare))


def _day_weights(days: pl.DataFrame, params: StrengthParams) -> Integers:
    """What each day of references counts, in 2^-30."""
    broad, bulk = days["broad_count"].to_numpy(), days["bulk_count"].to_numpy()
    others = days["reference_count"].to_numpy() - broad - bulk
    of_many = np.where(broad > 0, round(params.broad_weight * _ONE), round(params.bulk_weight * _ONE))
    return np.where(others > 0, _ONE, of_many).astype(np.int64)


def strength_on(known: StrengthEvidence, row: Integers, day: Integers) -> Floats:
    """Strength 0-1 at the end of `day`, when each memory's last evidence was `row`; a pinned one's is 1.

    Evidence (its birth, and every day it was referenced) fades with three half-lives, a quarter, one
    and four times the memory's own; of what fades with each at most 7 pieces are kept, so that the most used memory is
    delayed by less than three half-lives. Strength is the weighted mean (1/4, 1/2, 1/4) of the three decayed counts,
    each taken as 1 where more is left.
    """
    owner = known.owner[row]
    idle = np.maximum(day - known.day[row], 0)
    total = np.zeros(len(row), dtype=np.int64)
    for (factor, quarters), counts in zip(_SCALES, known.counts, strict=True):
        left = _decay_counts(counts[row], idle, known.half_life[owner] * factor)
        total += quarters * np.minimum(left, _ONE)
    return np.where(known.is_pinned[owner], 1.0, total / (_QUARTERS * _ONE))


def strengths(
    memories: pl.DataFrame, days: pl.DataFrame, fits: pl.DataFrame, queries: pl.DataFrame, params: StrengthParams
) -> pl.DataFrame:
    """Strength of memories at the end of the days asked for: no evidence of later days is looked at.

    Args:
        memories: memory, memory_type, importance, pinned, created_day; as they stand.
        days: memory, day, reference_count, broad_count, bulk_count: days with a reference, one row each.
        fits: memory_type, half_life_days: of `strength_fits`; other types have their default.
        queries: memory, day.
        params: bands.

    Returns memory, day, half_life_days (of that memory: twice as long at importance 1 as at .5, half as long at 0;
    NULL importance counts as .5), strength (0-1; NULL: neither born nor referenced by then) and
    strength_state (strong, normal, weak, forgettable), sorted by memory and day.
    """
    return strengths_of(evidence(memories, days, fits, params), queries, params)


def strengths_of(known: StrengthEvidence, queries: pl.DataFrame, params: StrengthParams) -> pl.DataFrame:
    """`strengths` of evidence prepared before."""
    place = _place(queries["memory"].to_numpy().astype(np.int64), queries["day"].to_numpy().astype(np.int64))
    queries = queries.select("memory", "day")[np.argsort(place, kind="stable")]
    owner = np.searchsorted(known.memory, queries["memory"].to_numpy().astype(np.int64)).astype(np.int64)
    day = queries["day"].to_numpy().astype(np.int64)
    row = known.last_rows(owner, day)
    told = np.flatnonzero(row >= 0)
    strength = np.full(len(row), np.nan)
    strength[told] = strength_on(known, row[told], day[told])
    return queries.with_columns(
        pl.Series("half_life_days", known.half_life[owner]), pl.Series("strength", strength).fill_nan(None)
    ).with_columns(strength_state(pl.col("strength"), params).alias("strength_state"))


def strength_forecast(known: StrengthEvidence, queries: pl.DataFrame, params: StrengthParams) -> pl.DataFrame:
    """`queries` (memory, day) with strength_forecast: strength `FORECAST_DAYS` later if nothing refers to it till then.

    Sorted by memory and day. NULL: no strength on the day itself. Evidence later than the day must not be known.
    """
    told = strengths_of(known, queries, params).select("memory", "day", "strength")
    later = [
        strengths_of(known, told.with_columns(pl.col("day") + days), params)["strength"].alias(str(days))
        for days in FORECAST_DAYS
    ]
    forecast = pl.DataFrame(later).select(pl.concat_list(pl.all())).to_series().alias("strength_forecast")
    return told.with_columns(pl.when(pl.col("strength").is_not_null()).then(forecast)).select(
        "memory", "day", "strength_forecast"
    )


def strength_state(strength: pl.Expr, params: StrengthParams) -> pl.Expr:
    """The band of a strength; NULL without one."""
    return (
        pl.when(strength < params.forgettable_below)
        .then(pl.lit("forgettable"))
        .when(strength < params.normal_from)
        .then(pl.lit("weak"))
        .when(strength <= params.strong_above)
        .then(pl.lit("normal"))
        .when(strength.is_not_null())
        .then(pl.lit("strong"))
    )


def _place(owner: Integers, day: Integers) -> Integers:
    """Owner and day in one number that sorts like the pair."""
    return (owner << 32) + (day + _DAY_OFFSET)


def _decay_counts(count: Integers, age_days: Integers, half_life_days: Floats) -> Integers:
    """What is left of `count`, in 2^-30; the rounded weight makes it the same wherever it is computed."""
    weight = np.rint(np.exp2(-age_days / half_life_days) * _ONE).astype(np.int64)
    return (count * weight + _HALF) >> 30


def _counts(known: StrengthEvidence) -> tuple[Integers, ...]:
    """Per scale the decayed count at the end of each row's day, itself counted."""
    steps = _steps(known.owner)
    gap = np.zeros(len(known.day), dtype=np.int64)
    gap[1:] = np.maximum(known.day[1:] - known.day[:-1], 0)  # where the owner changes it is not used
    found = []
    for factor, _ in _SCALES:
        fade = _decay_counts(np.full(len(gap), _ONE), gap, known.half_life[known.owner] * factor)
        count = known.weight.copy()
        for row in steps:
            left = (count[row - 1] * fade[row] + _HALF) >> 30
            count[row] = np.minimum(left + count[row], _MOST)
        found.append(count)
    return tuple(found)


def _steps(owner: Integers) -> list[Integers]:
    """The second rows of all owners, their third, ...: a step takes one row of each owner at once."""
    index = np.arange(len(owner))
    is_first = np.ones(len(owner), dtype=np.bool_)
    is_first[1:] = owner[1:] != owner[:-1]
    place = index - np.maximum.accumulate(np.where(is_first, index, 0))
    if place.max(initial=0) < 1 << 16:
        place = place.astype(np.uint16)  # sorted in linear time
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(1, int(place.max(initial=0)) + 2))
    return [order[start:end] for start, end in pairwise(starts)]
