"""Confidence on real attempts, next day and seven days, at rolling cut-offs beside simple rules; `-s` prints it all.

The grid was chosen on agbenchmark (the strategy being the agent) and on generated logs. How many days tell of a
correction, and how sure they must be, was chosen on these, on `rising_agents` and on the log of files touched again;
the other readings were looked at for what fell short, and chose nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from real_rows import FOLDER, outcome_rows

from slowwave.transforms.core.counts.forecast_grades import Steps, worth_of
from slowwave.transforms.learning.confidence.fits import confidence_fits, confidence_losses, interval_grades
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.scorecard_confidence import RECORDS, graded_beliefs
from slowwave.transforms.learning.scorecard_rows import BASE_RATE, LAPLACE
from slowwave.transforms.learning.sessions import attempt_cells

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not (FOLDER / "agbenchmark").is_dir(), reason="the real logs are not on this machine"),
]
_PARAMS = ConfidenceParams()
_OTHERS = (LAPLACE, RECORDS, BASE_RATE)
_DRAWS = 500
_WARM = 5  # days before the first cut-off
_BOUND = 1e-3
_AGAIN_DAYS = 14


@dataclass(frozen=True)
class Reading:
    """A log read as sessions, and how many days lie between cut-offs."""

    sessions: pl.DataFrame
    days_between: int = 1


def _benchmark(agent: str | None, task_type: str, strategy: str) -> Reading:
    """agbenchmark's real attempts, with these columns in those places."""
    rows = pl.DataFrame(outcome_rows(), infer_schema_length=None).filter(
        pl.col("attempted").fill_null(value=True), ~pl.col("error_message").fill_null("").str.contains("depends on")
    )
    at = pl.col("created_at").str.to_datetime(time_zone="UTC").dt.epoch("ms")
    took = pl.col("duration_ms").fill_null(0)
    return Reading(
        rows.select(
            "project",
            (pl.col(agent) if agent else pl.lit("")).alias("agent"),
            pl.col(task_type).alias("task_type"),
            pl.col(strategy).alias("strategy_id"),
            pl.col("session_id").alias("block"),
            (at // 86_400_000).alias("day"),
            ((at + took).cast(pl.Int64) // 86_400_000).alias("known_day"),
            pl.col("success").cast(pl.Int64),
        )
    )


def _touched_again() -> Reading:
    """An item of a repository is tried when it is touched; it succeeds when it is touched again in two weeks.

    The strategy is the item, the kind of task the repository: of items that several have.
    """
    events = pl.concat(pl.read_parquet(path) for path in sorted((FOLDER / "reference_logs").glob("*.parquet")))
    days = events.select("log", "item_id", pl.col("at").dt.epoch("d").cast(pl.Int64).alias("day")).unique()
    shared = days.group_by("item_id").agg(pl.col("log").n_unique()).filter(pl.col("log") > 1)["item_id"]
    last = int(days["day"].max())  # type: ignore[arg-type]
    again = pl.col("day").shift(-1).over("log", "item_id", order_by="day") - pl.col("day")
    return Reading(
        days.filter(pl.col("item_id").is_in(shared.implode()))
        .with_columns((again <= _AGAIN_DAYS).fill_null(value=False).cast(pl.Int64).alias("success"))
        .filter(pl.col("day").is_between(last - 900, last - _AGAIN_DAYS))
        .select(
            pl.lit("git").alias("project"),
            pl.lit("").alias("agent"),
            pl.col("log").alias("task_type"),
            pl.col("item_id").alias("strategy_id"),
            pl.format("{}-{}", "log", "day").alias("block"),
            "day",
            (pl.col("day") + _AGAIN_DAYS).alias("known_day"),
            "success",
        ),
        3,
    )


def _each_repository() -> Reading:
    """The same of every eighth item of two repositories, each a project, and none of several task types."""
    events = pl.concat(pl.read_parquet(FOLDER / "reference_logs" / f"{log}.parquet") for log in ("feast", "marimo"))
    days = events.select("log", "item_id", pl.col("at").dt.epoch("d").cast(pl.Int64).alias("day")).unique()
    last = int(days["day"].max())  # type: ignore[arg-type]
    again = pl.col("day").shift(-1).over("log", "item_id", order_by="day") - pl.col("day")
    return Reading(
        days.with_columns((again <= _AGAIN_DAYS).fill_null(value=False).cast(pl.Int64).alias("success"))
        .filter(pl.col("item_id").str.head(1).is_in(["0", "8"]))
        .filter(pl.col("day").is_between(last - 400, last - _AGAIN_DAYS))
        .select(
            pl.col("log").alias("project"),
            pl.lit("").alias("agent"),
            pl.lit("").alias("task_type"),
            pl.col("item_id").alias("strategy_id"),
            pl.format("{}-{}", "log", "day").alias("block"),
            "day",
            (pl.col("day") + _AGAIN_DAYS).alias("known_day"),
            "success",
        ),
        3,
    )


READINGS: dict[str, Callable[[], Reading]] = {
    "agbenchmark, strategy is the agent": lambda: _benchmark(None, "task_type", "agent"),
    "agbenchmark, agent is the agent, too": lambda: _benchmark("agent", "task_type", "agent"),
    "agbenchmark, strategy is the task": lambda: _benchmark("agent", "project", "task_type"),
    "files touched again": _touched_again,
    "files touched again, each repository a project": _each_repository,
}


@pytest.fixture(scope="module", params=list(READINGS))
def told(request: pytest.FixtureRequest) -> tuple[str, pl.DataFrame]:
    """What was published at every cut-off of the cells tried on the seven days after it."""
    reading = READINGS[request.param]()
    cells, numbered = attempt_cells(reading.sessions)
    sessions = numbered.group_by("cell", "block", "day", "known_day").agg(
        pl.len().cast(pl.Int64).alias("attempts"), pl.col("success").sum().alias("successes")
    )
    first, last = int(sessions["day"].min()), int(sessions["day"].max())  # type: ignore[arg-type]
    every = range(first + _WARM, last - _PARAMS.horizon_days + 2, reading.days_between)
    within = pl.int_ranges(pl.col("cutoff"), pl.col("cutoff") + _PARAMS.horizon_days).alias("day")
    cutoffs = pl.DataFrame({"cutoff": list(every)}).with_columns(within).explode("day")
    known = CellHistory.of(sessions, _PARAMS)
    losses = confidence_losses(sessions, cells, known, _PARAMS)
    grades = interval_grades(sessions, cells, known, losses, _PARAMS)
    days = cells.select("project").unique().join(pl.DataFrame({"day": list(every)}), how="cross")
    fits = confidence_fits(losses, grades, days, _PARAMS)
    return request.param, graded_beliefs(sessions, cells, known, fits, cutoffs, _PARAMS)


def _losses(rows: pl.DataFrame, method: str) -> dict[str, np.ndarray]:
    p, won = rows[method].to_numpy(), rows["successes"].to_numpy()
    lost = rows["attempts"].to_numpy() - won
    sure = np.clip(p, _BOUND, 1 - _BOUND)
    return {"brier": won * (1 - p) ** 2 + lost * p**2, "log loss": -(won * np.log(sure) + lost * np.log(1 - sure))}


def _beside(rows: pl.DataFrame, other: str) -> dict[str, tuple[float, float, float]]:
    """Ours minus the other's per attempt, with its 90 % interval: days drawn with replacement."""
    block = np.unique(rows["block"].to_numpy(), return_inverse=True)[1]
    draws = np.random.default_rng(1).multinomial(
        block.max() + 1, np.full(block.max() + 1, 1 / (block.max() + 1)), _DRAWS
    )
    attempts = np.bincount(block, rows["attempts"].to_numpy())
    found = {}
    ours, theirs = _losses(rows, _PARAMS.method), _losses(rows, other)
    for metric in ours:
        by_day = np.bincount(block, ours[metric] - theirs[metric])
        low, high = np.quantile((draws @ by_day) / (draws @ attempts), [0.05, 0.95])
        found[metric] = (by_day.sum() / attempts.sum(), low, high)
    return found


def _parts(rows: pl.DataFrame) -> dict[tuple[int, str], pl.DataFrame]:
    parts = {}
    for horizon, some in ((1, rows.filter(pl.col("block") == pl.col("cutoff"))), (_PARAMS.horizon_days, rows)):
        parts[horizon, "published"] = some.filter("is_published")
        parts[horizon, "not tried here"] = some.filter(~pl.col("is_published"))
    return parts


def _coverage(rows: pl.DataFrame) -> float:
    cells = rows.group_by("cutoff", "cell").agg(
        pl.col("attempts", "successes").sum(), pl.col("confidence_low", "confidence_high", _PARAMS.method).first()
    )
    mean, low, high = (cells[name].to_numpy() for name in (_PARAMS.method, "confidence_low", "confidence_high"))
    worth = worth_of(mean, low, high, _PARAMS.credible_mass)
    attempts, successes = (cells[name].to_numpy() for name in ("attempts", "successes"))
    return float(Steps.of(attempts, successes).share_inside(mean, worth, _PARAMS.credible_mass).mean())


def test_confidence_beside_simple_rules(told: tuple[str, pl.DataFrame]) -> None:
    name, rows = told
    worst = {}
    for (horizon, what), some in _parts(rows).items():
        mean = {
            m: {k: v.sum() / some["attempts"].sum() for k, v in _losses(some, m).items()}
            for m in (_PARAMS.method, *_OTHERS)
        }
        said = ", ".join(f"{m} {mean[m]['brier']:.4f} / {mean[m]['log loss']:.4f}" for m in mean)
        print(f"{name}; {horizon} day(s), {what}, {some['attempts'].sum():,} attempts: Brier / log loss {said}")
        for other in _OTHERS[:2]:
            beside = _beside(some, other)
            print(
                "   minus", other, {k: f"{v:+.4f} ({low:+.4f} to {high:+.4f})" for k, (v, low, high) in beside.items()}
            )
            worst[horizon, what, other] = beside
        if what == "published":
            covered = _coverage(some)
            print(f"   the 90 % interval holds {covered:.3f}")
            assert 0.86 <= covered <= 0.94
    for metric, (difference, low, _) in worst[_PARAMS.horizon_days, "published", RECORDS].items():
        assert difference < 0, metric
        assert low < -0.002, metric
    if not name.startswith("agbenchmark"):
        return
    for (_, what, other), beside in worst.items():
        difference, _, high = beside["brier"]
        if what == "published":
            assert difference < 0
            assert high <= 0.003
            assert beside["log loss"][0] < 0
        elif other == RECORDS:
            assert difference < 0.001
            assert beside["log loss"][0] < 0.005
