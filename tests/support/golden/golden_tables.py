"""Golden tables: what a released version published, in files that never change.

Numbers are compared to a billionth: `exp` and `log` differ in the last bit from one family of CPUs to the next.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest


def ndjson(frame: pl.DataFrame) -> bytes:
    """The rows of a frame, one JSON object a line."""
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in frame.to_dicts())


def assert_golden(frame: pl.DataFrame, path: Path, pinned: str) -> None:
    """The frame is what the file says, and the file has the pinned hash; SLOWWAVE_REGENERATE_GOLDEN=1 writes it."""
    text = ndjson(frame)
    if os.environ.get("SLOWWAVE_REGENERATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    found, told = _rows(text), _rows(path.read_bytes())
    assert len(found) == len(told)
    for row, golden in zip(found, told, strict=True):
        assert list(row) == list(golden)
        assert {name: _comparable(value) for name, value in row.items()} == golden
    assert hashlib.sha256(path.read_bytes()).hexdigest() == pinned


def _rows(text: bytes) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in text.splitlines()]


def _comparable(value: Any) -> Any:
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9, abs=1e-12)
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    if isinstance(value, dict):
        return {name: _comparable(part) for name, part in value.items()}
    return value
