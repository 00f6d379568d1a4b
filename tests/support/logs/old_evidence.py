"""Random logs in which strategies are no longer tried, many at once: each is a project of one publish."""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.transforms.learning.confidence.fits import confidence_fits, confidence_losses, interval_grades
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.heuristics import estimate_cells
from slowwave.transforms.learning.sessions import CELL

FIRST_DAY = 20_000
STOPPED = FIRST_DAY + 60  # the watched agent and task type are not tried from this day on
FIT = ("point", "correction", "dispersion")
_HERE = ("a", "t")


def old_evidence(projects: int, seed: int) -> pl.DataFrame:
    """Sessions of many projects: u and v tried alike, u never worse from the newest day back; x, y, z tried somehow.

    All are tried in one place until `STOPPED`; x, y and z elsewhere, too, and so are others, before it and after.
    """
    chance = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, str, str, int, int, int]] = []
    for number in range(projects):
        project = f"p{number:05}"
        days = np.sort(chance.integers(FIRST_DAY, STOPPED, chance.integers(1, 9)))
        sizes = chance.integers(1, 4, len(days))
        worse = chance.binomial(sizes, chance.random())
        better = _never_worse(worse, sizes, chance)
        for at, day in enumerate(days.tolist()):
            for strategy, won in (("u", better), ("v", worse)):
                rows.append((project, *_HERE, strategy, f"{strategy}{at}", day, int(sizes[at]), int(won[at])))
        for at in range(int(chance.integers(5, 40))):
            agent, task_type = (
                _HERE if chance.random() < 0.5 else (chance.choice(["a", "b"]), chance.choice(["t", "s"]))
            )
            until = STOPPED if (agent, task_type) == _HERE else STOPPED + 200
            size = int(chance.integers(1, 6))
            strategy, day = str(chance.choice(["x", "y", "z"])), int(chance.integers(FIRST_DAY, until))
            rows.append(
                (project, agent, task_type, strategy, f"s{at}", day, size, int(chance.binomial(size, chance.random())))
            )
    columns = (*CELL, "block", "day", "attempts", "successes")
    told = pl.DataFrame(rows, schema=list(columns), orient="row")
    sessions = told.group_by(*CELL, "block", "day").agg(pl.col("attempts", "successes").sum())
    return sessions.with_columns(pl.col("day").alias("known_day"))


def _never_worse(successes: np.ndarray, sizes: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Other successes on the same days that are never fewer counted back from the newest day."""
    moved = successes.copy()
    for _ in range(int(chance.integers(0, 4))):
        later = int(chance.integers(0, len(sizes)))
        room = sizes[later] - moved[later]
        if room > 0:
            earlier = int(chance.integers(0, later + 1))
            # a success of an earlier day happens on the later one, or there is one more
            if earlier < later and moved[earlier] > 0 and chance.random() < 0.7:
                moved[earlier] -= 1
            moved[later] += 1
    return moved


def believed_at(sessions: pl.DataFrame, day: int, params: ConfidenceParams) -> pl.DataFrame:
    """What is published of each tried strategy of the log at the start of a day, with its fit."""
    so_far = sessions.filter(pl.col("known_day") < day)
    cells = so_far.select(CELL).unique().sort(CELL).with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))
    block = pl.col("block").rank("dense").cast(pl.Int64)
    numbered = so_far.join(cells, on=CELL).select("cell", block, "day", "known_day", "attempts", "successes")
    known = CellHistory.of(numbered, params)
    losses = confidence_losses(numbered, cells, known, params)
    grades = interval_grades(numbered, cells, known, losses, params)
    today = cells.select("project", pl.lit(day, pl.Int64).alias("day")).unique()
    fits = confidence_fits(losses, grades, today, params)
    told = estimate_cells(cells.select("cell", pl.lit(day, pl.Int64).alias("day")), cells, known, fits, params)
    return told.join(cells, on="cell").join(fits.select("project", *FIT), on="project")


def reversals(before: pl.DataFrame, after: pl.DataFrame, name: str) -> pl.DataFrame:
    """The pairs of strategies of one place, neither tried since, of which the lower one has become the higher.

    Of projects whose fit stayed the same.
    """
    place, same = list(CELL[:3]), [*CELL, *FIT]
    both = before.select(*same, name).join(after.select(*same, pl.col(name).alias("later")), on=same)
    pairs = both.join(both, on=place, suffix="_other")
    return pairs.filter(pl.col(name) > pl.col(f"{name}_other"), pl.col("later") < pl.col("later_other"))
