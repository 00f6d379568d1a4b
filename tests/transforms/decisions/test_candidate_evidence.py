"""What speaks for and against a statement of an answer."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from slowwave.transforms.candidate_evidence import candidate_points, candidate_words
from slowwave.transforms.review_queue_params import ReviewQueueParams


def told(text: str, **rest: Any) -> dict[str, Any]:
    known = {
        "rules": ["requirement_sentence"],
        "memory_ids": [],
        "rank_score": 1,
        "succeeded_count": 0,
        "failed_count": 0,
    }
    frame = pl.DataFrame([{**known, "text": text, **rest}], schema_overrides={"memory_ids": pl.List(pl.String)})
    return frame.select(candidate_points().alias("points"), candidate_words().alias("words")).row(0, named=True)


@pytest.mark.parametrize(
    "text",
    [
        "We decided to keep the old API.",
        "Exports must be streamed.",
        "All handlers must return typed errors.",
        "Do not change the public API.",
        "The user prefers dark mode.",
        "Prices must never be floats.",
        "Tests must not reach the network.",
    ],
)
def test_a_rule_that_stands_by_itself_is_a_candidate(text: str) -> None:
    assert told(text)["points"] >= ReviewQueueParams().min_points


@pytest.mark.parametrize(
    ("text", "against"),
    [
        ("They must love the garden.", "points back"),
        ("It must be a caching problem.", "guesses"),
        ("Must be an amazing trip.", "chats"),
        ("I decided to take the bus today.", "talks"),
        ("Hello, requirements are to be read.", "greets"),
        ("Must the export be streamed?", "asks"),
        ("But this file must go to /home/ada/notes.txt first.", "one machine"),
        ("The check on line 12 must be removed from PR #7.", "one occasion"),
        ("The copyright notice shall be included in", "cut off"),
        ("✅ Correct, the handler must return early", "piece of a page"),
    ],
)
def test_talk_guesses_and_pieces_are_not(text: str, against: str) -> None:
    found = told(text)
    assert found["points"] <= 0
    assert against in found["words"].partition("; against it: ")[2]


def test_sessions_outcomes_and_headings_speak_for_it_and_landing_most() -> None:
    one = told("Exports must be streamed.")["points"]
    assert told("Exports must be streamed.", rank_score=3)["points"] == one + 2
    assert told("Exports must be streamed.", rank_score=90)["points"] == one + 3
    assert told("Exports must be streamed.", succeeded_count=2, failed_count=1)["points"] == one + 1
    assert told("Exports must be streamed.", failed_count=1)["points"] == one
    assert told("Exports must be streamed.", rules=["constraint_heading"])["points"] == one + 3
    assert told("It must go?", memory_ids=["m"])["points"] > 0
