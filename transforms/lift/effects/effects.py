"""Whether memories help: the difference in success with and without them, and what it may be called."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import polars as pl

from slowwave.transforms.core.frames import Frame, computed_schema, selected
from slowwave.transforms.core.statistics import student_t_quantile
from slowwave.transforms.lift.contrast import joint_memories
from slowwave.transforms.lift.effects.adaptive_shrinkage import draw_together
from slowwave.transforms.lift.effects.stratified import SCALE, count_cells, differences, differences_from_all
from slowwave.transforms.lift.effects.tables import Effects
from slowwave.transforms.lift.params import EffectParams, MemoryOutcomeParams
from slowwave.transforms.lift.trials import (
    expected_success,
    known_before,
    memory_numbers,
    trials_offering_memory,
    trials_with_memory,
)

_POWER = 0.8
_WEEK = 7
_PERCENT = 100
_MOST_EVIDENCE = 600.0  # a logarithm whose number is finite


_COMPARISONS = ("injected or left out", "with or without")
_BASES = ("randomised", "within task")
# What is told of all memories where nothing can be compared.
_NOTHING = pl.DataFrame(
    [
        dict(zip(Effects.key, ("all", "", "success", each), strict=True)) | {"basis": "none", "claim": "cannot be told"}
        for each in _COMPARISONS
    ],
    schema=computed_schema(Effects),
).with_columns(pl.col(pl.Int64).fill_null(0))


class ComparingParams(Protocol):
    """What a memory's outcomes are compared by, and when an effect is claimed."""

    @property
    def memory_outcomes(self) -> MemoryOutcomeParams:
        """Bounds, masses and weights."""
        ...

    @property
    def effects(self) -> EffectParams:
        """When an effect is claimed."""
        ...


@dataclass(frozen=True)
class _Rows:
    """What is compared: trials by what they can be compared within, which had a memory, which were offered one.

    `trials`: trial, interaction, block, project, value, within (number of task and week). `having`: memory, trial.
    `drawn`: memory, trial, is_treated, chance (in percent), is_joint, of offers in which chance decided.
    """

    trials: pl.DataFrame
    having: pl.DataFrame
    drawn: pl.DataFrame
    numbers: pl.DataFrame


def effects(
    references: pl.DataFrame,
    offers: pl.DataFrame,
    interactions: pl.DataFrame,
    known: pl.DataFrame,
    of_users: pl.DataFrame,
    owners: pl.DataFrame,
    params: ComparingParams,
) -> Frame[Effects]:
    """Return the effect of memories on success: of all, by project and by memory; sorted by key.

    Args:
        references: memory_id, interaction, is_injected, is_referenced.
        offers: of `attempted_trials`, like `known` and `of_users`.
        interactions: interaction, project.
        known: see there.
        of_users: see there.
        owners: memory_id, only_user, of memories that are eligible in one user's interactions only: these are compared
            with that user's interactions alone.
        params: bounds.

    Where chance decided which offered memories were injected, those with it are compared with those that were offered
    it and not given it, at equal chance. All others are compared with interactions of the same task (else kind of task)
    and week: an association. Of each interaction counts success less the forecast made before it began.
    """
    if known["interaction"].null_count() == known.height:
        return selected(Effects, _NOTHING)
    rows = _rows_of(references, offers, interactions, known, params)
    own = None
    if not owners.is_empty():
        is_owned = pl.col("memory_id").is_in(owners["memory_id"].implode())
        theirs = offers.join(owners, left_on="user_id", right_on="only_user", how="semi")
        own = _rows_of(references.filter(is_owned), theirs, interactions, of_users, params)
    parts = [*_of_many(rows), *_of_memories(rows, owners, is_owned=False)]
    if own is not None:
        parts += _of_memories(own, owners, is_owned=True)
    found = _with_claims(pl.concat(parts), params)
    lacking = _NOTHING.join(found, on=Effects.key, how="anti")
    return selected(Effects, pl.concat([found, lacking], how="diagonal").sort(Effects.key))


