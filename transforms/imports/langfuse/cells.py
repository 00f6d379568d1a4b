"""Cells of an export as plain values: '' is no value, and objects may be JSON texts or the maps of Parquet."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.record_values import add_microseconds

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def text(value: Any) -> str:  # noqa: ANN401 - whatever a cell holds
    """A text without white space around it; '' for none."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def mapping(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """An object, also as pairs of names and values; {} for anything else."""
    value = parse_json_value(value)
    if isinstance(value, dict):
        return {str(name): parse_json_value(one) for name, one in value.items()}
    if isinstance(value, list) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value):  # noqa: PLR2004
        return {str(name): parse_json_value(one) for name, one in value}
    if isinstance(value, list) and all(isinstance(pair, dict) and pair.keys() >= {"key", "value"} for pair in value):
        return {str(pair["key"]): parse_json_value(pair["value"]) for pair in value}
    return {}


def number(value: Any) -> float | None:  # noqa: ANN401
    """A finite number, which may be a text."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        value = float(value) if _DECIMAL.fullmatch(value.strip()) else None
    if not isinstance(value, (int, float, Decimal)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def is_true(value: Any) -> bool:  # noqa: ANN401
    """Whether a cell says yes."""
    return value is True or text(value).lower() in {"true", "1"}


def moment(value: Any) -> datetime | None:  # noqa: ANN401
    """A time, naive and UTC; a text without a zone is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    try:
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    except OverflowError:
        return None


def written(at: datetime, microseconds: int = 0) -> str:
    """A time as landing reads it, some microseconds later."""
    return f"{add_microseconds(at, microseconds).isoformat()}Z"
