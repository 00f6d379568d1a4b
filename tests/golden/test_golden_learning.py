"""What the released methods of learning make of a log written by hand; numbers to nine places.

The files in tests/golden/heuristic-3 are released: neither they nor their digests change (see golden_tables).
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from delivered import as_jsonl
from golden_tables import assert_golden
from learned_tables import LEARNED, learned
from taught_rows import AS_OF, rows_with_another_task, rows_with_four_of_four

from slowwave.transforms.core.frames import conform, framed
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Outcomes
from slowwave.transforms.landing.versions import winning_versions
from slowwave.transforms.learning.confidence.params import ConfidenceParams, ConfidencePoint, Correction
from slowwave.transforms.learning.outcomes import resolved_outcomes
from slowwave.transforms.learning.tables import (
    AntiPatterns,
    CountedOutcomes,
    ErrorTemplates,
    ForecastFits,
    Heuristics,
    Scorecard,
    StrategyVariants,
    UntriedStrategies,
)
from slowwave.transforms.params import Params

_POINT = ConfidencePoint(
    half_life_days=7, record_strength=2, prior_strength=20, relatives_share=1, fading_half_life_days=10
)
# relatives that are worth so much would put four successes of four below one half
PARAMS = Params(confidence=ConfidenceParams(grid=(_POINT,), corrections=(Correction(records_share=0.5, shift=0.25),)))
# of the log in which a record is all of one kind, with the params above
_TABLES = (ForecastFits, Heuristics, Scorecard, UntriedStrategies)
# of the log in which every table has rows, with the params as they are
_TABLES_BY_DEFAULT = (CountedOutcomes, StrategyVariants, ErrorTemplates, AntiPatterns)
_STAMPS = ("run_id", "as_of")


def taught(params: Params, rows: list[dict[str, Any]]) -> dict[type[Table], pl.DataFrame]:
    landed = landed_rows(as_jsonl(rows))
    assert landed.quarantine.is_empty()
    won = winning_versions(Outcomes, landed.outcomes.lazy(), AS_OF)
    interactions = landed.interactions.lazy().select("interaction_id", "project", "agent", "session_id", "user_id")
    whose = framed(ReplayedInteractions, interactions, partial=True)
    return learned(resolved_outcomes(won.collect(), whose), AS_OF, params).tables


@pytest.fixture(scope="module")
def published() -> dict[type[Table], pl.DataFrame]:
    return taught(Params(), rows_with_another_task())


def shown(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    return conform(table, rows.lazy()).sort(table.key).collect().drop(_STAMPS).with_columns(pl.col(pl.Float64).round(9))


@pytest.mark.parametrize("table", _TABLES_BY_DEFAULT, ids=lambda table: table.name)
def test_what_was_published_is_published(table, published):
    assert_golden(shown(table, published[table]), f"heuristic-3/{table.name}")


@pytest.mark.parametrize("table", _TABLES, ids=lambda table: table.name)
def test_what_is_told_of_a_record_of_one_kind_is_published(table):
    assert_golden(shown(table, taught(PARAMS, rows_with_four_of_four())[table]), f"heuristic-3/{table.name}")


def test_every_table_of_the_golden_log_has_rows(published):
    assert [table.name for table in LEARNED if published[table].is_empty()] == []


def test_trend_and_scorecard_go_with_the_method():
    methods = Params().methods()
    first = methods.index("heuristic/3")
    assert methods[first : first + 4] == ["heuristic/3", "strategy_trend/3", "untried/1", "scorecard/2"]
