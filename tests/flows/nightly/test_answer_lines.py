"""What nightly's screen says that a log can and cannot answer: most at first, later what cannot be answered."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.nightly.learned_lines import answer_lines

AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def told(home: SmallHome) -> list[tuple[str, str]]:
    return answer_lines(home.settings.current.resolve())


def test_transcripts_alone_are_told_what_to_record_each_once(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(interaction("i1"), interaction("i2"))
    home.nightly(AS_OF)
    lines = told(home)
    assert [label for label, _ in lines] == ["answers", "", "", ""]
    given, used, works, helps = (text for _, text in lines)
    assert given.startswith("Which memories are agents given? Not known: 2 interactions landed without naming a memory")
    assert given.endswith("(`memories_used`).")
    assert "no memory landed with a text that 2 interactions could rely on" in used
    assert works.endswith("`record_outcome(success, strategy=…)`.")
    assert "Do the memories help? Not known: 2 interactions landed without an outcome; so no memory has" in helps


def test_an_empty_home_is_told_once_what_to_land(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.nightly(AS_OF)
    texts = [text for _, text in told(home)]
    assert sum("Land interactions:" in text for text in texts) == 1
    assert texts[0].startswith("Which memories are agents given? Not known: no interaction landed. Land interactions:")


def test_after_the_first_publish_only_what_cannot_be_answered_is_told(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    repeats = memory("m1")["content"]
    always = interaction("i1", memories_used=["m1"], response=repeats)
    home.land(memory("m1"), always, outcome("o1", interaction_id="i1", strategy="read first"))
    home.nightly(AS_OF)
    at_first = [text for _, text in told(home)]
    assert at_first[1].startswith("Which memories do answers rely on? 1 of 1 interaction got an answer that quotes")
    home.nightly(AS_OF + timedelta(days=1))
    ((label, later),) = told(home)
    assert label == "answers"
    assert later == at_first[3]
    assert "1 interaction landed, 1 with a known end and always with a memory" in later
    assert "`injection_probability`" in later


@pytest.mark.slow
def test_when_all_is_answered_one_line_says_where(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    rows = [memory("m1")]
    for number in range(120):
        is_given = number % 2 == 0
        rows.append(
            interaction(
                f"i{number}",
                created_at=f"2026-03-{2 + number // 10:02}T09:{number % 10:02}:00Z",
                session_id=f"s{number}",
                response=rows[0]["content"],
                memories_used=["m1"] if is_given else [],
                memories_offered=[{"id": "m1"}],
                injection_probability=0.5,
                success=number % 4 < 3,
                strategy="read first",
            )
        )
    home.land(*rows)
    home.nightly(AS_OF)
    helps = [text for _, text in told(home)][3]
    assert helps.startswith(
        "Do the memories help? Where chance or a score threshold decided what was injected, success was"
    )
    assert helps.endswith("How 120 of 120 interactions ended is known.")
    home.nightly(AS_OF + timedelta(days=1))
    assert told(home) == [("answers", "to 4 questions: `slowwave sql answerable_questions`")]
