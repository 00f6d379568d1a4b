"""The tables that outcomes teach, those of strategies alone and those that memories have a part in."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.schema import State, Table, computed_schema
from slowwave.transforms.learning.counted import Counted, count_attempts
from slowwave.transforms.learning.learned import Learned
from slowwave.transforms.learning.learned import learn_strategies as learned_of_strategies
from slowwave.transforms.learning.nodes import LEARNING
from slowwave.transforms.learning.tables import Scorecard, StrategyScoresState
from slowwave.transforms.params import Params

LEARNED = (*(table for node in LEARNING for table in node.tables if not issubclass(table, State)), Scorecard)


class Taught(NamedTuple):
    """All that outcomes teach."""

    counted: Counted
    learned: Learned

    @property
    def counted_outcomes(self) -> pl.DataFrame:
        """As what they count."""
        return self.counted.counted_outcomes

    @property
    def scores(self) -> Frame[StrategyScoresState]:
        """The grades of forecasts, as they are carried on."""
        return self.learned.scores

    @property
    def tables(self) -> dict[type[Table], pl.DataFrame]:
        """What is published of it; of the scorecard the rows of strategies."""
        nodes = {node.name: node for node in LEARNING}
        found = {
            table: frame
            for name, frames in (("count_attempts", self.counted), ("learn_strategies", self.learned))
            for table, frame in zip(nodes[name].outputs, frames, strict=True)
            if isinstance(table, type) and not issubclass(table, State)
        }
        return {**found, Scorecard: self.scores.select(*computed_schema(Scorecard)).sort(Scorecard.key)}


def learned(
    outcomes: pl.DataFrame, as_of: datetime, params: Params, before: Frame[StrategyScoresState] | None = None
) -> Taught:
    """What the outcomes known as of `as_of` teach, as a publish computes it."""
    found = count_attempts(outcomes, params)
    of_strategies = learned_of_strategies(
        found.tried, found.cells, found.strategy_variants, found.error_templates, as_of, params, before=before
    )
    return Taught(found, of_strategies)