def _rows_of(
    references: pl.DataFrame,
    offers: pl.DataFrame,
    interactions: pl.DataFrame,
    known: pl.DataFrame,
    params: ComparingParams,
) -> _Rows:
    forecast = expected_success(known, known_before(known), None, params.memory_outcomes)["expected"]
    value = ((known["success"] - forecast) * SCALE).round().cast(pl.Int64)
    week = known["at"].dt.epoch("d") // _WEEK
    task = pl.coalesce(pl.col("of_task") * 2, pl.col("of_task_type") * 2 + 1)
    numbered = known.with_columns(value.alias("value"), week.alias("week"), task.alias("of"))
    trials = numbered.join(interactions.select("interaction", "project"), on="interaction").select(
        *("trial", "interaction", "block", "project", "value"),
        pl.struct("of", "week").rank("dense").cast(pl.Int64).alias("within"),
    )
    injected = references.filter("is_injected")
    numbers = memory_numbers(injected, offers)
    having = trials_with_memory(injected, known, numbers)
    places = trials_offering_memory(offers, known, having, numbers)
    probability, least = pl.col("injection_probability"), params.memory_outcomes.min_propensity
    drawn = places.filter(probability.is_between(least, 1 - least))
    apart = drawn.join(joint_memories(drawn), on="memory", maintain_order="left").select(
        *("memory", "trial", "is_joint"),
        pl.col("is_injected").alias("is_treated"),
        (probability * _PERCENT).round().cast(pl.Int64).alias("chance"),
    )
    return _Rows(trials, having.select("memory", "trial"), apart, numbers)


def _of_many(rows: _Rows) -> list[pl.DataFrame]:
    """Effects of all memories together and of those of each project."""
    projects = rows.trials["project"].unique().sort()
    trials = rows.trials.with_columns(projects.search_sorted(rows.trials["project"]).cast(pl.Int64).alias("of_project"))
    scopes = pl.DataFrame(
        {
            "key": range(-1, len(projects)),
            "scope": ["all", *["project"] * len(projects)],
            "scope_id": ["", *projects],
        },
        schema={"key": pl.Int64, "scope": pl.String, "scope_id": pl.String},
    )
    keyed = [trials.with_columns(key=pl.lit(-1, pl.Int64)), trials.with_columns(key="of_project")]
    had = rows.having.select("trial").unique().with_columns(is_treated=True)
    with_any = [
        each.lazy()
        .join(had.lazy(), on="trial", how="left")
        .select("key", "block", "value", pl.col("is_treated").fill_null(value=False), stratum="within")
        for each in keyed
    ]
    drawn = [
        rows.drawn.lazy()
        .join(each.lazy().select("trial", "key", "block", "value"), on="trial")
        .select("key", "block", "value", "is_treated", stratum="chance")
        for each in keyed
    ]
    found = [pl.concat([differences(count_cells(part)) for part in each]) for each in (drawn, with_any)]
    return [_named(scopes, each, place) for place, each in enumerate(found)]


def _of_memories(rows: _Rows, owners: pl.DataFrame, *, is_owned: bool) -> list[pl.DataFrame]:
    """Effects of each memory, of one user or not."""
    mine = rows.numbers.join(owners, on="memory_id", how="semi" if is_owned else "anti")
    names = mine.select(
        pl.col("memory").alias("key"), pl.lit("memory").alias("scope"), pl.col("memory_id").alias("scope_id")
    )
    values = rows.trials.lazy().select("trial", "block", "value", stratum="within")
    chosen = mine.lazy().select("memory")
    treated = (
        rows.having.lazy()
        .join(chosen, on="memory", how="semi")
        .join(values, on="trial")
        .select("block", "value", "stratum", key="memory", is_treated=pl.lit(True))
    )
    everyone = values.select("block", "value", "stratum", key=pl.lit(0, pl.Int64), is_treated=pl.lit(False))
    drawn = (
        rows.drawn.lazy()
        .filter(~pl.col("is_joint"))
        .join(chosen, on="memory", how="semi")
        .join(values.drop("stratum"), on="trial")
        .select("block", "value", "is_treated", key="memory", stratum="chance")
    )
    among_all = differences_from_all(count_cells(treated), count_cells(everyone))
    return [_named(names, each, place) for place, each in enumerate((differences(count_cells(drawn)), among_all))]


