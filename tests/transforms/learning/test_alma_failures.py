"""Where ALMA's learning protocol goes wrong on a log, what is learned from the same log here."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest
from attempt_rows import START, outcomes
from learned_tables import learned
from scipy.special import betaincinv

from slowwave.transforms.learning.params import AgentScope, AttemptParams
from slowwave.transforms.learning.tables import AntiPatterns, CountedOutcomes, ErrorTemplates, Heuristics
from slowwave.transforms.params import Params

_PLAN = "retry the upload with a smaller batch"
_OTHER = "ask the owner for the right file"


def _learned(rows, params=None):
    """What these rows teach, one per hour, on the midnight after the last."""
    as_of = START + timedelta(days=len(rows) // 24 + 1)
    return learned(outcomes(rows), as_of, params or Params()).tables


def _heuristics(rows, params=None):
    return {row["strategy"]: row for row in _learned(rows, params)[Heuristics].to_dicts()}


def _anti_patterns(rows):
    return _learned(rows)[AntiPatterns].to_dicts()


def _won(strategy, n=1, **given):
    return [{"strategy": strategy, **given}] * n


def _lost(strategy, n=1, error="HTTP 500", **given):
    return [{"strategy": strategy, "success": False, "error_message": error, **given}] * n


def test_duplicate_heuristics():
    found = _learned(_won(_PLAN, 20))[Heuristics].to_dicts()
    assert [(row["strategy"], row["attempts"], row["successes"]) for row in found] == [(_PLAN, 20, 20)]


def test_topk_truncation():
    names = ["read the manual", "ask the owner", "search the logs", "bisect the history", "add a probe"]
    found = _heuristics([{"strategy": names[n % 5]} for n in range(500)])
    told = {name: (row["attempts"], row["success_rate"], row["is_reliable"]) for name, row in found.items()}
    assert told == dict.fromkeys(names, (100, 1, True))


def test_confidence_only_last_4():
    (row,) = _heuristics(_lost(_PLAN, 97) + _won(_PLAN, 3)).values()
    assert (row["attempts"], row["successes"]) == (100, 3)
    assert row["confidence"] < 0.2
    assert not row["is_reliable"]


def test_opposite_strategies_stay_apart():
    found = _heuristics(
        _won("validate the input before saving", 9) + _lost("do not validate the input before saving", 9)
    )
    assert sorted(row["successes"] for row in found.values()) == [0, 9]


def test_one_word_heuristic():
    found = _heuristics(_won("alpha") + _won("beta") + _won("gamma"))
    assert {name: row["attempts"] for name, row in found.items()} == {"alpha": 1, "beta": 1, "gamma": 1}
    assert not any(row["is_reliable"] for row in found.values())


def test_error_substring():
    texts = ["", "e", "timeout after 30s", "timeout after 31s", "connection reset by peer"]
    tables = _learned([row for text in texts for row in _lost(_PLAN, error=text)])
    empty, e, after_30, after_31, reset = tables[CountedOutcomes]["error_id"].to_list()
    assert empty is None
    assert after_30 == after_31
    assert len({e, after_30, reset}) == 3
    assert tables[ErrorTemplates].height == 3


def test_anti_pattern_dups():
    rows = [row for _ in range(12) for row in _lost(_PLAN) + _won(_OTHER)]
    (row,) = _anti_patterns(rows)
    assert (row["pattern"], row["failures"], row["attempts"], row["error_failures"]) == (_PLAN, 12, 12, 12)
    assert (row["kind"], row["state"], row["better_alternative"]) == ("avoid", "open", _OTHER)


def test_anti_pattern_has_no_alternative_where_none_is_known():
    (row,) = _anti_patterns(_lost(_PLAN, 20))
    assert (row["kind"], row["better_alternative"], row["baseline_rate"]) == ("hard_task", None, None)


def test_anti_pattern_blames_other_strategy():
    rows = [row for _ in range(20) for row in _lost(_PLAN) + _won(_OTHER)]
    rows += _lost("totally different approach")
    assert [row["pattern"] for row in _anti_patterns(rows)] == [_PLAN]


def test_anti_pattern_ignores_successes():
    rows = _won(_PLAN, 4) + _lost(_PLAN, 2) + _won(_PLAN, 3)
    assert _anti_patterns(rows) == []
    (row,) = _heuristics(rows).values()
    assert (row["attempts"], row["successes"]) == (9, 7)
    assert row["confidence"] > 0.6


def test_write_guard_blocks_later_successes():
    failing = [row for _ in range(12) for row in _lost(_PLAN) + _won(_OTHER)]
    (before,) = _anti_patterns(failing)
    assert before["state"] == "open"
    healed = failing + _won(_PLAN, 12)
    (after,) = _anti_patterns(healed)
    assert (after["pattern"], after["state"], after["failures"], after["attempts"]) == (_PLAN, "closed", 12, 24)
    assert _heuristics(healed)[_PLAN]["successes"] == 12


def test_write_guard_blocks_other_agents():
    rows = [row for _ in range(12) for row in _lost(_PLAN) + _won(_OTHER) + _won(_PLAN, agent="b")]
    assert [row["agent"] for row in _anti_patterns(rows)] == ["a"]
    found = {(row["agent"], row["strategy"]): row["attempts"] for row in _learned(rows)[Heuristics].to_dicts()}
    assert found == {("a", _PLAN): 12, ("a", _OTHER): 12, ("b", _PLAN): 12}


def test_write_guard_one_letter_strategy_blocks_project():
    rows = [row for _ in range(12) for row in _lost("a") + _won("scan all parts")]
    found = _heuristics(rows)
    assert {name: row["successes"] for name, row in found.items()} == {"a": 0, "scan all parts": 12}
    assert [row["pattern"] for row in _anti_patterns(rows)] == ["a"]


def test_anti_pattern_top10_window():
    words = [
        "apple",
        "bread",
        "chair",
        "dance",
        "eagle",
        "flame",
        "grape",
        "house",
        "igloo",
        "jelly",
        "knife",
        "lemon",
        "mango",
        "night",
        "ocean",
    ]
    failing = [row for word in words for row in _lost(_PLAN, 2, error=f"{word} {word[::-1]} missing")]
    (row,) = _anti_patterns([one for row in failing for one in (row, *_won(_OTHER))])
    assert (row["failures"], row["pattern"], row["error_id"], row["error_template"]) == (30, _PLAN, "", None)


def test_cascades_make_no_anti_pattern():
    rows = [row for _ in range(20) for row in _lost(_PLAN, error="depends on step build") + _won(_OTHER)]
    assert _anti_patterns(rows) == []
    assert list(_heuristics(rows)) == [_OTHER]


def test_extractor_never_downgrades():
    three = _heuristics(_won(_PLAN, 3))[_PLAN]
    forty = _heuristics(_won(_PLAN, 3) + _lost(_PLAN, 37))[_PLAN]
    assert (forty["attempts"], forty["successes"]) == (40, 3)
    assert forty["confidence_high"] < three["confidence_low"]


def test_extractor_3_of_3_conf():
    row = _heuristics(_won(_PLAN, 3))[_PLAN]
    assert row["confidence"] > 0.6
    assert row["confidence_high"] - row["confidence_low"] > 0.3


@pytest.mark.parametrize("count", [1, 3, 10, 40])
def test_extractor_a_lone_strategy_is_not_surer_than_its_attempts(count: int):
    """Its own attempts are all that its project, its agent and its task type are known by."""
    row = _heuristics(_won(_PLAN, count))[_PLAN]
    assert 1 - row["confidence"] > 0.05 / count
    assert row["confidence_low"] < betaincinv(count + 0.5, 0.5, 0.05)  # Jeffreys' bound: Brown, Cai & DasGupta 2001


def test_extractor_counts_are_those_of_the_log_however_often_it_runs():
    rows = _won(_PLAN, 3)
    assert _learned(rows)[Heuristics].equals(_learned(rows)[Heuristics])
    assert _heuristics(rows)[_PLAN]["attempts"] == 3


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_extractor_grouping_order_dependent(order):
    texts = [_PLAN, "Retry the upload with a SMALLER batch.", "retry uploads with smaller batches"]
    rows = [{"strategy": texts[n], "outcome_id": f"o{n}"} for n in order]
    (row,) = _learned(rows)[Heuristics].to_dicts()
    assert (row["attempts"], row["variants"]) == (3, sorted(texts))


def test_extractor_task_type_substring():
    params = Params(attempts=AttemptParams(scopes=(AgentScope(agent="a", can_learn=("api_testing",)),)))
    assert _heuristics(_won(_PLAN, task_type="api"), params) == {}
    assert list(_heuristics(_won(_PLAN, task_type="api_testing"), params)) == [_PLAN]
