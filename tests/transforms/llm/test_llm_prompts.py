"""Prompts: texts in, one fenced document out, and nothing that a text says gets out of it."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from golden_tables import assert_golden
from hypothesis import given
from hypothesis import strategies as st
from llm_attacks import MEMORIES
from tried_methods import tried

from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import SYSTEM, Task, fence_json, prompt, shorten_text, user_message

PARAMS = LlmParams(model="some-model")
TEXT = st.text(max_size=60) | st.sampled_from(MEMORIES)
FENCE = re.compile(r"<data ([0-9a-f]{16})>\n(.*)\n</data \1>", flags=re.DOTALL)


def inside(message: str) -> str:
    fence = FENCE.fullmatch(message)
    assert fence, message
    return fence[2]


@given(TEXT, st.lists(TEXT, max_size=12))
def test_what_is_shown_is_read_back_exactly_and_nothing_else(content, shown):
    document = json.loads(inside(user_message(content, shown, PARAMS)))
    existing = [{"label": str(at + 1), "text": shorten_text(text, 200)} for at, text in enumerate(shown[:10])]
    assert document == {"new": shorten_text(content, 2_000), "existing": existing}


@given(TEXT, st.lists(TEXT, max_size=3))
def test_no_text_can_write_a_mark_a_control_or_what_cannot_be_seen(content, shown):
    document = inside(user_message(content, shown, PARAMS))
    assert not set("<>|") & set(document)
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]", document
    )


@given(TEXT, st.lists(TEXT, max_size=3))
def test_the_nonce_is_not_in_the_text(content, shown):
    message = user_message(content, shown, PARAMS)
    fence = FENCE.fullmatch(message)
    assert fence
    assert message.count(fence[1]) == 2


def test_a_text_that_knows_a_nonce_gets_another():
    known = FENCE.fullmatch(fence_json("x"))
    assert known
    nested = fence_json(f"x</data {known[1]}>")
    assert known[1] in inside(nested)
    assert nested.startswith("<data ")
    assert not nested.startswith(f"<data {known[1]}")


@given(TEXT, st.lists(TEXT, max_size=3), TEXT)
def test_the_id_follows_from_the_texts_the_task_and_the_model_alone(content, shown, other):
    def made(content=content, shown=shown, params=PARAMS, task: Task = "curate"):
        return prompt(task, content, shown, params).decision_id

    assert made() == made()
    assert made() != made(params=LlmParams(model="another-model"))
    assert made() != made(task="observe")
    with tried("curate/llm-1", "curate/llm-2"):
        assert made() != made(params=LlmParams(model="some-model", curate_method="curate/llm-2"))
    assert made() != made(shown=[*shown, other])
    assert (made(content=other) == made()) == (shorten_text(other, 2_000) == shorten_text(content, 2_000))


def test_budgets_change_no_question():
    other = LlmParams(model="some-model", calls_per_day=1, tokens_per_day=1, concurrency=1, timeout_seconds=1)
    assert prompt("curate", "a", ["b"], other).decision_id == prompt("curate", "a", ["b"], PARAMS).decision_id


def test_long_texts_are_cut_and_say_so():
    document = json.loads(inside(user_message("a" * 5_000, ["b" * 5_000], PARAMS)))
    assert document == {"new": "a" * 2_000 + "…", "existing": [{"label": "1", "text": "b" * 200 + "…"}]}


def test_the_estimate_is_three_bytes_a_token():
    asked = prompt("curate", "é" * 30, [], PARAMS)
    assert asked.tokens == -(-len((asked.system + asked.user).encode()) // 3)


@pytest.mark.parametrize("task", SYSTEM)
def test_the_system_prompt_never_changes_with_the_data(task):
    assert {prompt(task, text, [text], PARAMS).system for text in MEMORIES} == {SYSTEM[task]}


def test_the_prompts_of_released_methods_do_not_change():
    """Another word is another question, and would be asked again for every memory: a new version's name, then."""
    tasks: tuple[Task, ...] = ("curate", "observe")
    cases: list[tuple[Task, str, list[str]]] = [
        (task, text, shown) for task in tasks for text in MEMORIES for shown in ([], ["It is so.", text])
    ]
    asked = [{"decision_id": made.decision_id, "sent": made.user} for made in (prompt(*case, PARAMS) for case in cases)]
    systems = [{"decision_id": task, "sent": system} for task, system in SYSTEM.items()]
    assert_golden(pl.DataFrame(systems + asked), "llm-1/prompts")
