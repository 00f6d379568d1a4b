"""Reading the JSON of one row, strictly, and then with what Python and people write that JSON does not allow."""

from __future__ import annotations

import re
from collections import Counter

import orjson

from slowwave.transforms.core.exact_json import exact_json

MISSING_NUMBERS = ("value", "NaN or Infinity, taken for a missing number")
TRAILING_COMMAS = ("row", "with a comma behind it, which was ignored")
_COMMA_BEHIND = re.compile(rb",\s*+\Z")
# Texts are passed over whole: what stands in them is no number.
_NOT_FINITE = re.compile(rb'"(?:[^"\\]|\\.)*+"|(-?+(?:NaN|Infinity)\b)', re.DOTALL)


def json_record(text: bytes) -> tuple[object, Counter[tuple[str, str]]]:
    """Return the value of a JSON text, and what was read in a way that JSON does not have: (unit, text) and how often.

    A whole number of more than 64 bits is its digits as text. `NaN`, `Infinity` and `-Infinity` are null, and a comma
    behind the value is ignored. Raises orjson.JSONDecodeError for what is no JSON even then.
    """
    readings: Counter[tuple[str, str]] = Counter()
    try:
        return exact_json(text), readings
    except orjson.JSONDecodeError:
        plain, commas = _COMMA_BEHIND.subn(b"", text)
        numbers = 0

        def replace_not_finite(found: re.Match[bytes]) -> bytes:
            nonlocal numbers
            numbers += found[1] is not None
            return found[0] if found[1] is None else b"null"

        plain = _NOT_FINITE.sub(replace_not_finite, plain)
        if not commas and not numbers:
            raise
        record = exact_json(plain)
    readings.update({MISSING_NUMBERS: numbers} if numbers else {})
    readings.update({TRAILING_COMMAS: commas} if commas else {})
    return record, readings
