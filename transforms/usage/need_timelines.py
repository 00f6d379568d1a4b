"""The references of active memories and the activity of their scopes, as arrays sorted by key."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Booleans, Floats, Integers

# Later than any day: of a memory that was never referenced.
NEVER = 2**31 - 1
_FULL = 32.0


@dataclass(frozen=True)
class NeedEvidence:
    """Memories by place (sorted by number), scopes by place (sorted by number), days since 1970.

    Per memory: number, scope, created, first (first day with a reference, `NEVER` if none). Per memory and day with a
    reference: memory, day, references, narrow (references by interactions that referenced few memories), broad, bulk.
    Per scope and day with an interaction: active_scope, active_day.
    """

    scopes: Integers
    number: Integers
    scope: Integers
    created: Integers
    first: Integers
    memory: Integers
    day: Integers
    references: Integers
    narrow: Booleans
    broad: Integers
    bulk: Integers
    active_scope: Integers
    active_day: Integers

    def day_weights(self, weights: tuple[int, int]) -> Floats:
        """What each day with a reference counts: 1, or less if all its references were broad or bulk, in 32nds."""
        wide = self.broad * weights[0] + self.bulk * weights[1]
        return np.where(self.narrow, 1.0, np.minimum(wide, _FULL) / _FULL)

    def of_memories(self, places: Integers) -> NeedEvidence:
        """Only some memories, given by ascending places; scopes and their activity stay whole."""
        start = np.searchsorted(self.memory, places, side="left")
        lengths = np.searchsorted(self.memory, places, side="right") - start
        offsets = np.cumsum(lengths) - lengths
        rows = np.repeat(start - offsets, lengths) + np.arange(lengths.sum())
        return replace(
            self,
            number=self.number[places],
            scope=self.scope[places],
            created=self.created[places],
            first=self.first[places],
            memory=np.repeat(np.arange(len(places)), lengths),
            day=self.day[rows],
            references=self.references[rows],
            narrow=self.narrow[rows],
            broad=self.broad[rows],
            bulk=self.bulk[rows],
        )

    def without_silence(self, today: int, silence_days: int) -> NeedEvidence:
        """The same as if no scope had ever been silent for longer than `silence_days`: older days move nearer."""
        later = np.append(self.active_day[1:], today)
        is_last = np.append(
            self.active_scope[1:] != self.active_scope[:-1], np.ones(min(1, len(self.active_day)), bool)
        )
        gap = np.where(is_last, today, later[: len(is_last)]) - self.active_day
        left_out = np.maximum(gap - silence_days, 0)
        # whatever is left out from an active day on, to the end of its scope
        after = np.append(np.cumsum(left_out[::-1])[::-1], 0)
        starts = np.searchsorted(self.active_scope, np.arange(len(self.scopes)), side="left")
        ends = np.searchsorted(self.active_scope, np.arange(len(self.scopes)), side="right")
        key = _key(self.active_scope, self.active_day)
        nearer = np.append(self.active_day, 0) + after

        def shift_days(scope: Integers, day: Integers) -> Integers:
            # of a memory that was elsewhere before, a day may lie within a silence: it stays behind the day before it
            last = np.searchsorted(key, _key(scope, day), side="right") - 1
            since = np.minimum(day - np.append(self.active_day, 0)[last], silence_days)
            at = np.where(last >= starts[scope], nearer[last] + since, day + after[starts[scope]])
            return at - after[ends[scope]]

        day = shift_days(self.scope[self.memory], self.day)
        first = self.first.copy()
        first[self.memory[::-1]] = day[::-1]
        return replace(
            self,
            created=shift_days(self.scope, self.created),
            first=first,
            day=day,
            active_day=shift_days(self.active_scope, self.active_day),
        )


def _key(scope: Integers, day: Integers) -> Integers:
    return scope * 2**32 + day


def need_evidence(memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, today: int) -> NeedEvidence:
    """What was known of the active memories at the start of the day `today`.

    Args:
        memories: memory, scope, status, created_day; those that are not active are left out.
        days: memory, day, reference_count, broad_count, bulk_count.
        scope_days: scope, day.
        today: days since 1970; evidence of this day and after it is left out.
    """
    active = (
        memories.filter(pl.col("status") == "active", pl.col("created_day").is_not_null())
        .sort("memory")
        .select(pl.col("memory", "scope", "created_day").cast(pl.Int64))
    )
    number = active["memory"].to_numpy()
    known = (
        days.filter(pl.col("day") < today, pl.col("reference_count") > 0)
        .select(pl.all().cast(pl.Int64))
        .join(active.select("memory"), on="memory", how="semi")
        .sort("memory", "day")
    )
    memory = np.searchsorted(number, known["memory"].to_numpy())
    day = known["day"].to_numpy()
    first = np.full(len(number), NEVER, dtype=np.int64)
    first[memory[::-1]] = day[::-1]
    scopes = active["scope"].unique().sort().to_numpy()
    activity = (
        scope_days.filter(pl.col("day") < today)
        .select(pl.col("scope", "day").cast(pl.Int64))
        .join(active.select("scope").unique(), on="scope", how="semi")
        .sort("scope", "day")
    )
    references, broad, bulk = (known[name].to_numpy() for name in ("reference_count", "broad_count", "bulk_count"))
    return NeedEvidence(
        scopes=scopes,
        number=number,
        scope=np.searchsorted(scopes, active["scope"].to_numpy()),
        created=active["created_day"].to_numpy(),
        first=first,
        memory=memory,
        day=day,
        references=references,
        narrow=references > broad + bulk,
        broad=broad,
        bulk=bulk,
        active_scope=np.searchsorted(scopes, activity["scope"].to_numpy()),
        active_day=activity["day"].to_numpy(),
    )
