"""What the released methods of learning make of a log written by hand; numbers to nine places.

The files in tests/golden/heuristic-1 are released: neither they nor `PINNED` change. A better method is a new version
with a folder of its own. To write the files of a new version, run

    SLOWWAVE_REGENERATE_GOLDEN=1 pytest tests/transforms/test_golden_learning.py

read what changed line by line, and pin the hash that the failing test names.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from delivered import as_jsonl
from golden_tables import assert_golden
from taught_rows import AS_OF, taught_rows

from slowwave.transforms.attempts import resolved_outcomes
from slowwave.transforms.error_params import ErrorParams
from slowwave.transforms.landed_tables import Outcomes
from slowwave.transforms.landing import landed_rows
from slowwave.transforms.learning import learned
from slowwave.transforms.learning_tables import LEARNED
from slowwave.transforms.params import Params
from slowwave.transforms.schema import Table, conform
from slowwave.transforms.versions import winning_versions

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "heuristic-1"
PINNED: dict[str, str] = {
    "anti_patterns": "6cd8a0a743872e0b52c4b992a3c00178c6ee35305b908e8901cce49758aa9326",
    "counted_outcomes": "4a41fd6444a2b1ed4d3e4c36cf90af852d6845d34379b2a79ce733dfa905a22a",
    "error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
    "forecast_fits": "a8be3250e3195a0e31754684954becc23b3aa5fdf31955b247545ac881a93184",
    "heuristics": "156ce12c9e0e48414e98b9128c21e8adc487df2b37f2892feb290b29beac52da",
    "scorecard": "0fb273a2cb32aa7aa301e163784c8b9abc3d4bcf23366156113dad5abbbbcca9",
    "strategy_variants": "38ad5bdffcc597961c9b72bdf3dbec15663818f4c5ad12a3caaedf8063d4bbdf",
}
PARAMS = Params(errors=ErrorParams(method="error/1"))
_STAMPS = ("run_id", "as_of")


@pytest.fixture(scope="module")
def published() -> dict[type[Table], pl.DataFrame]:
    landed = landed_rows(as_jsonl(taught_rows()))
    assert landed.quarantine.is_empty()
    won = winning_versions(Outcomes, landed.outcomes.lazy(), AS_OF)
    interactions = landed.interactions.lazy().select("interaction_id", "project", "agent", "session_id")
    return learned(resolved_outcomes(won, interactions).collect(), AS_OF, PARAMS).tables


def shown(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    return conform(table, rows.lazy()).sort(table.key).collect().drop(_STAMPS).with_columns(pl.col(pl.Float64).round(9))


@pytest.mark.parametrize("table", LEARNED, ids=lambda table: table.name)
def test_what_was_published_is_published(table, published):
    assert_golden(shown(table, published[table]), FOLDER / f"{table.name}.ndjson", PINNED[table.name])


def test_every_table_of_the_golden_log_has_rows(published):
    assert [table.name for table in LEARNED if published[table].is_empty()] == []


def test_the_golden_methods_are_the_present_ones():
    assert PARAMS.forecast.method.replace("/", "-") == FOLDER.name
