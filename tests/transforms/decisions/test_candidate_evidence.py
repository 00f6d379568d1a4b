"""What speaks for and against a statement of an answer."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from slowwave.transforms.core.frames import Frame, empty, framed
from slowwave.transforms.decisions.review.candidate_evidence import judged_candidates, statement_signs
from slowwave.transforms.decisions.review.params import ReviewQueueParams
from slowwave.transforms.decisions.review.tables import StatementSigns
from slowwave.transforms.evidence.statements.tables import ExtractedStatements

COUNTS = ("rank_score", "succeeded_count", "failed_count")


def signs_of(texts: list[str], before: Frame[StatementSigns] | None = None) -> Frame[StatementSigns]:
    statements = framed(ExtractedStatements, pl.LazyFrame({"text": texts}), partial=True)
    return statement_signs(empty(StatementSigns) if before is None else before, statements)


def told(text: str, **rest: Any) -> dict[str, Any]:
    known = {
        "rules": ["requirement_sentence"],
        "memory_ids": [],
        "rank_score": 1,
        "succeeded_count": 0,
        "failed_count": 0,
    }
    frame = pl.DataFrame([{**known, "text": text, **rest}], schema_overrides={"memory_ids": pl.List(pl.String)})
    (row,) = judged_candidates(frame, least=-1_000).rename({"wording": "words"}).to_dicts()
    return row


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
        "The exporter's settings file must name a region.",
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
        ("The delay must come from somewhere else.", "guesses"),
        ("The index must be stale.", "guesses"),
        ("No, rows must be sorted once.", "a remark"),
        ("I decided to take the bus today.", "talks"),
        ("Hello, requirements are to be read.", "greets"),
        ("Must the export be streamed?", "asks"),
        ("But this file must go to /home/ada/notes.txt first.", "one machine"),
        ("The check on line 12 must be removed from PR #7.", "one occasion"),
        ("The copyright notice shall be included in", "cut off"),
        ("✅ Correct, the handler must return early", "piece of a page"),
        ("14:9 error Rows must be sorted but never are", "a program printed"),
        ("ada@shop export % run: rows must be given", "a program printed"),
        ("Explains that exports must be streamed", "retells"),
        ("Three small steps that must be taken first", "retells"),
        ("The new option must work for rows", "one occasion"),
    ],
)
def test_talk_guesses_and_pieces_are_not(text: str, against: str) -> None:
    found = told(text)
    assert found["points"] <= 0
    assert against in found["words"].partition("; against it: ")[2]


@pytest.mark.parametrize(
    ("text", "against"),
    [
        ("Implement the reader for Parquet files", "step of a task"),
        ("Verify that rows are sorted", "step of a task"),
        ("Improved how late rows are read", "reports what was done"),
        ("Error handling for late rows", "names a thing"),
        ("--region: where exports are kept", "an option"),
        ("Support and Error Handling of Exports", "heading"),
        ("No export is found for a day", "a case"),
        ("The export works as expected", "a check"),
    ],
)
def test_what_a_task_lists_below_its_requirements_is_not(text: str, against: str) -> None:
    listed = told(text, rules=["requirement_heading"], rank_score=9)
    assert listed["points"] < ReviewQueueParams().min_points
    assert against in listed["words"].partition("; against it: ")[2]


@pytest.mark.parametrize(
    "text",
    [
        "If the export exists, name it and stop.",
        "Store only the id of a row (i.e. no copy of it).",
        "Keep exports in one folder a day.",
    ],
)
def test_rules_below_a_label_are_candidates(text: str) -> None:
    assert told(text, rules=["requirement_heading"])["points"] >= ReviewQueueParams().min_points


def test_sessions_outcomes_and_headings_speak_for_it_and_landing_most() -> None:
    one = told("Exports must be streamed.")["points"]
    assert told("Exports must be streamed.", rank_score=3)["points"] == one + 2
    assert told("Exports must be streamed.", rank_score=90)["points"] == one + 3
    assert told("Exports must be streamed.", succeeded_count=2, failed_count=1)["points"] == one + 1
    assert told("Exports must be streamed.", failed_count=1)["points"] == one
    assert told("Exports must be streamed.", rules=["constraint_heading"])["points"] == one + 3
    assert told("It must go?", memory_ids=["m"])["points"] > 0


def test_what_was_looked_for_before_is_taken_over_and_changes_nothing() -> None:
    texts = ["Exports must be streamed.", "I guess this must be it?", "# A Heading", "", "Exports must be streamed."]
    whole = signs_of(texts)
    assert whole.height == 4
    assert signs_of(texts, signs_of(texts[:2])).equals(whole)
    marked = framed(StatementSigns, whole.with_columns(signs=pl.lit(0, pl.Int64)))
    assert signs_of(texts, marked)["signs"].to_list() == [0] * 4
    older = framed(StatementSigns, marked.with_columns(made_of=pl.lit("other signs")))
    assert signs_of(texts, older).equals(whole)
    candidates = pl.DataFrame(
        {"text": texts, "rules": [["fact_heading"]] * 5, "memory_ids": [[]] * 5, **dict.fromkeys(COUNTS, [1] * 5)},
        schema_overrides={"memory_ids": pl.List(pl.String)},
    )
    for some in (whole, signs_of(texts[:1])):
        assert judged_candidates(candidates, -99, some).equals(judged_candidates(candidates, -99))
