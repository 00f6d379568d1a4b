"""Whether answers follow instructions: what is said, and of what nothing is."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from checked_answers import AT, checked
from followed_sheet import SHEET
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.evidence.followed.answers import Answer, observe_answer
from slowwave.transforms.evidence.followed.checks import checkable_instructions, instructed_interactions
from slowwave.transforms.evidence.followed.instructions import Expectation, expectations

LEAST_RIGHT = 0.9


def verdict(instruction: str, answer: str, prompt: str = "Why?", category: str = "") -> bool | None:
    found = checked([(instruction, category, prompt, answer)])["is_followed"]
    return None if found.is_empty() else bool(found.all())


def test_of_a_sheet_judged_by_a_person_nine_in_ten_verdicts_are_right():
    rows = checked([(one.instruction, one.category, one.prompt, one.answer) for one in SHEET])
    said = {
        int(one): is_so for one, is_so in rows.group_by("interaction_id").agg(pl.col("is_followed").all()).iter_rows()
    }
    right = [SHEET[place].is_followed == is_so for place, is_so in said.items()]
    assert sum(right) >= LEAST_RIGHT * len(right)
    told = [place for place, one in enumerate(SHEET) if one.is_followed is not None]
    assert len(said.keys() & set(told)) >= LEAST_RIGHT * len(told), "what can be told of is told of"


@pytest.mark.parametrize(
    "instruction",
    [
        "",
        "Use tabs if the file has tabs already.",
        "When asked, answer in German.",
        "Answer in English unless the user writes French.",
        "For release notes: answer in at most 3 sentences.",
        "Use British English in the UI.",
        "Ann prefers British English.",
        "We used tabs once. Use spaces now.",
        "Do not use emojis as icons.",
        "Keep functions under 20 lines.",
        "Never use the word",
        'Use "Ahoy".',
        "Run `make test` before committing.",
        "Answer the phone in German.",
        "Use US",
        "Answer in 0 sentences.",
        "Never use emojis. " * 50,
        "```\nNever use emojis.\n```",
        "Use tabs for indentation.",
        "Always answer in bullet points.",
        'End each response with "Next recommended action: [specific task]"',
        'Begin every response with "Based on the document, ..."',
        "Avoid emojis" + " " * 200 + "x",
    ],
)
def test_of_what_is_no_clear_instruction_about_answers_nothing_is_said(instruction: str):
    assert expectations(instruction) == []


@pytest.mark.parametrize(
    ("instruction", "found"),
    [
        ("- **Always** answer in British English!", ("language", "British", "British English")),
        ("Please reply in German, always.", ("language", "German", "German")),
        ("IMPORTANT: Never use emojis.", ("characters", "no emoji", "no emoji")),
        ("You must not use emojis", None),
        ("Answer in at most three sentences (fewer is better).", ("length", "3 sentences", "at most 3 sentences")),
        ("Keep answers under 100 words.", ("length", "99 words", "at most 99 words")),
        ("Reply in one sentence", ("length", "1 sentences", "at most 1 sentence")),
        ("Do not exceed 5 lines", ("length", "5 lines", "at most 5 lines")),
        ('Never say "I apologize".', ("phrase", "no I apologize", "never “I apologize”")),
        ("Never: use emojis", ("characters", "no emoji", "no emoji")),
        ('Do not start every answer with "Great".', ("opening", "no Great", "not “Great” at the beginning")),
    ],
)
def test_what_is_expected_of_answers(instruction: str, found: tuple[str, str, str] | None):
    assert expectations(instruction) == ([] if found is None else [Expectation(*found)])  # type: ignore[arg-type]


def test_headings_narrow_and_turn_round_what_stands_below_them():
    assert expectations("Use emojis", "Style") == expectations("Use emojis")
    assert expectations("Never use emojis", "Shop / Style")
    for category in ("Commit messages", "Shop / Docs / Style", "Don'ts", "Things to avoid"):
        assert expectations("Never use emojis", category) == []


@pytest.mark.parametrize(
    ("instruction", "prompt", "answer"),
    [
        (
            "Answer in German.",
            "Translate this into English.",
            "Here is the text that you have asked me to put into it.",
        ),
        ("Answer in at most 2 sentences.", "Explain it in detail.", "One. Two. Three. Four."),
        ("Answer in at most 2 sentences.", "Why?", "One; two: three"),
        ("Never use emojis.", "What does 🎉 mean?", "🎉 is a party popper."),
        ("Always reply in JSON.", "As a markdown table, please.", "| a |"),
        ("Limit answers to 2 paragraphs.", "Why?", "It is cold.\n\n---\n\nIt is full."),
        ("Do not use headings.", "How?", "Install it:\n# once\npip install shop"),
        (
            "Use British spelling.",
            "E agora?",
            "O teste que não passou está aqui, e o outro foi para a fila: CANCELLED.",
        ),
        ("Answer in British English.", "Why?", "The colour is set in the center."),
        ('Never say "sorry".', "Did you say sorry?", "Sorry."),
        ("Never use emojis.", "Why?", "  "),
    ],
)
def test_nothing_is_said_where_the_prompt_asks_otherwise_or_the_answer_tells_too_little(
    instruction: str, prompt: str, answer: str
):
    assert expectations(instruction)
    assert verdict(instruction, answer, prompt) is None


def test_the_words_of_an_opening_end_where_a_word_does():
    for answer, is_followed in (("Greatly improved.", True), ("Great, it works.", False), ("**Great**", False)):
        assert verdict('Never start answers with "Great!"', answer) is is_followed
    assert verdict('Never start answers with "I"', "It works.") is True


def test_code_holds_no_headings_and_no_list():
    answer = "Run it:\n\n```sh\n\n# once\n\n- a\n- b\n```"
    assert verdict("Do not use headings.", answer) is verdict("No bullets.", answer) is True
    assert verdict("Do not use headings.", f"{answer}\n\n# Then\n\nIt runs.") is False


def test_an_instruction_counts_as_it_stood_then_and_only_where_it_was_injected():
    states = pl.LazyFrame(
        [
            ("m", AT - timedelta(days=2), AT - timedelta(days=1), "Avoid exclamation marks.", None),
            ("m", AT - timedelta(days=1), AT + timedelta(days=1), "Never use emojis.", None),
            ("m", AT + timedelta(days=1), None, "No headings.", None),
            ("n", AT - timedelta(days=1), None, None, None),
        ],
        schema={
            "memory_id": pl.String,
            "valid_from": pl.Datetime("us"),
            "valid_until": pl.Datetime("us"),
            "content": pl.String,
            "category": pl.String,
        },
        orient="row",
    )
    references = pl.LazyFrame(
        {
            "memory_id": ["m", "m", "n"],
            "interaction_id": ["i1", "i2", "i1"],
            "occurred_at": [AT, AT, AT],
            "project": "shop",
            "agent": "",
            "session_id": None,
            "is_injected": [True, False, True],
        }
    )
    found = instructed_interactions(references, checkable_instructions(states))  # type: ignore[arg-type] - as declared
    assert found.select("memory_id", "interaction_id", "expected").rows() == [("m", "i1", "no emoji")]


def test_no_answer_says_nothing():
    assert checked([("Never use emojis.", "", "Why?", None)]).is_empty()
    assert checked([]).is_empty()


def test_an_interaction_without_a_prompt_is_checked_by_its_answer():
    said = checked([("Never use emojis.", "", None, answer) for answer in ("Done.", "Done \N{PARTY POPPER}")])
    assert said.sort("interaction_id")["is_followed"].to_list() == [True, False]


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(sorted({one.instruction for one in SHEET})))
def test_whatever_an_answer_says_it_is_judged_or_not(prompt: str, text: str, instruction: str):
    for one in expectations(instruction):
        seen = observe_answer(Answer(prompt, text), one.check, one.value)
        assert seen is None or (seen.saw and "\n" not in seen.saw)


@pytest.mark.parametrize(
    "text", ["*" * 20_000, "```" * 20_000, "- \n" * 20_000, "a." * 20_000, "| " * 20_000, '"' * 20_000]
)
def test_a_hostile_answer_takes_no_more_than_its_length(text: str):
    for instruction in {one.instruction for one in SHEET}:
        for one in expectations(instruction):
            observe_answer(Answer("Why?", text), one.check, one.value)
    assert expectations(text[:500]) == []
