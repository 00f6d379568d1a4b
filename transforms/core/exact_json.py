"""Reading JSON without rounding: whole numbers of more than 64 bits, such as ids, are their digits as text."""

from __future__ import annotations

import re
from typing import Any

import orjson

_LARGE = 2.0**63
# Texts are passed over whole, and so are numbers with a point or an exponent: the group holds a whole number.
_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|(-?+[0-9]{19,}+)(?![.eE])|-?+[0-9]++(?:\.[0-9]++)?+(?:[eE][+\-]?+[0-9]++)?+', re.DOTALL
)


def exact_json(text: bytes | str) -> Any:  # noqa: ANN401 - whatever it holds
    """The value of a JSON text; a whole number that no 64 bits hold is a text. Raises orjson.JSONDecodeError."""
    value = orjson.loads(text)
    if not _holds_large_number(value):
        return value
    return orjson.loads(_NUMBER.sub(_with_quotes, text.encode() if isinstance(text, str) else text))


def parse_json_text(value: Any) -> Any:  # noqa: ANN401
    """Return the object or list that a text says as JSON; any other value as it is."""
    return _parse(value, ("{", "["))


def parse_json_value(value: Any) -> Any:  # noqa: ANN401
    """Return what a text says as JSON, where a source writes texts as JSON in quotes too; any other value as it is."""
    return _parse(value, ("{", "[", '"'))


def _parse(value: Any, begins: tuple[str, ...]) -> Any:  # noqa: ANN401
    if not isinstance(value, str) or not value.lstrip().startswith(begins):
        return value
    try:
        return exact_json(value)
    except orjson.JSONDecodeError:
        return value


def _with_quotes(found: re.Match[bytes]) -> bytes:
    is_held = found[1] is None or -(2**63) <= int(found[1][:40]) < 2**64
    return found[0] if is_held else b'"' + found[0] + b'"'


def _holds_large_number(value: object) -> bool:
    """Whether a float is among the values that may stand for a whole number of more than 64 bits."""
    level = [value]
    while level:
        deeper: list[object] = []
        for one in level:
            if type(one) is float and abs(one) >= _LARGE:
                return True
            if type(one) is dict:
                deeper += one.values()
            elif type(one) is list:
                deeper += one
        level = deeper
    return False
