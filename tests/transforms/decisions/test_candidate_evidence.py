"""What speaks for and against a statement of an answer."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.frames import Frame, empty, framed
from slowwave.transforms.decisions.params import ReviewQueueParams
from slowwave.transforms.decisions.review.candidate_evidence import (
    SIGNS,
    judged_candidates,
    promising_statements,
    shown_signs,
    statement_signs,
)
from slowwave.transforms.decisions.review.tables import StatementSigns
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.language.word_runs import with_edges

STATED = ("statement_id", "interaction_id", "rule", "text")
COUNTS = ("rank_score", "succeeded_count", "failed_count")


DAYS = (date(2026, 3, 1), date(2026, 3, 2))


def signs_of(
    texts: list[str], before: Frame[StatementSigns] | None = None, *, named: str = "name"
) -> Frame[StatementSigns]:
    """The first two said on one day, the others on the next, which is `named`."""
    days = [DAYS[place > 1] for place in range(len(texts))]
    statements = framed(ExtractedStatements, pl.LazyFrame({"text": texts, "day": days}), partial=True)
    names = dict(zip(DAYS, ("first", named), strict=True))
    return statement_signs(empty(StatementSigns) if before is None else before, statements, names)


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


@each(
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


@each(
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


@each(
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


TEXTS = ["Exports must be streamed.", "I guess this must be it?", "# A Heading", "", "Exports must be streamed."]


def test_what_was_looked_for_before_is_taken_over_and_changes_nothing() -> None:
    whole = signs_of(TEXTS)
    assert whole["place"].to_list() == [0, 1, 0, 1, 2]
    assert whole["signs"][0] == whole["signs"][4]
    assert signs_of(TEXTS, signs_of(TEXTS[:2])).equals(whole)
    marked = framed(StatementSigns, whole.with_columns(signs=pl.lit(0, pl.Int64)))
    assert signs_of(TEXTS, marked)["signs"].to_list() == [0] * 5
    changed = signs_of(TEXTS, marked, named="another")["signs"].to_list()
    assert changed == [0, 0, *whole["signs"].to_list()[2:]]
    older = framed(StatementSigns, marked.with_columns(made_of=pl.lit("other signs")))
    assert signs_of(TEXTS, older).equals(whole)


def test_what_is_known_of_texts_is_judged_like_what_is_looked_for() -> None:
    rows = {"text": TEXTS, "rules": [["fact_heading"]] * 5, "memory_ids": [[]] * 5, **dict.fromkeys(COUNTS, [1] * 5)}
    candidates = pl.DataFrame(rows, schema_overrides={"memory_ids": pl.List(pl.String)})
    looked_for = judged_candidates(candidates, -99)
    for known in (signs_of(TEXTS)["signs"], [*signs_of(TEXTS)["signs"][:2], None, None, None]):
        judged = judged_candidates(candidates.with_columns(pl.Series("signs", known, pl.Int64)), -99)
        assert judged.drop("signs").equals(looked_for)


PIECES = st.sampled_from([
    "must", "never", "be", "an", "that", "how", "issue", "error", "mean", "all", "every", "tests", "pass", "properly",
    "if", "no", "this", "pr", "#12", "12→", ":33", "lines 3", "d", "rwx", "r--", "-rw-r--r--", "drwxr-xr-x", "a/b.py",
    "/x/y.z", "Error", "Fatal: ", "12:3 error", "e.g", "part 3", "so much", "feel", "add", "Added", "steps", "it's",
    "copyright", "é", "É", "Ünder", "日本", "\u017f", "_", "'", "’", ".", ",", "-", "!", "?", " ", "  ", "\n",
])  # fmt: skip


@given(st.lists(st.lists(PIECES, max_size=9).map("".join), min_size=1, max_size=20))
def test_a_sign_is_told_by_the_characters_beside_words_as_by_their_edges(texts: list[str]) -> None:
    said = pl.Series(texts)
    for pattern in (pattern for sign in SIGNS for pattern in (sign.pattern, sign.unless) if pattern is not None):
        assert said.str.contains(with_edges(pattern)).to_list() == said.str.contains(pattern).to_list()


@pytest.mark.parametrize("pattern", [r"a\bb", r"(?:\ba|c)", r"\W\b[ab]"])
def test_an_edge_in_the_midst_of_a_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="in the midst"):
        with_edges(pattern)


SAID = st.sampled_from([
    "Exports must be streamed.", "All exports must be streamed.", "It must be so.", "They must love it!", "A Heading",
    "If the export fails, it must be said.", "Ensure that it is said", "Rows must be sorted", "Never push on Fridays.",
])  # fmt: skip


@given(
    st.lists(
        st.tuples(SAID, st.sampled_from(["fact_heading", "requirement_sentence"]), st.booleans(), st.booleans()),
        max_size=6,
    ),
    st.integers(-4, 8),
)
def test_statements_that_go_early_are_those_of_which_no_candidate_comes(
    said: list[tuple[str, str, bool, bool]], least: int
) -> None:
    rows = [
        {"statement_id": text.lower(), "interaction_id": str(at), "rule": rule, "text": text, "in_prompt": in_prompt}
        for at, (text, rule, in_prompt, _) in enumerate(said)
    ]
    told = pl.DataFrame(rows, schema={**dict.fromkeys(STATED, pl.String), "in_prompt": pl.Boolean})
    ends = [(str(at), is_success) for at, (_, _, _, is_success) in enumerate(said)]
    ended = pl.DataFrame(ends, schema={"interaction_id": pl.String, "success": pl.Boolean}, orient="row")
    succeeded, landed = ended.filter("success")["interaction_id"], pl.Series(["it must be so."])
    left = promising_statements(shown_signs(told), landed, ended, least)
    once = told.filter(~pl.col("statement_id").is_duplicated(), pl.col("statement_id") != landed[0])
    judged = judged_candidates(
        once.with_columns(
            pl.concat_list("rule").alias("rules"),
            pl.lit([], pl.List(pl.String)).alias("memory_ids"),
            pl.lit(1, pl.Int64).alias("rank_score"),
            pl.col("interaction_id").is_in(succeeded.implode()).cast(pl.Int64).alias("succeeded_count"),
            pl.lit(0, pl.Int64).alias("failed_count"),
        ),
        least,
    )
    of_once = left.filter(pl.col("interaction_id").is_in(once["interaction_id"].implode()))
    assert set(of_once["interaction_id"]) == set(judged.filter(~pl.col("in_prompt"))["interaction_id"])
    assert left.height - of_once.height == told.height - once.height
