"""Params: frozen, closed, bounded, and hashed whole."""

from typing import Any

import pytest
from pydantic import ValidationError

from slowwave.transforms.params import EvidenceParams, Params

OTHER_EVIDENCE: dict[str, Any] = {
    "injected_method": "injected/2", "echo_method": "echo/2", "global_types": ("identity",),
    "echo_code_points": 81, "echo_min_code_points": 13,
}  # fmt: skip
OTHER: dict[str, Any] = {"reinforcement_delta": 0.03, "reinforcement_cap": 0.9}


def test_another_value_is_known_here_for_every_field():
    assert set(OTHER_EVIDENCE) == set(EvidenceParams.model_fields)
    assert {*OTHER, "evidence"} == set(Params.model_fields)


def test_the_hash_changes_with_every_field_and_the_evidence_hash_only_with_evidence():
    changed_evidence = [Params(evidence=EvidenceParams(**{name: value})) for name, value in OTHER_EVIDENCE.items()]
    changed_rest = [Params(**{name: value}) for name, value in OTHER.items()]
    everything = [Params(), *changed_evidence, *changed_rest]
    assert len({params.params_hash() for params in everything}) == len(everything)
    assert len({params.evidence_hash() for params in changed_evidence}) == len(changed_evidence)
    assert {params.evidence_hash() for params in changed_rest} == {Params().evidence_hash()}
    assert Params().evidence_hash() not in {params.evidence_hash() for params in changed_evidence}


def test_pinned():
    """Evidence of released params keeps its hash: were it another, every day of every lake would be built anew."""
    assert Params().evidence_hash() == "c98a14003c6955aad0bc73b11a9514de"
    assert Params().methods() == ["injected/1", "echo/1"]


def test_frozen():
    with pytest.raises(ValidationError):
        Params().reinforcement_delta = 0.5
    with pytest.raises(ValidationError):
        Params().evidence.echo_code_points = 5


@pytest.mark.parametrize(
    "given",
    [
        {"unknown": 1}, {"evidence": {"unknown": 1}}, {"reinforcement_delta": -0.01}, {"reinforcement_delta": 1.01},
        {"reinforcement_cap": 1.01}, {"reinforcement_delta": float("nan")}, {"evidence": {"echo_code_points": 0}},
        {"evidence": {"echo_min_code_points": 0}}, {"reinforcement_delta": "much"},
    ],
)  # fmt: skip
def test_refused(given):
    with pytest.raises(ValidationError):
        Params(**given)
