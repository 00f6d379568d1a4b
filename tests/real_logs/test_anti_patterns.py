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
        pl.lit(None, pl.String).alias("cost_unit"),
        ((given == "true") & ~is_cascade).alias("is_attempt"),
    )


@pytest.fixture(scope="module")
def attempts(outcomes: pl.DataFrame) -> pl.DataFrame:
    real = outcomes.filter("is_attempt")
    assert real.height == 5697
    return real


def judged(attempts: pl.DataFrame, cut: datetime, days: int) -> pl.DataFrame:
    """Strategies with enough attempts in the `days` from `cut` on (five in a week, three in a day), tried before.

    failed: at most a fifth succeeded; others_succeeded: at least half of the others' attempts at the task did;
    is_worse: it succeeded in a smaller share than they did.
    """
    after = attempts.filter(pl.col("created_at").is_between(cut, cut + timedelta(days=days), closed="left"))
    solved, tries = pl.col("solved"), pl.col("tries")
    others_solved, others_tries = pl.col("all_solved") - solved, pl.col("all_tries") - tries
    return (
        after.group_by(CELL)
        .agg(pl.col("success").sum().cast(pl.Int64).alias("solved"), pl.len().cast(pl.Int64).alias("tries"))
        .with_columns(pl.col("solved", "tries").sum().over("task_type").name.prefix("all_"))
        .filter(tries >= (5 if days > 1 else 3))
        .join(attempts.filter(pl.col("created_at") < cut), on=CELL, how="semi")
        .select(
            *CELL,
            (solved <= 0.2 * tries).alias("failed"),
            ((others_tries > 0) & (2 * others_solved >= others_tries)).alias("others_succeeded"),
            (solved * others_tries < others_solved * tries).alias("is_worse"),
        )
    )


def cuts(attempts: pl.DataFrame, days: int) -> pl.DataFrame:
    """At every UTC midnight with data before and `days` after: the judged strategies, and the kind of the open."""
    midnights = attempts["created_at"].dt.truncate("1d").sort()
    found, cut = [], midnights[0] + timedelta(days=1)
    while cut <= midnights[-1] - timedelta(days=days - 1):
        table = anti_patterns(attempts, NO_HEURISTICS, cut, AntiPatternParams())
        is_open = table.filter(pl.col("state") == "open").select(*CELL, "kind")
        found.append(judged(attempts, cut, days).join(is_open, on=CELL, how="left").with_columns(cut=pl.lit(cut)))
        cut += timedelta(days=1)
    return pl.concat(found)


Grade = tuple[float, float]
# What is named, and what is true of it in the days after
GRADED = {
    "any open: fails": (pl.col("kind").is_not_null(), pl.col("failed")),
    "avoid: fails": (pl.col("kind") == "avoid", pl.col("failed")),
    "avoid: fails where others succeed": (pl.col("kind") == "avoid", pl.col("failed") & pl.col("others_succeeded")),
    "avoid: succeeds less than others": (pl.col("kind") == "avoid", pl.col("is_worse")),
    "hard task: fails where others fail": (
        pl.col("kind") == "hard_task",
        pl.col("failed") & ~pl.col("others_succeeded"),
    ),
}


@pytest.fixture(scope="module", params=[7, 1], ids=["a week ahead", "a day ahead"])
def grades(attempts: pl.DataFrame, request: pytest.FixtureRequest) -> dict[str, Grade]:
    """Precision and recall of each of `GRADED`."""
    rows = cuts(attempts, request.param)
    print(f"\n{request.param} days: {rows['cut'].n_unique()} cuts, {rows.height} judged")
    found = {name: precision_and_recall(rows, *what) for name, what in GRADED.items()}
    for name, (precision, recall) in found.items():
        print(f"  {name}: precision {precision:.3f}, recall {recall:.3f}")
    return found


def precision_and_recall(rows: pl.DataFrame, named: pl.Expr, true: pl.Expr) -> Grade:
    hits, names = rows.filter(named & true).height, rows.filter(named).height
    return hits / names, hits / rows.filter(true).height


def test_open_rows_are_mostly_right(grades: dict[str, Grade]) -> None:
    # some that fail are neither worse than others nor at a task at which nobody succeeds: they are not named
    assert grades["any open: fails"][0] >= 0.86
    assert grades["avoid: fails"][0] >= 0.86
    assert grades["avoid: succeeds less than others"][0] >= 0.9
    assert grades["hard task: fails where others fail"][0] >= 0.85


def test_those_that_fail_where_others_succeed_are_found(grades: dict[str, Grade]) -> None:
    assert grades["avoid: fails where others succeed"][1] >= 0.57


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
