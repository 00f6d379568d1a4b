"""Passages of long memories, which are compared one by one."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from used_rows import DAY, NOTES, interactions, notes, pool

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.memories import used_memories
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.passages import compared_texts, is_long, passages
from slowwave.transforms.language.word_runs import WORD

# every pair that is compared and touched, however unlikely
ALL = UsedParams(threshold=0.0001)
HANDBOOK = (
    "The staging port is 8443, not 8080, and it is only reached from inside. Deploy only after the smoke tests are "
    "green. Grace prefers tabs over spaces in Python files!\n- Customers in Norway are invoiced in kroner\n- The "
    "nightly backup of the orders database runs at 02:30 and takes forty minutes\n\nOk. The wiki is read-only while "
    "the migration is under way… Ada rewrote the billing importer to stream invoices in small batches. Fin."
)
ASKED = [
    {"interaction_id": "port", "prompt": "Which port?", "response": "Staging listens on port 8443 now, not on 8080."},
    {
        "interaction_id": "backup",
        "prompt": "When does the backup run?",
        "response": "At half past two each night; backing up the orders database takes 40 minutes.",
    },
    {"interaction_id": "talk", "prompt": "Hello", "response": "Good morning! How can I help you today?"},
]
LONG = {"memory_id": "handbook", "content": HANDBOOK}
OTHERS = [{"memory_id": f"x{n}", "content": f"Ticket {n} is about shelf {n * 7} in the cellar"} for n in range(40)]


def used(rows, memories, **params):
    given_params = ALL.model_copy(update=params)
    return used_memories(interactions(*rows), pool(*memories), word_vectors, given_params)


def split(text: str) -> list[str]:
    return passages(pl.Series([text]))["passage"].to_list()


def test_a_long_text_is_split_at_sentences_and_lines_and_short_ones_go_with_others():
    assert split(HANDBOOK) == [
        "The staging port is 8443, not 8080, and it is only reached from inside.",
        "Deploy only after the smoke tests are green.",
        "Grace prefers tabs over spaces in Python files!",
        "- Customers in Norway are invoiced in kroner",
        "- The nightly backup of the orders database runs at 02:30 and takes forty minutes",
        "Ok. The wiki is read-only while the migration is under way…",
        "Ada rewrote the billing importer to stream invoices in small batches. Fin.",
    ]


def test_numbers_versions_and_paths_are_not_cut():
    text = "Use version 3.11.2 of https://example.org/a.b/c.html and keep e.g.the file config.toml as it is today. " * 6
    assert set(split(text)) == {text[: len(text) // 6].strip()}


def test_what_has_no_end_is_cut():
    found = split(" ".join(f"word{n}" for n in range(200)))
    assert [part.count(" ") + 1 for part in found] == [40] * 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("letters " * 48, False), ("word " * 49, False), ("a" * 301, False), ("letters " * 49, True)],
)
def test_what_is_long(text, expected):
    """More than 300 characters, and more than 48 words."""
    assert pl.select(is_long(pl.lit(text))).item() is expected
    assert (not passages(pl.Series([text])).is_empty()) is expected


STRANGE = [
    "\u0000",
    "a\u0301" * 90,
    "𒀀𒀁 ",
    "ﷺ ",
    "İ. ",
    "\u202etxet\n",
    "数据库。",
    "…",
    " \u2003\u00a0",
    "?!) ",
    "\r\n",
    "Ok. ",
]
texts = st.lists(st.one_of(st.sampled_from([*STRANGE, *NOTES]), st.text(max_size=60)), max_size=60).map(" ".join)


@given(st.lists(texts, max_size=4))
def test_passages_are_the_text_in_order_without_overlap(given_texts):
    contents = pl.Series(given_texts, dtype=pl.String)
    long = contents.to_frame("content").select(is_long(pl.col("content"))).to_series().to_list()
    found = passages(contents)
    assert set(found["text"]) <= {n for n, one in enumerate(long) if one}
    for (number,), rows in found.group_by("text", maintain_order=True):
        text, end = given_texts[number], 0
        for _, passage, at in rows.iter_rows():
            assert passage == text[at : at + len(passage)]
            # only space lies between
            assert not pl.select(pl.lit(text[end:at]).str.strip_chars()).item()
            end = at + len(passage)
        assert not pl.select(pl.lit(text[end:]).str.strip_chars()).item()
        words = rows["passage"].str.count_matches(WORD)
        assert rows.height >= 2
        assert words.sum() >= pl.select(pl.lit(text).str.count_matches(WORD)).item()
        assert (words >= 3).all()
    read = compared_texts(contents)
    assert read["text"].unique().sort().to_list() == list(range(len(contents)))
    assert read.filter(pl.col("passage").is_null())["read"].to_list() == [
        text for n, text in enumerate(given_texts) if n not in set(found["text"])
    ]


def test_no_passage_is_endless():
    huge = "word. " * 40_000
    found = passages(pl.Series([huge]))
    assert (found["passage"].str.count_matches(WORD) <= 16 + 8).all()
    assert found["passage_at"].is_sorted()


def test_a_memory_counts_once_however_many_of_its_passages_are_near():
    twice = {"memory_id": "twice", "content": f"{HANDBOOK} {HANDBOOK}"}
    found = used(ASKED, [twice, *notes()], candidates=3)
    assert found.n_unique(["interaction_id", "memory_id"]) == found.height
    assert found.group_by("interaction_id").len()["len"].is_between(1, 3).all()
    # of equal passages the first is told
    assert found.filter(memory_id="twice", interaction_id="port")["passage_at"].to_list() == [0]


def test_long_memories_of_other_projects_change_nothing():
    elsewhere = LONG | {"project": "q"}
    assert used(ASKED, [*notes(), elsewhere]).equals(used(ASKED, notes()))


@pytest.mark.parametrize(("second", "is_seen"), [(-1, False), (0, True), (59, True), (60, False)])
def test_only_what_was_eligible_then_counts(second, is_seen):
    start = DAY.replace(hour=12)
    held = LONG | {"valid_from": start, "valid_until": start + timedelta(seconds=60)}
    asked = ASKED[0] | {"occurred_at": start + timedelta(seconds=second)}
    found = used([asked, ASKED[2]], [held, *OTHERS])
    assert ("handbook" in found.filter(interaction_id="port")["memory_id"].to_list()) == is_seen
