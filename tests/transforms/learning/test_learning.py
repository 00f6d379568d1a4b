"""Everything that is learned from outcomes, together."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from attempt_rows import START, outcomes
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_tables import LEARNED, learned
from polars.testing import assert_frame_equal
from thorough import examples

from slowwave.transforms.core.frames import framed
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.params import ScorecardParams
from slowwave.transforms.learning.tables import AntiPatterns, CountedOutcomes, Scorecard, StrategyScoresState
from slowwave.transforms.params import Params

_PARAMS = Params(confidence=ConfidenceParams(min_fit_attempts=50, fit_margin_nats=0, min_dispersion_cells=5))
_GIVEN_BY_THE_RUN = {"run_id", "as_of"}


def _log(seed, days=30):
    """Two projects and agents, strategies in several wordings, two of them failing, sessions of several attempts."""
    generator = np.random.default_rng(seed)
    worth = {
        "retry the upload": 0.9, "Retry the uploads.": 0.9, "ask the owner": 0.6, "do not retry": 0.05, "guess": 0.1,
        None: 0.5,
    }  # fmt: skip
    errors = ["timeout after {}s", "file /tmp/{} not found", "depends on step {}", ""]
    rows = []
    for number in range(days * 40):
        strategy = list(worth)[int(generator.integers(len(worth)))]
        success = bool(generator.random() < worth[strategy])
        at = START + timedelta(days=number // 40, minutes=int(generator.integers(1440)))
        project = "pq"[int(generator.integers(2))]
        rows.append(
            {
                "strategy": strategy,
                "success": success,
                "project": project,
                "agent": "ab"[int(generator.integers(2))],
                "task_type": [None, "api"][int(generator.integers(2))],
                "task": ["Test it", "write a report", None][int(generator.integers(3))],
                "session_id": [None, f"s{number // 3}"][int(generator.integers(2))],
                "interaction_id": f"{project}{number // 4}",
                "error_message": None if success else errors[int(generator.integers(4))].format(number),
                "created_at": at,
                "recorded_at": at + timedelta(hours=int(generator.integers(48))),
                "cost": float(generator.random()),
                "duration_ms": None,
            }
        )
    once = {"strategy": "sleep on it", "task_type": "api"}  # elsewhere it is not tried
    for project in "pq":
        at = START + timedelta(days=2)
        rows += [{**once, "project": project, "success": project == "p", "created_at": at, "recorded_at": at}]
    return outcomes(rows)


@pytest.mark.parametrize("log", [outcomes([]), outcomes([{"strategy": None}]), outcomes([{"attempted": False}])])
def test_nothing_to_learn_is_empty_tables(log):
    found = learned(log, START + timedelta(days=30), Params())
    assert set(found.tables) == set(LEARNED)
    assert found.tables[CountedOutcomes].height == log.height
    for table in set(LEARNED) - {CountedOutcomes, *_grouped(log)}:
        assert found.tables[table].is_empty()


def _grouped(log):
    """Tables of texts hold the text of what was not attempted too."""
    return [table for table in LEARNED if table.name == "strategy_variants" and log["strategy"].count()]


def test_every_table_has_its_columns_and_one_row_per_key_in_order():
    found = learned(_log(1), START + timedelta(days=32), _PARAMS)
    for table, frame in found.tables.items():
        assert set(table.model_fields) - _GIVEN_BY_THE_RUN <= set(frame.columns), table.name
        assert frame.height > 0, table.name
        assert frame.select(table.key).is_unique().all(), table.name
        assert frame.select(table.key).equals(frame.select(table.key).sort(table.key)), table.name
        for name, column in frame.select(set(table.model_fields) & set(frame.columns)).to_dict().items():
            if column.dtype == pl.Float64:
                assert not column.is_nan().any(), f"{table.name}.{name}"
    assert found.tables[Scorecard]["cutoff_at"].n_unique() == 3
    assert {"avoid"} <= set(found.tables[AntiPatterns]["kind"])


@settings(max_examples=examples(2, 4))
@given(st.integers(0, 99), st.randoms(use_true_random=False))
def test_the_order_of_outcomes_does_not_matter_bit_for_bit(seed, random):
    log = _log(seed, days=16)
    shuffled = log[random.sample(range(log.height), log.height)]
    as_of = START + timedelta(days=18)
    one, other = (learned(some, as_of, _PARAMS) for some in (log, shuffled))
    for table in LEARNED:
        assert_frame_equal(one.tables[table], other.tables[table], check_exact=True)
    assert_frame_equal(one.counted.attempts, other.counted.attempts, check_exact=True)


@pytest.mark.slow
@settings(max_examples=examples(2, 6))
@given(st.integers(0, 99), st.integers(9, 29), st.integers(0, 99))
def test_what_an_earlier_night_graded_changes_nothing(seed, earlier, changed):
    log, params = _log(seed, days=30), _PARAMS.model_copy(update={"scorecard": ScorecardParams(cutoffs=2)})
    as_of = START + timedelta(days=32)
    seen = log.filter(pl.col("recorded_at") < START + timedelta(days=earlier))
    before = learned(seen, START + timedelta(days=earlier), params).scores
    log = log.with_columns(pl.col("success") != (pl.int_range(pl.len()) == changed))  # a late row
    now = learned(log, as_of, params)
    assert_frame_equal(learned(log, as_of, params, before=before).scores, now.scores, check_exact=True)
    assert_frame_equal(learned(log, as_of, params, before=now.scores).scores, now.scores, check_exact=True)


def test_what_was_graded_is_not_graded_again():
    log, as_of = _log(3, days=30), START + timedelta(days=31)
    now = learned(log, as_of, _PARAMS)
    marked = framed(StrategyScoresState, now.scores.with_columns(attempts=pl.lit(-1, pl.Int64)))
    again = learned(log, as_of, _PARAMS, before=marked)
    assert again.scores["attempts"].unique().to_list() == [-1]
    one_late = log.with_columns(pl.col("success") != (pl.int_range(pl.len()) == 700))  # of the 18th day
    parts = learned(one_late, as_of, _PARAMS, before=marked).scores.group_by("part").agg(pl.col("attempts").max())
    kept = set(parts.filter(pl.col("attempts") == -1)["part"])
    first, second, third = now.tables[Scorecard]["cutoff_at"].unique().sort().dt.epoch("d").to_list()
    assert kept == {f"{first} alone", f"{first} to date"}
    assert {f"{second} alone", f"{third} to date", "all"} <= set(parts["part"]) - kept


def test_projects_do_not_touch_bit_for_bit():
    log, as_of = _log(2, days=16), START + timedelta(days=18)
    together = learned(log, as_of, _PARAMS).tables
    alone = learned(log.filter(pl.col("project") == "p"), as_of, _PARAMS).tables
    for table in set(LEARNED) - {Scorecard}:  # the scorecard pools projects
        of_p = together[table].filter(pl.col("project") == "p").drop("cell", strict=False)
        assert_frame_equal(of_p, alone[table].drop("cell", strict=False), check_exact=True)
