"""Whether each memory is used: what was found, what is expected, and whether a use would have been found.

That no use was found says something only of a memory whose uses are found. How many of them are, follows from how
telling its words are beside those of the other memories of its project.
"""

from __future__ import annotations

import polars as pl
from scipy.special import ndtri

from slowwave.transforms.core.frames import Lazy
from slowwave.transforms.evidence.tables import ExpectedUse
from slowwave.transforms.evidence.used.memories import STEPS
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.language.terms import words

# A logistic model, fitted by `tests/support/models/used_3_detectability.py`: intercept, by 1 / (1 + what its words
# weigh), by the logarithm of the number of memories. Fitted to five sets of labelled dialogues and answers alike, each
# with all, few and shortened memories, then lowered until of most sets no more is said than was found in them; it must
# be fitted again when `used/3` or its threshold changes.
INTERCEPT, BY_MASS, BY_POOL = -1.23, -7.78, -0.10
# Weights are integers in these steps; a word of more memories, an eighth or so many, tells nothing of one of them.
_STEP, _COMMON_SHARE, _LEAST_COMMON, _MOST_COMMON = 16, 8, 8, 1_000
# Of a long text no more is weighed: its passages are compared one by one.
_CODE_POINTS, _MIN_WORDS = 1_000, 3


def word_masses(memories: pl.LazyFrame) -> pl.LazyFrame:
    """Return memory_id, mass (what its distinct words weigh), pool_size, words_count of memories with a text.

    `memories`: memory_id, project, status, content. A word that no other active memory of the project has weighs one
    (in steps of 1/16), others the less the more have them.
    """
    said = words(pl.col("content").str.slice(0, _CODE_POINTS))
    texts = memories.filter(pl.col("content").is_not_null()).select(
        "memory_id",
        pl.col("project").fill_null(""),
        (pl.col("status") == "active").fill_null(value=False).alias("is_active"),
        said.list.len().alias("words_count"),
        said.list.unique().alias("word"),
    )
    pools = texts.group_by("project").agg(pl.col("is_active").sum().cast(pl.Int64).alias("pool_size"))
    each = texts.select("memory_id", "project", "is_active", "word").explode("word")
    shared = each.group_by("project", "word").agg(pl.col("is_active").sum().cast(pl.Int64).alias("frequency"))
    most_rare = ((pl.col("pool_size") + 1) / 1.5).clip(1.5)
    rarity = (_STEP * ((most_rare * 1.5) / (pl.col("frequency").clip(1) + 0.5)).log() / most_rare.log()).round()
    most = (pl.col("pool_size") // _COMMON_SHARE).clip(_LEAST_COMMON, _MOST_COMMON)
    weights = shared.join(pools, on="project").select(
        "project",
        "word",
        pl.when(pl.col("frequency") <= most).then(rarity.clip(0, _STEP)).otherwise(0).cast(pl.Int64).alias("weight"),
    )
    masses = each.join(weights, on=["project", "word"]).group_by("memory_id").agg(pl.col("weight").sum().alias("mass"))
    return (
        texts.select("memory_id", "project", "words_count")
        .join(pools, on="project")
        .join(masses, on="memory_id", how="left")
        .select("memory_id", pl.col("mass").fill_null(0), "pool_size", "words_count")
    )


def detectability(memories: pl.LazyFrame) -> pl.LazyFrame:
    """Return memory_id, detectability of memories with a text: how likely a use is found. Args as `word_masses`."""
    pool_size = pl.col("pool_size").clip(1).cast(pl.Float64).log()
    odds = INTERCEPT + BY_MASS / (1 + pl.col("mass") / _STEP) + BY_POOL * pool_size
    found = pl.when(pl.col("words_count") >= _MIN_WORDS).then((1 / (1 + (-odds).exp())).round(4)).otherwise(0.0)
    return word_masses(memories).select("memory_id", found.alias("detectability"))


def expected_uses(steps: pl.Expr) -> pl.Expr:
    """Return a sum of probabilities; NULL is none. Rounded, one row and many are the same number."""
    return (steps.fill_null(0) / STEPS).round(4)


def with_use_states(
    health: pl.DataFrame, days: Lazy[ExpectedUse], params: VerdictParams, *, interval_mass: float = 0.9
) -> pl.DataFrame:
    """Return `health` with used_expected and what belongs to it, detectability and use_state; rows keep their order.

    Uses are taken to be independent, and their sum to be normal.

    Args:
        health: one row per memory: memory_id, project, status, content, eligible_count, injected_count,
            reference_count.
        days: expected_use of all days, stacked.
        params: from where on a memory is not used, or undetectable.
        interval_mass: mass of the interval.
    """
    sums = days.group_by("memory_id").agg(pl.col("expected", "injected_expected", "variance").sum())
    spread = float(ndtri((1 + interval_mass) / 2)) * (pl.col("variance") / STEPS).sqrt()
    expected = pl.col("used_expected")
    return (
        health.lazy()
        .join(sums, on="memory_id", how="left", maintain_order="left")
        .join(detectability(health.lazy()), on="memory_id", how="left", maintain_order="left")
        .with_columns(
            pl.col("variance").fill_null(0),
            expected_uses(pl.col("expected")).alias("used_expected"),
            expected_uses(pl.col("injected_expected")).alias("injected_use_expected"),
        )
        .with_columns(
            (expected - spread).clip(0).round(4).alias("used_expected_low"),
            pl.min_horizontal(expected + spread, "eligible_count").round(4).alias("used_expected_high"),
        )
        .with_columns(use_state(params, interval_mass).alias("use_state"))
        .drop("expected", "injected_expected", "variance")
        .collect()
    )


def use_state(params: VerdictParams, interval_mass: float = 0.9) -> pl.Expr:
    """Return whether a memory is used, not_used, undetectable or unproven.

    Columns: eligible_count, injected_count, reference_count, injected_use_expected, detectability. `not_used`: had it
    been used in `used_share` of the interactions that it was injected into, a use would surely have been found, and
    fewer are expected. A sum of independent uses varies no more than its mean.
    """
    expected = pl.col("injected_use_expected")
    at_most = expected + float(ndtri((1 + interval_mass) / 2)) * expected.sqrt()
    chances = pl.min_horizontal("eligible_count", "injected_count")
    missed = chances * (1 - params.used_share * pl.col("detectability")).log()
    is_missed = missed > pl.lit(params.missed_chance).log()
    return (
        pl.when(pl.col("reference_count") > 0)
        .then(pl.lit("used"))
        .when((pl.col("detectability") < params.min_detectability).fill_null(value=True))
        .then(pl.lit("undetectable"))
        .when(is_missed | (at_most >= params.used_share * chances))
        .then(pl.lit("unproven"))
        .otherwise(pl.lit("not_used"))
    )
