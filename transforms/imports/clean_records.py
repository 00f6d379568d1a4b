"""Records of traces without secrets and home folders, as they are kept: also in JSON that stands in them as text.

A history of messages is repeated in every call of a model, so that each of its texts is looked at once and remembered.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

import orjson

from slowwave.transforms.imports.secrets.cleaned import cleaned, is_pair_of_secret, marked
from slowwave.transforms.imports.secrets.named import names_a_secret

_REMEMBERED = 4096
_LONGEST_REMEMBERED = 20_000
_NAMES = lru_cache(maxsize=_REMEMBERED)(names_a_secret)


def clean_record(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A JSON value of which no text names a secret or a home folder, as `cleaned` tells them."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict):
        if is_pair_of_secret(value):
            value = value | {"value": marked(value["value"], Counter())}
        return {_clean_text(name): _of_name(name, held) for name, held in value.items()}
    return [clean_record(held) for held in value] if isinstance(value, list) else value


def _of_name(name: str, value: Any) -> Any:  # noqa: ANN401
    if _NAMES(name):
        return marked(value, Counter())
    return clean_record(value)


def _clean_text(text: str) -> str:
    if text[:1] in {"{", "["} and (held := _held(text)) is not None:
        return orjson.dumps(clean_record(held)).decode()
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else cleaned(text, Counter())


def _held(text: str) -> Any:  # noqa: ANN401
    """What a JSON text holds; None where it is none, or nested deeper than it could be written again."""
    try:
        held = orjson.loads(text)
        orjson.dumps(held)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return held


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str) -> str:
    return cleaned(text, Counter())
