"""What nightly's screen says of memories: few lines, the most urgent first, nothing obeyed by the terminal."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.kernel.progress import print_lines
from slowwave.flows.nightly.learned_lines import memory_lines
from slowwave.flows.nightly.screen import next_commands, result_lines

AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere
HOSTILE = "=cmd() \x1b[31mred\u202e"
QUICKLY = {"memory_type": "episodic", "importance": 0.0}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """One memory in use, one pinned, one faded, one fading, one waiting, one superseded; and a project of copies."""
    made = SmallHome(tmp_path_factory.mktemp("lines") / "home")
    used = memory("used")
    made.land(
        used,
        memory("pinned", pinned=True),
        memory("faded", **QUICKLY, changed_at="2025-06-01T08:00:00Z"),
        memory("fading", **QUICKLY, changed_at="2026-01-01T08:00:00Z"),
        memory("waiting", status="candidate"),
        memory("old", changed_at="2026-01-01T08:00:00Z"),
        {"memory_id": "old", "changed_at": "2026-02-01T08:00:00Z", "status": "superseded"},
        *(memory(f"copy {number}", project=HOSTILE, content="The same text again and again.") for number in range(20)),
        *(
            interaction(
                f"i{day}",
                created_at=f"2026-03-{day:02}T09:00:00Z",
                response=used["content"],
                memories_used=["used", "faded"],
            )
            for day in range(2, 14)
        ),
        interaction("before", created_at="2026-01-01T09:00:00Z"),
    )
    made.nightly(AS_OF)
    return made


def lines(home: SmallHome) -> list[tuple[str, str]]:
    return memory_lines(home.settings.current.resolve())


def test_counts_come_first_then_what_to_do(home):
    found = lines(home)
    assert [label for label, _ in found] == ["memories", "to forget", "to review", "alarm"], (
        "one order, that of the queue"
    )
    assert found[0][1] == (
        "24 active: 22 unproven, 2 keep; 1 landed candidate waits for a decision; "
        "1 fades within 30 days without a reference"
    )
    assert found[1][1] == "1: `slowwave forget plan` shows them, `slowwave forget apply` archives"
    assert found[2][1] == (
        "8 items (1 candidate, 7 merge): `slowwave review list` shows them; first: Prices are integers of the smallest"
        " coin of waiting."
    )
    assert found[-1][1].endswith(
        ": critical: 100 % of 20 active memories with a text have a text that another one has too (alarm above 50 %)."
    )


def test_what_waits_is_the_next_thing_to_look_at(home, tmp_path: Path):
    assert next_commands(home.nightly(AS_OF))[0].endswith(" review list")
    made = SmallHome(tmp_path / "home")
    made.land(interaction("i1"))
    assert not any("review" in command for command in next_commands(made.nightly(AS_OF)))


def test_next_is_a_question_that_has_an_answer(tmp_path: Path):
    made = SmallHome(tmp_path / "home")
    made.land(interaction("i1"))
    asked = next_commands(made.nightly(AS_OF))
    assert any(command.endswith(" sql answerable_questions") for command in asked)
    assert not any("best_strategies" in command for command in asked)
    made.land(outcome("o1", interaction_id="i1", strategy="read first"))
    assert any(
        command.endswith(" sql best_strategies") for command in next_commands(made.nightly(AS_OF + timedelta(days=1)))
    )


def test_tables_without_rows_are_counted_and_not_named(tmp_path: Path):
    made = SmallHome(tmp_path / "home")
    made.land(interaction("i1"))
    (published,) = (text for label, text in result_lines(made.settings, made.nightly(AS_OF)) if label == "published")
    assert "answerable_questions 8 rows" in published
    assert "memory_health" not in published
    assert published.endswith(" empty tables")


def test_without_a_queue_the_memories_worth_a_look_are_named(tmp_path: Path):
    made = SmallHome(tmp_path / "home")
    made.land(memory("young", changed_at="2026-03-19T08:00:00Z"), interaction("i1"))
    made.nightly(AS_OF)
    _, (label, said), (_, first) = lines(made)
    assert (label, said) == ("review first", "where a wrong verdict would cost most: `slowwave sql review_order`")
    assert first.startswith("young, unproven: ")


def test_a_name_is_shown_and_not_obeyed(home, capsys):
    print_lines("", lines(home))
    shown = capsys.readouterr().out
    assert r"\x1b[31mred" in shown
    assert not {"\x1b", "\u202e"} & set(shown)


def test_a_path_that_is_long_stays_whole(capsys):
    path = "/srv/" + "a-long-name/" * 20
    print_lines("", [("other files", f"1 file left, such as {path}x.jsonl: is none")])
    assert f" {path}x.jsonl:" in capsys.readouterr().out


def test_without_memories_nothing_is_said(tmp_path: Path):
    made = SmallHome(tmp_path / "home")
    made.land(interaction("i1"))
    made.nightly(AS_OF)
    assert lines(made) == []


def test_ids_that_never_landed_are_not_proven(tmp_path: Path):
    made = SmallHome(tmp_path / "home")
    made.land(interaction("i1", memories_used=["gone"]))
    made.nightly(AS_OF)
    assert lines(made)[0] == ("memories", "0 active; 1 injected or cited but never landed")
