"""What each memory does to success, as far as the log can tell."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.statistics import benjamini_hochberg
from slowwave.transforms.core.vocabularies import CAUSAL_BASES, LIFT_BASES
from slowwave.transforms.lift.contrast import randomised_estimates
from slowwave.transforms.lift.cutoff import cutoff, cutoff_places
from slowwave.transforms.lift.matched import Others, matched_estimates, pseudo_treated
from slowwave.transforms.lift.params import MemoryOutcomeParams
from slowwave.transforms.lift.same_task import same_task
from slowwave.transforms.lift.shrinkage import calibrate_lifts, detectable, half_width, shrunk
from slowwave.transforms.lift.trials import expected_success

_STATED = pl.Schema(
    {
        **dict.fromkeys(["memory", "basis"], pl.Int64),
        **dict.fromkeys(["estimate", "standard_error", "degrees"], pl.Float64),
        "state": pl.String,
    }
)
_NOTES = {
    "shown": None,
    "joint": "withheld: memories offered together were always injected together or not at all, so that none can be "
    "told apart: draw for each memory by itself",
    "few": "too few sessions with or without it: wait for more",
    "ranked": "withheld: which memories are injected does not follow a fixed score (memories_offered without scores, "
    "or the best few are taken), so that cases near the cut differ in more than injection: leave out offered memories "
    "at random now and then and log injection_probability to know",
    "apart": "withheld: too few sessions in which it scored just below or just above the injection threshold: log all "
    "memories_offered with their scores, or leave some out at random and log injection_probability",
    "failed": "withheld: the same comparison also finds a difference where this memory cannot have made one, so that "
    "something else, such as harder cases, is behind it: log injection_probability to know",
    "missing": "withheld: the comparison could not be checked, as too few cases are known in which this memory cannot "
    "have mattered (such as from before it existed): leave out offered memories at random now and then and log "
    "injection_probability to know",
}
# Of trials with a memory what is compared, and of those that were offered one: these frames are held for long.
COMPARED = ("memory", "trial", "block", "at", "of_task_type", "of_task", "success", "expected")
OFFERED = (
    *("memory_id", "memory", "trial", "block", "of_project", "score", "is_injected", "injection_probability"),
    *("success", "expected"),
)
_NOTHING = (
    "no comparable interactions with and without it: log memories_offered, leave some out at random now and then, and "
    "log injection_probability"
)


def memory_lift(
    places: pl.DataFrame,
    memories: pl.DataFrame,
    known: pl.DataFrame,
    before: tuple[Integers, Integers],
    having: pl.DataFrame,
    injected: pl.DataFrame,
    numbers: pl.DataFrame,
    params: MemoryOutcomeParams,
) -> pl.DataFrame:
    """One row per memory that a trial had or was offered, sorted by memory_id.

    Args:
        places: `OFFERED` of the trials that were offered a memory (see `trials_offering_memory`, `expected_success`).
        memories: memory_id, created_at.
        known: see `trials`.
        before: see `known_before`.
        having: `COMPARED` of `trials_with_memory`, with the forecast of success without the memory.
        injected: memory, injected: how many attempted interactions it was injected into.
        numbers: see `memory_numbers`.
        params: bounds and weights.

    Columns: memory_id; lift: estimated difference it makes to success, observed less expected, shrunk across memories
    of the same basis; lift_low, lift_high; lift_basis: the strongest whose evidence suffices and whose placebo, where
    it has one, includes 0 (randomised: chance decided; cutoff: near the score from which memories are injected;
    same_task: before and after on repeated tasks; matched: association only); lift_detectable: the smallest true lift,
    up or down, that this evidence finds four times in five (1: none), of the strongest basis with any where no lift is
    shown; lift_p_value: two-sided, before shrinking; lift_q_value and is_harmful: among randomised and cutoff lifts
    (Benjamini & Hochberg 1995), NULL for the others, which never say more than association; lift_note: why there is no
    lift, and what to log; lost_successes: less lift times the attempted interactions it was injected into, of
    randomised and cutoff lifts. A look every night is not allowed for in the p-value: a memory near the line may be
    flagged on some nights only.
    """
    places = _add_residuals(places)
    found = [_STATED.to_frame()]
    if not places.is_empty():
        found.append(_randomised_lifts(places, params))
        found.append(_cutoff(_unsettled_rows(places, found), params))
    created = numbers.join(memories.select("memory_id", "created_at"), on="memory_id").select("memory", "created_at")
    lifts, placebos = same_task(known, _unsettled_rows(having, found), _unsettled_rows(created, found), params)
    found.append(_calibrated_lifts(lifts, placebos, "same_task", params))
    found.append(_matched_lifts(known, before, having, created, found, params))
    everyone = pl.concat([having.select("memory"), places.select("memory")]).unique()
    chosen = _strongest(pl.concat(found), params)
    is_causal = pl.col("lift_basis").is_in(CAUSAL_BASES)
    p_value = pl.when(is_causal).then("lift_p_value")
    tested = (
        numbers.join(everyone, on="memory", how="semi")
        .join(chosen, on="memory", how="left")
        .join(injected, on="memory", how="left")
        .sort("memory_id")
        .with_columns(
            benjamini_hochberg(p_value, p_value.count()).alias("lift_q_value"),
            pl.col("lift_note").fill_null(pl.when(pl.col("state").is_null()).then(pl.lit(_NOTHING))),
        )
    )
    is_flagged = (pl.col("lift_q_value") <= params.false_discovery_rate) & (pl.col("lift_high") < 0)
    return tested.select(
        "memory_id",
        "lift",
        "lift_low",
        "lift_high",
        "lift_basis",
        "lift_detectable",
        "lift_p_value",
        "lift_q_value",
        pl.when(is_causal).then(is_flagged).alias("is_harmful"),
        "lift_note",
        pl.when(is_causal).then(-pl.col("lift") * pl.col("injected").fill_null(0)).alias("lost_successes"),
    )


def with_own_lifts(lifts: pl.DataFrame, own: pl.DataFrame, owners: pl.DataFrame) -> pl.DataFrame:
    """`lifts` (of `memory_lift`), where those of the memories in `owners` (memory_id) are the `own` ones, if any."""
    is_owned = lifts["memory_id"].is_in(owners["memory_id"].implode())
    is_told = pl.col("memory_id").is_in(own["memory_id"].implode())
    none = lifts.filter(is_owned).select("memory_id").join(own, on="memory_id", how="left", maintain_order="left")
    found = none.with_columns(pl.col("lift_note").fill_null(pl.when(~is_told).then(pl.lit(_NOTHING))))
    return pl.concat([lifts.filter(~is_owned), found.select(lifts.columns)]).sort("memory_id")


def _add_residuals(rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` with value, success less expected, and the variance it has if the forecast is right."""
    expected = pl.col("expected")
    return rows.with_columns(
        (pl.col("success") - expected).alias("value"), (expected * (1 - expected)).alias("variance")
    )


