"""What answers are taken to state: the seven rules, what none of them may take, and that it costs linear time."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import polars as pl
import pytest
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples, some

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.echo.echo import normalise_text
from slowwave.transforms.evidence.statements.extract import extracted_statements
from slowwave.transforms.evidence.statements.params import ExtractParams
from slowwave.transforms.evidence.statements.tables import MEMORY_TYPES, ExtractedStatements

AT = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
SCHEMA = {
    "interaction_id": pl.String,
    "occurred_at": pl.Datetime("us"),
    "project": pl.String,
    "agent": pl.String,
    "session_id": pl.String,
    "prompt": pl.String,
    "response": pl.String,
    "response_summary": pl.String,
    "reinforce": pl.Boolean,
}


def interactions(*answers: dict[str, Any]) -> pl.DataFrame:
    known = {"occurred_at": AT, "project": "shop", "agent": "coder", "prompt": "?", "reinforce": True}
    rows = [{**known, "interaction_id": f"i{number}", **answer} for number, answer in enumerate(answers)]
    return pl.DataFrame(rows, schema=SCHEMA)


def found(response: str | None, **fields: Any) -> list[tuple[str, str]]:
    rows = extracted_statements(interactions({"response": response, **fields}), ExtractParams())
    return sorted(rows.select("rule", "text").rows())


@each(
    ("response", "rule", "text"),
    [
        ("Decision: use Postgres for orders", "decision_heading", "use Postgres for orders"),
        ("## Decision: use Postgres", "decision_heading", "use Postgres"),
        ("**Decision:** use Postgres", "decision_heading", "use Postgres"),
        ("__Decision__: use Postgres", "decision_heading", "use Postgres"),
        ("- **Decision 3**: use Postgres", "decision_heading", "use Postgres"),
        ("2) Decision \u2013 use Postgres", "decision_heading", "use Postgres"),
        ("Key decision\uff1ause Postgres", "decision_heading", "use Postgres"),
        ("### Decision\n\nWe will use uv.", "decision_heading", "We will use uv."),
        ("Text before.\r\nDecision: use\tthe   table\r\nText after.", "decision_heading", "use the table"),
        ("Constraint: no network at build time", "constraint_heading", "no network at build time"),
        ("> said\n\nRequirement: stream exports", "requirement_heading", "stream exports"),
        ("FACT: the limit is 50 a minute", "fact_heading", "the limit is 50 a minute"),
        ("I prefer tabs over spaces.", "preference_sentence", "I prefer tabs over spaces."),
        ("The user prefers dark mode. Noted.", "preference_sentence", "The user prefers dark mode."),
        ("Noted: Ada always prefers short answers!", "preference_sentence", "Noted: Ada always prefers short answers!"),
        ("Prefer composition over inheritance.", "preference_sentence", "Prefer composition over inheritance."),
        ("We decided not to shard, e.g. by region.", "decided_to_sentence", "We decided not to shard, e.g. by region."),
        ("It was decided to\nkeep the lake local.", "decided_to_sentence", "It was decided to keep the lake local."),
        ("Prices must never be rounded.", "requirement_sentence", "Prices must never be rounded."),
        ("Prices must\nnever be rounded.", "requirement_sentence", "Prices must never be rounded."),
        ("**Fact 2:** the limit is 50", "fact_heading", "the limit is 50"),
        ("The hook is required to answer.", "requirement_sentence", "The hook is required to answer."),
        ("- exports must be streamed", "requirement_sentence", "exports must be streamed"),
        ("No. Constraint: The export job must not run.", "constraint_heading", "The export job must not run."),
        ("Used Decimal. Decision: Amounts are cents.", "decision_heading", "Amounts are cents."),
        ("- Done! **Key fact:** the limit is 50.", "fact_heading", "the limit is 50."),
        ('It said "no. Constraint: it must run."', "requirement_sentence", 'it must run."'),
        ("Ok. Keys shall be sorted (always). Ok.", "requirement_sentence", "Keys shall be sorted (always)."),
    ],
)
def test_each_rule_finds_its_statements(response: str, rule: str, text: str) -> None:
    assert found(response) == [(rule, text)]


@each(
    "response",
    [
        None,
        "",
        "In fact, nothing was decided here.",
        "Matter-of-fact: the word alone is no label",
        "```\nDecision: not in code\n```",
        "~~~python\n# Decision: not in code\n~~~",
        "````\n```\nDecision: not in code\n```\n````",
        "```\nDecision: a fence that is never closed",
        "Text:\n\n    Decision: not in indented code",
        "> Decision: somebody else's words",
        "| Decision: a | table |",
        'The label says "I prefer tabs" here.',
        "The label says \u201cI prefer tabs\u201d here.",
        "Run `all must be well` first.",
        "Do you prefer tabs?",
        "If you prefer tabs, say so.",
        "Whichever of them you would prefer is fine.",
        "We have not decided to move.",
        "Once it is decided to move, we move.",
        "We haven't decided on a name.",
        "You must run the tests.",
        "It must have been the cache.",
        "It must be so rewarding to see that.",
        "Living there must be amazing.",
        "That must feel great!",
        "Streaming is a must for me.",
        "raise TypeError('the value must be a number.')",
        "a line that must be of something else",
        "Decision: short",
        "It was short, e.g. decision: none of them",
        'He said "Stop it. Decision: keep it all." and left.',
        "Decision: " + "x" * 281,
        "Decision: what about the following?",
        "Decision: the following three:",
    ],
)
def test_what_nobody_stated_is_not_found(response: str | None) -> None:
    assert found(response) == []


@pytest.mark.parametrize(("length", "is_found"), [(7, False), (8, True), (280, True), (281, False)])
def test_a_statement_has_from_8_to_280_characters(length: int, is_found: bool) -> None:
    assert found("Fact: " + "\U0001d4b3" * length) == ([("fact_heading", "\U0001d4b3" * length)] if is_found else [])


def test_a_long_statement_is_cut_to_its_first_sentence() -> None:
    assert found("Decision: keep it simple. " + "And " + "more " * 80) == [("decision_heading", "keep it simple.")]


def test_a_list_below_a_label_states_each_item() -> None:
    listed = (
        "## Requirements\n\n- stream all exports\n- never block a reader\n\nSomething else entirely\n- an item of that"
    )
    assert [text for _, text in found(listed)] == ["never block a reader", "stream all exports"]


def test_each_label_of_a_block_has_its_own_statement() -> None:
    assert found("Decision: keep it all. It is simple. Constraint - no network. Fact 2: the limit is 50") == [
        ("constraint_heading", "no network."),
        ("decision_heading", "keep it all. It is simple."),
        ("fact_heading", "the limit is 50"),
    ]


def test_what_is_said_twice_is_one_statement() -> None:
    twice = "Fact: the limit is 50.\n\n**Fact:** The  limit is 50!\n"
    assert [rule for rule, _ in found(twice)] == ["fact_heading"]


def test_types_follow_from_rules_and_ids_from_words() -> None:
    said = ["Decision: keep it all local", "Constraint: Keep it **all** local.", "Fact: keep it all remote"]
    rows = extracted_statements(interactions(*[{"response": text} for text in said]), ExtractParams())
    assert dict(rows.select("rule", "memory_type").rows()).items() <= MEMORY_TYPES.items()
    ids = dict(rows.select("interaction_id", "statement_id").rows())
    assert ids["i0"] == ids["i1"] != ids["i2"]


def test_where_it_stands_and_whether_the_prompt_said_it() -> None:
    answers = [
        {"response": "Fact: one is one", "prompt": "note that ONE  is one."},
        {"response_summary": "Fact: one is one", "prompt": "?"},
        {"response": "Fact: one is one", "response_summary": "Fact: one is one", "prompt": "?"},
    ]
    rows = extracted_statements(interactions(*answers), ExtractParams()).sort("interaction_id")
    assert rows["found_in"].to_list() == ["response", "summary", "both"]
    assert rows["in_prompt"].to_list() == [True, False, False]


def test_what_is_not_to_be_learned_from_states_nothing() -> None:
    assert found("Decision: use Postgres", reinforce=False) == []


def test_the_table_is_as_declared() -> None:
    rows = extracted_statements(interactions({"response": "Decision: use Postgres"}), ExtractParams())
    assert rows.schema == polars_schema(ExtractedStatements)
    assert rows.height == 1
    assert extracted_statements(interactions(), ExtractParams()).schema == rows.schema


PIECES = st.sampled_from(
    [
        *(
            "Decision:",
            ". Constraint: ",
            "## Facts",
            "Requirement 2:",
            "- ",
            "1. ",
            "**",
            "__",
            "`",
            "```",
            "~~~",
            "> ",
            "| ",
            "    ",
            "\t",
        ),
        *("\n", "\n\n", "\r\n", " ", ". ", "? ", '"', "\u201c", "\u201d", "must never", "I prefer", "we decided to"),
        *(
            "keep prices as integers",
            "the user",
            "ends here.",
            "if",
            "\u00e4\u0301",
            "\u202e",
            "\x00",
            "\U0001f600",
            "\u3000",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)


@settings(max_examples=examples(8, 60), deadline=None)
@example(["It ends in a line", "    Decision: indented, so it is code"])
@example(["# Decision", "- an item of nothing"])
@example(["Decision:", "nothing above this"])
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_an_answer_states_what_it_states_whatever_others_say(texts: list[str]) -> None:
    frame = interactions(*[{"response": text} for text in texts])
    together = extracted_statements(frame, ExtractParams())
    alone = [extracted_statements(frame.slice(row, 1), ExtractParams()) for row in range(frame.height)]
    assert together.equals(pl.concat(alone).sort(ExtractedStatements.key))
    assert together.equals(extracted_statements(frame.reverse(), ExtractParams()))


@settings(max_examples=examples(8, 60), deadline=None)
@given(TEXTS)
def test_no_answer_with_a_statement_is_passed_over(text: str) -> None:
    """A word that has an answer read, and states nothing, adds nothing."""
    assert found(text) == found(f"{text}\n\nmust")


@settings(max_examples=examples(8, 60), deadline=None)
@given(TEXTS)
def test_a_statement_is_taken_word_for_word(text: str) -> None:
    rows = extracted_statements(interactions({"response": text}), ExtractParams())
    words = pl.DataFrame({"text": [text]}).select(normalise_text(pl.col("text")))["text"][0].split()
    for stated in rows["text"]:
        assert stated == " ".join(stated.split()) or not stated.isascii()
        assert 8 <= len(stated) <= 280
        said = [word for word in stated.lower().split() if word.isalpha()]
        assert all(any(word in known for known in words) for word in said)


HOSTILE = {
    "line breaks": "\n",
    "labels": "Decision:\n",
    "fences": "decision\n```",
    "tildes": "decision\n````\n~~~",
    "quotation marks": 'must " ',
    "backticks": "decision `",
    "sentences": "A must b. ",
    "emphasis": "*_*_ decided ",
    "hashes": "# decision ",
    "spaces": "decision" + " " * 99,
    "one word": "must",
}


@pytest.mark.parametrize("name", some(HOSTILE, 6))
def test_the_worst_text_costs_linear_time(name: str) -> None:
    """A megabyte of anything: four times the text takes far less than sixteen times as much of the processor."""

    def seconds(size: int) -> float:
        text = "Decision: " + HOSTILE[name] * (size // len(HOSTILE[name]))
        frame, taken = interactions({"response": text}), []
        for _ in range(2):
            start = time.process_time()
            extracted_statements(frame, ExtractParams())
            taken.append(time.process_time() - start)
        return min(taken)

    small, large = seconds(2**18), seconds(2**20)
    assert large < max(9 * small, 0.3)
    assert large < 10
