"""What Claude Code writes beside the transcript of a subagent: `agent-ID.meta.json`, as a record before its own."""

from __future__ import annotations

from pathlib import Path

import orjson

from slowwave.flows.imports.units import file_status
from slowwave.transforms.imports.adapter import Record
from slowwave.transforms.imports.claude_code import AGENT_METADATA

_MOST_BYTES = 2**20


def agent_metadata(path: Path) -> Record | None:
    """The record for a transcript; None where nothing stands beside it, or nothing that can be read."""
    beside = path.with_name(f"{path.name.partition('.jsonl')[0]}.meta.json")
    if not path.name.startswith("agent-") or beside == path:
        return None
    try:
        file_status(beside)
        with beside.open("rb") as handle:
            stated = orjson.loads(handle.read(_MOST_BYTES))
    except (OSError, orjson.JSONDecodeError):
        return None
    return {**stated, "type": AGENT_METADATA} if isinstance(stated, dict) else None
