"""Params: frozen, closed, bounded, and hashed whole."""

import subprocess
import sys
from typing import Any

import pytest
from each import each
from pydantic import ValidationError
from tried_methods import tried

from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.graph import NODES
from slowwave.transforms.params import Params

OTHER_EVIDENCE: dict[str, Any] = {
    "eligible_method": "eligible/1", "cited_method": "cited/99", "injected_method": "injected/99",
    "echo_method": "echo/99", "global_types": ("identity",),
    "echo_code_points": 81, "echo_min_code_points": 13, "broad_memories": 11, "bulk_memories": 101,
    "extract": {"min_code_points": 9}, "used": {"threshold": 0.61},
}  # fmt: skip
OTHER: dict[str, Any] = {
    "reinforcement_delta": 0.03, "reinforcement_cap": 0.9, "stated": {"inferred_knowledge": 0.5},
    "attempts": {"min_occurrences": 4},
    "scopes": {"tags": ["tenant"]}, "followed": {"method": "followed/99"},
    "strategies": {"method": "strategy_groups/99"}, "errors": {"max_tokens": 65},
    "confidence": {"parent_strength": 6},
    "heuristics": {"trend_days": 15}, "anti_patterns": {"margin": 0.06}, "memory_outcomes": {"min_sessions": 6},
    "scorecard": {"horizon_days": 8}, "strength": {"fit_windows": 23}, "need": {"windows": 23},
    "trend": {"min_bursts": 5}, "verdict": {"grace_days": 15}, "project_health": {"growth_days": 31},
    "answers": {"method": "answers/99"},
    "review": {"prior_wrong": 0.2}, "review_queue": {"min_sessions": 2}, "forgetting": {"grace_days": 31},
    "llm": {"answer_tokens": 401},
    "observations": {"fresh_days": 31},
}  # fmt: skip


def test_another_value_is_known_here_for_every_field():
    assert set(OTHER_EVIDENCE) == set(EvidenceParams.model_fields)
    assert {*OTHER, "evidence"} == set(Params.model_fields)


@pytest.fixture
def _others_are_tried():
    with (
        tried("injected/1", "injected/99"),
        tried("echo/1", "echo/99"),
        tried("cited/1", "cited/99"),
        tried("strategy_groups/1", "strategy_groups/99"),
        tried("answers/1", "answers/99"),
        tried("followed/1", "followed/99"),
    ):
        yield


@pytest.mark.usefixtures("_others_are_tried")
def test_the_hash_changes_with_every_field_and_the_evidence_hash_only_with_evidence():
    changed_evidence = [Params(evidence=EvidenceParams(**{name: value})) for name, value in OTHER_EVIDENCE.items()]
    changed_rest = [Params(**{name: value}) for name, value in OTHER.items()]
    everything = [Params(), *changed_evidence, *changed_rest]
    assert len({params.params_hash() for params in everything}) == len(everything)
    assert len({params.evidence_hash() for params in changed_evidence}) == len(changed_evidence)
    assert {params.evidence_hash() for params in changed_rest} == {Params().evidence_hash()}
    assert Params().evidence_hash() not in {params.evidence_hash() for params in changed_evidence}


def test_a_run_names_the_version_of_confidence_that_computed():
    with tried("heuristic/3", "heuristic/99"):
        params = Params.model_validate({"heuristics": {"method": "heuristic/99"}})
        assert [name for name in params.methods() if name.startswith("heuristic/")] == ["heuristic/99"]
        (learning,) = (node for node in NODES if node.name == "learn_strategies")
        assert "heuristic/99" in learning.method_ids(params)


def test_pinned():
    assert Params().methods() == [
        "eligible/3", "injected/1", "echo/1", "cited/1", "used/3", "extract/1", "followed/1", "stated/2", "attempt/2",
        "task_type/1", "strategy_groups/1", "error/3", "heuristic/3", "strategy_trend/3", "untried/1", "scorecard/2",
        "anti_patterns/3", "memory_outcomes/1", "lift/1", "strength/2", "need/1", "memory_trend/2", "verdict/4",
        "project_health/3", "answers/1", "review_value/1", "review_queue/6", "forgetting/3", "regret/1", "observe/6",
        "curate/4",
    ]  # fmt: skip


def test_frozen():
    with pytest.raises(ValidationError):
        Params().reinforcement_delta = 0.5
    with pytest.raises(ValidationError):
        Params().evidence.echo_code_points = 5


def test_importing_asks_nothing_of_polars():
    """Its threads would be started, and a process that forks later, as the crash tests' driver does, would hang."""

    def threads(module: str) -> int:
        code = f"import {module}, pathlib; print(len(list(pathlib.Path('/proc/self/task').iterdir())))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
        return int(done.stdout)

    assert threads("slowwave.transforms.params") == threads("polars")


@each(
    "given",
    [
        {"attempts": {"not_attempted": [{"reason": "x", "pattern": "("}]}},
        {"attempts": {"task_types": [{"task_type": "x", "pattern": "(?!a)b"}]}},
        {"confidence": {"grid": [{"half_life_days": 3, "prior_strength": 2}]}},
        {"confidence": {"fit_margin_nats": float("inf")}},
        {"unknown": 1}, {"evidence": {"unknown": 1}}, {"reinforcement_delta": -0.01}, {"reinforcement_delta": 1.01},
        {"reinforcement_cap": 1.01}, {"reinforcement_delta": float("nan")}, {"evidence": {"echo_code_points": 0}},
        {"evidence": {"echo_min_code_points": 0}}, {"reinforcement_delta": "much"},
        {"need": {"bulk_weights": [[33, 4]]}}, {"need": {"bulk_weights": [[16, -1]]}},
        {"need": {"first_reference_ages": [30, 7]}},
    ],
)  # fmt: skip
def test_refused(given):
    with pytest.raises(ValidationError):
        Params(**given)


def test_weights_are_taken_up_to_both_ends():
    assert Params(need={"bulk_weights": [[32, 0]]}).need.bulk_weights == ((32, 0),)  # type: ignore[arg-type] - as stated
