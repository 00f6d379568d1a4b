"""Golden tables: what a released version published, in files that never change: `GOLDEN_DIGESTS` has their hashes.

A better method is a new version with a folder of its own. To write its files, name them in `GOLDEN_DIGESTS`, run

    SLOWWAVE_REGENERATE_GOLDEN=1 pytest tests/golden/test_golden.py

or whichever file makes them, read what changed line by line, and pin the hash that the failing test names.

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

from slowwave.transforms.core.methods.golden_digests import GOLDEN_DIGESTS
from slowwave.transforms.core.schema import columns
from slowwave.transforms.graph import SERVING

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def golden_names(*folders: str) -> list[str]:
    """The golden tables in these folders, such as `echo-1/memory_references`."""
    return [name for name in GOLDEN_DIGESTS if name.partition("/")[0] in folders]


def ndjson(frame: pl.DataFrame) -> bytes:
    """The rows of a frame, one JSON object a line."""
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in frame.to_dicts())


def assert_golden(frame: pl.DataFrame, name: str, pinned: str = "") -> None:
    """The frame is what the file of this name says, which has the pinned hash, by default the recorded one."""
    text, path = ndjson(_as_then(frame, name)), GOLDEN / f"{name}.ndjson"
    if os.environ.get("SLOWWAVE_REGENERATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    found, told = _rows(text), _rows(path.read_bytes())
    assert len(found) == len(told)
    for row, golden in zip(found, told, strict=True):
        assert list(row) == list(golden)
        assert {name: _comparable(value) for name, value in row.items()} == golden
    assert hashlib.sha256(path.read_bytes()).hexdigest() == (pinned or GOLDEN_DIGESTS[name])


def _as_then(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frame with the names that columns had when the file was released."""
    old = {
        column.name: column.old_name
        for table in SERVING
        if table.name == name.rpartition("/")[2]
        for column in columns(table)
        if column.old_name and column.name in frame.columns
    }
    return frame.rename(old)


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
