"""What `attempt/2` counts of outcomes that were reported, evaluated and inferred, of a log written by hand.

The files in tests/golden/attempt-2 are released (see golden_tables).
"""

import polars as pl
import pytest
from delivered import as_jsonl, utc
from golden_tables import assert_golden, golden_names
from learned_tables import learned

from slowwave.transforms.core.frames import framed
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Outcomes
from slowwave.transforms.landing.versions import winning_versions
from slowwave.transforms.learning.outcomes import resolved_outcomes
from slowwave.transforms.learning.params import AttemptParams
from slowwave.transforms.params import Params

COLUMNS = [
    "outcome_id", "interaction_id", "success", "basis", "basis_method", "is_attempt", "is_counted", "is_learned",
    "is_deciding", "reason",
]  # fmt: skip
AS_OF = utc(2026, 3, 12)


def ended(outcome_id, hour, interaction_id=None, **fields):
    row = {"outcome_id": outcome_id, "created_at": f"2026-03-10T{hour:02}:00:00Z", "interaction_id": interaction_id}
    return {"success": True, "project": "mill", "strategy": "grind twice", **row, **fields}


INFERRED = {"basis": "inferred", "basis_method": "transcript_tests/1"}
ROWS = [
    ended("reported", 8, "both"),
    ended("inferred after it", 9, "both", success=False, **INFERRED),
    ended("inferred before", 8, "graded", success=False, **INFERRED),
    ended("evaluated", 9, "graded", basis="evaluated", basis_method="judge/3"),
    ended("tests", 8, "inferred alone", **INFERRED),
    ended("build", 9, "inferred alone", success=False, basis="inferred", basis_method="transcript_build/1"),
    ended("refused", 10, "inferred alone", success=False, attempted=False, **INFERRED),
    ended("cancelled, says the person", 8, "cancelled", success=False, error_message="Cancelled by the user"),
    ended("its tests passed", 9, "cancelled", **INFERRED),
    ended("of no interaction", 8, **INFERRED),
    ended("without a strategy", 8, "unsaid", strategy=None, **INFERRED),
    ended("of an unknown basis", 8, "odd", basis="a guess"),
    {"interaction_id": "inline", "prompt": "?", "created_at": "2026-03-10T08:00:00Z", "success": False, **INFERRED},
]


@pytest.fixture(scope="module")
def counted():
    landed = landed_rows(as_jsonl(ROWS))
    assert landed.quarantine.is_empty()
    won = winning_versions(Outcomes, landed.outcomes.lazy(), AS_OF)
    interactions = landed.interactions.lazy().select("interaction_id", "project", "agent", "session_id", "user_id")
    outcomes = resolved_outcomes(won.collect(), framed(ReplayedInteractions, interactions, partial=True))
    found = []
    for learns in (False, True):
        params = Params(attempts=AttemptParams(learn_from_inferred=learns))
        rows = learned(outcomes, AS_OF, params).counted_outcomes.select(COLUMNS)
        found.append(rows.sort("outcome_id").select(pl.lit(learns).alias("learn_from_inferred"), *COLUMNS))
    return pl.concat(found)


@pytest.mark.parametrize("name", golden_names("attempt-2"))
def test_what_was_published_is_published(name, counted):
    assert_golden(counted, name)
