"""Anti-patterns on real benchmark runs: what was open at each midnight, judged on the seven days after. Run with -s."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest
import real_rows

from slowwave.transforms.learning.anti_patterns.anti_patterns import anti_patterns
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
CELL = ["task_type", "strategy_id"]
NO_HEURISTICS = pl.DataFrame(
    schema={
        **dict.fromkeys(["project", "agent", "task_type", "strategy_id", "strategy"], pl.String),
        **dict.fromkeys(["confidence", "confidence_low", "confidence_high"], pl.Float64),
    }
)


@pytest.fixture(scope="module")
def outcomes() -> pl.DataFrame:
    """All outcomes as attempts, cascades too: the strategy is the agent, and the agent is nobody."""
    frame = pl.read_parquet(real_rows.FOLDER / "agbenchmark" / "interactions.parquet")
    at = pl.col("created_at").dt.replace_time_zone(None)
    is_cascade = pl.col("error_message").str.contains("depends on", literal=True).fill_null(value=False)
    given = pl.col("meta").str.json_path_match("$.attempted").fill_null("true")
    return frame.select(
        pl.col("id").alias("outcome_id"),
        "project",
        pl.lit("").alias("agent"),
        pl.col("task").alias("task_type"),
        pl.col("session_id").alias("block"),
        pl.col("agent").alias("strategy"),
        pl.col("agent").alias("strategy_id"),
        at.alias("created_at"),
        at.alias("known_at"),
        "success",
        pl.col("error_message").alias("error_id"),
        "duration_ms",
        pl.lit(None, pl.Int64).alias("tokens"),
        pl.lit(None, pl.Float64).alias("cost"),
        ((given == "true") & ~is_cascade).alias("is_attempt"),
    )


@pytest.fixture(scope="module")
def attempts(outcomes: pl.DataFrame) -> pl.DataFrame:
    real = outcomes.filter("is_attempt")
    assert real.height == 5697
    return real


def judged(attempts: pl.DataFrame, cut: datetime) -> pl.DataFrame:
    """Strategies with at least five attempts in the seven days from `cut` on, tried before: how they fared."""
    after = attempts.filter(pl.col("created_at").is_between(cut, cut + timedelta(days=7), closed="left"))
    solved, tries = pl.col("success").sum(), pl.len()
    success = (pl.col("solved") / pl.col("tries")).alias("success")
    others = 2 * (pl.col("all_solved") - pl.col("solved")) - (pl.col("all_tries") - pl.col("tries"))
    had_others = pl.col("all_tries") > pl.col("tries")
    return (
        after.group_by(CELL)
        .agg(solved.cast(pl.Int64).alias("solved"), tries.cast(pl.Int64).alias("tries"))
        .with_columns(
            pl.col("solved").sum().over("task_type").alias("all_solved"),
            pl.col("tries").sum().over("task_type").alias("all_tries"),
        )
        .filter(pl.col("tries") >= 5)
        .join(attempts.filter(pl.col("created_at") < cut), on=CELL, how="semi")
        .select(*CELL, (success <= 0.2).alias("failed"), (had_others & (others >= 0)).alias("others_succeeded"))
    )


@pytest.fixture(scope="module")
def cuts(attempts: pl.DataFrame) -> pl.DataFrame:
    """At every UTC midnight with data before and seven days after: the judged strategies, and the kind of the open."""
    days = attempts["created_at"].dt.truncate("1d").sort()
    found, cut = [], days[0] + timedelta(days=1)
    while cut <= days[-1] - timedelta(days=6):
        table = anti_patterns(attempts, NO_HEURISTICS, cut, AntiPatternParams())
        is_open = table.filter(pl.col("state") == "open").select(*CELL, "kind")
        found.append(judged(attempts, cut).join(is_open, on=CELL, how="left").with_columns(cut=pl.lit(cut)))
        cut += timedelta(days=1)
    return pl.concat(found)


def precision_and_recall(rows: pl.DataFrame, *, named: pl.Expr, true: pl.Expr) -> tuple[float, float]:
    hits = rows.filter(named & true).height
    return hits / rows.filter(named).height, hits / rows.filter(true).height


def test_open_rows_are_the_persistent_failures_of_the_week_after(cuts: pl.DataFrame) -> None:
    named = pl.col("kind").is_not_null()
    precision, recall = precision_and_recall(cuts, named=named, true=pl.col("failed"))
    print(f"\n{cuts['cut'].n_unique()} cuts, {cuts.height} judged: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.85
    assert recall >= 0.60


def test_to_avoid_are_those_that_fail_where_others_succeed(cuts: pl.DataFrame) -> None:
    named = (pl.col("kind") == "avoid").fill_null(value=False)
    true = pl.col("failed") & pl.col("others_succeeded")
    precision, _ = precision_and_recall(cuts, named=named, true=pl.col("failed"))
    strict, recall = precision_and_recall(cuts, named=named, true=true)
    print(f"\navoid: precision {precision:.3f} ({strict:.3f} also where others succeed), recall {recall:.3f}")
    assert precision >= 0.85
    assert recall >= 0.50


def test_no_row_stands_on_a_cascade(outcomes: pl.DataFrame, attempts: pl.DataFrame) -> None:
    cut = outcomes["created_at"].max()
    assert isinstance(cut, datetime)
    cascades = outcomes.join(attempts, on="outcome_id", how="anti")
    table = anti_patterns(attempts, NO_HEURISTICS, cut, AntiPatternParams())
    behind = table.select(*CELL, "error_id").join(cascades, on=[*CELL, "error_id"], how="inner")
    never_tried = table.join(attempts, on=CELL, how="anti")
    assert never_tried.is_empty()
    assert behind.filter(pl.col("error_id").str.contains("depends on", literal=True)).is_empty()
    assert not table["error_id"].str.contains("depends on", literal=True).any()
    # the same rows taken as attempts would have made more of them
    assert anti_patterns(outcomes, NO_HEURISTICS, cut, AntiPatternParams()).height > table.height
