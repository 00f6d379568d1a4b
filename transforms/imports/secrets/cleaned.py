"""What leaves an import: values without secrets and without home folders, in texts and in the names of objects."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from slowwave.transforms.imports.home_paths import without_home
from slowwave.transforms.imports.secrets.keys import keys
from slowwave.transforms.imports.secrets.named import named, names_a_secret
from slowwave.transforms.imports.secrets.spans import MARK, without

_SHORTEST = 8
# Ids, names and times stand in many fields and rows.
_LONGEST_REMEMBERED = 200
_NAMES_A_SECRET = lru_cache(maxsize=4096)(names_a_secret)


def without_secrets(text: str, counts: Counter[str]) -> str:
    """`text` with `[secret:KIND]` for each secret in it, counted by kind; what was so replaced stays."""
    if len(text) < _SHORTEST:
        return text
    return without(text, [*keys(text), *named(text)], counts)


def cleaned(value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A JSON value without secrets, which are counted by kind, and without home folders."""
    if isinstance(value, str):
        if len(value) > _LONGEST_REMEMBERED:
            return without_home(without_secrets(value, counts))
        text, found = _short_cleaned(value)
        if found:
            counts.update(found)
        return text
    if isinstance(value, dict):
        if is_pair_of_secret(value):
            value = value | {"value": marked(value["value"], counts)}
        return {cleaned(name, counts): _of_name(name, held, counts) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [cleaned(held, counts) for held in value]
    return value


@lru_cache(maxsize=4096)
def _short_cleaned(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    return without_home(without_secrets(text, counts)), counts


def is_pair_of_secret(value: dict[Any, Any]) -> bool:
    """Whether an object is a field written as `{"key": NAME, "value": …}`, as attributes of spans are, of a secret."""
    name = value.get("key")
    return "value" in value and isinstance(name, str) and names_a_secret(name)


def marked(value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """What a field that names a secret holds: all texts in it are taken out."""
    if isinstance(value, dict):
        return {cleaned(name, counts): marked(held, counts) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [marked(held, counts) for held in value]
    if not isinstance(value, str) or not value or value.startswith(MARK):
        return value
    counts["token"] += 1
    return f"{MARK}token]"


def _of_name(name: object, value: Any, counts: Counter[str]) -> Any:  # noqa: ANN401
    is_secret = isinstance(name, str) and _NAMES_A_SECRET(name)
    return marked(value, counts) if is_secret else cleaned(value, counts)
