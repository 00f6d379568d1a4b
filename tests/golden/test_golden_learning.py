"""What the released methods of learning make of a log written by hand; numbers to nine places.

The files in tests/golden/heuristic-1 are released: neither they nor their `PINNED` hashes change; columns that tables
got later are not in them. A better method is a new version with a folder of its own. To write the files of a new
version, run

    SLOWWAVE_REGENERATE_GOLDEN=1 pytest tests/transforms/test_golden_learning.py

read what changed line by line, and pin the hash that the failing test names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from delivered import as_jsonl
from golden_tables import assert_golden
from taught_rows import AS_OF, rows_with_another_task, taught_rows

from slowwave.transforms.anti_pattern_params import AntiPatternParams
from slowwave.transforms.attempts import resolved_outcomes
from slowwave.transforms.error_params import ErrorParams
from slowwave.transforms.heuristic_params import HeuristicParams
from slowwave.transforms.landed_tables import Outcomes
from slowwave.transforms.landing import landed_rows
from slowwave.transforms.learning import learned
from slowwave.transforms.learning_tables import LEARNED
from slowwave.transforms.params import Params
from slowwave.transforms.schema import Table, conform
from slowwave.transforms.versions import winning_versions

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FIRST_PINNED: dict[str, str] = {
    "anti_patterns": "6cd8a0a743872e0b52c4b992a3c00178c6ee35305b908e8901cce49758aa9326",
    "counted_outcomes": "4a41fd6444a2b1ed4d3e4c36cf90af852d6845d34379b2a79ce733dfa905a22a",
    "error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
    "forecast_fits": "a8be3250e3195a0e31754684954becc23b3aa5fdf31955b247545ac881a93184",
    "heuristics": "156ce12c9e0e48414e98b9128c21e8adc487df2b37f2892feb290b29beac52da",
    "scorecard": "0fb273a2cb32aa7aa301e163784c8b9abc3d4bcf23366156113dad5abbbbcca9",
    "strategy_variants": "38ad5bdffcc597961c9b72bdf3dbec15663818f4c5ad12a3caaedf8063d4bbdf",
}
PINNED: dict[str, str] = {
    "anti_patterns": "1391453b3ad7ac3fee9aba5a71e5ec5676f787ba1cdc98a025714b01796d32f3",
    "counted_outcomes": "db6157d6f86735db93a42f170e3c57df2139d62ae5475d4df5bcfcef0abf1db7",
    "error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
    "forecast_fits": "aff695ac8e0f095f91167d4e38113690df84e5a5d2b61916dc365ffe0133b924",
    "heuristics": "05af1f54d06943c991ae5b15f90dd41fca26eec570ee604a85176243ce373ccf",
    "scorecard": "d0690fca27d2e54575a6065ef8b880d21412575b930d3b1fe1cef7d3e89a41bd",
    "strategy_variants": "1cacce1db9e5b8d2110dfe9b9ec66d0ed646db13239ad717703f79fa00bcd122",
    "untried_strategies": "66b7d8732fa3952f9546ecd68cb9b518f40c86c5c18b560c49ae556c8f019ab7",
}
FIRST = Params(
    errors=ErrorParams(method="error/1"),
    heuristics=HeuristicParams(method="heuristic/1"),
    anti_patterns=AntiPatternParams(method="anti_patterns/1"),
)
_STAMPS = ("run_id", "as_of")
_FIRST_TABLES = [table for table in LEARNED if table.name in FIRST_PINNED]
_LATER_COLUMNS = (
    "record_strength", "relatives_share", "fading_half_life_days", "newcomers_logit", "dispersion", "graded_cells",
    "coverage_day", "coverage_week",
)  # fmt: skip


def taught(params: Params, rows: list[dict[str, Any]]) -> dict[type[Table], pl.DataFrame]:
    landed = landed_rows(as_jsonl(rows))
    assert landed.quarantine.is_empty()
    won = winning_versions(Outcomes, landed.outcomes.lazy(), AS_OF)
    interactions = landed.interactions.lazy().select("interaction_id", "project", "agent", "session_id")
    return learned(resolved_outcomes(won, interactions).collect(), AS_OF, params).tables


@pytest.fixture(scope="module")
def published() -> dict[type[Table], pl.DataFrame]:
    return taught(Params(), rows_with_another_task())


@pytest.fixture(scope="module")
def published_first() -> dict[type[Table], pl.DataFrame]:
    return taught(FIRST, taught_rows())


def shown(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    return conform(table, rows.lazy()).sort(table.key).collect().drop(_STAMPS).with_columns(pl.col(pl.Float64).round(9))


@pytest.mark.parametrize("table", LEARNED, ids=lambda table: table.name)
def test_what_was_published_is_published(table, published):
    path = GOLDEN / "heuristic-2" / f"{table.name}.ndjson"
    assert_golden(shown(table, published[table]), path, PINNED[table.name])


@pytest.mark.parametrize("table", _FIRST_TABLES, ids=lambda table: table.name)
def test_what_the_first_method_published_is_published(table, published_first):
    rows = shown(table, published_first[table]).drop(_LATER_COLUMNS, strict=False)
    assert_golden(rows, GOLDEN / "heuristic-1" / f"{table.name}.ndjson", FIRST_PINNED[table.name])


def test_every_table_of_the_golden_log_has_rows(published):
    assert [table.name for table in LEARNED if published[table].is_empty()] == []


def test_the_golden_methods_are_the_present_ones():
    assert Params().heuristics.method == Params().confidence.method == "heuristic/2"
    methods = FIRST.methods()
    first = methods.index("heuristic/1")
    assert methods[first : first + 4] == ["heuristic/1", "strategy_trend/1", "scorecard/1", "anti_patterns/1"]
