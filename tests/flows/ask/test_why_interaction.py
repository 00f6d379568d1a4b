"""`slowwave why` of an interaction: its words, what became of each memory, and the evidence before and after it."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.cli import main as cli


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    """m1 is quoted in three interactions, one a day; published after the first and after the last."""
    made = SmallHome(tmp_path_factory.mktemp("around") / "home")
    says = memory("m1")["content"]
    given = {"memories_used": ["m1", "m2"], "response": says, "prompt": f"Repeat: {says}"}
    tried = {"task_type": "fix", "strategy": "read the log first"}
    made.land(
        memory("m1", confidence=0.5),
        memory("m2", content="The espresso machine of the third floor is descaled each quarter."),
        *(interaction(f"i{day}", created_at=f"2026-03-0{day}T09:00:00Z", **given) for day in (2, 4, 6)),
        *(
            outcome(
                f"o{day}", interaction_id=f"i{day}", created_at=f"2026-03-0{day}T10:00:00Z", success=day > 2, **tried
            )
            for day in (2, 4, 6)
        ),
    )
    for day in (3, 7):
        made.nightly(datetime(2026, 3, day))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    return made


def _asked(home, capfd, monkeypatch, output):
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    capfd.readouterr()
    assert cli._exit_code(["why", "i4", "--all", "--format", output]) == 0
    return capfd.readouterr().out


def test_the_evidence_is_that_before_and_with_the_interaction(home, capfd, monkeypatch):
    found = json.loads(_asked(home, capfd, monkeypatch, "json"))
    assert found["prompt"].startswith("Repeat: ")
    assert found["response"] == memory("m1")["content"]
    m1, m2 = found["memories"]
    assert (m1["is_injected"], m1["is_quoted"], m1["in_prompt"]) == (True, True, True)
    assert (m2["is_injected"], m2["is_quoted"], m2["is_used"]) == (True, False, False)
    counts = ("injected", "quoted", "confirmed", "contradicted")
    assert [[m1[side][name] for name in counts] for side in ("before", "after")] == [[1, 1, 0, 1], [2, 2, 1, 1]]
    assert [m1[side]["reinforced_confidence"] for side in ("before", "after")] == pytest.approx([0.52, 0.54])
    (strategy,) = found["strategies"]
    assert [(strategy[side]["attempts"], strategy[side]["successes"]) for side in ("before", "after")] == [
        (1, 0),
        (2, 1),
    ]
    assert (found["published_before"], found["published_after"]) == ("2026-03-03T00:00:00Z", "2026-03-07T00:00:00Z")
    assert 0 < strategy["before"]["confidence"] < strategy["after"]["confidence"] < 1


def test_people_read_the_same(home, capfd, monkeypatch):
    lines = _asked(home, capfd, monkeypatch, "text").splitlines()
    assert "prompt:" in lines
    assert "answer:" in lines
    assert any(line.startswith("  m1  quoted, which the prompt said already") for line in lines)
    assert "  m2  neither quoted nor used" in lines
    said = " ".join(" ".join(lines).split())
    assert "injected 1 → 2, quoted 1 → 2" in said
    assert "attempts 1 → 2, successes 0 → 1, confidence 0." in said
    assert "confidence is what was published as of 2026-03-03 00:00:00Z → as of 2026-03-07 00:00:00Z" in said