def _named(names: pl.DataFrame, found: pl.DataFrame, place: int) -> pl.DataFrame:
    return names.join(found, on="key").select(
        "scope",
        "scope_id",
        pl.lit("success").alias("outcome"),
        pl.lit(_COMPARISONS[place]).alias("comparison"),
        pl.lit(_BASES[place]).alias("basis"),
        *(name for name in found.columns if name != "key"),
    )


def _with_claims(found: pl.DataFrame, params: ComparingParams) -> pl.DataFrame:
    """The columns of effects, of `DIFFERENCES` of some comparisons.

    The interval is that of the own estimate: it holds the truth as often for the few memories that matter as for the
    many that do not, which one of the drawn estimate would not. It is right at one look. A claim is right at each: its
    e-value is a mixture of likelihood ratios (Robbins 1970; Waudby-Smith et al. 2024), which ever passes 1 / a with a
    chance of at most a.
    """
    told, claims = params.memory_outcomes, params.effects
    sessions, upper = pl.col("least_sessions"), (1 + told.interval_mass) / 2
    reach = pl.col("standard_error") * student_t_quantile(upper, (sessions - 1).cast(pl.Float64))
    limits = (
        found.with_columns(pl.min_horizontal("with_sessions", "without_sessions").alias("least_sessions"))
        .filter((sessions >= told.min_sessions) & (pl.col("standard_error") > 0))
        # as uncertain as Student's t has it, of a normal distribution
        .with_columns(reach.alias("reach"), (reach / NormalDist().inv_cdf(upper)).alias("error"))
        .rename({"estimate": "own_estimate"})
        .sort(Effects.key)
    )
    drawn = [
        part.with_columns(
            estimate=draw_together(part["own_estimate"].to_numpy(), part["error"].to_numpy())
            if part["scope"][0] == "memory"
            else part["own_estimate"]
        )
        for part in limits.partition_by("scope", "comparison", maintain_order=True)
    ]
    own, estimate, is_random = pl.col("own_estimate"), pl.col("estimate"), pl.col("basis") == "randomised"
    ratio = (claims.effect_spread / pl.col("error")).pow(2)
    evidence = 0.5 * (own / pl.col("error")).pow(2) * ratio / (1 + ratio) - 0.5 * (1 + ratio).log()
    is_sure = (pl.col("e_value") >= 1 / claims.false_claims) & (sessions >= claims.min_claim_sessions)
    direction = pl.when(own > 0).then(pl.lit("helps")).otherwise(pl.lit("harms"))
    power = NormalDist().inv_cdf(_POWER) * pl.col("error")
    rows = pl.concat([limits.clear().with_columns(estimate=own), *drawn]).with_columns(
        pl.max_horizontal(pl.min_horizontal(own - pl.col("reach"), estimate), -1.0).alias("low"),
        pl.min_horizontal(pl.max_horizontal(own + pl.col("reach"), estimate), 1.0).alias("high"),
        pl.min_horizontal(pl.col("reach") + power, 1.0).alias("detectable"),
        pl.when(is_random).then(evidence.clip(upper_bound=_MOST_EVIDENCE).exp()).alias("e_value"),
    )
    claim = pl.when(is_sure).then(direction).otherwise(pl.lit("cannot be told"))
    return rows.with_columns(pl.when(is_random).then(claim).otherwise(pl.lit("associated")).alias("claim"))
