"""Values as OTLP JSON writes them, as plain ones; numbers may be texts there, and times are nanoseconds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
# 9999-12-31, in nanoseconds
_LAST = 253_402_300_799 * 10**9
_DEEPEST = 64
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBERED = re.compile(r"([0-9]{1,6})\.(.+)")


def plain(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - whatever JSON holds
    """An `AnyValue` as the value it holds; None where it holds none, or lies too deep to mean anything."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None
    if "stringValue" in value:
        text = value["stringValue"]
        return text if isinstance(text, str) else None
    if "intValue" in value:
        return whole(value["intValue"])
    if "doubleValue" in value:
        return number(value["doubleValue"])
    if "boolValue" in value:
        return value["boolValue"] is True or value["boolValue"] == "true"
    if "arrayValue" in value:
        held = value["arrayValue"]
        values = held.get("values") if isinstance(held, dict) else None
        return [plain(one, depth + 1) for one in values] if isinstance(values, list) else []
    if "kvlistValue" in value:
        held = value["kvlistValue"]
        return attributes(held.get("values") if isinstance(held, dict) else None, depth + 1)
    return None


def attributes(pairs: Any, depth: int = 0) -> dict[str, Any]:  # noqa: ANN401
    """A list of `KeyValue` as a mapping; what is no pair is passed over."""
    if not isinstance(pairs, list):
        return {}
    return {
        pair["key"]: plain(pair.get("value"), depth)
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }


def whole(value: Any) -> int | None:  # noqa: ANN401
    """A whole number, which may be written as text."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:  # noqa: ANN401
    """A finite number, which may be written as text."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def text(value: Any) -> str:  # noqa: ANN401
    """A text without white space around it; '' for what is none. Numbers of ids and names are taken as texts."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def event_name(log: Mapping[str, Any], attributes: Mapping[str, Any], body: Any) -> str:  # noqa: ANN401
    """Return the full name of an event; Claude Code has it in the body, and its end in `event.name`."""
    name, stated = text(log.get("eventName")), text(attributes.get("event.name"))
    if not name or " " in name:  # Codex has the line of its source there
        name = stated or name
    if isinstance(body, str) and name and "." not in name and body.endswith(f".{name}"):
        return body
    return name


def nanoseconds(value: Any) -> int | None:  # noqa: ANN401
    """A time that can be meant: after 1970 and before the year 10000."""
    found = whole(value)
    return found if found is not None and 0 < found < _LAST else None


def instant(ns: int, microseconds: int = 0) -> str:
    """A time as landing reads it, some microseconds later."""
    return f"{(_EPOCH + timedelta(microseconds=ns // 1000 + microseconds)).isoformat()}Z"


def numbered(held: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Objects that are flattened as `prefix` + `0.name`, `1.name`, …, in the order of their numbers."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in held.items():
        if key.startswith(prefix) and (place := _NUMBERED.fullmatch(key, len(prefix))):
            found.setdefault(int(place[1]), {})[place[2]] = value
    return [found[index] for index in sorted(found)]
