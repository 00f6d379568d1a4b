"""Scores in a front matter: read as they were written, taken out to the byte, and no word of the file's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.imports.stores.claude_memories import memories_of
from slowwave.transforms.imports.stores.memory_files import UnchangeableError, parse_scores, scores_in, with_scores

PATH = "/srv/projects/-srv-shop/memory/tabs.md"
SCORES = {"confidence": 0.72, "verdict": "keep"}
LINES = st.lists(
    st.sampled_from(
        [
            "name: tabs",
            "metadata:",
            "  type: user",
            "  slow: wave",
            "---",
            "",
            "slowwave: mine",
            "about: |",
            "  text",
            "é: ☃",
        ]
    )
    | st.text(max_size=6),
    max_size=8,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.text(max_size=30))
def test_what_is_written_is_read_and_taken_out_again(lines: list[str], end: str, has_front: bool, body: str):
    text = f"---{end}{''.join(line + end for line in lines)}---{end}{body}" if has_front else body
    try:
        made = with_scores(text, SCORES)
    except UnchangeableError:
        return
    assert scores_in(made) == SCORES
    assert with_scores(made, {"verdict": "review"}) == with_scores(text, {"verdict": "review"})
    if scores_in(text) is None:
        assert with_scores(made, None) == text
        assert memories_of(PATH, made) == memories_of(PATH, text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Use tabs.\n", "---\nslowwave: confidence 0.72; verdict keep\n---\nUse tabs.\n"),
        (
            "---\nname: a\nmetadata:\n  type: user\n---\nUse tabs.",
            "---\nname: a\nmetadata:\n  slowwave: confidence 0.72; verdict keep\n  type: user\n---\nUse tabs.",
        ),
    ],
)
def test_the_line_stands_below_the_metadata_or_by_itself(before: str, after: str):
    assert with_scores(before, SCORES) == after


def test_what_is_not_ours_is_no_score_and_stays():
    assert parse_scores("mine") is None
    assert parse_scores("confidence 2") is None
    with pytest.raises(UnchangeableError, match="such that all else stays"):
        with_scores("---\nslowwave: mine\n---\nUse tabs.", SCORES)