def _unsettled_rows(rows: pl.DataFrame, found: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of memories for which no basis found so far may be shown."""
    settled = pl.concat(found).filter(pl.col("state") == "shown")
    return rows.join(settled, on="memory", how="anti", maintain_order="left")


def _lift_rows(lifts: pl.DataFrame, basis: str, state: pl.Expr, params: MemoryOutcomeParams) -> pl.DataFrame:
    enough = pl.col("sessions") >= params.min_sessions
    return lifts.select(
        "memory",
        pl.lit(LIFT_BASES.index(basis), dtype=pl.Int64).alias("basis"),
        "estimate",
        "standard_error",
        "degrees",
        pl.when(enough).then(state).otherwise(pl.lit("few")).alias("state"),
    )


def _randomised_lifts(places: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    state = pl.when("is_joint").then(pl.lit("joint")).otherwise(pl.lit("shown"))
    return _lift_rows(randomised_estimates(places, params), "randomised", state, params)


def _cutoff(places: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    cut = cutoff_places(places, params)
    following = cut.filter("follows_score")
    lifts, forecast, elsewhere = cutoff(following, params)
    size, reach = pl.col("estimate").abs(), half_width(params)
    checks = (
        lifts.select("memory", reach.alias("reach"))
        .join(forecast.select("memory", (size > reach).alias("is_forecast_off")), on="memory", how="left")
        .join(
            elsewhere.filter(pl.col("sessions") >= params.min_sessions).select(
                "memory", (size > reach).alias("is_off"), reach.alias("placebo_reach")
            ),
            on="memory",
            how="left",
        )
    )
    is_blind = pl.col("placebo_reach").is_null() | (
        pl.col("placebo_reach") > pl.max_horizontal("reach", params.max_placebo_half_width)
    )
    state = (
        pl.when(pl.col("is_forecast_off") | pl.col("is_off").fill_null(value=False))
        .then(pl.lit("failed"))
        .when(is_blind)
        .then(pl.lit("missing"))
        .otherwise(pl.lit("shown"))
    )
    found = lifts.join(checks.select("memory", state.alias("placebo")), on="memory", maintain_order="left")
    return pl.concat(
        [_lift_rows(found, "cutoff", pl.col("placebo"), params), _without_cutoff(places, following, lifts)],
        how="vertical",
    )


def _without_cutoff(places: pl.DataFrame, following: pl.DataFrame, lifts: pl.DataFrame) -> pl.DataFrame:
    """As `_lift_rows`, of memories without a cutoff lift that were injected or left out, not by chance."""
    has_both = pl.col("is_injected").any() & ~pl.col("is_injected").all()
    unknown = [pl.lit(None, dtype=pl.Float64).alias(name) for name in ("estimate", "standard_error", "degrees")]
    follows = pl.col("memory").is_in(following["memory"].unique().to_list())
    probability = pl.col("injection_probability")
    return (
        places.filter(probability.is_null() | (probability == 0) | (probability == 1))
        .group_by("memory")
        .agg(has_both.alias("has_both"))
        .filter("has_both")
        .join(lifts, on="memory", how="anti")
        .select(
            "memory",
            pl.lit(LIFT_BASES.index("cutoff"), dtype=pl.Int64).alias("basis"),
            *unknown,
            pl.when(follows).then(pl.lit("apart")).otherwise(pl.lit("ranked")).alias("state"),
        )
    )


def _calibrated_lifts(
    lifts: pl.DataFrame, placebos: pl.DataFrame, basis: str, params: MemoryOutcomeParams
) -> pl.DataFrame:
    state = pl.col("placebo").replace({"passed": "shown"})
    return _lift_rows(calibrate_lifts(lifts, placebos, params), basis, state, params)


def _matched_lifts(
    known: pl.DataFrame,
    before: tuple[Integers, Integers],
    having: pl.DataFrame,
    created: pl.DataFrame,
    found: list[pl.DataFrame],
    params: MemoryOutcomeParams,
) -> pl.DataFrame:
    usual = expected_success(known, before, None, params).select("expected")
    everyone = pl.concat([known, usual], how="horizontal").select(
        *("block", "at", "of_task_type"),
        (pl.col("success") - pl.col("expected")).alias("usual"),
        (pl.col("expected") * (1 - pl.col("expected"))).alias("variance"),
    )
    treated = _add_residuals(_unsettled_rows(having, found)).rename({"value": "residual"})
    treated = treated.with_columns(everyone["usual"].gather(treated["trial"]))
    pseudo = pseudo_treated(having, _unsettled_rows(created, found), params)
    as_usual = everyone.select("block", "usual", "variance", residual="usual")
    pseudo = pl.concat([pseudo, as_usual[pseudo["trial"]]], how="horizontal")
    others = Others.of(everyone, params)
    lifts, placebos = matched_estimates(treated, others), matched_estimates(pseudo, others)
    return _calibrated_lifts(lifts, placebos, "matched", params)


def _strongest(found: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """Per memory the strongest basis that may be shown, else the strongest with an estimate, which stays hidden."""
    is_shown = pl.col("state") == "shown"
    chosen = (
        found.with_columns(is_shown.alias("is_shown"))
        .sort("memory", "is_shown", "basis", descending=[False, True, False])
        .unique("memory", keep="first", maintain_order=True)
        .with_columns(
            pl.min_horizontal(detectable(params), 1.0).alias("lift_detectable"),
            pl.col("state").replace_strict(_NOTES, return_dtype=pl.String).alias("lift_note"),
        )
    )
    names = ("memory", "state", "lift_detectable", "lift_note")
    shown = [
        shrunk(part, params).select(
            *names, "lift", "lift_low", "lift_high", "lift_p_value", pl.lit(basis).alias("lift_basis")
        )
        for number, basis in enumerate(LIFT_BASES)
        if (part := chosen.filter(pl.col("is_shown") & (pl.col("basis") == number))).height
    ]
    hidden = chosen.filter(~pl.col("is_shown")).select(
        *names,
        *[pl.lit(None, dtype=pl.Float64).alias(name) for name in ("lift", "lift_low", "lift_high", "lift_p_value")],
        pl.lit(None, dtype=pl.String).alias("lift_basis"),
    )
    return pl.concat([*shown, hidden])
