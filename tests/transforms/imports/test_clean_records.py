"""What is kept of traces holds no secret, also where JSON stands in it as text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson
import pytest

from slowwave.transforms.imports.secrets import clean_record, clean_value

KEY = "sk-ant-" + "a1" * 20
HOME = "/ho" + "me/ann/shop"


@pytest.mark.parametrize(
    "value",
    [
        f"Use {KEY}",
        {"api_key": "hunter22"},
        {"a": [f"in {HOME}", 1, None, True]},
        {KEY: "x"},
        "plain",
        "{no json",
        ["[1"],
    ],
)
def test_texts_and_names_are_cleaned_as_elsewhere(value: Any) -> None:
    assert clean_record(value) == clean_value(value, Counter())


def test_json_in_a_text_is_cleaned_within() -> None:
    messages = [{"role": "user", "parts": [{"content": f'password="hunter{KEY}"', "api_key": "hunter22"}]}]
    record = {
        "attributes": [{"key": "gen_ai.input.messages", "value": {"stringValue": orjson.dumps(messages).decode()}}]
    }
    text = orjson.dumps(clean_record(record))
    assert KEY.encode() not in text
    assert b"hunter" not in text
    assert orjson.loads(orjson.loads(text)["attributes"][0]["value"]["stringValue"])[0]["role"] == "user"


def test_what_is_nested_too_deep_is_cleaned_as_a_text() -> None:
    deep = "[" * 400 + f'"{KEY}"' + "]" * 400
    assert KEY not in clean_record({"a": deep})["a"]
