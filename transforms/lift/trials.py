"""Interactions with a known end, the memories they had, and how they were expected to end without a memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.core.vocabularies import STRATEGY_KEY
from slowwave.transforms.lift.params import MemoryOutcomeParams

_CELL = (*STRATEGY_KEY[:3], "task")
_ROWS_AT_ONCE = 500_000  # of memories, of which a row takes some hundreds of bytes while it is counted
_COMPILED_ROWS = 20_000  # from so many on the compiled loop is worth loading
_LEVELS = ("everything", "of_project", "of_agent", "of_task_type", "of_task")


def trials(interactions: pl.DataFrame, attempts: pl.DataFrame, *, by_user: bool = False) -> pl.DataFrame:
    """One row per interaction with an attempted outcome (the latest counts) and per attempt without an interaction.

    Columns: trial (row number), interaction (its number), block (a number that tells sessions apart and has no meaning
    of its own), at (start of the interaction, else of the attempt), at_moment and known_moment (dense ranks, on one
    scale, of at and of when the outcome was known), success (0 or 1), and a number per comparable group, each inside
    the one before and all below the number of rows + 1: everything (0), of_project, of_agent, of_task_type, of_task
    (NULL where no task is named). Sorted by these groups and outcome_id.
    `by_user`: only what is of one `user_id` of `interactions` is comparable.
    """
    of_user = ["user_id"] if by_user else []
    names = [*of_user, *_CELL]
    if not attempts["outcome_id"].is_sorted():
        attempts = attempts.sort("outcome_id")
    started = interactions.select("interaction_id", "interaction", pl.col("occurred_at").alias("started_at"), *of_user)
    begun = attempts.select("interaction_id").join(started, on="interaction_id", how="left", maintain_order="left")
    is_named_task = ~is_blank(pl.col("task"))
    named = attempts.select(*_CELL[:-1], pl.when(is_named_task).then("task").alias("task"))
    named = named.with_columns(begun[name] for name in of_user)
    tried = named.unique().with_row_index("place")
    place = named.lazy().join(tried.lazy(), on=names, how="left", nulls_equal=True, maintain_order="left")
    # numbers in the order of texts: what is sorted and joined again and again are these
    numbered = begun.drop(of_user).with_columns(
        place.select("place").collect().to_series(),
        attempts["block"].cast(pl.Categorical).to_physical(),
        *attempts.select("created_at", "known_at", "success"),
        nth=pl.int_range(pl.len(), dtype=pl.UInt32),
    )
    is_landed = pl.col("interaction").is_not_null()
    is_named = pl.col("interaction_id").is_not_null()
    ended = [
        _latest(numbered.filter(is_landed), "interaction"),
        _latest(numbered.filter(~is_landed & is_named), "interaction_id"),
        numbered.filter(~is_named),
    ]
    rows = pl.concat(ended).select(
        "interaction",
        "block",
        pl.coalesce("started_at", "created_at").alias("at"),
        "known_at",
        "success",
        "nth",
        "place",
    )
    groups = [
        pl.any_horizontal([pl.col(name).ne_missing(pl.col(name).shift()) for name in names[:depth]])
        .cum_sum()
        .cast(pl.Int64)
        .alias(level)
        for depth, level in enumerate(_LEVELS[1:], start=1 + len(of_user))
    ]
    cells = tried.filter(pl.col("place").is_in(rows["place"].unique().implode())).sort(names).with_columns(groups)
    cells = cells.with_row_index("cell").select(
        "place",
        "cell",
        *_LEVELS[1:-1],
        pl.when(pl.col("task").is_not_null()).then(_LEVELS[-1]).alias(_LEVELS[-1]),
    )
    # one number is sorted in half the time that two take
    rows = rows.join(cells, on="place", how="left").sort(
        pl.col("cell").cast(pl.Int64) * attempts.height + pl.col("nth")
    )
    moments = pl.concat([rows["at"], rows["known_at"].rename("at")]).rank("dense").cast(pl.Int64)
    return (
        rows.with_columns(pl.lit(0, dtype=pl.Int64).alias("everything"))
        .with_columns(
            moments.head(rows.height).alias("at_moment"),
            moments.tail(rows.height).alias("known_moment"),
            pl.int_range(pl.len(), dtype=pl.Int64).alias("trial"),
        )
        .select(
            "trial",
            "interaction",
            "block",
            "at",
            "at_moment",
            "known_moment",
            pl.col("success").cast(pl.Int64),
            *_LEVELS,
        )
    )


def _latest(rows: pl.DataFrame, of: str) -> pl.DataFrame:
    """The latest row of each value of a column; of some at one time the last one."""
    if rows[of].n_unique() == rows.height:
        return rows
    return rows.sort("created_at", maintain_order=True).unique(of, keep="last", maintain_order=True)


def memory_numbers(references: pl.DataFrame, offers: pl.DataFrame) -> pl.DataFrame:
    """A number per memory that was referenced or offered: memory_id, memory; sorted."""
    names = offers.select(pl.col("memories_offered").explode().struct.field("id").alias("memory_id"))
    return (
        pl.concat([references.select("memory_id"), names])
        .drop_nulls()
        .unique()
        .sort("memory_id")
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("memory"))
    )


def trials_with_memory(references: pl.DataFrame, known: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """The trials that had a memory, injected or found in the answer, sorted by memory and trial.

    Columns: memory_id, is_injected, is_referenced, those of `known` (see `trials`) and `memory`, its number in
    `numbers` (memory_id, memory).
    """
    rows = (
        references.filter(pl.col("is_injected") | pl.col("is_referenced"))
        .join(known.select("interaction", "trial"), on="interaction")
        .join(numbers, on="memory_id")
        .select("memory_id", "interaction", "is_injected", "is_referenced", "trial", "memory")
        .sort(pl.col("memory") * known.height + pl.col("trial"))
    )
    return _of_trials(rows, known.drop("interaction"))


def _of_trials(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """`rows` with what is known of their trial, which is its row."""
    return pl.concat([rows, known.drop("trial")[rows["trial"]]], how="horizontal")


def trials_offering_memory(
    offers: pl.DataFrame, known: pl.DataFrame, having: pl.DataFrame, numbers: pl.DataFrame
) -> pl.DataFrame:
    """The trials that were offered a memory, sorted by trial and memory.

    Columns: memory_id, score (of its first place in the list), is_injected, injection_probability, those of
    `known` (see `trials`) and `memory`, its number in `numbers`.
    """
    place = (pl.col("trial") * numbers.height + pl.col("memory")).alias("place")
    places = (
        offers.select("interaction", "injection_probability", "memories_offered")
        .join(known.select("interaction", "trial"), on="interaction")
        .drop("interaction")
        .explode("memories_offered")
        .unnest("memories_offered")
        .rename({"id": "memory_id"})
        .join(numbers, on="memory_id")
        .with_columns(place)
    )
    if places["place"].n_unique() < places.height:  # seldom: to sort by all of these takes long
        places = places.sort("rank", "score", descending=[False, True], nulls_last=True)
        places = places.unique("place", keep="first", maintain_order=True)
    injected = having.filter("is_injected").select(place)["place"]
    is_injected = pl.col("place").is_in(injected.implode()).alias("is_injected")
    places = places.sort("place").with_columns(is_injected).drop("place", "rank")
    return _of_trials(places, known.drop("interaction", "at", "known_moment"))


@dataclass(frozen=True)
class Moments:
    """Rows of an owner and a group (-1: of none) at a moment, all small numbers; or a row of groups for each level."""

    owner: Integers
    group: Integers
    moment: Integers


def counts_before(events: Moments, successes: Integers, queries: Moments) -> tuple[Integers, Integers]:
    """How many `events` of the query's owner and group lie strictly before its moment, and successes among them.

    No group: none. In the order of `queries`; of several levels a row each.
    """
    groups, asked = (np.require(np.atleast_2d(of.group), np.int64, ["C", "W"]) for of in (events, queries))
    n, succeeded = np.zeros(asked.shape, np.int64), np.zeros(asked.shape, np.int64)
    pairs = ((events.owner, queries.owner), (groups, asked), (events.moment, queries.moment))
    sizes = np.array([1 + max(int(each.max(initial=0)) for each in pair) for pair in pairs], np.int64)
    loops = kernel("lift.counts_kernel") if groups.size + asked.size >= _COMPILED_ROWS else None
    if loops is not None:
        owner, moment, won, asking, asked_at = (
            np.require(of, np.int64, ["C", "W"])
            for of in (events.owner, events.moment, successes, queries.owner, queries.moment)
        )
        loops.counts_before(owner, groups, moment, won, asking, asked, asked_at, sizes, n, succeeded)
    else:
        for level in range(len(groups)):
            own, own_asked = (
                np.where(group < 0, -1, of.owner * sizes[1] + group)
                for of, group in ((events, groups[level]), (queries, asked[level]))
            )
            n[level], succeeded[level] = _counts_before(
                own, events.moment, successes, own_asked, queries.moment, int(sizes[2])
            )
    return n.reshape(queries.group.shape), succeeded.reshape(queries.group.shape)


def _counts_before(
    group: Integers, moment: Integers, successes: Integers, asked: Integers, asked_at: Integers, moments: int
) -> tuple[Integers, Integers]:
    keys = group * moments + moment
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    counted = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(successes[order])])
    first = asked * moments
    start = np.searchsorted(keys, first)
    end = np.maximum(np.searchsorted(keys, first + asked_at), start)
    in_group = asked >= 0
    return np.where(in_group, end - start, 0), np.where(in_group, counted[end] - counted[start], 0)


def known_before(known: pl.DataFrame) -> tuple[Integers, Integers]:
    """How many trials of each level were known before each of `known` (see `trials`) began, and their successes."""
    levels = _levels(known)
    at, known_at = (known[name].to_numpy() for name in ("at_moment", "known_moment"))
    nobody = np.zeros(known.height, np.int64)
    events, queries = Moments(nobody, levels, known_at), Moments(nobody, levels, at)
    return counts_before(events, known["success"].to_numpy(), queries)


def expected_success(
    queries: pl.DataFrame,
    before: tuple[Integers, Integers],
    having: pl.DataFrame | None,
    params: MemoryOutcomeParams,
) -> pl.DataFrame:
    """Forecast of each query's trial, made before it began: expected (success), history; in the order of `queries`.

    Rates of trials known earlier, each level shrunk towards the one above with weight `expected_strength` (the
    Beta-binomial posterior mean): everything (Laplace's rule), project, agent, task type, task. With `having` (see
    `trials_with_memory`) trials that had the query's `memory` are left out. What is between memory and outcome, such as
    the strategy, is not conditioned on. `history` counts the trials the forecast stands on; at 0 it is no more than .5.

    `queries` holds columns of `trials` and, with `having`, `memory`; `before` is `known_before` of all trials.
    """
    rows = queries["trial"].to_numpy()
    expected = np.full(len(rows), 0.5)
    history = np.zeros(len(rows), dtype=np.int64)
    for part, own in _own_before(queries, having):
        told = expected[part]
        for number, level in enumerate(_LEVELS):
            n, successes = (of[number][rows[part]] for of in before)
            if own is not None:
                n, successes = n - own[0][number], successes - own[1][number]
            strength = params.expected_strength
            if level == "everything":
                history[part], strength = n, 2.0
            told = (successes + strength * told) / (n + strength)
        expected[part] = told
    return pl.DataFrame({"expected": expected, "history": history})


def _levels(rows: pl.DataFrame) -> Integers:
    """The groups of rows, a row per level; -1: none."""
    return np.stack([rows[level].fill_null(-1).to_numpy() for level in _LEVELS])


def _own_before(
    queries: pl.DataFrame, having: pl.DataFrame | None
) -> Iterator[tuple[slice | Integers, tuple[Integers, Integers] | None]]:
    """Of what was known before each of `queries`, by level, the trials that had its memory, and their successes.

    In parts, with which of the queries these are: of a memory all, and as many memories as have `_ROWS_AT_ONCE` rows.
    Without `having` nothing.
    """
    if having is None or queries.height + having.height <= _ROWS_AT_ONCE:
        yield slice(None), None if having is None else _own_before_at_once(queries, having)
        return
    owner, asking = having["memory"].to_numpy(), queries["memory"].to_numpy()
    rows = np.bincount(np.concatenate([owner, asking]))
    part = (np.cumsum(rows) - rows) // _ROWS_AT_ONCE  # of each memory
    for nth in np.unique(part[rows > 0]):
        own = having.filter(pl.Series(part[owner] == nth))
        chosen = np.flatnonzero(part[asking] == nth)
        asked = own if queries is having else queries[chosen]
        yield chosen, _own_before_at_once(asked, own)


def _own_before_at_once(queries: pl.DataFrame, having: pl.DataFrame) -> tuple[Integers, Integers]:
    events = Moments(having["memory"].to_numpy(), _levels(having), having["known_moment"].to_numpy())
    at = queries["at_moment"].to_numpy()
    asked = (events.owner, events.group) if queries is having else (queries["memory"].to_numpy(), _levels(queries))
    return counts_before(events, having["success"].to_numpy(), Moments(*asked, at))
