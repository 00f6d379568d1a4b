"""Answers: whatever a model says, a listed action on a memory that was shown comes out, or the one that adds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from llm_attacks import UNREADABLE, UNSAFE_CURATE, UNSAFE_OBSERVE
from llm_server import ADD, MERGE, SAME

from slowwave.transforms.llm.model_answers import UnreadableAnswerError, answer_schema, answer_values
from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import Prompt, prompt

PARAMS = LlmParams(model="some-model")
SHOWN = ["first", "second", "third"]
CURATE = prompt("curate", "new", SHOWN, PARAMS)
OBSERVE = prompt("observe", "new", SHOWN, PARAMS)
ACTIONS = ["add", "update", "merge", "skip", "delete"]
KINDS = ["fact", "observation", "model"]

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.text(max_size=5)
    | st.sampled_from([*ACTIONS, *KINDS, "1", "2", "9"])
)
ANYTHING = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=7)
        | st.dictionaries(st.sampled_from(["action", "actions", "kind", "target", "reason", "x"]), inner, max_size=6)
    ),
    max_leaves=30,
)


def curated(said: Any) -> dict[str, Any]:
    return answer_values(CURATE, json.dumps(said), PARAMS)


def related(said: Any) -> dict[str, Any]:
    return answer_values(OBSERVE, json.dumps(said), PARAMS)


@each("said", UNSAFE_CURATE)
def test_what_may_not_be_adds_and_is_told(said):
    values = curated(said)
    assert (values["action"], values["target"]) == ("add", None)
    assert values["kind"] in KINDS
    assert values["refused"]


@given(st.text(max_size=30), st.text("key-\\\"/1'", min_size=4, max_size=12), st.text(max_size=600), st.booleans())
def test_a_secret_that_is_said_is_not_landed(before, secret, after, is_escaped):
    text = before + secret + after

    def landed(asked: Prompt, said: Any) -> list[str]:
        made = json.dumps(said).replace("/", "\\/") if is_escaped else json.dumps(said, ensure_ascii=False)
        values = answer_values(asked, made, PARAMS, secret)
        return [values.get("reason", ""), *values["refused"], *(one["reason"] for one in values.get("related", []))]

    said = [
        *landed(CURATE, {**MERGE, "reason": text}),
        *landed(CURATE, {**MERGE, "target": text}),
        *landed(OBSERVE, {"actions": [{**SAME["actions"][0], "reason": text}]}),
        *landed(OBSERVE, {"actions": [{**SAME["actions"][0], "target": text}]}),
    ]
    assert not [one for one in said if secret in one]


@each("said", UNSAFE_OBSERVE)
def test_what_may_not_be_relates_nothing(said):
    values = related(said)
    assert values["related"] == []
    assert bool(values["refused"]) == (said not in UNSAFE_OBSERVE[-2:])


@each("text", UNREADABLE)
@each("asked", [CURATE, OBSERVE])
def test_what_cannot_be_read_is_no_answer(asked, text):
    with pytest.raises(UnreadableAnswerError):
        answer_values(asked, text, PARAMS)


@given(ANYTHING)
def test_only_listed_actions_on_shown_memories_come_out(said):
    try:
        values = curated(said)
    except UnreadableAnswerError:
        return
    assert set(values) == {"action", "kind", "target", "reason", "refused"}
    assert values["action"] in ACTIONS
    assert values["kind"] in KINDS
    assert values["target"] in ([None] if values["action"] == "add" else [1, 2, 3])


@given(st.fixed_dictionaries({"actions": st.lists(ANYTHING, max_size=7)}) | ANYTHING)
def test_only_listed_relations_to_shown_memories_come_out(said):
    try:
        values = related(said)
    except UnreadableAnswerError:
        return
    assert set(values) == {"related", "refused"}
    labels = [one["label"] for one in values["related"]]
    assert len(labels) == len(set(labels)) <= 5
    assert set(labels) <= {1, 2, 3}
    assert {one["relation"] for one in values["related"]} <= {"same_fact", "supersedes"}


@each("action", ACTIONS)
@each("kind", KINDS)
def test_a_good_answer_is_taken(action, kind):
    said = {"action": action, "kind": kind, "target": "none" if action == "add" else "2", "reason": " Why. "}
    target = None if action == "add" else 2
    assert curated(said) == {"action": action, "kind": kind, "target": target, "reason": "Why.", "refused": []}


def test_relations_are_read_from_the_actions():
    said = {
        "actions": [
            {"action": "delete", "target": "3", "reason": "old"},
            {"action": "update", "target": "1", "reason": "same"},
            {"action": "create", "target": "none", "reason": "new"},
        ]
    }
    assert related(said)["related"] == [
        {"label": 1, "relation": "same_fact", "reason": "same"},
        {"label": 3, "relation": "supersedes", "reason": "old"},
    ]


def test_one_bad_target_leaves_the_good_ones():
    said = {"actions": [*SAME["actions"], {"action": "delete", "target": "7", "reason": ""}]}
    values = related(said)
    assert [one["label"] for one in values["related"]] == [1]
    assert values["refused"] == ["delete of '7', which was not shown"]


def test_what_was_not_shown_cannot_be_named_even_when_it_exists():
    few = prompt("curate", "new", SHOWN[:1], PARAMS)
    assert answer_values(few, json.dumps({**MERGE, "target": "2"}), PARAMS)["action"] == "add"


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here you are: {}", " {}\n"])
def test_talk_around_the_answer_is_left_out(around):
    assert answer_values(CURATE, around.replace("{}", json.dumps(ADD)), PARAMS)["kind"] == "model"


def test_reasons_are_short_and_can_be_stored():
    values = answer_values(CURATE, json.dumps({**ADD, "reason": "\ud800\0" + "y" * 5_000}), PARAMS)
    values["reason"].encode()
    assert values["reason"] == "?" + "y" * 499 + "…"


def test_a_refusal_repeats_little_of_what_was_said():
    values = answer_values(CURATE, json.dumps({**ADD, "z" * 5_000: 1, "\x1b[2J": 2}), PARAMS)
    assert "z" not in "".join(values["refused"])
    assert "\x1b" not in "".join(values["refused"])


@pytest.mark.parametrize("asked", [CURATE, OBSERVE], ids=["curate", "observe"])
def test_the_schema_says_what_strict_servers_want(asked):
    def look(part: Any) -> None:
        if isinstance(part, dict):
            assert not {"$ref", "$defs", "title", "default"} & part.keys()
            if part.get("type") == "object":
                assert part["additionalProperties"] is False
                assert sorted(part["required"]) == sorted(part["properties"])
        for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            look(value)

    schema = answer_schema(asked)
    look(schema)
    assert json.dumps(["none", "1", "2", "3"]) in json.dumps(schema)
    assert answer_schema(asked) == schema
