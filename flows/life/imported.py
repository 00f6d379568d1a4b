"""What goes from `lake/imports`: parts of traces, turns of units, memories of stores."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import zstandard

from slowwave.flows.imports.import_state import FOLDER
from slowwave.flows.imports.trace_parts import PartLine, part_lines
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.lake.erased.row_texts import join_texts
from slowwave.flows.lake.lake import Lake
from slowwave.flows.life.texts import Sought


def take_from_imports(lake: Lake, sought: Sought, *, rehearses: bool) -> int:
    """Take out what names what goes; returns how many entries. `rehearses`: only counts.

    Raises OSError as the disk does; a file that is damaged is left, and found when all is looked through.
    """
    folder, gone = lake.root / FOLDER, 0
    for path in storage_of(folder).files(folder):
        if path.suffix == ".parts":
            gone += _take_parts(path, sought, rehearses=rehearses)
        elif path.suffix == ".json":
            gone += _take_entries(path, sought, rehearses=rehearses)
        elif path.name.endswith(".zst"):
            gone += _take_seen(path, sought, rehearses=rehearses)
    return gone


def _take_parts(path: Path, sought: Sought, *, rehearses: bool) -> int:
    try:
        lines = list(part_lines(io.BytesIO(storage_of(path).read(path))))
    except (ValueError, zstandard.ZstdError):
        return 0
    is_hit = sought.match_rows([join_texts([line.record]) + _record_texts(line) for line in lines])
    if is_hit.any() and not rehearses:
        left = b"".join(line.text() for line, hit in zip(lines, is_hit, strict=True) if not hit)
        write_durably(path, lambda aside: aside.write_bytes(zstandard.compress(left)))
    return int(is_hit.sum())


def _record_texts(line: PartLine) -> str:
    return join_texts([orjson.loads(line.record)])


def _take_entries(path: Path, sought: Sought, *, rehearses: bool) -> int:
    try:
        entries = json.loads(storage_of(path).read(path))
    except ValueError:
        return 0
    left = _without(entries, sought) if isinstance(entries, dict) else entries
    if len(left) < len(entries) and not rehearses:
        text = json.dumps(left)
        write_durably(path, lambda aside: aside.write_text(text, encoding="utf-8"))
    return len(entries) - len(left)


def _take_seen(path: Path, sought: Sought, *, rehearses: bool) -> int:
    try:
        stated = orjson.loads(zstandard.decompress(storage_of(path).read(path)))
    except (ValueError, zstandard.ZstdError):
        return 0
    left = {name: _without(one, sought) if isinstance(one, dict) else one for name, one in stated.items()}
    gone = sum(len(one) - len(left[name]) for name, one in stated.items() if isinstance(one, dict))
    if gone and not rehearses:
        packed = zstandard.compress(orjson.dumps(left))
        write_durably(path, lambda aside: aside.write_bytes(packed))
    return gone


def _without(entries: Mapping[str, Any], sought: Sought) -> dict[str, Any]:
    is_hit = sought.match_rows([join_texts([name, one]) for name, one in entries.items()])
    return {name: one for (name, one), hit in zip(entries.items(), is_hit, strict=True) if not hit}
