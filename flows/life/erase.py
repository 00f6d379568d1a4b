"""An erasure from end to end: found out, written down, taken from the lake, published without, looked for everywhere.

The night does the publishing: one that was killed in the midst is ended by the next, or by the same command.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from slowwave.flows.lake.erased.hashes import made_hash_key
from slowwave.flows.lake.lake import Lake
from slowwave.flows.life.erasure import Erasure, end, read_unfinished_erasure, tombstones
from slowwave.flows.life.from_home import Looked, take_from_home
from slowwave.flows.life.from_lake import take_from_lake
from slowwave.flows.life.imported import take_from_imports
from slowwave.flows.publish.run import Run
from slowwave.transforms.decisions.effects import decision_rows
from slowwave.transforms.landing.decisions_table import Decisions


@dataclass(frozen=True)
class Erased:
    """What came of an erasure: rows taken from each table of the lake, and what came of the rest of the home."""

    erasure: Erasure
    gone: Counter[str]
    looked: Looked


def take_begun(run: Run) -> Counter[str]:
    """Take from the lake what an erasure takes that has begun. Raises OSError as the disk does."""
    erasure = read_unfinished_erasure(run.lake)
    if erasure is None:
        return Counter()
    _land_tombstones(run.lake, erasure)
    gone = take_from_lake(run.lake, erasure)
    gone["imports"] += take_from_imports(run.lake, erasure.sought, rehearses=False)
    return +gone


def end_begun(run: Run, gone: Counter[str]) -> Erased | None:
    """Once it is published without: take it from the rest of the home, look through all, and end the erasure."""
    erasure = read_unfinished_erasure(run.lake)
    if erasure is None:
        return None
    looked = take_from_home(run.settings, run.lake, erasure)
    end(run.lake)
    return Erased(erasure, gone, looked)


def _land_tombstones(lake: Lake, erasure: Erasure) -> None:
    rows = decision_rows(tombstones(erasure, made_hash_key(lake.root)))
    day = erasure.begun_at.date()
    there = lake.row_hashes(Decisions, [day])
    fresh = rows.filter(~pl.col("row_hash").is_in(there.implode()))
    if fresh.height:
        lake.write_rows(Decisions, day, fresh)
        lake.compact(Decisions, day)
