"""One value as text: JSON that is safe to show, or a cell of CSV or of a table.

Times print as ISO-8601 in UTC ending in Z, with microseconds where they are not zero; dates as YYYY-MM-DD.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import orjson

_JSON = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
# UTF-8 of what JSON lets through and a terminal may obey: DEL, C1 controls, line separators, bidirectional marks, BOM
_UNSAFE = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf")


def json_bytes(value: object) -> bytes:
    """Any value DuckDB returns as JSON that is safe to show on a terminal.

    NaN and infinities are null; integers and decimals keep every digit; bytes are hex; what JSON has no type for, such
    as an interval, is its text.
    """
    try:
        text = orjson.dumps(value, _json_default, _JSON)
    except orjson.JSONEncodeError:  # an integer of more than 64 bits, or a key that is no text
        text = orjson.dumps(_exact(value), _json_default, _JSON)
    return _UNSAFE.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), text)


def _json_default(value: object) -> object:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return str(value)


def _exact(value: object) -> object:
    """`value` with what orjson refuses in a form it takes."""
    if isinstance(value, dict):
        return {_plain(key): _exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return orjson.Fragment(str(value))
    return value.isoformat() if isinstance(value, time) else value


def _plain(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def cell_text(value: object) -> str:
    """A value as the text of a CSV or table cell; NULL is ''."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, int, Decimal, timedelta)):
        return str(value)
    if isinstance(value, (datetime, date, time)):
        return orjson.loads(json_bytes(value))
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return json_bytes(value).decode()
